"""load(save(model)) is the model: the same predictions to the last bit, the same future."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone

import kernelm as km
from kernelm.estimators import kernel_machine
from kernelm.kernels import ArcCosine, ELMKernel, Gaussian, Laplacian
from kernelm.store import header, load, save
from problems import classification, regression

X, LABELS = classification(n=90, d=4)
_, Y = regression(n=90, d=4)
BOTH = np.column_stack([Y > 0, Y > 1]).astype(int)
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(e=np.where(X[:, 0] > 0, "up", None))
WEIGHTS = np.arange(90) % 3

OUTPUTS = ("predict", "decision_function", "predict_proba", "predict_interval", "transform")


def kernel_elm(approximation, kernel="laplacian", **more):
    few = approximation in ("subset", "landmarks", "nystrom")
    options = {"n_landmarks": 20} if few else {}
    return km.KernelELMClassifier(kernel, approximation=approximation, **options | more)


#: Estimators with the rows they are fitted to.
MACHINES = {
    "elm": (km.ELMClassifier(20), X, LABELS),
    "elm of few rows": (km.ELMClassifier(200), X, LABELS),
    "elm by loo": (km.ELMClassifier(20, alpha="loo"), X, LABELS),
    "elm of candidates": (km.ELMClassifier(20, alpha=np.logspace(-3, 3, 7)), X, LABELS),
    "elm of float32": (km.ELMClassifier(20), X.astype(np.float32), LABELS),
    "elm of csr_matrix": (km.ELMClassifier(20), sparse.csr_matrix(X), LABELS),
    "elm of csr_array": (km.ELMClassifier(200), sparse.csr_array(X), LABELS),
    "elm of a frame": (km.ELMClassifier(20), FRAME, LABELS),
    "elm of objects": (km.ELMClassifier(20), X, LABELS.astype(object)),
    "elm of numbers": (km.ELMClassifier(20), X, (Y > 0).astype(np.int8)),
    "multilabel elm": (km.ELMClassifier(20), X, BOTH),
    "balanced elm": (km.ELMClassifier(20, class_weight="balanced"), X, LABELS),
    "weighted classes": (km.ELMClassifier(20, class_weight={"class 0": 2.0}), X, LABELS),
    "regression": (km.ELMRegressor(20), X, Y),
    "two outputs": (km.ELMRegressor(20), X, np.column_stack([Y, -Y])),
    **{
        f"{weights} weights": (km.ELMRegressor(20, weights=weights, activation="fourier"), X, Y)
        for weights in ("uniform", "orthogonal", "sparse", "patches", "hashed", "data")
    },
    "radial units": (km.ELMRegressor(20, activation="rbf", direct_links=True), X, Y),
    **{
        a: (kernel_elm(a), X, LABELS)
        for a in ("exact", "subset", "landmarks", "nystrom", "local", "auto")
    },
    "falkon": (kernel_elm("nystrom", solver="falkon"), X, LABELS),
    "trees": (kernel_elm("local", leaf_size=30), X, LABELS),
    "kernel search": (km.KernelELMClassifier(), X, LABELS),
    "sparse nystrom": (kernel_elm("nystrom"), sparse.csr_matrix(X), LABELS),
    "kernel algebra": (
        kernel_elm("exact", 0.5 * Gaussian("mean") + ArcCosine([1, 0]).normalized()),
        X,
        LABELS,
    ),
    "kernel of units": (kernel_elm("nystrom", ELMKernel(50, seed=3)), X, LABELS),
    "kernel regression": (
        km.KernelELMRegressor(Gaussian(np.float64(2)), approximation="exact"),
        X,
        Y,
    ),
    "boosted": (km.BoostedELMClassifier(5, warm_start=True), X, LABELS),
    "boosted regression": (km.BoostedELMRegressor(5, early_stopping=True), X, Y),
    "boosted rows": (
        km.BoostedELMClassifier(5, bias_scale=0, preprocess="sqrt-center-norm"),
        X,
        LABELS,
    ),
    "pruned": (km.OPELMClassifier(30), X, LABELS),
    "pruned regression": (km.OPELMRegressor(30, units=["linear", "gaussian"]), X, Y),
    "core vectors": (km.CoreVectorClassifier(Gaussian("mean")), X, LABELS),
    "core vectors as codes": (
        km.CoreVectorClassifier(Laplacian("mean"), multiclass="vector"),
        X,
        LABELS,
    ),
    "ball vectors": (km.CoreVectorClassifier(Gaussian("mean"), method="bvm"), X, LABELS),
    "core regression": (km.CoreVectorRegressor(Gaussian("mean")), X, Y),
    "novelty": (km.CoreVectorDetector(), X, None),
    "svc": (km.KernelSVC(ArcCosine([0, 1])), X, LABELS),
    "sparse svc": (km.KernelSVC(), sparse.csr_matrix(X), LABELS),
    "svr": (km.KernelSVR(scale_inputs=True), X, Y),
    "pca": (km.KernelPCA(3), X, None),
    "kernel learner": (km.MultipleKernelLearner(), X, None),
    "multilayer": (km.MultilayerKernelClassifier(2, keep=0.5), X, LABELS),
    "multilayer with svc": (
        km.MultilayerKernelClassifier([ArcCosine([1])] * 2, final=km.KernelSVC(ArcCosine([1]))),
        X,
        LABELS,
    ),
}


def seeded(model):
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


def outputs(model, rows):
    return {name: getattr(model, name)(rows) for name in OUTPUTS if hasattr(model, name)}


@cache
def fit(name):
    model, rows, y = MACHINES[name]
    model = seeded(clone(model))
    return (model.fit(rows) if y is None else model.fit(rows, y)), rows


@pytest.fixture(params=MACHINES)
def fitted(request):
    return fit(request.param)


def assert_same_bits(a, b):
    a, b = np.asarray(a), np.asarray(b)
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    assert a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()


def stored(model, folder, name="model.kelm"):
    save(model, folder / name)
    return load(folder / name)


def test_a_loaded_model_gives_the_same_bits(fitted, tmp_path):
    model, rows = fitted
    loaded = stored(model, tmp_path)
    expected, found = outputs(model, rows), outputs(loaded, rows)
    assert expected.keys() == found.keys()
    assert expected or isinstance(model, km.MultipleKernelLearner)
    for name, values in expected.items():
        assert_same_bits(values, found[name])


def test_a_loaded_model_has_the_same_parameters_and_attributes(fitted, tmp_path):
    model, _ = fitted
    loaded = stored(model, tmp_path)
    assert repr(loaded.get_params()) == repr(model.get_params())
    assert repr(clone(loaded).get_params()) == repr(clone(model).get_params())
    assert vars(loaded).keys() == {name for name in vars(model) if name != "_run"}


def test_a_model_that_was_used_and_loaded_makes_the_same_file(fitted, tmp_path):
    model, rows = fitted
    outputs(model, rows)
    save(model, tmp_path / "a")
    again = load(tmp_path / "a")
    outputs(again, rows)
    save(again, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_header_tells_what_is_inside_without_building_it(fitted, tmp_path):
    model, rows = fitted
    save(model, tmp_path / "m")
    found = header(tmp_path / "m")
    assert found["class"] == type(model).__name__
    assert found["params"].keys() == model.get_params(deep=False).keys()
    assert found["n_features"] == rows.shape[1]
    assert found["format"] == 1
    assert found["bytes"] == (tmp_path / "m").stat().st_size
    assert found["versions"]["kernelm"] == km.__version__
    if hasattr(model, "feature_names_in_"):
        assert found["feature_names"] == list(rows.columns)
    labels = getattr(model, "classes_", None)
    if labels is not None:
        several = isinstance(labels, list)
        assert found["classes"] == ([c.tolist() for c in labels] if several else labels.tolist())


# --- the future of a model -----------------------------------------------------------------------

GROWING = [
    km.ELMClassifier(20, random_state=0),
    km.ELMClassifier(200, random_state=0),
    kernel_elm("nystrom", random_state=0),
    kernel_elm("landmarks", random_state=0),
]


@pytest.mark.parametrize(
    "model", GROWING, ids=lambda m: f"{type(m).__name__} {m.get_params()}"[:60]
)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_learning_goes_on_where_it_stopped(model, make, tmp_path):
    rows = make(X)
    model = clone(model).partial_fit(rows[:60], LABELS[:60], classes=np.unique(LABELS))
    loaded = stored(model, tmp_path)
    for each in (model, loaded):
        each.partial_fit(rows[60:], LABELS[60:]).forget(rows[65:70], LABELS[65:70])
    assert_same_bits(model.decision_function(rows), loaded.decision_function(rows))
    assert_same_bits(model.predict_proba(rows), loaded.predict_proba(rows))
    assert model.alpha_ == loaded.alpha_


def test_frozen_models_learn_apart_and_merge(tmp_path):
    frozen = km.ELMClassifier(20, random_state=0).freeze(X, LABELS, classes=np.unique(LABELS))
    a, b = (stored(frozen, tmp_path) for _ in range(2))
    a.partial_fit(X[:50], LABELS[:50])
    b.partial_fit(X[50:], LABELS[50:])
    merged = stored(a, tmp_path).merge(stored(b, tmp_path))
    whole = frozen.partial_fit(X, LABELS)
    np.testing.assert_allclose(
        merged.decision_function(X), whole.decision_function(X), rtol=1e-6, atol=1e-9
    )


def test_weights_travel(tmp_path):
    model = km.ELMClassifier(20, random_state=0).fit(X, LABELS, sample_weight=WEIGHTS)
    loaded = stored(model, tmp_path)
    assert model.loo_score_ == loaded.loo_score_
    assert_same_bits(model.predict_proba(X), loaded.predict_proba(X))


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_a_generator_draws_on(make, tmp_path):
    model = km.KernelSVC(random_state=make(5))
    model.random_state.normal(size=3)
    loaded = stored(model, tmp_path)
    assert_array_equal(loaded.random_state.normal(size=9), model.random_state.normal(size=9))


def test_a_model_without_a_fit_can_be_stored(tmp_path):
    model = km.KernelELMClassifier(Gaussian("median"), landmarks=np.ones((3, 2)))
    loaded = stored(model, tmp_path)
    assert loaded.kernel == model.kernel
    assert_array_equal(loaded.landmarks, model.landmarks)
    assert not hasattr(loaded, "machine_")


def test_a_model_on_many_landmarks_travels(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_machine, "DIRECT_LANDMARKS", 10)
    model = kernel_elm("nystrom", random_state=0).fit(X, LABELS)
    assert type(model.machine_).__name__ == "LargeMachine"
    loaded = stored(model, tmp_path)
    assert_same_bits(model.predict_proba(X), loaded.predict_proba(X))
    assert model.effective_df_ == loaded.effective_df_


# --- size ----------------------------------------------------------------------------------------


def test_rows_that_parts_share_are_stored_once(tmp_path):
    rows, labels = classification(n=600, d=40)
    model = km.KernelELMClassifier(
        "laplacian", approximation="local", leaf_size=100, n_trees=4, random_state=0
    ).fit(rows, labels)
    save(model, tmp_path / "m")
    n = len(model.machine_.trees)
    assert n == 4
    sizes = rows.nbytes * 2 + 8 * sum(
        leaf.rows.size + leaf.weights.coef.size for t in model.machine_.trees for leaf in t.leaves
    )
    assert (tmp_path / "m").stat().st_size < sizes + 100_000


def test_millions_of_inputs_that_are_scaled_alike_take_no_space(tmp_path):
    rows = sparse.random(50, 10**6, density=1e-5, format="csr", random_state=0)
    model = km.ELMClassifier(5, weights="hashed", random_state=0).fit(rows, np.arange(50) % 2)
    save(model, tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 100_000
    loaded = load(tmp_path / "m")
    assert loaded.machine_.phi.scaler.mean.strides == (0,)
    assert_same_bits(model.decision_function(rows), loaded.decision_function(rows))


def test_random_weights_are_not_stored(tmp_path):
    rows, labels = classification(n=50, d=500)
    model = km.BoostedELMClassifier(3, n_hidden=200, random_state=0).fit(rows, labels)
    model.predict(rows)
    save(model, tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 0.1 * 3 * 8 * 200 * 500
