r"""In which order do features explain the targets? Least angle regression for any outputs.

Multiresponse sparse regression moves the fit towards the least-squares solution on the active
features, until another feature correlates with the residuals as much as they do; that one joins.
The correlation of feature j is the norm over outputs :math:`\lVert x_j^\top (Y - \hat Y) \rVert_2`.
On the way, :math:`\hat Y + \gamma (\bar Y - \hat Y)`, those of the active features shrink together
as :math:`(1 - \gamma)\, c`, and a feature with :math:`u = x_j^\top (Y - \hat Y)` and
:math:`v = x_j^\top (\bar Y - \hat Y)` meets them where

.. math:: \lVert u - \gamma v \rVert = (1 - \gamma)\, c ,

a quadratic equation. With one output its solution is the step of least angle regression, so that
the order is that of LARS.

References
----------
Similä and Tikka (2005), Multiresponse sparse regression with application to multidimensional
scaling. Efron, Hastie, Johnstone and Tibshirani (2004), Least angle regression.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, solve_triangular

from kernelm import _checks

_DEPENDENT = 1e-10  # squared share of a feature that the active ones must leave of it
_EXPLAINED = 1e-12  # correlations below this share of the first are rounding


def lars_order(Phi: NDArray, Y: NDArray, weight: NDArray | None = None) -> NDArray:
    """Return the positions of the features in the order in which they join.

    Features and targets are centred, and features brought to unit length. Those that depend on
    features before them (constants do, too) come last.

    Parameters
    ----------
    Phi, Y : ndarray of shape (N, L), (N, C)
        Features and targets.
    weight : ndarray of shape (N,), optional
        Row weights.

    Examples
    --------
    >>> import numpy as np
    >>> Phi = np.random.default_rng(0).normal(size=(100, 4))
    >>> lars_order(Phi, Phi[:, [2]] + 0.1 * Phi[:, [1]])[:2]
    array([2, 1])
    """
    return _order(*_correlations(Phi, Y, weight))


def _correlations(
    Phi: NDArray, Y: NDArray, weight: NDArray | None
) -> tuple[NDArray, NDArray, NDArray]:
    """Return A = FᵀF and B = FᵀY of centred features of unit length, and which ones vary."""
    w = np.ones(len(Phi)) if weight is None else np.asarray(weight, np.float64)
    w = w / w.sum()
    Phi, Y = np.asarray(Phi, np.float64), np.asarray(Y, np.float64)
    F, mean = Phi - w @ Phi, w @ Phi
    F *= np.sqrt(w)[:, None]
    with np.errstate(over="ignore"):
        length = np.sqrt(np.einsum("ij,ij->j", F, F))
    _checks.finite_sums(length)
    varies = length > 64 * np.finfo(np.float64).eps * np.abs(mean)
    F /= np.where(varies, length, 1.0)
    return F.T @ F, F.T @ (np.sqrt(w)[:, None] * (Y - w @ Y)), varies


def _order(A: NDArray, B: NDArray, varies: NDArray) -> NDArray:
    L = len(A)
    active: list[int] = []
    waiting = varies.copy()  # features that may still join
    C = np.zeros((L, L))  # Cholesky factor of A among the active features
    W = np.zeros_like(B)
    u = B.copy()  # correlations with the residuals
    first = _norms(u)[waiting].max(initial=0.0)
    joins = _largest(u, waiting)
    while joins is not None:
        waiting[joins] = False
        row, left = _next_row(C[: len(active), : len(active)], A[active, joins])
        if left > _DEPENDENT:
            k = len(active)
            C[k, :k], C[k, k] = row, np.sqrt(left)
            active.append(joins)
            c = _norms(u[[joins]])[0]
            if c <= _EXPLAINED * first:
                break
            step = cho_solve((C[: k + 1, : k + 1], True), B[active]) - W[active]
            v = A[:, active] @ step
            joins, gamma = _meeting(u, v, c, waiting)
            W[active] += gamma * step
            u = B - A[:, active] @ W[active]
        else:  # nothing moved: whoever is next in line joins here
            joins = _largest(u, waiting)
    rest = np.setdiff1d(np.arange(L), active)
    return np.append(np.array(active, np.intp), rest)


def _next_row(C: NDArray, a: NDArray) -> tuple[NDArray, float]:
    """Return the next row of a Cholesky factor, and what the rows before leave of the new one."""
    row = solve_triangular(C, a, lower=True, check_finite=False) if len(a) else a
    return row, 1.0 - float(row @ row)


def _meeting(u: NDArray, v: NDArray, c: float, waiting: NDArray) -> tuple[int | None, float]:
    """Return which waiting feature first correlates as much as the active ones, and after what.

    ``(‖v‖² - c²) γ² - 2 (u·v - c²) γ + (‖u‖² - c²) = 0``, the smallest root in (0, 1].
    """
    candidates = np.flatnonzero(waiting)
    if not len(candidates):
        return None, 1.0
    u, v = u[candidates], v[candidates]
    a = np.sum(v * v, axis=1) - c**2
    b = np.sum(u * v, axis=1) - c**2
    d = np.minimum(np.sum(u * u, axis=1) - c**2, 0.0)  # rounding aside, no one is ahead
    # d ≤ 0: of the two roots d/(b ± √(b² - ad)) the smallest positive one has the minus sign.
    below = b - np.sqrt(np.maximum(b * b - a * d, 0.0))
    gamma = np.divide(d, below, out=np.ones(len(d)), where=below < 0)
    gamma = np.clip(gamma, 0.0, 1.0)
    best = int(np.argmin(gamma))
    return int(candidates[best]), float(gamma[best])


def _largest(u: NDArray, waiting: NDArray) -> int | None:
    return int(np.where(waiting, _norms(u), -1.0).argmax()) if waiting.any() else None


def _norms(u: NDArray) -> NDArray:
    return np.sqrt(np.sum(u * u, axis=1))
