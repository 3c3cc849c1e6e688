"""What the paper claims, judged by our results."""

from __future__ import annotations

import numpy as np

from papers.akelm.accuracy import SIZES, row
from papers.akelm.costs import PAIRS, YOUTUBE
from papers.experiment import Claim, Mode, Result
from papers.results import Results
from papers.verdicts import CONFIRMED, NOT_CONFIRMED, NOT_TESTABLE

Judged = tuple[str, str]

NOT_YET = (NOT_TESTABLE, "Not run yet.")
CLOSE = 1.0  # point of accuracy
FEWEST = 100  # columns from which on their number decides the time
CUBIC = 5000  # rows from which on a Cholesky factor decides the time of KELM
LINEAR = 1.25  # exponent of n up to which time is said to grow in proportion


def beats_sampled_rows(results: Results) -> Judged:
    """Judge AKELM against KELM on as many rows as AKELM has columns."""
    gaps = _gaps(results, "KELM")
    if not gaps:
        return NOT_YET
    verdict, text = _mostly(gaps, "KELM on as many sampled rows")
    return verdict, text + _remark(results)


def beats_random_units(results: Results) -> Judged:
    """Judge AKELM against ELM and RELM with as many units."""
    against = {name: _gaps(results, name) for name in ("ELM", "RELM")}
    if not all(against.values()):
        return NOT_YET
    both = [_mostly(gaps, f"{name} with as many units") for name, gaps in against.items()]
    verdict = CONFIRMED if all(v == CONFIRMED for v, _ in both) else NOT_CONFIRMED
    return verdict, " ".join(text for _, text in both) + _remark(results)


def few_columns_do(results: Results) -> Judged:
    """Judge AKELM with the most columns of the paper against KELM on all rows of CK+."""
    texts, gaps = [], {}
    for name, (*sizes, n_rows) in SIZES.items():
        whole, most = _cell(results, name, n_rows, "KELM"), sizes[-1]
        known = {n: _score(results, name, n, "AKELM") for n in sizes}
        if whole is None or any(score is None for score in known.values()):
            continue
        gaps[name] = known[most] - whole["score"]
        enough = [n for n in sizes if known[n] >= whole["score"] - CLOSE]
        share = 100 * most / whole["n_train"]
        texts.append(
            f"{name}: {known[most]:.1f} % with {most} columns ({share:.1f} % of the rows), "
            f"{whole['score']:.1f} % with all {whole['n_train']:,} rows"
            + (f"; within a point from {enough[0]} columns on" if enough else "")
        )
    if "ck48" not in gaps:
        return NOT_YET
    verdict = CONFIRMED if gaps["ck48"] >= -CLOSE else NOT_CONFIRMED
    text = ". ".join(texts) + ". Only CK+ has so many rows that these columns are few."
    return verdict, text + _remark(results)


def cheaper_than_all_rows(results: Results) -> Judged:
    """Judge time and memory of AKELM against those of KELM on all 14,000 rows."""
    ours, whole = results.get("table3", "500", "AKELM"), results.get("table3", "14000", "KELM")
    if ours is None or whole is None:
        return NOT_YET
    faster = whole["fit_s"] / ours["fit_s"]
    text = (
        f"At the shape of BU 500 columns take {ours['fit_s']:.2f} s, KELM on "
        f"{whole['n_train']:,} rows {whole['fit_s']:.1f} s ({faster:.0f} times as long; in print "
        f"216 times)."
    )
    smaller = None
    if ours["mb"] and whole["mb"]:
        smaller = whole["mb"] / ours["mb"]
        text += (
            f" Memory: {ours['mb']:.0f} MB against {whole['mb']:.0f} MB ({smaller:.1f} times; in "
            f"print 28 times, of matrix entries alone)."
        )
    good = faster > 1 and (smaller is None or smaller > 1)
    return CONFIRMED if good else NOT_CONFIRMED, text


