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
from kernelm.data import Rows, Sample, Source, reduce
from kernelm.data.targets import Classes, ManyClasses, Targets, Values
from kernelm.estimators.base import MomentEstimator
from kernelm.estimators.calibration import probabilities
from kernelm.estimators.closed_form import ClosedFormEstimator
from kernelm.estimators.solution import HeldOut
from kernelm.ridge import observations

Counts = dict[Any, float]


class Regressor(RegressorMixin, ClosedFormEstimator, ABC):
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
        bounds = [decode(scores + q) for q in _quantiles(self.machine_.held_out, coverage)]
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


class Classifier(ClassifierMixin, ClosedFormEstimator, ABC):
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
        return self._decisions(scores)

    def _decisions(self, scores: NDArray) -> NDArray:
        flat = isinstance(self._classes, Classes) and scores.shape[1] == 1
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
        ndarray of shape (n_samples, n_classes)
            For several outputs a list of them, or, where each is a yes or no (multilabel), an
            array (n_samples, n_outputs) of the probabilities of yes.
        """
        scores = self._scores(X)
        classes, links = self._classes, self.machine_.held_out.links
        if isinstance(classes, Classes):
            return probabilities(scores, links[0])
        P = [probabilities(s, a) for s, a in zip(classes.split(scores), links, strict=True)]
        return np.stack([p[:, 1] for p in P], axis=1) if classes.is_multilabel else P

    @property
    def classes_(self) -> Any:
        """Class labels; for several outputs a list of them (multilabel: the two of all)."""
        self._fitted()
        classes = self._classes
        if isinstance(classes, Classes):
            return classes.labels
        labels = [part.labels for part in classes.parts]
        return labels[0] if classes.is_multilabel else labels

    @property
    def _held_out_score(self) -> float:
        """Accuracy of left-out predictions on the kept rows."""
        held_out = self._fitted().held_out
        right = self._classes.decode(held_out.scores) == held_out.y
        right = right if right.ndim == 1 else right.all(axis=1)
        return float(np.average(right, weights=held_out.weight))

    @property
    def _classes(self) -> Classes | ManyClasses:
        targets = self.machine_.targets
        assert isinstance(targets, Classes | ManyClasses)
        return targets

    def _check_y(self, y: Any) -> NDArray:
        check_classification_targets(y)
        y = np.asarray(y)
        return column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y

    def _coding(
        self, source: Source, sample: Sample, classes: Any
    ) -> tuple[Targets, NDArray | None]:
        balanced = isinstance(self.class_weight, str)
        if classes is not None and not balanced:
            coding: Targets = Classes(_checks.at_least_two_classes(np.unique(classes)))
            counts = None
        else:
            counts = _count_labels(source)
            labels = [_sorted_labels(c, _checks.has_targets(sample.y).dtype) for c in counts]
            if classes is not None:
                labels = [np.union1d(labels[0], classes)]
            parts = tuple(Classes(_checks.at_least_two_classes(v)) for v in labels)
            flat = np.ndim(_checks.has_targets(sample.y)) == 1
            coding = parts[0] if flat else ManyClasses(parts)
        if self.class_weight is None:
            return coding, None
        _checks.one_output(isinstance(coding, Classes))
        assert isinstance(coding, Classes)
        return coding, _class_weights(self.class_weight, coding.labels, counts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


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


def _quantiles(held_out: HeldOut, coverage: float) -> tuple[NDArray, NDArray]:
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


def _sorted_labels(counts: Counts, dtype: np.dtype) -> NDArray:
    # Strings of other blocks may be longer than the dtype of this one.
    return np.array(sorted(counts), dtype=None if dtype.kind in "US" else dtype)


def _class_weights(class_weight: Any, labels: NDArray, counts: list[Counts] | None) -> NDArray:
    if isinstance(class_weight, str):
        _checks.one_of(class_weight, "class_weight", ["balanced"])
        n = np.array([(counts or [{}])[0].get(label, 0.0) for label in labels])
        return np.divide(n.sum(), len(labels) * n, out=np.ones(len(n)), where=n > 0)
    _checks.class_weight_keys(class_weight, labels)
    return np.array([float(class_weight.get(label, 1.0)) for label in labels.tolist()])
