"""The programme on the simplex against a general solver, and both of ours against each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from kernelm.margin.simplex import by_pairs, maximise


def programme(n, seed, ridge=0.1, constant=False):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, max(n // 2, 1)))
    Q = A @ A.T / n + ridge * np.eye(n)
    return Q, np.full(n, 3.0) if constant else rng.normal(size=n)


def slsqp(Q, g):
    n = len(g)
    result = minimize(
        lambda a: a @ Q @ a - a @ g,
        np.full(n, 1 / n),
        jac=lambda a: 2 * Q @ a - g,
        bounds=[(0, None)] * n,
        constraints={"type": "eq", "fun": lambda a: a.sum() - 1, "jac": lambda a: np.ones(n)},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return -result.fun


def check_optimal(vertex, Q, g, atol):
    alpha, slope = vertex
    assert_allclose(slope, g - 2 * Q @ alpha, atol=1e-9)
    assert alpha.min() >= 0
    assert alpha.sum() == pytest.approx(1, abs=1e-9)
    assert_allclose(slope[alpha > 0], vertex.level, atol=atol)
    assert (slope <= vertex.level + atol).all()


@given(n=st.integers(1, 40), seed=st.integers(0, 10**6), constant=st.booleans())
@settings(max_examples=40, deadline=None)
def test_pivoting_meets_the_conditions_of_an_optimum(n, seed, constant):
    Q, g = programme(n, seed, constant=constant)
    check_optimal(maximise(Q, g, np.ones(n, bool)), Q, g, 1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_both_solvers_reach_what_a_general_one_reaches(seed):
    Q, g = programme(25, seed)
    start = np.full(25, 1 / 25)
    for alpha in (maximise(Q, g, start > 0).alpha, by_pairs(Q, g, start, 1e-10).alpha):
        assert alpha @ g - alpha @ Q @ alpha == pytest.approx(slsqp(Q, g), abs=1e-7)


def test_pairs_meet_the_tolerance_they_are_given():
    Q, g = programme(60, 0)
    for tolerance in (1e-2, 1e-5, 1e-9):
        alpha, slope = by_pairs(Q, g, np.full(60, 1 / 60), tolerance)
        assert slope.max() - slope[alpha > 0].min() <= tolerance


def test_any_start_gives_the_same_solution():
    Q, g = programme(30, 3)
    starts = [np.ones(30, bool), np.arange(30) == 7, np.zeros(30, bool)]
    first, *others = (maximise(Q, g, start).alpha for start in starts)
    for other in others:
        assert_allclose(other, first, atol=1e-10)


def test_a_singular_matrix_is_no_obstacle():
    Q, g = programme(10, 0, ridge=0.0)
    Q, g = np.tile(Q, (2, 2)), np.tile(g, 2)  # every point twice
    alpha = maximise(Q, g, np.ones(20, bool)).alpha
    assert np.isfinite(alpha).all()
    assert alpha @ g - alpha @ Q @ alpha == pytest.approx(slsqp(Q, g), abs=1e-5)
