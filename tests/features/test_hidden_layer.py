"""Laws of every frozen random layer of the catalog."""

import pickle
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import oracles
from catalog import LAYERS, inputs, layer_id
from kernelm.features import FeatureMap, HiddenLayer, RandomLayer
from kernelm.kernels import ELMKernel
from kernelm.units import ACTIVATIONS, draw

every_layer = pytest.mark.parametrize("layer", LAYERS, ids=layer_id)
X, NEW = inputs(), inputs(n=40, seed=1)


@every_layer
def test_a_frozen_layer_is_a_feature_map(layer):
    phi = layer.freeze(X)
    assert isinstance(phi, FeatureMap)
    assert phi.n_features_in == 9
    assert phi.n_features_out == layer.n_units + (9 if layer.direct_links else 0)
    assert phi.map(NEW).shape == (40, phi.n_features_out)
    assert np.isfinite(phi.map(NEW)).all()
    assert phi.penalty is None


@every_layer
def test_a_block_maps_as_its_rows_do(layer, monkeypatch):
    """Whatever the chunks: a few bytes of cache make many of them."""
    phi = layer.freeze(X)
    whole = phi.map(NEW)
    assert_allclose(np.vstack([phi.map(NEW[i : i + 1]) for i in range(40)]), whole, atol=1e-12)
    monkeypatch.setattr("kernelm.features.random._CACHE_BYTES", 1)
    assert_allclose(phi.map(NEW), whole, atol=1e-12)


@every_layer
def test_no_rows_map_to_no_features(layer):
    phi = layer.freeze(X)
    for none in (NEW[:0], sparse.csr_array(NEW)[:0]):
        assert phi.map(none).shape == (0, phi.n_features_out)


@every_layer
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array])
def test_csr_rows_map_as_dense_rows_whatever_the_layer_was_frozen_from(layer, form):
    for sample in (X, form(X)):
        phi = layer.freeze(sample)
        H = phi.map(form(NEW))
        assert isinstance(H, np.ndarray)
        # The two forms add up the same products in another order.
        assert_allclose(H, phi.map(NEW), atol=1e-9)


@every_layer
def test_without_scaling_dense_and_csr_samples_freeze_the_same_layer(layer):
    layer = replace(layer, scale_inputs=False)
    assert_allclose(layer.freeze(sparse.csr_array(X)).map(NEW), layer.freeze(X).map(NEW), atol=1e-9)


@every_layer
def test_float32_stays_float32_and_agrees(layer):
    phi = layer.freeze(X)
    h, H = phi.map(NEW.astype(np.float32)), phi.map(NEW)
    assert h.dtype == np.float32
    assert phi.map(sparse.csr_array(NEW.astype(np.float32))).dtype == np.float32
    # Squared distances and projections of a few units in the last place of float32.
    assert_allclose(h, H, atol=2e-5 * max(1, np.abs(H).max()))


@every_layer
def test_mapping_leaves_the_rows_alone(layer):
    before = NEW.copy()
    layer.freeze(NEW).map(NEW)
    assert_array_equal(NEW, before)


@every_layer
def test_leading_units_are_the_first_columns(layer):
    phi = layer.freeze(X)
    for n in (phi.n_linked + 1, phi.n_linked + 6, phi.n_features_out):
        part = phi.leading(n)
        assert part.n_features_out == n
        assert_allclose(part.map(NEW), phi.map(NEW)[:, :n], atol=1e-12)
        assert (part.fingerprint == phi.fingerprint) == (n == phi.n_features_out)


@every_layer
def test_features_have_zero_mean_over_the_sample_if_asked(layer):
    """Only scaled layers are centred: without scaling, projections depend on the seed alone."""
    phi = layer.freeze(X)
    assert (phi.offset is not None) == (layer.center and layer.scale_inputs)
    if phi.offset is not None:
        plain = replace(layer, center=False).freeze(X)
        assert_allclose(phi.map(X).mean(axis=0), 0, atol=1e-14)
        assert_allclose(phi.map(NEW), plain.map(NEW) - plain.map(X).mean(axis=0), atol=1e-12)


