"""What comes out of a graph: labels, scores and probabilities, or predictions with intervals."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelm.data.targets import Classes, ManyClasses, Values
from kernelm.estimators import (
    BoostedELMClassifier,
    BoostedELMRegressor,
    ELMClassifier,
    ELMRegressor,
    KernelELMClassifier,
    KernelELMRegressor,
    OPELMClassifier,
    OPELMRegressor,
)
from kernelm.margin import (
    CoreVectorClassifier,
    CoreVectorDetector,
    CoreVectorRegressor,
    KernelSVC,
    KernelSVR,
)
from kernelm.onnx import _errors
from kernelm.onnx.functions import best, column, flat, joined, log, minimum, sqrt, take, where
from kernelm.onnx.graph import FLOAT64, INT64, Graph, Value, apply
from kernelm.onnx.inputs import BATCH
from kernelm.onnx.machines import detector_scores, scores, support_vector_scores, votes
from kernelm.tasks import Classifier, Link, Regressor
from kernelm.tasks.calibration import SMOOTH
from kernelm.tasks.regression import residual_quantiles

#: What has a graph.
MODELS = (
    *(ELMClassifier, ELMRegressor, KernelELMClassifier, KernelELMRegressor),
    *(BoostedELMClassifier, BoostedELMRegressor, OPELMClassifier, OPELMRegressor),
    *(CoreVectorClassifier, CoreVectorRegressor, CoreVectorDetector, KernelSVC, KernelSVR),
)


@singledispatch
def write_outputs(model: Any, X: Value, coverage: float | None) -> None:
    """Add what a model predicts for rows to the graph, under the names of its outputs."""
    raise _errors.no_model(model, MODELS)


@write_outputs.register
def _(model: Classifier, X: Value, coverage: float | None) -> None:
    _no_interval(model, coverage)
    graph, machine = X.graph, model.machine_
    s = scores(machine, X).to(X.dtype)
    targets, links = machine.targets, machine.held_out.links
    if isinstance(targets, Classes):
        _write_labels(graph, s, targets.labels)
        P = _probabilities(s, targets.labels, links[0])
        graph.output("probabilities", P, (BATCH, len(targets.labels)))
    else:
        _write_several(graph, s, targets, links)


@write_outputs.register
def _(model: KernelSVC, X: Value, coverage: float | None) -> None:
    _no_interval(model, coverage)
    pairs, n_classes = support_vector_scores(model, X), len(model.classes_)
    s = pairs if n_classes == 2 else votes(-pairs, n_classes)
    _write_labels(X.graph, s.to(X.dtype), model.classes_)


@write_outputs.register
def _(model: CoreVectorDetector, X: Value, coverage: float | None) -> None:
    _no_interval(model, coverage)
    s = flat(detector_scores(model, X)).to(X.dtype)
    X.graph.output("label", 2 * (s >= 0.0).to(INT64) - 1, (BATCH,))
    X.graph.output("scores", s, (BATCH,))


@write_outputs.register
def _(model: Regressor, X: Value, coverage: float | None) -> None:
    graph, machine = X.graph, model.machine_
    s, targets = scores(machine, X).to(X.dtype), machine.targets
    shape = (BATCH,) if targets.is_flat else (BATCH, targets.n_columns)
    graph.output("prediction", _decoded(s, targets), shape)
    if coverage is not None:
        bounds = zip(
            ("lower", "upper"), residual_quantiles(machine.held_out, coverage), strict=True
        )
        for name, residual in bounds:
            graph.output(name, _decoded(s, targets, residual), shape)


@write_outputs.register
def _(model: KernelSVR, X: Value, coverage: float | None) -> None:
    _no_interval(model, coverage)
    X.graph.output("prediction", flat(support_vector_scores(model, X)).to(X.dtype), (BATCH,))


def _no_interval(model: Any, coverage: float | None) -> None:
    if coverage is not None:
        raise _errors.no_interval(model)


# --- values --------------------------------------------------------------------------------------


def _decoded(s: Value, targets: Values, residual: NDArray | float = 0.0) -> Value:
    """Return predictions, plus a residual, in the units and the shape of y."""
    scale, offset = np.asarray(targets.scale), np.asarray(targets.offset)
    values = (s.to(FLOAT64) * scale + (offset + residual * scale)).to(s.dtype)
    return flat(values) if targets.is_flat else values


# --- classes -------------------------------------------------------------------------------------


def _write_labels(graph: Graph, s: Value, labels: NDArray) -> None:
    """Write the labels of the largest scores, and scores as decision_function has them."""
    two = len(labels) == 2
    graph.output("label", _labelled(s, labels), (BATCH,))
    graph.output("scores", flat(s) if two else s, (BATCH,) if two else (BATCH, len(labels)))


def _labelled(s: Value, labels: NDArray) -> Value:
    index = flat((s > 0.0).to(INT64)) if len(labels) == 2 else best(s)
    table = s.graph.constant(_named(labels))
    return take(table, index, axis=0)


def _named(labels: NDArray) -> NDArray:
    """Return labels as ONNX has them: whole numbers or strings."""
    if labels.dtype.kind in "iub" or (labels.dtype.kind == "f" and not (labels % 1).any()):
        return labels.astype(np.int64)
    if labels.dtype.kind in "OU" and all(isinstance(label, str) for label in labels.tolist()):
        return labels.astype(object)
    raise _errors.no_labels(labels)


def _probabilities(s: Value, labels: NDArray, link: Link) -> Value:
    """Return calibrated probabilities, see :mod:`kernelm.tasks.calibration`.

    Where scores differ by less than rounding they may be equal.
    """
    two = len(labels) == 2
    dtype, s = s.dtype, (joined([-s, s], axis=1) if two else s).to(FLOAT64)
    t = 1 + s
    root = sqrt(t * t + SMOOTH**2)
    # For t < 0 the sum t + root cancels; its conjugate does not.
    positive = where(t > 0.0, t + root, SMOOTH**2 / (root - minimum(t, 0.0)))
    logits = link.linear * s + link.log * log(0.5 * positive)
    return apply("Softmax", logits, axis=1).to(dtype)


# --- several outputs -----------------------------------------------------------------------------


def _write_several(graph: Graph, s: Value, targets: ManyClasses, links: list[Link]) -> None:
    """Write labels side by side, all scores, and probabilities output by output."""
    ends = np.cumsum([0, *(part.n_columns for part in targets.parts)])
    parts = [take(s, np.arange(*ends[k : k + 2]), axis=1) for k in range(len(targets.parts))]
    kind = np.result_type(*(part.labels for part in targets.parts))
    labels = [part.labels.astype(kind) for part in targets.parts]
    found = [column(_labelled(*pair)) for pair in zip(parts, labels, strict=True)]
    graph.output("label", joined(found, axis=1), (BATCH, len(parts)))
    graph.output("scores", s, (BATCH, targets.n_columns))
    P = [_probabilities(*each) for each in zip(parts, labels, links, strict=True)]
    if targets.is_multilabel:
        yes = joined([take(p, np.array([1]), axis=1) for p in P], axis=1)
        graph.output("probabilities", yes.to(s.dtype), (BATCH, len(P)))
        return
    for k, p in enumerate(P):
        graph.output(f"probabilities_{k}", p, (BATCH, len(labels[k])))
