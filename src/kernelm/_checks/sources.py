"""Checks of sources of rows, and of what fits of them leave on disk."""

from __future__ import annotations

from typing import Any


def source(value: Any, kind: type) -> None:
    """Raise if rows do not come as a source."""
    if not isinstance(value, kind):
        raise TypeError(
            "source must be rows to read block by block, such as kernelm.data.scan(files) or "
            f"kernelm.data.ArraySource(X, y), got {type(value).__name__}; arrays go to fit(X, y)"
        )


def other_checkpoint(directory: Any) -> ValueError:
    """Return the error for a directory that holds the state of another fit."""
    return ValueError(
        f"checkpoint={str(directory)!r} holds the state of a fit with other parameters or other "
        "rows; give another directory, or delete this one"
    )


def broken_checkpoint(path: Any) -> ValueError:
    """Return the error for a state that cannot be read."""
    return ValueError(
        f"{str(path)!r} is no state of a fit, or damaged; delete the directory to begin anew"
    )
