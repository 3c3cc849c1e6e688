"""Graphs as ONNX models; the only module that imports onnx."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.onnx import _errors
from kernelm.onnx.graph import BOOL, FLOAT64, INT64, STRING, Graph, Port

if TYPE_CHECKING:
    from onnx import ModelProto

#: Versions that onnxruntime has read since 1.14: any newer one does too.
OPSET, ML_OPSET, IR_VERSION = 18, 3, 8


def model_of(graph: Graph, name: str, doc: str, metadata: Mapping[str, str]) -> ModelProto:
    """Return a checked ONNX model."""
    onnx = _onnx()
    graph.prune()
    opsets = [onnx.helper.make_opsetid("", OPSET)]
    if any(node.domain for node in graph.nodes):
        opsets.append(onnx.helper.make_opsetid("ai.onnx.ml", ML_OPSET))
    model = onnx.helper.make_model(
        _graph(graph, name),
        opset_imports=opsets,
        ir_version=IR_VERSION,
        producer_name="kernelm",
        producer_version=metadata["kernelm_version"],
        doc_string=doc,
    )
    onnx.helper.set_model_props(model, dict(metadata))
    onnx.checker.check_model(model)
    return model


def write(model: ModelProto, path: str | os.PathLike[str]) -> None:
    """Write a model to a file that appears when it is complete."""
    path = Path(path)
    draft = path.with_name(f".{path.name}.part")
    try:
        draft.write_bytes(model.SerializeToString())
        draft.replace(path)
    except OSError as error:
        raise _errors.unwritable(path, error) from error
    finally:
        draft.unlink(missing_ok=True)


def _onnx() -> Any:
    try:
        import onnx
    except ImportError:
        raise _checks.missing("to_onnx", "onnx", "onnx") from None
    return onnx


def _graph(graph: Graph, name: str) -> Any:
    helper = _onnx().helper
    nodes = [
        helper.make_node(
            node.kind,
            node.inputs,
            [node.output],
            name=node.output,
            domain=node.domain,
            **{key: _attribute(value) for key, value in node.attributes.items()},
        )
        for node in graph.nodes
    ]
    constants = [_tensor(*item) for item in graph.constants.items()]
    inputs, outputs = ([_port(port) for port in ports] for ports in (graph.inputs, graph.outputs))
    return helper.make_graph(nodes, name, inputs, outputs, constants)


def _attribute(value: Any) -> Any:
    if isinstance(value, Graph):
        return _graph(value, "body")
    return _type(value) if isinstance(value, np.dtype) else value


def _port(port: Port) -> Any:
    return _onnx().helper.make_tensor_value_info(port.name, _type(port.dtype), port.shape)


def _tensor(name: str, array: NDArray) -> Any:
    onnx = _onnx()
    if array.dtype == STRING:
        strings = [text.encode() for text in array.ravel().tolist()]
        return onnx.helper.make_tensor(name, _type(STRING), array.shape, strings)
    return onnx.numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)


def _type(dtype: np.dtype) -> int:
    kinds = _onnx().TensorProto
    return {
        np.dtype(np.float32): kinds.FLOAT,
        FLOAT64: kinds.DOUBLE,
        INT64: kinds.INT64,
        BOOL: kinds.BOOL,
        STRING: kinds.STRING,
    }[dtype]
