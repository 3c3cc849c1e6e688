"""The machines of chapters 3 and 5, C and times included."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_fscore_support
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from kernelm import CoreVectorClassifier, KernelELMClassifier, KernelSVC
from kernelm.kernels import Kernel
from papers.deep_kernel.sets import Split
from papers.seeds import SEED

COSTS = (1.0, 10.0, 100.0)
FOLDS = 3
#: Rows of a kernel matrix in double precision that KernelSVC holds.
MOST_ROWS = 20_000


def kernel_elm(kernel: Kernel, alpha: float | str = "loo") -> KernelELMClassifier:
    """Return the exact kernel ELM on rows as they are."""
    return KernelELMClassifier(
        kernel, approximation="exact", alpha=alpha, scale_inputs=False, random_state=SEED
    )


def core_vectors(kernel: Kernel, max_seconds: float | None = None) -> CoreVectorClassifier:
    """Return the core vector machine; it takes C from leave-one-out."""
    return CoreVectorClassifier(
        kernel, scale_inputs=False, max_seconds=max_seconds, random_state=SEED
    )


def deep_svm(kernel: Kernel, C: float, X: NDArray) -> KernelSVC:
    """Return the support vector machine, C in units of one over the mean of the diagonal."""
    unit = float(np.mean(kernel.diag(X[:1000])))
    return KernelSVC(kernel, C=C / unit, random_state=SEED)


def rbf_svm(C: float, X: NDArray) -> SVC:
    """Return libsvm with the width that the thesis gives it."""
    return SVC(C=C, gamma=1 / X.shape[1], break_ties=True)


def best_cost(make: Any, X: NDArray, y: NDArray, rows: int) -> float:
    """Return C by cross-validation on some training rows; of equals the smallest."""
    X, y = X[:rows], y[:rows]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    return max(COSTS, key=lambda C: cross_val_score(make(C, X), X, y, cv=folds).mean())


def fitted(model: Any, split: Split) -> tuple[Any, float]:
    """Fit a model; returns it with its CPU seconds, which other work does not lengthen."""
    start = time.process_time()
    model.fit(split.X, split.y)
    return model, time.process_time() - start


def scores(model: Any, split: Split) -> dict[str, float]:
    """Return accuracy in %, and precision, recall and F1 averaged over the classes."""
    predicted = model.predict(split.X_test)
    options: dict[str, Any] = {"average": "macro", "zero_division": 0}
    precision, recall, f1, _ = precision_recall_fscore_support(split.y_test, predicted, **options)
    accuracy = 100 * float(np.mean(predicted == split.y_test))
    means = {"precision": float(precision), "recall": float(recall), "f1": float(f1)}
    return {"score": accuracy} | means


def accuracy(model: Any, split: Split) -> float:
    """Return the accuracy on the test rows in %."""
    return 100 * float(model.score(split.X_test, split.y_test))
