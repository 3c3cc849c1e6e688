r"""The leave-one-out error of every number of nested units, from one factorisation.

The centred units are made orthonormal one after the other, :math:`\Phi = Q R`. With one more
unit the residual loses its part along the new direction and the hat values gain its squares,

.. math:: e^{(k)} = e^{(k-1)} - q_k q_k^\top y, \qquad h^{(k)} = h^{(k-1)} + q_k^2,

so :math:`\mathrm{PRESS}_k = \sum_i \bigl(e_i^{(k)} / (1 - h_i^{(k)})\bigr)^2` costs one look at
:math:`q_k`. Row weights are those of the inner product. A ridge is √α times the identity below
the rows: the first k columns of what that gives are the ridge regression of the first k units.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from kernelm import _checks
from kernelm.ridge.factor import Weights
from kernelm.ridge.loo import SATURATED
from kernelm.ridge.moments import observations
from kernelm.ridge.path import EQUAL
from kernelm.ridge.spectrum import EPS
from kernelm.ridge.status import Status

#: A unit of which less than this share is left, once earlier units are taken out, adds nothing:
#: its weight would be so large that rounding decides the predictions.
NOTHING = 1e-6

_BLOCK = 32  # units that leave the earlier ones in one matrix product
_CANCELLED = 0.01  # below this share of a unit, what is left of it is cleaned once more
_CONSTANT = 64  # rounding errors of a mean, in units of its precision


@final
@dataclass(frozen=True, eq=False)
class Prefixes:
    r"""Orthonormal directions of units in their order.

    Attributes
    ----------
    Q : ndarray of shape (N, L)
        Directions, :math:`Q^\top \mathrm{diag}(w) Q = I` (without a ridge); a unit that adds
        nothing to those before it has a column of zeros.
    R : ndarray of shape (L, L)
        Upper triangle, centred units = Q R.
    target : ndarray of shape (L, C)
        The targets along the directions.
    mean, y_mean : ndarray of shape (L,), (C,)
        Weighted means of units and targets (0 without an intercept).
    G : ndarray of shape (N, C)
        Centred targets.
    weight, unit : ndarray of shape (N,)
        Row weights, and how much of each is left out.
    share : float
        Hat value of the intercept, 1/Σw.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    >>> units = np.column_stack([x, 2 * x, x**2])
    >>> Prefixes.of(units, (x**2 + x)[:, None]).errors().round(9)
    array([12.06632653, 12.06632653,  0.        ])
    """

    Q: NDArray
    R: NDArray
    target: NDArray
    mean: NDArray
    y_mean: NDArray
    G: NDArray
    weight: NDArray
    unit: NDArray
    share: float

    @classmethod
    def of(
        cls,
        Phi: NDArray,
        Y: NDArray,
        weight: NDArray | None = None,
        unit: NDArray | None = None,
        *,
        alpha: float = 0.0,
        intercept: bool = True,
    ) -> Self:
        """Factor units, one column each, in the order in which they shall be added.

        Parameters
        ----------
        Phi, Y : ndarray of shape (N, L), (N, C)
            Units and targets of all rows.
        weight, unit : ndarray of shape (N,), optional
            Row weights, and the weight of one observation (at most 1 by default).
        alpha : float
            Ridge strength; 0 is least squares.
        intercept : bool
            Fit an unpenalised intercept.
        """
        w = np.ones(len(Phi)) if weight is None else np.asarray(weight, np.float64)
        u = np.minimum(w, 1.0) if unit is None else np.asarray(unit, np.float64)
        Phi, Y = np.asarray(Phi, np.float64), np.asarray(Y, np.float64)
        share = 1.0 / float(w.sum()) if intercept else 0.0
        mean, y_mean = share * (w @ Phi), share * (w @ Y)
        F, G = Phi - mean, Y - y_mean
        F[:, np.abs(F).max(axis=0, initial=0.0) <= _CONSTANT * EPS * np.abs(mean)] = 0.0
        if alpha > 0:
            F = np.vstack([F, np.sqrt(alpha) * np.eye(F.shape[1])])
        below = len(F) - len(G)
        Q, R = _orthonormal(F, np.append(w, np.ones(below)))
        Q = Q[: len(G)]
        return cls(Q, R, Q.T @ (w[:, None] * G), mean, y_mean, G, w, u, share)

    @property
    def adds(self) -> NDArray:
        """Whether each unit adds something to those before it."""
        return np.diagonal(self.R) > 0

    def errors(self) -> NDArray:
        """Return the mean squared leave-one-out error of the first 1, 2, …, L units.

        Summed over the outputs. It is infinite where a fit uses up every observation: that says
        nothing about new rows. A row that a new unit alone determines keeps its residual: for
        the models without the row that unit adds nothing.
        """
        n, total = observations(self.weight, self.unit), self.weight.sum()
        errors = np.full(len(self.R), np.inf)
        for k, (e, h) in enumerate(self._residuals()):
            if n - self.weight @ h > 1e-6 * n:
                errors[k] = np.sum(self.weight @ e**2) / total
        return errors

    def loo_residuals(self, n_units: int) -> NDArray:
        """Return the (N, C) leave-one-out residuals of the first units."""
        first = (e for k, (e, _) in enumerate(self._residuals(), 1) if k == n_units)
        return next(first)

    def fit(self, n_units: int) -> Prefix:
        """Return the model of the first units."""
        R, adds = self.R[:n_units, :n_units].copy(), self.adds[:n_units]
        R[~adds] = np.eye(n_units)[~adds]  # a unit that adds nothing gets no weight
        W = solve_triangular(R, self.target[:n_units], check_finite=False)
        df = self.weight @ np.square(self.Q[:, :n_units]).sum(axis=1) + float(self.share > 0)
        weights = Weights(W, self.y_mean - self.mean[:n_units] @ W)
        return Prefix(weights, float(df), int(adds.sum()))

    def _residuals(self) -> Iterator[tuple[NDArray, NDArray]]:
        """Yield leave-one-out residuals and hat values of one more unit after the other."""
        e, h = self.G.copy(), np.full(len(self.G), self.share)
        loo = e.copy()
        for q, t in zip(self.Q.T, self.target, strict=True):
            e -= np.outer(q, t)
            h += q * q
            kept = 1.0 - self.unit * h
            free = kept > SATURATED
            loo[free] = e[free] / kept[free, None]
            yield loo, h


@final
@dataclass(frozen=True, eq=False)
class Prefix:
    """A regression on the first units: one alpha, that of the factorisation."""

    weights: Weights
    degrees: float  #: trace of the hat matrix
    rank: int  #: number of units that add something

    def resolve(self, alpha: float) -> tuple[float, Status]:
        """Return alpha as it is, and whether units say anything."""
        if not self.rank:
            return alpha, Status.NO_SIGNAL
        full = self.rank == len(self.weights.coef)
        return alpha, Status.OK if full else Status.RANK_DEFICIENT

    def coef(self, alpha: float) -> Weights:
        """Return weights and intercept."""
        return self.weights

    def df(self, alpha: float) -> float:
        """Return the effective degrees of freedom."""
        return self.degrees


def fewest(errors: NDArray) -> int:
    """Return the smallest number of units (from 1 on) whose error is as good as the best.

    Errors within a tenth of a percent are equal: leave-one-out tells no more.

    Examples
    --------
    >>> import numpy as np
    >>> fewest(np.array([3.0, 1.0005, 1.0, 2.0]))
    2
    """
    return 1 + int(np.argmax(errors <= (1 + EQUAL) * errors.min()))


def _orthonormal(F: NDArray, w: NDArray) -> tuple[NDArray, NDArray]:
    """Return Q, R of the columns of F in the inner product of the weights, in their order.

    Gram-Schmidt, twice: as orthogonal as Householder's reflections, but a column that depends on
    earlier ones is left out and does not put noise in the way of later ones.
    """
    L = F.shape[1]
    Q, R = np.zeros_like(F, order="F"), np.zeros((L, L))
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt(w @ F**2)
    _checks.finite_sums(lengths)
    for start in range(0, L, _BLOCK):
        B = np.array(F[:, start : start + _BLOCK], order="F")
        _take_out(B, Q[:, :start], R[:start, start : start + _BLOCK], w)
        for j, q in enumerate(B.T):
            k = start + j
            _take_out(q[:, None], Q[:, start:k], R[start:k, k : k + 1], w)
            length = np.sqrt(w @ q**2)
            if length > NOTHING * lengths[k]:
                R[k, k] = length
                Q[:, k] = q / length
                if length < _CANCELLED * lengths[k]:
                    # What the block left of earlier units, magnified by the division.
                    _take_out(Q[:, k : k + 1], Q[:, :k], np.zeros((k, 1)), w)
    return Q, R


def _take_out(B: NDArray, Q: NDArray, R: NDArray, w: NDArray) -> None:
    """Subtract from columns their parts along the directions Q, and add these to R."""
    for _ in range(2):
        T = Q.T @ (w[:, None] * B)
        B -= Q @ T
        R += T
