"""Moments are a vector space."""

from functools import reduce
from itertools import pairwise
from operator import add, iadd

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from catalog import regression_rows
from kernelm.ridge import Moments, observations

SUMS = ("rows", "weight", "phi", "y", "gram", "cross", "yy")
PHI, Y, WEIGHT = regression_rows()


def moments(rows=slice(None), weight=WEIGHT, **options):
    # Copies: weighted blocks may be overwritten.
    w = None if weight is None else weight[rows]
    return Moments.of(PHI[rows].copy(), Y[rows], w, **options)


def assert_same(a, b, rtol=1e-12, atol=1e-12):
    for name in SUMS:
        assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, atol=atol, err_msg=name)


def row_cuts(n):
    return st.sets(st.integers(1, n - 1), max_size=8).map(
        lambda at: [slice(a, b) for a, b in pairwise([0, *sorted(at), n])]
    )


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_moments_are_sums_over_rows(weight):
    m = moments(weight=weight)
    w = np.ones(len(PHI)) if weight is None else weight
    assert m.weight == m.rows == w.sum()
    assert_allclose(m.phi, sum(a * p for a, p in zip(w, PHI, strict=True)))
    assert_allclose(m.y, sum(a * y for a, y in zip(w, Y, strict=True)))
    assert_allclose(m.gram, sum(a * np.outer(p, p) for a, p in zip(w, PHI, strict=True)))
    assert_allclose(m.cross, sum(a * np.outer(p, y) for a, p, y in zip(w, PHI, Y, strict=True)))
    assert_allclose(m.yy, sum(a * y**2 for a, y in zip(w, Y, strict=True)))
    assert (m.n_features, m.n_outputs) == (6, 2)


@given(blocks=row_cuts(len(PHI)), weight=st.sampled_from([None, WEIGHT]))
def test_any_blocks_of_rows_give_the_same_sums(blocks, weight):
    parts = [moments(b, weight) for b in blocks]
    assert_same(reduce(add, parts), moments(weight=weight))
    assert_same(reduce(iadd, parts), moments(weight=weight))


@given(order=st.permutations(range(len(PHI))))
def test_the_order_of_the_rows_does_not_matter(order):
    assert_same(moments(np.array(order)), moments())


@given(cut=st.integers(0, len(PHI)))
def test_rows_that_were_added_can_be_taken_out_again(cut):
    a, b = moments(slice(cut)), moments(slice(cut, None))
    assert_same((a + b) - b, a)
    assert_same(a + b, b + a)


@given(c=st.floats(-3, 3), d=st.floats(-3, 3))
def test_numbers_distribute(c, d):
    a, b = moments(slice(15)), moments(slice(15, None))
    assert_same(c * (a + b), c * a + b * c)
    assert_same((c + d) * a, c * a + d * a)
    assert_same(c * (d * a), (c * d) * a)
    assert_same(1.0 * a, a)
    assert_same(2 * a, a + a)
    assert_same(a - a, 0 * a)


@given(weight=st.lists(st.integers(0, 5), min_size=40, max_size=40))
def test_weights_are_repetitions(weight):
    weight = np.array(weight)
    repeated = Moments.of(np.repeat(PHI, weight, axis=0), np.repeat(Y, weight, axis=0))
    assert_same(moments(weight=weight.astype(float)), repeated)


def test_no_rows_are_the_zero_of_addition():
    m = moments(fingerprint="phi")
    zero = Moments.zeros(6, 2, "phi")
    assert_same(m + zero, m)
    assert_same(zero + m, m)
    assert_same(m - zero, m)
    assert (zero + m).precision == m.precision
    assert_same(moments(slice(0)), zero)


def test_adding_in_place_touches_the_left_side_only():
    a, b = moments(slice(15)), moments(slice(15, None))
    kept, before, other = a, a.copy(), b.copy()
    a += b
    assert a is kept
    assert_same(a, before + other)
    assert_same(b, other)


def test_sums_share_no_memory():
    a, b = moments(slice(15)), moments(slice(15, None))
    arrays = [n for n in SUMS if isinstance(getattr(a, n), np.ndarray)]
    for c in (a + b, a - b, 2 * a, a.copy()):
        assert not any(np.shares_memory(getattr(c, n), getattr(a, n)) for n in arrays)


