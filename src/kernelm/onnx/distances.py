"""Distances of rows to fixed ones: the counterpart of :mod:`kernelm.kernels.distances`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kernelm.kernels.distances import MAX_NOISE, ROOT_NOISE
from kernelm.onnx.functions import absolute, joined, maximum, squared_lengths, where
from kernelm.onnx.graph import FLOAT64, Value, apply, scan

_LAST = np.array([-1])


def squared_distances(X: Value, Z: NDArray, scale: float, *, snap: bool) -> Value:
    """Return ``(distance / scale)**2`` of all pairs, from one matrix product.

    With ``snap``, squares that rounding cannot tell from zero are zero. Landmarks that are so
    many scales long that rounding would show are compared in double precision.
    """
    dtype, Z = X.dtype, Z.astype(np.float64)
    # Rows far from the origin would cancel: measure from the middle of Z instead.
    centre = Z.mean(axis=0)
    B = (Z - centre) / scale
    b = np.einsum("ij,ij->i", B, B)
    noise = ROOT_NOISE if snap else MAX_NOISE
    if b.max(initial=0) * np.finfo(dtype).eps >= noise:
        X = X.to(FLOAT64)
    A = (X - centre) * (1 / scale)
    a = squared_lengths(A)
    B = np.vstack([-2 * B.T, np.ones(len(b))])
    squares = maximum(apply("Gemm", joined([A, a], axis=1), B, b), 0.0)
    if snap:
        rounding = 8 * float(np.finfo(X.dtype).eps) * maximum(a, b.max(initial=0))
        squares = where(squares > rounding, squares, 0.0)
    return squares.to(dtype)


def l1_distances(X: Value, Z: NDArray, scale: float) -> Value:
    """Return ``sum |x - z| / scale`` of all pairs."""
    return _each_row(X, lambda x: absolute(x - Z)) * (1 / scale)


def chi_square_distances(X: Value, Z: NDArray) -> Value:
    """Return the sum of ``(x - z)² / (x + z)`` of all pairs."""

    def terms(x: Value) -> Value:
        gap, both = x - Z, x + Z
        there = both > 0.0
        return where(there, gap * gap / where(there, both, 1.0), 0.0)

    return _each_row(X, terms)


def _each_row(X: Value, terms: Callable[[Value], Value]) -> Value:
    """Sum terms that an input and its counterpart in Z make, a row of X at a time.

    All pairs and inputs at once would be an array of rows × landmarks × inputs.
    """
    return scan(lambda x: apply("ReduceSum", terms(x), _LAST, keepdims=0), X)
