"""Which points are furthest from a centre? Blocks of rows, threads, and samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelm._config import working_bytes
from kernelm.data import ArraySource, Rows, Source, block_rows, here, stream, width
from kernelm.data.sample import priorities_of
from kernelm.kernels import Kernel

if TYPE_CHECKING:
    from kernelm.margin.ball import Ball

#: A sample of 59 holds one of the furthest 5 % with probability 0.95 (Tsang et al., 2005).
SAMPLE = 59
CHUNK_ROWS = 512  # whose kernel columns are made at a time where they are not kept
NARROW = 100  # features up to which columns are made again sooner than copied
_FURTHEST = 4  # one of so many points that are taken in is one of the furthest
_PART = 0.5  # share of the tolerance beyond which points are taken in


def share_of(rows: Rows) -> NDArray:
    """Return the part of each row's weight that one observation is: 3 is three of them."""
    return np.ones(rows.n) if rows.weight is None else 1 / np.maximum(rows.weight, 1.0)


class Points(NamedTuple):
    """The points that a block of rows stands for: up to L for each of n rows."""

    X: Any  #: scaled rows
    codes: NDArray  #: (n, L, m)
    g: NDArray  #: (n, L)
    ridge: NDArray  #: (n,) squared private coordinate
    share: NDArray  #: (n,) part of a row's weight that one observation is
    position: NDArray  #: (n,) of the rows in the source


class Core(NamedTuple):
    """Points of a core set, one a row."""

    X: Any
    codes: NDArray  #: (n, m)
    g: NDArray  #: (n,)
    ridge: NDArray  #: (n,)
    share: NDArray  #: (n,)
    key: NDArray  #: (n,) position of the row · L + which of its points
    position: NDArray  #: (n,)

    def take(self, at: NDArray) -> Self:
        """Return some of the points."""
        return type(self)(*(part[at] for part in self))

    def joined(self, other: Self) -> Self:
        """Return the points of both."""
        X = (
            sparse.vstack([self.X, other.X], format="csr")
            if sparse.issparse(self.X)
            else np.concatenate([self.X, other.X])
        )
        rest = (np.concatenate(pair) for pair in zip(self[1:], other[1:], strict=True))
        return type(self)(X, *rest)


class _Found(NamedTuple):
    core: Core
    value: NDArray  #: g/2 − (K̃α): half of the squared distance but for a constant


class _Look(NamedTuple):
    """What a search wants: sent to wherever the rows are."""

    kernel: Kernel
    bias: float
    ball: Ball
    n: int
    slack: float

    def scores(self, points: Points) -> NDArray:
        """Return F of the rows, a few at a time: their columns stay in the cache."""
        Z, W = self.ball.core.X, self.ball.weights.astype(points.X.dtype)
        F = np.empty((points.X.shape[0], W.shape[1]), W.dtype)
        # A product of sparse rows first walks over all columns, used or not: once is enough.
        step = len(F) if sparse.issparse(points.X) else CHUNK_ROWS
        for start in range(0, len(F), step):
            rows = slice(start, start + step)
            F[rows] = self.gram(points.X[rows], Z) @ W
        return F + self.bias * self.ball.weights.sum(axis=0)

    def gram(self, X: Any, Z: Any) -> NDArray:
        """Return kernel columns in the precision of the rows."""
        return self.kernel.gram(X, Z.astype(X.dtype, copy=False))

    def best(self, points: Points, F: NDArray) -> _Found:
        """Return n points outside that are not in the core set, or the furthest of all."""
        value = 0.5 * points.g - np.einsum("nlm,nm->nl", points.codes, F)
        which = value.argmax(axis=1)
        value = value[np.arange(len(value)), which]
        key = points.position * points.g.shape[1] + which
        value[np.isin(key, self.ball.core.key)] = -np.inf
        at = np.flatnonzero(value > _border(self.ball, self.slack))
        if not len(at):
            at = value.argmax(keepdims=True)
        at = at[_some(value[at], key[at], self.n)]
        return _Found(chosen(points, at, which[at]), value[at].astype(np.float64))


@final
@dataclass(frozen=True, eq=False)
class _Looking:
    """A search through a block of rows: what it found, and how many kernel values it took."""

    look: _Look
    points: Callable[[Rows], Points | None]

    def __call__(self, rows: Rows) -> tuple[_Found | None, int]:
        points = self.points(rows)
        if points is None:
            return None, 0
        found = self.look.best(points, self.look.scores(points))
        return found, points.X.shape[0] * len(self.look.ball.alpha)


