"""What core vector machines share: a kernel and C, a search over rows, and balls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm._config import working_bytes
from kernelm.data import Rows, Source, effective_jobs, reduce
from kernelm.kernels import Kernel, named
from kernelm.margin.ball import Ball, enclose, most_core
from kernelm.margin.blurred import touch
from kernelm.margin.furthest import Points, Search, share_of
from kernelm.margin.machine import CoreMachine
from kernelm.ridge import Status
from kernelm.search import DEFAULT_CANDIDATES, KernelPath, best_metric, scalings
from kernelm.tasks import Estimator, Survey

BIAS = 1.0  # added to the kernel: an intercept with a small penalty
HELD_OUT_ROWS = 2048  # whose left-out scores calibrate
BLURRED = 1e-5  # eps of balls that are moved and not solved
_SMALLEST_RIDGE = 1e-3  # 1/C at least, in units of the kernel's diagonal, where C is chosen


class CoreVectorMachine(Estimator):
    """Kernel and C given or chosen on a sample, then balls."""

    machine_: CoreMachine
    kernel_: Kernel
    kernel_path_: KernelPath

    kernel: Kernel | str
    C: float | str
    eps: float | str
    max_core: int | str
    max_seconds: float | None
    scale_inputs: bool
    fit_intercept = True
    _points_per_row = 1

    def _check_parameters(self) -> None:
        if not (isinstance(self.kernel, str) and self.kernel == "auto"):
            named(self.kernel)
        for name in ("C", "eps"):
            value = getattr(self, name)
            if isinstance(value, str):
                _checks.one_of(value, f"{name} (or a number)", ["auto"])
            else:
                _checks.positive(value, name)
        most_core(self.max_core)
        if self.max_seconds is not None:
            _checks.positive(self.max_seconds, "max_seconds")
        effective_jobs(self.n_jobs)

    def _settle(self, survey: Survey) -> None:
        """Choose scaling, kernel and C by leave-one-out of ridge regression on a sample."""
        auto = isinstance(self.kernel, str) and self.kernel == "auto"
        candidates = DEFAULT_CANDIDATES if auto else (named(self.kernel),)
        scalers = scalings(survey.sample, scale_inputs=self.scale_inputs, several=auto)
        self.scaler_, self.kernel_path_ = best_metric(
            survey.sample,
            lambda rows: survey.coding.encode(_checks.has_targets(rows.y), np.float64),
            scalers,
            candidates,
            seed=self.seed_,
        )
        best = self.kernel_path_[0]
        self.kernel_ = best.resolved
        # Squared slacks make the ridge 1/C of the kernel matrix, as alpha is.
        S = self.scaler_.transform(survey.sample.X)
        smallest = _SMALLEST_RIDGE * float(np.mean(self.kernel_.diag(S)))
        ridge = max(best.alpha, smallest)
        self.C_ = 1 / (ridge or 1.0) if isinstance(self.C, str) else float(self.C)

    def _largest_diag(self, source: Source, class_weight: NDArray | None) -> float:
        """Return η, the largest entry of the diagonal of K̃."""

        def largest(rows: Rows) -> float:
            S, ridge = self.scaler_.transform(rows.X), self._ridge(rows.weight, rows.n)
            there = np.isfinite(ridge)
            return float((self.kernel_.diag(S) + BIAS + ridge)[there].max(initial=0.0))

        eta = reduce(source, largest, max, n_jobs=self.n_jobs) or 1.0
        least = (
            1.0 if class_weight is None else min(1.0, float(class_weight[class_weight > 0].min()))
        )
        return eta / least

    def _ridge(self, weight: NDArray | None, n: int) -> NDArray:
        """Return 1/(C w), infinite for rows that do not count."""
        if weight is None:
            return np.full(n, 1 / self.C_)
        return np.divide(1, self.C_ * weight, out=np.full(n, np.inf), where=weight > 0)

    def _points(self, rows: Rows, codes: NDArray, g: NDArray, ridge: NDArray) -> Points | None:
        """Return the points of rows that count."""
        there = np.flatnonzero(np.isfinite(ridge))
        if not len(there):
            return None
        X = rows.X if len(there) == rows.n else rows.X[there]
        S = self.scaler_.transform(X)
        return Points(
            S, codes[there], g[there], ridge[there], share_of(rows)[there], rows.start + there
        )

    def _ball(self, source: Source, points: Any, tolerance: Any, n_jobs: int | None) -> Ball:
        budget = working_bytes() / (1 if n_jobs != 1 else effective_jobs(self.n_jobs))
        search = Search(source, points, self.kernel_, BIAS, n_jobs, budget, self._points_per_row)
        options: dict[str, Any] = {"max_core": most_core(self.max_core), "seed": self.seed_}
        if self.max_seconds is not None:
            options["seconds"] = float(self.max_seconds)
        if getattr(self, "method", "cvm") == "bvm":
            eps = BLURRED if isinstance(self.eps, str) else float(self.eps)
            ball = touch(search, self.kernel_, BIAS, eps=eps, **options)
        else:
            ball = enclose(search, self.kernel_, BIAS, tolerance=tolerance, **options)
        return ball.carrying()

    def _tolerance(self, auto: Callable[[Ball], float]) -> Callable[[Ball], float]:
        if isinstance(self.eps, str):
            return auto
        share = (1 + float(self.eps)) ** 2 - 1
        return lambda ball: share * ball.radius**2

    # -- attributes that are derived when they are asked for ----------------------------

    @property
    def core_indices_(self) -> NDArray:
        """Positions of the core rows among the training rows."""
        return self._fitted().position

    @property
    def n_core_(self) -> int:
        """Number of core rows."""
        return len(self._fitted().position)

    @property
    def radius_(self) -> Any:
        """Radius of the ball; for several balls an array."""
        radius = np.array([part.ball.radius for part in self._fitted().parts])
        return float(radius[0]) if len(radius) == 1 else radius

    @property
    def gap_(self) -> float:
        """Largest distance outside a ball: no row is further than (1 + gap_) radii."""
        return max(part.ball.violation for part in self._fitted().parts)

    @property
    def n_evaluations_(self) -> int:
        """Kernel values that the fit computed."""
        return sum(part.ball.evaluations for part in self._fitted().parts)

    @property
    def status_(self) -> Status:
        """What happened in the fit, with advice; empty if all is well."""
        return self._fitted().status

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


def as_they_are(scores: NDArray) -> NDArray:
    """Return scores unchanged: there is one ball."""
    return scores
