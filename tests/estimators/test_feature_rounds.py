"""Slopes tell which inputs count, and rounds give those inputs more weight."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from kernelm import KernelELMClassifier, KernelELMRegressor
from kernelm.data import ArraySource
from kernelm.estimators import exact, kernel_machine
from kernelm.estimators.sensitivity import (
    SMALLEST_WEIGHT,
    mean_squared_slopes,
    metric_weights,
)
from kernelm.kernels import ChiSquare, Gaussian, Laplacian, Linear
from problems import as_csr, classification, regression

RELEVANT = [3, 7]
FORMS = {
    "exact": {"approximation": "exact"},
    "subset": {"approximation": "subset", "n_landmarks": 300},
    "landmarks": {"approximation": "landmarks", "n_landmarks": 100},
    "nystrom": {"approximation": "nystrom", "n_landmarks": 100},
    "falkon": {"approximation": "nystrom", "n_landmarks": 100, "solver": "falkon"},
}
every_form = pytest.mark.parametrize("form", FORMS)


def hidden(n=400, d=20, seed=0):
    """Two of many columns matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    f = np.sin(2 * X[:, 3]) + X[:, 3] * X[:, 7]
    return X, f + 0.1 * rng.normal(size=n)


def regressor(form="exact", kernel="gaussian", **options):
    return KernelELMRegressor(kernel, **{"random_state": 0} | FORMS[form] | options)


def bare(kernel, X, y, alpha=1e-3):
    """A machine in the inputs as they come."""
    options = {"approximation": "exact", "scale_inputs": False, "alpha": alpha}
    return KernelELMRegressor(kernel, **options).fit(X, y)


# -- slopes ---------------------------------------------------------------------------------------


def analytic(model, X, factor):
    """Mean squared slopes of Σ a_i k(s, z_i) with ∇k = factor(distance) · (s − z)."""
    phi, coef = model.machine_.solution.phi, model.machine_.solution.weights.coef
    difference = X[:, None, :] - phi.Z[None]
    slopes = np.einsum(
        "ij,ijd,jc->idc", factor(np.linalg.norm(difference, axis=2)), difference, coef
    )
    return (slopes**2).sum(axis=2).mean(axis=0)


@pytest.mark.parametrize("outputs", [None, 3])
def test_slopes_of_a_gaussian_machine_are_the_derivatives(outputs):
    X, y = regression(n=100, outputs=outputs)
    model = bare(Gaussian(1.5), X, y)
    expected = analytic(model, X, lambda d: -np.exp(-(d**2) / 4.5) / 2.25)
    # (step/width)² is 2e-6 here.
    assert_allclose(mean_squared_slopes(model.machine_), expected, rtol=2e-5)


def test_kinks_at_the_rows_themselves_cancel():
    X, y = regression(n=100)
    model = bare(Laplacian(3.0), X, y)

    def factor(d):
        d = np.where(d < 1e-12, np.inf, d)  # at its own row a term is even: no slope
        return -np.exp(-np.where(np.isinf(d), 0, d) / 3) / (3 * d)

    assert_allclose(mean_squared_slopes(model.machine_), analytic(model, X, factor), rtol=2e-4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_importances_of_a_linear_model_are_its_squared_standardised_weights(dtype):
    X, _ = regression(n=200)
    X = (X * [1, 10, 0.1, 1, 1e6]).astype(dtype)
    weights = np.array([1.0, 0.2, -30.0, 0.0, 1e-6])
    model = regressor(kernel=Linear(), alpha=1e-6).fit(X, X @ weights)
    share = (weights * X.std(axis=0)) ** 2
    assert_allclose(model.feature_importances_, share / share.sum(), rtol=1e-4, atol=1e-9)


def test_a_kernel_of_non_negative_rows_is_not_left():
    X = np.abs(regression(n=100)[0])
    X[::2, 0] = 0
    importances = bare(ChiSquare(), X, X[:, 0] ** 2).feature_importances_
    assert np.argmax(importances) == 0


def test_weights_have_mean_square_one_and_a_floor():
    weights = metric_weights(np.array([1e-200, 4e-200, 0.0, 7e-200]))
    assert_allclose(weights, [np.sqrt(1 / 3), np.sqrt(4 / 3), SMALLEST_WEIGHT, np.sqrt(7 / 3)])


# -- importances ----------------------------------------------------------------------------------


@every_form
@pytest.mark.parametrize("rounds", [0, 2])
def test_the_relevant_columns_are_found(form, rounds):
    model = regressor(form, feature_rounds=rounds).fit(*hidden())
    importances = model.feature_importances_
    assert importances.shape == (20,)
    assert (importances >= 0).all()
    assert importances.sum() == pytest.approx(1)
    assert set(np.argsort(importances)[-2:]) == set(RELEVANT)
    assert importances[RELEVANT].sum() > (0.9 if rounds else 0.4)  # of 20 columns, by chance 0.1


@pytest.mark.parametrize("classes", [2, 3])
def test_the_columns_that_separate_classes_are_found(classes):
    X, y = hidden()
    labels = np.array(["a", "b", "c"])[np.searchsorted(np.quantile(y, [0.3, 0.6]), y)]
    labels = labels if classes == 3 else np.where(labels == "a", "a", "b")
    model = KernelELMClassifier("gaussian", feature_rounds=1, random_state=0).fit(X, labels)
    importances = model.feature_importances_
    assert set(np.argsort(importances)[-2:]) == set(RELEVANT)
    assert importances.sum() == pytest.approx(1)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e6])
