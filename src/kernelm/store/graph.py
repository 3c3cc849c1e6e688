"""A model as a list of nodes, and back: parts before wholes, each part once.

A node is ``[kind, content]``. Inside the content a value is a JSON scalar or ``[k]``, the k-th
node. Nodes can only name earlier ones, so reading is one loop without recursion or circles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

from numpy.typing import NDArray

from kernelm.store import errors

DEPTH = 100  #: levels of nesting
PARTS = 10**7  #: of a model, those that are shared counted wherever they appear
_EXACT = 2**53  # whole numbers up to here are the same in every JSON reader


class Kind(NamedTuple):
    """How values of one kind become the content of a node, and back."""

    name: str
    takes: Callable[[Any], bool]
    write: Callable[[Any, str, Writer], Any]
    read: Callable[[Any, Reader], Any]


@final
@dataclass(eq=False)
class Writer:
    """Turns values into nodes and tensors."""

    kinds: tuple[Kind, ...]
    owner: str  #: the class of the model, for errors
    nodes: list[Any] = field(default_factory=list)
    tensors: dict[str, NDArray] = field(default_factory=dict)
    # Values are kept beside their nodes: the id of one that is gone would be used again.
    _seen: dict[int, tuple[Any, int | None]] = field(default_factory=dict)
    _depth: int = 0

    def value(self, value: Any, path: str) -> Any:
        """Return what stands for a value."""
        return value if _is_plain(value) else [self._node(value, path)]

    def items(self, values: Iterable[Any], path: str) -> list[Any]:
        """Return what stands for each of some values."""
        return [self.value(value, f"{path}[{i}]") for i, value in enumerate(values)]

    def named(self, values: dict[str, Any], path: str) -> dict[str, Any]:
        """Return what stands for each of some attributes."""
        return {n: self.value(v, f"{path}.{n}" if path else n) for n, v in values.items()}

    def tensor(self, array: NDArray, path: str) -> str:
        """Keep an array of plain numbers and return its name."""
        name = path
        while name in self.tensors:
            name += "'"
        self.tensors[name] = array
        return name

    def _node(self, value: Any, path: str) -> int:
        if id(value) in self._seen:
            _, node = self._seen[id(value)]
            if node is None:
                raise errors.contains_itself(path, self.owner)
            return node
        kind = next((kind for kind in self.kinds if kind.takes(value)), None)
        if kind is None:
            raise errors.not_storable(path, value, self.owner)
        if self._depth == DEPTH:
            raise errors.too_deep(path, DEPTH)
        self._seen[id(value)] = value, None
        self._depth += 1
        self.nodes.append([kind.name, kind.write(value, path, self)])
        self._depth -= 1
        self._seen[id(value)] = value, len(self.nodes) - 1
        return len(self.nodes) - 1


class _Built(NamedTuple):
    value: Any
    depth: int
    parts: int


@final
@dataclass(eq=False)
class Reader:
    """Turns nodes and tensors into values; whatever is wrong with them raises an Exception."""

    kinds: dict[str, Kind]
    tensors: dict[str, NDArray]  #: each is taken once, so memory is bounded by the file
    _built: list[_Built] = field(default_factory=list)
    _used: list[_Built] = field(default_factory=list)

    def read(self, nodes: list[Any]) -> Any:
        """Return the value of the last node."""
        for name, content in nodes:
            self._used.clear()
            value = self.kinds[name].read(content, self)
            depth = 1 + max((part.depth for part in self._used), default=0)
            parts = 1 + sum(part.parts for part in self._used)
            # What is small in the file can be endless for whoever walks through it.
            if depth > DEPTH or parts > PARTS:
                raise ValueError("its parts are nested too deeply")
            self._built.append(_Built(value, depth, parts))
        if self.tensors:
            raise ValueError(f"nothing uses the tensor {min(self.tensors)[:40]!r}")
        return self._built[-1].value

    def value(self, content: Any) -> Any:
        """Return the value that some JSON stands for."""
        if not isinstance(content, list):
            return content if _is_plain(content) else _refuse(content)
        (k,) = content
        if type(k) is not int or not 0 <= k < len(self._built):
            raise ValueError(f"there is no part {str(k)[:40]}")
        self._used.append(self._built[k])
        return self._built[k].value

    def items(self, content: Any) -> list[Any]:
        """Return some values."""
        return [self.value(item) for item in content]

    def named(self, content: dict[str, Any]) -> dict[str, Any]:
        """Return some attributes."""
        return {name: self.value(item) for name, item in content.items()}

    def tensor(self, name: Any) -> NDArray:
        """Return an array that nothing else has taken."""
        return self.tensors.pop(name)


def _is_plain(value: Any) -> bool:
    """Whether JSON has the value."""
    if type(value) is int:
        return abs(value) <= _EXACT
    if type(value) is float:
        return math.isfinite(value)
    return value is None or type(value) in (bool, str)


def _refuse(content: Any) -> Any:
    raise ValueError(f"{type(content).__name__} where a value should be")
