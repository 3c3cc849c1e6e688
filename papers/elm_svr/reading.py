"""What the results of a set say by the paper's own rule, and fold by fold."""

from __future__ import annotations

import numpy as np

from papers.elm_svr.machine import MACHINES
from papers.elm_svr.protocol import interval
from papers.elm_svr.tables import HOME
from papers.experiment import Mode
from papers.results import Results


def is_complete(results: Results, row: str) -> bool:
    """Whether all kernels were run on a set."""
    return all(results.get(HOME[row], row, machine) for machine in MACHINES)


def is_quick(results: Results) -> bool:
    """Whether any number is that of a quick run."""
    cells = (results.cell(HOME[row], row, m) for row in HOME for m in MACHINES)
    return any(cell is not None and cell["mode"] == Mode.QUICK for cell in cells)


def error(results: Results, row: str, machine: str) -> float:
    """Return the mean squared error of a kernel on a set that was run."""
    return results.get(HOME[row], row, machine)["score"]


def best(results: Results, row: str) -> str:
    """Return the kernel with the lowest error on a set that was run."""
    return min(MACHINES, key=lambda machine: error(results, row, machine))


def not_different(results: Results, table: str, row: str) -> set[str]:
    """Return the kernels whose mean error is within the interval of the best, which is one.

    This is the paper's rule for "not significantly different". The set is empty where a kernel
    was not run.
    """
    if not is_complete(results, row):
        return set()
    high = results.get(table, row, best(results, row))["high"]
    return {machine for machine in MACHINES if error(results, row, machine) <= high}


def paired(results: Results, row: str, machine: str, other: str) -> tuple[float, float]:
    """Return the 95 % interval of what a kernel's error is above another's on the same folds.

    It is stricter than the paper's rule: what makes one fold harder than the next cancels. Both
    ends are in units of the other's mean error.
    """
    ours, theirs = (np.array(results.get(HOME[row], row, m)["folds"]) for m in (machine, other))
    low, high = interval(ours - theirs)
    return low / float(theirs.mean()), high / float(theirs.mean())
