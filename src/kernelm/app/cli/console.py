"""What people see: results on standard output, the rest on standard error; the door to rich.

Names from files are shown as they are: never as markup, never as commands to the terminal.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from kernelm.app.comparison import plain

try:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Table
    from rich.text import Text
except ImportError as error:
    raise ImportError(
        "the command kernelm needs typer and rich: pip install kernelm[app]"
    ) from error

WIDE = 200  # columns where there is no terminal to ask


def say(text: str) -> None:
    """Print a line of the result."""
    _console(sys.stdout).print(Text(literal(text)), soft_wrap=True)


def warn(text: str) -> None:
    """Print a line beside the result."""
    _console(sys.stderr).print(Text(literal(text)), soft_wrap=True)


def document(content: Any) -> None:
    """Print a JSON document; numbers that are not finite become null."""
    sys.stdout.write(json.dumps(plain(content), indent=2, ensure_ascii=False) + "\n")


def line(content: Any) -> None:
    """Print a JSON document in one line, for a stream of them."""
    sys.stdout.write(json.dumps(plain(content), ensure_ascii=False) + "\n")


def pairs(content: dict[str, str]) -> None:
    """Print names and values, one pair a line."""
    table = Table.grid(padding=(0, 2))
    for name, value in content.items():
        table.add_row(Text(literal(name), style="bold"), Text(literal(value)))
    _console(sys.stdout).print(table)


def table(titles: Sequence[str], rows: Iterable[Sequence[Any]], *, left: int = 1) -> None:
    """Print a table; the first ``left`` columns hold words, the others numbers."""
    shown = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for k, title in enumerate(titles):
        shown.add_column(Text(literal(title)), justify="left" if k < left else "right")
    for row in rows:
        shown.add_row(*(Text(literal(str(value))) for value in row))
    _console(sys.stdout).print(shown)


@contextmanager
def busy(text: str, *, quiet: bool) -> Iterator[None]:
    """Say what is going on, on a terminal, while it goes on."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    with _console(sys.stderr).status(Text(literal(text))):
        yield


@contextmanager
def bar(seconds: float, *, quiet: bool) -> Iterator[Callable[[str, float], None]]:
    """Yield a function of a sentence and the share that is done, shown as a bar."""
    if quiet or not sys.stderr.isatty():
        yield lambda sentence, share: None
        return
    columns = (BarColumn(30), TimeElapsedColumn(), TextColumn("{task.fields[left]}"))
    words = TextColumn("{task.description}", markup=False)
    with Progress(*columns, words, console=_console(sys.stderr), transient=True) as progress:
        task = progress.add_task("", total=1.0, left="")

        def report(sentence: str, share: float) -> None:
            left = f"at most {max(seconds * (1 - share), 0):.0f} s left"
            progress.update(task, completed=share, description=literal(sentence), left=left)

        yield report


def literal(text: str) -> str:
    r"""Return text with characters that a terminal would obey spelled out.

    Examples
    --------
    >>> print(literal("[bold]a\x1b[31m"))
    [bold]a\x1b[31m
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _console(file: Any) -> Console:
    width = None if file.isatty() else WIDE
    return Console(file=file, width=width, highlight=False, markup=False, emoji=False)
