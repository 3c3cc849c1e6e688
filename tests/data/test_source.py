"""Rows from anywhere, block by block."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from catalog import SOURCES, OnePass, dense
from kernelm.data import ArraySource, Rows, Source

N = 23
X = np.random.default_rng(0).standard_normal((N, 3)) * (np.arange(3 * N).reshape(N, 3) % 4 > 0)
y, WEIGHT = np.arange(N), np.linspace(0, 1, N)
every_source = pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES.keys())


@every_source
@pytest.mark.parametrize("rows", [1, 5, N, 100])
def test_blocks_are_the_rows_in_order(make, rows, tmp_path):
    source = make(X, y, WEIGHT, tmp_path)
    blocks = [read() for read in source.blocks(rows)]
    assert_array_equal(np.vstack([dense(b) for b in blocks]), X)
    assert_array_equal(np.concatenate([b.y for b in blocks]), y)
    assert_array_equal(np.concatenate([b.weight for b in blocks]), WEIGHT)
    assert [b.start for b in blocks] == [sum(b.n for b in blocks[:k]) for k in range(len(blocks))]
    assert all(b.n == len(b.y) <= rows for b in blocks)


@every_source
def test_sources_can_be_read_again_and_out_of_order(make, tmp_path):
    source = make(X, y, WEIGHT, tmp_path)
    readers = list(source.blocks(5))
    backwards = [read() for read in reversed(readers)][::-1]
    assert_array_equal(np.vstack([dense(b) for b in backwards]), X)
    assert_array_equal(np.vstack([dense(read()) for read in source.blocks(5)]), X)


@every_source
def test_sources_know_their_shape(make, tmp_path):
    source = make(X, y, WEIGHT, tmp_path)
    assert isinstance(source, Source)
    assert source.n_rows == (None if isinstance(source, OnePass) else N)
    assert source.n_features == 3
    assert source.dtype == np.float64


@every_source
def test_targets_and_weights_may_be_missing(make, tmp_path):
    block = next(make(X, None, None, tmp_path).blocks(5))()
    assert block.y is None
    assert block.weight is None
    assert 0 < block.n <= 5


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.int64, np.float64),
        (np.uint8, np.float64),
    ],
)
def test_blocks_are_float32_or_float64(form, dtype, expected):
    numbers = np.round(np.abs(10 * X)).astype(dtype)
    source = ArraySource(form(numbers))
    block = next(source.blocks(5))()
    assert block.X.dtype == source.dtype == expected
    assert_array_equal(dense(block), numbers[:5])


def test_blocks_of_arrays_are_views_not_copies():
    assert np.shares_memory(next(ArraySource(X).blocks(5))().X, X)


def test_mapped_files_are_read_block_by_block(tmp_path):
    source = SOURCES["memmap"](X, y, None, tmp_path)
    assert isinstance(source.X, np.memmap)
    block = next(source.blocks(5))().X
    assert type(block) is np.ndarray
    assert np.shares_memory(block, source.X)


@given(st.lists(st.integers(0, N - 1)))
def test_take_jumps_to_any_rows(indices):
    at = np.array(indices, dtype=np.intp)
    for form in (X, sparse.csr_array(X)):
        rows = ArraySource(form, y, WEIGHT).take(at)
        assert_array_equal(dense(rows), X[at])
        assert_array_equal(rows.y, y[at])
        assert_array_equal(rows.weight, WEIGHT[at])


def test_several_targets_have_several_columns():
    Y = np.column_stack([y, -y])
    assert_array_equal(np.vstack([read().y for read in ArraySource(X, Y).blocks(7)]), Y)


def test_no_rows_have_no_blocks():
    for none in (X[:0], sparse.csr_array(X)[:0]):
        assert list(ArraySource(none).blocks(5)) == []


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ((X[:, 0],), r"X must have two dimensions, got shape \(23,\)"),
        ((X, y[:-1]), r"y must have one entry for each row of X \(23\), got 22"),
        ((X, y, WEIGHT[:4]), r"weight must have one entry for each row of X \(23\), got 4"),
        ((sparse.csr_array(X), y[:1]), r"y must have one entry for each row of X \(23\), got 1"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arrays, message):
    with pytest.raises(ValueError, match=message):
        ArraySource(*arrays)


def test_rows_count_themselves():
    assert Rows(X, None, None, 0).n == N
    assert Rows(sparse.csr_array(X), None, None, 7).n == N
