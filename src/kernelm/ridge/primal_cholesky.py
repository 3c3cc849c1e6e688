r"""Ridge regression on thousands of features, one alpha at a time, in the memory of one matrix.

.. math:: (\Phi_c^\top D\, \Phi_c + \alpha P)\, W = \Phi_c^\top D\, Y_c

An eigendecomposition would serve every alpha, but takes some thirty times as long as a Cholesky
factor and three times the memory. Here the centred sums stay in the lower half of a square array
and each alpha's factor is made in the upper half, so that a few alphas can be compared by exact
leave-one-out on kept rows.

Kernel columns are nearly dependent, and sums of them in single precision are useless: rounding of
the few directions that all columns share drowns the rest. With these directions Q taken off in
double precision,

.. math:: \Phi = A Q^\top + R, \qquad A = \Phi Q, \qquad M = A^\top \Phi, \qquad
   \Phi^\top \Phi = R^\top R + Q M + (Q M)^\top - Q (M Q) Q^\top,

what is left is small, its products cancel, and :math:`R^\top R` in single precision, at twice the
speed, is as good as the single-precision columns themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, cast, final

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
_SHARED = 32  # directions taken off: how many beyond the first few hardly matters
_EPS32 = float(np.finfo(np.float32).eps)
_syr, _syrk = cast(Any, get_blas_funcs(("syr", "syrk"), dtype=np.float64))


#: ``each(work, tiles)`` does the work of every tile; side by side, with one BLAS thread each.
Each = Callable[[Callable[[slice], None], Iterable[slice]], Iterable[None]]


class Block(NamedTuple):
    """Some rows, ready to be added: any number of workers may prepare blocks."""

    R: NDArray  #: weighted features without the shared directions, (rows, n)
    M: NDArray  #: Aᵀ Φ
    sums: CrossSums

    def joined(self, other: Block) -> Block:
        """Return the sums of both parts of a block whose R is one array already."""
        return Block(self.R, self.M + other.M, self.sums + other.sums)


def shared_directions(Phi: NDArray) -> NDArray:
    """Return the leading directions of some rows of features, (n, 32), by subspace iteration.

    Examples
    --------
    >>> import numpy as np
    >>> Phi = 3 + 1e-3 * np.random.default_rng(0).normal(size=(100, 50))
    >>> Q = shared_directions(Phi)
    >>> Q.shape, bool(np.abs(Phi - Phi @ Q @ Q.T).max() < 0.01)
    ((50, 32), True)
    """
    n = Phi.shape[1]
    Q = np.random.default_rng(0).normal(size=(n, min(_SHARED, *Phi.shape)))
    for _ in range(2):
        Q = np.linalg.qr(Phi.T @ (Phi @ Q))[0]
    return Q


@final
@dataclass(eq=False)
class PrimalCholesky:
    """Sums of rows with many features, and the factor for the last alpha that was asked for.

    Examples
    --------
    >>> import numpy as np
    >>> Phi, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [1.0], [5.0]])
    >>> primal = PrimalCholesky.zeros(1, lambda rows: np.eye(1)[rows, rows.start:], intercept=True)
    >>> primal.add(primal.block(Phi, Y))
    >>> primal.factor(1e-9).name
    'OK'
    >>> primal.loo_residuals(Phi, Y).ravel().round(3)
    array([ 3. , -1.5,  3. ])
    """

    S: NDArray  #: sums below the diagonal, the factor on and above it
    penalty: Callable[[slice], NDArray]  #: rows of P, from their first diagonal entry on
    intercept: bool
    Q: NDArray  #: directions that are summed in double precision, (n, m)
    M: NDArray  #: Aᵀ Φ, (m, n)
    sums: CrossSums | None = None
    alpha: float = np.nan
    _rounding: float = 0.0
    _diagonal: NDArray = field(default_factory=lambda: np.empty(0), repr=False)
    _weights: Weights | None = None

    @classmethod
    def zeros(
        cls,
        n_features: int,
        penalty: Callable[[slice], NDArray],
        *,
        intercept: bool,
        shared: NDArray | None = None,
    ) -> Self:
        """Return the sums of no rows; with shared directions, products are in float32."""
        S = np.zeros((n_features, n_features), order="F")
        Q = np.zeros((n_features, 0)) if shared is None else shared
        return cls(S, penalty, intercept, Q, np.zeros((Q.shape[1], n_features)))

    @property
    def block_dtype(self) -> type[np.floating]:
        """Precision of the products of a block."""
        return np.float32 if self.Q.shape[1] else np.float64

    def block(self, Phi: NDArray, Y: NDArray, weight: NDArray | None = None) -> Block:
        """Return a block of rows in the form that is added."""
        Phi = Phi.astype(np.float64, copy=weight is not None)
        sums = CrossSums.of(Phi, Y, weight)
        _checks.finite_sums(sums.phi, sums.cross)
        if weight is not None:
            Phi *= np.sqrt(weight)[:, None]
        if not self.Q.shape[1]:
            return Block(Phi, self.M, sums)
        A = Phi @ self.Q
        return Block((Phi - A @ self.Q.T).astype(self.block_dtype), A.T @ Phi, sums)

    def add(self, block: Block, each: Each = map) -> None:
        """Add a block of rows; all rows are added before the first factor is asked for."""
        self.sums = block.sums if self.sums is None else self.sums + block.sums
        if not self.Q.shape[1]:
            # The transpose of a C-ordered block is read without a copy, the sums made in place.
            _syrk(1.0, block.R.T, beta=1.0, c=self.S, lower=1, overwrite_c=1)
            return
        self.M += block.M
        for _ in each(lambda columns: self._add_columns(block.R, columns), tiles(len(self.S))):
            pass

    def _add_columns(self, R: NDArray, columns: slice) -> None:
        """Add RᵀR in a few columns: single precision in a block, double precision between them."""
        self.S[columns.start :, columns].T[...] += R[:, columns].T @ R[:, columns.start :]

    @property
    def mean(self) -> NDArray:
        """Weighted mean of the features (0 without an intercept)."""
        sums = self._summed()
        return sums.phi / sums.weight if self.intercept else np.zeros_like(sums.phi)

    def factor(self, alpha: float, each: Each = map) -> Status:
        """Factor for one alpha; where rounding leaves no positive matrix, with some ridge more."""
        self._center()
        self.alpha, self._weights = float(alpha), None
        ridge = self._rounding
        for _ in range(_ESCALATIONS):
            for _ in each(lambda rows, ridge=ridge: self._fill(rows, ridge), tiles(len(self.S))):
                pass
            if cholesky(self.S):
                return Status.FLOORED if ridge > self._rounding else Status.OK
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
        centered = np.subtract(Phi, self.mean, dtype=np.float64).T
        P = solve_upper(self.S, centered, transposed=True, overwrite=True)
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
        if self.Q.shape[1]:
            # What single-precision products of the rest cannot tell from zero.
            self._rounding = _EPS32 * float(np.diagonal(self.S).mean())
        half = self.M - 0.5 * (self.M @ self.Q) @ self.Q.T
        for columns in tiles(len(self.S)):
            below = slice(columns.start, None)
            QM = self.Q[below] @ half[:, columns]
            QM += (self.Q[columns] @ half[:, below]).T
            self.S[below, columns] += QM
        if self.intercept:
            _syr(-sums.weight, self.mean, lower=1, a=self.S, overwrite_a=1)
        self._diagonal = np.diagonal(self.S).copy()

    def _fill(self, rows: slice, ridge: float) -> None:
        """Write some rows of A + αP, with a ridge, on and above the diagonal."""
        above = self.alpha * self.penalty(rows)
        inside = rows.stop - rows.start
        above[:, inside:] += self.S[rows.stop :, rows].T
        self.S[rows, rows.stop :] = above[:, inside:]
        tile, strict = self.S[rows, rows], np.tril(self.S[rows, rows], -1)
        diagonal = np.diag(self._diagonal[rows] + ridge)
        tile[:] = strict + np.triu(above[:, :inside] + strict.T + diagonal)

    def _summed(self) -> CrossSums:
        _checks.has_rows(0 if self.sums is None else None)
        assert self.sums is not None
        return self.sums