@pytest.mark.parametrize("combine", [add, iadd, lambda a, b: a - b])
def test_different_maps_refuse_to_add(combine):
    a, b = moments(fingerprint="a" * 64), moments(fingerprint="b" * 64)
    before = a.copy()
    with pytest.raises(
        ValueError, match=r"built with feature map bbbbbbbbbbbb but .* aaaaaaaaaaaa"
    ):
        combine(a, b)
    with pytest.raises(ValueError, match=r"feature map \(none\)"):
        combine(a, moments())
    assert_same(a, before)


def test_different_shapes_refuse_to_add():
    with pytest.raises(ValueError, match=r"moments must have shape \(6, 2\), got \(6, 1\)"):
        moments() + Moments.of(PHI.copy(), Y[:, :1])
    with pytest.raises(ValueError, match=r"shape \(6, 2\), got \(4, 2\)"):
        moments() + moments().leading(4)


@pytest.mark.parametrize("n", [1, 4, 6])
def test_leading_features_are_a_smaller_layer(n):
    smaller = Moments.of(PHI[:, :n].copy(), Y, WEIGHT)
    assert_same(moments().leading(n), smaller)


def test_retargeting_is_the_moments_of_changed_targets():
    """New columns: 3·y₁ - 2, y₀ + 1, the constant 5, and y₁ again."""
    M = np.array([[0.0, 1.0, 0.0, 0.0], [3.0, 0.0, 0.0, 1.0]])
    v = np.array([-2.0, 1.0, 5.0, 0.0])
    assert_same(moments().retarget(M, v), Moments.of(PHI.copy(), Y @ M + v, WEIGHT))


def test_unweighted_blocks_are_left_alone():
    Phi, targets = PHI.copy(), Y.copy()
    Moments.of(Phi, targets)
    assert_array_equal(Phi, PHI)
    Moments.of(Phi, targets, WEIGHT)
    assert_array_equal(targets, Y)


@pytest.mark.parametrize("n_features", [1, 255, 256, 257, 600])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_gram_matrix_is_whole_and_symmetric(n_features, dtype):
    """Only one triangle is computed; tiles of 256 are mirrored."""
    Phi = np.random.default_rng(0).standard_normal((20, n_features)).astype(dtype)
    for block in (Phi, np.asfortranarray(Phi), np.repeat(Phi, 2, axis=0)[::2]):
        gram = Moments.of(block, np.ones((20, 1), dtype)).gram
        assert gram.dtype == np.float64
        assert_array_equal(gram, gram.T)
        exact = Phi.astype(float).T @ Phi.astype(float)
        assert_allclose(gram, exact, atol=100 * np.finfo(dtype).eps)


def test_float32_blocks_sum_in_float64():
    """Rounding stays that of one block, however many there are."""
    block = PHI.astype(np.float32), Y.astype(np.float32)
    one = Moments.of(*block)
    total = Moments.zeros(6, 2)
    for _ in range(3000):
        total += Moments.of(*block)
    assert all(getattr(one, n).dtype == np.float64 for n in ("phi", "y", "gram", "cross", "yy"))
    assert_same(total, 3000 * one, rtol=1e-11)
    assert_same(one, moments(weight=None), rtol=1e-5, atol=1e-5)


def test_targets_are_summed_in_float64_inside_a_block_too():
    Phi, targets = np.zeros((100_000, 1), np.float32), np.full((100_000, 1), 0.1, np.float32)
    m = Moments.of(Phi, targets)
    assert_allclose(m.y, 100_000 * float(np.float32(0.1)), rtol=1e-12)
    assert_allclose(m.yy, 100_000 * float(np.float32(0.1) ** 2), rtol=1e-7)


def test_precision_is_that_of_the_coarsest_block():
    fine, coarse = moments(), Moments.of(PHI.astype(np.float32), Y.astype(np.float32))
    eps = {np.float32: np.finfo(np.float32).eps, np.float64: np.finfo(np.float64).eps}
    assert fine.precision == eps[np.float64]
    assert coarse.precision == (fine + coarse).precision == (coarse - fine).precision
    assert coarse.precision == eps[np.float32]
    fine += coarse
    assert fine.precision == eps[np.float32]


def test_observations_of_weights():
    """Whole weights count rows; a weight below one is one row; importance weights are one each."""
    weight = np.array([3.0, 0.25, 0.0, 1.5])
    assert observations(weight) == 3 + 1 + 0 + 1.5
    assert observations(weight, unit=weight) == 3
    assert moments(slice(4), weight=np.resize(weight, 40), unit=weight).rows == 3
