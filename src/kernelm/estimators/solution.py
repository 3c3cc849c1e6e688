"""What every fitted machine comes down to: a feature map, weights, and held-out scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from kernelm.data import ArraySource, Progress, Rows, Source, block_rows, stream, width
from kernelm.features import FeatureMap
from kernelm.ridge import Path, Status, Weights
from kernelm.tasks import Coded

#: Rows on which scores in both precisions are compared, and the gap (root mean square, in units
#: of the coded targets) from which on single-precision rows are scored in double.
STEADY_ROWS, UNSTEADY = 512, 1e-3
CACHED_BYTES = 2**22  # of features: so many are read again before others take their place


class Solvable(Protocol):
    """A factorisation that serves every alpha."""

    def resolve(self, alpha: float) -> tuple[float, Status]:
        """Return the alpha that can be used instead of ``alpha``, and why."""
        ...

    def coef(self, alpha: float) -> Weights:
        """Return weights and intercept for one alpha."""
        ...

    def df(self, alpha: float) -> float:
        """Return the effective degrees of freedom."""
        ...


@final
@dataclass(frozen=True, eq=False)
class Solution:
    """A machine solved for one alpha."""

    phi: FeatureMap
    factor: Solvable
    path: Path
    alpha: float
    status: Status
    weights: Weights
    units_path: dict[int, float]  #: criterion for each number of features that was tried
    _casts: dict[str, Weights] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, phi: FeatureMap, factor: Solvable, path: Path, units_path: dict[int, float]
    ) -> Solution:
        """Solve for the best alpha of a path."""
        alpha, status = factor.resolve(path.best)
        status = path.status if status is Status.OK else status
        return cls(phi, factor, path, alpha, status, factor.coef(alpha), units_path)

    def scores(self, X: Any) -> NDArray:
        """Return decision values of a block of rows, in the dtype of the block."""
        dtype = np.dtype(X.dtype)
        key = np.dtype(dtype).str
        if key not in self._casts:
            self._casts[key] = Weights(*(w.astype(dtype) for w in self.weights))
        W, b = self._casts[key]
        # Features that are still in the cache when they are multiplied.
        step = max(256, CACHED_BYTES // (self.phi.n_features_out * dtype.itemsize))
        parts = [self.phi.map(X[at : at + step]) @ W for at in range(0, max(X.shape[0], 1), step)]
        scores = parts[0] if len(parts) == 1 else np.concatenate(parts)
        scores += b
        return scores


class Solver(Coded, ABC):
    """What is done alike with any machine that one solve finishes: predict in blocks."""

    phi: Any  #: a FeatureMap

    @abstractmethod
    def solve(self, source: Source | None, progress: Progress | None = None) -> Solution:
        """Solve, with one more pass over ``source`` where the choice of alpha needs it."""

    @cached_property
    def solution(self) -> Solution:
        """The model that the present state gives; leave-one-out looks at the kept rows."""
        return self.solve(None)

    def predict(self, X: Any, progress: Progress | None = None) -> NDArray:
        """Return decision values of any number of rows, block by block."""
        source, solution = ArraySource(X), self.solution
        single = source.dtype == np.float32
        inner = np.float64 if single and self.needs_double else source.dtype

        def score(rows: Rows) -> NDArray:
            return solution.scores(rows.X.astype(inner, copy=False)).astype(
                source.dtype, copy=False
            )

        scores = stream(
            source,
            score,
            rows=self._block_rows(source),
            n_jobs=self.n_jobs,
            progress=progress,
        )
        return np.concatenate(list(scores))

    @cached_property
    def needs_double(self) -> bool:
        """Whether large weights turn the rounding of single-precision rows into wrong scores."""
        X = self.sample.head(STEADY_ROWS).X.astype(np.float32)
        gap = self.solution.scores(X) - self.solution.scores(X.astype(np.float64))
        return bool(np.sqrt(np.mean(np.square(gap))) > UNSTEADY)

    def _block_rows(self, source: Source) -> int:
        """Return the rows of a block that keep features and scratch within the budget."""
        itemsize = 8 if self.phi.needs_double else source.dtype.itemsize
        per_row = itemsize * (self.phi.n_features_out + self.targets.n_columns)
        per_row += (8 + itemsize) * min(width(source), self.phi.n_features_in)
        return block_rows(per_row, source.n_rows, self.n_jobs)
