"""Data frames as numbers: names become columns of zeros and ones, frozen when a model is.

Frames are read by what pandas and polars have in common, so neither is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Number
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from kernelm import _checks

#: More levels are refused: each costs a column, and few rows would be left to learn it from.
MAX_LEVELS = 255

Levels = tuple[Any, ...]


@final
@dataclass(frozen=True)
class FrameColumns:
    """How the columns of a data frame become columns of numbers.

    Numbers and booleans remain one column; where numbers are missing, they are the median of the
    others, and a second column says so. Names (categorical, string and object columns)
    become a column of zeros and ones for each level: the declared ones of a pandas categorical
    or a polars Enum, else those that the frame holds. Missing names, and missing booleans, are
    a level of their own if the frame holds any. A level that comes up later is a row of zeros.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1.5, 2.0], "colour": ["red", "blue"]})
    >>> columns = FrameColumns.of(frame)
    >>> columns.names
    ['size', 'colour_blue', 'colour_red']
    >>> columns.encode(pd.DataFrame({"size": [3.0, 4.0], "colour": ["blue", "green"]}))
    array([[3., 1., 0.],
           [4., 0., 0.]])
    """

    names_in: tuple[Any, ...]
    levels: tuple[Levels | None, ...]  #: None for numbers; among levels, None is "missing"
    fills: tuple[float | None, ...] = ()  #: what stands for missing numbers, where there were any

    @classmethod
    def of(cls, X: Any) -> Self | None:
        """Return what to do with the columns of X, or None if it has numbers only."""
        if not is_frame(X):
            return None
        names, columns = tuple(X.columns), [_part(X, i) for i in range(X.shape[1])]
        levels = tuple(_levels(*pair) for pair in zip(columns, names, strict=True))
        fills = tuple(
            _fill(column) if known is None else None
            for column, known in zip(columns, levels, strict=True)
        )
        if all(entry is None for entry in levels + fills):
            return None
        for column, name in zip(columns, names, strict=True):
            _checks.not_a_date(_kind(column.dtype) in "mM", name, column.dtype)
        return cls(names, levels, fills if any(f is not None for f in fills) else ())

    def encode(self, X: Any) -> NDArray:
        """Return the rows of a frame as numbers: float32 if all its numbers are, else float64."""
        _checks.frame_of(X, is_frame(X), self.names_in)
        numeric = [i for i, levels in enumerate(self.levels) if levels is None]
        numbers = _numbers(_part(X, numeric)) if numeric else np.empty((len(X), 0))
        starts = self._starts
        Z = np.zeros((len(X), starts[-1]), numbers.dtype)
        Z[:, starts[numeric]] = numbers
        for i, fill in enumerate(self.fills):
            if fill is not None:
                value, gap = Z[:, starts[i]], Z[:, starts[i] + 1]
                gap[:] = np.isnan(value)
                value[gap == 1] = fill
        for i, levels in enumerate(self.levels):
            if levels is not None:
                codes = _codes(_entries(_part(X, i), self.names_in[i]), levels)
                known = np.flatnonzero(codes >= 0)
                Z[known, starts[i] + codes[known]] = 1
        return Z

    def summed(self, values: NDArray) -> NDArray:
        """Return one number a column of the frame from one a column of numbers."""
        return np.add.reduceat(values, self._starts[:-1])

    @property
    def _starts(self) -> NDArray:
        """Where the numbers of each column of the frame begin, and where the last ends."""
        fills = self.fills or (None,) * len(self.levels)
        widths = [
            1 + (fill is not None) if known is None else len(known)
            for known, fill in zip(self.levels, fills, strict=True)
        ]
        return np.cumsum([0, *widths])

    @property
    def names(self) -> list[str]:
        """Names of the columns of numbers, such as ``colour_red``."""
        names: list[str] = []
        fills = self.fills or (None,) * len(self.levels)
        for name, levels, fill in zip(self.names_in, self.levels, fills, strict=True):
            gaps = [] if fill is None else ["_missing"]
            ends = (
                ["", *gaps] if levels is None else [f"_{'nan' if v is None else v}" for v in levels]
            )
            names += [f"{name}{end}" for end in ends]
        return names


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas, of polars, or the like."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def as_numbers(X: Any) -> Any:
    """Return a frame that holds names as numbers, and anything else as it is."""
    columns = FrameColumns.of(X)
    return X if columns is None else columns.encode(X)


def _part(X: Any, at: int | list[int]) -> Any:
    """Return columns by position: names may repeat."""
    return getattr(X, "iloc", X)[:, at]


def _numbers(X: Any) -> NDArray:
    """Return columns of numbers as an array; gaps are NaN, for the estimator to refuse."""
    options: dict[str, Any] = {"dtype": (np.float64, np.float32), "ensure_min_samples": 0}
    return check_array(X, ensure_all_finite=False, **options)


def _fill(column: Any) -> float | None:
    """Return the median of a column of numbers, or None if none of them is missing."""
    if _kind(column.dtype) not in "fiuO":
        return None
    values = _numbers(column.to_frame()).ravel()
    gaps = np.isnan(values)
    return float(np.median(values[~gaps])) if gaps.any() and not gaps.all() else None


def _kind(dtype: Any) -> str:
    """Return NumPy's letter for a dtype: "O" for names, "b" for booleans, "M" for dates."""
    if hasattr(dtype, "kind"):
        return dtype.kind
    name = str(dtype)  # polars has classes instead of letters
    if name.startswith(("String", "Utf8", "Categorical", "Enum")):
        return "O"
    if name.startswith(("Date", "Time", "Duration")):
        return "M"
    return "b" if name == "Boolean" else "f"


