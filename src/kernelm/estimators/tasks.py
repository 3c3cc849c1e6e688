"""Classification and regression from sums over rows."""

from __future__ import annotations

from abc import ABC
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.data.targets import Classes
from kernelm.estimators.base import MomentEstimator
from kernelm.tasks import Classifier, Regressor


class MomentRegressor(Regressor, MomentEstimator, ABC):
    """Regression from sums over rows."""

    @property
    def loo_score_(self) -> float:
        """R² of leave-one-out predictions on the kept rows."""
        return self._held_out_score

    @property
    def coef_(self) -> NDArray:
        """Output weights in the units of y: one column an output (flat for a flat y)."""
        coef = self._fitted().solution.weights.coef * np.asarray(self._values.scale)
        return coef[:, 0] if self._values.is_flat else coef

    @property
    def intercept_(self) -> Any:
        """Intercept in the units of y, one an output."""
        b = self._values.decode(self._fitted().solution.weights.intercept[None, :])[0]
        return float(b) if self._values.is_flat else b


class MomentClassifier(Classifier, MomentEstimator, ABC):
    """Classification from sums over rows."""

    @property
    def loo_score_(self) -> float:
        """Accuracy of leave-one-out predictions on the kept rows."""
        return self._held_out_score

    @property
    def coef_(self) -> NDArray:
        """Output weights, one column a class (one column for two classes)."""
        return self._fitted().solution.weights.coef

    @property
    def intercept_(self) -> NDArray:
        """Intercepts, one a column of ``coef_``."""
        return self._fitted().solution.weights.intercept

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows; see :meth:`MomentEstimator.partial_fit`."""
        if not hasattr(self, "machine_"):
            _checks.classes_announced(classes)
        return super().partial_fit(X, y, classes, sample_weight)

    def _announce(self, classes: Any) -> None:
        mine = self._classes
        if classes is None:
            return
        _checks.one_output(isinstance(mine, Classes))
        assert isinstance(mine, Classes)
        union = np.union1d(mine.labels, classes)
        if len(union) > len(mine.labels):
            self.machine_.widen(Classes(union))
