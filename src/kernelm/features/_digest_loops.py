"""Compiled sums of hashes over wide dense rows; imported when first needed: Numba is slow to."""

from __future__ import annotations

import numpy as np
from numba import njit

# Of SplitMix64's finaliser, as in ``kernelm.features.landmarks``.
_A = np.uint64(0x9E3779B97F4A7C15)
_B = np.uint64(0xBF58476D1CE4E5B9)
_C = np.uint64(0x94D049BB133111EB)


@njit(cache=True, nogil=True)
def summed_hashes(X, bits, column, out):
    """Add up, row by row, the hashes of the bits of entries that are not zero, and their column."""
    for i in range(X.shape[0]):
        total = np.uint64(0)
        for j in range(X.shape[1]):
            if X[i, j] != 0:
                x = (bits[i, j] ^ column[j]) + _A
                x = (x ^ (x >> np.uint64(30))) * _B
                x = (x ^ (x >> np.uint64(27))) * _C
                total += x ^ (x >> np.uint64(31))
        out[i] = total
