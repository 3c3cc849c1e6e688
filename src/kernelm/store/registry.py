"""Which classes and functions a file may name: those of fitted models, and no others."""

from __future__ import annotations

import sys
from enum import Enum
from functools import cache
from typing import Any

from sklearn.base import BaseEstimator

# A file can only name what is imported already: these import every class that a model is made of.
from kernelm import estimators, features, kernels, learn, margin, ridge, search, tasks, units
from kernelm.data import frames, sample, targets
from kernelm.kernels.base import Kernel
from kernelm.kernels.layers import Layer
from kernelm.margin.core_machine import as_they_are
from kernelm.store import errors

_HOME = "kernelm."
_OF_MODELS = tuple(
    module.__name__
    for module in (
        *(kernels, units, features, ridge, tasks, search, estimators, margin, learn),
        *(frames, sample, targets),
    )
)
_FUNCTIONS = (as_they_are,)


@cache
def classes() -> dict[str, type]:
    """Return the classes of models by their names, such as ``ridge.path.Path``.

    Examples
    --------
    >>> classes()["kernels.radial.Gaussian"].__name__
    'Gaussian'
    >>> [name for name in classes() if "checkpoint" in name or "files" in name]
    []
    """
    modules = [m for name, m in sorted(sys.modules.items()) if _is_of_models(name)]
    found = [value for m in modules for value in vars(m).values() if isinstance(value, type)]
    ours = [cls for cls in found if _is_of_models(cls.__module__) and not _is_abstract(cls)]
    return {f"{cls.__module__}.{cls.__qualname__}".removeprefix(_HOME): cls for cls in ours}


@cache
def functions() -> dict[str, Any]:
    """Return the functions that models keep, by their names."""
    return {f"{f.__module__}.{f.__qualname__}".removeprefix(_HOME): f for f in _FUNCTIONS}


@cache
def _names() -> dict[Any, str]:
    return {thing: name for name, thing in (classes() | functions()).items()}


def name_of(thing: Any) -> str | None:
    """Return the name of a class or function, or None if files may not name it."""
    return _names().get(thing)


def class_named(name: Any, kind: type = object) -> Any:
    """Return the class of a name, of a kind."""
    cls = classes().get(name) if isinstance(name, str) else None
    if cls is None or not issubclass(cls, kind):
        raise errors.unknown_class(name)
    return cls


def is_value(cls: type) -> bool:
    """Whether objects are their parameters, which their constructor checks."""
    return issubclass(cls, Kernel | Layer)


def is_record(cls: type) -> bool:
    """Whether objects are named tuples."""
    return issubclass(cls, tuple)


def is_enum(cls: type) -> bool:
    """Whether objects are members of an enumeration."""
    return issubclass(cls, Enum)


def is_object(cls: type) -> bool:
    """Whether objects are their attributes."""
    return not issubclass(cls, tuple | Enum | BaseException)


def is_estimator(model: Any) -> bool:
    """Whether a model is an estimator of this library."""
    return isinstance(model, BaseEstimator) and name_of(type(model)) is not None


def _is_of_models(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in _OF_MODELS)


def _is_abstract(cls: type) -> bool:
    return bool(getattr(cls, "__abstractmethods__", ())) or getattr(cls, "_is_protocol", False)
