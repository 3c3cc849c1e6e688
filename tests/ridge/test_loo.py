"""Leave-one-out residuals against refits without the row."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

import oracles
from catalog import regression_rows
from kernelm.ridge import DualFactor, Factor, Moments, loo_residuals

WIDE, TALL = (12, 30), (40, 6)
both_shapes = pytest.mark.parametrize("shape", [WIDE, TALL], ids=["wide", "tall"])
with_and_without_intercept = pytest.mark.parametrize("intercept", [True, False])
ALPHAS = np.array([1e-6, 0.1, 1.0, 50.0])


def primal(Phi, Y, weight, intercept, alphas, unit=None, rows=False):
    make = Factor.of_rows if rows else (lambda *a, **k: Factor.of(Moments.of(*a), **k))
    f = make(Phi.copy(), Y, weight, intercept=intercept)
    return loo_residuals(f, Phi, Y, alphas, unit)


def dual(Phi, Y, weight, intercept, alphas, unit=None):
    return DualFactor.of(Phi @ Phi.T, Y, weight, intercept=intercept).loo_residuals(alphas, unit)


every_route = pytest.mark.parametrize(
    "route", [primal, partial(primal, rows=True), dual], ids=["of", "of_rows", "dual"]
)


def brute(Phi, Y, weight, intercept, alphas, left_out=None):
    return [
        oracles.leave_one_out(
            partial(oracles.ridge, alpha=a, intercept=intercept), Phi, Y, weight, left_out
        )
        for a in alphas
    ]


# Refits of the wide problem at alpha = 1e-6 solve systems of condition 1e8.
TOLERANCE = {"rtol": 1e-5, "atol": 1e-6}


@both_shapes
@with_and_without_intercept
@every_route
def test_residuals_are_those_of_refits_without_the_row(shape, intercept, route):
    Phi, Y, _ = regression_rows(*shape)
    expected = brute(Phi, Y, None, intercept, ALPHAS)
    assert_allclose(route(Phi, Y, None, intercept, ALPHAS), expected, **TOLERANCE)


@both_shapes
@with_and_without_intercept
@every_route
def test_a_unit_of_the_whole_weight_leaves_the_row_out(shape, intercept, route):
    Phi, Y, weight = regression_rows(*shape)
    residuals = route(Phi, Y, weight, intercept, ALPHAS, unit=weight)
    assert_allclose(residuals, brute(Phi, Y, weight, intercept, ALPHAS), **TOLERANCE)


@both_shapes
@with_and_without_intercept
@every_route
def test_a_unit_of_one_leaves_one_of_several_equal_rows_out(shape, intercept, route):
    Phi, Y, weight = regression_rows(*shape)
    expected = brute(Phi, Y, weight, intercept, ALPHAS, left_out=np.ones(len(Phi)))
    for unit in (None, np.ones(len(Phi))):
        assert_allclose(route(Phi, Y, weight, intercept, ALPHAS, unit), expected, **TOLERANCE)


@every_route
def test_weights_are_repetitions(route):
    Phi, Y, weight = regression_rows(*TALL)
    repeated = [np.repeat(A, weight.astype(int), axis=0) for A in (Phi, Y)]
    first = np.append(0, np.cumsum(weight[:-1])).astype(int)
    assert_allclose(
        route(Phi, Y, weight, True, ALPHAS),
        route(*repeated, None, True, ALPHAS)[:, first],
        rtol=1e-8,
        atol=1e-10,
    )


@with_and_without_intercept
def test_weights_below_one(intercept):
    Phi, Y, weight = regression_rows(*TALL)
    weight = weight / 4
    expected = brute(Phi, Y, weight, intercept, ALPHAS)
    for route in (primal, dual):
        residuals = route(Phi, Y, weight, intercept, ALPHAS, unit=weight)
        assert_allclose(residuals, expected, **TOLERANCE)


@both_shapes
@with_and_without_intercept
@pytest.mark.parametrize("weighted", [False, True])
def test_the_dual_leaves_out_as_the_primal_does(shape, intercept, weighted):
    Phi, Y, weight = regression_rows(*shape)
    weight = weight if weighted else None
    # Any alpha, also those far below what refits could check.
    alphas = np.logspace(-9, 6, 16)
    a, b = (route(Phi, Y, weight, intercept, alphas) for route in (primal, dual))
    # At 1e-9 the primal divides differences of 1e-10: it keeps five digits.
    assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@with_and_without_intercept
@every_route
def test_tiny_ridges_of_an_interpolating_model_are_not_flattered(intercept, route):
    """Rows are fitted to ten digits; the models without them are as bad as ever."""
    rng = np.random.default_rng(0)
    Phi, Y = np.sign(rng.standard_normal((20, 400))), rng.standard_normal((20, 1))
    residuals = route(Phi, Y, None, intercept, np.array([1e-7, 1e-3]))
    limit = oracles.leave_one_out(partial(oracles.least_squares, intercept=intercept), Phi, Y)
    assert_allclose(residuals, [limit, limit], rtol=1e-3)


@with_and_without_intercept
@every_route
@pytest.mark.parametrize("weighted", [False, True])
def test_no_ridge_leaves_out_as_least_squares_does(intercept, route, weighted):
    for shape in (WIDE, TALL):
        Phi, Y, weight = regression_rows(*shape)
        weight = weight if weighted else None
        fit = partial(oracles.least_squares, intercept=intercept)
        residuals = route(Phi, Y, weight, intercept, np.array([0.0]), unit=weight)
        expected = oracles.leave_one_out(fit, Phi, Y, weight)
        assert_allclose(residuals[0], expected, rtol=1e-6, atol=1e-7)


@with_and_without_intercept
@every_route
def test_one_of_several_equal_interpolated_rows_is_predicted_by_the_others(intercept, route):
    Phi, Y, _ = regression_rows(*WIDE)
    weight = np.full(12, 2.0)
    assert_allclose(route(Phi, Y, weight, intercept, np.array([0.0])), 0, atol=1e-10)


def test_a_row_that_alone_has_a_feature_is_predicted_without_it():
    """Its hat value is 1 at alpha = 0, the others' are not."""
    Phi, Y, _ = regression_rows(*TALL)
    Phi = np.column_stack([Phi, np.arange(40) == 7])
    expected = oracles.leave_one_out(oracles.least_squares, Phi, Y)
    for route in (primal, dual):
        assert_allclose(route(Phi, Y, None, True, np.array([0.0]))[0], expected, rtol=1e-7)


