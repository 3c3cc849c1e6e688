"""The Nyström kernel ELM on thousands of landmarks: sums in place, a Cholesky factor an alpha."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm._config import working_bytes
from kernelm.data import ArraySource, Progress, Rows, Sample, Source, stream
from kernelm.data.targets import Targets
from kernelm.estimators.solution import Solution, Solver
from kernelm.features import KernelColumns
from kernelm.ridge import EQUAL, Path, PrimalCholesky, Status, Weights

LOO_ROWS = 1024  # rows whose leave-one-out error compares alphas
MAX_STEPS = 8  # alphas that are tried, each ten times its neighbour


@final
@dataclass(frozen=True, eq=False)
class Solved:
    """Weights for one alpha, after the sums have been dropped."""

    weights: Weights
    degrees: float
    alpha: float
    status: Status

    def resolve(self, alpha: float) -> tuple[float, Status]:
        """Return the alpha in use, and why."""
        return self.alpha, self.status

    def coef(self, alpha: float) -> Weights:
        """Return the weights."""
        return self.weights

    def df(self, alpha: float) -> float:
        """Return the effective degrees of freedom, estimated on the sample."""
        return self.degrees


@final
@dataclass(eq=False)
class LargeMachine(Solver):
    """A kernel machine on many landmarks that keeps weights and a sample, no sums."""

    phi: KernelColumns
    targets: Targets
    sample: Sample
    alpha: Any  #: a number to use, or "loo" to search from ``start``
    start: float
    intercept: bool
    class_weight: NDArray | None = None
    n_jobs: int | None = None
    earlier: dict[int, float] | None = None  #: criterion of smaller sets of landmarks

    def solve(self, source: Source | None, progress: Progress | None = None) -> Solution:
        """Add up all rows, choose alpha by leave-one-out on some of them, solve."""
        _checks.passes_need_rows(source)
        assert source is not None
        primal = self._summed(source, progress)
        path, status = self._path(primal)
        if primal.alpha != path.best:
            status = primal.factor(path.best)
        Phi, Y, unit = self._columns(self.sample)
        self._residuals = primal.loo_residuals(Phi, Y, unit)
        weight, _ = self._weights(self.sample)
        hats = np.average(primal.hat_values(Phi[:LOO_ROWS]), weights=_head(weight))
        assert primal.sums is not None
        solved = Solved(primal.coef(), float(hats * primal.sums.weight), primal.alpha, status)
        units_path = dict(self.earlier or {}) | {self.phi.n_features_out: path.score}
        self.solution = Solution.of(self.phi, solved, path, units_path)
        return self.solution

    def _summed(self, source: Source, progress: Progress | None) -> PrimalCholesky:
        Z = self.phi.Z.astype(np.float64)
        n = Z.shape[0]
        # Directions below the rounding of the columns hold noise only.
        jitter = n * float(np.finfo(source.dtype).eps) * float(self.phi.kernel.diag(Z).mean())

        def penalty(rows: slice) -> NDArray:
            P = self.phi.kernel.gram(Z[rows], Z[rows.start :])
            P[np.arange(len(P)), np.arange(len(P))] += jitter
            return P

        primal = PrimalCholesky.zeros(n, penalty, intercept=self.intercept)
        # One block at a time, with all threads in each product: there is room for one only.
        rows = max(64, int(working_bytes() / (n * (8 + source.dtype.itemsize))))
        for read in source.blocks(rows):
            block = read()
            weight, _ = self._weights(block)
            primal.add(self._map(block.X), self._encode(block), weight)
            if progress is not None:
                progress.advance(block.n)
        return primal

    def _path(self, primal: PrimalCholesky) -> tuple[Path, Status]:
        """Walk from the start in decades, downhill in the leave-one-out error."""
        if not isinstance(self.alpha, str):
            status = primal.factor(float(self.alpha))
            return Path("given", np.array([primal.alpha]), np.array([self._score(primal)])), status
        scores: dict[float, float] = {}

        def score(alpha: float) -> float:
            nonlocal status
            status = primal.factor(alpha)
            scores[alpha] = self._score(primal)
            return scores[alpha]

        status, here = Status.OK, self.start
        score(here)
        while len(scores) < MAX_STEPS and score(here / 10) < (1 - EQUAL) * scores[here]:
            here /= 10
        if here == self.start:  # of equals, the largest
            while len(scores) < MAX_STEPS and score(here * 10) <= (1 + EQUAL) * scores[here]:
                here *= 10
        alphas = np.sort(list(scores))
        return Path("loo", alphas, np.array([scores[a] for a in alphas])), status

    def _score(self, primal: PrimalCholesky) -> float:
        few = self.sample.head(LOO_ROWS)
        weight, _ = self._weights(few)
        squares = (primal.loo_residuals(*self._columns(few)) ** 2).sum(axis=1)
        return float(np.average(squares, weights=weight))

    def _columns(self, sample: Sample) -> tuple[NDArray, NDArray, NDArray | None]:
        _, unit = self._weights(sample)
        return self._map(sample.X), self._encode(sample), unit

    def _map(self, X: Any) -> NDArray:
        """Return features in double precision, a part of the rows on each core."""
        Phi = np.empty((X.shape[0], self.phi.n_features_out))

        def write(rows: Rows) -> None:
            Phi[rows.start : rows.start + rows.n] = self.phi.map(rows.X)

        source = ArraySource(X)
        for _ in stream(source, write, rows=self._block_rows(source), n_jobs=self.n_jobs):
            pass
        return Phi

    def _sample_residuals(self) -> NDArray:
        return self._residuals


def _head(weight: NDArray | None) -> NDArray | None:
    return None if weight is None else weight[:LOO_ROWS]
