"""Predictions as tables: columns with names, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.data import Rows, Source, block_rows, stream, width
from kernelm.data.files.write import Table
from kernelm.data.frames import FrameColumns

#: What can be asked for, and how its columns are called.
OUTPUTS = {
    "predict": "prediction",
    "predict_proba": "probability",
    "decision_function": "score",
    "predict_interval": "interval",
}
_BYTES = 64  # a row and feature that a block of predictions takes, at most


def predictions(
    model: Any, source: Source, outputs: tuple[str, ...], n_jobs: int | None
) -> Iterator[Table]:
    """Yield the predictions of each block of rows; they are made where the rows are."""
    for output in outputs:
        _checks.one_of(output, "outputs", [name for name in OUTPUTS if hasattr(model, name)])

    def table(rows: Rows) -> Table:
        columns: Table = {}
        for output in outputs:
            columns |= _columns(OUTPUTS[output], getattr(model, output)(rows), model)
        return columns

    size = block_rows(_BYTES * width(source), source.n_rows, n_jobs)
    return stream(source, table, rows=size, n_jobs=n_jobs)


def as_trained(source: Any, names: Any, columns: FrameColumns | None) -> Source:
    """Return a source with the columns of a model, encoded as the model encodes them."""
    if names is None or getattr(source, "reopen", None) is None:
        return source
    names = tuple(map(str, names))
    same = source.names == names and source.columns == columns
    return source if same else source.reopen(names, columns)


def _columns(name: str, values: Any, model: Any) -> Table:
    """Return one column or several: of classes, of outputs, of bounds."""
    if isinstance(values, list):  # one array of probabilities for each output
        parts = [_columns(f"{name}_{k}", v, model) for k, v in enumerate(values)]
        return {key: column for part in parts for key, column in part.items()}
    if values.ndim == 1:
        return {name: values}
    if name == "interval":
        values = values if values.ndim == 3 else values[:, None]
        ends = ["low", "high"]
        return {
            end if values.shape[1] == 1 else f"{end}_{k}": values[:, k, e]
            for k in range(values.shape[1])
            for e, end in enumerate(ends)
        }
    return {f"{name}_{label}": values[:, k] for k, label in enumerate(_labels(values, model))}


def _labels(values: NDArray, model: Any) -> list[Any]:
    """Return the classes that columns stand for, or else their numbers."""
    classes = getattr(model, "classes_", None)
    if isinstance(classes, np.ndarray) and len(classes) == values.shape[1]:
        return classes.tolist()
    return list(range(values.shape[1]))