@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("kernel", ["gaussian", "elm"])
def test_a_constant_column_has_none(kernel, scaled, value):
    X, y = hidden(n=150, d=9)
    X = np.hstack([X, np.full((150, 1), value if scaled else 0.1)])
    model = regressor(kernel=kernel, scale_inputs=scaled, feature_rounds=1).fit(X, y)
    assert model.feature_importances_[-1] == 0
    assert np.isfinite(model.predict(X)).all()


@every_form
def test_a_constant_model_has_none(form):
    X, _ = hidden(n=400)
    model = regressor(form, feature_rounds=2).fit(X, np.full(400, 3.0))
    assert_array_equal(model.feature_importances_, 0)
    assert len(model.round_path_) == 1


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "arccosine"])
def test_permuted_columns_have_permuted_importances(kernel):
    X, y = hidden(n=200)
    order = np.random.default_rng(0).permutation(20)
    one, two = (regressor(kernel=kernel, feature_rounds=2).fit(A, y) for A in (X, X[:, order]))
    assert_allclose(two.feature_importances_, one.feature_importances_[order], atol=1e-6)
    assert_allclose(two.round_path_, one.round_path_, rtol=1e-6)


def test_units_of_the_columns_do_not_matter():
    X, y = hidden(n=200, d=8)
    one = regressor(feature_rounds=2).fit(X, y)
    two = regressor(feature_rounds=2).fit(X * np.logspace(-6, 6, 8) + 5, y)
    assert_allclose(two.feature_importances_, one.feature_importances_, atol=1e-4)


def test_weights_are_repetitions():
    X, y = hidden(n=150, d=9)
    weight = np.arange(150) % 3.0
    options = {"kernel": Gaussian(3.0), "alpha": 0.1, "feature_rounds": 1}
    repeated = np.repeat(np.arange(150), weight.astype(int))
    one = regressor(**options).fit(X, y, sample_weight=weight)
    two = regressor(**options).fit(X[repeated], y[repeated])
    assert_allclose(one.feature_importances_, two.feature_importances_, rtol=1e-5)


def test_several_outputs_add_up():
    X, y = hidden(n=300)
    both = regressor(feature_rounds=1).fit(X, np.column_stack([y, 100 * X[:, 0]]))
    assert set(np.argsort(both.feature_importances_)[-3:]) == {0, *RELEVANT}


def test_importances_wait_for_a_fit():
    assert not hasattr(regressor(), "feature_importances_")


# -- rounds ---------------------------------------------------------------------------------------


@every_form
def test_rounds_unearth_what_irrelevant_columns_hide(form):
    X, y = hidden(n=500, d=30)
    T, t = hidden(n=500, d=30, seed=1)
    plain, rounds = (regressor(form, feature_rounds=k).fit(X, y).score(T, t) for k in (0, 2))
    assert plain < 0.6
    assert rounds > 0.9


@every_form
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
@pytest.mark.parametrize("d", [2, 12])
def test_the_criterion_is_never_worse(form, kernel, d):
    X, y = classification(n=300, d=d)
    model = KernelELMClassifier(kernel, **FORMS[form], feature_rounds=2, random_state=0).fit(X, y)
    plain = clone(model).set_params(feature_rounds=0).fit(X, y)
    assert len(model.round_path_) == 3
    assert model.round_path_[0] == plain.round_path_[0] == plain.path_.score
    assert model.path_.score == min(model.round_path_)


@every_form
def test_what_the_model_shows_is_of_the_round_it_kept(form, monkeypatch):
    X, y = hidden(n=300, d=8)
    fits = [regressor(form, feature_rounds=k).fit(X, y) for k in (0, 1)]
    assert fits[1].round_path_[1] < fits[1].round_path_[0]  # so it did keep its last round
    for scores, kept in (([1.0, 2.0, 3.0], fits[0]), ([3.0, 1.0, 2.0], fits[1])):
        left = iter(scores)
        monkeypatch.setattr(kernel_machine, "_criterion", lambda _, left=left: next(left))
        model = regressor(form, feature_rounds=2).fit(X, y)
        assert model.round_path_ == scores
        assert_array_equal(model.predict(X), kept.predict(X))
        assert_array_equal(model.feature_weights_, kept.feature_weights_)
        assert_array_equal(model.scaler_.scale, kept.scaler_.scale)
        assert model.kernel_ == kept.kernel_
        phi = model.machine_.solution.phi
        assert phi.scaler is model.scaler_
        assert phi.kernel is model.kernel_
        if hasattr(model, "landmarks_"):
            assert_array_equal(phi.Z, model.landmarks_.Z)


