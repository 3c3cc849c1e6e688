"""The regression seen from the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.kernel_ridge import KernelRidge

import oracles
from catalog import regression_rows
from kernelm.ridge import DualFactor, Factor, Moments

X, Y, WEIGHT = regression_rows(n=25, n_features=4)
K = oracles.gram(oracles.gaussian(2.0), X, X)
ALPHAS = [1e-6, 0.1, 10.0]
every_alpha = pytest.mark.parametrize("alpha", ALPHAS)
with_and_without_weights = pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "w"])
with_and_without_intercept = pytest.mark.parametrize("intercept", [True, False])


@every_alpha
@with_and_without_weights
def test_without_intercept_it_is_scikit_learns_kernel_ridge(alpha, weight):
    a, b = DualFactor.of(K, Y, weight).coef(alpha)
    theirs = KernelRidge(alpha=alpha, kernel="precomputed").fit(K, Y, sample_weight=weight)
    # At alpha = 1e-6 coefficients come from a system of condition 1e7.
    assert_allclose(a, theirs.dual_coef_, rtol=1e-6)
    assert_allclose(b, 0)


@every_alpha
@with_and_without_weights
def test_with_intercept_it_is_the_bordered_system(alpha, weight):
    a, b = DualFactor.of(K, Y, weight, intercept=True).coef(alpha)
    expected, c = oracles.bordered_kernel_ridge(K, Y, alpha, weight)
    assert_allclose(a, expected, rtol=1e-6, atol=1e-8)
    assert_allclose(b, c, rtol=1e-6)
    assert_allclose(a.sum(axis=0), 0, atol=1e-7)


@every_alpha
@with_and_without_weights
@with_and_without_intercept
@pytest.mark.parametrize("shape", [(12, 30), (40, 6)], ids=["wide", "tall"])
def test_a_linear_kernel_is_the_primal_regression(alpha, weight, intercept, shape):
    Phi, targets, w = regression_rows(*shape)
    w = None if weight is None else w
    dual = DualFactor.of(Phi @ Phi.T, targets, w, intercept=intercept)
    primal = Factor.of(Moments.of(Phi.copy(), targets, w), intercept=intercept)
    a, b = dual.coef(alpha)
    coef, c = primal.coef(alpha)
    # Rounding of 1e-14 in directions that have no features, over an alpha of 1e-6.
    assert_allclose(Phi.T @ a, coef, rtol=1e-5, atol=1e-7)
    assert_allclose(b, c, rtol=1e-5, atol=1e-7)
    assert dual.df(alpha) == pytest.approx(primal.df(alpha), rel=1e-7)


@with_and_without_intercept
@with_and_without_weights
def test_no_ridge_interpolates(intercept, weight):
    a, b = DualFactor.of(K, Y, weight, intercept=intercept).coef(0.0)
    assert_allclose(K @ a + b, Y, atol=1e-8)


@with_and_without_intercept
def test_weights_are_repetitions(intercept):
    at = np.repeat(np.arange(25), WEIGHT.astype(int))
    one = DualFactor.of(K, Y, WEIGHT, intercept=intercept)
    many = DualFactor.of(K[np.ix_(at, at)], Y[at], intercept=intercept)
    a, b = one.coef(0.5)
    c, d = many.coef(0.5)
    assert_allclose(K @ a + b, K[:, at] @ c + d, rtol=1e-9)
    assert one.df(0.5) == pytest.approx(many.df(0.5))


@with_and_without_intercept
def test_rows_of_no_weight_are_not_there(intercept):
    weight = WEIGHT.copy()
    weight[[3, 8]] = 0
    there = weight > 0
    a, b = DualFactor.of(K, Y, weight, intercept=intercept).coef(0.5)
    c, d = DualFactor.of(
        K[np.ix_(there, there)], Y[there], weight[there], intercept=intercept
    ).coef(0.5)
    assert_allclose(a[there], c, rtol=1e-9)
    assert_allclose(a[~there], 0)
    assert_allclose(b, d, rtol=1e-9, atol=1e-12)


@with_and_without_weights
@with_and_without_intercept
def test_df_is_the_trace_of_the_hat_matrix(weight, intercept):
    """Fitted values of unit targets."""
    fits = []
    for i in range(25):
        a, b = DualFactor.of(K, np.eye(25)[:, i : i + 1], weight, intercept=intercept).coef(0.3)
        fits.append((K @ a + b)[i, 0])
    assert DualFactor.of(K, Y, weight, intercept=intercept).df(0.3) == pytest.approx(sum(fits))


def test_float32_kernels_know_their_precision():
    fine, coarse = DualFactor.of(K, Y), DualFactor.of(K.astype(np.float32), Y)
    assert coarse.floor > 1e3 * fine.floor
    assert_allclose(coarse.coef(0.1).coef, fine.coef(0.1).coef, rtol=1e-3, atol=1e-4)


def test_a_large_constant_in_the_kernel_belongs_to_the_intercept():
    """It cancels when the kernel is centred, and raises what can be resolved."""
    plain, shifted = (DualFactor.of(K + c, Y, intercept=True) for c in (0.0, 1e9))
    assert shifted.floor >= 1e9 * np.finfo(float).eps
    assert_allclose(shifted.coef(0.1).coef, plain.coef(0.1).coef, atol=1e-4)


@pytest.mark.parametrize("intercept", [True, False])
def test_duplicate_rows_and_tiny_alphas_are_finite(intercept):
    at = np.repeat(np.arange(5), 3)
    dual = DualFactor.of(K[np.ix_(at, at)], Y[at], intercept=intercept)
    for alpha in (0.0, 1e-300, 1e-12):
        a, b = dual.coef(alpha)
        assert_allclose(K[np.ix_(at, at)] @ a + b, Y[at], atol=1e-6)
        assert_allclose(dual.loo_residuals(np.array([alpha])), 0, atol=1e-6)


def test_a_constant_kernel_predicts_the_mean():
    dual = DualFactor.of(np.full((5, 5), 0.1), Y[:5], intercept=True)
    for alpha in (0.0, 1e-4, 1.0):
        a, b = dual.coef(alpha)
        assert_allclose(0.1 * a.sum(axis=0) + b, Y[:5].mean(axis=0), rtol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(bad):
    broken = K.copy()
    broken[0, 1] = bad
    with pytest.raises(ValueError, match="too large to be summed"):
        DualFactor.of(broken, Y)
    with pytest.raises(ValueError, match="too large to be summed"):
        DualFactor.of(K, np.full((25, 1), bad))
