"""Who adds the rows up: fixed order, bounded memory, nothing left behind."""

import operator
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_info, threadpool_limits

from catalog import SOURCES, dense
from kernelm import config_context
from kernelm.data import ArraySource, block_rows, effective_jobs, reduce, stream
from kernelm.data.reduce import MAX_ROWS, MIN_ROWS

N = 500
X = np.random.default_rng(0).standard_normal((N, 4))
SOURCE = ArraySource(X)
every_source = pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES.keys())


def gram(rows):
    H = dense(rows)
    return H.T @ H


def kernelm_threads():
    return [t for t in threading.enumerate() if t.name.startswith("kernelm")]


def blas_threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


@pytest.fixture
def two_blas_threads():
    """The tests may run with one BLAS thread: a limit of one would go unnoticed."""
    with threadpool_limits(2, user_api="blas"):
        assert set(blas_threads()) == {2}
        yield


# --- results -------------------------------------------------------------------------------------


@every_source
@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("rows", [1, 7, 499, 500, 10_000])
def test_any_blocks_and_workers_give_the_same_sum(make, n_jobs, rows, tmp_path):
    source = make(X, None, None, tmp_path)
    total = reduce(source, gram, operator.iadd, rows=rows, n_jobs=n_jobs)
    assert_allclose(total, X.T @ X, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rows", [7, 64, 300])
def test_the_number_of_workers_does_not_change_a_bit(rows):
    one, two, four = (reduce(SOURCE, gram, operator.iadd, rows=rows, n_jobs=n) for n in (1, 2, 4))
    assert_array_equal(one, two)
    assert_array_equal(one, four)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_results_come_in_the_order_of_the_rows(n_jobs):
    """Even if early blocks take longest."""

    def slow_start(rows):
        time.sleep(0.02 if rows.start < 100 else 0)
        return rows.start

    assert list(stream(SOURCE, slow_start, rows=50, n_jobs=n_jobs)) == list(range(0, N, 50))
    joined = reduce(SOURCE, lambda r: [slow_start(r)], operator.add, rows=50, n_jobs=n_jobs)
    assert joined == list(range(0, N, 50))


def test_the_fold_starts_at_the_left():
    text = reduce(SOURCE, lambda r: str(r.start), lambda a, b: f"({a}+{b})", rows=200, n_jobs=2)
    assert text == "((0+200)+400)"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_source_without_rows_gives_nothing(n_jobs):
    empty = ArraySource(X[:0])
    assert reduce(empty, gram, operator.add, n_jobs=n_jobs) is None
    assert list(stream(empty, gram, rows=5, n_jobs=n_jobs)) == []


def test_one_block_runs_in_the_caller():
    seen = []
    reduce(SOURCE, lambda rows: seen.append(threading.current_thread()), max, rows=N, n_jobs=4)
    assert seen == [threading.current_thread()]


def test_at_most_one_block_more_than_workers_is_in_flight():
    started = []
    results = stream(SOURCE, lambda rows: started.append(rows.start), rows=10, n_jobs=2)
    next(results)
    time.sleep(0.1)
    assert len(started) <= 4  # three in flight, and the one that was handed out
    results.close()


# --- failures ------------------------------------------------------------------------------------


def fail_at(position):
    def fn(rows):
        if rows.start >= position:
            raise ZeroDivisionError(f"block {rows.start}")
        return 1

    return fn


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("position", [0, 250, 490])
def test_an_error_in_a_worker_reaches_the_caller_and_stops_the_rest(
    n_jobs, position, two_blas_threads
):
    with pytest.raises(ZeroDivisionError, match=f"block {position}"):
        reduce(SOURCE, fail_at(position), operator.add, rows=10, n_jobs=n_jobs)
    assert not kernelm_threads()
    assert set(blas_threads()) == {2}


def test_an_error_while_reading_reaches_the_caller(two_blas_threads):
    class Broken:
        n_rows, n_features, dtype = None, 4, np.dtype(float)

        def blocks(self, rows):
            yield next(SOURCE.blocks(10))
            yield next(SOURCE.blocks(10))
            raise OSError("disk gone")

    with pytest.raises(OSError, match="disk gone"):
        reduce(Broken(), gram, operator.add, n_jobs=2)
    assert not kernelm_threads()
    assert set(blas_threads()) == {2}


def test_blocks_behind_an_error_are_not_started():
    started = []

    def fn(rows):
        started.append(rows.start)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        reduce(SOURCE, fn, operator.add, rows=1, n_jobs=2)
    assert len(started) <= 4


def test_a_caller_that_stops_early_leaves_nothing_behind(two_blas_threads):
    results = stream(SOURCE, gram, rows=10, n_jobs=2)
    next(results)
    assert kernelm_threads()
    results.close()
    assert not kernelm_threads()
    assert set(blas_threads()) == {2}


# --- threads -------------------------------------------------------------------------------------


def test_workers_run_single_threaded_blas_and_the_limit_is_lifted(two_blas_threads):
    inside = reduce(SOURCE, lambda rows: set(blas_threads()), operator.or_, rows=100, n_jobs=2)
    assert inside == {1}
    assert set(blas_threads()) == {2}


def test_passes_that_overlap_restore_the_limit_whoever_ends_first(two_blas_threads):
    """Two fits in two threads, as a grid search with joblib threads does."""
    first, second = (stream(SOURCE, gram, rows=10, n_jobs=2) for _ in range(2))
    next(first)
    next(second)
    first.close()
    assert set(blas_threads()) == {1}
    second.close()
    assert set(blas_threads()) == {2}


def test_passes_may_be_nested(two_blas_threads):
    def inner(rows):
        return reduce(ArraySource(rows.X), gram, operator.iadd, rows=20, n_jobs=2)

    assert_allclose(reduce(SOURCE, inner, operator.iadd, rows=100, n_jobs=2), X.T @ X, rtol=1e-12)
    assert set(blas_threads()) == {2}


def test_workers_are_as_many_as_blas_would_take(two_blas_threads):
    assert effective_jobs(None) == effective_jobs(-1) == 2
    assert effective_jobs(1) == 1
    assert effective_jobs(3) == 3
    with threadpool_limits(1, user_api="blas"):
        assert effective_jobs(None) == 1


@pytest.mark.parametrize("wrong", [0, -2, 1.5, "all", True])
def test_other_numbers_of_workers_are_refused(wrong):
    with pytest.raises(ValueError, match=r"n_jobs .* must be a whole number of at least 1, got"):
        effective_jobs(wrong)


# --- block sizes ---------------------------------------------------------------------------------


@given(
    megabytes=st.floats(0.01, 4096),
    per_row=st.integers(1, 10**7),
    n_rows=st.none() | st.integers(0, 10**9),
    n_jobs=st.integers(1, 64),
)
def test_blocks_in_flight_fit_the_memory_budget(megabytes, per_row, n_rows, n_jobs):
    with config_context(working_memory=megabytes):
        rows = block_rows(per_row, n_rows, n_jobs)
    assert 1 <= rows <= MAX_ROWS
    # A block is never smaller than MIN_ROWS: less would cost more in overhead than it saves.
    assert rows <= MIN_ROWS or (n_jobs + 1) * rows * per_row <= megabytes * 2**20
    if n_rows is not None:
        assert rows <= max(n_rows, 1)


@given(n_rows=st.integers(1, 10**7), n_jobs=st.integers(1, 16))
def test_blocks_are_equal_and_leave_no_core_waiting(n_rows, n_jobs):
    rows = block_rows(1000, n_rows, n_jobs)
    blocks = -(-n_rows // rows)
    if n_rows >= n_jobs * block_rows(1000, None, n_jobs):
        assert 2 * rows >= block_rows(1000, None, n_jobs)  # and no smaller than they must
    if rows > MIN_ROWS:
        # Of the last round at most the rounding of a division is missing.
        assert -blocks % n_jobs <= -(-blocks // rows)


def test_more_memory_makes_larger_blocks():
    sizes = []
    for megabytes in (1, 8, 64):
        with config_context(working_memory=megabytes):
            sizes.append(block_rows(10_000, None, 1))
    # One worker and a block being read: half the budget each.
    assert sizes == [MIN_ROWS, 8 * 2**20 // 20_000, 64 * 2**20 // 20_000]


@pytest.mark.usefixtures("two_blas_threads")
def test_passes_of_several_threads_restore_the_limit():
    def work(_):
        return reduce(SOURCE, gram, operator.iadd, rows=7, n_jobs=1)

    with ThreadPoolExecutor(3) as pool:
        for _ in range(5):
            list(pool.map(work, range(6)))
            assert set(blas_threads()) == {2}
        # Whoever came first is still there, and others may set limits of their own.
        with threadpool_limits(1, user_api="blas"):
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {2}
