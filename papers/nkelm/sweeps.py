"""Figures 4 to 6: satimage with more and more landmarks L, and every C.

Each cell is the algorithm of the paper as it is printed, in double precision: features
F = K_xz U S^(-1/2) of L random rows, and one eigendecomposition of FᵀF for every C. With all rows
as landmarks that is the kernel ELM, one eigendecomposition of K (theorem 3). Nothing is chosen on
test rows: the figures show test accuracy along a sweep. Seconds are those of the library's own
machine with C = 2^7.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
from numpy.typing import NDArray

from kernelm.data.targets import Classes
from kernelm.ridge import DualFactor, Factor, Moments
from papers.experiment import Column, Mode, Result, Table
from papers.nkelm.accuracy import warm_up
from papers.nkelm.sets import Parts, gaussian, landmark_choice, nkelm, split
from papers.seeds import first

LANDMARKS = (100, 200, 300, 400, 500, 1000, 2000, 3000, 4435)
LOG2_C = tuple(range(-5, 21))
SHOWN_LOG2_C = (20, 15, 10, 5, 0, -5)  # one curve each in figure 4
SHOWN_LANDMARKS = (100, 300, 1000, 2000, 3000, 4435)  # the same in figure 5
TIMED_LOG2_C = 7
SPLITS = {Mode.QUICK: 1, Mode.FULL: 3}
RELATIVE_CUT = 1e-12  # smaller eigenvalues of K_zz are rounding


def run(row: str, machine: str, mode: Mode) -> Result:
    """Return test accuracy for every C, and seconds, with so many landmarks."""
    warm_up()
    n_landmarks, seeds = int(row), first(SPLITS[mode])
    runs = [_curve_and_seconds(n_landmarks, seed, mode) for seed in seeds]
    curve = np.mean([accuracy for accuracy, *_ in runs], axis=0).tolist()
    best = int(np.argmax(curve))
    bests = [float(accuracy[best]) for accuracy, *_ in runs]
    return {
        "score": curve[best],
        "log2_C_of_best": LOG2_C[best],
        "x": list(LOG2_C),
        "y": curve,
        "std": statistics.stdev(bests) if len(bests) > 1 else None,
        **{f"at 2^{c}": curve[LOG2_C.index(c)] for c in SHOWN_LOG2_C},
        "fit_s": statistics.median(fit_s for _, fit_s, _ in runs),
        "predict_s": statistics.median(predict_s for *_, predict_s in runs),
        "seeds": list(seeds),
        "thinned": f"{len(seeds)} split{'s' * (len(seeds) > 1)}",
    }


def _curve_and_seconds(n_landmarks: int, seed: int, mode: Mode) -> tuple[NDArray, float, float]:
    choice = landmark_choice("satimage", seed, mode)  # for 300 landmarks, as in table 4
    parts = split("satimage", seed, mode).scaled(choice.scaling)
    model = nkelm(choice.log2, n_landmarks, seed=seed, alpha=2.0**-TIMED_LOG2_C)
    start = time.perf_counter()
    model.fit(parts.X, parts.y)
    fitted = time.perf_counter()
    model.predict(parts.X_test)
    predicted = time.perf_counter()
    accuracy = accuracies(parts, choice.log2, n_landmarks, seed)
    return accuracy, fitted - start, predicted - fitted


def accuracies(parts: Parts, log2_width: int, n_landmarks: int, seed: int) -> NDArray:
    """Return test accuracy in percent for every C of the sweep."""
    X, y, X_test, y_test = parts
    kernel, classes = gaussian(log2_width), Classes(np.unique(y))
    Y = classes.encode(y, np.float64)
    if n_landmarks == len(X):
        dual = DualFactor.of(kernel.gram(X), Y, intercept=False)
        weights = [dual.coef(2.0**-c).coef for c in LOG2_C]
        F_test = kernel.gram(X_test, X)
    else:
        Z = X[np.random.default_rng(seed).permutation(len(X))[:n_landmarks]]
        S, U = np.linalg.eigh(kernel.gram(Z))
        kept = RELATIVE_CUT * S[-1] < S
        whiten = U[:, kept] / np.sqrt(S[kept])
        factor = Factor.of(Moments.of(kernel.gram(X, Z) @ whiten, Y), intercept=False)
        weights = [factor.coef(2.0**-c).coef for c in LOG2_C]
        F_test = kernel.gram(X_test, Z) @ whiten
    hits = [np.mean(classes.decode(F_test @ W) == y_test) for W in weights]
    return 100 * np.array(hits)


_ROWS = tuple(str(n) for n in LANDMARKS)
_NOTE = "satimage, {}; test accuracy along a sweep, nothing is chosen"

FIGURE5 = Table(
    name="figure5",
    title="Accuracy against C",
    rows=_ROWS,
    columns=(
        Column("highest", of="NKELM", better=""),
        Column("log2 C there", of="NKELM", field="log2_C_of_best", unit="", better=""),
        Column("at C = 2^20", of="NKELM", field="at 2^20", better=""),
    ),
    run=run,
    note=_NOTE.format("a row for each number of landmarks"),
    alone=True,
)

FIGURE4 = Table(
    name="figure4",
    title="Accuracy against the number of landmarks",
    rows=_ROWS,
    columns=tuple(
        Column(f"C = 2^{c}", of="NKELM", field=f"at 2^{c}", better="") for c in SHOWN_LOG2_C
    ),
    run=run,
    note=_NOTE.format("a row for each number of landmarks, a column for each C"),
    alone=True,
    source="figure5",
)

FIGURE6 = Table(
    name="figure6",
    title="Seconds against the number of landmarks",
    rows=_ROWS,
    columns=(
        Column("training", of="NKELM", field="fit_s", unit="s", better=""),
        Column("test", of="NKELM", field="predict_s", unit="s", better=""),
    ),
    run=run,
    note="satimage, 4,435 training and 2,000 test rows; beyond 2,048 landmarks a Cholesky factor "
    "takes the place of the eigendecomposition",
    alone=True,
    source="figure5",
)
