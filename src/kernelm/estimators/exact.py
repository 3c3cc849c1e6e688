"""The kernel ELM on all of its rows: one eigendecomposition of the kernel matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from kernelm.data import Progress, Sample, Source
from kernelm.estimators.solution import Solution, Solver
from kernelm.estimators.targets import Targets
from kernelm.features import KernelColumns
from kernelm.ridge import DualFactor, Path, default_alphas


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

    def solve(self, source: Source | None = None, progress: Progress | None = None) -> Solution:
        """Solve; the leave-one-out error of every alpha comes with the factorisation."""
        weight, unit = self._weights(self.sample)
        K = self.phi.kernel.gram(self.phi.Z)
        dual = DualFactor.of(K, self._encode(self.sample), weight, intercept=self.intercept)
        path = self._path(dual, unit)
        self.solution = Solution.of(self.phi, dual, path, {len(K): path.score})
        return self.solution

    def _path(self, dual: DualFactor, unit: NDArray | None) -> Path:
        if isinstance(self.alpha, str):
            return dual.loo_path(default_alphas(dual), unit)
        alphas = np.atleast_1d(np.asarray(self.alpha, np.float64))
        path = dual.loo_path(alphas, unit)
        return path if len(alphas) > 1 else replace(path, criterion="given", alphas=alphas)

    def _sample_residuals(self) -> NDArray:
        solution, (_, unit) = self.solution, self._weights(self.sample)
        assert isinstance(solution.factor, DualFactor)
        return np.nan_to_num(solution.factor.loo_residuals(np.array([solution.alpha]), unit)[0])
