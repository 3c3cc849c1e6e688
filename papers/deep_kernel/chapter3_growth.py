"""Figure 3.1: how training time grows with rows.

The thesis takes subsets of KDD Cup 2010 and a common test part of 25,000 rows; here they are of
covtype (its second class against the rest, which overlap) and of ijcnn1 (hardly any overlap). The
list is chosen by leave-one-out on the first rows, C of DSVM by cross-validation on them, once for
all sizes. A machine is not given more rows after a fit that took longer than the limit, nor DSVM a
kernel matrix that does not fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from papers.deep_kernel import machines
from papers.deep_kernel.lists import Effort, deep, rank
from papers.deep_kernel.sets import binary_split
from papers.experiment import Column, Figure, Mode, Result, Table
from papers.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

ROWS = ("covtype", "ijcnn1")
MACHINES = ("DCVM", "DSVM")
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 400_000)
COST_ROWS = 2_000


@dataclass(frozen=True)
class _Plan:
    effort: Effort
    limit: float  # CPU seconds of a fit, after which there is no larger one
    test_rows: int


_PLANS = {
    Mode.FULL: _Plan(Effort(500, 1, 1000, 8), 25.0, 25_000),
    Mode.QUICK: _Plan(Effort(200, 1, 500, 4), 1.5, 5_000),
}


def run(row: str, machine: str, mode: Mode) -> Result:
    """Fit to more and more rows; "score" is the accuracy with the most of them."""
    plan = _PLANS[mode]
    split = binary_split(row, plan.test_rows)
    # The scaling and the list of all sizes come from rows that all sizes have.
    first = split.head(COST_ROWS)
    candidate = rank(first, deep(("standard",), normalize=[True]), plan.effort).best
    make = _maker(machine, candidate.kernel)
    scaled = first.scaled(candidate.scaler)
    C = machines.best_cost(make, scaled.X, scaled.y, COST_ROWS) if machine == "DSVM" else 0.0
    make(C, scaled.X).fit(scaled.X[:1000], scaled.y[:1000])  # compiles what is compiled once
    found: dict[str, list[Any]] = {"x": [], "y": [], "accuracy": [], "vectors": [], "status": []}
    for n in _sizes(machine, len(split.y)):
        rows = split.head(n).scaled(candidate.scaler)
        model, seconds = machines.fitted(make(C, rows.X), rows)
        found["x"].append(n)
        found["y"].append(seconds)
        found["accuracy"].append(machines.accuracy(model, rows))
        is_core = machine == "DCVM"
        found["vectors"].append(int(model.n_core_ if is_core else len(model.support_)))
        found["status"].append(model.status_.name if is_core else "OK")
        if seconds > plan.limit:
            break
    last = {"score": found["accuracy"][-1], "chosen": str(candidate), "seed": machines.SEED}
    result: Result = found | last
    if mode is Mode.QUICK:
        result["thinned"] = f"no size after a fit of {plan.limit:g} s; {plan.test_rows:,} test rows"
    return result


def _maker(machine: str, kernel: Any) -> Any:
    if machine == "DCVM":
        return lambda C, X: machines.core_vectors(kernel)
    return lambda C, X: machines.deep_svm(kernel, C, X)


def _sizes(machine: str, n_rows: int) -> list[int]:
    most = machines.MOST_ROWS if machine == "DSVM" else n_rows
    return [n for n in SIZES if n <= min(n_rows, most)]


def finished(found: Result) -> dict[int, float]:
    """Return seconds by rows of the fits that no limit ended."""
    every = zip(found["x"], found["y"], found["status"], strict=True)
    return {n: seconds for n, seconds, status in every if status == "OK"}


def power(found: Result) -> float | None:
    """Return p of seconds ~ rows^p by least squares over finished fits from 2,000 rows on.

    A fit that its limit of core vectors ended would make growth look slow. None for a single size.

    Examples
    --------
    >>> found = {"x": [2000, 4000, 8000], "y": [1.0, 4.0, 5.0], "status": ["OK", "OK", "LIMIT"]}
    >>> round(power(found), 3)
    2.0
    """
    times = {n: s for n, s in finished(found).items() if n >= 2_000 and s > 0}
    if len(times) < 2:
        return None
    return float(np.polyfit(np.log(list(times)), np.log(list(times.values())), 1)[0])


def draw(results: Results, canvas: Canvas) -> None:
    """Draw CPU seconds against rows, both logarithmic."""
    axes = canvas.subplots(1, len(ROWS), sharey=True)
    for ax, row in zip(axes, ROWS, strict=True):
        for machine, marker, color in zip(MACHINES, ("o", "s"), ("C0", "C1"), strict=True):
            found = results.get("figure3.1", row, machine)
            if found is None:
                continue
            p = power(found)
            label = machine if p is None else f"{machine}, rows^{p:.1f}"
            ax.plot(found["x"], found["y"], marker=marker, color=color, label=label)
            ended = [k for k, status in enumerate(found["status"]) if status != "OK"]
            x, y = (np.array(found[key])[ended] for key in ("x", "y"))
            if ended:
                limit = "ended by its limit of core vectors"
                ax.plot(x, y, marker, mfc="white", mec=color, label=limit)
        ax.set(xscale="log", yscale="log", xlabel="training rows", title=row)
        if ax.get_legend_handles_labels()[0]:
            ax.legend()
    axes[0].set_ylabel("CPU seconds of a fit")


TABLES = (
    Table(
        "figure3.1",
        "Training time on growing parts of a set",
        ROWS,
        tuple(Column(m, better="") for m in MACHINES),
        run,
    ),
)
FIGURES = (
    Figure(
        "figure3.1",
        "Figure 3.1: training time of deep core vector and deep support vector machines on "
        "growing parts of two sets (the thesis: of KDD Cup 2010)",
        draw,
        (9.0, 4.0),
    ),
)
