"""Rows of files: chunks of known length, read when they are needed, one or two at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple, final

import numpy as np

from kernelm.data.frames import FrameColumns
from kernelm.data.source import Read, Rows


class Chunk(NamedTuple):
    """Consecutive rows that are read together: a row group, or some megabytes of text."""

    n_rows: int
    read: Callable[[], Rows]  #: with start = 0, and exactly ``n_rows`` rows


@final
@dataclass(frozen=True, eq=False)
class FileSource:
    """Rows of files as :func:`kernelm.data.scan` opens them.

    Examples
    --------
    >>> import numpy as np
    >>> halves = [Chunk(5, lambda k=k: Rows(np.full((5, 2), k), None, None, 0)) for k in (0, 1)]
    >>> source = FileSource(halves, 2, np.dtype(np.float64))
    >>> [(rows.start, rows.n) for rows in (read() for read in source.blocks(3))]
    [(0, 2), (2, 3), (5, 2), (7, 3)]
    """

    chunks: Sequence[Chunk]
    n_features: int
    dtype: np.dtype
    names: tuple[str, ...] | None = None  #: of the columns of the files, if they have names
    columns: FrameColumns | None = None  #: how names in columns become numbers, if there are any
    n_skipped: int = 0  #: rows that ``on_error="skip"`` left out
    row_entries: float | None = None  #: entries of a row in the mean, where rows are sparse
    identity: str = ""  #: of the files and the choice of columns: changes where the rows change
    #: Opens the same rows with other columns, encoded in a given way.
    reopen: Callable[[tuple[str, ...], FrameColumns | None], FileSource] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(chunk.n_rows for chunk in self.chunks)

    def blocks(self, rows: int) -> Iterator[Read]:
        """Yield readers of at most ``rows`` rows; those of a chunk share one reading of it."""
        start = 0
        for chunk in self.chunks:
            n_blocks = -(-chunk.n_rows // rows)
            shared = _Shared(chunk.read, n_blocks)
            for k in range(n_blocks):
                at = slice(k * chunk.n_rows // n_blocks, (k + 1) * chunk.n_rows // n_blocks)
                yield lambda shared=shared, at=at, start=start: shared.part(at, start)
            start += chunk.n_rows


@final
class _Shared:
    """A chunk that is read by whoever needs it first, and let go by the last."""

    def __init__(self, read: Callable[[], Rows], users: int) -> None:
        self._read, self._users, self._lock = read, users, Lock()
        self._rows: Rows | None = None

    def part(self, at: slice, start: int) -> Rows:
        """Return some rows of the chunk; the chunk begins at position ``start``."""
        with self._lock:
            rows = self._rows or self._read()
            self._users -= 1
            self._rows = rows if self._users > 0 else None
        return Rows(
            rows.X[at],
            None if rows.y is None else rows.y[at],
            None if rows.weight is None else rows.weight[at],
            start + at.start,
        )
