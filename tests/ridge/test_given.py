"""One given alpha: what eigenvalues would say, without them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from kernelm import ELMRegressor, KernelELMRegressor
from kernelm.kernels import Gaussian
from kernelm.ridge import Factor, GivenRidge, Moments, Status, solve_given

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(80, 3)), RNG.normal(size=(80, 2))
PHI = np.column_stack([np.tanh(X @ RNG.normal(size=(3, 12))) + 0.5, np.full(80, 3.0)])
WEIGHT = RNG.integers(0, 4, 80).astype(float)
ROOT = RNG.normal(size=(13, 13))
PENALTIES = {"plain": None, "full": ROOT @ ROOT.T + np.eye(13), "half": ROOT[:, :6] @ ROOT[:, :6].T}


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e6])
def test_it_is_the_solution_by_eigenvalues(penalty, intercept, weighted, alpha):
    P = PENALTIES[penalty]
    m = Moments.of(PHI.copy(), Y, WEIGHT if weighted else None)
    given = solve_given(m, alpha, penalty=P, intercept=intercept)
    factor = Factor.of(m, penalty=P, intercept=intercept)
    assert isinstance(given, GivenRidge)
    assert given.resolve(alpha) == factor.resolve(alpha) == (alpha, Status.OK)
    assert_allclose(given.coef(alpha).coef, factor.coef(alpha).coef, rtol=1e-8, atol=1e-12)
    assert_allclose(given.coef(alpha).intercept, factor.coef(alpha).intercept, rtol=1e-8)
    assert given.df(alpha) == pytest.approx(factor.df(alpha), abs=1e-9)
    assert_allclose(given.gcv(np.array([alpha])), factor.gcv(np.array([alpha])), rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_close_to_rounding_eigenvalues_decide(dtype):
    m = Moments.of(PHI.astype(dtype), Y)
    floor = Factor.of(m).floor
    assert isinstance(solve_given(m, floor / 2), Factor)
    assert solve_given(m, floor / 2).resolve(floor / 2) == (floor, Status.FLOORED)


def test_another_alpha_is_refused():
    given = solve_given(Moments.of(PHI.copy(), Y), 1.0)
    for ask in (given.resolve, given.coef, given.df, lambda a: given.gcv(np.array([a]))):
        with pytest.raises(ValueError, match="solved for it alone"):
            ask(2.0)


def test_constant_features_have_no_signal():
    given = solve_given(Moments.of(np.ones((20, 3)), Y[:20]), 1.0)
    assert given.resolve(1.0)[1] is Status.NO_SIGNAL
    assert_allclose(given.coef(1.0).coef, 0)


@pytest.mark.parametrize(
    "model",
    [
        ELMRegressor(20, alpha=0.1, random_state=0),
        KernelELMRegressor(Gaussian(), approximation="nystrom", n_landmarks=20, alpha=0.1),
        KernelELMRegressor(Gaussian(), approximation="landmarks", n_landmarks=20, alpha=0.1),
    ],
    ids=["elm", "nystrom", "landmarks"],
)
def test_fitted_models_say_what_eigenvalues_say(model):
    model.set_params(random_state=0).fit(X, Y)
    every = model.machine_._factor(model.machine_.phi.n_features_out)
    assert isinstance(model.machine_.solution.factor, GivenRidge)
    assert model.effective_df_ == pytest.approx(every.df(0.1), rel=1e-9)
    assert model.path_.criterion == "given"
    assert_allclose(model.path_.scores, every.gcv(np.array([0.1])), rtol=1e-9)
    # Two equal candidates go by eigenvalues.
    both = clone(model).set_params(alpha=[0.1, 0.1]).fit(X, Y)
    assert_allclose(model.predict(X), both.predict(X), rtol=1e-7, atol=1e-9)
    assert model.loo_score_ == pytest.approx(both.loo_score_, rel=1e-9)
