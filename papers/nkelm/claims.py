"""What the paper claims, judged by our results."""

from __future__ import annotations

from itertools import chain

from papers import catalog
from papers.experiment import Claim, Mode
from papers.nkelm.sets import SIZES
from papers.nkelm.sweeps import LANDMARKS
from papers.results import Results
from papers.verdicts import CONFIRMED, NOT_CONFIRMED, NOT_TESTABLE

Judged = tuple[str, str]

NOT_YET = (NOT_TESTABLE, "Not run yet.")
CLOSE = 0.5  # points of accuracy that ten splits of satimage do not tell apart for sure
CHOSEN_ELM = "ELM with λ and ridge chosen"
MEMORY_GB = 4  # of the paper's computer


def as_accurate_as_kelm(results: Results) -> Judged:
    """Judge NKELM with 300 landmarks against the kernel ELM on satimage."""
    ours, whole = (results.number("table4", "satimage", m) for m in ("NKELM", "KELM"))
    if ours is None or whole is None:
        return NOT_YET
    text = (
        f"satimage, {SIZES['satimage'].n_units} landmarks of 4,435 rows: {ours:.2f} % against "
        f"{whole:.2f} % (in print {_printed('table4')} %)."
    )
    curve = _highest(results)
    if 4435 in curve:
        enough = min(n for n in curve if curve[n] >= curve[4435] - CLOSE)
        text += (
            f" With the best C of figure 5, {enough:,} landmarks are within half a point of all "
            f"rows ({curve[enough]:.2f} and {curve[4435]:.2f} %)."
        )
    good = ours >= whole - CLOSE
    return CONFIRMED if good else NOT_CONFIRMED, text + _remark(results)


def beats_elm(results: Results) -> Judged:
    """Judge NKELM against an ELM with as many units, the paper's and one with more choices."""
    gaps, chosen = _gaps(results, "ELM"), _gaps(results, CHOSEN_ELM)
    if not gaps:
        return NOT_YET
    text = f"NKELM less ELM, in points: {_listed(gaps)}."
    if chosen:
        text += f" Against an ELM whose slope λ and ridge are chosen as well: {_listed(chosen)}."
    good = sum(gap > 0 for gap in gaps.values()) > len(gaps) / 2
    return CONFIRMED if good else NOT_CONFIRMED, text + _remark(results)


def like_svm(results: Results) -> Judged:
    """Judge NKELM against a support vector machine: on a par within a point."""
    gaps = _gaps(results, "SVM")
    if not gaps:
        return NOT_YET
    text = f"NKELM less SVM, in points: {_listed(gaps)}."
    n = (results.get("table4", "covtype", "SVM") or {}).get("n_train")
    if n is not None:
        text += f" On covtype the SVM has learned from {n:,} rows only."
    return CONFIRMED if min(gaps.values()) >= -1 else NOT_CONFIRMED, text + _remark(results)


def faster_than_kelm(results: Results) -> Judged:
    """Judge the training seconds of NKELM against those of the kernel ELM on satimage."""
    ours, whole = (results.number("table4", "satimage", m, "fit_s") for m in ("NKELM", "KELM"))
    if ours is None or whole is None:
        return NOT_YET
    ratio = whole / ours
    text = (
        f"satimage: {ours:.2f} s against {whole:.2f} s, {ratio:.0f} times as fast (in print "
        f"{_printed('table3')} s)."
    )
    many = results.number("figure5", "1000", "NKELM", "fit_s")
    if many is not None:
        text += f" With 1,000 landmarks it takes {many:.2f} s."
    return CONFIRMED if ratio >= 2 else NOT_CONFIRMED, text


def faster_than_others(results: Results) -> Judged:
    """Judge the training seconds of NKELM against those of ELM and SVM on the large sets."""
    texts, good = [], []
    for name in (name for name in SIZES if name != "satimage"):
        ours, elm, svm = (results.get("table4", name, m) for m in ("NKELM", "ELM", "SVM"))
        if ours is None or elm is None or svm is None:
            continue
        sampled = svm["n_train"] < ours["n_train"]
        good.append(ours["fit_s"] < elm["fit_s"])
        if not sampled or ours["fit_s"] < svm["fit_s"]:  # fewer rows say nothing but against SVM
            good.append(ours["fit_s"] < svm["fit_s"])
        note = f" (SVM on {svm['n_train']:,} rows)" if sampled else ""
        texts.append(
            f"{name} {ours['fit_s']:.2f}, {elm['fit_s']:.2f} and {svm['fit_s']:.2f} s{note}"
        )
    if not texts:
        return NOT_YET
    text = f"Seconds of NKELM, ELM and SVM: {'; '.join(texts)}." + _remark(results)
    return CONFIRMED if all(good) else NOT_CONFIRMED, text


