"""How a command fails: wrong usage, wrong data, or a fault of ours, each in one line."""

from __future__ import annotations

import re
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, Protocol, TypeGuard

from kernelm.app.cli import console

FAILED, MISUSED, INTERRUPTED = 1, 2, 130

#: Arguments of functions that are options of commands.
_OPTIONS = ("delimiter", "features", "format", "on_error", "task", "target", "weight", "where")
_ARGUMENT = re.compile(rf"\b({'|'.join(_OPTIONS)})=(?:'(\w+)')?")

_EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError, AttributeError)


class Usage(Exception):
    """The command line asks for something that there is not."""


@contextmanager
def as_one_line(*, debug: bool) -> Iterator[None]:
    """Turn errors into a line and an exit code; with ``debug`` the traceback comes first."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            yield
    except Exception as error:
        if debug:
            traceback.print_exc(file=sys.stderr)
        console.warn(f"error: {sentence(error)}")
        sys.exit(_code(error))


def sentence(error: Exception) -> str:
    """Return what an error says, in one line and in the words of the command line.

    Examples
    --------
    >>> sentence(ValueError("choose another target,\\n or task='regression'"))
    'choose another target, or --task regression'
    """
    if _is_parsing(error):
        text = error.format_message().rstrip(".")
        return _flat(f"{text}; see kernelm --help, or --help after a command")
    if isinstance(error, MemoryError):
        return "not enough memory; take a part of the rows (--where) or of the columns (--features)"
    if isinstance(error, OSError) and error.strerror and error.filename:
        return _flat(f"{error.filename}: {error.strerror}; check the name and the permissions")
    text = _ARGUMENT.sub(_as_option, _flat(str(error)))
    text = text.replace(" or drop it", " or leave it out with --drop")
    text = re.sub(r"^y must", "the target must", text)
    if isinstance(error, (Usage, *_EXPECTED)) and text:
        return text
    kind = type(error).__name__
    return f"{kind}: {text or 'no message'}; this is a fault of kernelm, --debug shows where"


def among(what: str, got: str, known: Iterable[str]) -> Usage:
    """Return the error for a name that is not among those known, with the nearest ones."""
    known = list(known)
    close = get_close_matches(got, known, n=3)
    hint = f"did you mean {' or '.join(close)}?" if close else f"expected {', '.join(known)}"
    return Usage(f"{what} {got!r} is not known; {hint}")


def _as_option(match: re.Match[str]) -> str:
    name, value = match.groups()
    return f"--{name.replace('_', '-')}" + (f" {value}" if value else "")


class _Parsing(Protocol):
    """An error of the parser of commands: it has moved between packages, what it can do has not."""

    exit_code: int

    def format_message(self) -> str:
        """Return what is wrong with the command."""
        ...


def _is_parsing(error: Any) -> TypeGuard[_Parsing]:
    return hasattr(error, "format_message") and hasattr(error, "exit_code")


def _code(error: Exception) -> int:
    if _is_parsing(error):
        return int(error.exit_code)
    return MISUSED if isinstance(error, Usage) else FAILED


def _flat(text: str) -> str:
    return " ".join(text.split())


def _warn(message: Any, *_: Any) -> None:
    console.warn(f"warning: {_flat(str(message))}")
