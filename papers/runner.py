"""Run the cells of tables that are not there yet, keep each as soon as it is done."""

from __future__ import annotations

import multiprocessing
import os
import platform
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from papers import catalog, seeds
from papers.experiment import Mode, Result

PACKAGES = ("kernelm", "numpy", "scipy", "scikit-learn", "numba")
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Cell:
    """One number, or a few, of one table."""

    paper: str
    table: str
    row: str
    machine: str
    mode: Mode

    @property
    def name(self) -> str:
        """What people read."""
        return f"{self.paper}.{self.table} {self.row} {self.machine}"


@dataclass(frozen=True)
class Done:
    """A cell that has been run: its result, or what went wrong."""

    cell: Cell
    seconds: float
    result: Result | None
    error: str = ""


@dataclass(frozen=True)
class Progress:
    """Where a run is: how many cells are done, and how many seconds are left, about."""

    done: Done
    n_done: int
    n_cells: int
    seconds_left: float | None


def missing(names: Sequence[str], mode: Mode, folder: Path, *, again: bool = False) -> list[Cell]:
    """Return the cells that these tables lack, those of the tables they take from included."""
    known = catalog.experiments()
    found: dict[tuple[str, ...], Cell] = {}
    for name in names:
        paper, table = known[name]
        kept = catalog.results(paper.key, folder)
        home = catalog.table(paper.key, table.source) if table.source else table
        for row, machine in table.cells():
            if home.why_not(row, machine):
                continue
            if again or not kept.is_done(home, row, machine, mode):
                cell = Cell(paper.key, home.name, row, machine, mode)
                found[cell.paper, cell.table, row, machine] = cell
    return list(found.values())


def run(
    cells: Sequence[Cell],
    folder: Path,
    tell: Callable[[Progress], None],
    *,
    jobs: int = 2,
    first_seed: int = 0,
) -> list[Done]:
    """Run cells and keep their results in a folder; returns those that failed.

    Cells that are timed run one at a time, in a process of their own with all cores; the others
    share the cores, a process with one BLAS thread on each. An interruption keeps what is done.
    """
    clock = _Clock(cells, folder)
    failed = []
    with _environment({seeds.VARIABLE: str(first_seed)}):
        for done in _every(cells, jobs):
            if done.result is None:
                failed.append(done)
            else:
                _keep(done, folder)
            tell(clock.after(done))
    return failed


def compute(cell: Cell) -> Done:
    """Compute one cell, whatever happens."""
    run_cell = catalog.table(cell.paper, cell.table).run
    start = time.perf_counter()
    try:
        result, error = run_cell(cell.row, cell.machine, cell.mode), ""
    except Exception:
        result, error = None, traceback.format_exc()
    return Done(cell, time.perf_counter() - start, result, error)


def machine() -> dict[str, Any]:
    """Return what a result depends on beside the code: processor, cores and versions."""
    about = {name: version(name) for name in PACKAGES}
    return {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "python": platform.python_version(),
        "versions": about,
    }


def _every(cells: Sequence[Cell], jobs: int) -> Iterator[Done]:
    alone = [c for c in cells if catalog.table(c.paper, c.table).alone]
    shared = [c for c in cells if c not in set(alone)]
    yield from _in_processes(shared, jobs, threads=1)
    # A process for each table: what a table caches between its cells stays, and no longer.
    for name in dict.fromkeys((c.paper, c.table) for c in alone):
        yield from _in_processes([c for c in alone if (c.paper, c.table) == name], 1, threads=None)


def _in_processes(cells: Sequence[Cell], jobs: int, threads: int | None) -> Iterator[Done]:
    if not cells:
        return
    context = multiprocessing.get_context("spawn")
    limits = {} if threads is None else dict.fromkeys(_THREADS, str(threads))
    with _environment(limits), ProcessPoolExecutor(jobs, mp_context=context) as pool:
        waiting = list(cells)
        running: dict[Future[Done], Cell] = {}
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    cell = waiting.pop(0)
                    running[pool.submit(compute, cell)] = cell
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield _outcome(future, running.pop(future))
        except BaseException:
            for process in list((pool._processes or {}).values()):
                process.kill()
            raise


def _outcome(future: Future[Done], cell: Cell) -> Done:
    try:
        return future.result()
    except Exception as error:  # the process itself ended, for want of memory perhaps
        return Done(cell, 0.0, None, f"{type(error).__name__}: {error}")


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Have new processes begin with these variables."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ |= variables
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _keep(done: Done, folder: Path) -> None:
    cell = done.cell
    today = datetime.now(UTC).date().isoformat()
    content = {"mode": cell.mode, "seconds": round(done.seconds, 2), "date": today}
    kept = {f"{cell.row}/{cell.machine}": content | {"result": done.result}}
    catalog.results(cell.paper, folder).put(cell.table, kept, {"date": today} | machine())


class _Clock:
    """How long the rest will take: by what cells took before, or else by the mean of this run."""

    def __init__(self, cells: Sequence[Cell], folder: Path) -> None:
        self._left = {c: self._before(c, folder) for c in cells}
        self._n, self._start, self._work = len(cells), time.perf_counter(), 0.0

    def after(self, done: Done) -> Progress:
        """Return where the run is after a cell."""
        self._left.pop(done.cell, None)
        self._work += done.seconds
        n_done = self._n - len(self._left)
        mean = self._work / n_done
        rest = sum(mean if s is None else s for s in self._left.values())
        passed = time.perf_counter() - self._start
        side_by_side = self._work / passed if passed > 0 else 1.0
        left = rest / side_by_side if side_by_side > 0 else None
        return Progress(done, n_done, self._n, left)

    @staticmethod
    def _before(cell: Cell, folder: Path) -> float | None:
        kept = catalog.results(cell.paper, folder).cell(cell.table, cell.row, cell.machine)
        return kept["seconds"] if kept is not None and kept["mode"] == cell.mode else None
