r"""Sums with the means taken off: what every solver of a ridge regression begins with.

.. math:: A = \Phi_c^\top D\, \Phi_c, \qquad B = \Phi_c^\top D\, Y_c

Centring the sums is the same as an unpenalised intercept.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.ridge.moments import Moments
from kernelm.ridge.spectrum import EPS, eigh

CONSTANT = 64  # rounding errors of a sum over one block, in units of its precision
#: The Gram matrix holds squares of what a penalty holds: directions in which the penalty is below
#: the square root of the rounding error of its largest eigenvalue are noise there.
NEGLIGIBLE = 8 * float(np.sqrt(EPS))


class Centred(NamedTuple):
    """Centred sums, in the features or in directions that a penalty weighs alike."""

    A: NDArray  #: (r, r)
    B: NDArray  #: (r, C)
    shift: NDArray  #: (r,), the mean that was taken off, without features that are constant
    mean: NDArray  #: (L,), of the features (0 without an intercept)
    y_mean: NDArray  #: (C,)
    yy: NDArray  #: (C,), centred sums of squares of the targets
    n: float  #: number of observations that GCV counts
    rows_weight: float  #: sum of the weights
    weight: float  #: the same; infinite without an intercept (then no row moves the mean)
    precision: float  #: machine epsilon of the coarsest block that was added
    basis: NDArray | None = None  #: (L, r), the directions; None for the features themselves
    noise: float = 0.0  #: what whitening makes of the rounding of the sums

    @classmethod
    def of(cls, m: Moments, *, intercept: bool = True) -> Self:
        """Take the means off; features that are constant up to rounding become zero."""
        _checks.finite_sums(m.gram, m.cross, m.yy)
        mean, y_mean = means(m.phi, m.y, m.weight, intercept)
        A = m.gram - m.weight * np.outer(mean, mean)
        B = m.cross - m.weight * np.outer(mean, y_mean)
        constant = _vanished(np.diagonal(A), m)
        if constant.any():
            A[constant], A[:, constant], B[constant] = 0.0, 0.0, 0.0
        return cls(
            A=A,
            B=B,
            shift=np.where(constant, 0.0, mean),
            mean=mean,
            y_mean=y_mean,
            yy=np.maximum(m.yy - m.weight * y_mean**2, 0.0),
            n=m.rows,
            rows_weight=m.weight,
            weight=m.weight if intercept else np.inf,
            precision=m.precision,
        )

    @property
    def taken_off(self) -> float:
        """How much of the trace the means were."""
        return self.rows_weight * float(self.shift @ self.shift)

    def whitened(self, P: NDArray) -> Self:
        """Return the sums in directions whose penalty is the plain ridge."""
        T, magnified = _inverse_root(P)
        noise = EPS * float(np.linalg.norm(self.A)) * magnified
        A, B, shift = T.T @ self.A @ T, T.T @ self.B, self.shift @ T
        return self._replace(A=A, B=B, shift=shift, basis=T, noise=noise)


def means(phi: NDArray, y: NDArray, weight: float, intercept: bool) -> tuple[NDArray, NDArray]:
    """Return the means of features and targets, zeros without an intercept."""
    if not intercept:
        return np.zeros_like(phi, dtype=np.float64), np.zeros_like(y, dtype=np.float64)
    return phi / weight, y / weight


def _vanished(variance: NDArray, m: Moments) -> NDArray:
    """Return which features centring has cancelled: they are constant, what is left is noise."""
    # A product adds up in blocks, but the blocks of a long pass come one after the other.
    rounding = max(CONSTANT * m.precision, min(m.rows, 4096) * EPS)
    return variance <= rounding * np.diagonal(m.gram)


def _inverse_root(P: NDArray) -> tuple[NDArray, float]:
    """Return a whitening of the penalty, and how much it magnifies rounding in the Gram.

    Directions that are noise in the Gram are left out.
    """
    values, U = eigh(np.asarray(P, np.float64))
    kept = values > NEGLIGIBLE * values[-1]
    if not kept.any():
        return U[:, kept], 0.0
    return U[:, kept] / np.sqrt(values[kept]), 1.0 / float(values[kept][0])
