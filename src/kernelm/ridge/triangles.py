"""Cholesky factors of large kernel matrices, in place and in either precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from kernelm import _checks
from kernelm._lapack import lauum, potrf, trsm

_TILE = 512  # rows of a triangle that are cast and used at a time
_ESCALATIONS = 8
_TOO_MUCH = 0.1  # a jitter above this share of the mean diagonal would be another kernel


def fortran(K: NDArray, dtype: np.dtype, *, overwrite: bool) -> NDArray:
    """Return the symmetric K in Fortran order, which LAPACK factors without a copy."""
    K = np.asarray(K)
    K = K.T if K.flags.c_contiguous else K
    return np.asfortranarray(K, dtype) if overwrite else np.array(K, dtype, order="F")


def factor_in_place(S: NDArray, rounding: float) -> float:
    """Replace the upper half of S by its Cholesky factor; return the jitter that it took."""
    return _factor(S, 0.0, rounding * len(S) * _mean_diagonal(S))


def jittered_cholesky(S: NDArray, ridge: NDArray) -> float:
    """Replace the upper half of S by the factor of S + diag(ridge).

    Returns what had to be added to the ridge: 0 unless rounding left S + diag(ridge) indefinite.
    """
    return _factor(S, ridge, 0.0)


def _mean_diagonal(S: NDArray) -> float:
    return float(np.diagonal(S).mean(dtype=np.float64)) or 1.0


def _factor(S: NDArray, ridge: NDArray | float, jitter: float) -> float:
    diagonal = np.diagonal(S).astype(np.float64)
    _checks.finite_diag(diagonal, "the kernel of the landmarks")
    _checks.non_negative_diag(diagonal, "a Cholesky factor of the landmarks")
    mean = _mean_diagonal(S)
    most = max(_TOO_MUCH * mean, jitter)
    while True:
        np.fill_diagonal(S, diagonal + ridge + jitter)
        if cholesky(S):
            return float(jitter)
        if jitter >= most:
            break
        least = float(np.finfo(S.dtype).eps) * len(S) * mean
        jitter = min(10 * jitter or least or most, most)
        _mirror(S)
    raise _checks.not_semidefinite("the kernel matrix", jitter)


def inner_factor(T: NDArray, alpha: float, weight: float) -> NDArray:
    """Return the upper A with AᵀA = (ω/n) T Tᵀ + α I."""
    A, n = np.empty_like(T), len(T)
    jitter = 0.0
    for _ in range(_ESCALATIONS + 1):
        np.copyto(A, T)
        lauum(A)
        A *= weight / n
        diagonal = np.diagonal(A).astype(np.float64)
        np.fill_diagonal(A, diagonal + alpha + jitter)
        if cholesky(A):
            return A
        # Only a preconditioner gets worse by this, not the model.
        jitter = 10 * jitter or float(np.finfo(T.dtype).eps) * diagonal.sum()
    raise _checks.not_semidefinite("the square of K_zz", jitter)


def cholesky(S: NDArray) -> bool:
    """Factor the upper half of S where it stands; return whether that succeeded."""
    # LAPACK lets NaN through its comparison with zero.
    return potrf(S) == 0 and bool(np.isfinite(np.diagonal(S)).all())


def _mirror(S: NDArray) -> None:
    """Restore the upper half of S from the lower one, which a factorisation does not touch."""
    for rows in tiles(len(S)):
        S[rows, rows.stop :] = S[rows.stop :, rows].T
        tile = S[rows, rows]
        tile[:] = np.tril(tile) + np.tril(tile, -1).T


def tiles(n: int, step: int = _TILE) -> list[slice]:
    """Return the rows of a triangle, some at a time."""
    return [slice(i, min(i + step, n)) for i in range(0, n, step)]


def solve_upper(
    U: NDArray, B: NDArray, *, transposed: bool = False, overwrite: bool = False
) -> NDArray:
    """Return U⁻¹B or U⁻ᵀB in the precision of B for an upper triangle U of any precision.

    A triangle of another precision is used tile by tile: a float32 entry is a number in float64
    arithmetic, not a source of new rounding, and no float64 copy of all of it is made.
    """
    if U.dtype == B.dtype and U.flags.f_contiguous and B.ndim == 2:
        X = np.asfortranarray(B) if overwrite else np.array(B, order="F")
        trsm(U, X, transposed=transposed)
        return X
    X = np.array(B)
    order = tiles(len(U))
    for rows in order if transposed else reversed(order):
        rest = slice(rows.stop, None)
        tile = U[rows, rows].astype(X.dtype, copy=False)
        right = U[rows, rest].astype(X.dtype, copy=False)
        if not transposed:
            X[rows] -= right @ X[rest]
        X[rows] = solve_triangular(tile, X[rows], trans=int(transposed), check_finite=False)
        if transposed:
            X[rest] -= right.T @ X[rows]
    return X
