"""Files as tables: in memory where they are small, block by block where they are not."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelm.app.cli.conditions import Condition, conditions
from kernelm.app.cli.errors import Usage
from kernelm.app.problem import Problem
from kernelm.data import Sample, Source, load, scan
from kernelm.data.files import _errors
from kernelm.data.files.scan import Format, files_of, format_of_all
from kernelm.data.frames import MAX_LEVELS

LARGE = 200_000_000  #: bytes of files from which on rows stay where they are
SAMPLED_ROWS = 50_000  #: of those, where all are needed in memory

BUNDLED = "digits"

_LABELS = ", and its labels are the target"


@final
@dataclass(frozen=True)
class Request:
    """What is to be read, as the options say it."""

    data: str | None = None
    target: str | None = None
    features: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    weight: str | None = None
    where: str | None = None
    on_error: str = "raise"
    format: Format | None = None
    delimiter: str | None = None
    asks: list[Condition] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        if self.where is not None:
            self.asks.extend(conditions(self.where))
        given = [n for n in ("target", "features", "drop", "weight", "where") if getattr(self, n)]
        if self.data is None and given:
            raise Usage(f"--{given[0]} needs DATA: name a file")

    @property
    def name(self) -> str:
        """What the rows are called in sentences."""
        return self.data or f"the bundled {BUNDLED}"

    @property
    def files(self) -> list[Path]:
        """The files that the path, pattern or folder names."""
        return [] if self.data is None else files_of([self.data])

    @property
    def kind(self) -> Format:
        """The format of the files."""
        return format_of_all(self.files, self.format)

    @property
    def is_large(self) -> bool:
        """Whether rows are better read block by block."""
        return sum(file.stat().st_size for file in self.files) > LARGE


class Table(NamedTuple):
    """Rows in memory, their targets, and what was done to them."""

    X: Any  #: data frame, array or CSR matrix
    y: NDArray
    weight: NDArray | None
    task: str
    reason: str  #: for the task
    notes: tuple[str, ...]


class Stream(NamedTuple):
    """Rows that stay in files."""

    source: Source
    task: str
    reason: str
    n_classes: int  #: among the first rows; 0 for values
    notes: tuple[str, ...]


def split_names(text: str | None) -> tuple[str, ...] | None:
    """Return names that commas separate.

    Examples
    --------
    >>> split_names("age, home country")
    ('age', 'home country')
    """
    return None if text is None else tuple(name.strip() for name in text.split(",") if name.strip())


def table(request: Request, task: str) -> Table:
    """Return all rows; those without a target are left out, with a note."""
    X, y, weight, notes = _all_rows(request)
    # The target is understood as a comparison understands it; positions tell which rows remain.
    problem = Problem.of(np.arange(len(y))[:, None], y, task)
    rows = problem.X[:, 0].astype(np.intp)
    kept = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
    weight = None if weight is None else weight[rows]
    notes = (*notes, *problem.notes)
    return Table(kept, problem.y, weight, problem.task, problem.task_reason, notes)


def stream(request: Request, task: str) -> Stream:
    """Return rows that are read block by block; those without a target are not among them."""
    source, notes = _source(request)
    first = next(source.blocks(SAMPLED_ROWS))()
    y = _needed(first.y, request)
    problem = Problem.of(np.zeros((len(y), 1)), y, task)
    n_classes = len(np.unique(problem.y)) if problem.is_classification else 0
    return Stream(source, problem.task, problem.task_reason, n_classes, notes)


def sampled(request: Request, task: str, seed: int) -> Table:
    """Return rows in memory: all of them, or some where they are too many."""
    if not request.is_large:
        return table(request, task)
    source, _, _, _, notes = stream(request, task)
    sample = Sample.of(source, SAMPLED_ROWS, seed)
    X, y = sample.X, np.asarray(sample.y)
    names = getattr(getattr(source, "columns", None), "names", getattr(source, "names", None))
    if names is not None and not sparse.issparse(X):
        import pandas as pd

        X = pd.DataFrame(X, columns=list(names))
    problem = Problem.of(np.zeros((len(y), 1)), y, task)
    note = f"a sample of {len(y):,} of {source.n_rows:,} rows was taken"
    return Table(X, y, None, problem.task, problem.task_reason, (*notes, note))


# --- rows in memory ------------------------------------------------------------------------------


def _all_rows(request: Request) -> tuple[Any, Any, NDArray | None, tuple[str, ...]]:
    if request.data is None:
        digits = load(BUNDLED)
        note = f"no DATA was given: these are {request.name}, {len(digits.y):,} images of 8 × 8"
        return digits.X, digits.y, None, (note,)
    if request.kind in ("npy", "libsvm"):
        return _arrays(request)
    from kernelm.app.cli.frames import read

    frame, found, notes = read(request)
    X, more = _learnable(frame[list(found.features)], named=request.features is not None)
    weight = None if request.weight is None else frame[request.weight].to_numpy(dtype=np.float64)
    return X, frame[str(found.target)], weight, (*notes, *more)


def _arrays(request: Request) -> tuple[Any, NDArray, None, tuple[str, ...]]:
    source = _scanned(request)
    blocks = [read() for read in source.blocks(65_536)]
    y = np.concatenate([_needed(block.y, request) for block in blocks])
    join = sparse.vstack if sparse.issparse(blocks[0].X) else np.concatenate
    X: Any = join([block.X for block in blocks])
    return (X.tocsr() if sparse.issparse(X) else X), y, None, _left_out(source)


def _learnable(frame: Any, *, named: bool) -> tuple[Any, tuple[str, ...]]:
    """Leave out columns of too many names, such as a key, unless they were asked for."""
    text = [n for n in frame.columns if frame[n].dtype.kind == "O"]
    keys = [n for n in text if not named and frame[n].nunique() > MAX_LEVELS]
    notes = tuple(
        f"column {name!r} left out: more than {MAX_LEVELS} different names" for name in keys
    )
    if len(keys) == frame.shape[1]:
        raise ValueError(f"there is no column to learn from; {'; '.join(notes)}")
    return frame.drop(columns=keys), notes


# --- rows that stay in files ---------------------------------------------------------------------


def _source(request: Request) -> tuple[Source, tuple[str, ...]]:
    if request.data is None:
        raise Usage("--checkpoint needs DATA: name a file")
    if request.kind in ("npy", "libsvm"):
        source = _scanned(request)
        return source, _left_out(source)
    from kernelm.app.cli.frames import opened, scanned

    files = opened(request)
    source, notes = scanned(request, files)
    n_rows = sum(piece.n_rows for file in files for piece in file.pieces())
    lost = n_rows - (source.n_rows or 0) - source.n_skipped
    why = "without a target" + (" or not asked for" if request.where else "")
    more = (f"{lost:,} rows {why} left out",) if lost else ()
    return source, (*notes, *_left_out(source), *more)


def _scanned(request: Request) -> Any:
    """Return the rows of arrays or LIBSVM text; what they have no use for is refused there."""
    target: Any = request.target
    if request.kind == "npy" and target is not None and target.lstrip("-").isdigit():
        target = int(target)
    _without_names(request)
    return scan(
        request.files,
        target,
        on_error="skip" if request.on_error == "skip" else "raise",
        format=request.format,
        delimiter=request.delimiter,
    )


def _without_names(request: Request) -> None:
    """Refuse options that name columns, for files that have no names."""
    names = ["features", "drop", "weight", "where"]
    names += ["target"] if request.kind == "libsvm" else []
    for name in names:
        if getattr(request, name):
            raise Usage(
                f"--{name} is for files whose columns have names; {request.name} is "
                f"{request.kind}, which has none" + _LABELS * (name == "target")
            )


def _needed(y: NDArray | None, request: Request) -> NDArray:
    if y is None:
        raise Usage(
            f"--target is needed for {request.name}: the number of a column, counted from 0, "
            "or a .npy file"
        )
    return y


def _left_out(source: Any) -> tuple[str, ...]:
    n = getattr(source, "n_skipped", 0)
    return (f"{n:,} damaged rows left out",) if n else ()


# --- rows to predict -----------------------------------------------------------------------------


def new_rows(request: Request, model: Any) -> Source:
    """Return rows with the columns of a model, encoded as the model encodes them."""
    names, columns = (getattr(model, n, None) for n in ("feature_names_in_", "columns_"))
    if request.data is None:
        from kernelm.data import ArraySource

        source: Any = ArraySource(load(BUNDLED).X)
    elif request.kind == "libsvm":
        source = scan(request.files, n_features=model.n_features_in_, format=request.format)
    elif request.kind == "npy" or names is None:
        source = scan(request.files, format=request.format, delimiter=request.delimiter)
    else:
        from kernelm.app.cli.frames import with_columns

        return with_columns(request, [str(name) for name in names], columns)
    if columns is not None:
        listed = _errors.listed_names([str(name) for name in columns.names_in])
        raise ValueError(f"{request.name} has no names of columns; the model needs {listed}")
    if source.n_features != model.n_features_in_:
        raise ValueError(
            f"{request.name} has {source.n_features} columns, the model was fitted to "
            f"{model.n_features_in_}; give the same columns in the same order"
        )
    return source
