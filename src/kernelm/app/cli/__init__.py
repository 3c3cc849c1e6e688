"""The command ``kernelm``: the library for a person with files, each command a few calls of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and leave the process with its exit code.

    0: done, 1: something is wrong with data, model or disk, 2: wrong usage, 130: interrupted.

    Examples
    --------
    >>> main(["--version"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    try:
        from kernelm.app.cli.app import app
    except ImportError as error:
        sys.exit(f"error: {error}")
    app(args=None if arguments is None else list(arguments), prog_name="kernelm")
