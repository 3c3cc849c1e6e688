"""A seeded sample of rows that does not depend on how they arrive.

Every row position has a pseudo-random priority, and the rows of lowest priority are kept. So
one pass of unknown length, any blocks, and a random-access array all give the same sample, and
two samples merge into the sample of both.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelm import _checks
from kernelm.data.reduce import reduce
from kernelm.data.source import Rows, Source

_CHUNK = 65_536


def priorities(start: int, stop: int, seed: int) -> NDArray:
    """Return the priorities of consecutive positions."""
    return _hash(np.arange(start, stop), seed)


def priorities_of(positions: NDArray, seed: int) -> NDArray:
    """Return the priorities of chosen positions: who they are in a sample."""
    return _hash(positions, seed)


def _hash(positions: NDArray, seed: int) -> NDArray:
    """Return a uniform 64-bit hash of each position (splitmix64 finaliser)."""
    z = positions.astype(np.uint64)
    z += np.uint64((seed * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@final
@dataclass(eq=False)
class Sample:
    """At most ``capacity`` rows, chosen by priority, in the order of their positions.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelm.data import ArraySource
    >>> source = ArraySource(np.arange(1000.0)[:, None])
    >>> sample = Sample.of(source, capacity=3, seed=0)
    >>> sample.seen, sample.X.shape, sample.is_complete
    (1000, (3, 1), False)
    """

    capacity: int
    seed: int
    seen: int = 0  #: rows offered so far
    X: Any = None
    y: NDArray | None = None
    weight: NDArray | None = None
    priority: NDArray = field(default_factory=lambda: np.empty(0, np.uint64))

    @classmethod
    def of(cls, source: Source, capacity: int, seed: int, **reduce_options: Any) -> Self:
        """Sample a source: by jumping where it can, else in one pass."""
        take = getattr(source, "take", None)
        if take is not None and source.n_rows is not None:
            kept = _positions(source.n_rows, capacity, seed)
            rows = take(kept)
            return cls(
                capacity, seed, source.n_rows, rows.X, rows.y, rows.weight, _hash(kept, seed)
            )

        def offer(rows: Rows) -> Self:
            part = cls(capacity, seed)
            part.add(rows)
            return part

        sample = reduce(source, offer, cls._merged, **reduce_options)
        return sample if sample is not None else cls(capacity, seed)

    @property
    def is_complete(self) -> bool:
        """Whether every row that was offered is here."""
        return len(self.priority) == self.seen

    def head(self, capacity: int) -> Self:
        """Return the smaller sample that the same rows would have given."""
        kept = _lowest(self.priority, capacity)
        smaller = replace(self, capacity=capacity)
        smaller._keep(kept)
        return smaller

    def beyond(self, capacity: int) -> Self:
        """Return the rows that :meth:`head` leaves out."""
        rest = replace(self, capacity=self.capacity - capacity)
        rest._keep(np.setdiff1d(np.arange(len(self.priority)), _lowest(self.priority, capacity)))
        return rest

    def add(self, rows: Rows) -> None:
        """Offer a block of rows."""
        priority = priorities(rows.start, rows.start + rows.n, self.seed)
        kept = _lowest(priority, self.capacity)
        self._take(
            type(self)(
                self.capacity,
                self.seed,
                rows.n,
                rows.X[kept],
                None if rows.y is None else rows.y[kept],
                None if rows.weight is None else rows.weight[kept],
                priority[kept],
            )
        )

    def merge(self, other: Self) -> None:
        """Take in another sample."""
        self._take(other)

    def drop(self, X: Any, y: NDArray) -> None:
        """Forget rows: each given row takes one equal row away, if it is here."""
        counts = Counter(_row_keys(X, y))
        self.seen -= counts.total()
        kept = []
        for i, key in enumerate(_row_keys(self.X, self.y)):
            if counts[key] > 0:
                counts[key] -= 1
            else:
                kept.append(i)
        self._keep(np.array(kept, dtype=np.intp))

    def _merged(self, other: Self) -> Self:
        self._take(other)
        return self

    def _take(self, other: Self) -> None:
        self.seen += other.seen
        if other.X is None:
            return
        if self.X is None:
            self.X, self.y, self.weight = other.X, other.y, other.weight
            self.priority = other.priority
        else:
            self.weight = _joined_weights(self, other)
            if self.y is not None:
                self.y = np.concatenate([self.y, _checks.has_targets(other.y)])
            self.X = (
                sparse.vstack([self.X, other.X], format="csr")
                if sparse.issparse(self.X)
                else np.concatenate([self.X, other.X])
            )
            self.priority = np.concatenate([self.priority, other.priority])
        if len(self.priority) > self.capacity:
            self._keep(_lowest(self.priority, self.capacity))

    def _keep(self, kept: NDArray) -> None:
        self.X = self.X[kept]
        self.y = None if self.y is None else self.y[kept]
        self.weight = None if self.weight is None else self.weight[kept]
        self.priority = self.priority[kept]


def _positions(n_rows: int, capacity: int, seed: int) -> NDArray:
    """Return the positions of lowest priority, looking at a bounded number at a time."""
    kept = np.empty(0, np.int64)
    for start in range(0, n_rows, _CHUNK):
        kept = np.concatenate([kept, np.arange(start, min(start + _CHUNK, n_rows))])
        kept = kept[_lowest(_hash(kept, seed), capacity)]
    return kept


def _lowest(priority: NDArray, capacity: int) -> NDArray:
    if len(priority) <= capacity:
        return np.arange(len(priority))
    return np.sort(np.argpartition(priority, capacity)[:capacity])


def _joined_weights(a: Sample, b: Sample) -> NDArray | None:
    if a.weight is None and b.weight is None:
        return None
    return np.concatenate(
        [np.ones(len(s.priority)) if s.weight is None else s.weight for s in (a, b)]
    )


def _row_keys(X: Any, y: NDArray | None) -> list[bytes]:
    """Return the content of each row as bytes."""
    X = X.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X)
    labels = [b""] * X.shape[0] if y is None else [np.asarray(v).tobytes() for v in y]
    if not sparse.issparse(X):
        return [row.tobytes() + label for row, label in zip(X, labels, strict=True)]
    return [
        X.indices[a:b].tobytes() + X.data[a:b].tobytes() + label
        for a, b, label in zip(X.indptr[:-1], X.indptr[1:], labels, strict=True)
    ]
