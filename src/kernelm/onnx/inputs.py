"""What goes into a graph: one array of numbers, or the columns of a data frame with names."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np

from kernelm.data.frames import FrameColumns
from kernelm.onnx import _errors
from kernelm.onnx.functions import equal, joined
from kernelm.onnx.graph import BOOL, FLOAT64, INT64, STRING, Graph, Value, apply

BATCH = "N"  #: the number of rows, free in every call


def rows_of(model: Any, graph: Graph, dtype: np.dtype) -> Value:
    """Add the inputs of a model to a graph, and return its rows as numbers."""
    columns: FrameColumns | None = getattr(model, "columns_", None)
    if columns is None:
        return graph.input("X", dtype, (BATCH, int(model.n_features_in_)))
    parts = [
        _column(graph, name, levels, dtype)
        for name, levels in zip(map(str, columns.names_in), columns.levels, strict=True)
    ]
    return joined(parts, axis=1)


def _column(graph: Graph, name: str, levels: Any, dtype: np.dtype) -> Value:
    """Return a column of numbers, or a column of zeros and ones for each of its levels."""
    if levels is None:
        return graph.input(name, dtype, (BATCH, 1))
    known = [level for level in levels if level is not None]
    if all(isinstance(level, str) for level in known):
        return _one_hot_of_names(graph, name, levels).to(dtype)
    if all(isinstance(level, Number) for level in known):
        return _one_hot_of_numbers(graph, name, known, None in levels).to(dtype)
    raise _errors.mixed_levels(name, known)


def _one_hot_of_names(graph: Graph, name: str, levels: Any) -> Value:
    """Compare names with the levels; the empty string stands for a missing name."""
    keys = ["" if level is None else str(level) for level in levels]
    if len(set(keys)) < len(keys):
        raise _errors.ambiguous_gap(name)
    codes = apply(
        "LabelEncoder",
        graph.input(name, STRING, (BATCH, 1)),
        dtype=INT64,
        domain="ai.onnx.ml",
        keys_strings=keys,
        values_int64s=list(range(len(keys))),
        default_int64=-1,
    )
    return equal(codes, np.arange(len(keys))[None])


def _one_hot_of_numbers(graph: Graph, name: str, known: list[Any], gaps: bool) -> Value:
    """Compare numbers with the levels; NaN stands for a missing one."""
    x = graph.input(name, FLOAT64, (BATCH, 1))
    same = equal(x, np.array([[float(level) for level in known]]))
    return joined([same, apply("IsNaN", x, dtype=BOOL)], axis=1) if gaps else same
