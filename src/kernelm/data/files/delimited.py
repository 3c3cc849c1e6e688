"""CSV in pieces of some megabytes that end where a row does, of types that the first rows show."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from kernelm.data.files import _errors
from kernelm.data.files.arrow import Piece, TableFile, Types, csv, pa, reading

PIECE = 8 << 20  #: bytes that are read together
HEAD = 1 << 20  #: bytes that show the types
LONGEST_ROW = 64 << 20  #: bytes; a longer one is a quote left open

_BOM, _UTF16 = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")


class _Range(NamedTuple):
    """Bytes of a file that are whole rows."""

    start: int
    stop: int
    n_rows: int


def open_csv(path: Path, delimiter: str, *, skip: bool, head: int) -> TableFile:
    """Return a CSV file with a header, whose first ``head`` bytes show the types of its columns.

    Rows of another length than the header are left out if ``skip``, else refused.
    """
    with reading(path), path.open("rb") as file:
        start, names = _header(path, file, delimiter)
        text = Text(path, tuple(names), delimiter, skip)
        schema = text.schema(_head(file, start, head, delimiter))
    return TableFile(path, schema, lambda: text.pieces(start))


class Text(NamedTuple):
    """How the text of a file becomes a table."""

    path: Path
    names: tuple[str, ...]
    delimiter: str
    skip: bool

    def schema(self, head: bytes) -> Any:
        """Return the types that the first rows of the file show."""
        if not head.strip():
            return pa.schema([(name, pa.null()) for name in self.names])
        fields = self.table(head, {}, 0, skip=True).schema
        # Arrow takes text for binary if it is not in UTF-8; such rows are faults.
        kinds = [pa.string() if pa.types.is_binary(kind) else kind for kind in fields.types]
        return pa.schema(zip(self.names, kinds, strict=True))

    def pieces(self, start: int) -> list[Piece]:
        """Return the pieces of the file after its header."""
        with reading(self.path), self.path.open("rb") as file:
            ranges = list(_ranges(self.path, file, start, self.delimiter))
        firsts = np.cumsum([0, *(found.n_rows for found in ranges)]).tolist()
        return [
            Piece(
                self.path,
                "",
                first,
                found.n_rows,
                lambda types, found=found, first=first: self.read(found, types, first),
            )
            for first, found in zip(firsts, ranges, strict=False)
        ]

    def read(self, found: _Range, types: Types, first: int) -> Any:
        """Return columns of a range of rows; as bytes where they are not of these types."""
        with reading(self.path):
            with self.path.open("rb") as file:
                file.seek(found.start)
                text = file.read(found.stop - found.start)
            try:
                return self.table(text, types, first, skip=self.skip)
            except (pa.ArrowInvalid, UnicodeDecodeError):
                raw = dict.fromkeys(types, pa.binary())
                return self.table(text, raw, first, skip=self.skip)

    def table(self, text: bytes, types: Types, first: int, *, skip: bool) -> Any:
        """Return text as a table: of the given columns and types, or all as Arrow sees them."""
        wrong: list[tuple[int, int]] = []

        def leave_out(row: Any) -> str:
            wrong.append((row.number - 1, row.actual_columns))
            return "skip"

        table = csv.read_csv(
            io.BytesIO(text),
            # The file was cut where rows end: Arrow must not cut it again.
            csv.ReadOptions(
                use_threads=False, column_names=self.names, block_size=max(len(text), 1) + 1
            ),
            csv.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=leave_out
            ),
            csv.ConvertOptions(
                column_types=types, include_columns=list(types), strings_can_be_null=True
            ),
        )
        if wrong and not skip:
            row, got = wrong[0]
            raise _errors.wrong_length(self.path, first + row, len(self.names), got)
        return table


def _header(path: Path, file: BinaryIO, delimiter: str) -> tuple[int, Sequence[str]]:
    """Return where the header ends, and the names in it."""
    from kernelm.data.files._csv_loops import ROW, row_ends

    text = file.read(HEAD)
    if text.startswith(_UTF16):
        raise _errors.not_utf8(path)
    start = len(_BOM) if text.startswith(_BOM) else 0
    if not text[start:].strip():
        raise _errors.empty_file(path)
    _, n_rows, end = row_ends(_bytes(text[start:]), ROW, ord(delimiter), 1)
    stop = start + end if n_rows else len(text)
    header = io.BytesIO(text[start:stop])
    options = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    return stop, csv.read_csv(header, parse_options=options).column_names


def _head(file: BinaryIO, start: int, size: int, delimiter: str) -> bytes:
    """Return the first rows of a file: all whole ones in its first bytes."""
    from kernelm.data.files._csv_loops import ROW, row_ends

    file.seek(start)
    text = file.read(size)
    if len(text) < size:
        return text
    return text[: row_ends(_bytes(text), ROW, ord(delimiter), -1)[2]]


def _ranges(path: Path, file: BinaryIO, start: int, delimiter: str) -> Iterator[_Range]:
    """Yield ranges of whole rows to the end of the file."""
    from kernelm.data.files._csv_loops import QUOTED, ROW, row_ends

    state, at, total = ROW, start, 0
    file.seek(start)
    while text := file.read(PIECE):
        state, n_rows, end = row_ends(_bytes(text), state, ord(delimiter), -1)
        if n_rows:
            yield _Range(start, at + end, n_rows)
        if end:
            start, total = at + end, total + n_rows
        at += len(text)
        if at - start > LONGEST_ROW:
            raise _errors.endless_row(path, total, LONGEST_ROW)
    if state == QUOTED:
        raise _errors.open_quote(path, total)
    if state != ROW:  # the last row needs no end
        yield _Range(start, at, 1)


def _bytes(text: bytes) -> Any:
    return np.frombuffer(text, np.uint8)
