"""Fitted core vector machines: core rows, their weights, and scores of left-out rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from kernelm.data import ArraySource, Rows, Sample, block_rows, stream, width
from kernelm.data.sample import priorities_of
from kernelm.data.targets import Targets
from kernelm.features import KernelColumns
from kernelm.margin.ball import Ball, core_matrix, left_out_slack
from kernelm.ridge import Status
from kernelm.tasks import Coded


class Part(NamedTuple):
    """One ball: for a pair of classes, for all classes, or for a regression."""

    ball: Ball  #: of points that carry weight
    scale: float  #: factor of F that makes it a score
    exact: bool  #: whether the weights solve the programme (or a ball was moved)


@final
@dataclass(eq=False)
class CoreMachine(Coded):
    """Scores from kernel columns on the core rows of all parts."""

    targets: Targets
    sample: Sample
    parts: list[Part]
    columns: KernelColumns  #: to the distinct core rows
    position: NDArray  #: of these rows among the training rows
    bias: float
    combine: Callable[[NDArray], NDArray]  #: scores of the parts to scores of the task
    stands_for: NDArray | None = None  #: the row that stands for each row, where equals are one
    class_weight: NDArray | None = None
    n_jobs: int | None = None

    @classmethod
    def of(cls, parts: list[Part], kernel: Any, scaler: Any, **rest: Any) -> CoreMachine:
        """Join the core rows of all parts."""
        keys = np.concatenate([part.ball.core.position for part in parts])
        position, first = np.unique(keys, return_index=True)
        core = parts[0].ball.core
        for part in parts[1:]:
            core = core.joined(part.ball.core) if part.ball.core.codes.shape[1] else core
        columns = KernelColumns(kernel, scaler, core.X[first], in_kernel_norm=True)
        return cls(parts=parts, columns=columns, position=position, **rest)

    def __post_init__(self) -> None:
        """Gather the weights of all parts, one column of scores after the other."""
        W = []
        for part in self.parts:
            core = part.ball.core
            at = np.searchsorted(self.position, core.position)
            block = np.zeros((len(self.position), core.codes.shape[1]))
            np.add.at(block, at, part.scale * part.ball.weights)
            W.append(block)
        self.weights = np.hstack(W)
        self.intercept = self.bias * self.weights.sum(axis=0)

    @property
    def status(self) -> Status:
        """The worst of the parts."""
        return max((part.ball.status for part in self.parts), key=len)

    def predict(self, X: Any) -> NDArray:
        """Return scores of any number of rows, block by block."""
        return self.combine(self.part_scores(X)).astype(ArraySource(X).dtype, copy=False)

    def part_scores(self, X: Any) -> NDArray:
        """Return the scores of all parts, side by side, in double precision."""
        source, W = ArraySource(X), self.weights

        def score(rows: Rows) -> NDArray:
            # Weights of both signs cancel: columns of single-precision rows are not enough.
            return self.columns.map(rows.X.astype(np.float64)) @ W + self.intercept

        D = width(source, fills=self.columns.scaler.fills)
        per_row = 8 * (3 * len(W) + 3 * D + W.shape[1])
        rows = block_rows(per_row, source.n_rows, self.n_jobs)
        return np.concatenate(list(stream(source, score, rows=rows, n_jobs=self.n_jobs)))

    def _sample_residuals(self) -> NDArray:
        r"""Return targets minus left-out scores of the kept rows.

        A row outside the core set has no part in the model: its score is a left-out score. For
        one inside, the others of the core set make up for it as in a ridge regression.
        """
        scores = self.part_scores(self.sample.X)
        column = 0
        for part in self.parts:
            core = part.ball.core
            of_sample, of_core = self._both(core.position)
            width = core.codes.shape[1]
            change = self._changes(part)[of_core, None] * core.codes[of_core]
            scores[of_sample, column : column + width] -= change
            column += width
        return self._encode(self.sample) - self.combine(scores)

    def _both(self, position: NDArray) -> tuple[NDArray, NDArray]:
        """Return which rows of the sample are which core points."""
        sample = self.sample
        if self.stands_for is None:
            hashes = priorities_of(position, sample.seed)
            return np.intersect1d(sample.priority, hashes, return_indices=True)[1:]
        every = priorities_of(np.arange(len(self.stands_for)), sample.seed)
        order = np.argsort(every)
        rows = order[np.searchsorted(every, sample.priority, sorter=order)]
        stand, order = self.stands_for[rows], np.argsort(position)
        at = order[np.searchsorted(position, stand, sorter=order) % len(order)]
        found = np.flatnonzero(position[at] == stand)
        return found, at[found]

    def _changes(self, part: Part) -> NDArray:
        """Return what leaving out each core point takes from its own score."""
        core, alpha = part.ball.core, part.ball.alpha
        Q = core_matrix(self.columns.kernel, self.bias, core)
        if part.exact:
            change = left_out_slack(Q, alpha, core.ridge, core.share) - core.ridge * alpha
        else:  # its own term goes, and nothing makes up for it
            change = core.share * alpha * (np.diagonal(Q) - core.ridge)
        return part.scale * change
