"""Tables 3 and 4: seconds and megabytes at the shapes of the paper's two data sets.

What is measured does not depend on what the pixels show, so rows are synthetic: noise around
class centres.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelm import ELMClassifier, KernelELMClassifier
from kernelm.kernels import Gaussian
from papers.experiment import Column, Mode, Result, Table
from papers.measure import cost_of
from papers.seeds import SEED


class Shape(NamedTuple):
    """How many rows, columns and classes."""

    n_train: int
    n_test: int
    n_features: int
    n_classes: int

    def tenth(self) -> Shape:
        """Return the shape with a tenth of the rows."""
        return self._replace(n_train=self.n_train // 10, n_test=self.n_test // 10)


BU = Shape(14_000, 140, 1200, 7)
YOUTUBE = Shape(296_257, 74_062, 1770, 340)

#: Units or columns, and the sampled rows of the KELM that the paper has in the same row.
PAIRS = {
    "25": (25, 0),
    "50 (500)": (50, 500),
    "100 (1000)": (100, 1000),
    "250 (2000)": (250, 2000),
    "500 (5000)": (500, 5000),
    "1000 (10000)": (1000, 10_000),
    "2000 (20000)": (2000, 20_000),
    "5000 (296257)": (5000, YOUTUBE.n_train),
}
QUICK_COLUMNS, QUICK_ROWS = 500, 2000
REPEATED = 500  # up to this size a fit is too short to be measured once


def run_small(row: str, machine: str, mode: Mode) -> Result:
    """Measure a machine at the shape of BU."""
    n = int(row)
    if mode is Mode.QUICK and n == BU.n_train:
        return measured(machine, n // 2, BU, mode) | {"thinned": "half of the 14,000 rows"}
    return measured(machine, n, BU, mode)


def run_large(row: str, machine: str, mode: Mode) -> Result:
    """Measure a machine at the shape of YouTube Faces."""
    n = PAIRS[row][machine == "KELM"]
    if mode is Mode.FULL:
        return measured(machine, n, YOUTUBE, mode)
    if n > (QUICK_ROWS if machine == "KELM" else QUICK_COLUMNS):
        return {"thinned": "left to the full run", "seed": SEED}
    less = {"thinned": "a tenth of the rows, for training and for test"}
    return measured(machine, n, YOUTUBE.tenth(), mode) | less


def measured(machine: str, n: int, shape: Shape, mode: Mode) -> Result:
    """Return seconds and megabytes of a fit, and the seconds of all test rows.

    The first prediction looks whether single precision will do: it counts as training. Short ones
    are measured three times in a full run: their medians, and the least memory, as
    what other calls leave behind can only add to it.
    """
    X, y, X_test, y_test = problem(shape)
    if machine == "KELM":
        X, y = X[:n], y[:n]  # rows are in no order
    times = 3 if mode is Mode.FULL and n <= REPEATED else 1
    fits, predictions, accuracy = [], [], 0.0
    for _ in range(times):
        model = build(machine, n, shape)
        fits.append(cost_of(lambda model=model: model.fit(X, y).predict(X_test[:1])))
        found: list[NDArray] = []
        predictions.append(cost_of(lambda model=model, to=found: to.append(model.predict(X_test))))
        accuracy = float(100 * np.mean(found[0] == y_test))
    seconds = float(np.median([s for s, _ in fits]))
    megabytes = [mb for _, mb in fits if mb is not None]
    return {
        "score": seconds,
        "fit_s": seconds,
        "predict_s": float(np.median([s for s, _ in predictions])),
        "mb": min(megabytes) if megabytes else None,
        "accuracy": accuracy,
        "n": n,
        "n_train": len(y),
        "n_test": len(y_test),
        "times": times,
        "seed": SEED,
    }


def build(machine: str, n: int, shape: Shape) -> Any:
    """Return a machine whose width and λ are given: no search is measured."""
    common: dict[str, Any] = {"scale_inputs": False, "fit_intercept": False, "random_state": SEED}
    if machine == "ELM":
        return ELMClassifier(n, activation="rbf", alpha=0.0, **common)
    kernel = Gaussian(float(np.sqrt(2 * shape.n_features)))  # about the distance of two rows
    if machine == "KELM":
        return KernelELMClassifier(kernel, approximation="exact", alpha=1.0, **common)
    return KernelELMClassifier(
        kernel, approximation="landmarks", n_landmarks=n, alpha=0.0, **common
    )


@lru_cache(maxsize=1)
def problem(shape: Shape) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return training and test rows in single precision, and warm the machines up."""
    rng = np.random.default_rng(SEED)
    centres = 0.2 * rng.standard_normal((shape.n_classes, shape.n_features), dtype=np.float32)
    parts = [_rows(n, centres, rng) for n in (shape.n_train, shape.n_test)]
    (X, y), (X_test, y_test) = parts
    for machine in ("ELM", "KELM", "AKELM"):  # imports and compiled loops are not what is measured
        build(machine, 20, shape).fit(X[:1000], y[:1000]).predict(X_test[:10])
    return X, y, X_test, y_test


def _rows(
    n: int, centres: NDArray, rng: np.random.Generator, block: int = 8192
) -> tuple[NDArray, NDArray]:
    """Fill rows block by block: nothing as large stands beside them."""
    y = rng.integers(len(centres), size=n)
    X = np.empty((n, centres.shape[1]), np.float32)
    for start in range(0, n, block):
        rows = slice(start, start + block)
        rng.standard_normal(out=X[rows], dtype=np.float32)
        X[rows] += centres[y[rows]]
    return X, y


_COLUMNS = tuple(
    Column(f"{quantity}_{name}", of=machine, field=field, unit=unit, better="")
    for quantity, field, unit in (
        ("train_s", "fit_s", "s"),
        ("test_s", "predict_s", "s"),
        ("mem_MB", "mb", "MB"),
    )
    for name, machine in (("ELM_RELM", "ELM"), ("KELM", "KELM"), ("AKELM", "AKELM"))
)
_MEMORY = (
    "Memory: what training adds to the process at its peak (the paper counts the entries of its "
    "largest matrix). Sums over blocks of rows take the place of that matrix, so ours begins with "
    "what blocks and a sample of rows take, and hardly grows with n."
)
_NONE = "the paper has no number there"

TABLE3 = Table(
    name="table3",
    title="time and memory at the shape of BU",
    rows=("25", "50", "100", "250", "500", "14000"),
    columns=_COLUMNS,
    run=run_small,
    note="Synthetic rows of BU's shape: 14,000 × 1,200 in single precision, 7 classes, 140 test "
    "rows. Width and λ are given. " + _MEMORY,
    alone=True,
    not_run={"14000/ELM": _NONE, "14000/AKELM": _NONE},
)

TABLE4 = Table(
    name="table4",
    title="time and memory at the shape of YouTube Faces",
    rows=tuple(PAIRS),
    columns=_COLUMNS,
    run=run_large,
    note="Synthetic rows of YouTube Faces' shape: 296,257 × 1,770 in single precision, 340 "
    "classes, 74,062 test rows. The number in brackets is that of KELM's sampled rows. In print "
    "KELM's memory stands one row too high, and its last row is an extrapolation. " + _MEMORY,
    alone=True,
    not_run={
        "25/KELM": _NONE,
        "5000 (296257)/KELM": "its kernel matrix alone would take 351 GB in single precision",
        "5000 (296257)/ELM": "left out for its time; the row before has both",
    },
)
