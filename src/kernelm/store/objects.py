"""Objects of this library, as nodes: estimators, machines, kernels, records, enumerations."""

from __future__ import annotations

from enum import Enum
from types import FunctionType
from typing import Any

from kernelm.store import attributes, errors, registry, seeds, shapes
from kernelm.store.graph import Kind, Reader, Writer


def _is_known(kind: Any) -> Any:
    return lambda value: kind(type(value)) and registry.name_of(type(value)) is not None


def _write_object(value: Any, path: str, writer: Writer) -> list[Any]:
    state = attributes.stored(value)
    attributes.check(type(value), state)
    content = [registry.name_of(type(value)), writer.named(state, path)]
    sketch = seeds.sketch(value)
    return content if sketch is None else [*content, sketch]


def _read_object(content: Any, reader: Reader) -> Any:
    name, state, *sketch = content
    cls, state = registry.class_named(name), reader.named(state)
    if not registry.is_object(cls):
        raise errors.unknown_class(name)
    attributes.check(cls, state)
    value = cls(**state) if registry.is_value(cls) else _made(cls, state)
    shapes.check(value)
    seeds.check(value, *sketch)
    return value


def _made(cls: type, state: dict[str, Any]) -> Any:
    """Return an object of a class without running its constructor."""
    value = object.__new__(cls)
    value.__dict__.update(state)
    value.__dict__.update({name: make() for name, make in attributes.caches(cls).items()})
    return value


def _write_record(value: Any, path: str, writer: Writer) -> list[Any]:
    attributes.check_types(type(value), value._asdict())
    return [registry.name_of(type(value)), writer.named(value._asdict(), path)]


def _read_record(content: Any, reader: Reader) -> Any:
    name, state = content
    value = registry.class_named(name, tuple)(**reader.named(state))
    attributes.check_types(type(value), value._asdict())
    return value


def _write_enum(value: Enum, path: str, writer: Writer) -> list[Any]:
    return [registry.name_of(type(value)), value.name]


def _read_enum(content: Any, reader: Reader) -> Enum:
    name, member = content
    return registry.class_named(name, Enum)[member]


def _is_function(value: Any) -> bool:
    return type(value) is FunctionType and registry.name_of(value) is not None


OBJECTS = (
    Kind("enum", _is_known(registry.is_enum), _write_enum, _read_enum),
    Kind("record", _is_known(registry.is_record), _write_record, _read_record),
    Kind("object", _is_known(registry.is_object), _write_object, _read_object),
    Kind(
        "function",
        _is_function,
        lambda value, path, writer: registry.name_of(value),
        lambda content, reader: registry.functions()[content],
    ),
)
