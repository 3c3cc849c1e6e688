"""A fitted model as an ONNX model: inputs, machine, outputs, and who made it."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelm import _checks
from kernelm.onnx import _errors
from kernelm.onnx.graph import Graph
from kernelm.onnx.inputs import rows_of
from kernelm.onnx.outputs import MODELS, write_outputs
from kernelm.onnx.proto import model_of, write

if TYPE_CHECKING:
    from kernelm.onnx.proto import ModelProto


def to_onnx(
    model: Any,
    *,
    dtype: str = "float32",
    coverage: float | None = None,
    path: str | os.PathLike[str] | None = None,
) -> ModelProto:
    """Return a fitted model as an ONNX graph, scaling and one-hot encoding inside.

    Parameters
    ----------
    model : estimator
        A fitted ELM, kernel ELM (every form), boosted ELM, OP-ELM, core vector machine or
        support vector machine of this library.
    dtype : "float32" or "float64"
        Type of numbers that go in and come out. In between, a float32 graph takes double
        precision where weights of a model are so large that its scores would err by 1e-5.
    coverage : float, optional
        For regressors: also write the bounds of ``predict_interval``.
    path : path, optional
        Write the model there; the file appears when it is complete.

    Returns
    -------
    onnx.ModelProto

    Notes
    -----
    The input is ``X`` of shape (N, n_features), with any N. A model of a data frame that holds
    names has one input of shape (N, 1) for each column, under its name: strings for names (a
    missing one is the empty string), float64 for levels that are numbers (a missing one is NaN),
    else numbers of ``dtype``.

    Outputs of classifiers are ``label`` (int64 or string), ``scores`` (``decision_function``)
    and ``probabilities`` (``predict_proba``, where the model has it; several outputs that are
    not yes or no have one array each, ``probabilities_0`` and so on), of detectors the first
    two, of regressors ``prediction``, and ``lower`` and ``upper`` with ``coverage``.

    A runtime computes all N rows at once, in arrays of N × units (or landmarks): a few hundred
    rows at a time are the fastest. It does not check rows: what ``predict`` refuses, such as NaN,
    goes through.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelm import ELMClassifier
    >>> model = ELMClassifier(20, random_state=0).fit(*load_iris(return_X_y=True))
    >>> graph = to_onnx(model).graph
    >>> [port.name for port in (*graph.input, *graph.output)]
    ['X', 'label', 'scores', 'probabilities']
    """
    _checks.one_of(dtype, "dtype", ["float32", "float64"])
    if coverage is not None:
        _checks.between(coverage, "coverage", 0, 1)
    if not isinstance(model, MODELS):
        raise _errors.no_model(model, MODELS)
    check_is_fitted(model)
    graph = Graph()
    write_outputs(model, rows_of(model, graph, np.dtype(dtype)), coverage)
    _check_names(graph)
    result = model_of(graph, type(model).__name__, _description(model), _metadata(model))
    if path is not None:
        write(result, path)
    return result


def _check_names(graph: Graph) -> None:
    counts = Counter(port.name for port in (*graph.inputs, *graph.outputs))
    twice = [name for name, n in counts.items() if n > 1]
    if twice:
        raise _errors.clashing_names(twice)


def _description(model: Any) -> str:
    kernel = getattr(model, "kernel_", None)
    return repr(model) if kernel is None else f"{model!r} with {kernel!r}"


def _metadata(model: Any) -> dict[str, str]:
    from kernelm._version import __version__

    names = getattr(model, "feature_names_in_", ())
    return {
        "kernelm_version": __version__,
        "class": f"{type(model).__module__}.{type(model).__qualname__}",
        "feature_names": json.dumps([str(name) for name in names]),
    }
