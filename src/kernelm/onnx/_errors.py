"""Sentences about models that cannot become a graph: what, and the next step."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any


def no_model(model: Any, known: Iterable[type]) -> TypeError:
    """For an object that has no graph."""
    names = ", ".join(kind.__name__ for kind in known)
    return TypeError(
        f"model must be one of {names}; got {type(model).__name__}, which has no "
        f"ONNX graph (of a pipeline or a search, give the fitted model inside it)"
    )


def no_kernel(kernel: Any) -> TypeError:
    """For a kernel of a user's own."""
    return TypeError(
        f"the kernel {kernel!r} has no ONNX graph; fit with a kernel of kernelm.kernels, or build "
        f"yours from them by +, *, .then(...)"
    )


def no_activation(function: Any) -> TypeError:
    """For an activation that is a Python function."""
    name = getattr(function, "__name__", repr(function))
    return TypeError(
        f"activation={name} is a Python function, which an ONNX graph cannot call; fit with the "
        f'name of an activation such as "tanh"'
    )


def too_large(n_bytes: int, limit: int) -> ValueError:
    """For numbers that do not fit one file."""
    return ValueError(
        f"the graph would hold {n_bytes / 1e9:.1f} GB of numbers and an ONNX file at most "
        f'{limit / 1e9:.1f}; use dtype="float32", or fit with fewer units, steps, landmarks or '
        f'rows (approximation="nystrom")'
    )


def no_labels(labels: Any) -> TypeError:
    """For labels that are neither whole numbers nor strings."""
    return TypeError(
        f"class labels must be whole numbers, booleans or strings for ONNX, got {labels!r}; fit "
        f"with such labels"
    )


def mixed_levels(name: Any, levels: Any) -> TypeError:
    """For a column of a frame that ONNX has no type for."""
    return TypeError(
        f"column {name!r} holds levels of several types, {levels!r}; an ONNX input has one: make "
        f"them all strings or all numbers before fitting"
    )


def ambiguous_gap(name: Any) -> ValueError:
    """For a column in which a missing name cannot be told from an empty one."""
    return ValueError(
        f"column {name!r} holds missing names and empty ones, and in ONNX both are the empty "
        f"string; replace one of them before fitting"
    )


def clashing_names(names: Iterable[str]) -> ValueError:
    """For columns whose names are taken."""
    listed = ", ".join(repr(name) for name in sorted(set(names)))
    return ValueError(
        f"inputs of a graph need names of their own, other than those of its outputs; rename the "
        f"columns {listed} before fitting"
    )


def no_interval(model: Any) -> ValueError:
    """For a model without prediction intervals."""
    return ValueError(
        f"coverage is for regressors that have predict_interval; {type(model).__name__} has not: "
        f"leave it out"
    )


def unwritable(path: Path, error: OSError) -> OSError:
    """For a place where no file can be written."""
    reason = error.strerror or str(error)
    return OSError(f"cannot write {path}: {reason}; check the folder and its permissions")
