"""A comparison as one HTML file that needs nothing else."""

from __future__ import annotations

import os
from pathlib import Path

from kernelm.app.comparison import Comparison
from kernelm.app.report.page import page

__all__ = ["render", "write"]

TITLE = "Comparison of machines"


def render(comparison: Comparison, *, title: str = TITLE) -> str:
    """Return the report as an HTML document."""
    return page(comparison, title)


def write(comparison: Comparison, path: str | Path, *, title: str = TITLE) -> Path:
    """Write the report to one file: no network, no scripts or fonts from elsewhere.

    Parameters
    ----------
    comparison : Comparison
        What :func:`kernelm.app.compare.compare` found.
    path : path
        File to write; it appears when it is complete.
    title : str
        Heading of the page, such as the name of the file that was compared.

    Returns
    -------
    Path
        Where it is.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"path must be in a folder that exists, got {str(path)!r}; "
            f"make {str(path.parent)!r} first"
        )
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_text(render(comparison, title=title), encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path
