r"""Distances between rows, dense or CSR, at the cost of one matrix product.

With :math:`a = (x - \mu)/\ell`, :math:`b = (z - \mu)/\ell` and the norms folded into the product
as two more columns,

.. math:: \lVert a - b\rVert^2 = (a,\ \lVert a\rVert^2,\ 1) \cdot (-2b,\ 1,\ \lVert b\rVert^2),

so that squared distances leave the matrix product ready, and what a kernel does with them runs
on blocks of rows that are still in the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from kernelm.kernels._blocks import (
    BLOCK_ENTRIES,
    blocks,
    dot,
    largest_entry,
    row_sq_norms,
    set_diagonal,
)

# Largest rounding error of a squared distance, in squared scales, that a matrix product may make;
# kernels that take the root of it magnify it near zero, where they would lose definiteness.
MAX_NOISE, ROOT_NOISE = 1e-3, 1e-5
PRODUCT_ROWS = 256  # BLAS packs Z anew for each product: of so many rows it costs little

Finish = Callable[[NDArray, slice], None]  #: changes a block of distances in place


def squared_distances(
    X: Any,
    Z: Any | None = None,
    scale: float = 1.0,
    sign: int = 1,
    then: Callable[[NDArray], None] | None = None,
    snap: bool = False,
) -> NDArray:
    """Return ``sign * (distance / scale)**2`` for all pairs, after ``then`` changed each block.

    With ``snap``, squares that rounding cannot tell from zero are zero: equal rows are equal,
    which matters to kernels that take the root of what rounding leaves.
    Never of the wrong sign, exactly zero on the diagonal when ``Z`` is None, and finite for any
    finite rows: what does not fit the dtype becomes a sixteenth of its largest number.

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]), scale=2.0)
    array([[6.25]])
    """
    other = X if Z is None else Z
    unit, noise = 1.0 / float(scale), ROOT_NOISE if snap else MAX_NOISE
    # Both bounds: NumPy has no SIMD loop of maxima with one number, and takes four times as long.
    low, high = (0.0, np.inf) if sign > 0 else (-np.inf, 0.0)
    zero = _rounding(X, other, unit, noise) if snap and X.shape[0] and other.shape[0] else 0.0

    def finish(block: NDArray, rows: slice) -> None:
        np.clip(block, low, high, out=block)
        if zero:
            block *= np.abs(block) > zero if sign < 0 else block > zero
        if Z is None:
            set_diagonal(block, rows, 0)
        if then is not None:
            then(block)

    with np.errstate(over="ignore", invalid="ignore"):
        K = _product(X, other, unit, sign, noise, finish)
    if K is None:
        with np.errstate(over="ignore", invalid="ignore"):
            K = _far(X, other, float(scale), sign)
        _in_blocks(K, finish)
    return K


def l1_distances(X: Any, Z: Any | None = None, scale: float = 1.0) -> NDArray:
    """Return ``sum |x - z| / scale`` for all pairs.

    Examples
    --------
    >>> import numpy as np
    >>> l1_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]), scale=2.0)
    array([[3.5]])
    """
    other = X if Z is None else Z
    K = np.empty((X.shape[0], other.shape[0]), X.dtype)
    top = float(np.finfo(K.dtype).max) / 16
    if not K.size or not X.shape[1]:
        K[:] = 0
        return K
    if not issparse(X) and not issparse(other):
        from kernelm.kernels import _l1_loops as loops

        X, other = (np.ascontiguousarray(rows, K.dtype) for rows in (X, other))
        loops.dense(X, other, float(scale), top, K)
        return K
    from sklearn.metrics.pairwise import manhattan_distances

    X, other = _short_indices(X), _short_indices(other)
    for rows in blocks(*K.shape):
        with np.errstate(over="ignore"):
            block = manhattan_distances(X[rows], other) / float(scale)
        np.minimum(block, top, out=K[rows], casting="same_kind")
    return K


def _short_indices(X: Any) -> Any:
    """Return CSR rows with indices of 32 bits, which is what scikit-learn's loops take."""
    X = csr_array(X)
    return csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)


def paired_distances(X: Any, Z: Any, scale: float = 1.0, metric: str = "euclidean") -> NDArray:
    """Return ``distance / scale`` of each row of X to the row of Z at the same place.

    Finite for any finite rows: at most the root of a sixteenth of the largest number.

    Examples
    --------
    >>> import numpy as np
    >>> paired_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]), scale=2.0)
    array([2.5])
    """
    top = np.sqrt(np.finfo(X.dtype).max / 16)
    with np.errstate(over="ignore"):
        G = (X - Z) / float(scale)
        G = csr_array(G) if issparse(G) else np.asarray(G)
        d = abs(G).sum(axis=1) if metric == "l1" else np.sqrt(row_sq_norms(G))
    return np.minimum(d, top).astype(X.dtype, copy=False)


def _product(
    X: Any, Z: Any, unit: float, sign: int, noise: float, finish: Finish | None = None
) -> NDArray | None:
    """Return the distances by a matrix product, or None if rounding would swamp them."""
    form = _sparse if issparse(X) or issparse(Z) else _dense
    return form(X, Z, unit, sign, noise, finish)


