"""Graphs predict what models predict: over kernels, layers, estimators, types and batches."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse, special
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from catalog import KERNELS, LAYERS, bump, inputs, layer_id, rows_for
from kernelm import (
    BoostedELMClassifier,
    BoostedELMRegressor,
    CoreVectorClassifier,
    CoreVectorDetector,
    CoreVectorRegressor,
    ELMClassifier,
    ELMRegressor,
    KernelELMClassifier,
    KernelELMRegressor,
    KernelSVC,
    KernelSVR,
    OPELMClassifier,
    OPELMRegressor,
)
from kernelm import kernels as km
from kernelm.features import InputScaler, MixedUnits, RowNormalizer
from kernelm.onnx import graph as graphs
from kernelm.onnx import to_onnx
from kernelm.onnx.features import features, scaled
from kernelm.onnx.functions import arccos, arcsin, erf
from kernelm.onnx.graph import Graph
from kernelm.onnx.kernels import columns
from kernelm.onnx.proto import model_of
from problems import classification, regression

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

DTYPES = ["float32", "float64"]
EXACT = {"float32": 1e-5, "float64": 1e-12}  # of values that no weights magnify


def run(model, feed):
    """The outputs of a model by name."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feed), strict=True))


def computed(function, X):
    """What onnxruntime makes of a function of values."""
    graph = Graph()
    value = function(graph.input("X", X.dtype, ("N", X.shape[1])))
    graph.output("Y", value, ("N", "L"))
    return run(model_of(graph, "test", "", {"kernelm_version": "0"}), {"X": X})["Y"]


def gap(got, want):
    """The largest error in units of the largest value."""
    assert got.shape == want.shape
    return np.abs(got - want).max() / max(np.abs(want).max(), 1e-12)


# --- parts of graphs -----------------------------------------------------------------------------


@given(arrays(np.float64, (20, 1), elements=st.floats(-1, 1)))
def test_doubles_have_the_functions_that_runtimes_lack(X):
    assert gap(computed(arccos, X), np.arccos(X)) < 1e-14
    assert np.abs(computed(arcsin, X) - np.arcsin(X)).max() < 1e-14
    assert np.abs(computed(erf, 30 * X) - special.erf(30 * X)).max() < 1e-14


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_columns_are_those_of_the_kernel(kernel, dtype):
    X, Z = rows_for(kernel, 20, dtype=dtype), rows_for(kernel, 8, seed=1, dtype=dtype)
    X[0], Z[0] = 0, 0  # rows without a direction
    X[1:6] = Z[1:6]  # and without a distance
    K = computed(lambda rows: columns(kernel, rows, Z).k, X)
    assert K.dtype == dtype
    assert gap(K, kernel.gram(X, Z)) < EXACT[dtype]
    zero = np.zeros((X.shape[1], 1))
    diag = computed(lambda rows: columns(kernel, rows, Z).k_xx + rows @ zero, X)
    assert gap(diag[:, 0], kernel.diag(X)) < EXACT[dtype]


@pytest.mark.parametrize("kernel", [km.Laplacian(0.01), km.Gaussian(0.01), km.Matern52(0.02)])
def test_rows_of_many_scales_far_from_the_origin_keep_their_distances(kernel):
    X = (rows_for(kernel, 30) + 1000).astype(np.float32)
    Z = X[:10] + np.float32(0.001)
    K = computed(lambda rows: columns(kernel, rows, Z).k, X)
    assert gap(K, kernel.gram(X, Z)) < 1e-5


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layer", [l for l in LAYERS if l.activation is not bump], ids=layer_id)
def test_features_are_those_of_the_layer(layer, dtype):
    X = inputs(dtype=dtype)
    phi = layer.freeze(X)
    assert gap(computed(lambda rows: features(phi, rows), X), phi.map(X)) < EXACT[dtype]


@pytest.mark.parametrize("kinds", [["linear"], ["sigmoid"], ["gaussian"], ["linear", "gaussian"]])
def test_any_kinds_of_units_in_any_order(kinds):
    X = inputs()
    phi = MixedUnits.draw(X, 9, kinds)
    phi = phi.take(np.random.default_rng(0).permutation(phi.n_features_out))
    assert gap(computed(lambda rows: features(phi, rows), X), phi.map(X)) < 1e-12


