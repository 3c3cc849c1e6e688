"""A table and a question become numbers: which task it is, and what was done to the rows.

Names become columns of zeros and ones once; gaps stay until a split knows its training rows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array, column_or_1d

from kernelm import _checks
from kernelm.data.frames import FrameColumns, is_frame

Task = Literal["classification", "regression"]

#: Whole numbers are classes if there are so few of them, in numbers and as a share of the rows.
FEW_VALUES, FEW_SHARE = 20, 0.05

_TIMES = ("date", "time", "duration")


@final
@dataclass(frozen=True)
class DataSummary:
    """What a reader wants to know about the table first."""

    n_rows: int  #: rows with a target
    n_used: int  #: rows that took part
    n_columns: int
    n_inputs: int  #: columns of numbers, levels of names counted one by one
    kinds: dict[str, int]  #: columns by what they hold
    n_missing: int  #: empty cells of columns with numbers
    target: dict[str, Any]  #: rows of each class, or range, mean and spread


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """Rows as numbers (gaps are NaN), targets, and the task."""

    X: Any
    y: NDArray
    task: Task
    task_reason: str
    columns: tuple[str, ...]  #: of the table
    owner: NDArray  #: position in ``columns`` of each column of numbers
    kinds: dict[str, int]
    n_rows: int
    notes: tuple[str, ...]

    @classmethod
    def of(cls, X: Any, y: Any, task: str = "auto") -> Self:
        """Read a table and its targets; notes say what was left out.

        Examples
        --------
        >>> problem = Problem.of([[1.0], [None], [3.0], [4.0]], ["a", "b", "a", "b"])
        >>> problem.task, problem.task_reason
        ('classification', 'the target holds text')
        """
        _checks.one_of(task, "task", ["auto", "classification", "regression"])
        y, is_named = _targets(y)
        X, columns, owner, kinds, notes = _numbers(X)
        if X.shape[0] != len(y):
            raise ValueError(
                f"y must have one entry for each row of X: X has {X.shape[0]} rows, y has {len(y)}"
            )
        chosen, reason = _task(y, is_named, task)
        self = cls(X, y, chosen, reason, columns, owner, kinds, len(y), notes)
        return self._with_targets()._with_pairs()

    @property
    def is_classification(self) -> bool:
        """Whether classes are asked for."""
        return self.task == "classification"

    @property
    def summary(self) -> DataSummary:
        """Rows, columns, gaps and targets in a few numbers."""
        data = self.X.data if sparse.issparse(self.X) else self.X
        return DataSummary(
            n_rows=self.n_rows,
            n_used=len(self.y),
            n_columns=len(self.columns),
            n_inputs=self.X.shape[1],
            kinds=self.kinds,
            n_missing=int(np.isnan(data).sum()),
            target=_described(self.y, self.is_classification),
        )

    def take(self, rows: NDArray, note: str) -> Self:
        """Return a problem with some of the rows, and a note that says why."""
        return replace(self, X=self.X[rows], y=self.y[rows], notes=(*self.notes, note))

    def _with_targets(self) -> Self:
        known = _known(self.y)
        if not known.any():
            raise ValueError("y must hold at least one value, got only missing ones")
        if self.is_classification:
            self = replace(self, y=_labels(self.y))
        else:
            self = replace(self, y=_values(self.y))
        lost = int((~known).sum())
        if not lost:
            return self
        rows = self.take(np.flatnonzero(known), f"{_rows(lost)} without a target left out")
        return replace(rows, n_rows=self.n_rows - lost)

    def _with_pairs(self) -> Self:
        """Leave out classes with one row: it cannot be learned and tested."""
        if not self.is_classification:
            return self
        labels, index, counts = np.unique(self.y, return_inverse=True, return_counts=True)
        single = labels[counts < 2]
        if len(single):
            named = ", ".join(repr(str(label)) for label in single[:5])
            more = f" and {len(single) - 5} more" if len(single) > 5 else ""
            note = f"classes with a single row left out: {named}{more}"
            self = self.take(np.flatnonzero(counts[index] > 1), note)
        if len(np.unique(self.y)) < 2:
            raise ValueError(
                f"y must hold at least two classes with two rows each, got {len(labels)} class(es) "
                f"in {len(index)} rows; choose another target, or task='regression'"
            )
        return self


def _numbers(X: Any) -> tuple[Any, tuple[str, ...], NDArray, dict[str, int], tuple[str, ...]]:
    """Return X as numbers, names of its columns, their owners and kinds, and notes."""
    if is_frame(X):
        return _frame_numbers(X)
    if sparse.issparse(X):
        X = sparse.csr_matrix(X, dtype=np.float64)
        gaps = int((~np.isfinite(X.data)).sum())
        X.data[~np.isfinite(X.data)] = 0.0
        notes = (f"{gaps} missing entries of the sparse rows are taken as 0",) if gaps else ()
    else:
        X, notes = _finite(_array(X))
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    return X, names, np.arange(len(names)), {"numbers": len(names)}, notes


def _array(X: Any) -> NDArray:
    try:
        return check_array(X, dtype="float64", ensure_all_finite=False, input_name="X")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"X must be a table of numbers or a data frame ({error}); "
            "columns with names need a data frame: pandas.DataFrame(X)"
        ) from error


def _frame_numbers(
    X: Any,
) -> tuple[NDArray, tuple[str, ...], NDArray, dict[str, int], tuple[str, ...]]:
    parts: list[NDArray] = []
    names: list[str] = []
    kinds: Counter[str] = Counter()
    notes: list[str] = []
    for j, name in enumerate(X.columns):
        try:
            kind, Z = _column(_part(X, j))
        except ValueError as error:
            notes.append(f"column {str(name)!r} left out: {error}")
            continue
        parts.append(Z)
        names.append(str(name))
        kinds[kind] += 1
    if not parts:
        raise ValueError(f"X must have a column to learn from; {'; '.join(notes) or 'it has none'}")
    owner = np.repeat(np.arange(len(parts)), [Z.shape[1] for Z in parts])
    Z, infinite = _finite(np.concatenate(parts, axis=1))
    return Z, tuple(names), owner, dict(kinds), (*notes, *infinite)


def _column(part: Any) -> tuple[str, NDArray]:
    """Return what a frame of one column holds, and its numbers; raises where it has none."""
    dtype = str(part.dtypes.iloc[0] if hasattr(part.dtypes, "iloc") else part.dtypes[0])
    if dtype.lower().startswith(_TIMES):
        raise ValueError("dates and times are not used; make numbers of them, such as the weekday")
    columns = FrameColumns.of(part)
    if columns is not None and columns.levels[0] is not None:
        return "names", columns.encode(part)
    Z = check_array(part, dtype="float64", ensure_all_finite=False)
    if np.isnan(Z).all():
        raise ValueError("every entry is missing")
    return ("yes or no" if dtype.lower().startswith("bool") else "numbers"), Z


def _part(X: Any, j: int) -> Any:
    """Return a frame of one column, by position: names may repeat."""
    return getattr(X, "iloc", X)[:, [j]]


def _finite(X: NDArray) -> tuple[NDArray, tuple[str, ...]]:
    infinite = np.isinf(X)
    if not infinite.any():
        return X, ()
    return np.where(infinite, np.nan, X), (f"{infinite.sum()} infinite entries taken as missing",)


def _targets(y: Any) -> tuple[NDArray, str]:
    """Return targets as an array, and what makes them names ("" for numbers)."""
    categorical = str(getattr(y, "dtype", "")).lower().startswith(("categ", "enum"))
    y = column_or_1d(np.asarray(y), warn=False)
    if categorical:
        return y.astype(object), "categories"
    if y.dtype.kind == "b":
        return y, "yes or no"
    if y.dtype.kind in "iuf":
        return y, ""
    y = y.astype(object)
    known = y[_known(y)]
    if all(isinstance(v, bool | np.bool_) for v in known):
        return y, "yes or no"
    return y, "" if all(_is_real(v) for v in known) else "text"


def _is_real(value: Any) -> bool:
    return isinstance(value, int | float | np.number)


def _known(y: NDArray) -> NDArray:
    """Return where targets are there: not None, NaN or infinite."""
    if y.dtype.kind != "O":
        return np.isfinite(y) if y.dtype.kind == "f" else np.ones(len(y), dtype=bool)
    return np.array([v is not None and str(v) not in ("nan", "<NA>", "NaT") for v in y], dtype=bool)


def _task(y: NDArray, named: str, task: str) -> tuple[Task, str]:
    if task == "regression" and named not in ("", "yes or no"):
        raise ValueError(
            f"y must hold numbers for task='regression', it holds {named}, such as "
            f"{str(y[_known(y)][0])!r}; use task='classification', or another target"
        )
    if task != "auto":
        return ("classification" if task == "classification" else "regression"), "it was asked for"
    if named:
        return "classification", f"the target holds {named}"
    values = y[_known(y)].astype(np.float64)
    distinct = np.unique(values)
    whole = np.array_equal(distinct, np.rint(distinct))
    if whole and len(distinct) <= FEW_VALUES and len(distinct) < FEW_SHARE * len(values):
        return "classification", f"the target holds {len(distinct)} different whole numbers"
    kind = "whole numbers" if whole else "numbers"
    return "regression", f"the target holds {len(distinct):,} different {kind}"


def _labels(y: NDArray) -> NDArray:
    """Return classes as whole numbers or text, which every machine takes."""
    if y.dtype.kind in "iu":
        return y
    known = y[_known(y)]
    if all(_is_real(v) and float(v).is_integer() for v in known):
        return np.array([int(v) if k else 0 for v, k in zip(y, _known(y), strict=True)])
    return np.array([str(v) for v in y])


def _values(y: NDArray) -> NDArray:
    return np.array([float(v) if k else np.nan for v, k in zip(y, _known(y), strict=True)])


def _described(y: NDArray, classes: bool) -> dict[str, Any]:
    if classes:
        labels, counts = np.unique(y, return_counts=True)
        return {str(label): int(n) for label, n in zip(labels, counts, strict=True)}
    return {
        "smallest": float(y.min()),
        "mean": float(y.mean()),
        "largest": float(y.max()),
        "standard deviation": float(y.std()),
    }


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n:,} rows"
