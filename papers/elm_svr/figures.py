"""The paper's figures 2 and 3, and the error against σ on each set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from papers import catalog
from papers.elm_svr.machine import GAUSSIAN, SIGMAS
from papers.elm_svr.reading import best, error, is_complete, not_different
from papers.elm_svr.tables import HOME
from papers.elm_svr.toys import SHAPES, SHOWN
from papers.experiment import Figure
from papers.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_STYLES = ("-", "--", ":")


def draw_sine(results: Results, canvas: Canvas) -> None:
    """Draw the test error against the number of units, and three machines."""
    errors, machines = canvas.subplots(1, 2)
    errors.set(xlabel="hidden units", ylabel="test MSE", yscale="log")
    machines.set(xlabel="x", ylabel="y", ylim=(-2.2, 1.8))
    found = results.get("figure2", "sine", "ELM")
    if found is None:
        return
    x, y = found["x"], found["y"]
    errors.plot(x, y, label=f"median of {len(found['seeds'])} draws")
    errors.fill_between(x, found["low"], found["high"], alpha=0.2, label="quartiles")
    printed = catalog.expected("elm_svr").get("figure2", "sine", "ELM")
    if printed is not None:
        errors.axvline(printed.value, color="k", ls="--", lw=1, label="best size in the paper")
    errors.legend()
    machines.plot(*found["rows"], "k.", label="training rows")
    for size, style in zip(SHOWN, ("--", "-", ":"), strict=True):
        machines.plot(found["grid"], found["models"][str(size)], style, label=f"{size} units")
    machines.legend(loc="lower center", ncols=2)


def draw_shape(results: Results, canvas: Canvas) -> None:
    """Draw the normalised ELM kernel around zero."""
    ax = canvas.subplots()
    ax.set(xlabel="x", ylabel="kernel of 0 and x", ylim=(0, 1.02))
    for sigma, style in zip(SHAPES, _STYLES, strict=True):
        found = results.get("figure3", "zero", sigma)
        if found is not None:
            ax.plot(found["x"], found["y"], style, label=f"$\\sigma_w$ = {float(sigma):g}")
    if ax.lines:
        ax.legend()


def draw_sensitivity(results: Results, canvas: Canvas) -> None:
    """Draw for each set the error against σ, beside the Gaussian and the paper's numbers."""
    panels = canvas.subplots(2, 4, sharex=True, sharey=True).flat
    ticks = (1, 2, 5, 10, 20)
    for row, ax in zip(HOME, panels, strict=True):
        ax.set_title(row, fontsize=9)
        ax.set(xscale="log", yscale="log", ylim=(0.7, 20))
        ax.set_yticks(ticks, labels=map(str, ticks))
        ax.tick_params(axis="y", which="minor", left=False)
        if is_complete(results, row):
            _draw_set(results, row, ax)
    canvas.supxlabel("$\\sigma_w$ of the ELM kernel")
    canvas.supylabel("MSE / lowest MSE of ours")
    drawn = [ax for ax in canvas.axes if ax.lines]
    if drawn:
        handles, labels = drawn[0].get_legend_handles_labels()
        canvas.legend(handles, labels, loc="outside upper center", ncols=len(labels))


def _draw_set(results: Results, row: str, ax: Axes) -> None:
    table, expected = HOME[row], catalog.expected("elm_svr")
    unit = error(results, row, best(results, row))
    x = [float(s) for s in SIGMAS]
    (line,) = ax.plot(x, [error(results, row, s) / unit for s in SIGMAS], label="ELM kernel")
    ends = [[results.get(table, row, s)[end] / unit for s in SIGMAS] for end in ("low", "high")]
    ax.fill_between(x, [max(v, 1e-2) for v in ends[0]], ends[1], alpha=0.15, label="95 %")
    good = [s for s in SIGMAS if s in not_different(results, table, row)]
    ax.plot(
        [float(s) for s in good],
        [error(results, row, s) / unit for s in good],
        "o",
        color=line.get_color(),
        label="not significantly above the best",
    )
    ax.axhline(error(results, row, GAUSSIAN) / unit, color="C1", label="Gaussian")
    printed = {s: expected.get(table, row, s) for s in (*SIGMAS, GAUSSIAN)}
    known = {s: p.value / unit for s, p in printed.items() if p is not None}
    ax.plot(x, [known.get(s, float("nan")) for s in SIGMAS], "k_", label="paper: ELM kernel")
    ax.axhline(
        known.get(GAUSSIAN, float("nan")), color="C1", ls="--", lw=1, label="paper: Gaussian"
    )


FIGURES = (
    Figure(
        "sensitivity",
        "Error against σ_w on the eight sets, relative to the lowest; dots are not significantly "
        "above the best",
        draw_sensitivity,
        (10.0, 5.0),
    ),
    Figure(
        "figure2",
        "Figure 2: test error of an ELM that learns a sine from 20 noisy rows, and machines of "
        "one draw with 2, 9 and 20 units",
        draw_sine,
        (8.0, 3.4),
    ),
    Figure(
        "figure3",
        "Figure 3: the normalised ELM kernel around zero for three values of σ_w",
        draw_shape,
        (5.0, 3.2),
    ),
)
