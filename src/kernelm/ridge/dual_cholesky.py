r"""Kernel ridge regression on all rows for one alpha, by a Cholesky factor where K stood.

A tenth of the arithmetic of an eigendecomposition and one matrix instead of three, in float32
if asked for. With :math:`Q = (K + \alpha D^{-1})^{-1}` and an intercept,

.. math:: b = \frac{1^\top Q Y}{1^\top Q 1}, \qquad a = Q (Y - 1 b), \qquad
   \tilde Q_{ii} = Q_{ii} - \frac{(Q 1)_i^2}{1^\top Q 1},

the residual of row i is :math:`\alpha a_i / w_i`, and what its hat value leaves of it,
:math:`1 - h_{ii} = \alpha \tilde Q_{ii} / w_i`, gives leave-one-out as in
:mod:`kernelm.ridge.loo`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm._lapack import trtri
from kernelm.ridge.factor import Weights
from kernelm.ridge.status import Status
from kernelm.ridge.triangles import fortran, jittered_cholesky, solve_upper, tiles


@final
@dataclass(frozen=True, eq=False)
class DualCholesky:
    """A kernel machine solved for one alpha, with its leave-one-out residuals.

    Examples
    --------
    >>> import numpy as np
    >>> X, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [1.0], [5.0]])
    >>> dual = DualCholesky.of(X @ X.T, Y, alpha=1e-6, intercept=True)
    >>> dual.loo_residuals().round(3).ravel()
    array([ 3. , -1.5,  3. ])
    """

    alpha: float  #: raised where the precision of K asks for it
    weights: Weights
    residuals: NDArray  #: training residuals, (N, C)
    rest: NDArray  #: 1 − h for each row
    status: Status

    @classmethod
    def of(
        cls,
        K: NDArray,
        Y: NDArray,
        alpha: float,
        weight: NDArray | None = None,
        *,
        intercept: bool = False,
        overwrite: bool = False,
    ) -> Self:
        """Factor and solve in the precision of K, which ``overwrite`` allows to destroy."""
        N = len(K)
        w = np.ones(N) if weight is None else np.asarray(weight, np.float64)
        counts = w > 0
        if not counts.all():  # rows of no weight take no part
            K, overwrite = K[np.ix_(counts, counts)], True
        S = fortran(K, K.dtype, overwrite=overwrite)
        ridge = alpha / w[counts]
        extra = jittered_cholesky(S, ridge)
        Q_both = _inverse_times(S, np.column_stack([Y[counts], np.ones(S.shape[0])]))
        QY, Q1 = Q_both[:, :-1], Q_both[:, -1]
        total = Q1.sum() if intercept else np.inf
        b = QY.sum(axis=0) / total
        a = QY - np.outer(Q1, b)
        whole = _inverse_diagonal(S)
        # Residuals and what hat values leave of them vanish together with alpha; their ratio does
        # not, so neither may be cut off before the other.
        diagonal = np.maximum(whole - Q1**2 / total, np.finfo(np.float64).eps * whole)
        used = (ridge + extra)[:, None]
        coef, residuals = (np.zeros((N, Y.shape[1])) for _ in range(2))
        rest = np.ones(N)
        coef[counts], residuals[counts] = a, used * a
        rest[counts] = np.minimum(used[:, 0] * diagonal, 1.0)
        status = Status.OK if extra <= 0 else Status.FLOORED
        return cls(float(alpha + extra), Weights(coef, b), residuals, rest, status)

    def resolve(self, alpha: float) -> tuple[float, Status]:
        """Return the alpha in use, and why."""
        return self.alpha, self.status

    def coef(self, alpha: float) -> Weights:
        """Return weights on the rows and the intercept."""
        return self.weights

    def df(self, alpha: float) -> float:
        """Return the effective degrees of freedom."""
        return float(np.sum(1.0 - self.rest))

    def loo_residuals(self, part: NDArray | None = None) -> NDArray:
        """Return leave-one-out residuals; ``part`` of each row's weight is left out (all)."""
        p = np.ones(len(self.rest)) if part is None else part
        return self.residuals / (1.0 - p + p * self.rest)[:, None]

    def loo_error(self, weight: NDArray | None = None, unit: NDArray | None = None) -> float:
        """Return the mean squared leave-one-out error; ``unit`` as in ridge.loo."""
        squares = (self.loo_residuals(observation_part(weight, unit)) ** 2).sum(axis=1)
        return float(np.average(squares, weights=weight))


def dual_loo_error(
    K: NDArray,
    Y: NDArray,
    alpha: float,
    *,
    weight: NDArray | None = None,
    unit: NDArray | None = None,
    intercept: bool = True,
) -> float:
    """Return the mean squared leave-one-out error of a kernel matrix with one alpha.

    Examples
    --------
    >>> import numpy as np
    >>> X, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [1.0], [5.0]])
    >>> round(dual_loo_error(X @ X.T, Y, 1e-9), 3)  # of 3, -1.5 and 3
    6.75
    """
    return DualCholesky.of(K, Y, alpha, weight, intercept=intercept).loo_error(weight, unit)


def observation_part(weight: NDArray | None, unit: NDArray | None) -> NDArray | None:
    """Return the part of each row's weight that one observation is."""
    if weight is None or unit is None:
        return None
    return np.divide(unit, weight, out=np.ones(len(weight)), where=weight > 0)


def _inverse_times(U: NDArray, B: NDArray) -> NDArray:
    """Return (UᵀU)⁻¹B in double precision."""
    return solve_upper(U, solve_upper(U, B.astype(np.float64), transposed=True))


def _inverse_diagonal(U: NDArray) -> NDArray:
    """Return the diagonal of (UᵀU)⁻¹; U is replaced by its inverse."""
    _checks.factored(trtri(U))
    diagonal = np.empty(len(U))
    for rows in tiles(len(U), 128):  # of the upper triangle
        corner = np.triu(U[rows, rows]).astype(np.float64)
        right = U[rows, rows.stop :].astype(np.float64, copy=False)
        diagonal[rows] = np.einsum("ij,ij->i", corner, corner)
        diagonal[rows] += np.einsum("ij,ij->i", right, right)
    return diagonal
