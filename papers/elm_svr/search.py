"""Which C, ε and γ? The point of the paper's grid that inner rows of the training set prefer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from papers.elm_svr.machine import GAUSSIAN, Rows, fit, kernel_of

#: C, ε and, for the Gaussian kernel, γ, in half decades: the paper's grid is whole numbers.
Point = tuple[int, ...]
C_RANGE, EPSILON_RANGE, GAMMA_RANGE = (-4, 12), (-10, 2), (-6, 0)
_HOPELESS = 1.25  # C rises no further once the error is so many times the lowest on the way


def ranges(machine: str) -> tuple[tuple[int, int], ...]:
    """Return the ends of the grid of a machine.

    Examples
    --------
    >>> np.prod([high - low + 1 for low, high in ranges("1e1")])
    np.int64(221)
    """
    return (C_RANGE, EPSILON_RANGE) + ((GAMMA_RANGE,) if machine == GAUSSIAN else ())


def value(half_decades: int) -> float:
    """Return the number at a place of the grid, to four digits.

    Examples
    --------
    >>> value(-3), value(2)
    (0.03162, 10.0)
    """
    return float(f"{10 ** (half_decades / 2):.4g}")


@dataclass
class Search:
    """Points of the grid that were tried on inner rows, with their mean squared error.

    ``epsilons`` are those of the first round, which takes C and γ by factors of ten; a second
    round, where it is wanted, goes by steps of √10.
    """

    machine: str
    inner: Sequence[Rows]
    epsilons: Sequence[int]
    steps: int
    is_patient: bool
    errors: dict[Point, float] = field(default_factory=dict)
    n_fits: int = 0
    n_capped: int = 0
    _capped: set[Point] = field(default_factory=set)
    _grams: dict[Point, list[tuple[NDArray, NDArray]]] = field(default_factory=dict)
    _last: dict[Point, int] = field(default_factory=dict)

    def best(self, *, is_fine: bool) -> Point:
        """Return the best point of the factors of ten, or go on from there by steps of √10."""
        gammas = [range(low, high + 1, 2) for low, high in ranges(self.machine)[2:]]
        for rest in product(self.epsilons, *gammas):
            self._raise_C(rest)
        best = min(self.errors, key=lambda p: self.errors[p])
        while is_fine:
            nearest = min(self._around(best), key=self.error)
            if self.error(nearest) >= self.errors[best]:
                break
            best = nearest
        return best

    def error(self, point: Point) -> float:
        """Return the mean error of a point over the inner rows, infinite where it is not tried.

        It is not where a smaller C gave the same machine, or, if the search is not patient, one
        that libsvm did not finish.
        """
        C, *rest = point
        if point in self.errors:
            return self.errors[point]
        if self._last.get(tuple(rest), C) < C:
            return np.inf
        grams = self._grams_of(tuple(rest[1:]))
        fits = [
            fit(rows, pair, value(C), value(rest[0]), self.steps)
            for rows, pair in zip(self.inner, grams, strict=True)
        ]
        self.n_fits += len(fits)
        n_capped = sum(f.is_capped for f in fits)
        self.n_capped += n_capped
        if n_capped:
            self._capped.add(point)
        if all(f.is_free for f in fits) or (n_capped and not self.is_patient):
            self._last[tuple(rest)] = C
        self.errors[point] = float(np.mean([f.error for f in fits]))
        return self.errors[point]

    def _raise_C(self, rest: Point) -> None:
        low, high = C_RANGE
        lowest = np.inf
        for C in range(low, high + 1, 2):
            error = self.error((C, *rest))
            if error > (1 if (C, *rest) in self._capped else _HOPELESS) * lowest:
                break
            lowest = min(lowest, error)

    def _around(self, point: Point) -> Iterator[Point]:
        """Yield the points one step away along each parameter."""
        for k, (low, high) in enumerate(ranges(self.machine)):
            for place in (point[k] - 1, point[k] + 1):
                if low <= place <= high:
                    yield (*point[:k], place, *point[k + 1 :])

    def _grams_of(self, gamma: Point) -> list[tuple[NDArray, NDArray]]:
        if gamma not in self._grams:
            kernel = kernel_of(self.machine, *map(value, gamma))
            self._grams[gamma] = [rows.grams(kernel) for rows in self.inner]
        return self._grams[gamma]
