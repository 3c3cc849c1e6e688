"""Training and test rows, the same for all machines, gaps filled alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit, train_test_split

from kernelm.app.problem import Problem

#: Rows, and entries of the table, that a second of the budget pays for.
ROWS_PER_SECOND, ENTRIES_PER_SECOND = 500, 100_000
FEWEST_ROWS = 2000


@final
@dataclass(frozen=True, eq=False)
class Split:
    """Rows to learn from and rows to be tested on."""

    X: Any
    y: NDArray
    X_test: Any
    y_test: NDArray
    owner: NDArray  #: which column of the table each column of numbers comes from


@final
class Splits(Sequence[Split]):
    """Repeated random splits, made when they are asked for; of classes, each has its share."""

    def __init__(self, problem: Problem, n_splits: int, test_size: float, seed: int) -> None:
        self._problem = problem
        self._rows = _row_splits(problem, n_splits, test_size, seed)
        self._made: dict[int, Split] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Split: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Split]: ...
    def __getitem__(self, index: Any) -> Any:
        if index not in self._made:
            self._made[index] = self._make(*self._rows[index])
        return self._made[index]

    def __iter__(self) -> Iterator[Split]:
        return (self[i] for i in range(len(self)))

    def _make(self, train: NDArray, test: NDArray) -> Split:
        p = self._problem
        X, X_test, owner = filled(p.X[train], p.X[test], p.owner)
        return Split(X, p.y[train], X_test, p.y[test], owner)


def affordable(problem: Problem, budget: float, seed: int) -> Problem:
    """Return the problem, on a sample of its rows if they are more than the budget pays for."""
    n, n_columns = problem.X.shape
    most = int(budget * min(ROWS_PER_SECOND, ENTRIES_PER_SECOND / max(n_columns, 1)))
    most = max(most, FEWEST_ROWS)
    if n <= most:
        return problem
    rows, _ = train_test_split(
        np.arange(n), train_size=most, random_state=seed, stratify=_strata(problem, n - most, most)
    )
    note = f"{most:,} of {n:,} rows, drawn at random, for a budget of {budget:g} s"
    return problem.take(np.sort(rows), note)


def filled(X: Any, X_test: Any, owner: NDArray) -> tuple[Any, Any, NDArray]:
    """Fill gaps with medians of the training rows; one more column a gap says where they were.

    Examples
    --------
    >>> X, X_test = np.array([[1.0], [3.0], [np.nan]]), np.array([[np.nan]])
    >>> X, X_test, owner = filled(X, X_test, np.array([0]))
    >>> X.tolist(), X_test.tolist(), owner.tolist()
    ([[1.0, 0.0], [3.0, 0.0], [2.0, 1.0]], [[2.0, 1.0]], [0, 0])
    """
    if sparse.issparse(X):
        return X, X_test, owner
    known = ~np.isnan(X)
    gaps = np.flatnonzero(~known.all(axis=0) & known.any(axis=0))
    medians = np.zeros(X.shape[1])
    some = known.any(axis=0)
    medians[some] = np.nanmedian(X[:, some], axis=0)

    def fill(Z: NDArray) -> NDArray:
        missing = np.isnan(Z)
        return np.hstack([np.where(missing, medians, Z), missing[:, gaps].astype(np.float64)])

    return fill(X), fill(X_test), np.concatenate([owner, owner[gaps]])


def _row_splits(
    problem: Problem, n_splits: int, test_size: float, seed: int
) -> list[tuple[NDArray, NDArray]]:
    n = len(problem.y)
    n_test = int(np.ceil(test_size * n))
    strata = _strata(problem, n_test, n - n_test)
    splitter = ShuffleSplit if strata is None else StratifiedShuffleSplit
    options: dict[str, Any] = {"test_size": test_size, "random_state": seed}
    return list(splitter(n_splits, **options).split(np.zeros(n), strata))


def _strata(problem: Problem, *parts: int) -> NDArray | None:
    """Return classes to be shared out, if each part has room for all of them."""
    if not problem.is_classification or min(parts) < len(np.unique(problem.y)):
        return None
    return problem.y
