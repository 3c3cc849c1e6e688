"""Tables in files of Arrow's formats, piece by piece; the only door of this package to pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from kernelm.data.files import _errors

try:
    import pandas  # noqa: F401  # Arrow turns columns of names into its series
    import pyarrow as pa
    from pyarrow import acero, csv, ipc
    from pyarrow import compute as pc
    from pyarrow import parquet as pq
except ImportError as error:
    raise _errors.needs_pyarrow() from error

__all__ = [
    "Piece",
    "TableFile",
    "acero",
    "csv",
    "ipc",
    "open_arrow",
    "open_parquet",
    "pa",
    "pc",
    "pq",
]

#: Types of columns by name.
Types = dict[str, Any]


class Piece(NamedTuple):
    """Consecutive rows of a table that are read together."""

    path: Path
    part: str  #: what the format calls it
    first: int  #: position of its first row in the file
    n_rows: int
    #: Reads columns, as these types where the format has none; damaged rows may be left out.
    read: Callable[[Types], Any]


class TableFile(NamedTuple):
    """A file that holds a table: its columns, and how to find its pieces."""

    path: Path
    schema: Any
    pieces: Callable[[], list[Piece]]


@contextmanager
def reading(path: Path, part: str = "") -> Iterator[None]:
    """Tell the file in errors of Arrow, which do not."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _errors.unreadable(path, part, error) from error


def open_parquet(path: Path) -> TableFile:
    """Return a Parquet file, whose pieces are its row groups."""
    with reading(path), pq.ParquetFile(path) as file:
        schema, footer = file.schema_arrow, file.metadata

    def read(group: int, types: Types) -> Any:
        with pq.ParquetFile(path, metadata=footer) as file:
            return file.read_row_group(group, columns=list(types), use_threads=False)

    counts = [footer.row_group(k).num_rows for k in range(footer.num_row_groups)]
    return TableFile(path, schema, lambda: _pieces(path, "row group", counts, read))


def open_arrow(path: Path) -> TableFile:
    """Return an Arrow IPC (Feather) file, whose pieces are its record batches."""
    with reading(path), pa.memory_map(str(path)) as bytes_:
        schema = ipc.open_file(bytes_).schema

    def read(batch: int, types: Types) -> Any:
        fields = sorted(schema.get_field_index(name) for name in types)
        with pa.memory_map(str(path)) as bytes_:
            options = ipc.IpcReadOptions(included_fields=fields, use_threads=False)
            rows = ipc.open_file(bytes_, options=options).get_batch(batch)
            return pa.Table.from_batches([rows])

    def pieces() -> list[Piece]:
        with reading(path), pa.memory_map(str(path)) as bytes_:
            # One column is enough to count, and of a mapped file it is not even read.
            file = ipc.open_file(bytes_, options=ipc.IpcReadOptions(included_fields=[0]))
            counts = [file.get_batch(k).num_rows for k in range(file.num_record_batches)]
        return _pieces(path, "record batch", counts, read)

    return TableFile(path, schema, pieces)


def _pieces(
    path: Path, unit: str, counts: Sequence[int], read: Callable[[int, Types], Any]
) -> list[Piece]:
    """Return pieces with these numbers of rows, read by their number."""

    def guarded(k: int, types: Types) -> Any:
        with reading(path, f"{unit} {k}"):
            return read(k, types)

    return [
        Piece(path, f"{unit} {k}", first, n, lambda types, k=k: guarded(k, types))
        for k, (first, n) in enumerate(zip(accumulate(counts, initial=0), counts, strict=False))
    ]
