"""One factorisation against the textbook, for every alpha."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

import oracles
from catalog import regression_rows
from kernelm.ridge import Factor, Moments

WIDE, TALL = (12, 30), (40, 6)  # rows, features
ALPHAS = [1e-6, 0.1, 1.0, 50.0]
both_shapes = pytest.mark.parametrize("shape", [WIDE, TALL], ids=["wide", "tall"])
with_and_without_intercept = pytest.mark.parametrize("intercept", [True, False])
with_and_without_weights = pytest.mark.parametrize("weighted", [True, False])
every_alpha = pytest.mark.parametrize("alpha", ALPHAS)


def problem(shape, weighted=False):
    Phi, Y, weight = regression_rows(*shape)
    return Phi, Y, weight if weighted else None


def factor(Phi, Y, weight=None, *, rows=False, **options):
    if rows:
        return Factor.of_rows(Phi, Y, weight, **options)
    return Factor.of(Moments.of(Phi.copy(), Y, weight), **options)


@both_shapes
@with_and_without_intercept
@with_and_without_weights
@every_alpha
@pytest.mark.parametrize("rows", [False, True], ids=["of", "of_rows"])
def test_weights_are_those_of_textbook_ridge(shape, intercept, weighted, alpha, rows):
    Phi, Y, weight = problem(shape, weighted)
    coef, b = factor(Phi, Y, weight, rows=rows, intercept=intercept).coef(alpha)
    expected, c = oracles.ridge(Phi, Y, alpha, intercept=intercept, weight=weight)
    # More features than rows and alpha = 1e-6: a condition number of 1e8.
    rtol = 1e-6 if alpha < 1e-3 else 1e-10
    assert_allclose(coef, expected, rtol=rtol, atol=rtol)
    assert_allclose(b, c, rtol=rtol, atol=rtol)


@both_shapes
@with_and_without_intercept
@with_and_without_weights
def test_weights_are_those_of_scikit_learn(shape, intercept, weighted):
    Phi, Y, weight = problem(shape, weighted)
    coef, b = factor(Phi, Y, weight, intercept=intercept).coef(0.7)
    theirs = Ridge(0.7, fit_intercept=intercept, solver="svd").fit(Phi, Y, sample_weight=weight)
    assert_allclose(coef, theirs.coef_.T, rtol=1e-9, atol=1e-12)
    assert_allclose(b, theirs.intercept_, rtol=1e-9, atol=1e-12)


@with_and_without_intercept
@with_and_without_weights
def test_a_penalty_matrix_gives_generalised_ridge(intercept, weighted):
    Phi, Y, weight = problem(TALL, weighted)
    C = np.random.default_rng(1).standard_normal((6, 9))
    P = C @ C.T
    coef, b = factor(Phi, Y, weight, penalty=P, intercept=intercept).coef(2.0)
    expected, c = oracles.generalised_ridge(Phi, Y, 2.0, P, intercept=intercept, weight=weight)
    assert_allclose(coef, expected, rtol=1e-10)
    assert_allclose(b, c, rtol=1e-10, atol=1e-12)


def test_a_penalty_of_the_identity_is_the_plain_ridge():
    Phi, Y, _ = problem(TALL)
    a, b = factor(Phi, Y), factor(Phi, Y, penalty=np.eye(6))
    assert_allclose(a.coef(0.3).coef, b.coef(0.3).coef, rtol=1e-10)
    assert_allclose(a.gcv(np.array(ALPHAS)), b.gcv(np.array(ALPHAS)), rtol=1e-10)


def test_directions_without_a_penalty_are_left_out():
    """A singular penalty, as duplicate landmarks make it: weights stay in its range."""
    Phi, Y, _ = problem(TALL)
    B = np.linalg.qr(np.random.default_rng(1).standard_normal((6, 4)))[0]
    P = B @ np.diag([1.0, 2.0, 3.0, 4.0]) @ B.T
    coef, b = factor(Phi, Y, penalty=P).coef(2.0)
    inside, c = oracles.generalised_ridge(Phi @ B, Y, 2.0, np.diag([1.0, 2.0, 3.0, 4.0]))
    assert_allclose(coef, B @ inside, rtol=1e-8, atol=1e-10)
    assert_allclose(b, c, rtol=1e-8)
    nothing = factor(Phi, Y, penalty=np.zeros((6, 6)))
    assert_allclose(nothing.coef(1.0).coef, 0)
    assert_allclose(nothing.coef(1.0).intercept, Y.mean(axis=0))


@both_shapes
@with_and_without_intercept
@with_and_without_weights
@pytest.mark.parametrize("rows", [False, True], ids=["of", "of_rows"])
@pytest.mark.parametrize("duplicate", [False, True])
def test_no_ridge_is_minimum_norm_least_squares(shape, intercept, weighted, rows, duplicate):
    Phi, Y, weight = problem(shape, weighted)
    if duplicate:
        Phi = np.hstack([Phi, Phi[:, :2], Phi[:, :1] + Phi[:, 1:2]])
    coef, b = factor(Phi, Y, weight, rows=rows, intercept=intercept).coef(0.0)
    expected, c = oracles.least_squares(Phi, Y, intercept=intercept, weight=weight)
    # The Gram matrix squares the condition number, here about 1e3.
    assert_allclose(coef, expected, rtol=1e-7, atol=1e-8)
    assert_allclose(b, c, rtol=1e-7, atol=1e-8)


@both_shapes
@with_and_without_intercept
@with_and_without_weights
@pytest.mark.parametrize("alpha", [0.0, *ALPHAS])
def test_both_sides_factor_alike(shape, intercept, weighted, alpha):
    Phi, Y, weight = problem(shape, weighted)
    a, b = (factor(Phi, Y, weight, rows=r, intercept=intercept) for r in (False, True))
    assert_allclose(a.coef(alpha).coef, b.coef(alpha).coef, rtol=1e-6, atol=1e-8)
    # Of 30 features of 12 rows, 18 eigenvalues are rounding errors of 1e-14 beside alpha = 1e-6.
    assert a.df(alpha) == pytest.approx(b.df(alpha), rel=1e-7)
    assert_allclose(a.rss(alpha), b.rss(alpha), rtol=1e-6, atol=1e-8)
    assert_allclose(a.leverage(Phi, alpha), b.leverage(Phi, alpha), rtol=1e-7)
    assert_allclose([a.n, a.weight], [b.n, b.weight])
    assert_allclose(a.yy, b.yy)


@both_shapes
@with_and_without_intercept
@with_and_without_weights
@pytest.mark.parametrize("alpha", [0.1, 1.0, 50.0])
def test_criteria_are_those_of_the_explicit_hat_matrix(shape, intercept, weighted, alpha):
    Phi, Y, weight = problem(shape, weighted)
    f = factor(Phi, Y, weight, intercept=intercept)
    fit = partial(oracles.ridge, alpha=alpha, intercept=intercept)
    w = np.ones(len(Phi)) if weight is None else weight
    H = oracles.hat_matrix(fit, Phi, weight)
    assert f.df(alpha) == pytest.approx(np.trace(H), rel=1e-9)
    assert_allclose(f.rss(alpha), w @ (Y - H @ Y) ** 2, rtol=1e-8)
    assert_allclose(w * f.leverage(Phi, alpha), np.diag(H), rtol=1e-8)
    # Whole weights are repeated rows: GCV counts them all.
    brute = oracles.gcv(fit, Phi, Y, weight, n=w.sum())
    assert_allclose(f.gcv(np.array([alpha])), [brute], rtol=1e-8)


def test_gcv_with_weights_is_gcv_of_repeated_rows():
    Phi, Y, weight = regression_rows()
    repeated = (np.repeat(A, weight.astype(int), axis=0) for A in (Phi, Y))
    alphas = np.array([1e-3, 1.0, 1e3])
    assert_allclose(factor(Phi, Y, weight).gcv(alphas), factor(*repeated).gcv(alphas), rtol=1e-10)


def test_gcv_does_not_change_with_the_unit_of_importance_weights():
    """Weights that say how much a row matters, not how often it came."""
    Phi, Y, weight = regression_rows()
    scores = []
    for c in (1.0, 100.0):
        m = Moments.of(Phi.copy(), Y, c * weight, unit=c * weight)
        scores.append(Factor.of(m).gcv(c * np.array([1e-3, 1.0, 1e3])) / c)
    assert_allclose(*scores, rtol=1e-9)


def test_a_fit_that_uses_up_every_row_has_no_gcv():
    Phi, Y, _ = problem(WIDE)
    for rows in (False, True):
        scores = factor(Phi, Y, rows=rows).gcv(np.array([0.0, 1e-9]))
        assert scores.tolist() == [np.inf, np.inf]


def test_the_sum_of_squares_is_never_below_what_its_rounding_resolves():
    """An exact fit: no alpha should win by noise."""
    Phi, Y, _ = problem(TALL)
    exact = Phi @ np.ones((6, 1))
    f = factor(Phi, exact)
    assert (f.rss(0.0) > 0).all()
    assert f.rss(0.0) == pytest.approx(1e-12 * f.yy, rel=1e-6)
    assert (factor(Phi, Y).rss(0.0) > 1e-3 * factor(Phi, Y).yy).all()


@with_and_without_intercept
def test_centred_sums_of_squares(intercept):
    Phi, Y, weight = regression_rows()
    f = factor(Phi, Y, weight, intercept=intercept)
    mean = np.average(Y, axis=0, weights=weight) if intercept else 0
    assert_allclose(f.yy, weight @ (Y - mean) ** 2)


def test_a_shift_of_features_and_targets_moves_the_intercept_only():
    Phi, Y, _ = problem(TALL)
    a, b = factor(Phi, Y).coef(0.5), factor(Phi + 3.0, Y - 7.0).coef(0.5)
    assert_allclose(a.coef, b.coef, rtol=1e-9)
    assert_allclose(b.intercept, a.intercept - 7.0 - 3.0 * a.coef.sum(axis=0), rtol=1e-9)
