"""Plain linear algebra on dense or CSR rows, a cache-sized block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

# Half a megabyte of float32: the block and a few temporaries of its size stay in an L2 cache.
BLOCK_ENTRIES = 2**17


def blocks(n: int, m: int) -> Iterator[slice]:
    """Cut ``n`` rows of ``m`` entries into blocks that stay in the cache."""
    step = max(1, BLOCK_ENTRIES // max(m, 1))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def set_diagonal(block: NDArray, rows: slice, values: Any) -> None:
    """Set the diagonal entries of a square matrix that fall in a block of its rows."""
    columns = np.arange(rows.start, rows.stop)
    block[columns - rows.start, columns] = values


def dot(X: Any, Z: Any) -> NDArray:
    """Return the matrix of dot products as a new dense array; CSR rows stay CSR."""
    if issparse(Z) and not issparse(X):
        return np.ascontiguousarray(dot(Z, X).T)
    K = X @ Z.T
    return K.toarray() if issparse(K) else np.asarray(K)


def row_dots(X: Any, Z: Any) -> NDArray:
    """Return the dot product of each row of X with the row of Z at the same place."""
    if issparse(X) or issparse(Z):
        product = X.multiply(Z) if issparse(X) else Z.multiply(X)
        return np.asarray(product.sum(axis=1)).ravel().astype(X.dtype, copy=False)
    return np.einsum("ij,ij->i", X, Z)


def row_sq_norms(X: Any) -> NDArray:
    """Return the squared length of each row, in the dtype of X."""
    if issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel().astype(X.dtype, copy=False)
    return np.einsum("ij,ij->i", X, X)


def row_sums(X: Any) -> NDArray:
    """Return the sum of each row, in float64."""
    return np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()


def largest_entry(X: Any) -> float:
    """Return the largest absolute entry, zero if there is none."""
    values = X.data if issparse(X) else X
    return float(max(values.max(initial=0), -values.min(initial=0)))
