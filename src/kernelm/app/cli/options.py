"""What can be asked for, option by option; the door to typer."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

try:
    import typer
    from typer.core import TyperGroup as Group
except ImportError as error:
    raise ImportError(
        "the command kernelm needs typer and rich: pip install kernelm[app]"
    ) from error

__all__ = ["Group", "typer"]  # and the options below


class Task(StrEnum):
    """What is to be predicted."""

    AUTO = "auto"
    CLASSIFICATION = "classification"
    REGRESSION = "regression"


class OnError(StrEnum):
    """What becomes of damaged rows."""

    RAISE = "raise"
    SKIP = "skip"


class Format(StrEnum):
    """Of files whose names do not tell."""

    PARQUET = "parquet"
    ARROW = "arrow"
    CSV = "csv"
    NPY = "npy"
    LIBSVM = "libsvm"


def _option(*names: str, help: str, metavar: str | None = None, **more: Any) -> Any:
    return typer.Option(*names, help=help, metavar=metavar, show_default=False, **more)


# --- what is read --------------------------------------------------------------------------------

Data = Annotated[
    str | None,
    typer.Argument(
        help="A file, a folder or a pattern: Parquet, Arrow, CSV, TSV, LIBSVM or npy. "
        "Without it: the digits that come with scikit-learn.",
        metavar="DATA",
        show_default=False,
    ),
]
Target = Annotated[
    str | None,
    _option(
        "--target",
        "-t",
        help="Column to predict. Of npy: its number, or a .npy file. LIBSVM has its own labels.",
        metavar="COLUMN",
    ),
]
Features = Annotated[
    str | None,
    _option("--features", help="Columns to learn from; all others by default.", metavar="A,B,..."),
]
Drop = Annotated[
    str | None, _option("--drop", help="Columns to leave out, such as a key.", metavar="A,B,...")
]
Weight = Annotated[str | None, _option("--weight", help="Column of row weights.", metavar="COLUMN")]
Where = Annotated[
    str | None,
    _option("--where", help="Rows to take: 'age > 30 and country in NZ,IS'.", metavar="CONDITION"),
]
Errors = Annotated[
    OnError, typer.Option("--on-error", help="Name the first damaged row, or leave all out.")
]
FileFormat = Annotated[
    Format | None, _option("--format", help="Of files whose names do not tell it.")
]
Delimiter = Annotated[
    str | None, _option("--delimiter", help="Of CSV; a comma by default.", metavar="CHARACTER")
]

# --- what is done --------------------------------------------------------------------------------

TaskOption = Annotated[
    Task, typer.Option("--task", help="Classes or values; auto looks at the target.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Of everything random.")]

# --- how it is shown -----------------------------------------------------------------------------

Json = Annotated[
    bool, typer.Option("--json", help="Print JSON on standard output, and nothing else.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