@every_layer
def test_a_pickled_layer_maps_identically_and_carries_no_weights(layer):
    phi = replace(layer, n_units=500).freeze(X)
    fresh = len(pickle.dumps(phi))
    H = phi.map(NEW)
    assert len(pickle.dumps(phi)) == fresh
    again = pickle.loads(pickle.dumps(phi))
    assert again.fingerprint == phi.fingerprint
    assert_array_equal(again.map(NEW), H)
    if phi.centres is None:
        # Parameters, scaler, and an offset for each unit; weights would be 9 numbers a unit.
        assert fresh < 500 * 8 + 2000


@every_layer
def test_weights_of_rows_are_repetitions(layer):
    if layer.weights == "data":
        layer = replace(layer, weights="normal")  # rows that are drawn know no repetitions
    weight = np.arange(30) % 4.0
    weighted = layer.freeze(X, weight)
    repeated = layer.freeze(np.repeat(X, weight.astype(int), axis=0))
    assert_allclose(weighted.map(NEW), repeated.map(NEW), atol=1e-9)


@every_layer
def test_rows_of_no_weight_shape_nothing(layer):
    weight = np.ones(32)
    weight[[3, 17]] = 0
    wild = np.insert(X, [3, 16], 1e200, axis=0)
    assert (wild[weight == 0] == 1e200).all()
    assert layer.freeze(wild, weight).fingerprint == layer.freeze(X, np.ones(30)).fingerprint


# --- formulas ------------------------------------------------------------------------------------


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_units_are_activations_of_random_projections_of_standardised_rows(activation):
    layer = RandomLayer(n_units=8, activation=activation, weight_scale=1.5, seed=4, center=False)
    W, b = draw(9, 8, scale=1.5, seed=4, paired=activation == "fourier")
    g = np.vectorize(oracles.ACTIVATIONS[activation], otypes=[float])
    assert_allclose(layer.freeze(X).map(X), g(oracles.standardised(X) @ W + b), atol=1e-12)


def test_rows_of_data_are_directions_of_the_length_of_normal_weights():
    layer = RandomLayer(n_units=50, activation="identity", weights="data", weight_scale=2.0)
    phi = replace(layer, center=False, scale_inputs=False).freeze(X)
    W = phi.map(np.eye(9)) - phi.map(np.zeros((1, 9)))
    assert_allclose(np.linalg.norm(W, axis=0), 2.0 * np.sqrt(9))
    cosines = (X / np.linalg.norm(X, axis=1, keepdims=True)) @ (W / np.linalg.norm(W, axis=0))
    chosen = cosines.argmax(axis=0)
    assert_allclose(cosines.max(axis=0), 1)
    # All 30 rows come once before any comes again.
    assert_array_equal(np.sort(chosen[:30]), np.arange(30))


def test_fourier_pairs_of_data_directions_share_their_direction():
    layer = RandomLayer(n_units=7, activation="fourier", weights="data", scale_inputs=False)
    H = layer.freeze(X).map(NEW)
    assert_allclose(H[:, :6:2] ** 2 + H[:, 1:6:2] ** 2, 1)


def test_directions_of_empty_rows_give_constant_units():
    layer = RandomLayer(n_units=4, weights="data", scale_inputs=False)
    H = layer.freeze(np.zeros((2, 3))).map(NEW[:, :3])
    assert_allclose(H, np.tile(H[:1], (40, 1)))


@pytest.mark.parametrize("weights", ["data", "normal", "orthogonal"])
@pytest.mark.parametrize("weight_scale", [1.0, 0.3])
def test_rbf_units_are_gaussians_as_wide_as_the_mean_distance_to_the_centres(weights, weight_scale):
    layer = RandomLayer(13, "rbf", weights, weight_scale, center=False)
    phi = layer.freeze(X)
    S, T = phi.scaler.transform(X), phi.scaler.transform(NEW)
    distances = [np.linalg.norm(s - q) for s in S for q in phi.centres]
    assert phi.width == pytest.approx(weight_scale * np.mean(distances))
    assert_allclose(phi.map(NEW), oracles.gram(oracles.gaussian(phi.width), T, phi.centres))


def test_the_width_looks_at_rows_from_all_over_a_sorted_sample():
    rows = np.sort(np.random.default_rng(0).standard_normal((4000, 1)), axis=0)
    phi = RandomLayer(50, "rbf", "data").freeze(rows)
    S = phi.scaler.transform(rows)
    assert phi.width == pytest.approx(np.abs(S - phi.centres.T).mean(), rel=0.02)


