"""The order in which features join: LARS for one output, and its own definition for more."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import lars_path

from catalog import regression_rows
from kernelm.ridge import lars_order


def by_scikit_learn(Phi, y):
    """The order of scikit-learn, as far as its path is one of least angles.

    Late in a path it may go astray (1.9.1 does; the tiny steps below side with us): active
    correlations are no longer equal then.
    """
    F = Phi - Phi.mean(axis=0)
    F, y = F / np.linalg.norm(F, axis=0), y - y.mean()
    _, order, coefs = lars_path(F, y, method="lar")
    for k in range(1, len(order)):
        c = np.abs(F.T @ (y - F @ coefs[:, k]))
        if np.ptp(c[order[:k]]) > 1e-6 * c.max():
            return order[: k - 1]
    return order


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("correlated", [False, True])
def test_one_output_gives_the_order_of_scikit_learn(seed, correlated):
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((80, 30))
    if correlated:
        Phi = Phi @ rng.standard_normal((30, 30)) + 5
    y = Phi @ rng.standard_normal(30) + rng.standard_normal(80)
    expected = by_scikit_learn(Phi, y)
    assert len(expected) >= 10
    assert_array_equal(lars_order(Phi, y[:, None])[: len(expected)], expected)


def test_several_copies_of_one_output_give_its_order():
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((60, 20))
    y = Phi @ rng.standard_normal((20, 1)) + rng.standard_normal((60, 1))
    assert_array_equal(lars_order(Phi, y @ [[1.0, -2.0, 0.5]]), lars_order(Phi, y))


def small_steps(Phi, Y, eps):
    """Move by tiny steps towards the active least-squares fit; who catches up joins."""
    F = Phi - Phi.mean(axis=0)
    F, Y = F / np.linalg.norm(F, axis=0), Y - Y.mean(axis=0)
    fitted = np.zeros_like(Y)
    order = [int(np.linalg.norm(F.T @ Y, axis=1).argmax())]
    while len(order) < F.shape[1]:
        goal = F[:, order] @ np.linalg.lstsq(F[:, order], Y, rcond=None)[0]
        fitted = fitted + eps * (goal - fitted)
        c = np.linalg.norm(F.T @ (Y - fitted), axis=1)
        order += [int(j) for j in np.argsort(-c) if j not in order and c[j] >= c[order[0]]][:1]
    return order


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_features_join_as_tiny_steps_would_have_it(seed, outputs):
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((50, 8)) @ rng.standard_normal((8, 8))
    Y = Phi @ rng.standard_normal((8, outputs)) + rng.standard_normal((50, outputs))
    # The steps get small before the last feature joins; its place is what is left.
    assert_array_equal(lars_order(Phi, Y)[:7], small_steps(Phi, Y, 1e-3)[:7])


def test_weights_are_repetitions_and_order_does_not_depend_on_units():
    Phi, Y, weight = regression_rows(40, 15)
    repeated = [np.repeat(A, weight.astype(int), axis=0) for A in (Phi, Y)]
    order = lars_order(Phi, Y, weight)
    assert_array_equal(order, lars_order(*repeated))
    assert_array_equal(order, lars_order(1e6 * Phi - 7, 1e-3 * Y, weight))


def test_dependent_and_constant_features_come_last():
    Phi, Y, _ = regression_rows(40, 6)
    more = np.column_stack([np.full(40, 0.1), Phi, Phi[:, 0], Phi[:, :2].sum(axis=1)])
    order = lars_order(more, Y)
    assert_allclose(np.sort(order), np.arange(9))
    assert 0 in order[6:]
    assert np.linalg.matrix_rank(more[:, order[:6]]) == 6


def test_more_features_than_rows_and_targets_without_variance():
    Phi, Y, _ = regression_rows(12, 40)
    assert_array_equal(np.sort(lars_order(Phi, Y)), np.arange(40))
    order = lars_order(Phi, Y)
    assert np.linalg.matrix_rank(Phi[:, order[:11]] - Phi[:, order[:11]].mean(axis=0)) == 11
    assert_array_equal(np.sort(lars_order(Phi, np.ones((12, 1)))), np.arange(40))
    assert_array_equal(lars_order(np.ones((12, 3)), Y), np.arange(3))
