"""The machine of chapter 4: layers of kernel components, a deep core vector machine on top.

A layer mixes a Gaussian, an arc-cosine kernel and a wider Gaussian without labels, finds the
principal components of the mixture and keeps those with the largest F ratio between classes: 5 %
of as many as there are rows. The layers do not depend on what is on top, so three of them are
grown once and every depth gets its own core vector machine; depth 0 is that machine alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_fscore_support
from sklearn.model_selection import StratifiedKFold

from kernelm import CoreVectorClassifier, KernelPCA, MultipleKernelLearner, select_kernel
from kernelm.kernels import ArcCosine, Gaussian, Kernel
from kernelm.learn.layer import learn_layer
from kernelm.search import Trial
from papers.deep_kernel.lists import LISTS, words
from papers.deep_kernel.sets import Split
from papers.seeds import SEED

LAYERS, KEEP = 3, 0.05
MIXED_ROWS = 3000  # from which a layer learns the weights of its kernels
FOLDS = 3


@final
@dataclass(frozen=True)
class Effort:
    """How much work a table may be."""

    splits: tuple[int, int] = (5, 3)  #: random ones, up to 1,000 and up to 5,000 training rows
    rows: int | None = None  #: for training at most
    test_rows: int | None = None
    list_rows: int = 500  #: on which all lists are ranked
    final_rows: int = 1500  #: and the best of them
    finalists: int = 5
    n_landmarks: int = 1024
    judged_rows: int = 2000  #: training rows on which scalings and depths are compared
    n_folds: int = FOLDS  #: of three that are looked at

    def n_splits(self, n_rows: int) -> int:
        """Return the number of random splits of a set with so many training rows."""
        few, some = self.splits
        return few if n_rows <= 1000 else some if n_rows <= 5000 else 1


class Report(NamedTuple):
    """What is printed of a machine: weighted means over the classes, and the accuracy in %."""

    precision: float
    recall: float
    f1: float
    accuracy: float


@final
@dataclass(frozen=True)
class Outcome:
    """All scalings and depths on one split: on test rows, and on left-out training rows."""

    lists: dict[str, str]  #: by scaling
    weights: dict[str, list[list[float]]]  #: of the kernels, by scaling and layer
    reports: dict[tuple[str, int], Report]  #: by scaling and depth
    judged: dict[tuple[str, int], float]  #: accuracy in % on training rows that were left out


def chosen_list(split: Split, effort: Effort) -> ArcCosine:
    """Return the list of degrees for rows as they are scaled.

    Leave-one-out finds the best list of unit length, and the best of degrees 0 and 1 as it is,
    which keeps how long a row is; the core vector machine itself decides between the two, by
    cross-validation.
    """
    best = [
        ranked_lists(split.X, split.y, normalize=normalize, effort=effort)[0].kernel
        for normalize in (True, False)
    ]
    kernel = max(best, key=lambda kernel: _judged(split, kernel, effort, depths=1)[0])
    assert isinstance(kernel, ArcCosine)
    return kernel


def ranked_lists(X: NDArray, y: NDArray, *, normalize: bool, effort: Effort) -> list[Trial]:
    """Rank lists of degrees on training rows: all on some of them, and the best on more."""
    # Degrees above 1 raise the length of a row to a power, and layers of them overflow.
    degrees = [d for d in LISTS if normalize or max(d) <= 1]
    lists: list[Kernel] = [ArcCosine(d, normalize=normalize) for d in degrees]
    for rows in (effort.list_rows, effort.final_rows):
        ranked = select_kernel(X, y, lists, n_samples=rows, scale_inputs=False, random_state=SEED)
        if len(y) <= rows:
            break
        lists = [trial.kernel for trial in ranked[: effort.finalists]]
    return list(ranked)


def compared(
    split: Split, scalings: tuple[str, ...], effort: Effort, depths: int = LAYERS + 1
) -> Outcome:
    """Fit depths from 0 on for every scaling; the list is chosen once for a scaling."""
    found = Outcome({}, {}, {}, {})
    for scaling in scalings:
        rows = split.scaled(scaling)
        kernel = chosen_list(rows, effort)
        found.lists[scaling], found.weights[scaling] = words(kernel), []
        for depth, features in enumerate(_grown(rows, kernel, effort.n_landmarks, depths)):
            found.reports[scaling, depth] = _report(features.rows, kernel)
            if depth:
                found.weights[scaling].append(features.weights)
        for depth, accuracy in enumerate(_judged(rows, kernel, effort, depths)):
            found.judged[scaling, depth] = accuracy
    return found


def _judged(split: Split, kernel: Kernel, effort: Effort, depths: int) -> list[float]:
    """Return the accuracy of each depth on training rows, each fold left out in turn."""
    X, y = split.X[: effort.judged_rows], split.y[: effort.judged_rows]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(X, y)
    scores = []
    for kept, left_out in islice(folds, effort.n_folds):
        rows = Split(X[kept], y[kept], X[left_out], y[left_out])
        grown = _grown(rows, kernel, effort.n_landmarks, depths)
        scores.append([_report(features.rows, kernel).accuracy for features in grown])
    return [float(s) for s in np.mean(scores, axis=0)]


def _report(rows: Split, kernel: Kernel) -> Report:
    """Fit the core vector machine and see what it makes of the test rows."""
    # Single precision is enough for a margin, not for components, nor for the long rows of lists
    # that are not of unit length.
    dtype = np.float32 if getattr(kernel, "normalize", False) else np.float64
    X, X_test = rows.X.astype(dtype), rows.X_test.astype(dtype)
    top = CoreVectorClassifier(kernel, scale_inputs=False, random_state=SEED)
    predicted = top.fit(X, rows.y).predict(X_test)
    means = precision_recall_fscore_support(
        rows.y_test, predicted, average="weighted", zero_division=0
    )
    accuracy = 100 * np.mean(predicted == rows.y_test)
    return Report(*(float(m) for m in means[:3]), float(accuracy))


class _Features(NamedTuple):
    """Rows after a layer, and the weights of its kernels."""

    rows: Split
    weights: list[float]


def _grown(split: Split, kernel: Kernel, n_landmarks: int, depths: int) -> Iterator[_Features]:
    """Yield rows as they are, and then their features after each layer."""
    yield _Features(split, [])
    index = np.unique(split.y, return_inverse=True)[1]
    keep = max(1, round(KEEP * len(index)))
    form = "exact" if len(index) <= n_landmarks else "nystrom"
    mix = [Gaussian("0.5*median"), kernel, Gaussian("median")]
    for _ in range(depths - 1):
        learner = MultipleKernelLearner(mix, n_samples=MIXED_ROWS, random_state=SEED)
        pca = KernelPCA(approximation=form, n_landmarks=n_landmarks, random_state=SEED)
        layer, H = learn_layer(split.X, index, learner, pca, [None], [keep], kernel, SEED)
        split = replace(split, X=H, X_test=layer.map(split.X_test))
        yield _Features(split, [round(float(w), 3) for w in layer.weights])
