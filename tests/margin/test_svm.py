"""Support vector machines: laws, scikit-learn as the oracle, and its contract."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernelm
from kernelm.kernels import ArcCosine, AsymptoticELM, Gaussian, Linear, Polynomial, Sigmoid
from kernelm.margin import svm
from kernelm.margin.svm import KernelSVC, KernelSVR
from problems import as_csr, classification, regression

SCALE = 1.5
GAMMA = 1 / (2 * SCALE**2)
TOL = 1e-10  # libsvm stops where it likes within its tolerance: this leaves it no room
CLOSE = {"rtol": 1e-6, "atol": 1e-7}

CHECKED = [
    KernelSVC(),
    KernelSVR(),
    KernelSVC("arccosine", scale_inputs=True, class_weight="balanced"),
    KernelSVR(AsymptoticELM(10.0).normalized(), C=10.0, scale_inputs=True),
]


@parametrize_with_checks(CHECKED)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


# --- scikit-learn as the oracle ------------------------------------------------------------------


def in_order_of_rows(model):
    """Support rows and their coefficients; for several classes those of a class together."""
    order = np.argsort(model.support_)
    return np.asarray(model.support_)[order], np.asarray(model.dual_coef_)[:, order]


def assert_same_machine(ours, theirs):
    for mine, other in zip(in_order_of_rows(ours), in_order_of_rows(theirs), strict=True):
        assert_allclose(mine, other, **CLOSE)
    assert_allclose(ours.intercept_, theirs.intercept_, **CLOSE)
    assert_array_equal(ours.n_support_, theirs.n_support_)


@pytest.mark.parametrize("storage", [np.asarray, as_csr])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_gaussian_svc_is_that_of_scikit_learn(classes, weighted, storage):
    X, y = classification(n=200, classes=classes)
    X_new, _ = classification(n=300, classes=classes, seed=1)
    weight = np.random.default_rng(0).uniform(0.2, 3, len(y)) if weighted else None
    ours = KernelSVC(Gaussian(SCALE), C=2.0, tol=TOL).fit(storage(X), y, weight)
    theirs = SVC(C=2.0, gamma=GAMMA, tol=TOL, break_ties=classes > 2).fit(X, y, weight)
    assert_same_machine(ours, theirs)
    scores = ours.decision_function(storage(X_new))
    assert_allclose(scores, theirs.decision_function(X_new), **CLOSE)
    assert_array_equal(ours.predict(storage(X_new)), theirs.predict(X_new))


@pytest.mark.parametrize("storage", [np.asarray, as_csr])
@pytest.mark.parametrize("weighted", [False, True])
def test_gaussian_svr_is_that_of_scikit_learn(weighted, storage):
    X, y = regression(n=200)
    X_new, _ = regression(seed=1)
    weight = np.random.default_rng(0).uniform(0.2, 3, len(y)) if weighted else None
    ours = KernelSVR(Gaussian(SCALE), C=5.0, epsilon=0.2, tol=TOL).fit(storage(X), y, weight)
    theirs = SVR(C=5.0, epsilon=0.2, gamma=GAMMA, tol=TOL).fit(X, y, weight)
    assert_same_machine(ours, theirs)
    assert_allclose(ours.predict(storage(X_new)), theirs.predict(X_new), **CLOSE)


@pytest.mark.parametrize(
    "kernel",
    [ArcCosine([0, 1]), ArcCosine([1, 0, 2], normalize=True), Linear() + Gaussian(2.0)],
    ids=repr,
)
def test_any_kernel_is_that_of_scikit_learn_with_a_callable(kernel):
    X, y = classification(n=200)
    ours = KernelSVC(kernel, tol=TOL).fit(X, y)
    theirs = SVC(kernel=kernel.gram, tol=TOL).fit(X, y)
    assert_same_machine(ours, theirs)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), **CLOSE)
    X, y = regression(n=200)
    ours = KernelSVR(kernel, tol=TOL).fit(X, y)
    assert_allclose(ours.predict(X), SVR(kernel=kernel.gram, tol=TOL).fit(X, y).predict(X), **CLOSE)


@pytest.mark.parametrize("class_weight", ["balanced", {"class 0": 3.0, "class 2": 0.5}])
def test_class_weights_are_those_of_scikit_learn(class_weight):
    X, y = classification(n=200)
    ours = KernelSVC(Gaussian(SCALE), class_weight=class_weight, tol=TOL).fit(X, y)
    theirs = SVC(gamma=GAMMA, class_weight=class_weight, tol=TOL).fit(X, y)
    assert_same_machine(ours, theirs)


def test_scaled_inputs_are_a_standard_scaler_before():
    X, y = regression(n=200)
    X = 100 * X * np.arange(1, 6) + 7
    ours = KernelSVR(Gaussian(SCALE), scale_inputs=True, tol=TOL).fit(X, y)
    theirs = make_pipeline(StandardScaler(), SVR(gamma=GAMMA, tol=TOL)).fit(X, y)
    assert_allclose(ours.predict(X), theirs.predict(X), **CLOSE)
    assert_array_equal(ours.support_vectors_, X[ours.support_])  # in the units they came in


# --- laws ----------------------------------------------------------------------------------------


def scores(model, X):
    return getattr(model, "decision_function", model.predict)(X)


PROBLEMS = [(KernelSVC(), classification(n=120)), (KernelSVR(), regression(n=120))]


@pytest.mark.parametrize(("model", "problem"), PROBLEMS, ids=["SVC", "SVR"])
def test_weights_are_repeated_rows_and_order_does_not_matter(model, problem):
    X, y = problem
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, len(y))
    weighted = clone(model).fit(X, y, weight)
    repeated = rng.permutation(np.repeat(np.arange(len(y)), weight))
    copies = clone(model).fit(X[repeated], y[repeated])
    assert_allclose(scores(copies, X), scores(weighted, X), rtol=1e-9)
    assert set(weighted.support_) <= set(np.flatnonzero(weight))
    assert_array_equal(weighted.support_vectors_, X[weighted.support_])


@pytest.mark.parametrize(("model", "problem"), PROBLEMS, ids=["SVC", "SVR"])
def test_blocks_of_any_size_give_the_same_model(model, problem, monkeypatch):
    X, y = problem
    whole = clone(model).fit(X, y)
    monkeypatch.setattr(svm, "_GRAM_ROWS", 7)
    with kernelm.config_context(working_memory=0.01):  # 64 rows at a time
        monkeypatch.setattr(svm, "LIMIT", 10**6)
        blocked = clone(model).fit(X, y)
        assert_allclose(scores(blocked, X), scores(whole, X), rtol=1e-9)


@pytest.mark.parametrize(("model", "problem"), PROBLEMS, ids=["SVC", "SVR"])
def test_float32_and_sparse_rows_give_the_same_model(model, problem):
    X, y = problem
    X = X.astype(np.float32)
    double = clone(model).fit(X.astype(np.float64), y)
    single = clone(model).fit(X, y)
    assert single.support_vectors_.dtype == np.float32
    for other in (single, clone(model).fit(as_csr(X), y), pickle.loads(pickle.dumps(single))):
        for rows in (X, as_csr(X), X.astype(np.float64)):
            assert_allclose(scores(other, rows), scores(double, X), rtol=1e-9, atol=1e-9)


def test_predict_is_the_class_with_the_largest_score():
    X, y = classification(n=200, classes=5)
    model = KernelSVC(Gaussian(0.3), C=0.01).fit(X, y)  # nearly every vote is a tie
    best = model.decision_function(X).argmax(axis=1)
    assert_array_equal(model.predict(X), model.classes_[best])


def test_scales_are_taken_from_the_training_rows():
    X, y = classification(n=200)
    model = KernelSVC(Gaussian("median")).fit(X, y)
    assert model.kernel_ == Gaussian("median").resolve(X)
    assert model.kernel == Gaussian("median")
    assert KernelSVC("gaussian").fit(X, y).kernel_ == model.kernel_


def test_a_wide_tube_needs_no_rows():
    X, y = regression(n=50)
    model = KernelSVR(Gaussian(SCALE), epsilon=100.0).fit(X, y)
    assert len(model.support_) == 0
    assert_array_equal(model.predict(X), np.full(50, model.intercept_[0]))


def test_an_indefinite_kernel_is_fitted_too():
    X, y = classification(n=200)
    assert KernelSVC(Sigmoid(scale=0.1, offset=-1.0)).fit(X, y).score(X, y) > 0.4


# --- what users of scikit-learn do ---------------------------------------------------------------


def test_grid_search_reaches_into_the_kernel():
    X, y = classification(n=200)
    grid = {"kernel__scale": [0.01, 1.0], "C": [1.0, 10.0]}
    search = GridSearchCV(KernelSVC(Gaussian()), grid, cv=3).fit(X, y)
    assert search.best_params_["kernel__scale"] == 1.0
    assert search.best_estimator_.kernel_ == Gaussian(1.0)


def test_data_frames_carry_their_names():
    X, y = regression(n=60)
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = KernelSVR(Gaussian(SCALE)).fit(frame, y)
    assert_array_equal(model.feature_names_in_, frame.columns)
    assert_allclose(model.predict(frame), KernelSVR(Gaussian(SCALE)).fit(X, y).predict(X))


def test_probabilities_come_from_a_calibrated_classifier():
    X, y = classification(n=200)
    assert not hasattr(KernelSVC(), "predict_proba")
    P = CalibratedClassifierCV(KernelSVC(), cv=3).fit(X, y).predict_proba(X)
    assert_allclose(P.sum(axis=1), 1)


# --- errors --------------------------------------------------------------------------------------


def test_a_kernel_matrix_beyond_the_limit_is_refused_with_advice():
    X, y = regression(n=300)
    said = r"n_samples=300 .* 0\.00072 GB.* 0\.000168 GB.*CoreVector.*working_memory=1\)"
    with kernelm.config_context(working_memory=0.01):
        with pytest.raises(MemoryError, match=said):
            KernelSVR().fit(X, y)
        rows = np.arange(300) % 100  # equal rows count once
        KernelSVR().fit(X[rows], y[rows])
    KernelSVR().fit(X, y)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KernelSVC("rbf"), "kernel .* must be one of 'linear', 'gaussian'"),
        (KernelSVC(C=0), "C must be a finite number above 0"),
        (KernelSVC(tol=-1), "tol must be"),
        (KernelSVC(max_iter=-2), "max_iter .* must be a whole number"),
        (KernelSVC(class_weight={"class 1": 0}), r"class_weight\['class 1'\] must be"),
        (KernelSVC(class_weight={"no": 1}), "class_weight names classes"),
    ],
)
def test_parameters_that_cannot_be_used(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*classification(n=30))


def test_other_things_that_cannot_be_used():
    X, y = regression(n=30)
    with pytest.raises(ValueError, match="epsilon must be"):
        KernelSVR(epsilon=-1).fit(X, y)
    with pytest.raises(TypeError, match="kernel must be a Kernel"):
        KernelSVR(kernel=3).fit(X, y)
    with pytest.raises(ValueError, match="overflows"), np.errstate(over="ignore"):
        KernelSVR(Polynomial(degree=9)).fit(1e60 * X, y)
    with pytest.warns(ConvergenceWarning):
        KernelSVR(max_iter=1).fit(X, y)
