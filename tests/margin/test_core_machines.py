"""Core vector machines against textbook versions, brute-force refits and each other."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg import solve_triangular
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from catalog import OnePass
from kernelm import CoreVectorClassifier, CoreVectorDetector, CoreVectorRegressor, config_context
from kernelm.data import ArraySource
from kernelm.kernels import ArcCosine, AsymptoticELM, Gaussian, Linear
from problems import classification, regression

GAUSSIAN = {"kernel": Gaussian(2.0), "scale_inputs": False, "random_state": 0}


def squared_hinge(K, y, C):
    """Scores of a machine with squared slacks: min βᵀQβ/2 − Σβ, β ≥ 0, as least squares."""
    L = np.linalg.cholesky(np.outer(y, y) * K + np.eye(len(y)) / C)
    beta, _ = nnls(L.T, solve_triangular(L, np.ones(len(y)), lower=True), maxiter=10_000)
    return K @ (beta * y)


def test_two_classes_are_the_machine_with_squared_slacks():
    X, y = classification(n=200, classes=2)
    model = CoreVectorClassifier(C=5, **GAUSSIAN).fit(X, y)
    K, signs = Gaussian(2.0).gram(X) + 1, np.where(y == model.classes_[1], 1.0, -1.0)
    assert_allclose(model.decision_function(X), squared_hinge(K, signs, 5.0), atol=1e-8)


def test_no_row_lacks_more_margin_than_the_certificate_says():
    X, y = classification(n=3000, classes=2)
    model = CoreVectorClassifier(C=5, eps=1e-4, **GAUSSIAN).fit(X, y)
    assert model.gap_ <= 1e-4
    assert model.status_ == ""
    ball = model.machine_.parts[0].ball
    assert model.n_core_ < len(X)
    outside = np.setdiff1d(np.arange(len(X)), model.core_indices_)
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    margins = ball.rho * (signs * model.decision_function(X))[outside]
    allowed = 0.5 * ((1 + 1e-4) ** 2 - 1) * model.radius_**2
    assert margins.min() >= ball.rho - allowed - 1e-9


@pytest.mark.parametrize("multiclass", ["ovo", "vector"])
@pytest.mark.parametrize("method", ["cvm", "bvm"])
def test_separable_classes_are_separated(multiclass, method):
    rng = np.random.default_rng(0)
    centres = 6 * np.eye(4)
    index = rng.integers(4, size=400)
    X = centres[index] + 0.5 * rng.normal(size=(400, 4))
    model = CoreVectorClassifier(C=10, method=method, multiclass=multiclass, **GAUSSIAN)
    y = np.array(list("abcd"))[index]
    assert model.fit(X[:300], y[:300]).score(X[300:], y[300:]) == 1.0


def test_both_methods_and_libsvm_agree_in_accuracy():
    X, y = classification(n=1500, classes=2)
    train, test = slice(0, 1000), slice(1000, None)
    scores = [
        CoreVectorClassifier(C=5, method=method, **GAUSSIAN)
        .fit(X[train], y[train])
        .score(X[test], y[test])
        for method in ("cvm", "bvm")
    ]
    svc = SVC(C=5, gamma=1 / 8).fit(X[train], y[train]).score(X[test], y[test])
    assert_allclose(scores, svc, atol=0.02)


@pytest.mark.parametrize(
    "kernel", [ArcCosine([1]), ArcCosine([0, 1, 2]), Linear(), AsymptoticELM()], ids=repr
)
def test_any_kernel_will_do(kernel):
    X, y = classification(n=700, classes=2)
    model = CoreVectorClassifier(kernel, C=1, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.6
    assert np.isfinite(model.radius_)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_storage_of_rows_makes_no_difference(classes):
    X, y = classification(n=900, classes=classes)
    model = CoreVectorClassifier(C=5, eps=1e-7, **GAUSSIAN)
    expected = clone(model).fit(X, y).decision_function(X)
    assert_allclose(
        clone(model).fit(sparse.csr_array(X), y).decision_function(X), expected, atol=1e-3
    )
    for source in (ArraySource(X, y), OnePass(X, y)):
        fitted = clone(model).fit_source(source)
        assert_allclose(fitted.decision_function(X), expected, atol=1e-3)


def test_small_memory_gives_the_same_machine():
    X, y = classification(n=3000, classes=2)
    model = CoreVectorClassifier(C=5, eps=1e-7, max_core=3000, **GAUSSIAN)
    expected = clone(model).fit(X, y).decision_function(X)
    with config_context(working_memory=0.1):
        assert_allclose(clone(model).fit(X, y).decision_function(X), expected, atol=2e-3)


@pytest.mark.parametrize("method", ["cvm", "bvm"])
@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_agree_with_predictions(method, classes):
    X, y = classification(n=400, classes=classes)
    model = CoreVectorClassifier(C=5, method=method, **GAUSSIAN).fit(X[:300], y[:300])
    P = model.predict_proba(X)
    assert_allclose(P.sum(axis=1), 1)
    assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))


def test_left_out_scores_are_close_to_those_of_refits():
    X, y = classification(n=150, classes=2)
    model = CoreVectorClassifier(C=5, **GAUSSIAN).fit(X, y)
    left_out, fitted = model.machine_.held_out.scores[:, 0], model.decision_function(X)
    core = model.core_indices_[::4]
    refits = np.array(
        [
            clone(model).fit(np.delete(X, i, 0), np.delete(y, i)).decision_function(X[[i]])[0]
            for i in core
        ]
    )
    # Not exact, for the core set of the others may change, but most of the way there.
    assert np.abs(left_out[core] - refits).mean() < 0.2 * np.abs(fitted[core] - refits).mean()
    outside = np.setdiff1d(np.arange(150), model.core_indices_)
    assert_allclose(left_out[outside], fitted[outside], rtol=1e-9)


def test_class_weights_move_the_border():
    X, y = classification(n=600, classes=2)
    a, b = np.unique(y)
    share = [
        np.mean(
            CoreVectorClassifier(C=1, class_weight={a: w, b: 1}, **GAUSSIAN).fit(X, y).predict(X)
            == a
        )
        for w in (0.1, 1, 10)
    ]
    assert share[0] < share[1] < share[2]


def test_a_tube_around_the_values():
    X, y = regression(n=600)
    model = CoreVectorRegressor(random_state=0).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.85
    assert 0 < model.epsilon_ < y.std()
    assert model.loo_score_ == pytest.approx(model.score(X[400:], y[400:]), abs=0.1)
    wide = CoreVectorRegressor(nu=0.1, random_state=0).fit(X[:400], y[:400])
    assert wide.epsilon_ > model.epsilon_
    assert wide.n_core_ < model.n_core_
    low, high = model.predict_interval(X[400:], 0.9).T
    assert 0.8 < np.mean((low <= y[400:]) & (y[400:] <= high)) <= 1


def test_rows_far_away_are_outliers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    model = CoreVectorDetector(contamination=0.05, random_state=0).fit(X)
    assert np.mean(model.predict(X) == -1) == pytest.approx(0.05, abs=0.001)
    assert (model.predict(X[:50] + 9) == -1).all()
    assert model.decision_function(np.zeros((1, 3)))[0] > 0
    assert model.gap_ <= 1e-3
    streamed = CoreVectorDetector(random_state=0).fit_source(OnePass(X))
    assert_allclose(
        streamed.score_samples(X[:9]),
        CoreVectorDetector(random_state=0).fit(X).score_samples(X[:9]),
        atol=1e-2,
    )


def test_grid_search_reaches_the_kernel_and_pickles_predict_the_same():
    X, y = classification(n=300, classes=2)
    search = GridSearchCV(
        CoreVectorClassifier(Gaussian(), C=5), {"kernel__scale": [1e-3, 2.0]}, cv=3
    ).fit(X, y)
    assert search.best_params_ == {"kernel__scale": 2.0}
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert_array_equal(again.decision_function(X), search.decision_function(X))


def test_frames_with_names_are_encoded():
    X, y = classification(n=300, classes=2)
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["side"] = np.where(X[:, 0] > 0, "left", "right")
    model = CoreVectorClassifier(random_state=0).fit(frame, y)
    assert list(model.feature_names_in_) == [*"abcde", "side"]
    assert model.score(frame, y) > 0.7


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": -1}, "C must be"),
        ({"eps": 0}, "eps must be"),
        ({"method": "svm"}, "method"),
        ({"multiclass": "ova"}, "multiclass"),
        ({"max_core": 1}, "max_core"),
        ({"kernel": 3}, "kernel"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, y = classification(n=30)
    with pytest.raises((ValueError, TypeError), match=message):
        CoreVectorClassifier(**parameters).fit(X, y)


def test_a_limit_is_never_silent():
    X, y = classification(n=3000, classes=2)
    model = CoreVectorClassifier(C=100, max_core=20, **GAUSSIAN).fit(X, y)
    assert model.status_.name == "CORE_BUDGET"
    assert "max_core" in model.status_
    assert model.n_core_ <= 20
    assert model.gap_ > 0


@pytest.mark.parametrize("C", [1e-6, 1e6])
def test_extreme_costs_and_duplicate_rows_give_finite_answers(C):
    X, y = classification(n=200, classes=3)
    X, y = np.tile(X, (3, 1)), np.tile(y, 3)
    X[:, 0] = 1.0
    model = CoreVectorClassifier(C=C, random_state=0).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.predict_proba(X)).all()