def _levels(column: Any, name: Any) -> Levels | None:
    """Return the levels of a column, or None if it holds numbers."""
    kind = _kind(column.dtype)
    if kind not in "bO" or (kind == "b" and not _missing(column).any()):
        return None
    seen = set(_entries(column, name))
    known = seen - {None}
    declared = _declared(column.dtype)
    if declared is None and _are_numbers(known, gaps=None in seen):
        return None
    levels = sorted(known, key=_order) if declared is None else declared
    _checks.few_levels(len(levels), MAX_LEVELS, name)
    return (*levels, None) if None in seen else tuple(levels)


def _declared(dtype: Any) -> list[Any] | None:
    """Return all levels that a dtype allows for, if it says so."""
    if _kind(dtype) == "b":
        return [False, True]
    categories: Any = getattr(dtype, "categories", None)
    return categories.to_list() if hasattr(categories, "to_list") else None


def _are_numbers(known: set[Any], *, gaps: bool) -> bool:
    """Whether objects are numbers, or booleans without gaps: those remain one column."""
    if gaps and all(isinstance(v, bool) for v in known):
        return False
    return bool(known) and all(isinstance(v, Number) for v in known)


def _order(level: Any) -> tuple[str, str]:
    # Names of several types cannot be compared, but their order must not depend on the rows'.
    # Equal numbers are one level, whatever their types: 1, 1.0 and True have the same hash.
    return (
        ("", str(hash(level))) if isinstance(level, Number) else (type(level).__name__, str(level))
    )


def _entries(column: Any, name: Any) -> list[Any]:
    """Return the entries of a column, None for the missing ones."""
    entries = column.to_list()
    for row in np.flatnonzero(_missing(column)):
        entries[row] = None
    _checks.hashable_entries(entries, name)
    return entries


def _missing(column: Any) -> NDArray:
    return np.asarray(column.isna() if hasattr(column, "isna") else column.is_null())


def _codes(entries: list[Any], levels: Levels) -> NDArray:
    """Return the position of each entry among the levels, -1 where there is none."""
    index = {level: k for k, level in enumerate(levels)}
    return np.array([index.get(entry, -1) for entry in entries], dtype=np.intp)
