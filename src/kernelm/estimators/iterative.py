"""The Nyström kernel ELM on many landmarks: passes over the rows instead of a Gram matrix."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.data import Progress, Rows, Sample, Source, reduce
from kernelm.data.targets import Targets
from kernelm.estimators.solution import Solution, Solver
from kernelm.features import KernelColumns
from kernelm.ridge import CrossSums, FalkonResult, Path, Preconditioner, Status, Weights, falkon

PROBES = 128  # rows whose hat values are computed to correct the others


@final
@dataclass(frozen=True, eq=False)
class Iterated:
    """Weights that passes over the rows came to, for one alpha."""

    weights: Weights
    degrees: float
    converged: bool

    def resolve(self, alpha: float) -> tuple[float, Status]:
        """Return alpha as it is, and whether the passes were enough."""
        return alpha, Status.OK if self.converged else Status.NOT_CONVERGED

    def coef(self, alpha: float) -> Weights:
        """Return the weights."""
        return self.weights

    def df(self, alpha: float) -> float:
        """Return the effective degrees of freedom, estimated on the sample."""
        return self.degrees


class Probes(NamedTuple):
    """Rows of the sample whose hat values are computed, not guessed."""

    rows: NDArray
    Phi: NDArray
    sums: CrossSums


@final
@dataclass(eq=False)
class IterativeMachine(Solver):
    """A kernel machine on landmarks that keeps neither rows nor their Gram matrix."""

    phi: KernelColumns
    targets: Targets
    sample: Sample
    alpha: float
    intercept: bool
    class_weight: NDArray | None = None
    n_jobs: int | None = None
    iterations: int = 15
    tol: float = 1e-3
    earlier: dict[int, float] | None = None  #: criterion of smaller sets of landmarks
    result: FalkonResult | None = None

    def solve(self, source: Source | None, progress: Progress | None = None) -> Solution:
        """Fit by passes over the source; the hat values of a few rows come with the same passes."""
        _checks.passes_need_rows(source)
        assert source is not None
        sums = reduce(source, self._sums, operator.add, progress=progress, **self._passes(source))
        assert sums is not None
        probes = self._probes()
        n_columns, dtype = self.targets.n_columns, np.dtype(source.dtype)
        preconditioner = Preconditioner.of(
            self.phi.kernel.gram(self.phi.Z.astype(dtype, copy=False)),
            self.alpha,
            sums.weight,
            dtype=np.float32,
            precision=float(np.finfo(dtype).eps),
            overwrite=True,
        )
        self.result = falkon(
            lambda V: self._apply(source, V, progress),
            _side_by_side(sums, probes.sums),
            preconditioner,
            intercept=self.intercept,
            iterations=self.iterations,
            tol=self.tol,
        )
        W, b = self.result.weights
        self.hats = self._hat_values(
            preconditioner, probes, Weights(W[:, n_columns:], b[n_columns:])
        )
        factor = Iterated(
            Weights(np.ascontiguousarray(W[:, :n_columns]), b[:n_columns]),
            float(self.hats.mean() * sums.weight),
            self.result.converged,
        )
        path = Path("given", np.array([self.alpha]), np.array([np.nan]))
        self.solution = Solution.of(self.phi, factor, path, dict(self.earlier or {}))
        path.scores[0] = self.score
        self.solution.units_path[len(sums.phi)] = self.score
        return self.solution

    def _probes(self) -> Probes:
        """Return one-hot targets of a few rows of the sample.

        A model fitted to the target that is 1 at one row and 0 elsewhere predicts, at that row,
        its hat value.
        """
        rows = np.arange(min(PROBES, len(self.sample.priority)))
        Phi = self.phi.map(self.sample.X[rows])
        ones = np.ones(len(rows))
        cross = Phi.T.astype(np.float64)
        return Probes(rows, Phi, CrossSums(0.0, np.zeros(len(cross)), ones, cross))

    def _hat_values(self, pre: Preconditioner, probes: Probes, weights: Weights) -> NDArray:
        """Return hat values of the sample: the guess of the landmarks, corrected on the probes."""
        exact = np.einsum("ij,ji->i", probes.Phi, weights.coef) + weights.intercept
        guess = pre.leverage(self.phi.map(self.sample.X)) + 1e-12
        known = np.clip(exact, 1e-9, 1 - 1e-9)
        odds = np.log(known / (1 - known))
        x = np.log(guess[probes.rows])
        slope = float(np.clip(np.cov(x, odds)[0, 1] / max(x.var(ddof=1), 1e-12), 0.0, 2.0))
        shifted = odds.mean() + slope * (np.log(guess) - x.mean())
        hats = 1 / (1 + np.exp(-shifted))
        hats[probes.rows] = known
        return hats

    @property
    def score(self) -> float:
        """Approximate leave-one-out error on the sample: what decides about more landmarks."""
        held_out = self.held_out
        squares = (held_out.residuals**2).sum(axis=1)
        return float(np.average(squares, weights=held_out.weight))

    def _sample_residuals(self) -> NDArray:
        Y, (_, unit) = self._encode(self.sample), self._weights(self.sample)
        e = Y - self.solution.scores(self.sample.X).astype(np.float64)
        part = self.hats if unit is None else unit * self.hats
        return e / (1.0 - part)[:, None]

    def _sums(self, rows: Rows) -> CrossSums:
        weight, _ = self._weights(rows)
        return CrossSums.of(self.phi.map(rows.X), self._encode(rows), weight)

    def _apply(self, source: Source, V: NDArray, progress: Progress | None = None) -> NDArray:
        V = V.astype(source.dtype)
        if progress is not None and source.n_rows is not None:
            progress.total = progress.rows + source.n_rows  # one more pass is known to come

        def block(rows: Rows) -> NDArray:
            K = self.phi.map(rows.X)
            U = K @ V
            weight, _ = self._weights(rows)
            if weight is not None:
                U *= weight.astype(U.dtype)[:, None]
            return (K.T @ U).astype(np.float64)

        total = reduce(source, block, operator.iadd, progress=progress, **self._passes(source))
        assert total is not None
        return total

    def _passes(self, source: Source) -> dict[str, Any]:
        return {"rows": self._block_rows(source), "n_jobs": self.n_jobs}


def _side_by_side(a: CrossSums, b: CrossSums) -> CrossSums:
    """Return the sums of the same rows with the targets of both."""
    return replace(a, y=np.append(a.y, b.y), cross=np.hstack([a.cross, b.cross]))
