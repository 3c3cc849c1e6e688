"""One machine on one split: how good, how fast, how large."""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, mean_absolute_error, mean_squared_error, r2_score

from kernelm.app.splits import Split

#: How memory is measured, for the report.
MEMORY = "largest growth of resident memory during fit, sampled every 5 ms (Linux only)"

#: Rows of the small fits that a fit time is estimated from; the last are this part of all.
FIRST_ROWS, SECOND_ROWS, LAST_SHARE = 100, 300, 8

_ONE_ROW_CALLS = 5
_STATM = Path("/proc/self/statm")
_LEAST_PROBABILITY = 1e-15


@final
@dataclass(frozen=True)
class Measurement:
    """What one machine did on one split."""

    split: int
    score: float  #: accuracy or R²
    errors: dict[str, float]  #: log-loss where there are probabilities; RMSE and MAE
    fit_seconds: float
    predict_seconds: float  #: all test rows in one call
    row_seconds: float  #: one row in one call
    model_bytes: int | None  #: of its pickle
    peak_bytes: int | None  #: see MEMORY


def measure(model: Any, split: Split, number: int, *, classes: bool) -> Measurement:
    """Fit a model and measure it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with PeakMemory() as memory:
            fit_seconds = _seconds(lambda: model.fit(split.X, split.y))
        begin = time.perf_counter()
        predicted = model.predict(split.X_test)
        predict_seconds = time.perf_counter() - begin
        one = split.X_test[:1]
        calls = [_seconds(lambda: model.predict(one)) for _ in range(_ONE_ROW_CALLS)]
        judged = _classes_judged if classes else _values_judged
        score, errors = judged(model, split, predicted)
    return Measurement(
        number,
        score,
        errors,
        fit_seconds,
        predict_seconds,
        float(np.median(calls)),
        _pickled_bytes(model),
        memory.bytes,
    )


def estimated_seconds(
    make: Callable[[], Any], split: Split, growth: float, patience: float
) -> float:
    """Return about how long a fit to all training rows takes, from fits to a few of them.

    The first fit also compiles; later ones have more rows, as long as patience lasts.
    """
    n = len(split.y)
    sizes = [s for s in (SECOND_ROWS, n // LAST_SHARE) if FIRST_ROWS < s <= n // 2]
    seconds = _small_fit(make, split, min(FIRST_ROWS, n))
    for size in sorted(sizes):
        if seconds > patience:
            break
        seconds = _small_fit(make, split, size) * (n / size) ** growth
    return seconds


def log_loss(P: NDArray, y: NDArray, labels: NDArray) -> float:
    """Return the mean of -log p of the true class; a class that a model never saw has p = 0.

    Examples
    --------
    >>> P = np.array([[0.5, 0.5], [0.1, 0.9]])
    >>> print(f"{log_loss(P, np.array([0, 1]), np.array([0, 1])):.3f}")
    0.399
    """
    column = {label: j for j, label in enumerate(labels.tolist())}
    truth = [column.get(label, -1) for label in y.tolist()]
    p = np.where(np.array(truth) >= 0, P[np.arange(len(y)), truth], 0.0)
    return float(-np.log(np.maximum(p, _LEAST_PROBABILITY)).mean())


def _classes_judged(model: Any, split: Split, predicted: NDArray) -> tuple[float, dict[str, float]]:
    errors: dict[str, float] = {}
    if hasattr(model, "predict_proba"):
        P = model.predict_proba(split.X_test)
        errors["log-loss"] = log_loss(P, split.y_test, np.asarray(model.classes_))
    return float(accuracy_score(split.y_test, predicted)), errors


def _values_judged(model: Any, split: Split, predicted: NDArray) -> tuple[float, dict[str, float]]:
    rmse = float(np.sqrt(mean_squared_error(split.y_test, predicted)))
    mae = float(mean_absolute_error(split.y_test, predicted))
    return float(r2_score(split.y_test, predicted)), {"RMSE": rmse, "MAE": mae}


def _small_fit(make: Callable[[], Any], split: Split, n_rows: int) -> float:
    """Return seconds of a fit to a few rows; where they are too few for a machine, of the try."""

    def attempt() -> None:
        try:
            make().fit(split.X[:n_rows], split.y[:n_rows])
        except Exception:  # the fit to all rows will say what is wrong, if anything is
            return

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _seconds(attempt)


def _seconds(call: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def _pickled_bytes(model: Any) -> int | None:
    try:
        return len(pickle.dumps(model))
    except Exception:  # a model of someone else's may hold what cannot be pickled
        return None


@final
class PeakMemory:
    """How much resident memory grew at most in a block of code; None where /proc is not there."""

    def __init__(self, every: float = 0.005) -> None:
        self._every = every
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.bytes: int | None = None

    def __enter__(self) -> Self:
        _give_back()
        self._start = _resident()
        if self._start is not None:
            self.bytes = 0
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._start is not None:
            self._look()
            self._done.set()
            self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(self._every):
            self._look()

    def _look(self) -> None:
        grown = (_resident() or 0) - (self._start or 0)
        self.bytes = max(self.bytes or 0, grown)


def _give_back() -> None:
    """Return freed memory to the system, or the next fit would grow into it unseen."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:  # glibc
        trim(0)


def _resident() -> int | None:
    try:
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
