"""Conjugate gradients on landmarks against the direct solution of the same equations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse.linalg import cg
from scipy.spatial.distance import cdist

import oracles
from kernelm.ridge import CrossSums, Preconditioner, Weights, falkon

pytestmark = pytest.mark.filterwarnings("error")
EPS32 = float(np.finfo(np.float32).eps)
with_and_without_intercept = pytest.mark.parametrize("intercept", [True, False])
with_and_without_weights = pytest.mark.parametrize("weighted", [True, False])


def kernel(X, Z, scale=1.0):
    """The exponential kernel: its matrices stay well-conditioned."""
    return np.exp(-cdist(X, Z) / scale)


def smooth_kernel(X, Z, scale=1.0):
    """The Gaussian kernel: most directions of its matrices are below rounding."""
    return np.exp(-cdist(X, Z, "sqeuclidean") / (2 * scale**2))


def rows(n_rows=300, n_inputs=3, n_outputs=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_inputs))
    Y = np.sin(X @ rng.standard_normal((n_inputs, n_outputs))) + 3
    weight = rng.integers(0, 4, n_rows).astype(float)
    return X, Y + 0.1 * rng.standard_normal(Y.shape), weight


def passes(K, weight, n_blocks=4, dtype=np.float64):
    """The caller's side: one pass over blocks of rows."""
    blocks = [
        (k.astype(dtype), w[:, None].astype(dtype))
        for k, w in zip(np.array_split(K, n_blocks), np.array_split(weight, n_blocks), strict=True)
    ]

    def apply(V):
        V = V.astype(dtype)
        return sum((k.T @ (w * (k @ V))).astype(np.float64) for k, w in blocks)

    return apply


def fit(K, Y, K_zz, alpha, weight=None, *, dtype=np.float64, precision=0.0, **options):
    w = np.ones(len(K)) if weight is None else weight
    sums = CrossSums.of(K, Y, weight)
    pre = Preconditioner.of(K_zz, alpha, sums.weight, dtype=dtype, precision=precision)
    return falkon(passes(K, w), sums, pre, **options)


def predict(K, weights: Weights):
    return K @ weights.coef + weights.intercept


# --- the solution --------------------------------------------------------------------------------


@with_and_without_intercept
@with_and_without_weights
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_weights_solve_the_normal_equations(intercept, weighted, alpha, n_outputs):
    X, Y, weight = rows(n_outputs=n_outputs)
    weight = weight if weighted else None
    K, K_zz = kernel(X, X[:40]), kernel(X[:40], X[:40])
    result = fit(K, Y, K_zz, alpha, weight, intercept=intercept, tol=1e-11, iterations=100)
    W, b = oracles.generalised_ridge(K, Y, alpha, K_zz, intercept=intercept, weight=weight)
    assert result.converged
    assert_allclose(result.weights.coef, W, rtol=1e-6, atol=1e-6 * np.abs(W).max())
    assert_allclose(result.weights.intercept, b, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("alpha", [1e-2, 1.0])
def test_with_all_rows_as_landmarks_it_is_kernel_ridge(alpha):
    X, Y, _ = rows(150)
    K = kernel(X, X)
    result = fit(K, Y, K, alpha, intercept=False, tol=1e-10, iterations=100)
    assert_allclose(predict(K, result.weights), oracles.kernel_ridge(K, Y, alpha), rtol=1e-6)


def test_with_all_rows_as_landmarks_and_an_intercept_it_is_bordered_kernel_ridge():
    X, Y, _ = rows(150)
    K = kernel(X, X)
    a, b = oracles.bordered_kernel_ridge(K, Y, 0.5)
    result = fit(K, Y, K, 0.5, tol=1e-10, iterations=100)
    assert_allclose(predict(K, result.weights), K @ a + b, rtol=1e-6)


@with_and_without_intercept
def test_weights_are_repeated_rows(intercept):
    X, Y, weight = rows()
    K, K_zz = kernel(X, X[:40]), kernel(X[:40], X[:40])
    repeat = np.repeat(np.arange(len(X)), weight.astype(int))
    options = {"intercept": intercept, "tol": 1e-11, "iterations": 100}
    a = fit(K, Y, K_zz, 0.1, weight, **options)
    b = fit(K[repeat], Y[repeat], K_zz, 0.1, **options)
    assert_allclose(a.weights.coef, b.weights.coef, rtol=1e-7, atol=1e-9)


def test_outputs_do_not_know_of_each_other():
    X, Y, _ = rows(n_outputs=3)
    Y *= [1.0, 1e-8, 1e8]
    K, K_zz = kernel(X, X[:40]), kernel(X[:40], X[:40])
    together = fit(K, Y, K_zz, 0.1, tol=1e-8)
    for c in range(3):
        alone = fit(K, Y[:, [c]], K_zz, 0.1, tol=1e-8)
        assert_allclose(together.weights.coef[:, [c]], alone.weights.coef, rtol=1e-6, atol=0)


def test_sums_of_blocks_add_up():
    X, Y, weight = rows()
    K = kernel(X, X[:7])
    whole = CrossSums.of(K, Y, weight)
    parts = CrossSums.of(K[:99], Y[:99], weight[:99]) + CrossSums.of(K[99:], Y[99:], weight[99:])
    for name in ("weight", "phi", "y", "cross"):
        assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-13)


