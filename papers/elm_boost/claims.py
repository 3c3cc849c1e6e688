"""What the paper claims, judged by our results."""

from __future__ import annotations

from functools import partial
from math import sqrt

from papers import catalog
from papers.elm_boost.steps import CENTRED, FOURIER, LEVEL, RESULTS
from papers.experiment import Claim, Mode, Result
from papers.results import Results
from papers.verdicts import CONFIRMED, NOT_CONFIRMED, NOT_TESTABLE

Judged = tuple[str, str]

NOT_YET = (NOT_TESTABLE, "Not run yet.")
NAMES = {"mnist": "MNIST", "fashion_mnist": "Fashion-MNIST"}
ABOUT_HALF = 0.25  # points that "about half a point" may be off
SATURATED = 7  # levels after which no gain is to be seen


def reaches_bound(results: Results, row: str) -> Judged:
    """Judge the accuracy of tanh units after the last step by the printed bound."""
    bound, cell = _printed(row, "tanh"), _full(results, row, "tanh")
    if cell is None:
        return _too_short(results, row, "tanh")
    text = (
        f"{cell['score']:.2f} % after {cell['x'][-1]} steps, {cell['optimistic']:.2f} % at best "
        f"along the way; the standard error of {cell['n_test']:,} test images is "
        f"{_standard_error(cell):.2f}."
    )
    fourier = _full(results, row, FOURIER)
    if fourier is not None:
        text += (
            f" With Fourier magnitudes beside the pixels, which the paper does not mention and "
            f"other published code of its author has: {fourier['score']:.2f} %."
        )
    pixels = _full(results, row, CENTRED)
    if pixels is not None:
        text += f" With the mean taken over images, pixel by pixel: {pixels['score']:.2f} %."
    return CONFIRMED if cell["score"] > bound else NOT_CONFIRMED, text


def stands_zeros(results: Results, row: str) -> Judged:
    """Judge the accuracy with a tenth of the pixels set to zero, by the best of three readings."""
    readings = {
        "in test images": "tanh",
        "in training images too": "zeroed in training too",
        "among normalised pixels of test images, centred over images": CENTRED,
    }
    cells = {name: _full(results, row, machine) for name, machine in readings.items()}
    known = {name: cell["zeroed"] for name, cell in cells.items() if cell is not None}
    if not known:
        return _too_short(results, row, "tanh", "zeroed")
    shown = ", ".join(f"{score:.2f} % with zeros {name}" for name, score in known.items())
    # A number printed without decimals is reached from half a point below.
    good = max(known.values()) >= _printed(row, "tanh zeroed") - 0.5
    text = f"{shown}. The paper does not say which it means."
    return CONFIRMED if good else NOT_CONFIRMED, text


def signs_cost_little(results: Results) -> Judged:
    """Judge what is lost with signs instead of tanh."""
    pairs = {r: [_full(results, r, m) for m in ("tanh", "sign")] for r in RESULTS.rows}
    drops = {r: a["score"] - b["score"] for r, (a, b) in pairs.items() if a and b}
    if len(drops) < len(pairs):
        return _too_short(results, "mnist", "sign")
    shown = ", ".join(f"{drop:.2f} points on {NAMES[row]}" for row, drop in drops.items())
    good = all(abs(drop - 0.5) <= ABOUT_HALF for drop in drops.values())
    return CONFIRMED if good else NOT_CONFIRMED, f"Signs cost {shown}."


def saturates(results: Results) -> Judged:
    """Judge the gain after about seven levels by the standard error of the test accuracy."""
    cells = {row: _full(results, row, "tanh") for row in RESULTS.rows}
    if None in cells.values():
        return _too_short(results, "mnist", "tanh")
    texts, good = [], []
    for row, cell in cells.items():
        at = dict(zip(cell["x"], cell["y"], strict=True))
        before, after = at[(SATURATED - 1) * LEVEL], cell["score"]
        error = _standard_error(cell)
        good.append(after - before <= error)
        texts.append(
            f"{NAMES[row]} {before:.2f} % after {SATURATED - 1} levels and {after:.2f} % after "
            f"{cell['x'][-1] // LEVEL} (standard error {error:.2f})"
        )
    return CONFIRMED if all(good) else NOT_CONFIRMED, "; ".join(texts) + "."


def improves_one_elm(results: Results) -> Judged:
    """Judge the last step against the first, which is an ELM of as many units by itself."""
    cells = {row: results.get("results", row, "tanh") for row in RESULTS.rows}
    known = {row: cell for row, cell in cells.items() if cell is not None}
    if not known:
        return NOT_YET
    shown = "; ".join(
        f"{NAMES[row]} {cell['y'][0]:.2f} % after one step, {cell['score']:.2f} % after "
        f"{cell['x'][-1]}"
        for row, cell in known.items()
    )
    good = all(c["score"] - c["y"][0] > 2 * _standard_error(c) for c in known.values())
    text = f"{shown}. An ELM with as many units in all is not in the paper's comparison."
    return CONFIRMED if good else NOT_CONFIRMED, text


def _full(results: Results, row: str, machine: str) -> Result | None:
    """Return a result of a full run, or None."""
    cell = results.cell("results", row, machine)
    return cell["result"] if cell is not None and cell["mode"] == Mode.FULL else None


def _too_short(results: Results, row: str, machine: str, field: str = "score") -> Judged:
    """Say what a quick run has, where the claim is about a full one."""
    score = results.get("results", row, machine)
    if score is None:
        return NOT_YET
    text = f"A quick run has {score[field]:.2f} % on {NAMES[row]} ({score['thinned']})."
    return NOT_TESTABLE, text


def _printed(row: str, column: str) -> float:
    printed = catalog.expected("elm_boost").get("results", row, column)
    assert printed is not None
    return printed.value


def _standard_error(cell: Result) -> float:
    """Return the standard error of an accuracy in points."""
    return sqrt(cell["score"] * (100 - cell["score"]) / cell["n_test"])


CLAIMS = (
    Claim("MNIST: more than 98.9 % from level 7 on.", partial(reaches_bound, row="mnist")),
    Claim(
        "Fashion-MNIST: more than 91.3 % from level 7 on.",
        partial(reaches_bound, row="fashion_mnist"),
    ),
    Claim("MNIST: 98 % with a tenth of the pixels zero.", partial(stands_zeros, row="mnist")),
    Claim(
        "Fashion-MNIST: 90 % with a tenth of the pixels zero.",
        partial(stands_zeros, row="fashion_mnist"),
    ),
    Claim("Signs instead of tanh cost about half a point.", signs_cost_little),
    Claim("After about seven levels there is no gain to be seen.", saturates),
    Claim("Boosting improves an ELM significantly.", improves_one_elm),
)
