"""How far a pass over the rows is, for a person who waits."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self, TextIO, final


@final
class Progress:
    """Rows done, rows a second and time left, on one line of a terminal.

    Parameters
    ----------
    label : str
        What is going on.
    total : int, optional
        Rows to expect; without it no time left is shown.
    file : text stream
        Where to write (standard error by default).

    Examples
    --------
    >>> import io
    >>> with Progress("fit", total=100, file=io.StringIO()) as progress:
    ...     progress.advance(100)
    >>> progress.rows
    100
    """

    def __init__(
        self, label: str, total: int | None = None, file: TextIO | None = None, every: float = 0.2
    ) -> None:
        self.label = label
        self.total = total
        self.rows = 0
        self._file = file or sys.stderr
        self._every = every
        self._width = 0
        self._start = self._shown = time.perf_counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._show(end="\n")

    def advance(self, rows: int) -> None:
        """Say that so many more rows are done."""
        self.rows += rows
        now = time.perf_counter()
        if now - self._shown >= self._every:
            self._shown = now
            self._show()

    def _show(self, end: str = "") -> None:
        seconds = max(time.perf_counter() - self._start, 1e-9)
        speed = self.rows / seconds
        of = f"/{self.total:,}" if self.total else ""
        line = f"\r{self.label}: {self.rows:,}{of} rows, {speed:,.0f} rows/s, {seconds:.1f} s"
        if self.total and 0 < self.rows < self.total:
            line += f", {(self.total - self.rows) / speed:.1f} s left"
        # Spaces over what a longer line before this one has left.
        self._file.write(f"{line:<{self._width}}{end}")
        self._width = len(line)
        self._file.flush()
