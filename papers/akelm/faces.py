"""Faces that stand for those of the paper: one split after the other, in double precision.

Rounding decides what the plain ELM does with nearly dependent units; in single precision it
would lose to AKELM for that reason alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold

from kernelm.data import load
from papers.seeds import SEED, first

N_FOLDS = 5
SIDE, CROPPED = 48, 44  # pixels; the paper's 25 variants of an image are 5 × 5 places of a crop
PLACES = SIDE - CROPPED + 1


class Split(NamedTuple):
    """Training and test rows; the seed is that of whatever is drawn for them."""

    X: NDArray
    y: NDArray
    X_test: NDArray
    y_test: NDArray
    seed: int


def expression_folds(n_folds: int, n_rows: int) -> Iterator[Split]:
    """Yield folds of the expressions of CK+: no person is in both parts.

    The training part is enriched to ``n_rows`` rows by crops that are off the middle by up to two
    pixels, as the paper's is by shifted eyes; test images are cropped in the middle.
    """
    images, y, persons = _expressions()
    folds = StratifiedGroupKFold(N_FOLDS, shuffle=True, random_state=SEED).split(images, y, persons)
    for seed, (train, test) in zip(first(n_folds), folds, strict=False):
        drawn = np.random.default_rng(seed).choice(len(train) * PLACES**2, n_rows, replace=False)
        image, place = np.divmod(drawn, PLACES**2)
        X = np.empty((n_rows, CROPPED**2))
        for k in range(PLACES**2):
            X[place == k] = _crop(images[train[image[place == k]]], *divmod(k, PLACES))
        middle = PLACES // 2
        X_test = _crop(images[test], middle, middle)
        yield Split(X, y[train[image]], X_test, y[test], seed)


def identity_splits(name: str, n_splits: int) -> Iterator[Split]:
    """Yield random splits of images of persons: four fifths of each person's are for training."""
    data = load(name)
    for seed in first(n_splits):
        X, X_test, y, y_test = data.split(0.2, seed)
        yield Split(_pixels(X), y, _pixels(X_test), y_test, seed)


@lru_cache
def _expressions() -> tuple[NDArray, NDArray, NDArray]:
    """Return images, expressions and persons of CK+."""
    data = load("ck48")
    manifest = Path(os.environ.get("KERNELM_DATA", "."), "manifest.json")
    if not manifest.is_file():
        raise FileNotFoundError(
            "the persons of ck48 are in manifest.json beside it: set $KERNELM_DATA to their folder"
        )
    entries = json.loads(manifest.read_text(encoding="utf-8"))
    persons = next(e["row_subject_ids"] for e in entries if e["name"] == "ck48")
    return _pixels(data.X).reshape(-1, SIDE, SIDE), data.y, np.asarray(persons)


def _pixels(X: NDArray) -> NDArray:
    return X.astype(np.float64) / 255


def _crop(images: NDArray, top: int, left: int) -> NDArray:
    part = images[:, top : top + CROPPED, left : left + CROPPED]
    return part.reshape(len(images), -1)
