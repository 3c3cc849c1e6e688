r"""The same regression seen from the rows: weights on training rows instead of features.

.. math:: f(x) = k(x, X)\, a + b, \qquad a = (K + \alpha I)^{-1} Y

without an intercept this is kernel ridge regression, which is the kernel ELM. One
eigendecomposition of K serves every alpha, and the leave-one-out residual is
:math:`(QY)_i / Q_{ii}` with :math:`Q = (K + \alpha I)^{-1}` (the derivation is in
:mod:`kernelm.ridge.loo`; here :math:`I - H = \alpha Q`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.ridge.factor import RESOLUTION, Weights
from kernelm.ridge.loo import SATURATED
from kernelm.ridge.path import Path
from kernelm.ridge.spectrum import EPS, eigh, inverse, noise_floor, resolve
from kernelm.ridge.status import Status

_ENTRIES = 2**24  # of residuals at a time


@final
@dataclass(frozen=True, eq=False)
class DualFactor:
    r"""Eigendecomposition of a kernel matrix over weighted rows.

    With weights, :math:`K` is :math:`\sqrt{w_i}\, k_{ij} \sqrt{w_j}`; with an intercept it is
    the kernel of features centred at their weighted mean.

    Examples
    --------
    >>> import numpy as np
    >>> X, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [1.0], [5.0]])
    >>> dual = DualFactor.of(X @ X.T, Y, intercept=True)
    >>> dual.loo_residuals(np.array([1e-9])).round(3).ravel()
    array([ 3. , -1.5,  3. ])
    """

    values: NDArray  #: eigenvalues λ, at least 0
    vectors: NDArray  #: eigenvectors U
    target: NDArray  #: Uᵀ√w(Y − mean)
    root: NDArray  #: √w
    share: NDArray  #: w/Σw, or 0 without an intercept
    K_share: NDArray  #: K·share, needed to undo the centring
    y_mean: NDArray  #: weighted mean of Y, or 0
    floor: float  #: smallest alpha that the precision resolves

    @classmethod
    def of(
        cls,
        K: NDArray,
        Y: NDArray,
        weight: NDArray | None = None,
        *,
        intercept: bool = False,
    ) -> Self:
        """Factor a kernel matrix of training rows."""
        precision = float(np.finfo(K.dtype).eps)
        K = np.asarray(K, np.float64)
        _checks.finite_sums(K, Y)
        w = np.ones(len(K)) if weight is None else np.asarray(weight, np.float64)
        share = w / w.sum() if intercept else np.zeros(len(K))
        K_share = K @ share
        centred = K - K_share[:, None] - K_share + share @ K_share
        # Once more: of rows that are nearly alike the first centring leaves rounding only.
        left = centred @ share
        centred -= left[:, None] + (left - share @ left)
        root = np.sqrt(w)
        values, U = eigh(root[:, None] * centred * root)
        floor = noise_floor(values, precision, w @ np.diagonal(K) - values.sum())
        floor = max(floor, 8 * precision * float(w.sum() * np.abs(K_share).max(initial=0.0)))
        # Noise beside a small alpha would look like a direction that is learned.
        values[values <= floor] = 0.0
        y_mean = share @ Y
        return cls(
            values=values,
            vectors=U,
            target=U.T @ (root[:, None] * (Y - y_mean)),
            root=root,
            share=share,
            K_share=K_share,
            y_mean=y_mean,
            floor=floor,
        )

    def resolve(self, alpha: float) -> tuple[float, Status]:
        """Return the alpha that can be used instead of ``alpha``, and why."""
        # Centring takes one direction away; it is not missed.
        full = bool(np.count_nonzero(self.values) >= len(self.values) - int(self.share.any()))
        return resolve(self.values, alpha, self.floor, full=full)

    def loo_path(self, alphas: NDArray, unit: NDArray | None = None) -> Path:
        """Score alphas by the mean squared leave-one-out error, summed over outputs."""
        alphas = np.sort(np.unique([self.resolve(a)[0] for a in np.atleast_1d(alphas)]))
        weight = self.root**2
        # Some alphas at a time share the squares of the eigenvectors, within bounded memory.
        parts = -(-alphas.size * self.target.size // _ENTRIES)
        squares = [
            np.einsum("anc,n->a", _bounded(self.loo_residuals(some, unit)) ** 2, weight)
            for some in np.array_split(alphas, parts)
        ]
        scores = np.concatenate(squares) / weight.sum()
        # Below rounding all alphas are equally good: the largest of them is taken.
        least = RESOLUTION * np.sum(self.target**2) / weight.sum()
        return Path("loo", alphas, np.maximum(scores, least))

    def coef(self, alpha: float) -> Weights:
        """Return weights a on the rows and the intercept b for one alpha."""
        inverse = self._inverse(alpha) * (self.values > 0)
        a = self.root[:, None] * (self.vectors @ (inverse[:, None] * self.target))
        a = a - self.share[:, None] * a.sum(axis=0)
        return Weights(a, self.y_mean - self.K_share @ a)

    def df(self, alpha: float) -> float:
        """Return the effective degrees of freedom, the trace of the hat matrix."""
        return float(self.values @ self._inverse(alpha)) + float(self.share.any())

    def loo_residuals(self, alphas: NDArray, unit: NDArray | None = None) -> NDArray:
        """Return leave-one-out residuals for every alpha, shape (A, N, C).

        ``unit`` is how much of each row's weight is left out, 1 by default. Rows of weight 0
        take no part in the fit and have no residual (NaN).
        """
        alphas, part = np.atleast_1d(alphas), self._part(unit)
        inverses = np.array([self._inverse(a) for a in alphas]).T
        # 1 - λ/(λ + α) without the difference, which would cancel for small alphas.
        rest = np.maximum(alphas, self.floor) * inverses
        rest[:, alphas == 0] = np.where(inverses[:, alphas == 0] > 0, 0.0, 1.0)
        keeps = self.vectors**2 @ rest - self.share[:, None]  # 1 - h
        residuals = np.array([self.vectors @ (r[:, None] * self.target) for r in rest.T])
        root = np.where(self.root > 0, self.root, np.nan)
        for alpha, shrunk, keep, e in zip(alphas, inverses.T, keeps.T, residuals, strict=True):
            if alpha == 0:
                # Both vanish where a row is interpolated: take the limit of their ratio.
                full = (keep < SATURATED) & (part == 1)
                U = self.vectors[full]
                keep[full], e[full] = U**2 @ shrunk, U @ (shrunk[:, None] * self.target)
            keep[:] = np.maximum(1.0 - part + part * keep, np.finfo(np.float64).tiny)
            e /= (keep * root)[:, None]
        return residuals

    def _part(self, unit: NDArray | None) -> NDArray:
        """Return the part of each row's weight that is left out."""
        weight = self.root**2
        part = np.ones_like(weight)
        np.divide(1.0 if unit is None else unit, weight, out=part, where=weight > 0)
        # The root of a weight, squared, may miss it by a rounding error.
        part[np.abs(part - 1) < 8 * EPS] = 1.0
        return part

    def _inverse(self, alpha: float) -> NDArray:
        return inverse(self.values, alpha, self.floor)


def _bounded(e: NDArray) -> NDArray:
    """Return residuals whose squares add up: no row of weight 0, nothing beyond 1e100."""
    return np.clip(np.nan_to_num(e), -1e100, 1e100)