@given(arrays(np.float64, (6, 4), elements=st.floats(-1e6, 1e6)), st.booleans(), st.booleans())
def test_rows_are_scaled_as_in_the_model(X, root, alike):
    scaler = InputScaler.fit(X, root=root, alike=alike).weighted(np.array([1.0, 0.0, 2.0, 0.5]))
    S = computed(lambda rows: scaled(scaler, rows), X)
    np.testing.assert_allclose(S, scaler.transform(X), rtol=1e-12, atol=1e-12)
    S = computed(lambda rows: scaled(RowNormalizer(), rows), X)
    np.testing.assert_allclose(S, RowNormalizer().transform(X), rtol=1e-6, atol=1e-6)


def test_small_differences_of_large_inputs_survive():
    X = (1e6 + np.random.default_rng(0).normal(size=(50, 3))).astype(np.float32)
    scaler = InputScaler.fit(X)
    assert gap(computed(lambda rows: scaled(scaler, rows), X), scaler.transform(X)) < 1e-6


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_of_equal_entries_become_zero(dtype):
    X = np.repeat(np.array([[0.1], [3.3], [1e5], [-7.7], [0.0]], dtype), 7, axis=1)
    assert not computed(lambda rows: scaled(RowNormalizer(), rows), X).any()


# --- estimators ----------------------------------------------------------------------------------

CLASSIFIERS = {
    "elm": ELMClassifier(60),
    "elm fourier, links": ELMClassifier(60, activation="fourier", direct_links=True),
    "elm alpha 0": ELMClassifier(60, alpha=0, activation="sigmoid", scale_inputs=False),
    "exact": KernelELMClassifier(approximation="exact"),
    "exact deep": KernelELMClassifier(km.ArcCosine([1, 0]), approximation="exact"),
    "subset": KernelELMClassifier(approximation="subset", n_landmarks=50),
    "landmarks": KernelELMClassifier(approximation="landmarks", n_landmarks=50),
    "nystrom": KernelELMClassifier(km.Laplacian("median"), approximation="nystrom", n_landmarks=50),
    "falkon": KernelELMClassifier(approximation="nystrom", n_landmarks=50, solver="falkon"),
    "local": KernelELMClassifier(km.Gaussian("median"), approximation="local", leaf_size=40),
    "local trees": KernelELMClassifier(
        km.LaplacianL1("median"), approximation="local", leaf_size=40, n_trees=3
    ),
    "one leaf": KernelELMClassifier(approximation="local"),
    "boosted": BoostedELMClassifier(10),
    "boosted roots": BoostedELMClassifier(10, preprocess="sqrt-center-norm", bias_scale=0),
    "boosted plain": BoostedELMClassifier(10, preprocess=None, activation="relu"),
    "pruned": OPELMClassifier(40),
    "core pairs": CoreVectorClassifier(km.Gaussian("median")),
    "core vector": CoreVectorClassifier(km.Gaussian("median"), multiclass="vector"),
    "core balls": CoreVectorClassifier(km.Gaussian("median"), method="bvm"),
    "svc": KernelSVC(km.ArcCosine([1]), scale_inputs=True),
}
REGRESSORS = {
    "elm": ELMRegressor(60, activation="erf"),
    "rbf": ELMRegressor(60, activation="rbf", weights="data"),
    "exact": KernelELMRegressor(km.Matern52("median"), approximation="exact"),
    "nystrom": KernelELMRegressor(approximation="nystrom", n_landmarks=50),
    "no intercept": KernelELMRegressor(approximation="exact", fit_intercept=False),
    "local": KernelELMRegressor(km.Matern32("median"), approximation="local", leaf_size=40),
    "boosted": BoostedELMRegressor(10),
    "pruned": OPELMRegressor(40),
    "core": CoreVectorRegressor(km.Gaussian("median")),
    "svr": KernelSVR(km.AsymptoticELM(10.0).normalized(), scale_inputs=True),
}
#: Rows that no model has seen: many, and one.
NEW, _ = classification(1000, seed=1)


@pytest.fixture(scope="module")
def fitted():
    """Fit each machine once for all tests."""
    models = {}

    def fit(machine, X, y):
        if id(machine) not in models:
            models[id(machine)] = machine.set_params(random_state=0).fit(X, y)
        return models[id(machine)]

    return fit


def assert_no_less_precise(got, single, double, dtype):
    """Check a graph against the model: a float32 graph may err as float32 rows do."""
    if dtype == "float64":
        assert gap(got, double) < 1e-9
    else:
        assert gap(got, single) < 1e-4
        assert gap(got, double) < 3 * gap(single, double) + 1e-5


