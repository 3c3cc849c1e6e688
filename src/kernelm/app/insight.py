"""What fitted machines know about the data, as plain numbers for charts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from kernelm.app.problem import Problem
from kernelm.app.splits import Split

COVERAGE = 0.9
MOST_CLASSES, MOST_POINTS, MOST_INPUTS = 20, 400, 20
MOST_GROUPS, ROWS_PER_GROUP = 10, 20  # of predictions by confidence
REST = "(others)"


@final
@dataclass(frozen=True)
class AlphaPath:
    """The closed-form error of every ridge strength."""

    machine: str
    criterion: str
    alphas: tuple[float, ...]
    errors: tuple[float, ...]
    chosen: float


@final
@dataclass(frozen=True)
class KernelRanking:
    """Kernels and their leave-one-out errors, the best first."""

    machine: str
    kernels: tuple[str, ...]
    errors: tuple[float, ...]
    n_tried: int  #: with those that a first look at fewer rows ruled out


@final
@dataclass(frozen=True)
class GrowthCurve:
    """The closed-form error for numbers of units or landmarks."""

    machine: str
    unit: str
    sizes: tuple[int, ...]
    errors: tuple[float, ...]


@final
@dataclass(frozen=True)
class Confusion:
    """Test rows by true (down) and predicted class (across)."""

    machine: str
    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@final
@dataclass(frozen=True)
class Calibration:
    """How often predictions of some confidence are right."""

    machine: str
    confidence: tuple[float, ...]
    right: tuple[float, ...]
    counts: tuple[int, ...]
    gap: float  #: mean distance of the two, weighed by counts


@final
@dataclass(frozen=True)
class Residuals:
    """Predictions of test rows with intervals."""

    machine: str
    predicted: tuple[float, ...]
    truth: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    coverage: float  #: that was asked for
    covered: float  #: share of all test rows within their interval


@final
@dataclass(frozen=True)
class Importance:
    """Columns that the scores answer to, the strongest first; shares of all columns."""

    machine: str
    columns: tuple[str, ...]
    shares: tuple[float, ...]
    n_columns: int


@final
@dataclass(frozen=True)
class Insight:
    """What there is to draw; None where no machine could say."""

    alpha_path: AlphaPath | None = None
    kernel_ranking: KernelRanking | None = None
    growth: tuple[GrowthCurve, ...] = ()
    confusion: Confusion | None = None
    calibration: Calibration | None = None
    residuals: Residuals | None = None
    importance: Importance | None = None


@final
@dataclass(frozen=True, eq=False)
class Fitted:
    """A model of ours, and the split that it learned and was tested on last."""

    name: str
    model: Any
    split: Split


def look_into(models: Sequence[Fitted], problem: Problem) -> Insight:
    """Ask models, the best one first, for everything that can be drawn."""
    classes = problem.is_classification
    return Insight(
        alpha_path=_first(models, _alpha_path),
        kernel_ranking=max(
            (k for m in models if (k := _quietly(_kernel_ranking, m)) is not None),
            key=lambda k: len(k.kernels),
            default=None,
        ),
        growth=tuple(c for m in models if (c := _quietly(_growth, m)) is not None),
        confusion=_first(models, _confusion) if classes else None,
        calibration=_first(models, _calibration) if classes else None,
        residuals=None if classes else _first(models, _residuals),
        importance=_first(models, lambda m: _importance(m, problem.columns)),
    )


def _first(models: Sequence[Fitted], ask: Callable[[Fitted], Any]) -> Any:
    answers = (_quietly(ask, model) for model in models)
    return next((a for a in answers if a is not None), None)


def _quietly(ask: Callable[[Fitted], Any], model: Fitted) -> Any:
    """Return an answer, or None: a picture less must not cost the comparison."""
    try:
        return ask(model)
    except Exception:
        return None


def _alpha_path(m: Fitted) -> AlphaPath | None:
    path = getattr(m.model, "path_", None)
    if path is None or len(path.alphas) < 3:
        return None
    there = np.isfinite(path.scores)
    criterion: dict[str, str] = {"loo": "leave-one-out", "gcv": "generalised cross-validation"}
    return AlphaPath(
        m.name,
        criterion.get(path.criterion, str(path.criterion)),
        _floats(path.alphas[there]),
        _floats(path.scores[there]),
        float(m.model.alpha_),
    )


def _kernel_ranking(m: Fitted) -> KernelRanking | None:
    path = getattr(m.model, "kernel_path_", None)
    if path is None or len(path) < 2:
        return None
    # Errors on different numbers of rows do not compare: those of the last round are shown.
    trials = [t for t in path if t.rows == path[0].rows]
    names = tuple(str(t.kernel) for t in trials)
    return KernelRanking(m.name, names, _floats(t.score for t in trials), len(path))


def _growth(m: Fitted) -> GrowthCurve | None:
    for attribute, unit in (("units_path_", "units"), ("landmark_path_", "landmarks")):
        path = getattr(m.model, attribute, None)
        if path is not None and len(path) > 1:
            return GrowthCurve(m.name, unit, tuple(map(int, path)), _floats(path.values()))
    return None


def _confusion(m: Fitted) -> Confusion:
    y = m.split.y_test.astype(str)
    predicted = np.asarray(m.model.predict(m.split.X_test)).astype(str)
    labels = _natural(np.union1d(y, predicted), np.unique(m.split.y_test))
    if len(labels) > MOST_CLASSES:
        common = {label for label, _ in Counter(y.tolist()).most_common(MOST_CLASSES - 1)}
        labels = [*(label for label in labels if label in common), REST]
    at = {label: i for i, label in enumerate(labels)}
    table = np.zeros((len(labels), len(labels)), dtype=int)
    for t, p in zip(y, predicted, strict=True):
        table[at.get(t, len(labels) - 1), at.get(p, len(labels) - 1)] += 1
    return Confusion(m.name, tuple(labels), tuple(tuple(map(int, row)) for row in table))


def _natural(labels: NDArray, as_they_are: NDArray) -> list[str]:
    """Return labels in the order of the classes: 2 before 10, if they are numbers."""
    order = {str(label): i for i, label in enumerate(as_they_are)}
    return sorted(labels.tolist(), key=lambda label: order.get(label, len(order)))


def _calibration(m: Fitted) -> Calibration | None:
    if not hasattr(m.model, "predict_proba"):
        return None
    P = m.model.predict_proba(m.split.X_test)
    labels = np.asarray(m.model.classes_)
    p, hit = P.max(axis=1), labels[P.argmax(axis=1)] == m.split.y_test
    # Groups of equal size: sure machines would crowd the last of groups of equal width.
    n_groups = int(np.clip(len(p) // ROWS_PER_GROUP, 1, MOST_GROUPS))
    groups = np.array_split(np.argsort(p, kind="stable"), n_groups)
    confidence = np.array([p[g].mean() for g in groups])
    right = np.array([hit[g].mean() for g in groups])
    counts = np.array([len(g) for g in groups])
    gap = float(np.average(np.abs(confidence - right), weights=counts))
    return Calibration(m.name, _floats(confidence), _floats(right), tuple(map(int, counts)), gap)


def _residuals(m: Fitted) -> Residuals | None:
    if not hasattr(m.model, "predict_interval"):
        return None
    y = m.split.y_test
    predicted = m.model.predict(m.split.X_test)
    low, high = m.model.predict_interval(m.split.X_test, coverage=COVERAGE).T
    some = np.linspace(0, len(y) - 1, min(len(y), MOST_POINTS)).astype(int)
    return Residuals(
        m.name,
        *(_floats(values[some]) for values in (predicted, y, low, high)),
        coverage=COVERAGE,
        covered=float(((low <= y) & (y <= high)).mean()),
    )


def _importance(m: Fitted, columns: tuple[str, ...]) -> Importance | None:
    values = getattr(m.model, "feature_importances_", None)
    if values is None or not np.any(values):
        return None
    shares = np.bincount(m.split.owner, weights=values, minlength=len(columns))
    top = np.argsort(-shares, kind="stable")[:MOST_INPUTS]
    names = tuple(columns[j] for j in top)
    return Importance(m.name, names, _floats(shares[top]), len(columns))


def _floats(values: Any) -> tuple[float, ...]:
    return tuple(float(v) for v in values)
