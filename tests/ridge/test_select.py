"""Choosing alpha."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import oracles
from catalog import regression_rows
from kernelm.ridge import (
    Factor,
    Moments,
    Path,
    Status,
    default_alphas,
    gcv_path,
    kfold_path,
    walk,
)

PHI, Y, WEIGHT = regression_rows()
ALPHAS = np.array([1e-3, 0.1, 1.0, 10.0, 1e3])


@given(best=st.floats(-1.5, 1.5), bend=st.floats(1e-4, 10), lean=st.floats(-0.5, 0.5))
def test_a_close_walk_ends_next_to_the_bottom(best, bend, lean):
    tried = []

    def error(alpha):  # a valley that is steeper on one side
        x = np.log10(alpha) - best
        tried.append(alpha)
        return 1 + bend * x**2 * (1 + lean * np.sign(x))

    path = walk(error, 1.0, closely=True)
    assert len(tried) == len(set(tried)) <= 8
    # Scores within a tenth of a percent are equal, and the larger alpha is taken.
    assert path.score <= (1 + 1e-3) * min(path.scores)
    assert abs(np.log10(path.alphas[np.argmin(path.scores)]) - best) < 0.5


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("k", [2, 5, 40])
def test_folds_of_moments_score_as_refits_do(intercept, weight, k):
    fold = np.arange(40) % k
    folds = [
        Moments.of(PHI[fold == f], Y[fold == f], None if weight is None else weight[fold == f])
        for f in range(k)
    ]
    path = kfold_path(folds, ALPHAS, intercept=intercept)
    expected = [
        oracles.kfold(
            partial(oracles.ridge, alpha=a, intercept=intercept), PHI, Y, fold, weight=weight
        )
        for a in ALPHAS
    ]
    assert_allclose(path.scores, expected, rtol=1e-9)
    assert path.criterion == "kfold"


def test_as_many_folds_as_rows_are_leave_one_out():
    folds = [Moments.of(PHI[i : i + 1], Y[i : i + 1]) for i in range(40)]
    errors = oracles.leave_one_out(partial(oracles.ridge, alpha=2.0), PHI, Y)
    assert kfold_path(folds, np.array([2.0])).score == pytest.approx((errors**2).sum() / 40)


@pytest.mark.parametrize("k", [0, 1])
def test_one_fold_is_refused(k):
    with pytest.raises(ValueError, match=f"at least 2 folds, got {k}"):
        kfold_path([Moments.of(PHI, Y)] * k)


def test_gcv_path_sorts_the_candidates():
    factor = Factor.of(Moments.of(PHI, Y))
    path = gcv_path(factor, ALPHAS[::-1])
    assert_array_equal(path.alphas, ALPHAS)
    assert_allclose(path.scores, factor.gcv(ALPHAS))
    assert gcv_path(factor, np.array(3.0)).best == 3.0


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_default_candidates_move_with_the_scale_of_the_features(size):
    ours = default_alphas(Factor.of(Moments.of(size * PHI, Y)))
    assert_allclose(ours, size**2 * default_alphas(Factor.of(Moments.of(PHI, Y))), rtol=1e-6)
    assert_allclose(np.diff(np.log10(ours)), 0.5)


def test_default_candidates_are_resolved_by_the_sums():
    fine = Factor.of(Moments.of(PHI, Y))
    coarse = Factor.of(Moments.of(PHI.astype(np.float32), Y.astype(np.float32)))
    for factor in (fine, coarse):
        alphas = default_alphas(factor)
        assert (alphas > factor.floor).all()
        assert all(factor.resolve(a) == (a, Status.OK) for a in alphas)
    assert len(default_alphas(coarse)) < len(default_alphas(fine))


def test_there_is_always_a_candidate():
    constant = Factor.of(Moments.of(np.ones((5, 2)), Y[:5]))
    assert len(default_alphas(constant))
    assert np.isfinite(gcv_path(constant).score)
    noise = Factor.of_rows(np.ones((5, 8)) * 0.1, Y[:5])
    assert np.isfinite(gcv_path(noise).score)
    coarse = replace(Factor.of(Moments.of(PHI, Y)), floor=1e9)
    assert default_alphas(coarse).tolist() == [1e9]


def test_gcv_finds_the_ridge_that_refits_find_best():
    """Noise in 30 of 36 features: neither edge is best, and folds agree with GCV."""
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((80, 36))
    targets = Phi[:, :1] + rng.standard_normal((80, 1))
    path = gcv_path(Factor.of(Moments.of(Phi, targets)))
    folds = [Moments.of(Phi[f::10], targets[f::10]) for f in range(10)]
    assert path.status is Status.OK
    assert abs(np.log10(path.best / kfold_path(folds, path.alphas).best)) <= 0.5


# --- the path ------------------------------------------------------------------------------------


def path(*scores):
    return Path("gcv", np.arange(1.0, len(scores) + 1), np.array(scores, float))


@pytest.mark.parametrize(
    ("scores", "best", "status"),
    [
        ((3, 1, 2), 2, Status.OK),
        ((1, 2, 3), 1, Status.EDGE_LOW),
        ((3, 2, 1), 3, Status.EDGE_HIGH),
        ((3, 1, 1, 2), 3, Status.OK),  # of equals the strongest ridge
        ((3, 1, 1 + 1e-4, 2), 3, Status.OK),  # equal to a tenth of a percent
        ((3, 1, 1 + 1e-2, 2), 2, Status.OK),
        ((1, 1, 1), 3, Status.EDGE_HIGH),
        ((0, 0, 5), 2, Status.OK),
        ((-2, -2 - 1e-12, 5), 2, Status.OK),
        ((np.nan, 2, 3), 2, Status.OK),
        ((np.inf, 2, 3), 2, Status.OK),
        ((np.inf, np.inf, np.inf), 3, Status.EDGE_HIGH),
        ((1, 2), 1, Status.OK),  # two candidates have no inside
        ((7,), 1, Status.OK),
    ],
)
def test_the_best_of_a_path(scores, best, status):
    p = path(*scores)
    assert p.best == best
    assert p.status is status
    assert p.score == scores[best - 1]


@given(st.lists(st.floats(-1e6, 1e6) | st.just(np.inf) | st.just(np.nan), min_size=1))
def test_the_best_is_within_nine_digits_of_the_lowest(scores):
    p = path(*scores)
    finite = [s for s in scores if np.isfinite(s)]
    if finite:
        assert min(finite) <= p.score <= min(finite) + 1e-9 * abs(min(finite))
    else:
        assert p.index == len(scores) - 1


def test_scores_that_are_all_nan_warn_about_nothing(recwarn):
    assert path(np.nan, np.nan).best == 2
    assert not recwarn.list