def test_the_kernel_is_ranked_anew():
    X, y = hidden(n=150, d=8)
    model = KernelELMRegressor(feature_rounds=1, random_state=0).fit(X, y)
    assert model.kernel_ == model.kernel_path_[0].resolved
    plain = clone(model).set_params(feature_rounds=0).fit(X, y)
    assert model.kernel_path_[0].score < plain.kernel_path_[0].score


def test_no_rounds_change_nothing():
    X, y = hidden(n=100, d=8)
    model = regressor().fit(X, y)
    assert model.round_path_ == [model.path_.score]
    assert_array_equal(model.feature_weights_, 1)


def test_given_landmarks_move_with_the_inputs():
    """The scaled rows as landmarks, whatever the round: the model on all rows."""
    X, y = hidden(n=120, d=8)
    S = regressor().fit(X, y).scaler_.transform(X)
    given = regressor("nystrom", landmarks=S, alpha=0.1, feature_rounds=1).fit(X, y)
    rows = regressor("exact", alpha=0.1, feature_rounds=1).fit(X, y)
    assert not np.allclose(given.feature_weights_, 1)
    assert_allclose(given.machine_.solution.phi.Z, rows.machine_.solution.phi.Z, rtol=1e-4)
    assert_allclose(given.predict(X), rows.predict(X), atol=1e-3)


@pytest.mark.parametrize("alpha", [0.1, "gcv"])
def test_many_rows_are_compared_too(alpha, monkeypatch):
    monkeypatch.setattr(exact, "EIGEN_ROWS", 100)
    model = regressor(alpha=alpha, feature_rounds=1).fit(*hidden(n=300))
    assert model.round_path_[1] < model.round_path_[0]


@every_form
def test_fits_repeat(form):
    X, y = hidden(n=400)
    one, two = (regressor(form, feature_rounds=2).fit(X, y) for _ in range(2))
    assert_array_equal(one.predict(X), two.predict(X))
    assert_array_equal(one.feature_importances_, two.feature_importances_)


def test_float32_rows_give_the_same_rounds():
    X, y = hidden(n=300)
    one = regressor(feature_rounds=2).fit(X, y)
    two = regressor(feature_rounds=2).fit(X.astype(np.float32), y)
    assert_allclose(one.feature_importances_, two.feature_importances_, atol=1e-3)


def test_sparse_rows_have_rounds_too():
    X, y = hidden(n=400)
    model = regressor(feature_rounds=2).fit(as_csr(X), y)
    assert set(np.argsort(model.feature_importances_)[-2:]) == set(RELEVANT)
    assert model.round_path_[-1] < model.round_path_[0] / 5


def test_a_source_gives_the_same_rounds():
    X, y = hidden(n=200, d=8)
    one = regressor(feature_rounds=1).fit(X, y)
    two = regressor(feature_rounds=1).fit_source(ArraySource(X, y))
    assert_array_equal(one.predict(X), two.predict(X))


def test_copies_by_pickle_and_clone():
    X, y = hidden(n=100, d=8)
    model = regressor(feature_rounds=1).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.feature_importances_, model.feature_importances_)
    assert copy.round_path_ == model.round_path_
    assert clone(model).get_params()["feature_rounds"] == 1
    assert_array_equal(clone(model).fit(X, y).predict(X), model.predict(X))


def test_streams_make_no_rounds():
    X, y = hidden(n=200, d=8)
    model = regressor("nystrom", feature_rounds=3)
    model.partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    plain = regressor("nystrom").partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    assert_array_equal(model.predict(X), plain.predict(X))
    assert model.round_path_ == []
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_a_plan_counts_rounds():
    once, thrice = (regressor(feature_rounds=k).plan(1000, 10) for k in (0, 2))
    assert (thrice.passes, thrice.flops) == (3 * once.passes, 3 * once.flops)


@pytest.mark.parametrize("rounds", [-1, 1.5, "two", None, True])
def test_rounds_are_a_whole_number(rounds):
    with pytest.raises(ValueError, match="feature_rounds must be a whole number of at least 0"):
        regressor(feature_rounds=rounds).fit(*hidden(n=50))


def test_too_many_columns_are_refused():
    X = sparse.random_array((30, 3000), density=0.01, format="csr", rng=0)
    y = np.arange(30.0)
    with pytest.raises(ValueError, match=r"feature_rounds .* at most 2048 columns; got 3000"):
        regressor(feature_rounds=1).fit(X, y)
    with pytest.raises(ValueError, match=r"feature_importances_ .* columns; got 3000"):
        _ = regressor().fit(X, y).feature_importances_
