"""Pictures of chapter 5: training times, and what picking on test rows is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from papers import catalog
from papers.deep_kernel import chapter5
from papers.deep_kernel.sets import SIZES
from papers.experiment import Figure
from papers.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_BY_SIZE = sorted(chapter5.ROWS, key=lambda row: SIZES[row][0])


def draw_times(results: Results, canvas: Canvas) -> None:
    """Draw the training times of deep kernel ELM and deep SVM, ours and the printed ones."""
    ax, place = canvas.subplots(), np.arange(len(_BY_SIZE))
    for shift, machine in ((-0.2, "DKELM"), (0.2, "DSVM")):
        ours = [results.number(chapter5.HOME, row, machine, "fit_s") for row in _BY_SIZE]
        heights = np.array([np.nan if s is None else s for s in ours])
        bars = ax.bar(place + shift, heights, 0.38, label=f"{machine}, ours")
        colour = bars.patches[0].get_facecolor()
        printed = _printed("table5.7", machine)
        ax.plot(place + shift, printed, "_", ms=14, mew=2, color=colour, label=f"{machine}, thesis")
    labels = [f"{row}\n{SIZES[row][0]:,}" for row in _BY_SIZE]
    ax.set_xticks(place, labels, rotation=45, ha="right")
    ax.set(yscale="log", ylabel="CPU seconds of a fit", xlabel="set and its training rows")
    ax.legend(ncols=2)


def draw_optimism(results: Results, canvas: Canvas) -> None:
    """Draw accuracies of deep kernel ELM, chosen on training rows or picked on test rows."""
    ax, place = canvas.subplots(), np.arange(len(_BY_SIZE))
    series = {
        "ours, chosen on training rows": ("o", _ours(results, "DKELM", "score")),
        "ours, picked on test rows": ("^", _ours(results, "DKELM", "optimistic")),
        "Gaussian kernel ELM, ours": (".", _ours(results, "KELM", "score")),
        "thesis, picked on test rows": ("x", _printed("table5.2", "DKELM")),
    }
    for label, (marker, values) in series.items():
        ax.plot(place, values, marker, mfc="none" if marker == "^" else None, label=label)
    ax.set_xticks(place, _BY_SIZE, rotation=45, ha="right")
    ax.set(ylabel="test accuracy, %")
    ax.legend(loc="lower right")


def _ours(results: Results, machine: str, field: str) -> list[float]:
    numbers = (results.number(chapter5.HOME, row, machine, field) for row in _BY_SIZE)
    return [np.nan if n is None else n for n in numbers]


def _printed(table: str, column: str) -> list[float]:
    known = (catalog.expected("deep_kernel").get(table, row, column) for row in _BY_SIZE)
    return [np.nan if printed is None else printed.value for printed in known]


FIGURES = (
    Figure(
        "figure5.2",
        "Figure 5.2: training time of deep kernel ELM and deep SVM, by the number of training "
        "rows; dashes are the times that the thesis printed, of another machine",
        draw_times,
        (9.0, 4.5),
    ),
    Figure(
        "optimism",
        "Deep kernel ELM: scaling and list chosen on training rows, or picked on test rows",
        draw_optimism,
        (9.0, 4.5),
    ),
)
