"""Figures 4 to 6, drawn from the sweeps on satimage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from papers import catalog
from papers.experiment import Figure
from papers.nkelm.sweeps import LANDMARKS, SHOWN_LANDMARKS, SHOWN_LOG2_C
from papers.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def against_landmarks(results: Results, canvas: Canvas) -> None:
    """Draw accuracy against L, a curve for each C."""
    ax, cells = canvas.subplots(), _cells(results)
    for c in SHOWN_LOG2_C:
        ax.plot(list(cells), [r[f"at 2^{c}"] for r in cells.values()], "o-", ms=3, label=_power(c))
    ax.plot(300, _printed("NKELM"), "k*", label="300, paper")
    _landmark_axis(ax)
    ax.set_ylabel("test accuracy, %")
    canvas.legend(title="C", loc="outside right upper")


def against_penalty(results: Results, canvas: Canvas) -> None:
    """Draw accuracy against C, a curve for each L."""
    ax, cells = canvas.subplots(), _cells(results)
    for n in SHOWN_LANDMARKS:
        if n in cells:
            ax.plot(cells[n]["x"], cells[n]["y"], "o-", ms=3, label=f"{n:,}")
    ax.axhline(_printed("KELM"), color="grey", ls="--", lw=1, label="KELM, paper")
    ax.axvline(7, color="grey", ls=":", lw=1, label="best C, paper")
    ax.set(xlabel="log2 C", ylabel="test accuracy, %")
    canvas.legend(title="landmarks", loc="outside right upper")


def seconds(results: Results, canvas: Canvas) -> None:
    """Draw seconds of training and test against L, beside those of the kernel ELM."""
    ax, cells = canvas.subplots(), _cells(results)
    for field, label in (("fit_s", "training"), ("predict_s", "test, 2,000 rows")):
        ax.plot(list(cells), [r[field] for r in cells.values()], "o-", ms=3, label=label)
    whole = results.number("table4", "satimage", "KELM", "fit_s")
    if whole is not None:
        ax.axhline(whole, color="grey", ls="--", lw=1, label="KELM, training")
    _landmark_axis(ax)
    ax.set(ylabel="seconds", yscale="log" if cells else "linear")
    ax.legend()


def _cells(results: Results) -> dict[int, dict[str, Any]]:
    found = {n: results.get("figure5", str(n), "NKELM") for n in LANDMARKS}
    return {n: cell for n, cell in found.items() if cell is not None}


def _printed(machine: str) -> float:
    printed = catalog.expected("nkelm").get("table4", "satimage", machine)
    assert printed is not None
    return printed.value


def _landmark_axis(ax: Any) -> None:
    ax.set(xlabel="landmarks L", xscale="log")
    ax.set_xticks(LANDMARKS, [str(n) for n in LANDMARKS])
    ax.minorticks_off()


def _power(exponent: int) -> str:
    return f"$2^{{{exponent}}}$"


FIGURES = (
    Figure("figure4", "satimage: test accuracy against the number of landmarks", against_landmarks),
    Figure("figure5", "satimage: test accuracy against C", against_penalty),
    Figure("figure6", "satimage: seconds against the number of landmarks", seconds),
)
