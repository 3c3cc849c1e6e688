"""The sets of chapters 3 and 5, split as the thesis says, and their scalings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from kernelm.data import Dataset, load
from papers.seeds import SEED

#: Rows for training and for test of the random splits (table 5.1).
SIZES = {
    "australian": (460, 230),
    "colon": (30, 32),
    "pima_diabetes": (512, 256),
    "glass": (142, 72),
    "iris": (100, 50),
    "leukemia": (38, 34),
    "letter": (13_333, 6_667),
    "liver_bupa": (230, 115),
    "mushroom": (1_500, 6_624),
    "satimage": (4_435, 2_000),
    "segment": (1_540, 770),
    "wine": (118, 60),
}
#: Microarrays, as in the files of the repository that the thesis names: logarithms of intensities,
#: each row standardised. Below this intensity (usual for the chip) there is noise.
FLOORS = {"colon": 1.0, "leukemia": 100.0}

_SCALERS = {"standard": StandardScaler, "robust": RobustScaler, "minmax": MinMaxScaler}


@final
@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows, both in random order."""

    X: NDArray
    y: NDArray
    X_test: NDArray
    y_test: NDArray

    def head(self, n_train: int, n_test: int | None = None) -> Split:
        """Return the first rows of both parts."""
        return Split(self.X[:n_train], self.y[:n_train], self.X_test[:n_test], self.y_test[:n_test])

    def scaled(self, scaler: str) -> Split:
        """Return the rows scaled by the training part: "raw", "standard", "robust", "minmax"."""
        if scaler == "raw":
            return self
        fitted = _SCALERS[scaler]().fit(self.X)
        return replace(self, X=fitted.transform(self.X), X_test=fitted.transform(self.X_test))


def random_split(name: str, seed: int) -> Split:
    """Return a random split of the sizes in table 5.1; classes keep their shares."""
    data, (n_train, n_test) = _loaded(name), SIZES[name]
    X, y = _rows(data), data.y
    train, test = train_test_split(
        np.arange(len(y)), train_size=n_train, test_size=n_test, random_state=seed, stratify=y
    )
    return Split(X[train], y[train], X[test], y[test])


def official_split(name: str) -> Split:
    """Return the split that a set comes with."""
    data = _loaded(name)
    parts = []
    for X, y in (data.train, data.test):
        order = np.random.default_rng(SEED).permutation(len(y))
        parts += [X[order].astype(np.float64), y[order]]
    return Split(*parts)


def binary_split(name: str, n_test: int) -> Split:
    """Return all rows of a set but some for test; of covtype, the second class against the rest."""
    data = _loaded(name)
    y = np.where(data.y == 2, 1, -1) if name == "covtype" else data.y
    order = np.random.default_rng(SEED).permutation(len(y))
    test, train = order[:n_test], order[n_test:]
    return Split(data.X[train], y[train], data.X[test], y[test])


@lru_cache(maxsize=2)
def _loaded(name: str) -> Dataset:
    return load(name)


def _rows(data: Dataset) -> NDArray:
    X = data.X.astype(np.float64)
    if data.name in FLOORS:
        X = np.log(np.maximum(X, FLOORS[data.name]))
        X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    return X
