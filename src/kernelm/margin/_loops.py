"""Compiled loops of the core-set solvers, imported when the first of them is needed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath=True)
def pairwise(Q: Any, slope: Any, alpha: Any, tolerance: float, steps: int) -> int:
    """Move weight between two entries at a time until all slopes agree; return the moves.

    The first entry has the largest slope; the second is the one with weight that gains most.
    """
    n = len(slope)
    diagonal = np.empty(n)
    for k in range(n):
        diagonal[k] = Q[k, k]
    smallest = 1e-14 * np.max(diagonal)
    for step in range(steps):
        i = np.argmax(slope)
        top, low = slope[i], np.inf
        j, best = -1, 0.0
        row = Q[i]
        for k in range(n):
            if alpha[k] > 0:
                gap = top - slope[k]
                low = min(low, slope[k])
                curve = max(diagonal[i] + diagonal[k] - 2 * row[k], smallest)
                gain = gap * gap / curve
                if gain > best:
                    j, best = k, gain
        if j < 0 or top - low <= tolerance:
            return step
        curve = max(diagonal[i] + diagonal[j] - 2 * row[j], smallest)
        move = min(alpha[j], (top - slope[j]) / (2 * curve))
        alpha[i] += move
        alpha[j] = 0.0 if move == alpha[j] else alpha[j] - move
        other = Q[j]
        for k in range(n):
            slope[k] -= 2 * move * (row[k] - other[k])
    return steps


@njit(cache=True, nogil=True)
def pull(Q: Any, score: Any, alpha: Any, rho: float, eta: float, limit: float) -> float:
    """Let points pull a centre, the furthest first, until none is further than the limit.

    ``score`` is K̃α and ``rho`` the squared length of the centre, which is returned.
    """
    n = len(score)
    for _ in range(100 * n + 100_000):
        at = np.argmin(score)
        squared = rho - 2 * score[at] + eta
        if squared <= limit:
            break
        beta = np.sqrt(eta / squared)
        rest = 1 - beta
        rho = beta * beta * rho + 2 * beta * rest * score[at] + rest * rest * Q[at, at]
        row = Q[at]
        for k in range(n):
            score[k] = beta * score[k] + rest * row[k]
            alpha[k] *= beta
        alpha[at] += rest
    return rho
