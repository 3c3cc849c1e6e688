"""Tables written block by block: a whole file at the end, or none."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelm.data.files import _errors

Table = dict[str, NDArray]


def write(path: str | os.PathLike[str], tables: Iterable[Table]) -> int:
    """Write tables of the same columns one after the other, and return the number of rows.

    The end of the name says how: ``.parquet``, ``.arrow``, ``.feather`` or ``.csv``. The file
    appears under its name when it is complete; until then, and after an error, what was there
    before stays.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> file = Path(tempfile.mkdtemp(), "out.csv")
    >>> write(file, ({"x": np.arange(2) + 2 * k} for k in range(2)))
    4
    >>> file.read_text().split()
    ['"x"', '0', '1', '2', '3']
    """
    path = Path(path)
    opened = _writers().get(path.suffix.lower())
    if opened is None:
        raise _errors.unknown_output(path, _writers())
    draft = path.with_name(f".{path.name}.part")
    try:
        n_rows = _write(draft, opened, tables)
        draft.replace(path)
    except OSError as error:
        raise _errors.unwritable(path, error) from error
    finally:
        draft.unlink(missing_ok=True)
    return n_rows


def _write(draft: Path, opened: Callable[[Path, Any], Any], tables: Iterable[Table]) -> int:
    from kernelm.data.files.arrow import pa

    writer, n_rows = None, 0
    try:
        for columns in tables:
            table = pa.table({name: _column(values) for name, values in columns.items()})
            writer = writer or opened(draft, table.schema)
            writer.write_table(table.cast(writer.schema) if n_rows else table)
            n_rows += table.num_rows
    finally:
        if writer is not None:
            writer.close()
    if writer is None:
        raise _errors.nothing_to_write(draft)
    return n_rows


def _column(values: NDArray) -> Any:
    """Return a column that Arrow takes: strings of NumPy have a width, those of Arrow do not."""
    return values.astype(object) if values.dtype.kind in "US" else np.ascontiguousarray(values)


def _writers() -> dict[str, Callable[[Path, Any], Any]]:
    from kernelm.data.files.arrow import csv, ipc, pq

    def arrow(path: Path, schema: Any) -> Any:
        return _Ipc(ipc.new_file(str(path), schema), schema)

    def delimited(path: Path, schema: Any) -> Any:
        return _Ipc(csv.CSVWriter(str(path), schema), schema)

    return {
        ".parquet": pq.ParquetWriter,
        ".pq": pq.ParquetWriter,
        ".arrow": arrow,
        ".feather": arrow,
        ".csv": delimited,
    }


class _Ipc:
    """A writer that knows its schema, as that of Parquet does."""

    def __init__(self, writer: Any, schema: Any) -> None:
        self._writer, self.schema = writer, schema
        self.write_table, self.close = writer.write_table, writer.close
