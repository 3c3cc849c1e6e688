"""Figures 1 and 2: accuracy against steps, with tanh units and with signs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from papers import catalog
from papers.elm_boost.claims import NAMES
from papers.elm_boost.steps import CENTRED, FOURIER, LEVEL, RESULTS
from papers.experiment import Figure
from papers.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def tanh(results: Results, canvas: Canvas) -> None:
    """Draw accuracy of tanh units, on whole images and with zeroed pixels."""
    curves = (
        ("tanh", "y", "tanh"),
        ("tanh", "y_zeroed", "10 % zeroed in test"),
        ("zeroed in training too", "y_zeroed", "10 % zeroed in both"),
        (FOURIER, "y", "Fourier magnitudes too"),
        (CENTRED, "y", "pixels centred"),
        (CENTRED, "y_zeroed", "pixels centred, 10 % zeroed"),
    )
    _draw(results, canvas, curves, {"tanh": "paper, tanh", "tanh zeroed": "paper, zeroed"})


def sign(results: Results, canvas: Canvas) -> None:
    """Draw accuracy of signs beside that of tanh units."""
    curves = (("tanh", "y", "tanh"), ("sign", "y", "sign"))
    _draw(results, canvas, curves, {"tanh": "paper, tanh", "sign": "paper, sign (derived)"})


def _draw(
    results: Results,
    canvas: Canvas,
    curves: Sequence[tuple[str, str, str]],
    bounds: Mapping[str, str],
) -> None:
    """Draw curves of each set side by side, and the paper's numbers as lines across."""
    shown: dict[str, Any] = {}
    for ax, row in zip(canvas.subplots(1, 2), RESULTS.rows, strict=True):
        for k, (machine, field, label) in enumerate(curves):
            cell = results.get("results", row, machine)
            if cell is not None:
                shown[label] = ax.plot(cell["x"], cell[field], "o-", ms=3, color=f"C{k}")[0]
        for (column, label), style in zip(bounds.items(), ("--", ":"), strict=True):
            printed = catalog.expected("elm_boost").get("results", row, column)
            if printed is not None:
                shown[label] = ax.axhline(printed.value, color="grey", ls=style, lw=1)
        ax.set(title=NAMES[row], xlabel=f"steps ({LEVEL} are a level)", ylabel="test accuracy, %")
    canvas.legend(list(shown.values()), list(shown), loc="outside right upper")


FIGURES = (
    Figure("figure1", "Boosting with tanh units: test accuracy against steps", tanh, (9.0, 4.0)),
    Figure("figure2", "Boosting with signs: test accuracy against steps", sign, (9.0, 4.0)),
)
