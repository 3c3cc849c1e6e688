"""Regression: scores are predictions."""

from __future__ import annotations

from abc import ABC
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from kernelm import _checks
from kernelm.data import Sample, Source
from kernelm.data.targets import Targets, Values
from kernelm.ridge import observations
from kernelm.tasks.estimator import Estimator
from kernelm.tasks.held_out import HeldOut


class Regressor(RegressorMixin, Estimator, ABC):
    """Regression: scores are predictions."""

    def predict(self, X: Any) -> NDArray:
        """Predict targets.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        scores = self._scores(X)
        return self._values.decode(scores)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> NDArray:
        """Predict intervals that hold a new target with the given probability.

        The bounds are quantiles of the leave-one-out residuals of the kept rows, with the
        finite-sample correction of conformal prediction.

        Returns
        -------
        ndarray of shape (n_samples, 2) or (n_samples, n_outputs, 2)
            Lower and upper bounds.

        Examples
        --------
        >>> import numpy as np
        >>> from kernelm import ELMRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(-3, 3, (500, 1))
        >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 500)
        >>> low, high = ELMRegressor(random_state=0).fit(X, y).predict_interval([[1.0]])[0]
        >>> print(f"{low:.1f} {high:.1f}")
        0.7 1.0
        """
        _checks.between(coverage, "coverage", 0, 1)
        scores = self._scores(X)
        decode = self._values.decode
        bounds = [decode(scores + q) for q in residual_quantiles(self.machine_.held_out, coverage)]
        return np.stack(bounds, axis=-1).astype(scores.dtype)

    @property
    def _held_out_score(self) -> float:
        """R² of left-out predictions on the kept rows."""
        held_out = self._fitted().held_out
        truth = held_out.scores + held_out.residuals
        return float(r2_score(truth, held_out.scores, sample_weight=held_out.weight))

    @property
    def _values(self) -> Values:
        targets = self.machine_.targets
        assert isinstance(targets, Values)
        return targets

    def _check_y(self, y: Any) -> NDArray:
        return _checks.real_targets(y)

    def _coding(self, source: Source, sample: Sample, classes: Any) -> tuple[Targets, None]:
        y = _checks.has_targets(sample.y)
        return Values.of(y, sample.weight, center=self.fit_intercept), None


def residual_quantiles(held_out: HeldOut, coverage: float) -> tuple[NDArray, NDArray]:
    """Return lower and upper residual quantiles, output by output.

    Conformal: of n residuals and the unknown one of a new row, the k-th smallest of n + 1 is
    taken, rounding outwards. Weights are repeated residuals.
    """
    counted = held_out.weight > 0
    e, w = held_out.residuals[counted], held_out.weight[counted]
    n = observations(w)
    order = np.argsort(e, axis=0)
    ranks = np.cumsum(w[order], axis=0) * (n / w.sum())
    tail = (1 - coverage) / 2 * (n + 1)

    def at(rank: float) -> NDArray:
        column = np.arange(e.shape[1])
        k = np.minimum((ranks < rank - 1e-6).sum(axis=0), len(e) - 1)
        return e[order[k, column], column]

    return at(np.floor(tail + 1e-9)), at(np.ceil(n + 1 - tail - 1e-9))
