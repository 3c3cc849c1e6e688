"""The error of every number of units against refits of every number of units."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles
from catalog import regression_rows
from kernelm.ridge import Factor, Moments, Prefixes, Status, fewest, loo_residuals

with_and_without_intercept = pytest.mark.parametrize("intercept", [True, False])


def refits(Phi, Y, fit, weight=None, left_out=None):
    """Mean squared leave-one-out error of the first 1, 2, … columns by fitting again."""
    w = np.ones(len(Phi)) if weight is None else weight
    return [
        (w @ oracles.leave_one_out(fit, Phi[:, :k], Y, weight, left_out) ** 2).sum() / w.sum()
        for k in range(1, Phi.shape[1] + 1)
    ]


@with_and_without_intercept
@pytest.mark.parametrize("alpha", [0.0, 0.3, 20.0])
def test_errors_are_those_of_refits(intercept, alpha):
    Phi, Y, _ = regression_rows(30, 12)
    fit = partial(oracles.ridge, alpha=alpha, intercept=intercept)
    errors = Prefixes.of(Phi, Y, alpha=alpha, intercept=intercept).errors()
    assert_allclose(errors, refits(Phi, Y, fit), rtol=1e-8)


@with_and_without_intercept
@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_one_of_several_equal_rows_is_left_out(intercept, alpha):
    Phi, Y, weight = regression_rows(30, 12)
    fit = partial(oracles.ridge, alpha=alpha, intercept=intercept)
    errors = Prefixes.of(Phi, Y, weight, alpha=alpha, intercept=intercept).errors()
    assert_allclose(errors, refits(Phi, Y, fit, weight, np.ones(30)), rtol=1e-7)


def test_weights_are_repetitions_and_rows_of_no_weight_are_not_there():
    Phi, Y, weight = regression_rows(30, 12)
    weight[4] = 0
    Phi2, Y2 = (np.repeat(A, weight.astype(int), axis=0) for A in (Phi, Y))
    a, b = Prefixes.of(Phi, Y, weight), Prefixes.of(Phi2, Y2)
    assert_allclose(a.errors(), b.errors(), rtol=1e-9)
    assert_allclose(a.fit(7).weights.coef, b.fit(7).weights.coef, rtol=1e-8)
    assert a.fit(7).df(0) == pytest.approx(8)


@with_and_without_intercept
@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_the_model_of_a_prefix_is_the_textbook_one(intercept, alpha):
    Phi, Y, weight = regression_rows(40, 70)
    p = Prefixes.of(Phi, Y, weight, alpha=alpha, intercept=intercept)
    for k in (1, 5, 33):
        W, b = oracles.ridge(Phi[:, :k], Y, alpha, intercept=intercept, weight=weight)
        model = p.fit(k)
        assert_allclose(model.weights.coef, W, rtol=1e-7, atol=1e-9)
        assert_allclose(model.weights.intercept, b, rtol=1e-7, atol=1e-9)
        hat = oracles.hat_matrix(
            partial(oracles.ridge, alpha=alpha, intercept=intercept), Phi[:, :k], weight
        )
        assert model.df(alpha) == pytest.approx(np.trace(hat))


def test_residuals_agree_with_those_of_the_eigendecomposition():
    Phi, Y, weight = regression_rows(40, 20)
    p = Prefixes.of(Phi, Y, weight)
    for k in (1, 20):
        factor = Factor.of(Moments.of(Phi[:, :k].copy(), Y, weight))
        expected = loo_residuals(factor, Phi[:, :k], Y, np.array([0.0]), np.minimum(weight, 1))[0]
        assert_allclose(p.loo_residuals(k), expected, rtol=1e-6, atol=1e-8)


def test_units_that_add_nothing_keep_the_curve_flat_and_get_no_weight():
    Phi, Y, _ = regression_rows(30, 10)
    more = np.column_stack(
        [Phi[:, :4], Phi[:, 1], np.full(30, 7.3), Phi[:, :3] @ [1, -2, 3], Phi[:, 4:]]
    )
    plain, padded = Prefixes.of(Phi, Y), Prefixes.of(more, Y)
    assert_array_equal(np.flatnonzero(~padded.adds), [4, 5, 6])
    errors = padded.errors()
    assert_allclose(errors[[3, 4, 5, 6]], errors[3], rtol=1e-12)
    assert_allclose(np.delete(errors, [4, 5, 6]), plain.errors(), rtol=1e-9)
    model = padded.fit(13)
    assert_array_equal(model.weights.coef[[4, 5, 6]], 0)
    assert model.resolve(0.0) == (0.0, Status.RANK_DEFICIENT)
    assert plain.fit(10).resolve(0.0) == (0.0, Status.OK)
    assert Prefixes.of(np.ones((30, 2)), Y).fit(1).resolve(0.0)[1] is Status.NO_SIGNAL


def test_more_units_than_rows_use_up_every_observation():
    Phi, Y, _ = regression_rows(12, 40)
    errors = Prefixes.of(Phi, Y).errors()
    assert np.isfinite(errors[:10]).all()
    assert np.isinf(errors[10:]).all()
    assert np.isfinite(Prefixes.of(Phi, Y, alpha=1e-3).errors()).all()
    assert_allclose(Phi[:, :11] @ Prefixes.of(Phi, Y).fit(11).weights.coef
                    + Prefixes.of(Phi, Y).fit(11).weights.intercept, Y, atol=1e-8)  # fmt: skip


def test_a_row_that_alone_has_a_unit_is_predicted_without_it():
    Phi, Y, _ = regression_rows(30, 5)
    Phi = np.column_stack([Phi, np.arange(30) == 7])
    p = Prefixes.of(Phi, Y)
    expected = oracles.leave_one_out(oracles.least_squares, Phi[:, :5], Y)
    assert_allclose(p.loo_residuals(6)[7], expected[7], rtol=1e-8)
    assert_allclose(p.loo_residuals(6), oracles.leave_one_out(oracles.least_squares, Phi, Y),
                    rtol=1e-6)  # fmt: skip


def test_nearly_dependent_units_stay_orthonormal():
    rng = np.random.default_rng(0)
    # Powers of a number between 0 and 1: each is almost a mixture of those before it.
    Phi = rng.random((200, 1)) ** np.arange(1, 60)
    Y = rng.standard_normal((200, 1))
    p = Prefixes.of(Phi, Y)
    used = p.Q[:, p.adds]
    assert 5 < used.shape[1] < 30
    assert_allclose(used.T @ used, np.eye(used.shape[1]), atol=1e-13)
    assert_allclose(p.Q @ p.R, Phi - Phi.mean(axis=0), atol=1e-5)
    assert np.isfinite(p.errors()).all()


@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_units_of_any_size(size):
    Phi, Y, _ = regression_rows(30, 6)
    assert_allclose(Prefixes.of(size * Phi, Y).errors(), Prefixes.of(Phi, Y).errors(), rtol=1e-9)


def test_units_that_overflow_are_refused():
    Phi, Y, _ = regression_rows(30, 6)
    with pytest.raises(ValueError, match="too large to be summed"):
        Prefixes.of(1e200 * Phi, Y)


def test_of_equals_the_fewest_units():
    assert fewest(np.array([np.inf, 2.0, 1.0009, 1.0, 1.0])) == 3
    assert fewest(np.array([np.inf, np.inf])) == 1