def enough_landmarks(results: Results) -> Judged:
    """Judge what landmarks beyond 1,000 add on satimage, with the best C of each."""
    curve = _highest(results)
    if 1000 not in curve or max(curve) <= 1000:
        return NOT_YET
    gain = max(v for n, v in curve.items() if n > 1000) - curve[1000]
    before = curve[1000] - curve.get(100, curve[1000])
    shown = ", ".join(f"{n:,}: {v:.2f}" for n, v in curve.items())
    text = (
        f"Highest accuracy along C, in percent ({shown}): {before:+.2f} points from 100 to 1,000 "
        f"landmarks, {gain:+.2f} beyond."
    )
    return CONFIRMED if gain <= 2 * CLOSE else NOT_CONFIRMED, text + _remark(results)


def best_penalty(results: Results) -> Judged:
    """Judge where accuracy along C is highest, and how it falls beyond with many landmarks."""
    cells = _cells(results)
    if not {100, 4435} <= set(cells):
        return NOT_YET
    # Small layers are flat at the top: what counts is where 2^7 stands to the best.
    at_7 = {n: c["y"][c["x"].index(7)] - c["score"] for n, c in cells.items()}
    falls = {n: c["score"] - c["at 2^20"] for n, c in cells.items()}
    few = max(fall for n, fall in falls.items() if n <= 1000)
    text = (
        f"At C = 2^7 accuracy is at most {-min(at_7.values()):.2f} points below its highest, "
        f"whatever L. From the highest to C = 2^20 it falls by at most {few:.2f} points with up to "
        f"1,000 landmarks and by {falls[4435]:.2f} with all rows."
    )
    good = min(at_7.values()) >= -CLOSE and few <= 1 and falls[4435] >= 2
    return CONFIRMED if good else NOT_CONFIRMED, text + _remark(results)


def too_large_for_kelm(results: Results) -> Judged:
    """Judge by the size of the kernel matrix in double precision."""
    sizes = {name: 8 * size.n_train**2 / 1e9 for name, size in SIZES.items()}
    shown = ", ".join(f"{name} {gb:,.1f} GB" for name, gb in sizes.items())
    smallest = min(gb for name, gb in sizes.items() if name != "satimage")
    text = f"The kernel matrices take {shown}; the paper's computer had {MEMORY_GB} GB."
    return CONFIRMED if sizes["satimage"] < MEMORY_GB < smallest else NOT_CONFIRMED, text


def _printed(table: str) -> str:
    """Return what the paper has for NKELM and KELM on satimage."""
    known = catalog.expected("nkelm")
    cells = (known.get(table, "satimage", machine) for machine in ("NKELM", "KELM"))
    return " and ".join(f"{cell.value:.2f}" for cell in cells if cell is not None)


def _cells(results: Results) -> dict[int, dict]:
    found = {n: results.get("figure5", str(n), "NKELM") for n in LANDMARKS}
    return {n: cell for n, cell in found.items() if cell is not None}


def _highest(results: Results) -> dict[int, float]:
    return {n: cell["score"] for n, cell in _cells(results).items()}


def _gaps(results: Results, machine: str) -> dict[str, float]:
    """Return NKELM minus another machine on every set that has both, in points."""
    pairs = {n: [results.number("table4", n, m) for m in ("NKELM", machine)] for n in SIZES}
    return {n: pair[0] - pair[1] for n, pair in pairs.items() if None not in pair}


def _listed(gaps: dict[str, float]) -> str:
    return ", ".join(f"{name} {gap:+.2f}" for name, gap in gaps.items())


def _remark(results: Results) -> str:
    """Say so where numbers come from a quick run."""
    cells = chain.from_iterable(results.file(t)["cells"].values() for t in ("table4", "figure5"))
    quick = any(cell["mode"] == Mode.QUICK for cell in cells)
    return " Some of these numbers are of a quick run." if quick else ""


CLAIMS = (
    Claim("With few landmarks NKELM is as accurate as the kernel ELM.", as_accurate_as_kelm),
    Claim("On most sets it is more accurate than an ELM with as many units.", beats_elm),
    Claim("It is about as accurate as a support vector machine.", like_svm),
    Claim("It trains several times faster than the kernel ELM.", faster_than_kelm),
    Claim("On large sets it trains faster than ELM and SVM.", faster_than_others),
    Claim("More than about 1,000 landmarks gain very little on satimage.", enough_landmarks),
    Claim(
        "C near 2^7 is best; larger ones do no harm with few landmarks and much with many.",
        best_penalty,
    ),
    Claim("The kernel ELM runs out of memory on the four large sets.", too_large_for_kelm),
)
