"""Every sentence about a model that cannot be stored, or a file that cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_NO_CODE = "a model file holds numbers and names, never code"
_INSTEAD = "or keep the model with pickle, and open that only where you trust its origin"


# --- saving ----------------------------------------------------------------------------------


def not_an_estimator(model: Any) -> TypeError:
    """Return the error for something that is no estimator of this library."""
    return TypeError(
        f"save takes an estimator of kernelm, got {type(model).__module__}."
        f"{type(model).__qualname__}; save the estimators inside a pipeline or search one by one, "
        f"{_INSTEAD}"
    )


def not_storable(path: str, value: Any, owner: str) -> ValueError:
    """Return the error for a part that no file can hold."""
    kind = type(value)
    what = f"an object of {kind.__module__}.{kind.__qualname__}"
    advice = "replace it by numbers, strings, arrays, or a class of kernelm"
    if callable(value):
        name = getattr(value, "__qualname__", kind.__qualname__)
        what = f"code of your own ({name})"
        advice = "use one that kernelm knows by name or class"
    return ValueError(f"{path} of {owner} is {what}, and {_NO_CODE}; {advice}, {_INSTEAD}")


def contains_itself(path: str, owner: str) -> ValueError:
    """Return the error for a part that leads back to itself."""
    return ValueError(
        f"{path} of {owner} contains itself, which a model file cannot express; break the circle"
    )


def too_deep(path: str, limit: int) -> ValueError:
    """Return the error for a part that is nested too deeply."""
    return ValueError(
        f"{path[:80]} is nested deeper than the {limit} levels of a model file; "
        "sums of many kernels nest less as sums of sums"
    )


def header_too_large(size: int, limit: int) -> ValueError:
    """Return the error for a model of too many small parts."""
    return ValueError(
        f"the description of this model takes {size / 1e6:.0f} MB, a file holds at most "
        f"{limit / 1e6:.0f} MB; use fewer trees or leaves, {_INSTEAD}"
    )


def not_a_place(path: Path) -> ValueError:
    """Return the error for a path that cannot become a file."""
    return ValueError(f"path must name a file, but {path} is a folder; add a name like model.kelm")


def no_folder(path: Path) -> FileNotFoundError:
    """Return the error for a file in a folder that is not there."""
    return FileNotFoundError(f"{path.parent}, the folder of {path.name}, does not exist; make it")


# --- loading ---------------------------------------------------------------------------------


def missing(path: Path) -> FileNotFoundError:
    """Return the error for a file that is not there."""
    return FileNotFoundError(f"{path} does not exist; check the name and the folder")


def not_a_file(path: Path) -> ValueError:
    """Return the error for a folder or device."""
    return ValueError(f"{path} is not a file; give the path of a file that kernelm.save wrote")


def not_readable(path: Path, why: object) -> ValueError:
    """Return the error for a file that is not safetensors."""
    return ValueError(
        f"{path} is not a model file, or only a part of one ({why}); copy or save it again"
    )


def no_model(path: Path) -> ValueError:
    """Return the error for another program's safetensors file."""
    return ValueError(
        f"{path} is a safetensors file without a model of kernelm; "
        "give the path of a file that kernelm.save wrote"
    )


def newer_format(path: Path, found: Any, known: int) -> ValueError:
    """Return the error for a format of the future."""
    return ValueError(
        f"{path} has format {found!r}, this version of kernelm reads format {known}; "
        "upgrade kernelm, or save the model again with this version"
    )


def changed(path: Path) -> ValueError:
    """Return the error for a wrong checksum."""
    return ValueError(
        f"{path} is damaged: its checksum does not fit its content; copy or save it again"
    )


def malformed(path: Path, why: object) -> ValueError:
    """Return the error for a description that is not that of a model."""
    return ValueError(f"{path} does not describe a model: {why}; save it again with kernelm.save")


def unknown_class(name: Any) -> ValueError:
    """Return the error for a class that files may not name."""
    return ValueError(
        f"{str(name)[:80]!r} is not a class that this version of kernelm stores "
        "(was the file saved by a newer version?)"
    )


def other_weights(seed: Any, numpy_version: str) -> ValueError:
    """Return the error for a seed that gives other weights than it did."""
    return ValueError(
        f"the random weights of seed {seed} are not those the model was fitted with: NumPy "
        f"{numpy_version} here draws other numbers; load it with the NumPy that "
        "kernelm.store.header names, or fit again"
    )