def _dense(
    X: NDArray, Z: NDArray, unit: float, sign: int, noise: float, finish: Finish | None
) -> NDArray | None:
    """Return the product of the folded rows, some of them at a time."""
    # Rows far from the origin would cancel: measure from the middle of Z instead.
    centre = Z.mean(axis=0, dtype=np.float64).astype(Z.dtype) if len(Z) else 0
    B = np.empty((Z.shape[0], Z.shape[1] + 2), Z.dtype)
    b = _fold(Z, centre, unit, B)
    if _swamped(b, noise):
        return None
    B[:, -2], B[:, -1] = sign, sign * b
    B[:, :-2] *= -2 * sign
    K = np.empty((X.shape[0], Z.shape[0]), X.dtype)
    step = max(PRODUCT_ROWS, BLOCK_ENTRIES // max(len(Z), 1))
    A = np.empty((min(step, X.shape[0]), X.shape[1] + 2), X.dtype)
    A[:, -1] = 1
    for start in range(0, X.shape[0], step):
        rows = slice(start, min(start + step, X.shape[0]))
        part = A[: rows.stop - start]
        part[:, -2] = a = _fold(X[rows], centre, unit, part)
        if _swamped(a, noise):
            return None
        np.matmul(part, B.T, out=K[rows])
        if finish is not None:
            _in_blocks(K[rows], finish, start)
    return K


def _fold(X: NDArray, centre: Any, unit: float, A: NDArray) -> NDArray:
    """Write centred rows in units of the scale, beside two columns more; return their norms."""
    norms = np.empty(X.shape[0], X.dtype)
    for rows in blocks(*X.shape):
        part = A[rows, :-2]
        np.subtract(X[rows], centre, out=part)
        part *= unit
        norms[rows] = row_sq_norms(part)
    return norms


def _in_blocks(K: NDArray, finish: Finish, start: int = 0) -> None:
    """Finish some rows of a matrix, of which the first has the given place."""
    for rows in blocks(*K.shape):
        finish(K[rows], slice(start + rows.start, start + rows.stop))


def _sparse(
    X: Any, Z: Any, unit: float, sign: int, noise: float, finish: Finish | None
) -> NDArray | None:
    """Return ``sign * (x.x + z.z - 2 x.z)`` in units of the scale."""
    X, Z = unit * X, unit * Z
    a, b = row_sq_norms(X), row_sq_norms(Z)
    if _swamped(a, noise) or _swamped(b, noise):
        return None
    K = dot(X, Z)
    K *= -2 * sign
    for rows in blocks(*K.shape):
        K[rows] += sign * a[rows, None]
        K[rows] += sign * b
    if finish is not None:
        _in_blocks(K, finish)
    return K


def _rounding(X: Any, Z: Any, unit: float, noise: float) -> float:
    """Return the rounding error of squared distances from a product, 0 if there is none."""
    eps = float(np.finfo(X.dtype).eps)
    centre = 0.0 if issparse(Z) or issparse(X) else Z.mean(axis=0, dtype=np.float64)
    spread = max(_longest(X, centre), _longest(Z, centre)) * unit * unit
    return 8 * eps * spread if spread * eps < noise else 0.0


def _longest(X: Any, centre: Any) -> float:
    """Return a bound of the squared length of centred rows from the range of the columns."""
    if issparse(X):
        return float(row_sq_norms(X).max(initial=0))
    reach = np.maximum(np.abs(X.max(axis=0) - centre), np.abs(X.min(axis=0) - centre))
    return float(reach @ reach)


def _swamped(squares: NDArray, noise: float) -> bool:
    """Return whether rounding of squared lengths is visible at the scale of the kernel."""
    return not squares.max(initial=0) * np.finfo(squares.dtype).eps < noise


def _far(X: Any, Z: Any, scale: float, sign: int) -> NDArray:
    """Return distances of rows that are many scales long: double precision, then differences."""
    dtype = X.dtype
    X, Z = X.astype(np.float64), Z.astype(np.float64)
    K = _product(X, Z, 1.0 / scale, 1, MAX_NOISE) if dtype != np.float64 else None
    if K is None:
        K = _differences(X, Z, scale)
    return sign * np.minimum(K, float(np.finfo(dtype).max) / 16).astype(dtype)


def _differences(X: Any, Z: Any, scale: float) -> NDArray:
    """Return squared distances that are exact for equal rows and free of overflow."""
    from scipy.spatial.distance import cdist

    largest = max(largest_entry(X), largest_entry(Z)) or 1.0
    X, Z = X / largest, Z / largest
    if issparse(X) or issparse(Z):
        lengths = row_sq_norms(X)[:, None] + row_sq_norms(Z)
        K = lengths - 2 * dot(X, Z)
        # Rounding would be magnified by (largest / scale)²: equal rows must stay equal.
        K[1e-13 * lengths > K] = 0
    else:
        K = cdist(X, Z, "sqeuclidean")
    ratio = largest / scale
    K *= min(ratio * ratio, np.finfo(np.float64).max)
    return K
