"""Columns of files as arrays of numbers and labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def matrix(columns: Iterable[NDArray]) -> NDArray:
    """Return columns side by side, in float32 where it holds every entry exactly."""
    arrays = [numbers(column) for column in columns]
    return np.stack(arrays, axis=1, dtype=_exact_float(arrays))


def csr(data: NDArray, indices: NDArray, indptr: NDArray, shape: NDArray) -> Any:
    """Return a CSR matrix from its arrays."""
    return sparse.csr_matrix((data.astype(_exact_float([data])), indices, indptr), tuple(shape))


def _exact_float(columns: Iterable[NDArray]) -> type[np.floating]:
    """Return float32 if it holds every entry exactly, else float64."""

    def fits(column: NDArray) -> bool:
        if np.can_cast(column.dtype, np.float32):
            return True
        with np.errstate(over="ignore"):
            return np.array_equal(column.astype(np.float32), column, equal_nan=True)

    return np.float32 if all(map(fits, columns)) else np.float64


def numbers(values: NDArray) -> NDArray:
    """Return a column as numbers: names become codes in alphabetical order, gaps NaN."""
    if values.dtype.kind in "biuf":
        return values
    there = np.array([v is not None and v == v for v in values], dtype=bool)
    names, codes = np.unique(values[there].astype(str), return_inverse=True)
    try:  # "10" is ten, even where numbers were declared to be names
        levels = names.astype(np.float64)
    except ValueError:
        levels = np.arange(len(names), dtype=np.float64)
    result = np.full(len(values), np.nan)
    result[there] = levels[codes]
    return result


def labels_of(values: NDArray) -> NDArray:
    """Return labels as int64 where they are whole numbers, else as strings."""
    labels = values if values.dtype.kind in "biuf" else values.astype(str)
    try:
        numbers = labels.astype(np.float64)
    except ValueError:
        return labels
    return numbers.astype(np.int64) if np.array_equal(numbers, np.rint(numbers)) else labels