def test_a_row_that_nearly_alone_has_a_feature():
    """Its hat value is 1 to six digits: not yet a matter of limits."""
    Phi, Y, _ = regression_rows(*TALL)
    shared = 1e-4 * np.random.default_rng(1).standard_normal(40)
    Phi = np.column_stack([Phi, np.where(np.arange(40) == 7, 1.0, shared)])
    expected = oracles.leave_one_out(oracles.least_squares, Phi, Y)
    for route in (primal, dual):
        residuals = route(Phi, Y, None, True, np.array([0.0]))[0]
        assert_allclose(residuals, expected, rtol=1e-5, atol=1e-7)


def test_any_block_of_training_rows_can_be_asked_for():
    Phi, Y, weight = regression_rows(*TALL)
    f = Factor.of(Moments.of(Phi.copy(), Y, weight))
    whole = loo_residuals(f, Phi, Y, ALPHAS, weight)
    parts = [
        loo_residuals(f, Phi[at], Y[at], ALPHAS, weight[at])
        for at in (slice(0, 1), slice(1, 30), slice(30, 40))
    ]
    assert_allclose(np.concatenate(parts, axis=1), whole, rtol=1e-10)
    assert whole.shape == (4, 40, 2)


def test_rows_of_no_weight_were_never_in():
    """The primal predicts them as new rows; the dual has nothing to say about them."""
    Phi, Y, weight = regression_rows(*TALL)
    weight[5] = 0
    W, b = oracles.ridge(Phi, Y, 1.0, weight=weight)
    unit = np.minimum(weight, 1)
    mine = primal(Phi, Y, weight, True, np.array([1.0]), unit)[0]
    assert_allclose(mine[5], Y[5] - Phi[5] @ W - b)
    theirs = dual(Phi, Y, weight, True, np.array([1.0]), unit)[0]
    assert np.isnan(theirs[5]).all()
    assert_allclose(np.delete(theirs, 5, axis=0), np.delete(mine, 5, axis=0), rtol=1e-8)


def test_one_row_leaves_nothing():
    Phi, Y = np.array([[1.0, 2.0]]), np.array([[3.0]])
    for route in (primal, partial(primal, rows=True), dual):
        assert np.isfinite(route(Phi, Y, None, True, np.array([0.0, 1.0]))).all()
