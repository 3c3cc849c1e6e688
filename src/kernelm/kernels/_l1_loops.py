"""Compiled loops for city-block distances; imported when first needed: Numba is slow to."""

from __future__ import annotations

import numpy as np
from numba import njit


# Sums in any order: else they are not vectorised.
@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def dense(X, Z, scale, top, out):
    """Write ``sum |x - z| / scale`` of all pairs of rows into ``out``, at most ``top``."""
    for i in range(X.shape[0]):
        x = X[i]
        for j in range(Z.shape[0]):
            z = Z[j]
            total = x[0] - x[0]  # zero, in the precision of the rows
            for d in range(len(x)):
                total += np.abs(x[d] - z[d])
            out[i, j] = min(total / scale, top)
