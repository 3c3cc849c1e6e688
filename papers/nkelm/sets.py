"""The five sets at the sizes of table 1, and what is chosen on their training rows.

The paper neither says how it scaled the inputs nor tuned without the rows it tested on. Here
every split chooses anew, from its training rows alone: the scaling of the inputs (standardised,
or each column in [-1, 1]) together with the width σ of k(x, z) = exp(-σ‖x - z‖²), by closed-form
criteria on a sample of these rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from kernelm import ELMClassifier, KernelELMClassifier, select_kernel
from kernelm.data import load
from kernelm.kernels import Gaussian
from papers.experiment import Mode
from papers.seeds import first

LOG2_WIDTHS = range(-5, 6)  # as in section 7.2
CHOICE_ROWS = {Mode.QUICK: 4_000, Mode.FULL: 8_000}  # rows on which widths are compared
CHOICE_UNITS = {Mode.QUICK: 500, Mode.FULL: 1_300}  # with at most so many landmarks
EXACT_ROWS = 1_000  # rows of exact kernel machines
QUICK_ROWS, QUICK_TEST_ROWS = 20_000, 10_000


@dataclass(frozen=True)
class Size:
    """Rows of both parts (table 1), units or landmarks (table 2), and the splits of a full run."""

    n_train: int
    n_test: int
    n_units: int
    n_splits: int


SIZES = {
    "satimage": Size(4_435, 2_000, 300, 10),
    "shuttle": Size(43_500, 14_500, 1_000, 10),
    "skin": Size(145_057, 100_000, 450, 5),
    "ijcnn1": Size(49_990, 91_701, 1_300, 5),
    "covtype": Size(464_810, 116_202, 1_000, 3),
}


class Parts(NamedTuple):
    """Training and test rows of a split."""

    X: NDArray
    y: NDArray
    X_test: NDArray
    y_test: NDArray

    def scaled(self, scaling: str) -> Parts:
        """Return the rows in a scaling that the training rows determine."""
        scaler = self.scaler(scaling)
        return Parts(scaler.transform(self.X), self.y, scaler.transform(self.X_test), self.y_test)

    def scaler(self, scaling: str) -> StandardScaler | MinMaxScaler:
        """Return a scaling of all training rows."""
        scaler = StandardScaler() if scaling == "standardised" else MinMaxScaler((-1, 1))
        return scaler.fit(self.X)

    def head(self, n_train: int, n_test: int) -> Parts:
        """Return the first rows of both parts; the parts are shuffled."""
        X, y, X_test, y_test = self
        return Parts(X[:n_train], y[:n_train], X_test[:n_test], y_test[:n_test])


SCALINGS = ("standardised", "[-1, 1]")


class Choice(NamedTuple):
    """A scaling and the logarithm (base 2) of a width or a slope."""

    scaling: str
    log2: int


def seeds(name: str, mode: Mode) -> range:
    """Return the seeds of the splits of a set."""
    n_splits = SIZES[name].n_splits
    return first(min(n_splits // 3 or 1, 3) if mode is Mode.QUICK else n_splits)


def thinned(name: str, mode: Mode) -> str:
    """Return what is less than the ten splits of the paper at its sizes."""
    n = len(seeds(name, mode))
    notes = [f"{n} split{'s' * (n > 1)} instead of 10"] if n < 10 else []
    if mode is Mode.QUICK:
        notes += ["every second width"]
        if SIZES[name].n_train > QUICK_ROWS:
            notes += [f"{QUICK_ROWS:,} training and {QUICK_TEST_ROWS:,} test rows"]
    return ", ".join(notes)


@lru_cache(maxsize=1)
def split(name: str, seed: int, mode: Mode) -> Parts:
    """Return a random split of the sizes of table 1, classes in proportion; thinned if quick."""
    X, X_test, y, y_test = load(name).split(SIZES[name].n_test, seed)
    parts = Parts(X.astype(np.float64), y, X_test.astype(np.float64), y_test)
    return parts.head(QUICK_ROWS, QUICK_TEST_ROWS) if mode is Mode.QUICK else parts


@lru_cache(maxsize=64)
def landmark_choice(name: str, seed: int, mode: Mode) -> Choice:
    """Choose scaling and width by generalised cross-validation of a small NKELM."""
    n_landmarks = min(SIZES[name].n_units, CHOICE_UNITS[mode])

    def score(choice: Choice) -> float:
        X, y = _sample(name, seed, mode, choice.scaling)
        model = nkelm(choice.log2, n_landmarks, seed=seed).fit(X, y)
        return model.path_.score

    return min(_candidates(mode), key=score)


@lru_cache(maxsize=64)
def exact_choice(name: str, seed: int, mode: Mode) -> Choice:
    """Choose scaling and width by exact leave-one-out of the kernel machine on a few rows."""
    kernels = {gaussian(j): j for j in _log2_widths(mode)}
    best = {}
    for scaling in SCALINGS:
        X, y = _sample(name, seed, mode, scaling)
        first = select_kernel(
            X[:EXACT_ROWS],
            y[:EXACT_ROWS],
            list(kernels),
            scale_inputs=False,
            fit_intercept=False,
        )[0]
        best[Choice(scaling, kernels[first.kernel])] = first.score
    return min(best, key=best.__getitem__)


@lru_cache(maxsize=64)
def layer_choice(name: str, seed: int, mode: Mode, log2_slopes: tuple[int, ...]) -> Choice:
    """Choose scaling and slope λ of sigmoid units by generalised cross-validation."""
    n_units = min(SIZES[name].n_units, CHOICE_UNITS[mode])

    def score(choice: Choice) -> float:
        X, y = _sample(name, seed, mode, choice.scaling)
        return elm(n_units, choice.log2, "gcv", seed=seed).fit(X, y).path_.score

    return min((Choice(*c) for c in product(SCALINGS, log2_slopes)), key=score)


def gaussian(log2_width: int) -> Gaussian:
    """Return the kernel exp(-σ‖x - z‖²) with σ = 2^log2_width."""
    return Gaussian.from_gamma(2.0**log2_width)


def nkelm(
    log2_width: int, n_landmarks: int, *, seed: int, alpha: float | str = "gcv"
) -> KernelELMClassifier:
    """Return the machine of the paper: uniform landmarks, no intercept."""
    return KernelELMClassifier(
        gaussian(log2_width),
        approximation="nystrom",
        n_landmarks=n_landmarks,
        scale_inputs=False,
        fit_intercept=False,
        alpha=alpha,
        random_state=seed,
    )


def elm(n_units: int, log2_slope: int, alpha: float | str, *, seed: int) -> ELMClassifier:
    """Return an ELM of sigmoid units, weights and biases uniform in ±slope, no output bias."""
    return ELMClassifier(
        n_units,
        activation="sigmoid",
        weights="uniform",
        weight_scale=2.0**log2_slope,
        scale_inputs=False,
        fit_intercept=False,
        alpha=alpha,
        random_state=seed,
    )


def _log2_widths(mode: Mode) -> Iterable[int]:
    return LOG2_WIDTHS[::2] if mode is Mode.QUICK else LOG2_WIDTHS


def _candidates(mode: Mode) -> Iterable[Choice]:
    return (Choice(*c) for c in product(SCALINGS, _log2_widths(mode)))


@lru_cache(maxsize=2)
def _sample(name: str, seed: int, mode: Mode, scaling: str) -> tuple[NDArray, NDArray]:
    parts = split(name, seed, mode)
    n = CHOICE_ROWS[mode]
    return parts.scaler(scaling).transform(parts.X[:n]), parts.y[:n]
