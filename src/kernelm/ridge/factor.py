r"""One factorisation of the moments that serves every ridge strength.

With the centred Gram matrix :math:`A = V \Lambda V^\top` and :math:`T = V^\top B`, the weights
for any :math:`\alpha` are :math:`W = V (\Lambda + \alpha)^{-1} T`: a scaling of the rows of
:math:`T`. Centring the sums is the same as an unpenalised intercept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.ridge.centred import CONSTANT, Centred, means
from kernelm.ridge.moments import Moments, observations
from kernelm.ridge.spectrum import EPS, eigh, inverse, noise_floor, resolve
from kernelm.ridge.status import Status

RESOLUTION = 1e-12


class Weights(NamedTuple):
    """Output weights of a ridge regression, ``Phi @ coef + intercept``."""

    coef: NDArray
    intercept: NDArray


@final
@dataclass(frozen=True, eq=False)
class Factor:
    """Eigenvalues of the centred Gram, ready to be solved for any alpha.

    Attributes
    ----------
    values : ndarray of shape (r,)
        Eigenvalues λ of the (penalty-whitened) centred Gram, at least 0.
    vectors : ndarray of shape (L, r)
        Directions V; the features of a row in these directions are ``(phi - mean) @ V``.
    target : ndarray of shape (r, C)
        T, the cross moments in these directions.
    mean, y_mean : ndarray of shape (L,), (C,)
        Weighted means of features and targets (0 without an intercept).
    yy : ndarray of shape (C,)
        Centred sums of squares of the targets.
    n : float
        Number of observations that GCV counts.
    weight : float
        Sum of the weights; infinite without an intercept (then no row moves the mean).
    floor : float
        The smallest alpha that the precision of the sums resolves.
    resolution : float
        The smallest share of ``yy`` that a residual sum of squares resolves.
    """

    values: NDArray
    vectors: NDArray
    target: NDArray
    mean: NDArray
    y_mean: NDArray
    yy: NDArray
    n: float
    weight: float
    floor: float
    resolution: float

    @classmethod
    def of(cls, m: Moments, *, penalty: NDArray | None = None, intercept: bool = True) -> Self:
        r"""Factor moments; the penalty is :math:`\alpha\, \mathrm{tr}(W^\top P W)`.

        A penalty matrix P (symmetric, positive semidefinite) is whitened away: directions in
        which P vanishes to rounding are left out of the model.
        """
        sums = Centred.of(m, intercept=intercept)
        return cls.of_sums(sums if penalty is None else sums.whitened(penalty))

    @classmethod
    def of_sums(cls, sums: Centred) -> Self:
        """Factor centred sums, whitened where there is a penalty."""
        values, V = eigh(sums.A)
        return cls(
            values=values,
            vectors=V if sums.basis is None else sums.basis @ V,
            target=V.T @ sums.B,
            mean=sums.mean,
            y_mean=sums.y_mean,
            yy=sums.yy,
            n=sums.n,
            weight=sums.weight,
            floor=max(noise_floor(values, sums.precision, sums.taken_off), sums.noise),
            resolution=max(RESOLUTION, sums.precision),
        )

    @classmethod
    def of_rows(
        cls,
        Phi: NDArray,
        Y: NDArray,
        weight: NDArray | None = None,
        unit: NDArray | None = None,
        *,
        intercept: bool = True,
    ) -> Self:
        """Factor few rows with many features: the same object from the smaller N×N side."""
        w = np.ones(len(Phi)) if weight is None else np.asarray(weight, np.float64)
        Phi, Y = np.asarray(Phi, np.float64), np.asarray(Y, np.float64)
        mean, y_mean = means(w @ Phi, w @ Y, w.sum(), intercept)
        F = Phi - mean
        F[:, np.abs(F).max(axis=0, initial=0.0) <= CONSTANT * EPS * np.abs(mean)] = 0.0
        root = np.sqrt(w)[:, None]
        F, G = root * F, root * (Y - y_mean)
        with np.errstate(over="ignore", invalid="ignore"):
            K = F @ F.T
        _checks.finite_sums(K, G)
        values, U = eigh(K)
        floor = noise_floor(values, EPS)
        kept = values > floor
        values, U = values[kept], U[:, kept]
        return cls(
            values=values,
            vectors=F.T @ (U / np.sqrt(values)),
            target=np.sqrt(values)[:, None] * (U.T @ G),
            mean=mean,
            y_mean=y_mean,
            yy=(G * G).sum(axis=0),
            n=observations(w, unit),
            weight=float(w.sum()) if intercept else np.inf,
            floor=floor,
            resolution=RESOLUTION,
        )

    def resolve(self, alpha: float) -> tuple[float, Status]:
        """Return the alpha that can be used instead of ``alpha``, and why."""
        full = len(self.values) == len(self.mean) and bool(np.all(self.values > self.floor))
        return resolve(self.values, alpha, self.floor, full=full)

    def inverse(self, alpha: float) -> NDArray:
        """Return 1/(λ + alpha), and 0 for directions that alpha = 0 cannot resolve."""
        return inverse(self.values, alpha, self.floor)

    def coef(self, alpha: float) -> Weights:
        """Return the output weights and the intercept for one alpha."""
        W = self.vectors @ (self.inverse(alpha)[:, None] * self.target)
        return Weights(W, self.y_mean - self.mean @ W)

    def df(self, alpha: float) -> float:
        """Return the effective degrees of freedom, the trace of the hat matrix."""
        return float(self.values @ self.inverse(alpha)) + self._mean_df

    def rss(self, alpha: float) -> NDArray:
        """Return the training sum of squares of the residuals, output by output."""
        shrunk = self.inverse(alpha)
        explained = (shrunk * (2.0 - self.values * shrunk)) @ self.target**2
        # Below rounding all fits are equally good: no criterion should prefer its noise.
        return np.maximum(self.yy - explained, self.resolution * self.yy)

    def gcv(self, alphas: NDArray) -> NDArray:
        r"""Return :math:`N\,\mathrm{RSS}(\alpha) / (N - \mathrm{df})^2`, summed over outputs.

        A function of the moments alone, so it works for streamed, merged and distributed rows.
        """
        return np.array([self._gcv(a) for a in np.atleast_1d(alphas)])

    def leverage(self, Phi: NDArray, alpha: float) -> NDArray:
        """Return the hat values of training rows of weight one."""
        P = (Phi - self.mean) @ self.vectors
        return (P * P) @ self.inverse(alpha) + 1.0 / self.weight

    @property
    def _mean_df(self) -> float:
        return float(np.isfinite(self.weight))

    def _gcv(self, alpha: float) -> float:
        return gcv_score(self.n, self.df(alpha), self.rss(alpha))


def gcv_score(n: float, df: float, rss: NDArray) -> float:
    """Return N·RSS/(N − df)², summed over outputs."""
    # A fit that uses up every observation says nothing about new rows.
    if n - df <= 1e-6 * n:
        return np.inf
    return float(n * rss.sum() / (n - df) ** 2)