def assert_same_classes(model, outputs, X, dtype):
    single, double = (model.decision_function(X.astype(t)) for t in DTYPES)
    assert_no_less_precise(outputs["scores"], single, double, dtype)
    ordered = np.sort(double, axis=1) if double.ndim == 2 else np.abs(double)[:, None]
    apart = ordered[:, -1] - (ordered[:, -2] if double.ndim == 2 else 0) > 1e-5
    assert apart.mean() > 0.9
    np.testing.assert_array_equal(outputs["label"][apart], model.predict(X.astype(dtype))[apart])
    assert ("probabilities" in outputs) == hasattr(model, "predict_proba")
    if "probabilities" in outputs:
        P = model.predict_proba(X.astype(dtype))
        assert np.abs(outputs["probabilities"] - P).max() < (1e-4 if dtype == "float32" else 1e-8)


def outputs_of(model, X, dtype, **options):
    """The outputs for many rows, after a look at what one row alone gives."""
    exported = to_onnx(model, dtype=dtype, **options)
    many = run(exported, {"X": X.astype(dtype)})
    alone = run(exported, {"X": X[:1].astype(dtype)})
    for name, values in alone.items():
        assert values.shape == (1, *many[name].shape[1:])
        if values.dtype.kind == "f":
            assert np.abs(values - many[name][:1]).max() < 1e-4 * np.abs(many[name]).max()
    return many


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_predict_the_same(name, dtype, fitted):
    model = fitted(CLASSIFIERS[name], *classification())
    assert_same_classes(model, outputs_of(model, NEW, dtype), NEW, dtype)


@pytest.mark.parametrize("name", ["elm", "exact", "boosted", "core pairs", "svc", "local"])
@pytest.mark.parametrize("labels", [[0, 7], [False, True], [1.0, 2.0], ["no", "äöü"]], ids=str)
def test_two_classes_have_one_score_and_their_labels(name, labels):
    X, y = regression(150)
    y = np.array(labels)[(y > 0).astype(int)]
    model = CLASSIFIERS[name].__class__(random_state=0).fit(X, y)
    assert_same_classes(model, outputs_of(model, NEW, "float64"), NEW, "float64")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_predict_the_same(name, dtype, fitted):
    model = fitted(REGRESSORS[name], *regression())
    got = outputs_of(model, NEW, dtype)["prediction"]
    single, double = (model.predict(NEW.astype(t)) for t in DTYPES)
    assert_no_less_precise(got, single, double, dtype)


def test_large_weights_take_double_precision_in_a_float32_graph():
    X, y = regression(100)
    model = KernelELMRegressor(km.Gaussian(10.0), approximation="exact", alpha=1e-8).fit(X, y)
    assert model.machine_.needs_double
    got = outputs_of(model, X, "float32")["prediction"]
    assert gap(got, model.predict(X.astype(np.float32))) < 1e-6  # 6 without


@pytest.mark.parametrize("name", ["elm", "exact", "local", "boosted", "pruned", "core"])
def test_intervals_are_those_of_the_model(name, fitted):
    model = fitted(REGRESSORS[name], *regression())
    outputs = outputs_of(model, NEW, "float64", coverage=0.8)
    bounds = np.stack([outputs["lower"], outputs["upper"]], axis=-1)
    assert gap(bounds, model.predict_interval(NEW, 0.8)) < 1e-9


@pytest.mark.parametrize("contamination", ["auto", 0.1])
def test_a_detector_finds_the_same_outliers(contamination):
    X, _ = regression()
    model = CoreVectorDetector(contamination=contamination, random_state=0).fit(X)
    outputs = outputs_of(model, 1.5 * NEW, "float64")
    assert gap(outputs["scores"], model.decision_function(1.5 * NEW)) < 1e-9
    np.testing.assert_array_equal(outputs["label"], model.predict(1.5 * NEW))
    assert set(outputs["label"].tolist()) == {-1, 1}


def test_several_values_a_row():
    X, Y = regression(outputs=3)
    model = KernelELMRegressor(km.Gaussian("median"), random_state=0).fit(X, Y)
    outputs = outputs_of(model, NEW, "float64", coverage=0.9)
    assert gap(outputs["prediction"], model.predict(NEW)) < 1e-9
    assert gap(outputs["upper"], model.predict_interval(NEW, 0.9)[..., 1]) < 1e-9


