"""The Cholesky form is the eigenvalue form for one alpha, cheaper."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelm.kernels import Gaussian, Laplacian
from kernelm.ridge import DualCholesky, DualFactor, Status, dual_loo_error


def problem(n=60, outputs=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    Y = np.stack([np.sin(X[:, 0] + k) for k in range(outputs)], axis=1)
    return X, Y + 0.1 * rng.normal(size=Y.shape), rng.integers(0, 4, n).astype(float)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("alpha", [1e-3, 0.5, 100.0])
def test_it_agrees_with_the_eigenvalue_form(alpha, weighted, intercept):
    X, Y, w = problem()
    weight = w if weighted else None
    K = Laplacian(scale=2.0).gram(X)
    a = DualCholesky.of(K, Y, alpha, weight, intercept=intercept)
    b = DualFactor.of(K, Y, weight, intercept=intercept)
    assert_allclose(
        K @ a.weights.coef + a.weights.intercept,
        K @ b.coef(alpha).coef + b.coef(alpha).intercept,
        rtol=1e-7,
        atol=1e-9,
    )
    assert a.df(alpha) == pytest.approx(b.df(alpha), rel=1e-7)
    counts = w > 0 if weighted else np.ones(len(X), bool)
    whole = b.loo_residuals(np.array([alpha]), w if weighted else None)[0]
    assert_allclose(a.loo_residuals()[counts], whole[counts], rtol=1e-6, atol=1e-9)
    assert a.status is Status.OK


@pytest.mark.parametrize("weighted", [True, False])
def test_the_error_of_an_alpha_is_that_of_the_path(weighted):
    X, Y, w = problem()
    weight, unit = (w, np.minimum(w, 1.0)) if weighted else (None, None)
    K = Laplacian(scale=2.0).gram(X)
    alphas = np.array([1e-2, 1.0])
    path = DualFactor.of(K, Y, weight, intercept=True).loo_path(alphas, unit)
    errors = [dual_loo_error(K, Y, a, weight=weight, unit=unit) for a in alphas]
    assert_allclose(errors, path.scores, rtol=1e-7)


@pytest.mark.parametrize("alpha", [1e-6, 1e-9, 1e-12])
def test_tiny_ridges_are_not_flattered(alpha):
    # So smooth a kernel interpolates, and noise is not to be predicted.
    X, Y, _ = problem()
    Y = Y + np.random.default_rng(1).normal(size=Y.shape)
    assert dual_loo_error(Gaussian(scale=8.0).gram(X), Y, alpha) > Y.var(axis=0).sum() / 2


def test_one_of_several_equal_rows_is_left_out():
    X, Y, _ = problem()
    w = np.tile([1.0, 2.0, 3.0], 20)
    K = Laplacian(scale=2.0).gram(X)
    a = DualCholesky.of(K, Y, 0.3, w, intercept=True)
    b = DualFactor.of(K, Y, w, intercept=True)
    assert_allclose(
        a.loo_residuals(1 / w), b.loo_residuals(np.array([0.3]), np.ones(60))[0], rtol=1e-8
    )


def test_float32_is_close_and_the_matrix_may_be_overwritten():
    X, Y, _ = problem(n=300)
    K = Laplacian(scale=2.0).gram(X)
    exact = DualCholesky.of(K, Y, 0.1, intercept=True)
    kept = K.copy()
    DualCholesky.of(K, Y, 0.1, intercept=True)
    assert_allclose(K, kept)
    single = DualCholesky.of(K.astype(np.float32), Y, 0.1, intercept=True, overwrite=True)
    # A condition number of about 1e3 costs three of float32's seven digits.
    assert_allclose(single.loo_residuals(), exact.loo_residuals(), atol=2e-4)


def test_a_singular_kernel_raises_alpha_and_says_so():
    X, Y, _ = problem()
    K = Gaussian(scale=50.0).gram(np.repeat(X[:30], 2, axis=0)).astype(np.float32)
    dual = DualCholesky.of(K, Y, 1e-12, intercept=True)
    assert dual.status is Status.FLOORED
    assert dual.alpha > 1e-12
    assert np.isfinite(dual.loo_residuals()).all()


@pytest.mark.parametrize(("least", "works"), [(-0.05, True), (-0.09, True), (-0.5, False)])
def test_what_rounding_left_indefinite_is_raised_as_far_as_it_may_be(least, works):
    values = np.append(np.linspace(0.5, 1.5, 49), least)
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(50, 50)))[0]
    K = (Q * values) @ Q.T
    Y = np.ones((50, 1))
    if not works:
        with pytest.raises(ValueError, match="positive semidefinite"):
            DualCholesky.of(K, Y, 1e-3)
        return
    dual = DualCholesky.of(K, Y, 1e-3)
    assert dual.status is Status.FLOORED
    assert -least < dual.alpha <= 0.1 * np.trace(K) / 50 + 1e-3
    assert np.isfinite(dual.loo_residuals()).all()
