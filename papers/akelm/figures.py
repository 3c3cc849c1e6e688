"""Accuracy against the number of units, columns or sampled rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from papers.akelm.accuracy import SIZES, row
from papers.experiment import Figure
from papers.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

MACHINES = {"ELM": "o:", "RELM": "s--", "KELM": "^-.", "AKELM": "D-"}


def draw_accuracy(results: Results, canvas: Canvas) -> None:
    """Draw a panel for each data set, and KELM on all rows as a line across."""
    panels = canvas.subplots(1, len(SIZES))
    for (name, sizes), ax in zip(SIZES.items(), panels, strict=True):
        table = "table1" if name == "ck48" else "table2"
        for machine, style in MACHINES.items():
            numbers = [(n, results.number(table, row(name, n), machine)) for n in sizes[:-1]]
            known = [(n, score) for n, score in numbers if score is not None]
            ax.plot(*zip(*known, strict=True) if known else ((), ()), style, ms=4, label=machine)
        whole = results.get(table, row(name, sizes[-1]), "KELM")
        if whole is not None:
            style = {"color": "0.4", "lw": 1, "dashes": (6, 2)}
            ax.axhline(whole["score"], label="KELM, all rows", **style)
        n_rows = sizes[-1] if whole is None else whole["n_train"]
        ax.set(xscale="log", xlabel="units, columns or rows", title=f"{name} ({n_rows:,} rows)")
        ax.set_xticks(sizes[:-1], [str(n) for n in sizes[:-1]])
        ax.minorticks_off()
    panels[0].set_ylabel("accuracy, %")
    panels[-1].legend(loc="lower right")


FIGURES = (
    Figure(
        "accuracy",
        "Accuracy against the number of hidden units (ELM, RELM), columns (AKELM) or sampled "
        "training rows (KELM) on three sets of faces.",
        draw_accuracy,
        size=(9.0, 3.2),
    ),
)
