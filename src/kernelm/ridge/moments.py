"""The sums over rows that a ridge regression needs, as a vector space.

Two sets of rows that were mapped by the same features add up to one set; rows that were added
can be subtracted again; a factor below one fades old rows. Everything the models of this
library know about their training rows are such sums.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks


@final
@dataclass(eq=False)
class Moments:
    r"""Sums over weighted rows of features :math:`\phi_i` and targets :math:`y_i`.

    Attributes
    ----------
    rows : float
        Number of observations: a weight of 3 is three of them, a weight of 0.3 is one.
    weight : float
        :math:`\sum w_i`; an integer weight means a repeated row.
    phi, y : ndarray of shape (L,), (C,)
        :math:`\sum w_i \phi_i` and :math:`\sum w_i y_i`.
    gram, cross : ndarray of shape (L, L), (L, C)
        :math:`\sum w_i \phi_i \phi_i^\top` and :math:`\sum w_i \phi_i y_i^\top`.
    yy : ndarray of shape (C,)
        :math:`\sum w_i y_i^2`, output by output.
    precision : float
        Machine epsilon of the coarsest block that was added: sums are always in double
        precision, but a float32 block brings its own rounding.
    fingerprint : str
        Names the feature map; moments of different maps refuse to add.

    Examples
    --------
    >>> import numpy as np
    >>> Phi, Y = np.arange(6.0).reshape(3, 2), np.ones((3, 1))
    >>> whole = Moments.of(Phi, Y)
    >>> parts = Moments.of(Phi[:1], Y[:1]) + Moments.of(Phi[1:], Y[1:])
    >>> bool((whole.gram == parts.gram).all()), (whole - parts).rows
    (True, 0.0)
    """

    rows: float
    weight: float
    phi: NDArray
    y: NDArray
    gram: NDArray
    cross: NDArray
    yy: NDArray
    precision: float
    fingerprint: str = ""

    @classmethod
    def of(
        cls,
        Phi: NDArray,
        Y: NDArray,
        weight: NDArray | None = None,
        unit: NDArray | None = None,
        *,
        fingerprint: str = "",
    ) -> Self:
        """Sum a block of rows; ``Phi`` may be overwritten when ``weight`` is given.

        ``unit`` is the weight of one observation, by default at most 1: a row of weight 3 is
        three observations. With importance weights it is the weight itself.
        """
        n = float(len(Phi))
        Y = Y.astype(Phi.dtype, copy=False)
        ones = np.ones((len(Phi), 1), Phi.dtype)
        # Sums and cross moments leave one product: the block is read once for both.
        Z = np.hstack([ones, Y])
        if weight is not None:
            Z *= weight.astype(Phi.dtype)[:, None]
        sums = (Phi.T @ Z).astype(np.float64)
        y = Z[:, 1:].sum(axis=0, dtype=np.float64)
        yy = (Z[:, 1:] * Y).sum(axis=0, dtype=np.float64)
        if weight is not None:
            Phi *= np.sqrt(Z[:, :1])
        return cls(
            rows=n if weight is None else observations(weight, unit),
            weight=n if weight is None else float(np.sum(weight)),
            phi=sums[:, 0].copy(),
            y=y,
            gram=gram(Phi).astype(np.float64, copy=False),
            cross=sums[:, 1:].copy(),
            yy=yy,
            precision=float(np.finfo(Phi.dtype).eps),
            fingerprint=fingerprint,
        )

    @classmethod
    def zeros(cls, n_features: int, n_outputs: int, fingerprint: str = "") -> Self:
        """Return the moments of no rows."""
        L, C = n_features, n_outputs
        return cls(
            rows=0.0,
            weight=0.0,
            phi=np.zeros(L),
            y=np.zeros(C),
            gram=np.zeros((L, L)),
            cross=np.zeros((L, C)),
            yy=np.zeros(C),
            precision=0.0,
            fingerprint=fingerprint,
        )

    @property
    def n_features(self) -> int:
        """Length L of a feature row."""
        return len(self.phi)

    @property
    def n_outputs(self) -> int:
        """Number C of targets."""
        return len(self.y)

    def leading(self, n_features: int) -> Self:
        """Return the moments of the first features alone (nested units: a smaller layer)."""
        k = n_features
        return replace(self, phi=self.phi[:k], gram=self.gram[:k, :k], cross=self.cross[:k])

    def retarget(self, M: NDArray, v: NDArray) -> Self:
        """Return the moments of the same rows with targets ``Y @ M + v``.

        Each new target may depend on one old target only (a column of M has one entry at
        most): the sums hold no products of two targets.
        """
        y = self.y @ M
        return replace(
            self,
            y=y + self.weight * v,
            cross=self.cross @ M + np.outer(self.phi, v),
            yy=self.yy @ M**2 + 2 * v * y + self.weight * v**2,
        )

    def copy(self) -> Self:
        """Return an independent copy."""
        return 1.0 * self

    def __add__(self, other: Self) -> Self:
        return self._combine(other, np.add)

    def __sub__(self, other: Self) -> Self:
        return self._combine(other, np.subtract)

    def __iadd__(self, other: Self) -> Self:
        self._check_same_map(other)
        self.rows += other.rows
        self.weight += other.weight
        self.precision = max(self.precision, other.precision)
        for name in ("phi", "y", "gram", "cross", "yy"):
            mine = getattr(self, name)
            mine += getattr(other, name)
        return self

    def __mul__(self, factor: float) -> Self:
        c = float(factor)
        return replace(
            self,
            rows=c * self.rows,
            weight=c * self.weight,
            phi=c * self.phi,
            y=c * self.y,
            gram=c * self.gram,
            cross=c * self.cross,
            yy=c * self.yy,
        )

    __rmul__ = __mul__

    def _combine(self, other: Self, op: Any) -> Self:
        self._check_same_map(other)
        return replace(
            self,
            rows=float(op(self.rows, other.rows)),
            weight=float(op(self.weight, other.weight)),
            phi=op(self.phi, other.phi),
            y=op(self.y, other.y),
            gram=op(self.gram, other.gram),
            cross=op(self.cross, other.cross),
            yy=op(self.yy, other.yy),
            precision=max(self.precision, other.precision),
        )

    def _check_same_map(self, other: Self) -> None:
        _checks.same_fingerprint(self.fingerprint, other.fingerprint)
        _checks.same_shape(other.cross, self.cross, "the second set of moments")


def observations(weight: NDArray, unit: NDArray | None = None) -> float:
    """Return how many observations weighted rows stand for."""
    unit = np.minimum(weight, 1.0) if unit is None else unit
    return float(np.divide(weight, unit, out=np.zeros(len(weight)), where=unit > 0).sum())


def gram(Phi: NDArray) -> NDArray:
    """Return ΦᵀΦ, symmetric to the last bit.

    NumPy makes it with SYRK and lets other threads run meanwhile; SciPy's wrappers of BLAS and
    LAPACK do not, and workers would take turns.
    """
    return Phi.T @ Phi