@final
@dataclass(eq=False)
class Search:
    """Finds the points of a source that are furthest from the centre of a ball.

    Scaled rows and kernel columns of the core set are kept in memory while they fit the budget,
    where rows are so wide that it pays: a round then costs the columns of the new core points only.
    """

    source: Source
    points: Callable[[Rows], Points | None]  #: None where no row of a block takes part
    kernel: Kernel
    bias: float
    n_jobs: int | None = None
    budget: float | None = None  #: bytes for what is kept
    points_per_row: int = 1
    evaluations: int = 0
    is_complete: bool = True  #: whether the last search looked at every row
    _blocks: dict[int, Points | None] = field(default_factory=dict)
    _columns: dict[int, NDArray] = field(default_factory=dict)
    _keeps: bool = True
    _rows: int = 0

    @property
    def n_points(self) -> float:
        """At most so many points there are; infinite where only a pass can tell."""
        n = self.source.n_rows
        return np.inf if n is None else n * self.points_per_row

    def every_point(self) -> Core:
        """Return all points."""
        parts = []
        for points in self.all_points(4096):
            n, L = points.g.shape
            parts.append(chosen(points, np.repeat(np.arange(n), L), np.tile(np.arange(L), n)))
        whole = parts[0]
        for part in parts[1:]:
            whole = whole.joined(part)
        return whole

    def first(self, rng: np.random.Generator, n: int) -> Core:
        """Return some points to begin with."""
        points = None
        if self._jumps:
            drawn, rows = self._drawn(rng, 4 * n)
            points = self._placed(rows, drawn)
        if points is None:
            parts = stream(self.source, self.points, rows=4096, n_jobs=1)
            points = next(p for p in parts if p is not None)
        at = rng.permutation(len(points.ridge))[:n]
        return chosen(points, at, np.zeros(len(at), np.intp))

    def furthest(
        self, ball: Ball, n: int, rng: np.random.Generator, slack: float, look: int
    ) -> tuple[Core, float]:
        """Return points outside the ball, the furthest first, and the largest squared distance.

        ``look`` rows drawn at random are searched, all of them if there are few more; then, and
        only then, the distance is that of the furthest point of all.
        """
        look = max(look, SAMPLE)
        if not self._jumps or 2 * look >= (self.source.n_rows or 0):
            return self.everything(ball, n, slack)
        self.is_complete = False
        at, rows = self._drawn(rng, look)
        sample = ArraySource(rows.X, rows.y, rows.weight)
        size = block_rows(self._bytes(len(ball.alpha)), look, self.n_jobs)

        wanted = _Look(self.kernel, self.bias, ball, n, slack)
        work = _Looking(wanted, lambda rows: self._placed(rows, at))
        return self._furthest(stream(sample, work, rows=size, n_jobs=self.n_jobs), wanted)

    def everything(self, ball: Ball, n: int = 1, slack: float = 0.0) -> tuple[Core, float]:
        """Search all rows."""
        self.is_complete = True
        self._plan(len(ball.alpha))
        look = _Look(self.kernel, self.bias, ball, n, slack)
        if not self._keeps:
            work: Any = _Looking(look, self.points)
            source = self.source
        else:
            work, source = partial(self._look_at_kept, look), here(self.source)
        return self._furthest(stream(source, work, rows=self._rows, n_jobs=self.n_jobs), look)

    def _look_at_kept(self, look: _Look, rows: Rows) -> tuple[_Found | None, int]:
        points = self._points_of(rows)
        if points is None:
            return None, 0
        F, evaluations = self._kept_scores(points, look, rows.start)
        return look.best(points, F), evaluations

    def _furthest(
        self, blocks: Iterator[tuple[_Found | None, int]], look: _Look
    ) -> tuple[Core, float]:
        """Return the points of all blocks that are outside, and the largest squared distance."""
        best, ball = None, look.ball
        for found, evaluations in blocks:
            self.evaluations += evaluations
            if found is not None:
                best = found if best is None else _furthest_of(best, found, look.n)
        if best is None:
            return ball.core.take(np.empty(0, np.intp)), ball.rho + ball.top
        outside = np.flatnonzero(best.value > _border(ball, look.slack))
        return best.core.take(outside), _squared(ball, best.value)

    def all_points(self, rows: int) -> Iterator[Points]:
        """Yield the points of all rows, block by block."""
        for points in stream(self.source, self.points, rows=rows, n_jobs=1):
            if points is not None:
                yield points

    def keep(self, at: NDArray) -> None:
        """Drop the columns of core points that are no more."""
        for start, K in self._columns.items():
            self._columns[start] = np.ascontiguousarray(K[:, at])

    # -- what is kept -------------------------------------------------------------------

    @property
    def _jumps(self) -> bool:
        return hasattr(self.source, "take") and self.source.n_rows is not None

    def _plan(self, n_core: int) -> None:
        """Decide whether rows and columns still fit, and how large blocks are."""
        N, per_row = self.source.n_rows, self._bytes(n_core)
        budget = working_bytes() if self.budget is None else self.budget
        # Rows of few features are as soon made again; rows elsewhere stay there.
        again = self.source.n_features <= NARROW or hasattr(self.source, "stream")
        if self._keeps and (again or N is None or N * per_row > budget):
            self._keeps = False
            self._blocks, self._columns = {}, {}
        if not self._rows or not self._keeps:
            self._rows = block_rows(per_row, N, self.n_jobs)

    def _bytes(self, n_core: int) -> float:
        """Return the bytes that a row and its columns take, with scratch."""
        D = width(self.source)
        copies = 2 if self.source.n_features == D else 3  # columns are sparse before they are dense
        return self.source.dtype.itemsize * (copies * n_core + D + 4) + 16 * D

    def _points_of(self, rows: Rows) -> Points | None:
        if rows.start in self._blocks:
            return self._blocks[rows.start]
        points = self.points(rows)
        if self._keeps:
            self._blocks[rows.start] = points
        return points

    def _drawn(self, rng: np.random.Generator, n: int) -> tuple[NDArray, Rows]:
        N = self.source.n_rows or 0
        at = np.sort(rng.choice(N, min(n, N), replace=False))
        return at, self.source.take(at)  # pyright: ignore[reportAttributeAccessIssue]

    def _placed(self, rows: Rows, at: NDArray) -> Points | None:
        """Return the points of drawn rows, with their positions in the source."""
        points = self.points(rows)
        return None if points is None else points._replace(position=at[points.position])

    def _kept_scores(self, points: Points, look: _Look, start: int) -> tuple[NDArray, int]:
        """Return F of the rows from columns that are kept, and how many values are new."""
        Z, W = look.ball.core.X, look.ball.weights
        K = self._columns.get(start)
        if K is None:
            K = np.empty((points.X.shape[0], 0), points.X.dtype)
        new = Z.shape[0] - K.shape[1]
        if new:
            K = np.hstack([K, look.gram(points.X, Z[K.shape[1] :])])
            self._columns[start] = K
        return K @ W.astype(K.dtype) + self.bias * W.sum(axis=0), len(K) * new