def test_centres_from_data_are_rows_and_random_ones_are_as_long_as_rows():
    phi = RandomLayer(20, "rbf", "data").freeze(X)
    gaps = np.abs(phi.scaler.transform(X)[:, None] - phi.centres).max(axis=2)
    assert_allclose(gaps.min(axis=0), 0)
    assert len(np.unique(gaps.argmin(axis=0))) == 20
    centres = RandomLayer(3000, "rbf", "normal").freeze(X).centres
    assert np.mean((centres**2).sum(axis=1)) == pytest.approx(1, rel=0.05)


def test_multiquadric_units():
    phi = RandomLayer(13, "multiquadric", "data", center=False).freeze(X)
    T = phi.scaler.transform(NEW)
    d2 = ((T[:, None] - phi.centres) ** 2).sum(axis=2)
    assert_allclose(phi.map(NEW), np.sqrt(1 + d2 / phi.width**2))


def test_direct_links_pass_the_scaled_inputs_on_before_the_units():
    linked = RandomLayer(n_units=13, direct_links=True).freeze(X)
    plain = RandomLayer(n_units=13).freeze(X)
    for rows in (NEW, sparse.csr_array(NEW)):
        H = linked.map(rows)
        assert_allclose(H[:, :9], linked.scaler.transform(NEW), atol=1e-12)
        assert_allclose(H[:, 9:], plain.map(NEW), atol=1e-12)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_mean_product_of_unscaled_features_is_the_elm_kernel(activation):
    layer = RandomLayer(50, activation, weight_scale=0.7, scale_inputs=False, seed=3)
    H = layer.freeze(X).map(NEW)
    K = ELMKernel(50, activation, weight_scale=0.7, seed=3).gram(NEW)
    assert_allclose(H @ H.T / 50, K, rtol=1e-10, atol=1e-12)


def test_a_function_gets_the_pre_activations():
    cosines = RandomLayer(n_units=13, activation=np.cos, scale_inputs=False).freeze(X)
    linear = RandomLayer(n_units=13, activation="identity", scale_inputs=False).freeze(X)
    assert_allclose(cosines.map(NEW), np.cos(linear.map(NEW)))


# --- wrong parameters ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_units": 0}, "n_units must be a whole number of at least 1, got 0"),
        ({"n_units": 2.5}, "n_units must be a whole number"),
        ({"activation": "cube"}, "activation must be one of 'tanh', .*'rbf'.* got 'cube'"),
        ({"weights": "cauchy"}, "weights must be one of 'normal', .*'data'; got 'cauchy'"),
        ({"weight_scale": 0.0}, "weight_scale must be a finite number above 0, got 0.0"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
        ({"seed": None}, "seed must be a whole number"),
    ],
)
def test_wrong_parameters_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        RandomLayer(**wrong)


def test_patches_of_rows_that_are_no_squares_are_refused_when_frozen():
    with pytest.raises(ValueError, match="square number of features"):
        RandomLayer(n_units=4, weights="patches").freeze(X[:, :8])


def test_leading_must_leave_a_unit():
    phi: HiddenLayer = RandomLayer(n_units=4, direct_links=True).freeze(X)
    with pytest.raises(ValueError, match="n_units must be a whole number of at least 1, got 0"):
        phi.leading(9)


def test_hashed_layers_on_millions_of_inputs_take_no_memory():
    rng, (n, D, entries) = np.random.default_rng(0), (200, 10_000_000, 30)
    columns = np.sort(rng.integers(0, D, (n, entries)), axis=1)
    columns[:, 0] %= 1000
    starts = np.arange(0, n * entries + 1, entries)
    wide = sparse.csr_matrix((rng.random(n * entries), columns.ravel(), starts), (n, D))
    tracemalloc.start()
    layer = RandomLayer(n_units=100, weights="hashed").freeze(wide)
    Phi = layer.map(wide)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert Phi.shape == (200, 100)
    assert peak < 50e6
    again = pickle.loads(pickle.dumps(RandomLayer(8, weights="hashed").freeze(wide[:, :1000])))
    assert_allclose(again.map(wide[:, :1000].toarray()), again.map(wide[:, :1000]), atol=1e-12)
