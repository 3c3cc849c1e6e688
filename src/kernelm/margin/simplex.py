r"""A quadratic programme on the simplex, small enough for its matrix to be here.

.. math:: \max_\alpha\; \alpha^\top g - \alpha^\top Q \alpha, \qquad
   \sum_i \alpha_i = 1,\; \alpha \ge 0

At the optimum :math:`g_i - 2 (Q\alpha)_i` is one number :math:`\lambda` wherever
:math:`\alpha_i > 0`, and no larger elsewhere. If it is known where, both are one linear solve:

.. math:: \alpha = \tfrac12 Q^{-1} (g - \lambda 1), \qquad
   \lambda = (1^\top Q^{-1} g - 2) \,/\, 1^\top Q^{-1} 1 .

So one guesses the support, solves, and exchanges all entries with the wrong sign at once: block
principal pivoting, exact in a handful of Cholesky factors. For many points that are nearly solved
already, steps that move weight between two entries are far cheaper; they also end the rare case
that the guesses go round in circles.

References
----------
Júdice and Pires (1994), A block principal pivoting algorithm for large-scale strictly monotone
linear complementarity problems. Kim and Park (2011), Fast nonnegative matrix factorization, §4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelm._lapack import potrf, trsm

_EXCHANGES = 40  # supports that are tried
_PATIENCE = 4  # exchanges of all wrong entries that may fail to make them fewer
_EPS = float(np.finfo(np.float64).eps)


class Vertex(NamedTuple):
    """Weights on the simplex, exact or nearly so."""

    alpha: NDArray
    slope: NDArray  #: g − 2Qα, the same number wherever α > 0 if the solution is exact

    @property
    def level(self) -> float:
        """λ, the mean slope under α."""
        return float(self.alpha @ self.slope)


def maximise(Q: NDArray, g: NDArray, start: NDArray) -> Vertex:
    """Solve the programme; ``start`` is a guess of the support.

    Examples
    --------
    >>> import numpy as np
    >>> Q, g = np.diag([1.0, 2.0, 100.0]), np.array([1.0, 1.0, -9.0])
    >>> maximise(Q, g, np.ones(3, bool)).alpha.round(3)
    array([0.667, 0.333, 0.   ])
    """
    support = start.copy() if start.any() else np.ones(len(g), bool)
    P, alpha = np.arange(len(g)), np.full(len(g), 1 / len(g))
    fewest, tries = len(g) + 1, _PATIENCE
    tolerance = 64 * _EPS * (float(np.abs(g).max()) + float(np.diagonal(Q).max()))
    for _ in range(_EXCHANGES):
        P = np.flatnonzero(support)
        alpha, level = _on_support(Q[np.ix_(P, P)], g[P])
        slope = g - 2 * (Q[:, P] @ alpha)
        negative = P[alpha < 0]
        rising = np.flatnonzero(~support & (slope > level + tolerance))
        wrong = np.concatenate([negative, rising])
        if not len(wrong):
            full = np.zeros(len(g))
            full[P] = alpha
            return Vertex(full, slope)
        if len(wrong) < fewest:
            fewest, tries = len(wrong), _PATIENCE
        elif tries:
            tries -= 1
        else:
            wrong = wrong.max(keepdims=True)  # one at a time, by a rule that cannot cycle
        support[wrong] = ~support[wrong]
        if not support.any():
            support[int(np.argmax(g - np.diagonal(Q)))] = True
    full = np.zeros(len(g))
    full[P] = np.maximum(alpha, 0)
    return by_pairs(Q, g, full / full.sum(), tolerance)


def by_pairs(
    Q: NDArray, g: NDArray, alpha: NDArray, tolerance: float, steps: int = 10_000_000
) -> Vertex:
    """Solve by moving weight from the worst entry to the best one, again and again.

    It ends when no slope is more than ``tolerance`` above that of any entry with weight.
    """
    from kernelm.margin._loops import pairwise

    alpha = np.array(alpha, np.float64)
    slope = g - 2 * (Q @ alpha.astype(Q.dtype)).astype(np.float64)
    pairwise(Q, slope, alpha, tolerance, steps)
    return Vertex(alpha, slope)


def _on_support(Q: NDArray, g: NDArray) -> tuple[NDArray, float]:
    """Return weights that sum to one, of either sign, and λ."""
    U = factor(Q)
    both = np.array([g, np.ones(len(g))]).T
    trsm(U, both, transposed=True)
    trsm(U, both, transposed=False)
    u, v = both.T
    level = float((u.sum() - 2) / v.sum())
    return 0.5 * (u - level * v), level


def factor(Q: NDArray) -> NDArray:
    """Return the upper Cholesky factor of Q, of Q plus some rounding where it is singular."""
    jitter, mean = 0.0, float(np.diagonal(Q).mean()) or 1.0
    for _ in range(16):
        A = np.array(Q, np.float64, order="F")
        A[np.diag_indices_from(A)] += jitter
        if potrf(A) == 0:
            return A
        jitter = 10 * jitter or len(Q) * _EPS * mean
    raise np.linalg.LinAlgError("the matrix of the core set is not positive definite")
