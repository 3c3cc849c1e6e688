"""Who adds the rows up: a thread per core here, in a fixed order, within the memory budget.

Blocks are the unit of parallel work. Each worker runs single-threaded BLAS on its own block:
the ufuncs between two matrix products then run in parallel too, which threaded BLAS alone
would leave on one core.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from itertools import chain, islice
from threading import Lock
from typing import Any, TypeVar, final

from threadpoolctl import ThreadpoolController

from kernelm import _checks
from kernelm._config import working_bytes
from kernelm.data.progress import Progress
from kernelm.data.source import Rows, Source

T = TypeVar("T")

MAX_ROWS = 8192
MIN_ROWS = 64


def effective_jobs(n_jobs: int | None) -> int:
    """Return the number of workers: by default as many threads as BLAS would have taken.

    That default follows ``OMP_NUM_THREADS``, threadpoolctl and joblib, so nested parallelism
    does not oversubscribe the machine.
    """
    cores = max([lib["num_threads"] for lib in _blas().info()], default=1)
    if n_jobs is None or n_jobs == -1:
        return cores
    return min(_checks.integer(n_jobs, "n_jobs (None or -1 means every core)"), 256)


def block_rows(bytes_per_row: float, n_rows: int | None = None, n_jobs: int | None = None) -> int:
    """Return how many rows a block may have so that all blocks in flight fit the budget.

    Examples
    --------
    >>> block_rows(bytes_per_row=8000, n_rows=100, n_jobs=1)
    100
    """
    workers = effective_jobs(n_jobs)
    fitting = int(working_bytes() / ((workers + 1) * max(bytes_per_row, 1)))
    rows = min(max(fitting, MIN_ROWS), MAX_ROWS)
    if n_rows is None:
        return rows
    # Equal blocks, a multiple of the workers: no core waits for the last one.
    rounds = -(-n_rows // (workers * rows))
    return max(-(-n_rows // (workers * rounds)), min(MIN_ROWS, n_rows), 1) if rounds else 1


def stream(
    source: Source,
    fn: Callable[[Rows], T],
    *,
    rows: int,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Iterator[T]:
    """Yield ``fn(block)`` for every block of a source, in the order of the rows.

    A source whose rows are elsewhere has a ``stream`` of its own and calls ``fn`` there: what
    ``fn`` changes here would be lost (see :func:`here`).
    """
    elsewhere = getattr(source, "stream", None)
    if elsewhere is not None:
        yield from elsewhere(fn, rows=rows, progress=progress)
        return

    def work(read: Callable[[], Rows]) -> tuple[T, int]:
        block = read()
        return fn(block), block.n

    readers = source.blocks(rows)
    head = list(islice(readers, 2))
    workers = effective_jobs(n_jobs)
    # One block is nothing to share: no pool, and BLAS keeps its own threads.
    shared = len(head) > 1
    results = pooled(work, chain(head, readers), workers) if shared else map(work, head)
    for result, n in results:
        if progress is not None:
            progress.advance(n)
        yield result


def reduce(
    source: Source,
    fn: Callable[[Rows], T],
    combine: Callable[[T, T], T],
    *,
    rows: int = 4096,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> T | None:
    """Map ``fn`` over the blocks of a source and fold the results in the order of the rows.

    Returns None for a source without rows. ``combine`` may reuse its first argument. A source
    may have a ``reduce`` of its own: on other machines, or with checkpoints.

    Examples
    --------
    >>> import numpy as np, operator
    >>> from kernelm.data import ArraySource
    >>> source = ArraySource(np.ones((10_000, 2)))
    >>> reduce(source, lambda rows: rows.X.sum(axis=0), operator.iadd)
    array([10000., 10000.])
    """
    own = getattr(source, "reduce", None)
    if own is not None:
        return own(fn, combine, rows=rows, n_jobs=n_jobs, progress=progress)
    total: T | None = None
    for part in stream(source, fn, rows=rows, n_jobs=n_jobs, progress=progress):
        total = part if total is None else combine(total, part)
    return total


def here(source: Source) -> Source:
    """Return the same rows to be read into this process, for functions that change things here."""
    return getattr(source, "here", source)


def pooled(work: Callable[[Any], T], tasks: Iterator[Any], workers: int) -> Iterator[T]:
    """Run tasks on threads with one BLAS thread each; at most workers + 1 are in flight."""
    with (
        _single_threaded_blas,
        ThreadPoolExecutor(workers, thread_name_prefix="kernelm") as pool,
    ):
        waiting: deque[Future[T]] = deque()
        try:
            for task in tasks:
                waiting.append(pool.submit(work, task))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:  # an error or an interrupt: do not start what is still queued
            for future in waiting:
                future.cancel()


def alone(work: Callable[[], T]) -> T:
    """Return what a task returns with one BLAS thread: to the last digit, whatever the machine.

    For choices that a digit may turn, such as on which side of a cut a row is.
    """
    with _single_threaded_blas:
        return work()


@final
class _SingleThreadedBlas:
    """One BLAS thread as long as anyone needs it; the last to leave restores the others.

    The limit holds for the process: passes that overlap must not take each other's limit for
    the original one, and the last to leave need not be the first that came.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                _let_any_thread()
                self._limit = _blas().limit(limits=1, user_api="blas")
            self._users += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                _let_any_thread()
                self._limit.restore_original_limits()
                _let_any_thread()


def _let_any_thread() -> None:
    """Let any thread set limits: threadpoolctl 3.7 and later reserve that to the first that did."""
    for library in _blas().lib_controllers:
        release = getattr(library, "clear_controlling_thread", None)
        if release is not None:
            release(force=True)


_single_threaded_blas = _SingleThreadedBlas()


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    # Finding the loaded libraries takes a millisecond: once is enough.
    return ThreadpoolController().select(user_api="blas")
