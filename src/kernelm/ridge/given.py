r"""Ridge regression for one alpha that is given: a Cholesky factor instead of eigenvalues.

.. math:: (A + \alpha P)\, W = B, \qquad
   \mathrm{df} = L - \alpha\, \mathrm{tr}\,(A + \alpha P)^{-1} P

An eigendecomposition takes some ten times as long, and serves where alpha is close to what the
sums resolve: there it tells signal from rounding, direction by direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm._lapack import potri
from kernelm.ridge.centred import NEGLIGIBLE, Centred
from kernelm.ridge.factor import RESOLUTION, Factor, Weights, gcv_score
from kernelm.ridge.moments import Moments
from kernelm.ridge.spectrum import EPS
from kernelm.ridge.status import Status
from kernelm.ridge.triangles import cholesky, solve_upper

_FAR = 1e3  # times the rounding of LAPACK from which on alpha is far from it


@final
@dataclass(frozen=True, eq=False)
class GivenRidge:
    """Weights for one alpha that the sums resolve by far, and what was fitted with them."""

    alpha: float
    weights: Weights
    degrees: float  #: effective degrees of freedom
    score: float  #: generalised cross-validation

    def resolve(self, alpha: float) -> tuple[float, Status]:
        """Return alpha as it is."""
        _checks.same_alpha(alpha, self.alpha)
        return self.alpha, Status.OK

    def coef(self, alpha: float) -> Weights:
        """Return weights and intercept."""
        _checks.same_alpha(alpha, self.alpha)
        return self.weights

    def df(self, alpha: float) -> float:
        """Return the effective degrees of freedom, the trace of the hat matrix."""
        _checks.same_alpha(alpha, self.alpha)
        return self.degrees

    def gcv(self, alphas: NDArray) -> NDArray:
        """Return the generalised cross-validation of the one alpha."""
        _checks.same_alpha(float(np.squeeze(alphas)), self.alpha)
        return np.array([self.score])


def solve_given(
    m: Moments, alpha: float, *, penalty: NDArray | None = None, intercept: bool = True
) -> GivenRidge | Factor:
    """Solve for one alpha; where it is not far from rounding, by all eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> Phi, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [1.0], [5.0]])
    >>> m = Moments.of(Phi, Y)
    >>> one, every = solve_given(m, 2.0), Factor.of(m)
    >>> one.coef(2.0).coef.item(), every.coef(2.0).coef.item()
    (1.25, 1.25)
    >>> type(solve_given(m, 1e-20)).__name__
    'Factor'
    """
    sums, solved = Centred.of(m, intercept=intercept), None
    if penalty is not None:
        solved = _penalised(sums, alpha, np.asarray(penalty, np.float64))
        sums = sums if solved is not None else sums.whitened(penalty)
    return solved or _plain(sums, alpha) or Factor.of_sums(sums)


def _plain(sums: Centred, alpha: float) -> GivenRidge | None:
    """Return the ridge solution, or None where alpha is close to rounding."""
    trace = float(np.trace(sums.A))
    if not _is_far(alpha, trace, sums.taken_off, sums.noise, sums):
        return None
    S = sums.A.copy(order="F")
    S.flat[:: len(S) + 1] += alpha
    return _solved(sums, S, None, alpha)


def _penalised(sums: Centred, alpha: float, P: NDArray) -> GivenRidge | None:
    """Return the solution with a penalty, or None where directions of it are to be left out."""
    U = P.copy(order="F")
    # No eigenvalue is larger than the largest sum of a row.
    U.flat[:: len(U) + 1] -= NEGLIGIBLE * np.abs(P).sum(axis=1).max(initial=0.0)
    if not cholesky(U):
        return None
    inverse = _inverse(U)  # of a little less than P, so that all of these are upper bounds
    trace = float(np.vdot(inverse, sums.A))
    taken_off = sums.rows_weight * float(sums.shift @ inverse @ sums.shift)
    noise = EPS * float(np.linalg.norm(sums.A) * np.linalg.norm(inverse))
    if not _is_far(alpha, trace, taken_off, noise, sums):
        return None
    return _solved(sums, np.asfortranarray(sums.A + alpha * P), P, alpha)


def _is_far(alpha: float, trace: float, taken_off: float, noise: float, sums: Centred) -> bool:
    """Return whether alpha is far above all rounding; see :func:`spectrum.noise_floor`."""
    L = max(len(sums.A), 1)
    blocks = sums.precision * (trace + taken_off) / np.sqrt(L)
    # The largest eigenvalue is at most the trace. Without a trace there is no signal.
    return trace > 0 and alpha >= max(2 * blocks, _FAR * L * EPS * trace, _FAR * noise)


def _solved(sums: Centred, S: NDArray, P: NDArray | None, alpha: float) -> GivenRidge | None:
    """Solve with S = A + αP, which is destroyed."""
    if not cholesky(S):
        return None
    W = solve_upper(S, solve_upper(S, sums.B, transposed=True))
    inverse = _inverse(S)
    share = np.trace(inverse) if P is None else np.vdot(inverse, P)
    df = len(S) - alpha * float(share) + float(np.isfinite(sums.weight))
    explained = np.einsum("ij,ij->j", W, 2 * sums.B - sums.A @ W)
    # Below rounding all fits are equally good: no criterion should prefer its noise.
    rss = np.maximum(sums.yy - explained, max(RESOLUTION, sums.precision) * sums.yy)
    coef = W if sums.basis is None else sums.basis @ W
    weights = Weights(coef, sums.y_mean - sums.mean @ coef)
    return GivenRidge(alpha, weights, df, gcv_score(sums.n, df, rss))


def _inverse(U: NDArray) -> NDArray:
    """Replace the upper Cholesky factor of a matrix by the inverse of that matrix."""
    _checks.factored(potri(U))
    upper = np.triu(U, 1)
    return upper + upper.T + np.diag(np.diagonal(U))
