"""Parquet, Arrow and CSV: columns by name, rows by condition, as data frames or block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kernelm.app.cli.errors import Usage
from kernelm.app.cli.reading import Request
from kernelm.data import FileSource
from kernelm.data.files import _errors
from kernelm.data.files.arrow import TableFile, open_arrow, open_parquet, pa, pc
from kernelm.data.files.delimited import HEAD, open_csv
from kernelm.data.files.tables import open_tables
from kernelm.data.files.uses import Uses
from kernelm.data.frames import FrameColumns


def opened(request: Request, *, whole: bool = False) -> list[TableFile]:
    """Return the files of a request; ``whole``: all rows of text show the types, not the first."""
    kind = request.kind
    if kind != "csv":
        return [(open_parquet if kind == "parquet" else open_arrow)(f) for f in request.files]
    _one_character(request.delimiter)

    def text(path: Path) -> TableFile:
        usual = "\t" if path.suffix.lower() == ".tsv" else ","
        head = path.stat().st_size + 1 if whole else HEAD
        skip = request.on_error == "skip"
        return open_csv(path, request.delimiter or usual, skip=skip, head=head)

    return [text(path) for path in request.files]


def read(request: Request) -> tuple[Any, Uses, tuple[str, ...]]:
    """Return all rows as a data frame, what its columns are for, and notes."""
    files = opened(request, whole=True)
    uses, notes = _uses(request, files)
    names = list(dict.fromkeys([*uses.argument, *(name for name, _, _ in request.asks)]))
    parts, lost = [], 0
    for file in files:
        types = {name: file.schema.field(name).type for name in names}
        for piece in file.pieces():
            parts.append(piece.read(types).select(names))
            lost += piece.n_rows - parts[-1].num_rows
    if not sum(part.num_rows for part in parts):
        raise _errors.no_rows(request.files, "there are no rows; a model needs at least one")
    rows = _filtered(pa.concat_tables(parts, promote_options="permissive"), uses.where, request)
    if not rows.num_rows:
        raise _errors.no_rows(request.files, f"no row is left by --where {request.where!r}")
    notes = (*notes, f"{lost:,} damaged rows left out") if lost else notes
    return rows.to_pandas(), uses, notes


def scanned(request: Request, files: Sequence[TableFile]) -> tuple[FileSource, tuple[str, ...]]:
    """Return rows that have a target, block by block, and notes."""
    uses, notes = _uses(request, files)
    there = ~pc.field(str(uses.target)).is_null(nan_is_null=True)
    source = open_tables(
        files,
        target=uses.target,
        features=uses.features,
        weight=uses.weight,
        where=there if uses.where is None else uses.where & there,
        on_error=request.on_error,
        missing="fill",
    )
    return source, notes


def with_columns(request: Request, names: Sequence[str], columns: FrameColumns | None) -> Any:
    """Return rows to predict: the columns of a model, whatever others there are."""
    files = opened(request)
    _known(files, names, "the model")
    columns = columns or FrameColumns(tuple(names), (None,) * len(names))
    options: dict[str, Any] = {"dtype": "float64", "missing": "fill"}
    return open_tables(files, features=names, columns=columns, **options)


def kept(request: Request, names: Sequence[str]) -> Iterator[Any]:
    """Yield columns as they are in the files, piece by piece."""
    files = opened(request, whole=not request.is_large)
    _known(files, names, "--keep")
    for file in files:
        types = {name: file.schema.field(name).type for name in names}
        for piece in file.pieces():
            yield piece.read(types)


def _uses(request: Request, files: Sequence[TableFile]) -> tuple[Uses, tuple[str, ...]]:
    """Return what columns are for; dates are left out with a note unless they were asked for."""
    schema = files[0].schema
    if request.target is None:
        listed = _errors.listed_names(schema.names)
        raise Usage(f"--target is needed: the column to predict; {request.name} has {listed}")
    for names, argument in (
        ([request.target], "--target"),
        (request.features or (), "--features"),
        (request.drop, "--drop"),
        ([request.weight] if request.weight else (), "--weight"),
        ([name for name, _, _ in request.asks], "--where"),
    ):
        _known(files, names, argument)
    features, notes = request.features, ()
    if features is None:
        others = {request.target, request.weight, *request.drop}
        free = [name for name in schema.names if name not in others]
        dates = [name for name in free if pa.types.is_temporal(schema.field(name).type)]
        notes = tuple(f"column {name!r} left out: dates and times are not used" for name in dates)
        features = tuple(name for name in free if name not in dates)
    if not features:
        raise Usage(f"{request.name} has no column besides the target to learn from")
    where = request.asks or None
    return Uses.of(files[0], request.target, features, request.weight, where), notes


def _known(files: Sequence[TableFile], names: Sequence[str], argument: str) -> None:
    for file in files:
        columns = file.schema.names
        repeated = sorted({name for name in columns if columns.count(name) > 1})
        if repeated:
            raise _errors.repeated_names(file.path, repeated)
        for name in names:
            if name not in columns:
                raise _errors.no_column(file.path, argument, name, columns)


def _filtered(rows: Any, where: Any, request: Request) -> Any:
    if where is None:
        return rows
    try:
        return rows.filter(where)
    except pa.ArrowException as error:
        raise ValueError(
            f"--where {request.where!r} cannot be used on {request.name} ({error}); compare "
            "numbers with numbers, and names with names"
        ) from error


def _one_character(delimiter: str | None) -> None:
    if delimiter is not None and len(delimiter.encode()) != 1:
        raise Usage(f"--delimiter must be one ASCII character, got {delimiter!r}")
