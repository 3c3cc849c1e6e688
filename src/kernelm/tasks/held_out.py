"""Scores of rows that were left out, and what every machine does alike with its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.data import Rows, Sample
from kernelm.data.targets import Classes, ManyClasses, Targets
from kernelm.tasks.calibration import Link, fit_link


@final
@dataclass(frozen=True, eq=False)
class HeldOut:
    """Leave-one-out results on the kept rows."""

    scores: NDArray  #: what models without the row predict, (n, C)
    residuals: NDArray  #: target minus that, (n, C)
    y: NDArray  #: targets as they came
    weight: NDArray  #: row weights
    targets: Targets

    @cached_property
    def links(self) -> list[Link]:
        """What turns scores into probabilities, one for each output of classes."""
        assert isinstance(self.targets, Classes | ManyClasses)
        outputs = self.targets.each(self.scores, self.y)
        return [fit_link(scores, index, self.weight) for scores, index in outputs]


class Coding:
    """What is done alike with the rows of any machine: encode their targets, weigh them."""

    targets: Targets
    class_weight: NDArray | None

    def _encode(self, rows: Rows | Sample, dtype: Any = np.float64) -> NDArray:
        return self.targets.encode(_checks.has_targets(rows.y), dtype)

    def _weights(self, rows: Rows | Sample) -> tuple[NDArray | None, NDArray | None]:
        """Return the weight of each row, and the weight of one observation in it.

        Row weights count observations; class weights say how much each of them matters.
        """
        if self.class_weight is None:
            return rows.weight, None if rows.weight is None else np.minimum(rows.weight, 1.0)
        assert isinstance(self.targets, Classes)
        factor = self.class_weight[self.targets.index(_checks.has_targets(rows.y))]
        if rows.weight is None:
            return factor, factor
        return factor * rows.weight, factor * np.minimum(rows.weight, 1.0)


class Coded(Coding, ABC):
    """A machine that knows how well it predicts rows that were left out."""

    sample: Sample
    n_jobs: int | None

    @abstractmethod
    def _sample_residuals(self) -> NDArray:
        """Return leave-one-out residuals of the sample."""

    @cached_property
    def held_out(self) -> HeldOut:
        """Leave-one-out scores of the kept rows."""
        Y, residuals = self._encode(self.sample), self._sample_residuals()
        weight, _ = self._weights(self.sample)
        w = np.ones(len(Y)) if weight is None else weight
        y = _checks.has_targets(self.sample.y)
        return HeldOut(Y - residuals, residuals, y, w, self.targets)
