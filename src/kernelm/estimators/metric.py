"""Which inputs are close? Scaling, kernel and weights of the inputs, settled before a fit."""

from __future__ import annotations

from abc import ABC
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.data import Sample
from kernelm.data.targets import Targets
from kernelm.estimators.base import MomentEstimator
from kernelm.estimators.exact import ExactMachine
from kernelm.estimators.local import LocalMachine
from kernelm.estimators.sensitivity import MAX_COLUMNS, mean_squared_slopes, metric_weights
from kernelm.features import InputScaler, KernelColumns
from kernelm.kernels import NAMED, Kernel
from kernelm.search import KernelPath, Trial, best_metric, rank_kernels, scalings
from kernelm.tasks import Survey

SHARPENING_ROWS = 1000  # rows that tell how much each input counts, and as many that judge it
FEWEST_JUDGES = 300
MOST_SHARPENINGS = 5
SHARPER = 0.02  # weights must lower the error on other rows by this share


class KernelChooser(MomentEstimator, ABC):
    """An estimator with a kernel that is given or chosen on a sample of the rows.

    With ``kernel="auto"`` kernels and scalings are ranked together by closed-form leave-one-out.
    Then the inputs are weighed by the slopes of a small machine (see
    :mod:`kernelm.estimators.sensitivity`), if rows that it has not seen prefer that.
    """

    kernel: Kernel | str
    scale_inputs: bool
    kernel_: Kernel
    machine_: Any

    def _settle(self, survey: Survey) -> None:
        self.feature_weights_ = np.ones(survey.sample.X.shape[1])
        self.round_path_: list[float] = []
        self._choose_kernel(
            survey,
            scalings(survey.sample, scale_inputs=self.scale_inputs, several=self._searches),
        )
        if self._searches and self._sharpens:
            self._sharpen(survey)

    def _weigh(self, survey: Survey, squared_slopes: NDArray) -> None:
        """Settle the next round: inputs weighted by their slopes, and a kernel that suits them."""
        before, self.feature_weights_ = self.feature_weights_, metric_weights(squared_slopes)
        self._choose_kernel(survey, [self.scaler_.weighted(self.feature_weights_ / before)])

    def _choose_kernel(self, survey: Survey, scalers: list[InputScaler]) -> None:
        sample = survey.sample
        self.kernel_path_: KernelPath | None = None
        if self._searches:
            self.scaler_, self.kernel_path_ = best_metric(
                sample, partial(_targets, survey.coding), scalers, **self._search_options()
            )
            self.kernel_ = self.kernel_path_[0].resolved
        else:
            self.scaler_ = scalers[0]
            kernel = NAMED[self.kernel] if isinstance(self.kernel, str) else self.kernel
            if not kernel.is_resolved:
                S = self.scaler_.transform(sample.X)
                kernel = kernel.resolve(S, sample.weight, self.seed_)
            self.kernel_ = kernel

    def _sharpen(self, survey: Survey) -> None:
        """Weigh inputs by the slopes of a small machine, again while it suits other rows better."""
        rows = survey.sample.head(2 * SHARPENING_ROWS)
        learn, judge = rows.head(SHARPENING_ROWS), rows.beyond(SHARPENING_ROWS)
        D = rows.X.shape[1]
        if len(judge.priority) < FEWEST_JUDGES or not 1 < D <= MAX_COLUMNS or not self.scale_inputs:
            return
        assert self.kernel_path_ is not None
        plain, weights, best = self.scaler_, self.feature_weights_, self.kernel_path_[0]
        starts = {best.kernel: best.alpha}

        def judged(scaler: InputScaler) -> Trial:
            S, Y = scaler.transform(judge.X), _targets(survey.coding, judge)
            options = self._search_options() | {"weight": judge.weight, "starts": starts}
            return rank_kernels(S, Y, [best.kernel], **options)[0]

        trial = judged(plain)
        least = trial.score
        for _ in range(MOST_SHARPENINGS):
            machine = self._machine_of(survey, learn)
            machine.solve_for(trial.alpha)
            slopes = mean_squared_slopes(machine) * weights**2
            if not slopes.any():
                break
            sharper = metric_weights(slopes)
            self.scaler_ = plain.weighted(sharper)
            trial = judged(self.scaler_)
            if trial.score >= (1 - SHARPER) * least:
                break
            least, weights, self.kernel_ = trial.score, sharper, trial.resolved
        if weights is self.feature_weights_:
            self.scaler_ = plain
        else:
            self.feature_weights_ = weights
            self._choose_kernel(survey, [plain.weighted(weights)])

    def _search_options(self) -> dict[str, Any]:
        return {"intercept": self.fit_intercept, "seed": self.seed_}

    @property
    def _sharpens(self) -> bool:
        """Whether inputs are weighed before the fit, or by the fit itself."""
        return True

    @property
    def _searches(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "auto"

    def _squared_slopes(self) -> NDArray:
        """Return mean squared slopes along the inputs as they were scaled before any round."""
        machine = self.machine_
        if isinstance(machine, LocalMachine):
            slopes = machine.mean_squared_slopes()
        else:
            slopes = mean_squared_slopes(machine)
        return slopes * self.feature_weights_**2

    def _exact_machine(self, survey: Survey, sample: Sample) -> ExactMachine:
        """Return a machine with a weight on every row of a sample, solved."""
        machine = self._machine_of(survey, sample)
        machine.solve()
        return machine

    def _machine_of(self, survey: Survey, sample: Sample) -> ExactMachine:
        Z = self.scaler_.transform(sample.X)
        best = None if self.kernel_path_ is None else self.kernel_path_[0]
        return ExactMachine(
            KernelColumns(self.kernel_, self.scaler_, Z, in_kernel_norm=True),
            survey.coding,
            sample,
            self.alpha,
            self.fit_intercept,
            survey.class_weight,
            self.n_jobs,
            known=None if best is None else best.path,
            known_rows=0 if best is None else best.rows,
        )


def _targets(coding: Targets, sample: Sample) -> NDArray:
    return coding.encode(_checks.has_targets(sample.y), np.float64)
