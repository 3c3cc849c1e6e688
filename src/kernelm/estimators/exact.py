"""The kernel ELM on all of its rows: an eigendecomposition of the kernel matrix, or Cholesky."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from kernelm.data import Progress, Sample, Source
from kernelm.data.targets import Targets
from kernelm.estimators.solution import Solution, Solver
from kernelm.features import KernelColumns
from kernelm.ridge import (
    DualCholesky,
    DualFactor,
    Path,
    default_alphas,
    observation_part,
    walk,
)

EIGEN_ROWS = 1000  # up to here one eigendecomposition serves every alpha in half a second
START_ROWS = 500  # rows on which all alphas are compared, to begin with
FEW_ROWS = 256  # up to here they are compared on all rows, whatever is known before
WALK_ROWS = 2048  # rows on which some alphas are compared, a Cholesky factor each
LARGE_BYTES = 2**29  # kernel matrices above this size are kept in float32


@final
@dataclass(eq=False)
class ExactMachine(Solver):
    """A kernel machine with a weight on every row; the sample holds all rows."""

    phi: KernelColumns  #: its landmarks are the rows
    targets: Targets
    sample: Sample
    alpha: Any
    intercept: bool
    class_weight: NDArray | None = None
    n_jobs: int | None = None
    known: Path | None = None  #: alphas that were tried for this kernel, and on how many rows
    known_rows: int = 0

    def solve(self, source: Source | None = None, progress: Progress | None = None) -> Solution:
        """Solve; the leave-one-out error of every alpha comes with an eigendecomposition.

        More rows than that is quick for choose alpha on some of them, and then take a Cholesky
        factor of all; so does a machine that knows about which alpha it wants.
        """
        n, chooses = len(self.sample.priority), isinstance(self.alpha, str)
        zero = not chooses and not np.any(self.alpha)
        most = FEW_ROWS if chooses and self.known is not None else EIGEN_ROWS
        if n <= most or zero:
            self.solution = self._by_eigenvalues(self.sample)
        elif chooses:
            self.solution = self._by_walking()
        else:
            self.solution = self._by_cholesky(self._given_path())
        return self.solution

    def solve_for(self, alpha: float) -> Solution:
        """Solve for one alpha that somebody else has found to be good."""
        self.solution = self._by_cholesky(_given(alpha))
        return self.solution

    def _by_eigenvalues(self, sample: Sample) -> Solution:
        weight, unit = self._weights(sample)
        Z = self.phi.scaler.transform(sample.X)
        # In double precision, whatever the rows: small alphas need it, and these rows are few.
        K = self.phi.kernel.gram(Z.astype(np.float64))
        dual = DualFactor.of(K, self._encode(sample), weight, intercept=self.intercept)
        path = self._path(dual, unit)
        return Solution.of(self.phi, dual, path, {Z.shape[0]: path.score})

    def _given_path(self) -> Path:
        if np.ndim(self.alpha) == 0:
            return _given(float(self.alpha))
        return self._by_eigenvalues(self.sample.head(EIGEN_ROWS)).path

    def _by_walking(self) -> Solution:
        """Go from an alpha that suits few rows downhill with more: they want less ridge."""
        n = len(self.sample.priority)
        if self.known is not None and self.known_rows == n and self.class_weight is None:
            return self._by_cholesky(self.known)
        known = self.known or self._by_eigenvalues(self.sample.head(START_ROWS)).path
        more = self.sample if n <= WALK_ROWS else self.sample.head(WALK_ROWS)
        (weight, unit), Y = self._weights(more), self._encode(more)
        K = self.phi.kernel.gram(self.phi.scaler.transform(more.X).astype(np.float64))
        tried: dict[float, DualCholesky] = {}

        def error(alpha: float) -> float:
            tried[alpha] = DualCholesky.of(K, Y, alpha, weight, intercept=self.intercept)
            return tried[alpha].loo_error(weight, unit)

        path = walk(error, known.best, closely=True)
        if n > WALK_ROWS:
            return self._by_cholesky(path)
        return Solution.of(self.phi, tried[path.best], path, {n: path.score})

    def _by_cholesky(self, path: Path) -> Solution:
        weight, _ = self._weights(self.sample)
        Z = self.phi.Z
        K = self.phi.kernel.gram(Z.astype(np.float64) if Z.shape[0] <= WALK_ROWS else Z)
        if K.nbytes > LARGE_BYTES:
            K = K.astype(np.float32, copy=False)
        dual = DualCholesky.of(
            K,
            self._encode(self.sample),
            path.best,
            weight,
            intercept=self.intercept,
            overwrite=True,
        )
        return Solution.of(self.phi, dual, path, {len(K): path.score})

    def _path(self, dual: DualFactor, unit: NDArray | None) -> Path:
        if isinstance(self.alpha, str):
            return dual.loo_path(default_alphas(dual), unit)
        alphas = np.atleast_1d(np.asarray(self.alpha, np.float64))
        path = dual.loo_path(alphas, unit)
        return path if len(alphas) > 1 else replace(path, criterion="given", alphas=alphas)

    def _sample_residuals(self) -> NDArray:
        solution, (weight, unit) = self.solution, self._weights(self.sample)
        if isinstance(solution.factor, DualCholesky):
            return solution.factor.loo_residuals(observation_part(weight, unit))
        assert isinstance(solution.factor, DualFactor)
        return np.nan_to_num(solution.factor.loo_residuals(np.array([solution.alpha]), unit)[0])


def _given(alpha: float) -> Path:
    return Path("given", np.array([alpha]), np.array([np.nan]))
