"""Rows of LIBSVM text: ``label index:value index:value ... # comment``, one row a line.

Compiled loops come with this module: whoever imports it lazily does not wait for Numba.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from kernelm import _checks
from kernelm.data.chunks import Chunk, FileSource
from kernelm.data.files import _errors
from kernelm.data.files._libsvm_loops import LARGEST, MOST_COLUMNS, Fault, Limits, Parsed, parse
from kernelm.data.files.identity import identity
from kernelm.data.source import Rows

_BYTES = 2**23  #: of text in a chunk, up to the end of a line
_LONGEST = 2**30  #: of the rest of that line
_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")  #: gzip, bzip2, xz, zstd


class Piece(NamedTuple):
    """Whole lines of a file, and what the index pass found in them."""

    path: Path
    offset: int
    size: int
    n_rows: int
    n_skipped: int
    n_entries: int
    smallest: int  #: index
    largest: int  #: index, -1 if there is none
    is_whole: bool  #: whether all labels are whole numbers


class Layout(NamedTuple):
    """How the numbers of a text become arrays."""

    limits: Limits
    dtype: np.dtype
    label_dtype: type[np.number]


def open_libsvm(
    paths: Sequence[Path],
    *,
    n_features: int | None = None,
    on_error: str = "raise",
    dtype: DTypeLike | None = None,
    zero_based: bool | str = "auto",
) -> FileSource:
    """Return the rows of LIBSVM (svmlight) files, read in chunks as CSR matrices.

    One pass over the files finds the chunks and checks every line. Memory is that of a few
    chunks of 8 MB of text, or of the longest line. ``qid`` is ignored, and the entries of a row
    may come in any order. Labels are int64 where all are whole numbers, else float64.

    Parameters
    ----------
    paths : sequence of Path
        Files, in the order of the rows.
    n_features : int, optional
        Number of columns; a larger index is an error. By default as many as there are.
    on_error : {"raise", "skip"}
        What to do with a line that cannot be read: name it, or leave it out and count it.
    dtype : dtype, optional
        Of X: float64 by default, or float32.
    zero_based : bool or "auto"
        Whether the first column has index 0. By default it has if an index 0 occurs anywhere.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "two.svm")
    ...     _ = path.write_text("1 1:0.5 3:2 # a comment\\n-1 2:0.25\\n")
    ...     source = open_libsvm([path])
    ...     rows = next(source.blocks(10))()
    >>> rows.y
    array([ 1, -1])
    >>> rows.X.toarray()
    array([[0.5 , 0.  , 2.  ],
           [0.  , 0.25, 0.  ]])
    """
    _checks.one_of(on_error, "on_error", ("raise", "skip"))
    _checks.one_of(zero_based, "zero_based", (True, False, "auto"))
    dtype = np.dtype(np.float64 if dtype is None else dtype)
    _checks.one_of(dtype, "dtype", (np.dtype(np.float32), np.dtype(np.float64)))
    if not paths:
        raise _errors.no_paths()
    if n_features is not None:
        n_features = _checks.integer(n_features, "n_features")
    limits, pieces = _index(paths, n_features, on_error, dtype, zero_based)
    n_skipped = sum(piece.n_skipped for piece in pieces)
    layout = Layout(limits, dtype, _label_dtype(pieces))
    chunks = [Chunk(p.n_rows, partial(_read, p, layout)) for p in pieces if p.n_rows]
    if not chunks:
        raise _errors.no_lines(paths, n_skipped)
    if limits.n_columns < 1:
        raise _errors.only_labels(paths)
    return FileSource(
        chunks,
        limits.n_columns,
        dtype,
        n_skipped=n_skipped,
        row_entries=sum(p.n_entries for p in pieces) / sum(p.n_rows for p in pieces),
        identity=identity(paths, n_features, on_error, dtype.name, zero_based),
    )


def _index(
    paths: Sequence[Path],
    n_features: int | None,
    on_error: str,
    dtype: np.dtype,
    zero_based: bool | str,
) -> tuple[Limits, list[Piece]]:
    """Return the pieces of all files, and what their entries may be."""
    value = min(LARGEST, float(np.finfo(dtype).max))
    low = 0 if zero_based else 1  # "auto" allows for both at first
    high = MOST_COLUMNS if n_features is None else n_features - (zero_based is True)
    pieces = _look(paths, Limits(low, high, value), on_error)
    top = max((piece.largest for piece in pieces), default=-1)
    if zero_based == "auto":
        low = min([1, *(piece.smallest for piece in pieces)])
    limits = Limits(low, top if n_features is None else low + n_features - 1, value)
    if top > limits.high:  # allowed as long as columns might be one-based
        pieces = _look(paths, limits, on_error)
    return limits, pieces


def _look(paths: Sequence[Path], limits: Limits, on_error: str) -> list[Piece]:
    return [piece for path in paths for piece in _pieces(path, limits, on_error)]


def _label_dtype(pieces: Sequence[Piece]) -> type[np.number]:
    return np.int64 if all(piece.is_whole for piece in pieces) else np.float64


def _pieces(path: Path, limits: Limits, on_error: str) -> Iterator[Piece]:
    """Read a file once, and yield what its pieces hold."""
    offset = line = 0
    for text in _texts(path):
        found = _parsed(text, limits)
        if found.n_faults and on_error == "raise":
            raise _error(path, line, text, found, limits)
        rows = found.rows
        yield Piece(
            path,
            offset,
            len(text),
            len(rows.labels),
            found.n_faults,
            len(rows.columns),
            int(rows.columns.min(initial=MOST_COLUMNS)),
            int(rows.columns.max(initial=-1)),
            _are_whole(rows.labels),
        )
        offset += len(text)
        line += found.n_lines


def _error(path: Path, line: int, text: bytes, found: Parsed, limits: Limits) -> ValueError:
    """Return what to raise about the first row that cannot be read, after ``line`` lines."""
    end = text.find(b"\n", found.fault_at)
    got = text[found.fault_at : end if end >= 0 else None]
    fault = Fault(found.fault).name
    return _errors.bad_line(path, line + found.fault_line + 1, fault, limits, got)


def _texts(path: Path) -> Iterator[bytes]:
    """Yield a file in pieces that end where a line does."""
    with path.open("rb") as file:
        while text := file.read(_BYTES):
            if file.tell() == len(text):
                _expect_text(path, text)
            line = file.readline(_LONGEST)
            if len(line) == _LONGEST:
                raise _errors.endless_line(path, _LONGEST)
            yield text + line


def _expect_text(path: Path, head: bytes) -> None:
    if head.startswith(_COMPRESSED):
        raise _errors.compressed(path)
    if b"\0" in head:
        raise _errors.binary_text(path)


def _parsed(text: bytes, limits: Limits) -> Parsed:
    """Return what a text holds; what the compiled loop is not sure of, ``float`` rounds."""
    text = text if text.endswith(b"\n") else text + b"\n"
    found = parse(np.frombuffer(text, np.uint8), limits)
    labels, values = found.rows.labels, found.rows.values
    for slot, begin, end in found.rows.hard.tolist():
        number = float(text[begin:end])
        if slot >= 0:
            values[slot] = number
        else:
            labels[~slot] = number
    return found


def _read(piece: Piece, layout: Layout) -> Rows:
    """Read a piece again, within limits that leave out the same rows."""
    with piece.path.open("rb") as file:
        file.seek(piece.offset)
        text = file.read(piece.size)
    rows = _parsed(text, layout.limits).rows
    if len(rows.labels) != piece.n_rows:
        raise _errors.changed_file(piece.path, piece.n_rows, len(rows.labels))
    entries = (rows.values.astype(layout.dtype), rows.columns - layout.limits.low, rows.starts)
    X = sparse.csr_matrix(entries, (piece.n_rows, layout.limits.n_columns))
    return Rows(X, rows.labels.astype(layout.label_dtype), None, 0)


def _are_whole(labels: NDArray) -> bool:
    """Whether labels are whole numbers that int64 tells apart as float64 does."""
    return bool(np.all((labels == np.rint(labels)) & (np.abs(labels) <= 2**53)))
