"""What chapter 4 claims, judged by our results, and its figure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from papers import catalog
from papers.deep_kernel.chapter4_rows import OFFICIAL, SCALED, SCALINGS, SETS, series, set_of
from papers.experiment import Claim, Figure, Mode, Result
from papers.results import Results
from papers.verdicts import CONFIRMED, NOT_CONFIRMED, NOT_TESTABLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

TABLE, MACHINE = "table4.5", "layers"
ROWS = (*SETS, *SCALED)
#: Share of the printed gain that picking on test rows may be.
LITTLE = 0.25
OFFICIAL_TABLE = "table4.4-official"
NEAR = 1.0  # points from a printed number
Verdict = tuple[str, str]


def _when_run(judge: Callable[[dict[str, Result]], Verdict]) -> Callable[[Results], Verdict]:
    """Return the judge of results that are all there, with a word on quick ones."""

    def judged(results: Results) -> Verdict:
        cells = {row: results.cell(TABLE, row, MACHINE) for row in ROWS}
        there = {row: cell for row, cell in cells.items() if cell is not None}
        if len(there) < len(ROWS):
            return NOT_TESTABLE, f"Not run yet: {len(ROWS) - len(there)} of {len(ROWS)} rows."
        verdict, text = judge({row: cell["result"] for row, cell in there.items()})
        quick = sum(cell["mode"] == Mode.QUICK for cell in there.values())
        return verdict, text + (f" Quick runs: {quick} of {len(ROWS)} rows." if quick else "")

    return judged


def _verdict(holds: bool) -> str:
    return CONFIRMED if holds else NOT_CONFIRMED


def _scalings(row: str) -> tuple[str, ...]:
    return SCALINGS if row in SCALED else ("raw",)


@_when_run
def _more_layers_help(found: dict[str, Result]) -> Verdict:
    curves = np.array(
        [
            [result[series(scaling, depth)] for depth in (1, 2, 3)]
            for row, result in found.items()
            for scaling in _scalings(row)
        ]
    )
    second, third = (curves[:, d] - curves[:, 0] for d in (1, 2))
    text = (
        f"Of {len(curves)} pairs of a set and a scaling, three layers are more accurate than one "
        f"in {(third > 0).sum()}, two in {(second > 0).sum()}; the mean gain over one layer is "
        f"{second.mean():+.2f} points with two and {third.mean():+.2f} with three."
    )
    return _verdict(bool((third > 0).mean() > 0.5 and third.mean() > 0)), text


def _gains(found: dict[str, Result], field: str, over: str, measure: str) -> np.ndarray:
    return np.array([r[f"{field}_{measure}"] - r[f"{over}_{measure}"] for r in found.values()])


@_when_run
def _better_than_dcvm(found: dict[str, Result]) -> Verdict:
    gains = _gains(found, "proposed", "alone", "accuracy")
    worst = list(found)[int(gains.argmin())]
    text = (
        f"With depth and scaling chosen on training rows, layers raise the accuracy of the deep "
        f"core vector machine in {(gains > 0).sum()} of {len(gains)} rows, by {gains.mean():+.2f} "
        f"points in the mean; at worst {gains.min():+.2f} ({worst})."
    )
    return _verdict(bool((gains > 0).all())), text


@_when_run
def _better_reports(found: dict[str, Result]) -> Verdict:
    wins = {m: _gains(found, "proposed", "alone", m) > 0 for m in ("precision", "recall", "f1")}
    counts = ", ".join(f"{name} in {win.sum()}" for name, win in wins.items())
    text = f"Above the deep core vector machine alone: {counts} of {len(found)} rows."
    return _verdict(all(win.all() for win in wins.values())), text


@_when_run
def _scaling_matters(found: dict[str, Result]) -> Verdict:
    gains = {set_of(row): found[row]["score"] - found[set_of(row)]["score"] for row in SCALED}
    best = max(gains, key=gains.__getitem__)
    spread = [np.ptp([found[row][series(s, 1)] for s in SCALINGS]) for row in SCALED]
    higher = sum(gain > 0 for gain in gains.values())
    text = (
        f"Scaled inputs are better than raw ones in {higher} of {len(gains)} sets, by "
        f"{np.mean(list(gains.values())):+.2f} points in the mean and {gains[best]:+.2f} at most "
        f"({best}). The three scalings differ by {np.mean(spread):.2f} points in the mean, one "
        f"layer each."
    )
    return _verdict(higher > len(gains) / 2), text


@_when_run
def _gain_is_not_picking(found: dict[str, Result]) -> Verdict:
    honest = _gains(found, "proposed", "alone", "accuracy").mean()
    printed_way = _gains(found, "on_test", "alone", "accuracy").mean()
    alone = _gains(found, "alone_on_test", "alone", "accuracy").mean()
    text = (
        f"Mean gain over the deep core vector machine: {printed_way:+.2f} points with depth and "
        f"scaling picked on test rows, as printed; {honest:+.2f} with both chosen on training "
        f"rows. Picking the scaling on test rows gives the machine without layers "
        f"{alone:+.2f}."
    )
    return _verdict(bool(honest > 0 and honest >= (1 - LITTLE) * printed_way)), text


def _official_rows_give_them(results: Results) -> Verdict:
    known, parts, holds, quick = catalog.expected("deep_kernel"), [], True, False
    for row in OFFICIAL:
        official, random = (results.cell(t, row, MACHINE) for t in (OFFICIAL_TABLE, TABLE))
        if official is None or random is None:
            return NOT_TESTABLE, f"Not run yet: {row}."
        printed = [known.get("table4.4", row, series("raw", depth)) for depth in (1, 2, 3)]
        best = max(p.value for p in printed if p is not None)
        ours = {
            name: max(cell["result"][series("raw", depth)] for depth in (1, 2, 3))
            for name, cell in (("official", official), ("random", random))
        }
        holds &= ours["official"] >= best - NEAR
        quick |= Mode.QUICK in (official["mode"], random["mode"])
        parts.append(
            f"{row} {ours['official']:.2f} % on official test rows, {ours['random']:.2f} % on a "
            f"random split (printed {best:.2f})"
        )
    text = f"The best of three depths: {'; '.join(parts)}.{' Some are quick runs.' * quick}"
    return _verdict(holds), text


CLAIMS = (
    Claim("Chapter 4: in most sets accuracy grows with the number of layers", _more_layers_help),
    Claim(
        "Chapter 4: layers consistently improve the accuracy of the deep core vector machine",
        _better_than_dcvm,
    ),
    Claim("Chapter 4: with layers, precision, recall and F1 are best in all sets", _better_reports),
    Claim("Chapter 4: accuracy is higher on scaled inputs", _scaling_matters),
    Claim(
        "Chapter 4: table 4.5 shows what layers gain, although depth and scaling are the best on "
        "test rows",
        _gain_is_not_picking,
    ),
    Claim(
        "Chapter 4: with layers, the printed accuracies are those of the official test rows",
        _official_rows_give_them,
    ),
)


def draw_depths(results: Results, canvas: Canvas) -> None:
    """Draw accuracy against the number of layers: one panel a set, one line a scaling."""
    panels = canvas.subplots(3, 3, sharex=True).ravel()
    for ax, name in zip(panels, SETS, strict=True):
        rows = [row for row in ROWS if set_of(row) == name]
        for row in rows:
            for scaling in _scalings(row):
                _draw_line(results, ax, row, scaling)
        ax.set_title(name.replace("_", " "), fontsize=9)
        ax.set_xticks(range(4))
    for ax in panels[6:]:
        ax.set_xlabel("layers (0: DCVM alone)")
    for ax in panels[::3]:
        ax.set_ylabel("test accuracy, %")
    lines, names = panels[0].get_legend_handles_labels()
    if lines:
        dashed = panels[0].plot([], [], "--o", color="grey", markerfacecolor="none")
        canvas.legend(
            [*lines, *dashed], [*names, "thesis"], loc="outside lower center", ncols=len(lines) + 1
        )


def _draw_line(results: Results, ax: Axes, row: str, scaling: str) -> None:
    colour = f"C{('raw', *SCALINGS).index(scaling)}"
    ours = [results.number(TABLE, row, MACHINE, series(scaling, depth)) for depth in range(4)]
    if None not in ours:
        ax.plot(range(4), ours, "-o", color=colour, markersize=4, label=scaling)
    table = "table4.4" if scaling == "raw" else "table4.3"
    expected = catalog.expected("deep_kernel")
    printed = [expected.get(table, row, series(scaling, depth)) for depth in (1, 2, 3)]
    points = [(d, p.value) for d, p in enumerate(printed, 1) if p is not None]
    if points:
        ax.plot(
            *zip(*points, strict=True), "--o", color=colour, alpha=0.5, markersize=4, mfc="none"
        )


FIGURES = (
    Figure(
        "figure4.2",
        "Accuracy after one, two and three layers of kernel components (solid: ours; dashed: "
        "thesis)",
        draw_depths,
        size=(10.0, 8.0),
    ),
)
