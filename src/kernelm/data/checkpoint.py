"""Passes that survive: what they add up is saved now and then, and a fit begun again goes on.

A fit from a seed is the same sequence of passes every time. Each pass has a number; the sums of
one that is complete, or of the blocks that it has seen, lie in a file, and the same fit reads
them instead of the rows. Sums are folded in the order of the rows, so the result is the same to
the last digit.
"""

from __future__ import annotations

import json
import os
import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, final

import joblib

from kernelm import _checks
from kernelm.data.progress import Progress
from kernelm.data.reduce import here, stream
from kernelm.data.source import Read, Rows, Source

T = TypeVar("T")

SECONDS = 30.0  # between two savings, at least
SHARE = 0.1  # of the time, at most, that saving may take
_SUFFIX, _DRAFT = ".state", ".draft"


class _Pass(NamedTuple):
    """How far a pass has come."""

    total: Any
    blocks: int
    n_rows: int  #: that those blocks held
    block_rows: int  #: sums depend on how rows are cut into blocks: cut them the same way again
    is_complete: bool


@final
@dataclass(eq=False)
class Checkpoint:
    """A directory that holds the state of one fit.

    Parameters
    ----------
    directory : path
        Made if it is not there; for one fit at a time.
    identity : str
        Of estimator, parameters and rows: a directory of another fit is refused.
    every : float, optional
        Seconds between two savings, at least, 30 by default; saving takes at most a tenth of the
        time.
    """

    directory: Path
    identity: str
    every: float | None = None
    _saved: float = field(default_factory=lambda: time.monotonic())
    _took: float = 0.0

    def __post_init__(self) -> None:
        self.directory = Path(self.directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        if self.remember("identity", lambda: self.identity) != self.identity:
            raise _checks.other_checkpoint(self.directory)

    def remember(self, name: str, make: Callable[[], T]) -> T:
        """Return what ``make`` returned when the fit was first begun: a number or a string."""
        path = self.directory / f"{name}.json"
        if not path.exists():
            _write(path, json.dumps(make()).encode())
        try:
            return json.loads(path.read_bytes())
        except ValueError as error:
            raise _checks.broken_checkpoint(path) from error

    @property
    def is_due(self) -> bool:
        """Whether it is time to save."""
        pause = SECONDS if self.every is None else self.every
        return time.monotonic() - self._saved >= max(pause, self._took / SHARE)

    def save(self, name: str, state: Any) -> None:
        """Write a state; a kill at any time leaves the one before or the new one."""
        began = time.monotonic()
        _write(self.directory / f"{name}{_SUFFIX}", pickle.dumps(state, protocol=5))
        self._saved = time.monotonic()
        self._took = self._saved - began

    def load(self, name: str) -> Any:
        """Return a state that was saved, or None."""
        path = self.directory / f"{name}{_SUFFIX}"
        if not path.exists():
            return None
        try:
            with path.open("rb") as file:
                return _Trusting(file).load()
        except (pickle.UnpicklingError, EOFError, ValueError, AttributeError, TypeError) as error:
            raise _checks.broken_checkpoint(path) from error

    def clear(self) -> None:
        """Remove what was saved, and the directory if nothing else is in it."""
        for suffix in (_SUFFIX, ".json", _DRAFT):
            for path in self.directory.glob(f"*{suffix}"):
                path.unlink()
        if not any(self.directory.iterdir()):
            self.directory.rmdir()


@final
@dataclass(eq=False)
class Checkpointed:
    """A source whose sums are saved while they grow; everything else is that of the source."""

    source: Source
    checkpoint: Checkpoint
    _passes: int = 0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "source":
            raise AttributeError(name)
        return getattr(self.source, name)

    @property
    def n_rows(self) -> int | None:
        """Number of rows, if it is known."""
        return self.source.n_rows

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self.source.n_features

    @property
    def dtype(self) -> Any:
        """Of X."""
        return self.source.dtype

    @property
    def here(self) -> Source:
        """The rows alone, for passes that do more than add up."""
        return here(self.source)

    def blocks(self, rows: int) -> Iterator[Read]:
        """Yield readers of consecutive blocks."""
        return self.source.blocks(rows)

    def reduce(
        self,
        fn: Callable[[Rows], T],
        combine: Callable[[T, T], T],
        *,
        rows: int,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> T | None:
        """Go on with the pass of this number, or return what it found."""
        name = f"pass-{self._passes:04d}"
        self._passes += 1
        done = self.checkpoint.load(name) or _Pass(None, 0, 0, rows, False)
        if progress is not None:
            progress.advance(done.n_rows)
        if done.is_complete:
            return done.total
        total, blocks, n_rows = done.total, done.blocks, done.n_rows
        rest = _Rest(self.source, done.blocks)
        counted = stream(
            rest,
            lambda block: (fn(block), block.n),
            rows=done.block_rows,
            n_jobs=n_jobs,
            progress=progress,
        )
        for part, n in counted:
            total = part if total is None else combine(total, part)
            blocks, n_rows = blocks + 1, n_rows + n
            if self.checkpoint.is_due:
                self.checkpoint.save(name, _Pass(total, blocks, n_rows, done.block_rows, False))
        self.checkpoint.save(name, _Pass(total, blocks, n_rows, done.block_rows, True))
        return total


@final
class _Rest:
    """The blocks of a source after the first ones."""

    def __init__(self, source: Source, skipped: int) -> None:
        self._source, self._skipped = source, skipped
        self.n_rows, self.n_features, self.dtype = source.n_rows, source.n_features, source.dtype

    def blocks(self, rows: int) -> Iterator[Read]:
        """Yield readers of consecutive blocks."""
        return islice(self._source.blocks(rows), self._skipped, None)


def identity_of(estimator: Any, source: Any) -> str:
    """Return a hash of an estimator with its parameters and of the rows it shall learn."""
    params = estimator.get_params(deep=True)
    # A seed that is drawn anew is remembered instead.
    if not isinstance(params.get("random_state"), int):
        params.pop("random_state", None)
    for name in ("n_jobs", "verbose"):  # do not matter to the result
        params.pop(name, None)
    rows = getattr(source, "identity", ""), source.n_rows, source.n_features, str(source.dtype)
    return str(joblib.hash((type(estimator).__name__, sorted(params.items(), key=str), rows)))


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    draft = path.with_suffix(_DRAFT)
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


@final
class _Trusting(pickle.Unpickler):
    """Reads arrays and values of this library only: a state cannot run code."""

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name) if _is_ours(module, name) else None
        if found is None or (module.startswith("kernelm.") and not isinstance(found, type)):
            raise pickle.UnpicklingError(f"{module}.{name} does not belong into a checkpoint")
        return found


def _is_ours(module: str, name: str) -> bool:
    if module.startswith("numpy."):
        return name in ("_reconstruct", "scalar", "_frombuffer")
    if module == "numpy":
        return name in ("ndarray", "dtype")
    if module.startswith("scipy.sparse"):
        return name in ("csr_matrix", "csr_array")
    if module == "builtins":
        return name in ("int", "float", "bool", "set", "frozenset", "slice", "complex")
    return module.startswith("kernelm.")
