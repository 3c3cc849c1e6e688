r"""Ridge regression on thousands of features, one alpha at a time, in the memory of one matrix.

.. math:: (\Phi_c^\top D\, \Phi_c + \alpha P)\, W = \Phi_c^\top D\, Y_c

An eigendecomposition would serve every alpha, but takes some thirty times as long as a Cholesky
factor and three times the memory. Here the centred sums stay in the lower half of a square array
and each alpha's factor is made in the upper half, so that a few alphas can be compared by exact
leave-one-out on kept rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self, cast, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_blas_funcs

from kernelm import _checks
from kernelm.ridge.factor import Weights
from kernelm.ridge.falkon import CrossSums
from kernelm.ridge.spectrum import EPS
from kernelm.ridge.status import Status
from kernelm.ridge.triangles import cholesky, solve_upper, tiles

_ESCALATIONS = 12
_syr, _syrk = cast(Any, get_blas_funcs(("syr", "syrk"), dtype=np.float64))


@final
@dataclass(eq=False)
class PrimalCholesky:
    """Sums of rows with many features, and the factor for the last alpha that was asked for.

    Examples
    --------
    >>> import numpy as np
    >>> Phi, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [1.0], [5.0]])
    >>> primal = PrimalCholesky.zeros(1, lambda rows: np.eye(1)[rows, rows.start:], intercept=True)
    >>> primal.add(Phi, Y)
    >>> primal.factor(1e-9).name
    'OK'
    >>> primal.loo_residuals(Phi, Y).ravel().round(3)
    array([ 3. , -1.5,  3. ])
    """

    S: NDArray  #: sums below the diagonal, the factor on and above it
    penalty: Callable[[slice], NDArray]  #: rows of P, from their first diagonal entry on
    intercept: bool
    sums: CrossSums | None = None
    alpha: float = np.nan
    _diagonal: NDArray = field(default_factory=lambda: np.empty(0), repr=False)
    _weights: Weights | None = None

    @classmethod
    def zeros(
        cls, n_features: int, penalty: Callable[[slice], NDArray], *, intercept: bool
    ) -> Self:
        """Return the sums of no rows."""
        return cls(np.zeros((n_features, n_features), order="F"), penalty, intercept)

    def add(self, Phi: NDArray, Y: NDArray, weight: NDArray | None = None) -> None:
        """Add a block of rows; all rows are added before the first factor is asked for."""
        Phi = Phi.astype(np.float64, copy=weight is not None)
        sums = CrossSums.of(Phi, Y, weight)
        _checks.finite_sums(sums.phi, sums.cross)
        self.sums = sums if self.sums is None else self.sums + sums
        if weight is not None:
            Phi *= np.sqrt(weight)[:, None]
        # The transpose of a C-ordered block is read without a copy, the sums are made in place.
        _syrk(1.0, Phi.T, beta=1.0, c=self.S, lower=1, overwrite_c=1)

    @property
    def mean(self) -> NDArray:
        """Weighted mean of the features (0 without an intercept)."""
        sums = self._summed()
        return sums.phi / sums.weight if self.intercept else np.zeros_like(sums.phi)

    def factor(self, alpha: float) -> Status:
        """Factor for one alpha; where rounding leaves no positive matrix, with some ridge more."""
        self._center()
        self.alpha, self._weights = float(alpha), None
        ridge = 0.0
        for _ in range(_ESCALATIONS):
            self._fill(ridge)
            if cholesky(self.S):
                return Status.FLOORED if ridge else Status.OK
            ridge = 10 * ridge or len(self.S) * EPS * (float(self._diagonal.mean()) or 1.0)
        raise _checks.not_semidefinite("the penalised sums", ridge)

    def coef(self) -> Weights:
        """Return weights and intercept for the alpha of the last factor."""
        if self._weights is None:
            sums, mean = self._summed(), self.mean
            y_mean = sums.y / sums.weight if self.intercept else np.zeros_like(sums.y)
            B = sums.cross - sums.weight * np.outer(mean, y_mean)
            W = solve_upper(self.S, solve_upper(self.S, B, transposed=True))
            self._weights = Weights(W, y_mean - mean @ W)
        return self._weights

    def hat_values(self, Phi: NDArray) -> NDArray:
        """Return hat values of training rows of weight one."""
        sums = self._summed()
        P = solve_upper(self.S, (Phi - self.mean).T.astype(np.float64), transposed=True)
        share = 1.0 / sums.weight if self.intercept else 0.0
        return np.einsum("ij,ij->j", P, P) + share

    def loo_residuals(
        self,
        Phi: NDArray,
        Y: NDArray,
        unit: NDArray | None = None,
        hats: NDArray | None = None,
    ) -> NDArray:
        """Return leave-one-out residuals of training rows; see :mod:`kernelm.ridge.loo`."""
        W, b = self.coef()
        hats = self.hat_values(Phi) if hats is None else hats
        rest = 1.0 - (hats if unit is None else unit * hats)
        return (Y - Phi @ W - b) / np.maximum(rest, 1e-9)[:, None]

    def _center(self) -> None:
        if len(self._diagonal):
            return
        sums = self._summed()
        if self.intercept:
            _syr(-sums.weight, self.mean, lower=1, a=self.S, overwrite_a=1)
        self._diagonal = np.diagonal(self.S).copy()

    def _fill(self, ridge: float) -> None:
        """Write A + αP, and the ridge that rounding asks for, on and above the diagonal."""
        diagonal = self._diagonal + ridge
        for rows in tiles(len(self.S)):
            above = self.alpha * self.penalty(rows)
            inside = rows.stop - rows.start
            above[:, inside:] += self.S[rows.stop :, rows].T
            self.S[rows, rows.stop :] = above[:, inside:]
            tile, strict = self.S[rows, rows], np.tril(self.S[rows, rows], -1)
            tile[:] = strict + np.triu(above[:, :inside] + strict.T + np.diag(diagonal[rows]))

    def _summed(self) -> CrossSums:
        _checks.has_rows(0 if self.sums is None else None)
        assert self.sums is not None
        return self.sums
