"""Values of Python itself, as nodes."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from kernelm.store.graph import Kind, Reader, Writer

_KEYS = (type(None), bool, int, float, complex, str, bytes, np.generic, Enum)


def _is(*types: type) -> Any:
    return lambda value: type(value) in types


def _write_items(values: Any, path: str, writer: Writer) -> list[Any]:
    return writer.items(values, path)


def _write_set(values: Any, path: str, writer: Writer) -> list[Any]:
    return writer.items(sorted(values, key=repr), path)  # the same set, the same file


def _read_set(content: Any, reader: Reader) -> set[Any]:
    return {_key(item) for item in reader.items(content)}


def _write_dict(entries: dict[Any, Any], path: str, writer: Writer) -> list[Any]:
    return [
        [writer.value(k, f"a key of {path}"), writer.value(v, f"{path}[{repr(k)[:40]}]")]
        for k, v in entries.items()
    ]


def _read_dict(content: Any, reader: Reader) -> dict[Any, Any]:
    entries = {_key(reader.value(k)): reader.value(v) for k, v in content}
    if len(entries) != len(content):
        raise ValueError("a key comes twice")
    return entries


def _write_slice(value: slice, path: str, writer: Writer) -> list[Any]:
    return writer.items((value.start, value.stop, value.step), path)


def _read_slice(content: Any, reader: Reader) -> slice:
    start, stop, step = reader.items(content)
    return slice(start, stop, step)


def _write_complex(value: complex, path: str, writer: Writer) -> list[str]:
    return [value.real.hex(), value.imag.hex()]


def _read_complex(content: Any, reader: Reader) -> complex:
    real, imag = content
    return complex(float.fromhex(real), float.fromhex(imag))


def _key(value: Any) -> Any:
    # A tuple of tuples of tuples can take for ever to hash.
    if not isinstance(value, _KEYS):
        raise ValueError(f"{type(value).__name__} as a key")
    return value


PLAIN = (
    Kind("int", _is(int), lambda v, path, w: hex(v), lambda c, r: int(c, 16)),
    Kind("float", _is(float), lambda v, path, w: v.hex(), lambda c, r: float.fromhex(c)),
    Kind("complex", _is(complex), _write_complex, _read_complex),
    Kind("bytes", _is(bytes), lambda v, path, w: v.hex(), lambda c, r: bytes.fromhex(c)),
    Kind("list", _is(list), _write_items, lambda c, r: r.items(c)),
    Kind("tuple", _is(tuple), _write_items, lambda c, r: tuple(r.items(c))),
    Kind("set", _is(set), _write_set, _read_set),
    Kind("frozenset", _is(frozenset), _write_set, lambda c, r: frozenset(_read_set(c, r))),
    Kind("dict", _is(dict), _write_dict, _read_dict),
    Kind("slice", _is(slice), _write_slice, _read_slice),
)
