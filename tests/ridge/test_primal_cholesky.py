"""Sums in one half of an array and factors in the other are plain ridge regression."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelm.kernels import Matern32
from kernelm.ridge import PrimalCholesky, Status, shared_directions
from kernelm.ridge.triangles import _TILE


def problem(n_rows=60, n_features=7, seed=0):
    rng = np.random.default_rng(seed)
    Phi, Y = rng.normal(size=(n_rows, n_features)), rng.normal(size=(n_rows, 2))
    root = rng.normal(size=(n_features, n_features))
    return Phi + 1.5, Y, root @ root.T, rng.integers(1, 4, n_rows).astype(float)


def summed(Phi, Y, P, weight=None, *, intercept=True, blocks=3, shared=None):
    primal = PrimalCholesky.zeros(
        Phi.shape[1],
        lambda rows: P[rows, rows.start :].copy(),
        intercept=intercept,
        shared=shared,
    )
    for part in np.array_split(np.arange(len(Phi)), blocks):
        w = None if weight is None else weight[part]
        primal.add(primal.block(Phi[part], Y[part], w))
    return primal


def ridge(Phi, Y, P, alpha, weight, intercept):
    """Weights and intercept by one system of normal equations."""
    L = Phi.shape[1]
    F = np.column_stack([Phi, np.ones(len(Phi))]) if intercept else Phi
    penalty = np.zeros((F.shape[1], F.shape[1]))
    penalty[:L, :L] = alpha * P
    W = np.linalg.solve((F.T * weight) @ F + penalty, (F.T * weight) @ Y)
    return (W[:L], W[L]) if intercept else (W, np.zeros(Y.shape[1]))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("n_features", [1, 7, _TILE + 5])
def test_weights_are_those_of_the_normal_equations(intercept, weighted, n_features):
    Phi, Y, P, w = problem(80, n_features)
    P += np.eye(n_features)
    w = w if weighted else np.ones(len(Phi))
    primal = summed(Phi, Y, P, w if weighted else None, intercept=intercept)
    for alpha in (0.3, 1e-3, 20.0, 0.3):  # each factor leaves the sums as they were
        assert primal.factor(alpha) is Status.OK
        for ours, theirs in zip(primal.coef(), ridge(Phi, Y, P, alpha, w, intercept), strict=True):
            assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("intercept", [True, False])
def test_leave_one_out_is_leaving_one_out(intercept):
    Phi, Y, P, w = problem()
    primal = summed(Phi, Y, P, w, intercept=intercept)
    primal.factor(0.5)
    whole, single = primal.loo_residuals(Phi, Y, w), primal.loo_residuals(Phi, Y, np.ones(len(w)))
    for i in range(0, len(Phi), 7):
        for left, residuals in ((0.0, whole), (w[i] - 1, single)):
            rest = np.where(np.arange(len(w)) == i, left, w)
            W, b = ridge(Phi, Y, P, 0.5, rest, intercept)
            assert_allclose(residuals[i], Y[i] - Phi[i] @ W - b, rtol=1e-8)


def test_hat_values_add_up_to_the_degrees_of_freedom():
    Phi, Y, P, _ = problem()
    primal = summed(Phi, Y, P)
    primal.factor(0.5)
    C = Phi - Phi.mean(axis=0)
    expected = np.trace(np.linalg.solve(C.T @ C + 0.5 * P, C.T @ C)) + 1
    assert primal.hat_values(Phi).sum() == pytest.approx(expected, rel=1e-10)


def test_a_singular_matrix_gets_a_ridge_and_a_status():
    Phi, Y, _, _ = problem()
    Phi = np.hstack([Phi, Phi])  # every feature twice, and a penalty that does not see it
    primal = summed(Phi, Y, np.full((14, 14), 1e-300))
    assert primal.factor(0.0) is Status.FLOORED
    fitted = Phi @ primal.coef().coef + primal.coef().intercept
    F = np.column_stack([Phi, np.ones(len(Phi))])
    assert_allclose(fitted, F @ np.linalg.lstsq(F, Y)[0], atol=1e-6)


def test_single_precision_blocks_are_summed_in_double():
    Phi, Y, P, _ = problem(500)
    Phi = Phi.astype(np.float32)
    primal, reference = summed(Phi, Y, P), summed(Phi.astype(float), Y, P)
    primal.factor(1e-4)
    reference.factor(1e-4)
    assert_allclose(primal.coef().coef, reference.coef().coef, rtol=1e-12, atol=1e-14)


def kernel_columns(n_rows=3000, n_landmarks=600):
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(n_rows, 4)), rng.normal(size=(n_landmarks, 4))
    kernel = Matern32(3.0)
    Phi = kernel.gram(X, Z).astype(np.float32)
    return Phi, np.sin(X[:, :2]), kernel.gram(Z) + 1e-4 * np.eye(n_landmarks)


@pytest.mark.parametrize("weighted", [True, False])
def test_without_shared_directions_single_precision_products_are_good_sums(weighted):
    Phi, Y, P = kernel_columns()
    w = np.random.default_rng(0).integers(1, 4, len(Phi)).astype(float) if weighted else None
    deflated = summed(Phi, Y, P, w, shared=shared_directions(Phi[:500].astype(float)))
    double = summed(Phi.astype(float), Y, P, w)
    assert deflated.factor(1e-2) is double.factor(1e-2) is Status.OK
    # The columns come rounded to single precision: sums are as close as their last digits.
    lower = np.tril_indices(len(P), -1)
    assert_allclose(deflated.S[lower], double.S[lower], atol=2e-7 * np.abs(double.S).max())
    fits = [Phi @ primal.coef().coef for primal in (deflated, double)]
    assert_allclose(*fits, atol=2e-3)
    assert_allclose(deflated.hat_values(Phi[:50]), double.hat_values(Phi[:50]), rtol=0.05)


def test_plain_single_precision_products_are_not():
    """Why directions are taken off: without that, the same sums are not even semidefinite."""
    Phi, Y, P = kernel_columns()
    plain = summed(Phi, Y, P)
    gram = np.float32(0) + Phi.T @ Phi  # in single precision throughout
    plain._center()
    noise = np.abs(np.linalg.eigvalsh(gram - Phi.astype(float).T @ Phi)).max()
    deflated = summed(Phi, Y, P, shared=shared_directions(Phi[:500].astype(float)))
    deflated._center()
    lower = np.tril(deflated.S) - np.tril(plain.S)
    less = np.abs(np.linalg.eigvalsh(lower + np.tril(lower, -1).T)).max()
    assert less < noise / 100


def test_any_order_of_the_tiles_gives_the_same_factor():
    Phi, Y, P = kernel_columns(400, _TILE + 100)
    shared = shared_directions(Phi.astype(float))
    one, other = (summed(Phi, Y, P, shared=shared) for _ in range(2))
    one.factor(0.1)
    other.factor(0.1, each=lambda work, tiles: map(work, reversed(list(tiles))))
    assert_allclose(one.S, other.S, rtol=1e-12)
