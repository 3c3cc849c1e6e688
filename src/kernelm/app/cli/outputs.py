"""Places for results, looked at before the work that fills them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from kernelm.app.cli.errors import Usage


def place(path: str, option: str, endings: Sequence[str], *, data: str | None = None) -> Path:
    """Return a path that a file can be written to, or raise.

    Examples
    --------
    >>> place("model.txt", "--output", [".kelm"])
    Traceback (most recent call last):
    kernelm.app.cli.errors.Usage: --output model.txt must end in .kelm
    """
    chosen = Path(path)
    if chosen.suffix.lower() not in endings:
        raise Usage(f"{option} {path} must end in {', '.join(endings)}")
    if chosen.is_dir():
        raise Usage(f"{option} {path} is a folder; add the name of a file")
    if data is not None and chosen.exists() and Path(data).exists() and chosen.samefile(data):
        raise Usage(f"{option} {path} would replace its own input; choose another name")
    if not chosen.parent.is_dir():
        raise OSError(f"{option} {path}: there is no folder {chosen.parent}; make it first")
    try:
        with tempfile.TemporaryFile(dir=chosen.parent):
            return chosen
    except OSError as error:
        raise OSError(
            f"{option} {path} cannot be written ({error.strerror}); choose another place"
        ) from error