def grows_with_columns(results: Results) -> Judged:
    """Judge how time and memory grow with the number of columns at the shape of YouTube Faces."""
    cells = {PAIRS[label][0]: results.get("table4", label, "AKELM") or {} for label in PAIRS}
    cells = {n: cell for n, cell in cells.items() if cell.get("fit_s")}
    N = max((cell["n_train"] for cell in cells.values()), default=0)
    cells = {n: cell for n, cell in cells.items() if cell["n_train"] == N}
    # Below, what every fit does counts for more than the columns; above, the inputs for less.
    below = [n for n in cells if FEWEST <= n <= YOUTUBE.n_features]
    if len(below) < 2:
        return NOT_YET
    last, first = max(below), min(below)
    slope = _slope(first, last, cells)
    text = (
        f"From {first} to {last} columns on {N:,} rows, time grows from "
        f"{cells[first]['fit_s']:.1f} to {cells[last]['fit_s']:.1f} s, as n to the power "
        f"{slope:.2f} (with more columns than inputs the n² N of the sums takes over, as the "
        f"paper's own count says)."
    )
    frugal = True
    most = max(cells)
    if cells[most]["mb"]:
        matrix, every = (4 * n * N / 2**20 for n in (most, N))
        frugal = cells[most]["mb"] < every
        text += (
            f" With {most} columns training adds {cells[most]['mb']:,.0f} MB; the n × N matrix "
            f"would take {matrix:,.0f} MB, N × N {every:,.0f} MB: sums over blocks hold neither."
        )
    return CONFIRMED if slope <= LINEAR and frugal else NOT_CONFIRMED, text


def all_rows_of_youtube(results: Results) -> Judged:
    """Say what KELM on all rows of YouTube Faces would take."""
    N = YOUTUBE.n_train
    text = (
        f"The kernel matrix of {N:,} rows takes {4 * N**2 / 1e9:,.0f} GB in single precision; the "
        f"paper's 32 GB did not hold it either, so its 4·10⁵ s and 3·10⁵ MB are extrapolations."
    )
    cells = {PAIRS[k][1]: results.number("table4", k, "KELM", "fit_s") for k in PAIRS}
    measured = {n: s for n, s in cells.items() if s is not None and n >= CUBIC}
    if measured:
        n = max(measured)
        text += (
            f" From our {measured[n]:.1f} s for {n:,} rows, N³ would make "
            f"{measured[n] * (N / n) ** 3:.0e} s."
        )
    return NOT_TESTABLE, text


def _cell(results: Results, name: str, n: int, machine: str) -> Result | None:
    return results.get("table1" if name == "ck48" else "table2", row(name, n), machine)


def _score(results: Results, name: str, n: int, machine: str) -> float | None:
    return (_cell(results, name, n, machine) or {}).get("score")


def _remark(results: Results) -> str:
    """Say so where accuracies come from a quick run."""
    tables = (results.file(table)["cells"].values() for table in ("table1", "table2"))
    quick = any(cell["mode"] == Mode.QUICK for cells in tables for cell in cells)
    return " Some of these numbers are of a quick run." if quick else ""


def _gaps(results: Results, machine: str) -> list[float]:
    """Return AKELM minus another machine, in points, wherever there are more rows than n."""
    gaps = []
    for name, (*sizes, _) in SIZES.items():
        for n in sizes:
            ours, theirs = (_score(results, name, n, m) for m in ("AKELM", machine))
            if ours is not None and theirs is not None:
                gaps.append(ours - theirs)
    return gaps


def _mostly(gaps: list[float], other: str) -> Judged:
    better = sum(gap > 0 for gap in gaps)
    text = (
        f"Against {other} AKELM is better in {better} of {len(gaps)} rows of tables 1 and 2, by "
        f"{np.mean(gaps):+.1f} points on average ({min(gaps):+.1f} to {max(gaps):+.1f})."
    )
    return CONFIRMED if 2 * better > len(gaps) and np.mean(gaps) > 0 else NOT_CONFIRMED, text


def _slope(first: int, last: int, cells: dict[int, dict[str, float]]) -> float:
    times = cells[last]["fit_s"] / cells[first]["fit_s"]
    return float(np.log(times) / np.log(last / first))


CLAIMS = (
    Claim(
        "AKELM is more accurate than a KELM on as many sampled rows as it has columns.",
        beats_sampled_rows,
    ),
    Claim(
        "AKELM is in most cases more accurate than ELM and RELM with as many units.",
        beats_random_units,
    ),
    Claim("A few columns come close to a KELM on all rows.", few_columns_do),
    Claim(
        "AKELM trains faster and in less memory than a KELM on all rows.",
        cheaper_than_all_rows,
    ),
    Claim(
        "Its time grows no faster than its columns, and its memory stays far below that of N × N.",
        grows_with_columns,
    ),
    Claim("A KELM on all rows of YouTube Faces takes days and 300 GB.", all_rows_of_youtube),
)
