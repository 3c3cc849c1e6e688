"""A seeded sample does not depend on how the rows arrive."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.stats import chi2

from catalog import SOURCES, OnePass
from kernelm.data import ArraySource, Rows, Sample
from kernelm.data.sample import priorities

N = 300
X = np.column_stack([np.arange(N, dtype=float), np.arange(N) % 3])
y, WEIGHT = np.arange(N), np.linspace(1, 2, N)
every_source = pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES.keys())


def positions(sample):
    """Which rows were kept: the first column counts them."""
    rows = sample.X.toarray() if sparse.issparse(sample.X) else sample.X
    return rows[:, 0].astype(int)


def assert_same(a, b):
    assert_array_equal(positions(a), positions(b))
    assert_array_equal(a.y, b.y)
    assert_array_equal(a.weight, b.weight)
    assert_array_equal(a.priority, b.priority)
    assert (a.seen, a.is_complete) == (b.seen, b.is_complete)


def blocks(cuts, start=0):
    ends = [*sorted(cuts), N]
    for a, b in zip([0, *sorted(cuts)], ends, strict=True):
        yield Rows(X[a:b], y[a:b], WEIGHT[a:b], start + a)


@every_source
@pytest.mark.parametrize("capacity", [1, 40, N - 1, N, 1000])
def test_every_source_gives_the_same_rows(make, capacity, tmp_path):
    sample = Sample.of(make(X, y, WEIGHT, tmp_path), capacity, seed=3)
    assert_same(sample, Sample.of(ArraySource(X, y, WEIGHT), capacity, seed=3))
    at = positions(sample)
    assert len(at) == min(capacity, N)
    assert sample.seen == N
    assert sample.is_complete == (capacity >= N)
    assert_array_equal(at, np.unique(at))
    assert_array_equal(sample.y, y[at])
    assert_array_equal(sample.weight, WEIGHT[at])


@pytest.mark.parametrize("rows", [1, 17, N])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_one_pass_in_any_blocks_is_as_good_as_jumping(rows, n_jobs):
    streamed = Sample.of(OnePass(X, y, WEIGHT), 40, seed=3, rows=rows, n_jobs=n_jobs)
    assert_same(streamed, Sample.of(ArraySource(X, y, WEIGHT), 40, seed=3))


@given(cuts=st.sets(st.integers(1, N - 1)), capacity=st.integers(1, N + 5), seed=st.integers(0, 99))
def test_adding_blocks_is_sampling_all_rows(cuts, capacity, seed):
    sample = Sample(capacity, seed)
    for block in blocks(cuts):
        sample.add(block)
    assert_same(sample, Sample.of(ArraySource(X, y, WEIGHT), capacity, seed))


@given(cuts=st.sets(st.integers(1, N - 1), max_size=6), capacity=st.integers(1, N + 5))
def test_merging_samples_is_the_sample_of_both(cuts, capacity):
    merged = Sample(capacity, 0)
    for block in blocks(cuts):
        part = Sample(capacity, 0)
        part.add(block)
        merged.merge(part)
    assert_same(merged, Sample.of(ArraySource(X, y, WEIGHT), capacity, 0))


def test_a_sample_of_nothing_is_neutral():
    nothing, sample = Sample(10, 0), Sample.of(ArraySource(X, y, WEIGHT), 10, 0)
    expected = Sample.of(ArraySource(X, y, WEIGHT), 10, 0)
    sample.merge(nothing)
    assert_same(sample, expected)
    nothing.merge(sample)
    assert_same(nothing, expected)
    for empty in (Sample.of(OnePass(X[:0]), 10, 0), Sample.of(ArraySource(X[:0]), 10, 0)):
        assert empty.seen == 0
        assert empty.is_complete


def test_a_smaller_sample_keeps_its_capacity_when_it_takes_a_larger_one_in():
    small, large = Sample(5, 0), Sample.of(ArraySource(X, y, WEIGHT), 50, 0)
    small.merge(large)
    assert_array_equal(positions(small), positions(Sample.of(ArraySource(X, y, WEIGHT), 5, 0)))


def test_samples_of_rising_capacity_are_nested():
    kept = [set(positions(Sample.of(ArraySource(X), c, 0))) for c in (5, 20, 100)]
    assert kept[0] < kept[1] < kept[2]


def test_the_seed_decides():
    a, b = (set(positions(Sample.of(ArraySource(X), 40, seed))) for seed in (0, 1))
    # Two samples of 40 out of 300 have about five rows in common.
    assert len(a & b) < 15


def test_rows_without_weights_count_one_beside_weighted_rows():
    sample = Sample(N, 0)
    sample.add(Rows(X[:100], y[:100], None, 0))
    sample.add(Rows(X[100:], y[100:], WEIGHT[100:], 100))
    assert_array_equal(sample.weight, np.append(np.ones(100), WEIGHT[100:]))


def test_rows_without_targets_do_not_join_rows_with_targets():
    sample = Sample(N, 0)
    sample.add(Rows(X[:100], y[:100], None, 0))
    with pytest.raises(ValueError, match="no targets"):
        sample.add(Rows(X[100:], None, None, 100))


def test_large_sources_are_hashed_in_parts(monkeypatch):
    expected = Sample.of(ArraySource(X, y, WEIGHT), 40, 0)
    monkeypatch.setattr("kernelm.data.sample._CHUNK", 7)
    assert_same(Sample.of(ArraySource(X, y, WEIGHT), 40, 0), expected)


# --- forgetting ----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("capacity", [40, N])
def test_dropped_rows_are_gone_and_the_others_stay(form, capacity):
    sample = Sample.of(ArraySource(form(X), y, WEIGHT), capacity, 0)
    before = positions(sample)
    gone = np.arange(0, N, 7)
    sample.drop(form(X[gone]), y[gone])
    left = np.setdiff1d(before, gone)
    assert_array_equal(positions(sample), left)
    assert_array_equal(sample.y, y[left])
    assert_array_equal(sample.weight, WEIGHT[left])
    assert_array_equal(sample.priority, priorities(0, N, 0)[left])
    assert sample.seen == N - len(gone)
    assert sample.is_complete == (capacity == N)


def test_each_given_row_takes_one_equal_row_away():
    rows, labels = np.ones((5, 2)), np.array([0, 0, 0, 1, 1])
    sample = Sample.of(ArraySource(rows, labels), 10, 0)
    sample.drop(rows[:2], np.array([0, 1]))
    assert_array_equal(sample.y, [0, 0, 1])
    assert sample.is_complete


def test_labels_and_several_targets_can_be_dropped():
    names = np.array(["a", "long name", "a"])
    sample = Sample.of(ArraySource(X[:3], names), 10, 0)
    sample.drop(X[2:3], np.array(["a"]))
    assert_array_equal(sample.y, ["a", "long name"])
    several = Sample.of(ArraySource(X[:3], X[:3]), 10, 0)
    several.drop(X[1:2], X[1:2])
    assert_array_equal(positions(several), [0, 2])


def test_forgetting_many_rows_is_not_quadratic():
    rows = np.arange(40_000.0)[:, None]
    sample = Sample.of(ArraySource(rows, rows[:, 0]), 10, 0)
    start = time.perf_counter()
    sample.drop(rows, rows[:, 0])
    # Milliseconds; counting each row among all others takes minutes.
    assert time.perf_counter() - start < 5
    assert sample.seen == len(sample.priority) == 0


# --- chance --------------------------------------------------------------------------------------


def test_every_row_is_as_likely_as_any_other():
    """Over 400 seeds each of 300 rows is kept 40·400/300 ≈ 53 times."""
    counts = np.zeros(N)
    for seed in range(400):
        counts[positions(Sample.of(ArraySource(X), 40, seed))] += 1
    share = 40 / N
    statistic = ((counts - 400 * share) ** 2).sum() / (400 * share * (1 - share))
    # Both tails: too even would be as suspicious as too uneven.
    low, high = chi2.ppf([0.001, 0.999], N - 1)
    assert low < statistic < high


def test_neighbours_are_kept_independently():
    """With consecutive positions as input, the hash must not make runs."""
    kept = np.zeros(100_000)
    kept[positions(Sample.of(ArraySource(np.arange(100_000.0)[:, None]), 50_000, 0))] = 1
    for lag in (1, 2, 3, 64):
        together = np.mean(kept[lag:] * kept[:-lag])
        assert together == pytest.approx(0.25, abs=0.006)  # four standard errors


def test_priorities_fill_64_bits_without_repeats():
    p = priorities(0, 100_000, seed=5)
    assert p.dtype == np.uint64
    assert len(np.unique(p)) == 100_000
    counts = np.bincount((p >> np.uint64(58)).astype(int), minlength=64)
    statistic = ((counts - 100_000 / 64) ** 2).sum() / (100_000 / 64)
    assert statistic < chi2.ppf(0.9999, 63)
    assert_array_equal(priorities(500, 900, seed=5), p[500:900])
