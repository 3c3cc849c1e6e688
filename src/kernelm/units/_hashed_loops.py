"""Compiled products with weights of ±1 that nobody stores: bits of a hash of input and unit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, uint64

BITS = 64  # units whose signs one hash gives


@njit(cache=True, nogil=True)
def _bits(column: int, word: int, seed: int) -> Any:
    """Return 64 random bits of a column and a group of units (the splitmix64 finaliser, twice)."""
    z = uint64(column) * uint64(0x9E3779B97F4A7C15) + uint64(seed)
    z = (z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint64(27))) + uint64(word) * uint64(0xD6E8FEB86659FD93)
    z = (z ^ (z >> uint64(32))) * uint64(0x94D049BB133111EB)
    return z ^ (z >> uint64(31))


@njit(cache=True, nogil=True)
def signs(W: Any, seed: int) -> None:
    """Write the weights of units (rows) for all inputs (columns)."""
    for k in range(W.shape[0]):
        for j in range(W.shape[1]):
            bit = (_bits(j, k // BITS, seed) >> uint64(k % BITS)) & uint64(1)
            W[k, j] = 1.0 if bit else -1.0


@njit(cache=True, nogil=True, fastmath=True)
def project(indptr: Any, indices: Any, data: Any, seed: int, out: Any) -> None:
    """Write the products of CSR rows with the weights."""
    n_units = out.shape[1]
    for i in range(out.shape[0]):
        row = out[i]
        row[:] = 0
        for at in range(indptr[i], indptr[i + 1]):
            value = data[at]
            for word in range((n_units + BITS - 1) // BITS):
                bits = _bits(indices[at], word, seed)
                start = word * BITS
                for k in range(min(BITS, n_units - start)):
                    # Without a branch, so that the loop becomes vector instructions.
                    sign = 2 * np.int32((bits >> uint64(k)) & uint64(1)) - 1
                    row[start + k] += sign * value
