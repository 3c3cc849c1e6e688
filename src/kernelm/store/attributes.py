"""Do attributes fit their class? Annotations are the schema of a file."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache, cached_property
from types import NoneType, UnionType
from typing import Any, ClassVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from sklearn.base import BaseEstimator

_NUMBERS: dict[Any, Any] = {
    float: numbers.Real,
    int: numbers.Integral,
    bool: (bool, np.bool_),
}


def check(cls: type, state: Mapping[str, Any]) -> None:
    """Raise if attributes are missing, have no place in the class, or are of the wrong type."""
    for name in sorted(_needed(cls) - state.keys()):
        raise ValueError(f"{cls.__name__} lacks {name}")
    for name in state:
        if not _has_place(cls, name):
            raise ValueError(f"{cls.__name__} has no attribute {str(name)[:40]!r}")
    check_types(cls, state)


def check_types(cls: type, state: Mapping[str, Any]) -> None:
    """Raise if attributes are not of the types that their class annotates."""
    hints = schema(cls)
    for name, value in state.items():
        if name in hints and not fits(value, hints[name]):
            raise ValueError(f"{name} of {cls.__name__} cannot be {type(value).__name__}")


def stored(obj: Any) -> dict[str, Any]:
    """Return the attributes that make an object what it is: no caches."""
    state: dict[str, Any] = obj.__getstate__() or {}
    return {name: value for name, value in state.items() if name not in caches(type(obj))}


@cache
def caches(cls: type) -> dict[str, Callable[[], Any]]:
    """Return the private fields that begin empty and fill while an object is used.

    Examples
    --------
    >>> from kernelm.features.random import HiddenLayer
    >>> caches(HiddenLayer)
    {'_cache': <class 'dict'>}
    """
    made: dict[str, Any] = {f.name: f.default_factory for f in _fields(cls) if _is_cache(f)}
    return made


@cache
def schema(cls: type) -> dict[str, Any]:
    """Return the types of attributes; ``fit`` has checked parameters, and files need not."""
    params = _params(cls)
    try:
        hints = get_type_hints(cls)
    except NameError:  # of a class that is imported for annotations only
        return {}
    return {k: h for k, h in hints.items() if k not in params and get_origin(h) is not ClassVar}


def fits(value: Any, hint: Any) -> bool:
    """Return whether a value is of an annotated type.

    Examples
    --------
    >>> fits([1, 2], list[int]), fits(None, int | None), fits("1", float)
    (True, True, False)
    """
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind is Any:
        return True
    if kind in (Union, UnionType):
        return any(fits(value, option) for option in inner)
    if kind is None or kind is NoneType:
        return value is None
    if kind is Callable:
        return callable(value)
    if getattr(kind, "_is_protocol", False):
        # By the class: asking an object would compute its properties.
        return all(hasattr(type(value), name) for name in vars(kind) if not name.startswith("_"))
    if not isinstance(kind, type):
        return True
    return isinstance(value, _NUMBERS.get(kind, kind)) and _items_fit(value, kind, inner)


def _items_fit(value: Any, kind: Any, inner: tuple[Any, ...]) -> bool:
    if kind is dict and inner:
        return all(fits(k, inner[0]) and fits(v, inner[1]) for k, v in value.items())
    if inner and (kind is list or (kind is tuple and inner[1:] == (...,))):
        return all(fits(item, inner[0]) for item in value)
    if kind is tuple and inner:
        return len(value) == len(inner) and all(map(fits, value, inner))
    return True


def _needed(cls: type) -> set[str]:
    filled = (f for f in _fields(cls) if f.init and not _is_cache(f))
    return {f.name for f in filled} | set(_params(cls))


def _has_place(cls: type, name: Any) -> bool:
    """Whether an object may have an attribute: nothing takes the place of a method."""
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("__"):
        return False
    if name in caches(cls):
        return False
    there = inspect.getattr_static(cls, name, None)
    return isinstance(there, cached_property) or not (
        callable(there) or hasattr(type(there), "__get__")
    )


def _fields(cls: type) -> tuple[Field[Any], ...]:
    return fields(cls) if is_dataclass(cls) else ()


def _is_cache(field: Field[Any]) -> bool:
    return field.name.startswith("_") and field.default_factory is not MISSING


def _params(cls: type) -> list[str]:
    return cls._get_param_names() if issubclass(cls, BaseEstimator) else []