def chosen(points: Points, at: NDArray, which: NDArray) -> Core:
    """Return some points of a block: those ``which`` of the rows ``at``."""
    L = points.g.shape[1]
    position = points.position[at]
    return Core(
        points.X[at],
        points.codes[at, which].astype(np.float64),
        points.g[at, which].astype(np.float64),
        points.ridge[at].astype(np.float64),
        points.share[at],
        position * L + which,
        position,
    )


def _furthest_of(one: _Found, other: _Found, n: int) -> _Found:
    value, core = np.concatenate([one.value, other.value]), one.core.joined(other.core)
    at = _some(value, core.key, n)
    return _Found(core.take(at), value[at])


def _some(value: NDArray, key: NDArray, n: int) -> NDArray:
    """Return n places, the furthest first: a part of them the furthest, the others by chance.

    The furthest of overlapping classes are those on the wrong side. A core set of these alone
    would say little about the others where a limit ends its growth. Chance is a hash of the row,
    so that blocks and threads do not matter.
    """
    order = np.argsort(-value, kind="stable")
    if len(order) <= n:
        return order
    far, rest = np.split(order, [-(-n // _FURTHEST)])
    drawn = rest[np.argsort(priorities_of(key[rest], 0), kind="stable")[: n - len(far)]]
    at = np.concatenate([far, drawn])
    return at[np.argsort(-value[at], kind="stable")]


def _border(ball: Ball, slack: float) -> float:
    """Return the value beyond which points are taken in."""
    return 0.5 * (ball.level + _PART * slack)


def _squared(ball: Ball, value: NDArray) -> float:
    """Return the largest squared distance; core points are on the ball."""
    return float(max(ball.rho + 2 * value.max(initial=-np.inf), ball.rho + ball.top))