# --- iterations ----------------------------------------------------------------------------------


def count(n_rows, k, alpha, n=200):
    X, Y, _ = rows(n_rows)
    K, K_zz = k(X, X[:n]), k(X[:n], X[:n])
    result = fit(K, Y, K_zz, alpha, tol=1e-4, iterations=100)
    assert result.converged
    return result.iterations


@pytest.mark.parametrize(("k", "alpha"), [(kernel, 1e-3), (smooth_kernel, 1e-2)])
def test_few_iterations_and_not_more_for_more_rows(k, alpha):
    counts = [count(n_rows, k, alpha * n_rows) for n_rows in (2000, 4000, 8000)]
    assert counts[0] <= 20
    assert max(counts[1:]) <= counts[0] + 1


def test_as_many_plain_conjugate_gradients_come_less_far():
    """What the triangles are for."""
    X, Y, _ = rows(2000, n_outputs=1)
    K, K_zz = smooth_kernel(X, X[:200]), smooth_kernel(X[:200], X[:200])
    options = {"intercept": False, "tol": 1e-9}
    best = predict(K, fit(K, Y, K_zz, 20.0, iterations=100, **options).weights)
    ours = predict(K, fit(K, Y, K_zz, 20.0, iterations=10, **options).weights)
    plain = K @ cg(K.T @ K + 20.0 * K_zz, K.T @ Y[:, 0], rtol=1e-9, maxiter=10)[0][:, None]
    assert np.abs(plain - best).max() > 100 * np.abs(ours - best).max()


def test_too_few_iterations_are_flagged():
    X, Y, _ = rows()
    K, K_zz = kernel(X, X[:40]), kernel(X[:40], X[:40])
    result = fit(K, Y, K_zz, 1e-3, tol=1e-12, iterations=2)
    assert not result.converged
    assert result.iterations == 2
    assert len(result.residuals) == 3
    assert result.residuals[0] == 1.0
    assert result.residual > 1e-12
    assert "after 2 iterations" in result.advice
    assert np.isfinite(result.weights.coef).all()


def test_the_callback_hears_every_iteration():
    X, Y, _ = rows()
    K, K_zz = kernel(X, X[:40]), kernel(X[:40], X[:40])
    heard = []
    result = fit(K, Y, K_zz, 0.1, callback=lambda i, r: heard.append((i, r)))
    assert heard == list(enumerate(result.residuals))[1:]
    assert result.converged
    assert result.advice == ""


