"""Models as files: one safetensors file of numbers and names, which cannot hold code.

A model is a graph of objects of this library; the file holds its arrays as tensors, the rest as
JSON, and a checksum. Random layers are their seeds. Caches stay behind.
"""

from __future__ import annotations

import math
import platform
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

from kernelm.store import codec, errors, file, registry
from kernelm.store.file import FORMAT

__all__ = ["FORMAT", "header", "load", "save"]

_REPR = 200  # characters of a parameter in the header


def save(model: Any, path: str | Path) -> None:
    """Write a model to one file, whole or not at all.

    Parameters
    ----------
    model : estimator of kernelm
        Fitted or not. Whatever it predicts, and whatever it has learned from so far, is kept.
    path : path
        Such as ``model.kelm``. A file that is there is replaced.

    Raises
    ------
    ValueError
        If a parameter is code: a function, or a kernel class of your own.

    Examples
    --------
    >>> import tempfile, kernelm
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = kernelm.ELMClassifier(100, random_state=0).fit(X[:1000], y[:1000])
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "digits.kelm"
    >>> save(model, path)
    >>> bool((load(path).predict(X) == model.predict(X)).all())
    True
    >>> header(path)["class"], header(path)["params"]["n_hidden"]
    ('ELMClassifier', '100')
    >>> folder.cleanup()
    """
    if not registry.is_estimator(model):
        raise errors.not_an_estimator(model)
    nodes, tensors = codec.encode(model)
    file.write(Path(path), file.Content({"summary": _summary(model), "nodes": nodes}, tensors))


def load(path: str | Path) -> Any:
    """Read a model from a file that :func:`save` wrote.

    A file cannot run code: it names classes of kernelm, and no others are made. On the machine it
    was saved on the model predicts the same to the last bit; it goes on learning where the one
    that was saved could.

    Parameters
    ----------
    path : path
        Of the file.

    Raises
    ------
    ValueError
        If the file is no model, incomplete, damaged, or of a newer format.
    """
    path = Path(path)
    document, tensors = file.read(path)
    try:
        model = codec.decode(document["nodes"], tensors)
    except Exception as error:  # a checksum proves nothing about who wrote the file
        raise errors.malformed(path, error or type(error).__name__) from error
    if not registry.is_estimator(model):
        raise errors.malformed(path, f"{type(model).__name__} is no estimator")
    return model


def header(path: str | Path) -> dict[str, Any]:
    """Return what a file says about its model, without building it.

    Parameters
    ----------
    path : path
        Of the file.

    Returns
    -------
    dict
        ``class``, ``params`` (as text), ``n_features``, ``feature_names``, ``classes``,
        ``versions`` of the packages that wrote it, ``format``, ``tensors`` (their number) and
        ``bytes`` (of the file).
    """
    path = Path(path)
    document = file.read_document(path)
    summary = document.get("summary")
    if not isinstance(summary, dict):
        raise errors.malformed(path, "it has no summary")
    sizes = {"tensors": document["tensors"], "bytes": path.stat().st_size}
    return summary | {"format": document["format"]} | sizes


def _summary(model: Any) -> dict[str, Any]:
    params = model.get_params(deep=False)
    names, classes = (getattr(model, name, None) for name in ("feature_names_in_", "classes_"))
    return {
        "class": type(model).__name__,
        "params": {name: _short(repr(value)) for name, value in params.items()},
        "n_features": _plain(getattr(model, "n_features_in_", None)),
        "feature_names": None if names is None else [str(name) for name in names],
        "classes": _plain(classes),
        "versions": _versions(),
    }


def _plain(values: Any) -> Any:
    """Return numbers and labels as JSON has them, others as text."""
    if isinstance(values, np.ndarray | np.generic):
        values = values.tolist()
    if isinstance(values, list):
        return [_plain(value) for value in values]
    is_number = isinstance(values, int | float) and math.isfinite(values)
    return values if values is None or is_number else str(values)


def _short(text: str) -> str:
    return text if len(text) <= _REPR else f"{text[: _REPR - 1]}…"


def _versions() -> dict[str, str]:
    from kernelm._version import __version__

    return {
        "kernelm": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
