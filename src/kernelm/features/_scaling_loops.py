"""Compiled loops that scale rows in one sweep; imported when first needed: Numba is slow to."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def standardise(X, mean, scale, out):
    """Write ``(x - mean) * scale``, in double precision until it is stored."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            out[i, j] = (X[i, j] - mean[j]) * scale[j]


# Sums in any order, in the precision of X: else they are not vectorised.
@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def normalise(X, noise, out):
    """Write signed roots less the mean of their row, divided by their length.

    A length below ``noise`` times the mean is rounding, and the row becomes zero.
    """
    n, d = X.shape
    one = np.ones(1, X.dtype)[0]
    for i in range(n):
        total = one - one
        for j in range(d):
            root = np.sqrt(abs(X[i, j]))
            root = root if X[i, j] >= 0 else -root
            out[i, j] = root
            total += root
        mean = total / (one * d)
        square = one - one
        for j in range(d):
            gap = out[i, j] - mean
            out[i, j] = gap
            square += gap * gap
        length = np.sqrt(square)
        factor = one / length if length > noise * abs(mean) else one - one
        for j in range(d):
            out[i, j] *= factor
