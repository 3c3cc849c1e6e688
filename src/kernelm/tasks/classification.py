"""Classification: the class with the largest score."""

from __future__ import annotations

from abc import ABC
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from kernelm import _checks
from kernelm.data import Rows, Sample, Source, reduce
from kernelm.data.targets import Classes, ManyClasses, Targets
from kernelm.tasks.calibration import probabilities
from kernelm.tasks.estimator import Estimator

Counts = dict[Any, float]


class Classifier(ClassifierMixin, Estimator, ABC):
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
        return coding, class_weights(self.class_weight, coding.labels, counts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


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


def class_weights(class_weight: Any, labels: NDArray, counts: list[Counts] | None) -> NDArray:
    """Return the factor of each label; "balanced" needs the weight of each label in the rows."""
    if isinstance(class_weight, str):
        _checks.one_of(class_weight, "class_weight", ["balanced"])
        n = np.array([(counts or [{}])[0].get(label, 0.0) for label in labels])
        return np.divide(n.sum(), len(labels) * n, out=np.ones(len(n)), where=n > 0)
    _checks.class_weight_keys(class_weight, labels)
    return np.array([float(class_weight.get(label, 1.0)) for label in labels.tolist()])
