"""The Nyström kernel ELM on thousands of landmarks: sums in place, a Cholesky factor an alpha."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm._config import working_bytes
from kernelm.data import (
    ArraySource,
    Progress,
    Rows,
    Sample,
    Source,
    effective_jobs,
    pooled,
    reduce,
    stream,
)
from kernelm.data.checkpoint import Checkpoint
from kernelm.data.targets import Targets
from kernelm.estimators.solution import Solution, Solver
from kernelm.features import KernelColumns
from kernelm.ridge import Path, PrimalCholesky, Status, Weights, shared_directions, walk
from kernelm.ridge.primal_cholesky import Block

LOO_ROWS = 2048  # rows whose leave-one-out error compares alphas, and calibrates
CHUNK_ROWS = 256  # whose features a worker makes at a time
_STATE = "landmarks"  # the name of the sums in a checkpoint


@final
@dataclass(frozen=True, eq=False)
class Solved:
    """Weights for one alpha, after the sums have been dropped."""

    weights: Weights
    degrees: float
    alpha: float
    status: Status
    residuals: NDArray  #: leave-one-out residuals of the kept rows
    score: float  #: their mean square

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
        self.sample = self.sample.head(LOO_ROWS)
        primal = self._summed(source, progress)
        Phi, Y = self._map(self.sample.X), self._encode(self.sample)
        tried: dict[float, Solved] = {}

        def error(alpha: float) -> float:
            tried[alpha] = self._solved(primal, alpha, Phi, Y)
            return tried[alpha].score

        if isinstance(self.alpha, str):
            path = walk(error, self.start)
        else:
            alpha = float(self.alpha)
            path = Path("given", np.array([alpha]), np.array([error(alpha)]))
        best = tried[path.best]
        self._residuals = best.residuals
        units_path = dict(self.earlier or {}) | {self.phi.n_features_out: path.score}
        self.solution = Solution.of(self.phi, best, path, units_path)
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

        single = source.dtype == np.float32
        shared = shared_directions(self._map(self.sample.X)) if single else None
        primal = PrimalCholesky.zeros(n, penalty, intercept=self.intercept, shared=shared)
        # Half of the working memory for a block, half for the chunks that make it.
        rows = max(64, int(working_bytes() / (2 * n * np.dtype(primal.block_dtype).itemsize)))
        kept: Checkpoint | None = getattr(source, "checkpoint", None)
        done = 0 if kept is None else _go_on(primal, kept)
        for n_blocks, read in enumerate(islice(source.blocks(rows), done, None), done + 1):
            block = read()
            primal.add(self._block(primal, block), self._each)
            if progress is not None:
                progress.advance(block.n)
            if kept is not None and kept.is_due:
                kept.save(_STATE, (primal.S, primal.M, primal.sums, n_blocks))
        return primal

    def _block(self, primal: PrimalCholesky, block: Rows) -> Block:
        """Return a block of rows to be added, a part of it from each core."""
        R = np.empty((block.n, self.phi.n_features_out), primal.block_dtype)

        def prepare(rows: Rows) -> Block:
            weight, _ = self._weights(rows)
            part = primal.block(self.phi.map(rows.X), self._encode(rows), weight)
            R[rows.start : rows.start + rows.n] = part.R
            return part._replace(R=R)

        source = ArraySource(block.X, block.y, block.weight)
        whole = reduce(source, prepare, Block.joined, rows=CHUNK_ROWS, n_jobs=self.n_jobs)
        assert whole is not None
        return whole

    def _solved(self, primal: PrimalCholesky, alpha: float, Phi: NDArray, Y: NDArray) -> Solved:
        """Factor and solve for one alpha, with leave-one-out on the kept rows."""
        assert primal.sums is not None
        status = primal.factor(alpha, self._each)
        weight, unit = self._weights(self.sample)
        hats = primal.hat_values(Phi)
        residuals = primal.loo_residuals(Phi, Y, unit, hats)
        return Solved(
            primal.coef(),
            float(np.average(hats, weights=weight) * primal.sums.weight),
            alpha,
            status,
            residuals,
            float(np.average((residuals**2).sum(axis=1), weights=weight)),
        )

    def _each(self, work: Callable[[slice], None], tasks: Iterable[slice]) -> Iterable[None]:
        return pooled(work, iter(tasks), effective_jobs(self.n_jobs))

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


def _go_on(primal: PrimalCholesky, kept: Checkpoint) -> int:
    """Take in the sums of an earlier try, and return how many blocks they hold."""
    state = kept.load(_STATE)
    if state is None:
        return 0
    primal.S, primal.M, primal.sums, n_blocks = state
    return n_blocks
