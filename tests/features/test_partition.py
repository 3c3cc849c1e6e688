"""Trees of cuts: balanced, nested in no order of rows, and every row reaches its leaf."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from kernelm.features import Partition
from kernelm.features.partition import DIRECTIONS

every_direction = pytest.mark.parametrize("direction", DIRECTIONS)


def cloud(n=1000, D=5, seed=0):
    return np.random.default_rng(seed).standard_normal((n, D)) * np.arange(1, D + 1)


@every_direction
@pytest.mark.parametrize("depth", [0, 1, 3, 5])
def test_leaves_are_of_equal_size(direction, depth):
    X = cloud()
    tree = Partition.fit(X, depth, direction=direction)
    sizes = np.bincount(tree.leaves(X), minlength=tree.n_leaves)
    assert len(sizes) == 2**depth
    assert np.ptp(sizes) <= 1 + depth


@every_direction
def test_rows_walk_down_the_tree(direction):
    X = cloud(200)
    tree = Partition.fit(X, 3, direction=direction)
    for row, leaf in zip(X, tree.leaves(X), strict=True):
        node = 0
        for _ in range(3):
            node = 2 * node + 1 + (row @ tree.W[:, node] > tree.cut[node])
        assert leaf == node - 7


@every_direction
def test_the_order_and_the_form_of_rows_do_not_matter_for_their_leaf(direction):
    X = cloud()
    tree = Partition.fit(X, 4, direction=direction)
    leaves = tree.leaves(X)
    order = np.random.default_rng(1).permutation(len(X))
    assert_array_equal(tree.leaves(X[order]), leaves[order])
    assert_array_equal(tree.leaves(sparse.csr_array(X)), leaves)
    rows = np.concatenate([tree.leaves(X[k : k + 1]) for k in range(50)])
    assert_array_equal(rows, leaves[:50])


def test_the_principal_direction_is_cut_first():
    X = cloud(2000)
    tree = Partition.fit(X, 1, direction="principal")
    assert np.abs(tree.W[:, 0]).argmax() == 4
    assert np.abs(tree.W[4, 0]) > 0.99
    wide = np.hstack([X, np.zeros((2000, 200))])  # by power steps
    assert np.abs(Partition.fit(wide, 1, direction="principal").W[4, 0]) > 0.99


@every_direction
def test_rows_near_a_cut_belong_to_both_sides(direction):
    X = cloud()
    tree = Partition.fit(X, 3, direction=direction, overlap=0.2)
    rows, leaf = tree.shared(X)
    assert_array_equal(rows[:1000], np.arange(1000))
    assert_array_equal(leaf[:1000], tree.leaves(X))  # its own leaf first
    assert len(set(zip(rows.tolist(), leaf.tolist(), strict=True))) == len(rows)
    assert len(rows) == pytest.approx(1000 * 1.2**3, rel=0.15)
    alone, own = Partition.fit(X, 3, direction=direction).shared(X)
    assert_array_equal(alone, np.arange(1000))
    assert_array_equal(own, Partition.fit(X, 3, direction=direction).leaves(X))


def test_random_directions_depend_on_the_seed_alone():
    X = cloud()
    one, same, other = (Partition.fit(X, 3, seed=s) for s in (0, 0, 1))
    assert_array_equal(one.W, same.W)
    assert np.abs(one.W - other.W).max() > 0.1


@every_direction
@pytest.mark.parametrize(
    "X",
    [np.ones((40, 3)), np.zeros((0, 3)), np.repeat(cloud(3), 20, axis=0), np.eye(1)],
    ids=["equal", "none", "three kinds", "one row"],
)
def test_rows_that_cannot_be_cut_in_halves(direction, X):
    tree = Partition.fit(X, 3, direction=direction, overlap=0.1)
    leaves = tree.leaves(X)
    assert np.all((leaves >= 0) & (leaves < 8))
    for row in np.unique(X, axis=0):  # equal rows stay together
        same = np.flatnonzero((row == X).all(axis=1))
        assert len(set(leaves[same])) == 1


def test_binary_columns_are_cut_between_their_values():
    X = np.zeros((100, 1))
    X[:30] = 1
    tree = Partition.fit(X, 1, direction="principal")
    assert_array_equal(np.bincount(tree.leaves(X)), [70, 30])


def test_an_unknown_direction_is_refused():
    with pytest.raises(ValueError, match="direction must be one of"):
        Partition.fit(cloud(), 2, direction="longest")
