"""Core vector machines for values: a tube, and a ball around both sides of it."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from kernelm import _checks
from kernelm.data import Rows, Source, reduce
from kernelm.kernels import Kernel
from kernelm.margin.core_machine import BIAS, HELD_OUT_ROWS, CoreVectorMachine, as_they_are
from kernelm.margin.furthest import Points
from kernelm.margin.machine import CoreMachine, Part
from kernelm.tasks import Regressor

RESIDUAL = 0.05  # with eps="auto", in standard deviations of y


@final
class CoreVectorRegressor(CoreVectorMachine, Regressor):
    r"""Core vector machine for regression: a tube around most targets, squared beyond it.

    .. math:: \min_{f, \epsilon, \xi}\; \lVert f \rVert^2 + 2\kappa\epsilon
       + C \sum_i w_i \xi_i^2, \qquad |y_i - f(x_i)| \le \epsilon + \xi_i

    The width of the tube is part of the solution: :math:`\kappa = \nu\, C \sum_i w_i\, \bar r`
    makes the mean excess over it the share :math:`\nu` of the mean left-out residual
    :math:`\bar r` of a ridge regression on a sample.

    Parameters
    ----------
    kernel, C, max_core, max_seconds, scale_inputs
        As in :class:`CoreVectorClassifier`.
    eps : float or "auto"
        As there; "auto": until no residual is outside the tube by more than a twentieth of the
        standard deviation of y without being a core vector.
    nu : float
        Above 0 and at most 1: the smaller, the wider the tube and the fewer core vectors.
    random_state, n_jobs, verbose
        As in scikit-learn.

    Attributes
    ----------
    core_indices_, n_core_, radius_, gap_, n_evaluations_, status_, kernel_, kernel_path_, C_,
    epsilon_, loo_score_

    References
    ----------
    Tsang, Kwok and Zurada (2006), Generalized core vector machines.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelm import CoreVectorRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = CoreVectorRegressor(random_state=0).fit(X[:300], y[:300])
    >>> print(f"R2 {model.score(X[300:], y[300:]):.2f}")
    R2 0.52
    """

    _points_per_row = 2  # above the tube and below it

    def __init__(
        self,
        kernel: Kernel | str = "auto",
        *,
        C: float | str = "auto",
        eps: float | str = "auto",
        nu: float = 0.5,
        max_core: int | str = "auto",
        max_seconds: float | None = None,
        scale_inputs: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.eps = eps
        self.nu = nu
        self.max_core = max_core
        self.max_seconds = max_seconds
        self.scale_inputs = scale_inputs
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def loo_score_(self) -> float:
        """R² of left-out predictions on the kept rows."""
        return self._held_out_score

    @property
    def epsilon_(self) -> float:
        """Half of the width of the tube, in the units of y."""
        part = self._fitted().parts[0]
        slack = 0.5 * (part.ball.level - self._eta)
        return max(float(part.scale * slack), 0.0) * self._values.scale[0]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _checks.share(self.nu, "nu")

    def _check_y(self, y: Any) -> NDArray:
        _checks.one_output(np.ndim(y) == 1 or np.shape(y)[1] == 1)
        return super()._check_y(column_or_1d(y, warn=True))

    def _fit(self, source: Source, classes: Any) -> Self:
        survey = self._survey(source, classes)
        residual = 0.8 * np.sqrt(self.kernel_path_[0].score)  # mean size, if they are normal
        total = reduce(source, _total_weight, lambda a, b: a + b, n_jobs=1) or 0.0
        kappa = max(self.nu * self.C_ * total * residual, np.finfo(float).tiny)
        self._eta = self._largest_diag(source, None) + 2 / kappa

        def points(rows: Rows) -> Points | None:
            y = survey.coding.encode(_checks.has_targets(rows.y), np.float64)
            codes = np.tile(np.array([[[1.0], [-1.0]]]), (rows.n, 1, 1))
            g = self._eta + 2 / kappa * np.hstack([y, -y])
            return self._points(rows, codes, g, self._ridge(rows.weight, rows.n))

        tolerance = self._tolerance(lambda ball: 2 * RESIDUAL / kappa)
        ball = self._ball(source, points, tolerance, self.n_jobs)
        self.machine_ = CoreMachine.of(
            [Part(ball, kappa, True)],
            self.kernel_,
            self.scaler_,
            targets=survey.coding,
            sample=survey.sample.head(HELD_OUT_ROWS),
            bias=BIAS,
            combine=as_they_are,
            n_jobs=self.n_jobs,
        )
        return self


def _total_weight(rows: Rows) -> float:
    return float(rows.n if rows.weight is None else rows.weight.sum())