def test_several_labels_a_row():
    X, y = classification()
    Y = np.stack([y, np.where(X[:, 1] > 0, "a", "longer")], axis=1)
    model = ELMClassifier(60, random_state=0).fit(X, Y)
    outputs = outputs_of(model, NEW, "float64")
    np.testing.assert_array_equal(outputs["label"], model.predict(NEW))
    assert gap(outputs["scores"], model.decision_function(NEW)) < 1e-9
    for k, P in enumerate(model.predict_proba(NEW)):
        assert gap(outputs[f"probabilities_{k}"], P) < 1e-9


def test_yes_or_no_for_several_questions():
    X, _ = classification()
    model = ELMClassifier(60, random_state=0).fit(X, (X[:, :3] > 0).astype(int))
    outputs = outputs_of(model, NEW, "float64")
    np.testing.assert_array_equal(outputs["label"], model.predict(NEW))
    assert gap(outputs["probabilities"], model.predict_proba(NEW)) < 1e-9


def test_models_of_sparse_rows_take_dense_ones():
    X, y = classification()
    for model in (KernelELMClassifier(), ELMClassifier(30, weights="hashed"), KernelSVC()):
        model.set_params(random_state=0).fit(sparse.csr_array(np.maximum(X, 0)), y)
        rows = np.maximum(NEW, 0)
        assert_same_classes(model, outputs_of(model, rows, "float64"), rows, "float64")


@pytest.mark.parametrize("name", ["elm", "exact", "boosted", "core pairs"])
def test_another_runtime_agrees(name, fitted):
    model = fitted(CLASSIFIERS[name], *classification())
    evaluator = pytest.importorskip("onnx.reference").ReferenceEvaluator(
        to_onnx(model, dtype="float64")
    )
    _, scores, P = evaluator.run(None, {"X": NEW[:20]})
    assert gap(scores, model.decision_function(NEW[:20])) < 1e-9
    assert gap(P, model.predict_proba(NEW[:20])) < 1e-9


# --- data frames ---------------------------------------------------------------------------------


def frame(n=200, seed=0):
    rng = np.random.default_rng(seed)
    colour = rng.choice(np.array(["red", "blué", None], object), n)
    flag = rng.choice(np.array([True, False, None], object), n)
    return pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "colour": colour,
            "flag": pd.array(flag, dtype="boolean"),
            "grade": pd.Categorical(rng.integers(0, 4, n), categories=range(5)),
            "count": rng.integers(0, 9, n),
        }
    )


def fed(rows, dtype):
    """Columns as a user of a runtime gives them."""
    named = {"colour": rows["colour"].fillna("").to_numpy(object)}
    coded = {c: rows[c].astype(object).to_numpy(np.float64, na_value=np.nan) for c in ("flag",)}
    coded["grade"] = rows["grade"].to_numpy(np.float64)
    plain = {c: rows[c].to_numpy(dtype) for c in ("size", "count")}
    return {name: values[:, None] for name, values in (named | coded | plain).items()}


@pytest.mark.parametrize("dtype", DTYPES)
def test_columns_of_names_are_encoded_inside(dtype):
    rows = frame()
    y = np.where((rows["colour"] == "red") ^ (rows["size"] > 0), "in", "out")
    model = ELMClassifier(60, random_state=0).fit(rows, y)
    new = frame(seed=1)
    new.loc[:20, "colour"] = "green"  # never seen: zeros
    outputs = run(to_onnx(model, dtype=dtype), fed(new, dtype))
    assert gap(outputs["scores"], model.decision_function(new)) < 1e-5
    assert gap(outputs["probabilities"], model.predict_proba(new)) < 1e-5
    np.testing.assert_array_equal(outputs["label"], model.predict(new))


def test_columns_of_numbers_are_one_input_with_names_beside_it():
    X, y = regression()
    names = [f"column {k}" for k in range(X.shape[1])]
    model = ELMRegressor(30, random_state=0).fit(pd.DataFrame(X, columns=names), y)
    exported = to_onnx(model)
    assert [port.name for port in exported.graph.input] == ["X"]
    assert json.loads(props(exported)["feature_names"]) == names


# --- files and errors ----------------------------------------------------------------------------


def props(exported):
    return {entry.key: entry.value for entry in exported.metadata_props}


