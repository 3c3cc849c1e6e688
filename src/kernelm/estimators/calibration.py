"""Probabilities from decision values, fitted on leave-one-out values, agreeing with predict.

One temperature for all classes keeps the order of the scores, so the most probable class is
always the predicted one. Leave-one-out scores are honest, so no rows have to be held back.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit, log_softmax, softmax

from kernelm.estimators.targets import best_class


def fit_sharpness(scores: NDArray, index: NDArray, weight: NDArray | None = None) -> float:
    """Return the factor of the scores that minimises the log-loss of their probabilities.

    Parameters
    ----------
    scores : ndarray of shape (n, 1) or (n, C)
        Decision values of rows that the model did not see.
    index : ndarray of shape (n,)
        Position of the true class of each row.
    weight : ndarray of shape (n,), optional
        Row weights.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[1.0], [1.0], [1.0], [-1.0]])
    >>> round(fit_sharpness(scores, np.array([1, 1, 0, 0])), 2)  # 3 of 4 right: log 3
    1.1
    """
    w = np.ones(len(scores)) if weight is None else np.asarray(weight, np.float64)
    scores = np.asarray(scores, np.float64)
    spread = float(np.sqrt(np.average((scores**2).mean(axis=1), weights=w))) if w.any() else 0.0
    if not spread > 0 or not np.isfinite(spread):
        return 1.0
    signs = np.where(index == 1, 1.0, -1.0)

    def log_loss(log_factor: float) -> float:
        z = scores * (np.exp(log_factor) / spread)
        if z.shape[1] == 1:
            return -float(w @ log_expit(signs * z[:, 0]))
        return -float(w @ log_softmax(z, axis=1)[np.arange(len(z)), index])

    best = minimize_scalar(log_loss, bounds=(-7.0, 7.0), method="bounded", options={"xatol": 1e-6})
    return float(np.exp(best.x) / spread)


def probabilities(scores: NDArray, sharpness: float) -> NDArray:
    """Return class probabilities whose largest entry is the class with the largest score."""
    if scores.shape[1] == 1:
        p = expit(sharpness * scores[:, 0])
        P = np.stack([1 - p, p], axis=1)
    else:
        P = softmax(sharpness * scores, axis=1)
    # Scores that differ by less than rounding give equal probabilities: break the tie alike.
    predicted = best_class(scores)
    rows = np.flatnonzero(P.argmax(axis=1) != predicted)
    P[rows, predicted[rows]] = np.nextafter(P[rows].max(axis=1), np.inf, dtype=P.dtype)
    return P
