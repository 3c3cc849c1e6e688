r"""Probabilities from decision values, fitted on leave-one-out values, agreeing with predict.

Least squares on codes of ±1 estimates :math:`2p - 1`, so that :math:`p \propto 1 + s`; where it
does not fit, scores grow like logits. The link between the two is

.. math:: p_k \propto \exp\bigl(a\, s_k + b \log(1 + s_k)_+\bigr), \qquad a, b \ge 0,

with a smooth positive part. It rises with the score and is the same for all classes, so the most
probable class is always the predicted one. Leave-one-out scores are honest, so no rows have to be
held back to fit a and b, and the fit is convex.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from kernelm.data.targets import best_class

# Width of the smooth positive part: the best of 0.03, 0.1, 0.3, 0.5 by the mean log of the
# leave-one-out log-loss on the training rows of letter, satimage, pendigits, ijcnn1, shuttle.
SMOOTH = 0.1


class Link(NamedTuple):
    """Slopes of the two parts of a logit."""

    linear: float
    log: float


def fit_link(scores: NDArray, index: NDArray, weight: NDArray | None = None) -> Link:
    """Return the link that minimises the log-loss of held-out scores.

    Labels are smoothed as if each class had one more row among the n (Platt, 1999): scores
    that happen to be all right do not make all probabilities one.

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
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(2000)
    >>> link = fit_link(2 * p[:, None] - 1, (rng.random(2000) < p).astype(int))
    >>> probabilities(np.array([[0.4]]), link).round(1)  # p = (1 + s) / 2
    array([[0.3, 0.7]])
    """
    w = np.ones(len(scores)) if weight is None else np.asarray(weight, np.float64)
    s, log = _parts(scores)
    n_classes = s.shape[1]
    smooth = n_classes / (w.sum() + n_classes)
    target = np.full(s.shape, smooth / n_classes)
    target[np.arange(len(s)), index] += 1 - smooth
    share = (w / max(w.sum(), np.finfo(float).tiny))[:, None]

    def log_loss(slopes: NDArray) -> tuple[float, NDArray]:
        log_p = log_softmax(slopes[0] * s + slopes[1] * log, axis=1)
        excess = share * (np.exp(log_p) - target)
        return -float(np.sum(share * target * log_p)), np.array(
            [np.sum(excess * s), np.sum(excess * log)]
        )

    bounds = [(1e-3, 1e3), (0.0, 1e3)]  # a positive slope: equal only where scores are
    best = minimize(log_loss, np.ones(2), jac=True, method="L-BFGS-B", bounds=bounds)
    return Link(*best.x.tolist())


def probabilities(scores: NDArray, link: Link) -> NDArray:
    """Return class probabilities whose largest entry is the class with the largest score."""
    s, log = _parts(scores)
    P = softmax(link.linear * s + link.log * log, axis=1).astype(scores.dtype)
    # Scores that differ by less than rounding give equal probabilities: break the tie alike.
    predicted = best_class(scores)
    rows = np.flatnonzero(P.argmax(axis=1) != predicted)
    P[rows, predicted[rows]] = np.nextafter(P[rows].max(axis=1), np.inf, dtype=P.dtype)
    return P


def _parts(scores: NDArray) -> tuple[NDArray, NDArray]:
    """Return scores, one column a class, and the log of the smooth positive part of 1 + s."""
    s = np.asarray(scores, np.float64)
    s = np.hstack([-s, s]) if s.shape[1] == 1 else s
    t = 1 + s
    root = np.sqrt(t * t + SMOOTH**2)
    # For t < 0 the sum t + root cancels; its conjugate does not.
    positive = np.where(t > 0, t + root, SMOOTH**2 / (root - np.minimum(t, 0)))
    return s, np.log(positive / 2)
