"""A graph of array operations that is written as arithmetic: plain data, ONNX comes later."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from kernelm.onnx import _errors

LARGEST = 2**31 - 2**20  #: bytes of numbers in one file: messages of protobuf end at 2 GB
FLOAT64, INT64, BOOL, STRING = (np.dtype(t) for t in (np.float64, np.int64, bool, object))
_SMALL = 64  # bytes up to which equal constants are stored once

Shape = tuple[int | str, ...]


class Port(NamedTuple):
    """An input or an output of a graph."""

    name: str
    dtype: np.dtype
    shape: Shape | None  #: None where the graph around it knows


class Node(NamedTuple):
    """One operation."""

    kind: str
    inputs: tuple[str, ...]
    output: str
    attributes: dict[str, Any]  #: a :class:`Graph` is the body of a loop
    domain: str

    def reads(self) -> Iterator[str]:
        """Yield the names of all values that the node needs, in loops too."""
        yield from self.inputs
        for value in self.attributes.values():
            if isinstance(value, Graph):
                for node in value.nodes:
                    yield from node.reads()


@final
@dataclass(eq=False)
class Graph:
    """Nodes in an order in which they can run, and the numbers that they use.

    Examples
    --------
    >>> import numpy as np
    >>> graph = Graph()
    >>> x = graph.input("x", np.float32, ("N", 2))
    >>> graph.output("y", 1 - 2 * x, ("N", 2))
    >>> [node.kind for node in graph.nodes]
    ['Mul', 'Sub', 'Identity']
    """

    parent: Graph | None = None
    nodes: list[Node] = field(default_factory=list)
    inputs: list[Port] = field(default_factory=list)
    outputs: list[Port] = field(default_factory=list)
    constants: dict[str, NDArray] = field(default_factory=dict)
    n_bytes: int = 0  #: of the constants
    _count: int = 0
    _known: dict[Any, Value] = field(default_factory=dict)

    @property
    def root(self) -> Graph:
        """The graph around all loops, which holds the constants."""
        return self if self.parent is None else self.parent.root

    @property
    def depth(self) -> int:
        """Number of loops around this graph."""
        return 0 if self.parent is None else 1 + self.parent.depth

    def input(self, name: str, dtype: Any, shape: Shape | None) -> Value:
        """Add an input."""
        self.inputs.append(Port(name, np.dtype(dtype), shape))
        return Value(self, name, np.dtype(dtype))

    def output(self, name: str, value: Value, shape: Shape | None) -> None:
        """Call a value by a name of its own."""
        self.nodes.append(Node("Identity", (value.name,), name, {}, ""))
        self.outputs.append(Port(name, value.dtype, shape))

    def constant(self, array: Any) -> Value:
        """Return numbers, or strings, as a value."""
        array = np.asarray(array)
        array = array.astype(object) if array.dtype.kind == "U" else array
        small = array.nbytes <= _SMALL
        key = (array.dtype.str, array.shape, str(array.tolist())) if small else None
        root = self.root
        if key is None or key not in root._known:
            root.reserve(array.nbytes)
            root.n_bytes += array.nbytes
            value = Value(root, self.new_name("constant"), array.dtype)
            root.constants[value.name] = array
            if key is None:
                return value
            root._known[key] = value
        return root._known[key]

    def reserve(self, n_bytes: int) -> None:
        """Raise if so many more bytes of constants do not fit one file."""
        if self.root.n_bytes + n_bytes > LARGEST:
            raise _errors.too_large(self.root.n_bytes + n_bytes, LARGEST)

    def new_name(self, kind: str) -> str:
        """Return a name that nothing has; with a slash, as no column is likely to have."""
        self.root._count += 1
        return f"/{kind}_{self.root._count}"

    def prune(self) -> None:
        """Drop nodes and constants that no output needs."""
        needed, kept = {port.name for port in self.outputs}, []
        for node in reversed(self.nodes):
            if node.output in needed:
                kept.append(node)
                needed.update(node.reads())
        self.nodes = kept[::-1]
        self.constants = {k: v for k, v in self.constants.items() if k in needed}


@final
@dataclass(frozen=True, eq=False)
class Value:
    """An array in a graph: arithmetic with it adds nodes."""

    graph: Graph
    name: str
    dtype: np.dtype
    __array_ufunc__ = None  # so that array * value comes to __rmul__

    def to(self, dtype: Any) -> Value:
        """Return the same numbers in another type."""
        dtype = np.dtype(dtype)
        return self if dtype == self.dtype else apply("Cast", self, dtype=dtype, to=dtype)

    def __add__(self, other: Any) -> Value:
        return apply("Add", self, other)

    def __radd__(self, other: Any) -> Value:
        return apply("Add", other, self)

    def __sub__(self, other: Any) -> Value:
        return apply("Sub", self, other)

    def __rsub__(self, other: Any) -> Value:
        return apply("Sub", other, self)

    def __mul__(self, other: Any) -> Value:
        return apply("Mul", self, other)

    def __rmul__(self, other: Any) -> Value:
        return apply("Mul", other, self)

    def __truediv__(self, other: Any) -> Value:
        return apply("Div", self, other)

    def __rtruediv__(self, other: Any) -> Value:
        return apply("Div", other, self)

    def __matmul__(self, other: Any) -> Value:
        # Not MatMul: onnxruntime would fuse it with a factor beside it, rounded to float32.
        return apply("Gemm", self, other)

    def __neg__(self) -> Value:
        return apply("Neg", self)

    def __gt__(self, other: Any) -> Value:
        return apply("Greater", self, other, dtype=BOOL)

    def __ge__(self, other: Any) -> Value:
        return apply("GreaterOrEqual", self, other, dtype=BOOL)

    def __lt__(self, other: Any) -> Value:
        return apply("Less", self, other, dtype=BOOL)


def apply(kind: str, *inputs: Any, dtype: Any = None, domain: str = "", **attributes: Any) -> Value:
    """Add an operation to the innermost graph that its inputs belong to.

    Numbers and arrays of floats become constants of the type of the first value; arrays of
    integers, booleans and strings keep theirs. So does the result, unless ``dtype`` is given.
    """
    values = [v for v in inputs if isinstance(v, Value)]
    graph = max((v.graph for v in values), key=lambda g: g.depth)
    like = values[0].dtype
    names = tuple(_value(v, graph, like).name for v in inputs)
    result = Value(graph, graph.new_name(kind), like if dtype is None else np.dtype(dtype))
    graph.nodes.append(Node(kind, names, result.name, attributes, domain))
    return result


def scan(step: Callable[..., Value], *sequences: Value, start: Value | None = None) -> Value:
    """Return what ``step`` makes of the entries of sequences, one after the other.

    With ``start``, a state that each step is given first and returns anew: the last one comes
    back. Without, the results of all steps, stacked.
    """
    states = () if start is None else (start,)
    body = Graph(max((v.graph for v in (*states, *sequences)), key=lambda g: g.depth))
    entries = [body.input(body.new_name("entry"), v.dtype, None) for v in (*states, *sequences)]
    result = step(*entries)
    body.output(body.new_name("result"), result, None)
    return apply(
        "Scan",
        *states,
        *sequences,
        dtype=result.dtype,
        body=body,
        num_scan_inputs=len(sequences),
    )


def either(
    condition: Value, value: Value, yes: Callable[[Value], Value], no: Callable[[Value], Value]
) -> Value:
    """Return what one of two functions makes of a value; only that one runs."""
    branches, results = [], []
    for function in (yes, no):
        branch = Graph(value.graph)
        inside = Value(branch, branch.new_name("Identity"), value.dtype)
        branch.nodes.append(Node("Identity", (value.name,), inside.name, {}, ""))
        results.append(function(inside))
        branch.output(branch.new_name("result"), results[-1], None)
        branches.append(branch)
    then, other = branches
    return apply("If", condition, dtype=results[0].dtype, then_branch=then, else_branch=other)


def _value(value: Any, graph: Graph, like: np.dtype) -> Value:
    if isinstance(value, Value):
        return value
    array = np.asarray(value)
    takes_type = not isinstance(value, np.ndarray) or array.dtype.kind == "f"
    return graph.constant(array.astype(like) if takes_type else array)
