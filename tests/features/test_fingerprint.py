"""The fingerprint: equal for equal maps, different for any other."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from catalog import LAYERS, bump, inputs, layer_id
from kernelm.features import RandomLayer, fingerprint

X = inputs()
BASE = RandomLayer(n_units=7)


@pytest.mark.parametrize("layer", LAYERS, ids=layer_id)
def test_equal_freezes_have_equal_fingerprints(layer):
    assert layer.freeze(X).fingerprint == layer.freeze(X.copy()).fingerprint


def test_all_layers_of_the_catalog_have_their_own_fingerprint():
    prints = {layer.freeze(X).fingerprint for layer in LAYERS}
    assert len(prints) == len(LAYERS)


@pytest.mark.parametrize(
    "change",
    [
        {"n_units": 8},
        {"activation": "erf"},
        {"activation": bump},
        {"weights": "uniform"},
        {"weight_scale": 1.0000001},
        {"direct_links": True},
        {"scale_inputs": False},
        {"center": False},
        {"seed": 1},
    ],
    ids=lambda change: "-".join(change),
)
def test_any_parameter_changes_the_fingerprint(change):
    parameters = {"n_units": 7} | change
    assert RandomLayer(**parameters).freeze(X).fingerprint != BASE.freeze(X).fingerprint


@pytest.mark.parametrize("activation", ["tanh", "rbf"])
def test_the_sample_and_its_weights_change_the_fingerprint(activation):
    layer = RandomLayer(n_units=7, activation=activation)
    moved = X.copy()
    moved[4, 2] += 1e-6
    prints = [layer.freeze(rows).fingerprint for rows in (X, moved, X[:-1])]
    prints.append(layer.freeze(X, np.arange(30.0)).fingerprint)
    assert len(set(prints)) == 4


def test_without_scaling_projections_do_not_depend_on_the_sample():
    layer = RandomLayer(n_units=7, scale_inputs=False)
    assert layer.freeze(X).fingerprint == layer.freeze(X[:3] ** 2).fingerprint


def test_direct_links_change_the_fingerprint_of_a_layer_that_depends_on_its_seed_alone():
    plain, linked = (
        RandomLayer(n_units=7, scale_inputs=False, direct_links=links) for links in (False, True)
    )
    assert plain.freeze(X).fingerprint != linked.freeze(X).fingerprint


def test_numpy_numbers_and_python_numbers_make_the_same_map():
    """A grid search over np.logspace and a config file name the same model."""
    other = RandomLayer(n_units=np.int64(7), weight_scale=np.float64(1.0), seed=np.int32(0))
    assert other.freeze(X).fingerprint == BASE.freeze(X).fingerprint
    assert RandomLayer(n_units=7, weight_scale=1).freeze(X).fingerprint == (
        BASE.freeze(X).fingerprint
    )


def test_functions_are_known_by_what_they_do():
    def layer(function):
        return RandomLayer(n_units=7, activation=function, scale_inputs=False).freeze(X)

    assert layer(lambda A: A**2).fingerprint == layer(lambda A: A * A).fingerprint
    assert layer(lambda A: A**2).fingerprint != layer(lambda A: A**2 + 1e-3).fingerprint


def test_a_function_has_the_same_fingerprint_in_another_process():
    """Addresses of functions differ there; a loaded model must go on with its own moments."""
    code = (
        "from catalog import bump, inputs; from kernelm.features import RandomLayer;"
        "print(RandomLayer(n_units=7, activation=bump).freeze(inputs()).fingerprint)"
    )
    tests = str(Path(__file__).parents[1])
    out = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {tests!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert out.stdout.strip() == (RandomLayer(n_units=7, activation=bump).freeze(X).fingerprint)


def test_digests_see_values_shapes_dtypes_and_order():
    a = np.arange(6.0)
    parts = [
        [a],
        [a.reshape(2, 3)],
        [a.astype(np.float32)],
        [a[::-1]],
        [a, a],
        [a, None],
        ["a", 1],
        ["a1"],
        [1, "a"],
        [],
    ]
    assert len({fingerprint(p) for p in parts}) == len(parts)
    strided = np.repeat(a, 2)[::2]
    assert fingerprint([strided]) == fingerprint([a])