def test_an_interrupt_returns_the_last_complete_iteration():
    X, Y, _ = rows()
    K, K_zz = kernel(X, X[:40]), kernel(X[:40], X[:40])
    sums, pre = CrossSums.of(K, Y), Preconditioner.of(K_zz, 1e-3, len(K))
    whole_pass, calls = passes(K, np.ones(len(K))), []

    def apply(V):
        calls.append(V)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return whole_pass(V)

    result = falkon(apply, sums, pre, tol=1e-12)
    expected = falkon(whole_pass, sums, pre, tol=1e-12, iterations=3)
    assert result.interrupted
    assert not result.converged
    assert result.iterations == 3
    assert "interrupted" in result.advice
    assert_allclose(result.weights.coef, expected.weights.coef)


# --- the preconditioner --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [5, 512, 700])
def test_the_triangles_multiply_to_what_they_factor(dtype, n):
    Z = rows(n)[0]
    K_zz = kernel(Z, Z)
    pre = Preconditioner.of(K_zz, 0.3, 5 * n, dtype=dtype)
    T, A = (np.triu(F).astype(np.float64) for F in (pre.T, pre.A))
    tol = 10 * np.finfo(dtype).eps * n
    assert pre.T.dtype == pre.A.dtype == dtype
    assert_allclose(T.T @ T, K_zz + pre.jitter * np.eye(n), atol=tol)
    assert_allclose(A.T @ A, 5 * T @ T.T + 0.3 * np.eye(n), atol=tol * 5 * n**0.5)
    B = np.random.default_rng(0).standard_normal((n, 2))
    P = T.T @ (A.T @ A) @ T
    assert_allclose(P @ pre.solve(B), B, atol=1e-7)
    assert_allclose(np.square(pre.whiten(B)).sum(0), (B * pre.solve(B)).sum(0), rtol=1e-8)


def test_another_alpha_shares_the_outer_triangle():
    Z = rows(50)[0]
    a = Preconditioner.of(kernel(Z, Z), 0.3, 100)
    b = Preconditioner.of(kernel(Z, Z), 2.0, 100)
    assert a.at(2.0).T is a.T
    assert_allclose(np.triu(a.at(2.0).A), np.triu(b.A))


@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_is_reused_only_when_asked(order):
    Z = rows(600)[0]
    K = np.array(smooth_kernel(Z, Z), np.float32, order=order)
    kept = K.copy()
    pre = Preconditioner.of(K, 1.0, 100, dtype=np.float32)
    assert_allclose(K, kept, rtol=0, atol=0)
    assert not np.shares_memory(pre.T, K)
    again = Preconditioner.of(K, 1.0, 100, dtype=np.float32, overwrite=True)
    assert np.shares_memory(again.T, K)
    assert_allclose(np.triu(again.T), np.triu(pre.T), rtol=0, atol=0)