def test_a_model_says_what_it_is():
    model = KernelELMRegressor(km.Gaussian(2.0), random_state=0).fit(*regression(50))
    exported = to_onnx(model)
    onnx.checker.check_model(exported, full_check=True)
    assert exported.producer_name == "kernelm"
    assert exported.graph.name == "KernelELMRegressor"
    assert "Gaussian(scale=2.0)" in exported.doc_string
    assert props(exported)["class"].endswith("KernelELMRegressor")
    assert props(exported)["kernelm_version"] == exported.producer_version


def test_a_file_is_whole_or_as_it_was(tmp_path, monkeypatch):
    model = ELMRegressor(30, random_state=0).fit(*regression(50))
    path = tmp_path / "model.onnx"
    exported = to_onnx(model, path=path)
    assert onnx.load(path) == exported
    before = path.read_bytes()

    def breaks(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", breaks)
    with pytest.raises(OSError, match=r"cannot write .*model\.onnx: No space"):
        to_onnx(model, dtype="float64", path=path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_what_no_output_needs_is_left_out():
    model = KernelELMRegressor(km.Linear(), random_state=0).fit(*regression(50))
    kinds = [node.op_type for node in to_onnx(model).graph.node]
    assert "ReduceSumSquare" not in kinds  # lengths of rows


def test_equal_constants_are_stored_once():
    graph = Graph()
    x = graph.input("x", np.float32, ("N", 2))
    graph.output("y", (x + 0.1) * 0.1 - np.array([[0.1]]), None)
    assert len(graph.constants) == 2


def test_too_large_a_model_says_its_size(monkeypatch):
    model = BoostedELMRegressor(50, n_hidden=100, random_state=0).fit(*regression(50))
    monkeypatch.setattr(graphs, "LARGEST", 10_000)
    with pytest.raises(ValueError, match=r"the graph would hold .* GB"):
        to_onnx(model)


def refused(X, y):
    taken = frame(50).rename(columns={"count": "label"})
    both = pd.DataFrame({"c": ["", "a", None] * 10})
    mixed = pd.DataFrame({"c": np.array(["a", 1] * 15, object)})
    target = np.array([0, 1] * 15)
    return {
        "fitted": (lambda: to_onnx(ELMRegressor()), NotFittedError, "fit"),
        "pipeline": (
            lambda: to_onnx(make_pipeline(StandardScaler(), ELMRegressor()).fit(X, y)),
            TypeError,
            "got Pipeline",
        ),
        "function": (
            lambda: to_onnx(ELMRegressor(5, activation=bump).fit(X, y)),
            TypeError,
            "activation=bump",
        ),
        "dtype": (lambda: to_onnx(ELMRegressor(5).fit(X, y), dtype="int8"), ValueError, "float32"),
        "coverage": (
            lambda: to_onnx(ELMClassifier(5).fit(X, y > 0), coverage=0.9),
            ValueError,
            "coverage",
        ),
        "share": (
            lambda: to_onnx(ELMRegressor(5).fit(X, y), coverage=90),
            ValueError,
            "coverage",
        ),
        "name of an output": (
            lambda: to_onnx(ELMClassifier(5).fit(taken, y > 0)),
            ValueError,
            "rename the columns 'label'",
        ),
        "gaps": (lambda: to_onnx(ELMRegressor(5).fit(both, target)), ValueError, "empty"),
        "mixed": (lambda: to_onnx(ELMRegressor(5).fit(mixed, target)), TypeError, "column 'c'"),
        "folder": (
            lambda: to_onnx(ELMRegressor(5).fit(X, y), path="no/such/folder/m.onnx"),
            OSError,
            "cannot write",
        ),
    }


@pytest.mark.parametrize("case", refused(*regression(50)))
def test_errors_say_what_to_do(case):
    call, error, words = refused(*regression(50))[case]
    with pytest.raises(error, match=words):
        call()


def test_kernels_of_a_user_are_refused():
    class Mine(km.Kernel):
        def _gram(self, X, Z):
            return np.ones((len(X), len(X if Z is None else Z)))

        def _diag(self, X):
            return np.ones(len(X))

    with pytest.raises(TypeError, match="has no ONNX graph"):
        computed(lambda rows: columns(Mine(), rows, np.ones((2, 2))).k, np.ones((3, 2)))


def test_without_onnx_an_error_says_how_to_get_it(monkeypatch):
    model = ELMRegressor(30, random_state=0).fit(*regression(50))
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install kernelm\[onnx\]"):
        to_onnx(model)
