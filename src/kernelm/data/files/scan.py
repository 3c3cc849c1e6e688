"""The door to files: which files, of which format, and which of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from glob import glob
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kernelm.data.chunks import FileSource
from kernelm.data.files import _errors
from kernelm.data.files.identity import identity
from kernelm.data.source import ArraySource

Format = Literal["parquet", "arrow", "csv", "npy", "libsvm"]
Paths = str | PathLike[str]

#: What the end of a file's name says about its format.
SUFFIXES: dict[str, Format] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".csv": "csv",
    ".tsv": "csv",
    ".npy": "npy",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".svm": "libsvm",
}

_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".lz4", ".zip")

_TABLE = ("target", "features", "weight", "where", "on_error", "missing", "dtype")

#: Which arguments of :func:`scan` each format has a use for.
OPTIONS: dict[Format, tuple[str, ...]] = {
    "parquet": _TABLE,
    "arrow": _TABLE,
    "csv": (*_TABLE, "delimiter"),
    "npy": ("target",),
    "libsvm": ("on_error", "dtype", "n_features", "zero_based"),
}


def scan(
    paths: Paths | Sequence[Paths],
    target: Any = None,
    *,
    features: Sequence[str] | None = None,
    weight: str | None = None,
    where: Any = None,
    on_error: Literal["raise", "skip"] = "raise",
    missing: Literal["raise", "fill"] = "raise",
    dtype: Any = None,
    format: Format | None = None,
    delimiter: str | None = None,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
) -> FileSource | ArraySource:
    """Return the rows of files as a source that estimators read block by block.

    Only a few blocks are in memory at a time, however many rows there are. Parquet is read by
    row groups and Arrow files by record batches, so these should not be large (up to some
    100,000 rows); CSV is cut into pieces of some megabytes, after a first pass that counts rows.

    Parameters
    ----------
    paths : path, pattern, folder, or a list of these
        Files of one format. Those of a pattern (``"part-*.parquet"``) or a folder are read in
        the order of their names.
    target : str or list of str, optional
        Column to predict, or several; None leaves y out. Of a ``.npy`` file: the position of a
        column, or the path of another ``.npy`` file. LIBSVM files always have their labels.
    features : list of str, optional
        Columns of X; by default all others, in the order of the first file. Columns of names
        become zeros and ones, as those of a data frame do; their levels are those of a sample
        of the rows, and one that comes up later is a row of zeros.
    weight : str, optional
        Column of row weights.
    where : pyarrow expression or list of tuples, optional
        Which rows to read, such as ``[("age", ">", 30), ("country", "in", ["NZ", "IS"])]``.
    on_error : "raise" or "skip"
        What to do about rows with missing or damaged entries: name the first one in an error, or
        leave them all out and count them in ``n_skipped``, which takes a pass over the files.
    missing : "raise" or "fill"
        Whether missing numbers are such entries, or stand for the median of their column in a
        sample of the rows, with a further column that says so. A column without gaps in the
        sample may have none later.
    dtype : "float32" or "float64", optional
        Of X; by default float32 where the columns are of types that it holds exactly.
    format : str, optional
        "parquet", "arrow", "csv", "npy" or "libsvm", where the names of the files do not tell.
    delimiter : str, optional
        Of CSV; by default a tab in ``.tsv`` files, else a comma.
    n_features, zero_based
        Of LIBSVM: the number of columns, and whether the first is 0; by default seen in the files.

    Returns
    -------
    FileSource or ArraySource
        The latter for a ``.npy`` file without a target among its columns.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp(), "trees.csv")
    >>> _ = file.write_text("height,kind,age\\n10.5,oak,40\\n,oak,7\\n8,elm,35\\n")
    >>> source = scan(file, target="age", on_error="skip")
    >>> source.n_rows, source.n_skipped, source.columns.names
    (2, 1, ['height', 'kind_elm', 'kind_oak'])
    >>> rows = next(source.blocks(100))()
    >>> rows.X
    array([[10.5,  0. ,  1. ],
           [ 8. ,  1. ,  0. ]])
    >>> rows.y
    array([40, 35])
    """
    files = files_of([paths] if isinstance(paths, str | PathLike) else list(paths))
    kind = format_of_all(files, format)
    given = _given(
        {"on_error": "raise", "missing": "raise", "zero_based": "auto"},
        target=target,
        features=features,
        weight=weight,
        where=where,
        on_error=on_error,
        missing=missing,
        dtype=dtype,
        delimiter=delimiter,
        n_features=n_features,
        zero_based=zero_based,
    )
    _check(given, kind)
    source = _open(files, kind, given)
    if isinstance(source, ArraySource) or source.identity:
        return source
    choice = sorted((name, str(value)) for name, value in given.items())
    return replace(source, identity=identity(files, choice))


def _given(defaults: dict[str, str], **options: Any) -> dict[str, Any]:
    """Return the options that differ from their defaults."""
    return {
        name: value
        for name, value in options.items()
        if value is not None and not (isinstance(value, str) and value == defaults.get(name))
    }


def _check(given: dict[str, Any], kind: Format) -> None:
    foreign = [name for name in given if name not in OPTIONS[kind]]
    if foreign:
        raise _errors.foreign_options(foreign, kind, OPTIONS[kind])
    if given.get("on_error", "skip") != "skip":
        raise _errors.bad_choice("on_error", ("'raise'", "'skip'"), given["on_error"])
    if given.get("missing", "fill") != "fill":
        raise _errors.bad_choice("missing", ("'raise'", "'fill'"), given["missing"])
    if given.get("dtype", "float32") not in ("float32", "float64", np.float32, np.float64):
        raise _errors.bad_choice("dtype", ("'float32'", "'float64'"), given["dtype"])
    if len(str(given.get("delimiter", ",")).encode()) != 1:
        raise _errors.bad_choice("delimiter", ("one ASCII character",), given["delimiter"])


# --- which files ---------------------------------------------------------------------------------


def files_of(paths: Sequence[Paths]) -> list[Path]:
    """Return the files that paths, patterns and folders name, each once."""
    if not paths:
        raise _errors.no_paths()
    files = [file for path in paths for file in _expanded(Path(path))]
    for k, file in enumerate(files):
        if file in files[:k]:
            raise _errors.repeated_file(file)
    return files


def _expanded(path: Path) -> list[Path]:
    if path.is_dir():
        return _in_folder(path)
    if path.exists():  # before patterns: a name may hold brackets
        return [path]
    found = sorted(Path(name) for name in glob(fspath(path), recursive=True))
    files = [file for file in found if file.is_file()]
    if not files:
        raise _errors.no_files(fspath(path))
    return files


def _in_folder(folder: Path) -> list[Path]:
    """Return the files of a folder whose names tell a format; hidden ones are not data."""
    files = [file for file in folder.iterdir() if not file.name.startswith((".", "_"))]
    known = [file for file in files if SUFFIXES.keys() & map(str.lower, file.suffixes[-2:])]
    if not known:
        raise _errors.no_known_files(folder, SUFFIXES)
    return sorted(known)


# --- of which format -----------------------------------------------------------------------------


def format_of_all(files: Sequence[Path], format: Format | None) -> Format:
    """Return the format of all files."""
    if format is not None and format not in OPTIONS:
        raise _errors.bad_choice("format", OPTIONS, format)
    kinds: list[Format] = [_format_of(file, format) for file in files]
    for file, kind in zip(files, kinds, strict=True):
        if kind != kinds[0]:
            raise _errors.mixed_formats(files[0], file)
    return kinds[0]


def _format_of(file: Path, format: Format | None) -> Format:
    suffix = file.suffix.lower()
    if suffix in _COMPRESSED:
        raise _errors.compressed(file)
    if format is None and suffix not in SUFFIXES:
        raise _errors.unknown_suffix(file, SUFFIXES)
    return format or SUFFIXES[suffix]


# --- how it is opened ----------------------------------------------------------------------------


def _open(files: list[Path], kind: Format, given: dict[str, Any]) -> FileSource | ArraySource:
    # Each format is imported when it is met: pyarrow is optional, and Numba is slow to come.
    match kind:
        case "npy":
            from kernelm.data.files.npy import open_npy

            return open_npy(files, **given)
        case "libsvm":
            from kernelm.data.files.libsvm import open_libsvm

            return open_libsvm(files, **given)
        case "csv":
            return _open_csv(files, **given)
        case _:
            from kernelm.data.files.arrow import open_arrow, open_parquet
            from kernelm.data.files.tables import open_tables

            opened = open_parquet if kind == "parquet" else open_arrow
            return open_tables([opened(file) for file in files], **given)


def _open_csv(files: list[Path], delimiter: str | None = None, **given: Any) -> FileSource:
    from kernelm.data.files.delimited import HEAD, open_csv
    from kernelm.data.files.tables import open_tables

    def opened(k: int, file: Path) -> Any:
        usual = "\t" if file.suffix.lower() == ".tsv" else ","
        # The first file shows the types; a glance at the others tells whether they hold more.
        head = HEAD if k == 0 else HEAD // 16
        return open_csv(file, delimiter or usual, skip=given.get("on_error") == "skip", head=head)

    return open_tables([opened(k, file) for k, file in enumerate(files)], **given)