def test_a_failed_factorisation_is_restored_and_tried_with_more_jitter():
    """An eigenvalue of -1e-9 is too low for the first jitter, but not for a later one."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((600, 600)))[0]
    values = np.append(rng.uniform(1, 2, 599), -1e-9)
    K = (Q * values) @ Q.T
    pre = Preconditioner.of((K + K.T) / 2, 1.0, 600)
    T = np.triu(pre.T)
    assert 1e-9 < pre.jitter < 1e-7
    assert_allclose(T.T @ T, K + pre.jitter * np.eye(600), atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_indefinite_kernel_is_refused_with_advice(dtype):
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match="positive semidefinite"):
        Preconditioner.of(K, 1.0, 10, dtype=dtype)
    with pytest.raises(ValueError, match="positive semidefinite"):
        Preconditioner.of(np.diag([1.0, -1.0]), 1.0, 10, dtype=dtype)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("place", [(1, 1), (0, 1)])
def test_a_kernel_that_is_not_finite_is_refused(value, place):
    K = np.eye(3)
    K[place] = K[place[::-1]] = value
    with pytest.raises(ValueError, match=r"finite|overflows"):
        Preconditioner.of(K, 1.0, 10)


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"alpha": -1.0}, "alpha"),
        ({"alpha": np.nan}, "alpha"),
        ({"weight": 0.0}, "weight"),
        ({"dtype": np.float16}, "dtype"),
    ],
)
def test_wrong_parameters_are_named(wrong, name):
    with pytest.raises(ValueError, match=name):
        Preconditioner.of(np.eye(2), **({"alpha": 1.0, "weight": 2.0} | wrong))


def test_float32_factors_give_nearly_the_same_model():
    X, Y, _ = rows(1000)
    K, K_zz = kernel(X, X[:100]), kernel(X[:100], X[:100])
    a, b = (fit(K, Y, K_zz, 1.0, dtype=d, tol=1e-8) for d in (np.float64, np.float32))
    assert b.converged
    # The models differ by the jitter, n·eps = 1e-5 in the penalty of directions of size 0.05.
    assert_allclose(predict(K, b.weights), predict(K, a.weights), rtol=1e-4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_float32_blocks_converge_with_the_jitter_of_float32(dtype):
    X, Y, _ = rows(2000)
    Z = X[:200]
    K, K_zz = smooth_kernel(X, Z), smooth_kernel(Z, Z)
    K32 = K.astype(np.float32)
    pre = Preconditioner.of(K_zz, 20.0, len(K), dtype=dtype, precision=EPS32)
    apply = passes(K32, np.ones(len(K)), dtype=np.float32)
    result = falkon(apply, CrossSums.of(K32, Y), pre, tol=1e-4)
    # Weights of a smooth kernel are large and alternate: the jitter does belong to the model.
    penalty = K_zz + pre.jitter * np.eye(len(K_zz))
    expected = fit(K, Y, penalty, 20.0, tol=1e-8, iterations=100)
    assert result.converged
    assert_allclose(predict(K, result.weights), predict(K, expected.weights), rtol=1e-3)


@pytest.mark.parametrize(("k", "alpha"), [(kernel, 2.0), (smooth_kernel, 20.0)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_leverages_are_close_to_hat_values(k, alpha, dtype):
    """If the landmarks are many more than the degrees of freedom (80 and 25 here)."""
    X = rows(2000)[0]
    K, K_zz = k(X, X[:300]), k(X[:300], X[:300])
    approximate = Preconditioner.of(K_zz, alpha, len(X), dtype=dtype).leverage(K)
    M = K.T @ K + alpha * K_zz
    exact = np.einsum("ij,ji->i", K, np.linalg.lstsq(M, K.T, rcond=1e-14)[0])
    assert (approximate >= 0).all()
    assert np.corrcoef(approximate, exact)[0, 1] > 0.9
    assert 0.5 < approximate.sum() / exact.sum() < 2


def test_leverages_are_hat_values_if_every_row_is_a_landmark():
    X = rows(200)[0]
    K = kernel(X, X)
    hats = Preconditioner.of(K, 0.5, len(K)).leverage(K)
    assert_allclose(hats, np.diag(oracles.kernel_ridge(K, np.eye(200), 0.5)), rtol=1e-8)


# --- hostile inputs ------------------------------------------------------------------------------


@with_and_without_intercept
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("times", [2, 5])
def test_duplicate_landmarks_change_no_prediction(intercept, dtype, times):
    X, Y, _ = rows()
    Z = np.repeat(X[:30], times, axis=0)
    options = {"intercept": intercept, "tol": 1e-10, "iterations": 200, "dtype": dtype}
    K = kernel(X, Z)
    a = fit(K, Y, kernel(Z, Z), 0.1, **options)
    b = fit(kernel(X, X[:30]), Y, kernel(X[:30], X[:30]), 0.1, **options)
    assert a.converged
    # The models are the same but for the jitter, about n·eps against eigenvalues of about 0.05.
    rtol = 2e-4 if dtype == np.float32 else 1e-8
    assert_allclose(predict(K, a.weights), predict(kernel(X, X[:30]), b.weights), rtol=rtol)


@pytest.mark.parametrize("alpha", [0.0, 1e-300, 1e-30, 1e-12])
@pytest.mark.parametrize("k", [kernel, smooth_kernel])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_tiny_ridge_gives_finite_weights_that_fit(alpha, k, dtype):
    X, Y, _ = rows()
    K, K_zz = k(X, X[:40]), k(X[:40], X[:40])
    result = fit(K, Y, K_zz, alpha, dtype=dtype, iterations=100)
    best = oracles.least_squares(K, Y)
    rss, least = (np.sum((Y - predict(K, Weights(*w))) ** 2) for w in (result.weights, best))
    assert np.isfinite(result.weights.coef).all()
    assert rss < 1.2 * least


@pytest.mark.parametrize("alpha", [1e8, 1e300])
def test_a_huge_ridge_predicts_the_mean(alpha):
    X, Y, _ = rows()
    K, K_zz = kernel(X, X[:40]), kernel(X[:40], X[:40])
    result = fit(K, Y, K_zz, alpha)
    assert_allclose(predict(K, result.weights), np.tile(Y.mean(0), (len(Y), 1)), rtol=1e-4)


@with_and_without_intercept
@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e9])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_constant_kernel_columns(intercept, value, dtype):
    _, Y, _ = rows()
    K, K_zz = np.full((len(Y), 5), value), np.full((5, 5), value)
    alpha = 1e-6 * max(value, 1.0)  # in the unit of the kernel
    result = fit(K, Y, K_zz, alpha, intercept=intercept, dtype=dtype)
    fitted = predict(K, result.weights)
    constant = Y.mean(0) if intercept or value else np.zeros(2)
    assert np.isfinite(result.weights.coef).all()
    assert_allclose(fitted, np.tile(constant, (len(Y), 1)), rtol=1e-4)


def test_constant_columns_among_others_are_left_to_the_intercept():
    X, Y, _ = rows()
    K, K_zz = kernel(X, X[:20]), kernel(X[:20], X[:20])
    wide = np.column_stack([K, np.full(len(K), 0.7)])
    block = np.block([[K_zz, np.zeros((20, 1))], [np.zeros((1, 20)), np.ones((1, 1))]])
    a, b = fit(wide, Y, block, 0.1, tol=1e-9), fit(K, Y, K_zz, 0.1, tol=1e-9)
    assert_allclose(predict(wide, a.weights), predict(K, b.weights), rtol=1e-6)


@with_and_without_intercept
def test_zero_targets_give_zero_weights_without_a_pass(intercept):
    X, Y, _ = rows()
    K, K_zz = kernel(X, X[:40]), kernel(X[:40], X[:40])
    result = fit(K, 0 * Y, K_zz, 0.1, intercept=intercept)
    assert (result.converged, result.iterations, result.residual) == (True, 0, 0.0)
    assert_allclose(result.weights.coef, 0.0)


def test_constant_targets_are_the_intercept():
    X, Y, _ = rows()
    K, K_zz = kernel(X, X[:40]), kernel(X[:40], X[:40])
    result = fit(K, np.full_like(Y, 0.1), K_zz, 0.1)
    assert result.converged
    assert_allclose(predict(K, result.weights), 0.1, rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_targets_of_any_unit(unit, dtype):
    X, Y, _ = rows()
    K, K_zz = kernel(X, X[:40]), kernel(X[:40], X[:40])
    a, b = fit(K, unit * Y, K_zz, 0.1, dtype=dtype), fit(K, Y, K_zz, 0.1, dtype=dtype)
    assert a.iterations == b.iterations
    assert_allclose(a.weights.coef / unit, b.weights.coef, rtol=1e-6, atol=1e-9)


def test_one_landmark_and_one_row_of_weight():
    X, Y, _ = rows()
    weight = np.zeros(len(X))
    weight[3] = 2.0
    result = fit(kernel(X, X[:1]), Y, np.ones((1, 1)), 0.1, weight)
    assert_allclose(predict(kernel(X[3:4], X[:1]), result.weights), Y[3:4], rtol=1e-9)


def test_a_pass_that_overflows_or_has_another_shape_is_refused():
    X, Y, _ = rows()
    K, K_zz = kernel(X, X[:40]), kernel(X[:40], X[:40])
    sums, pre = CrossSums.of(K, Y), Preconditioner.of(K_zz, 0.1, len(K))
    with pytest.raises(ValueError, match="overflow"):
        falkon(lambda V: V * np.inf, sums, pre)
    with pytest.raises(ValueError, match="apply"):
        falkon(lambda V: V[:, :1], sums, pre)
