"""Classification and regression on top of closed-form scores."""

from __future__ import annotations

from abc import ABC
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from kernelm import _checks
from kernelm.data import Rows, Source, reduce
from kernelm.estimators.base import MomentEstimator
from kernelm.estimators.calibration import fit_sharpness, probabilities
from kernelm.estimators.machine import HeldOut
from kernelm.estimators.targets import Classes, ManyClasses, Targets, Values

Counts = dict[Any, float]


class MomentRegressor(RegressorMixin, MomentEstimator, ABC):
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
        low, high = _quantiles(self.machine_.held_out, coverage)
        bounds = np.stack([scores + low, scores + high], axis=-1).astype(scores.dtype)
        return bounds[:, 0] if self._values.is_flat else bounds

    @property
    def loo_score_(self) -> float:
        """R² of leave-one-out predictions on the kept rows."""
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

    def _coding(self, source: Source, classes: Any) -> tuple[Targets, None]:
        y = next(source.blocks(1))().y
        return Values.of(_checks.has_targets(y)), None


class MomentClassifier(ClassifierMixin, MomentEstimator, ABC):
    """Classification: regression on codes, then the class with the largest score."""

    class_weight: Any

    def decision_function(self, X: Any) -> NDArray:
        """Return scores.

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes)
            Several outputs have their columns side by side.
        """
        scores = self._scores(X)
        flat = isinstance(self.machine_.targets, Classes) and scores.shape[1] == 1
        return scores[:, 0] if flat else scores

    def predict(self, X: Any) -> NDArray:
        """Predict class labels."""
        scores = self._scores(X)
        return self._classes.decode(scores)

    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities; the most probable class is the predicted one.

        They are calibrated on leave-one-out scores of the kept training rows, without folds.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or a list of them for several outputs
        """
        scores = self._scores(X)
        classes, sharpness = self._classes, self._sharpness
        if isinstance(classes, Classes):
            return probabilities(scores, sharpness[0])
        return [probabilities(s, a) for s, a in zip(classes.split(scores), sharpness, strict=True)]

    @property
    def classes_(self) -> Any:
        """Class labels, a list of them for several outputs."""
        self._fitted()
        classes = self._classes
        if isinstance(classes, Classes):
            return classes.labels
        return [part.labels for part in classes.parts]

    @property
    def loo_score_(self) -> float:
        """Accuracy of leave-one-out predictions on the kept rows."""
        held_out = self._fitted().held_out
        right = self._classes.decode(held_out.scores) == held_out.y
        right = right if right.ndim == 1 else right.all(axis=1)
        return float(np.average(right, weights=held_out.weight))

    @property
    def _classes(self) -> Classes | ManyClasses:
        targets = self.machine_.targets
        assert isinstance(targets, Classes | ManyClasses)
        return targets

    @property
    def _sharpness(self) -> list[float]:
        held_out, classes = self.machine_.held_out, self._classes
        if isinstance(classes, Classes):
            parts = [(classes, held_out.scores, held_out.y)]
        else:
            scores = classes.split(held_out.scores)
            parts = list(zip(classes.parts, scores, held_out.y.T, strict=True))
        return [fit_sharpness(s, c.index(y), held_out.weight) for c, s, y in parts]

    def _check_y(self, y: Any) -> NDArray:
        check_classification_targets(y)
        y = np.asarray(y)
        return column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y

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

    def _coding(self, source: Source, classes: Any) -> tuple[Targets, NDArray | None]:
        balanced = isinstance(self.class_weight, str)
        if classes is not None and not balanced:
            coding: Targets = Classes(_checks.at_least_two_classes(np.unique(classes)))
            counts = None
        else:
            counts = _count_labels(source)
            labels = [np.array(sorted(c)) for c in counts]
            if classes is not None:
                labels = [np.union1d(labels[0], classes)]
            parts = tuple(Classes(_checks.at_least_two_classes(v)) for v in labels)
            coding = parts[0] if _is_flat(source) else ManyClasses(parts)
        if self.class_weight is None:
            return coding, None
        _checks.one_output(isinstance(coding, Classes))
        assert isinstance(coding, Classes)
        return coding, _class_weights(self.class_weight, coding.labels, counts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _quantiles(held_out: HeldOut, coverage: float) -> tuple[NDArray, NDArray]:
    """Return lower and upper residual quantiles, output by output."""
    counted = held_out.weight > 0
    e, w = held_out.residuals[counted], held_out.weight[counted]
    order = np.argsort(e, axis=0)
    sorted_e = np.take_along_axis(e, order, axis=0)
    # One more row, the new one, shares the mass: conformal quantiles.
    mass = np.cumsum(w[order], axis=0) / (w.sum() + w.mean())
    tail = (1 - coverage) / 2
    n = len(e)
    first = np.clip((mass <= tail).sum(axis=0) - 1, 0, n - 1)
    last = np.clip((mass < 1 - tail).sum(axis=0), 0, n - 1)
    columns = np.arange(e.shape[1])
    return sorted_e[first, columns], sorted_e[last, columns]


def _is_flat(source: Source) -> bool:
    return np.ndim(_checks.has_targets(next(source.blocks(1))().y)) == 1


def _count_labels(source: Source) -> list[Counts]:
    """Return the weight of each label, output by output, in one pass."""

    def count(rows: Rows) -> list[Counts]:
        y = np.asarray(_checks.has_targets(rows.y))
        columns = y[:, None].T if y.ndim == 1 else y.T
        result = []
        for column in columns:
            labels, index = np.unique(column, return_inverse=True)
            result.append(dict(zip(labels, np.bincount(index, rows.weight), strict=True)))
        return result

    def add(a: list[Counts], b: list[Counts]) -> list[Counts]:
        for mine, more in zip(a, b, strict=True):
            for label, n in more.items():
                mine[label] = mine.get(label, 0.0) + n
        return a

    return reduce(source, count, add, rows=65_536, n_jobs=1) or []


def _class_weights(class_weight: Any, labels: NDArray, counts: list[Counts] | None) -> NDArray:
    if isinstance(class_weight, str):
        _checks.one_of(class_weight, "class_weight", ["balanced"])
        n = np.array([(counts or [{}])[0].get(label, 0.0) for label in labels])
        return np.divide(n.sum(), len(labels) * n, out=np.ones(len(n)), where=n > 0)
    _checks.class_weight_keys(class_weight, labels)
    return np.array([float(class_weight.get(label, 1.0)) for label in labels.tolist()])
