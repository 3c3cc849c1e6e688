"""A model as nodes and tensors, and back: all kinds of values together."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from kernelm.store.arrays import ARRAYS
from kernelm.store.graph import Kind, Reader, Writer
from kernelm.store.objects import OBJECTS
from kernelm.store.plain import PLAIN

# Arrays before plain values: np.float64 is a float. Classes of ours before both.
_KINDS: tuple[Kind, ...] = (*OBJECTS, *ARRAYS, *PLAIN)


def encode(value: Any) -> tuple[list[Any], dict[str, NDArray]]:
    """Return nodes and tensors that stand for a value.

    Examples
    --------
    >>> import numpy as np
    >>> shared = np.arange(3.0)
    >>> nodes, tensors = encode({"a": shared, "b": [shared, None]})
    >>> nodes
    [['array', {'tensor': "['a']"}], ['list', [[0], None]], ['dict', [['a', [0]], ['b', [1]]]]]
    >>> back = decode(nodes, tensors)
    >>> back["a"] is back["b"][0]
    True
    """
    writer = Writer(_KINDS, type(value).__name__)
    writer.value(value, "")
    return writer.nodes, writer.tensors


def decode(nodes: list[Any], tensors: dict[str, NDArray]) -> Any:
    """Return the value that nodes and tensors stand for."""
    return Reader({kind.name: kind for kind in _KINDS}, dict(tensors)).read(nodes)
