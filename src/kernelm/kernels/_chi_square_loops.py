"""Compiled loops of the chi-square distance; imported when first needed, since Numba is slow to."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def dense(X, Z, out):
    """Write the sums of ``(x - z)² / (x + z)`` of all pairs of rows into ``out``."""
    for i in range(X.shape[0]):
        for j in range(Z.shape[0]):
            total = 0.0
            for f in range(X.shape[1]):
                both = X[i, f] + Z[j, f]
                if both > 0:
                    gap = X[i, f] - Z[j, f]
                    total += gap / both * gap
            out[i, j] = total


@njit(cache=True, nogil=True)
def csr(
    x_values, x_columns, x_starts, z_values, z_columns, z_starts, n_columns, x_sums, z_sums, out
):
    """Write the same for CSR rows: ``Σx + Σz - 4 Σ xz/(x + z)``, over columns that both have."""
    # One row of X is spread out at a time, so that a row of Z finds its columns directly.
    spread = np.zeros(n_columns)
    for i in range(len(x_starts) - 1):
        for p in range(x_starts[i], x_starts[i + 1]):
            spread[x_columns[p]] = x_values[p]
        for j in range(len(z_starts) - 1):
            shared = 0.0
            for q in range(z_starts[j], z_starts[j + 1]):
                x = spread[z_columns[q]]
                if x > 0:
                    z = np.float64(z_values[q])
                    shared += x / (x + z) * z
            out[i, j] = max(x_sums[i] + z_sums[j] - 4 * shared, 0.0)
        for p in range(x_starts[i], x_starts[i + 1]):
            spread[x_columns[p]] = 0.0
