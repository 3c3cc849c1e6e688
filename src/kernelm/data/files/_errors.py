"""Sentences about files that cannot be read as asked: what, where, and the next step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

# --- which files ---------------------------------------------------------------------------------


def no_files(pattern: str) -> FileNotFoundError:
    """For a path or pattern that names nothing."""
    return FileNotFoundError(f"no file {pattern!r}; check the spelling and the current folder")


def no_known_files(folder: Path, known: Iterable[str]) -> FileNotFoundError:
    """For a folder without data."""
    return FileNotFoundError(
        f"the folder {folder} holds no file that ends in {', '.join(known)}; name the files "
        f"by a pattern such as '{folder / '*.txt'}' and their format by format="
    )


def no_paths() -> ValueError:
    """For an empty list of paths."""
    return ValueError("paths must name at least one file, got none")


def repeated_file(path: Path) -> ValueError:
    """For a file that two paths name."""
    return ValueError(f"{path} is named twice: its rows would count twice; name it once")


def unknown_suffix(path: Path, known: Iterable[str]) -> ValueError:
    """For a file whose name does not tell its format."""
    return ValueError(
        f"the format of {path} is not known from its name; expected an ending among "
        f"{', '.join(known)}, or format= with the name of a format"
    )


def compressed(path: Path) -> ValueError:
    """For text whose middle cannot be read without what comes before."""
    return ValueError(
        f"{path} is compressed, so its rows cannot be read in parts; decompress it, or convert it "
        f"to Parquet, which is compressed too"
    )


def bad_choice(argument: str, known: Iterable[str], got: Any) -> ValueError:
    """For a wrong value of an argument that has a few."""
    return ValueError(f"{argument} must be {' or '.join(known)}, got {got!r}")


def mixed_formats(a: Path, b: Path) -> ValueError:
    """For files that cannot be rows of one table."""
    return ValueError(f"{a} and {b} have different formats; scan them one format at a time")


def foreign_options(names: Iterable[str], format: str, allowed: Iterable[str]) -> ValueError:
    """For options that a format does not have."""
    return ValueError(
        f"{format} files have no use for {', '.join(names)}; they take {', '.join(allowed)}"
    )


def needs_pyarrow() -> ImportError:
    """For a missing optional package."""
    return ImportError(
        "Parquet, Arrow and CSV files need pyarrow and pandas to be read: "
        "pip install kernelm[files]"
    )


# --- what is in them -----------------------------------------------------------------------------


def unreadable(path: Path, part: str, error: Exception) -> ValueError:
    """For a file that is damaged, cut off, or of another format than its name says."""
    place = f"{path}, {part}," if part else f"{path}"
    return ValueError(
        f"{place} cannot be read ({_short(str(error))}); it may be damaged, cut off, or of "
        f"another format: write it again, or say format="
    )


def empty_file(path: Path) -> ValueError:
    """For a file of no bytes."""
    return ValueError(f"{path} is empty; leave it out, or write it again")


def not_utf8(path: Path) -> ValueError:
    """For text in another encoding."""
    return ValueError(f"{path} is text in UTF-16; save it as UTF-8")


def endless_row(path: Path, row: int, limit: int) -> ValueError:
    """For a row that does not end, as where a quote is left open."""
    return ValueError(
        f"{_place(path, '', row)} has no end within {limit} bytes; is a quote left open?"
    )


def open_quote(path: Path, row: int) -> ValueError:
    """For a file that ends inside quotes."""
    return ValueError(
        f"{_place(path, '', row)} opens a quote that the file does not close; it may be cut off"
    )


def changed(path: Path, counted: int, found: int) -> ValueError:
    """For a file that was written to while it was read."""
    return ValueError(
        f"{path} has changed since it was opened: {found} rows where {counted} were counted; "
        f"scan it again"
    )


def no_rows(paths: Sequence[Path], why: str) -> ValueError:
    """For files without a row that can be used."""
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return ValueError(f"{paths[0]}{more}: {why}")


def repeated_names(path: Path, names: Iterable[str]) -> ValueError:
    """For columns that cannot be told apart."""
    return ValueError(
        f"{path} has several columns named {', '.join(map(repr, names))}; rename them in the file"
    )


def no_column(path: Path, argument: str, name: Any, columns: Sequence[str]) -> ValueError:
    """For a name that is not in a file."""
    close = get_close_matches(str(name), columns, n=3) or columns
    hint = "did you mean" if close is not columns else "it has"
    return ValueError(
        f"{path} has no column {name!r}, which {argument} asks for; {hint} {listed_names(close)}"
    )


def two_uses(name: str, a: str, b: str) -> ValueError:
    """For a column that would be predicted from itself."""
    return ValueError(f"column {name!r} is in {a} and in {b}; it can have one use only")


def bad_names(argument: str, got: Any) -> ValueError:
    """For ``target``, ``features`` or ``weight`` that are no names of columns."""
    return ValueError(f"{argument} must be made of names of columns, got {got!r}")


def bad_filter(where: Any, error: Exception) -> ValueError:
    """For a filter that the columns do not allow."""
    return ValueError(
        f"where={_short(str(where))} cannot be used on these columns ({_short(str(error))}); "
        f"expected a pyarrow expression, or tuples such as [('age', '>', 30)]"
    )


def bad_type(path: Path, name: str, kind: Any) -> ValueError:
    """For a column of neither numbers nor names."""
    return ValueError(
        f"column {name!r} of {path} must hold numbers or names, got {kind}; turn it into columns "
        f"of those, or leave it out with features="
    )


# --- rows ----------------------------------------------------------------------------------------


def bad_entry(path: Path, part: str, row: int, name: str, value: Any, kind: Any) -> ValueError:
    """For an entry that is not of the type of its column."""
    expected = {"double": "numbers", "float": "numbers", "string": "text in UTF-8"}
    return ValueError(
        f"{_place(path, part, row)}: column {name!r} must hold {expected.get(str(kind), kind)}, as "
        f"its first rows do, got {_short(repr(value))}; correct it, or leave such rows out with "
        f"on_error='skip'"
    )


def gap(path: Path, part: str, row: int, name: str) -> ValueError:
    """For a missing or infinite entry."""
    return ValueError(
        f"{_place(path, part, row)}: column {name!r} is missing, NaN or infinite; fill such "
        f"entries, or leave their rows out with on_error='skip' or a filter (where=)"
    )


def wrong_length(path: Path, row: int, expected: int, got: int) -> ValueError:
    """For a row of text with too few or too many entries."""
    return ValueError(
        f"{_place(path, '', row)} must have {expected} entries, as the header has, got {got}; "
        f"correct it, name another delimiter=, or leave such rows out with on_error='skip'"
    )


def _place(path: Path, part: str, row: int) -> str:
    inside = f", {part}" if part else ""
    return f"{path}{inside}, row {row} (counted from 0, without a header)"


def listed_names(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}..."


# --- arrays --------------------------------------------------------------------------------------


def one_array(paths: Sequence[Path]) -> ValueError:
    """For several .npy files."""
    return ValueError(
        f"a .npy file is read alone, got {len(paths)} of them; join them in one, or use Parquet"
    )


def bad_array(path: Path, what: str, got: Any) -> ValueError:
    """For an array of the wrong shape or type."""
    return ValueError(f"{path} must hold {what}, got {got}")


def bad_array_target(target: Any, n_columns: int) -> ValueError:
    """For a target that is neither a column nor a file."""
    return ValueError(
        f"target of a .npy file must be a column from 0 to {n_columns - 1} or the path of a .npy "
        f"file with the targets, got {target!r}"
    )


# --- LIBSVM text ---------------------------------------------------------------------------------

#: What is expected where a row of LIBSVM text cannot be read, by the name of the fault.
_LIBSVM = {
    "LABEL": "a label that is one finite number",
    "SEVERAL_LABELS": "one label, since rows of several labels are not supported",
    "ENTRY": "index:value with a whole number for the index",
    "VALUE": "a value that is a finite number of at most {limits.value:.4g}",
    "INDEX": "an index from {limits.low} to {limits.high}",
    "REPEATED": "every index at most once",
}


def bad_line(path: Path, line: int, fault: str, limits: Any, got: bytes) -> ValueError:
    """For a line of LIBSVM text that is not a row."""
    shown = got.decode("utf-8", "backslashreplace").strip()
    shown = shown if len(shown) <= 40 else f"{shown[:40]}..."
    return ValueError(
        f"{path}, line {line}: expected {_LIBSVM[fault].format(limits=limits)}, got {shown!r}; "
        f"correct it, or leave such rows out with on_error='skip'"
    )


def no_lines(paths: Sequence[Path], n_skipped: int) -> ValueError:
    """For LIBSVM files without rows."""
    left_out = f", and {n_skipped} left out" if n_skipped else ""
    return no_rows(paths, f"expected at least one row, got none{left_out}; check the files")


def only_labels(paths: Sequence[Path]) -> ValueError:
    """For LIBSVM files that do not tell how many columns there are."""
    return no_rows(paths, "expected index:value in some row, got labels only; give n_features=")


def binary_text(path: Path) -> ValueError:
    """For bytes that no text has."""
    return ValueError(f"{path} must be LIBSVM text, got a binary file; say its format by format=")


def endless_line(path: Path, limit: int) -> ValueError:
    """For a line that does not end."""
    return ValueError(
        f"{path} must have one row a line, got a line of more than {limit} bytes; check its format"
    )


def changed_file(path: Path, expected: int, got: int) -> ValueError:
    """For a file that was written to while its rows were in use."""
    return ValueError(
        f"{path} has changed since it was opened: expected {expected} rows in a part of it, "
        f"got {got}; open the files again"
    )


# --- writing -------------------------------------------------------------------------------------


def unknown_output(path: Path, known: Iterable[str]) -> ValueError:
    """For a name that does not tell how to write."""
    return ValueError(f"{path} must end in {', '.join(known)}: that is how the format is chosen")


def unwritable(path: Path, error: Exception) -> OSError:
    """For a place where no file can be made."""
    return OSError(f"{path} cannot be written ({error}); choose another place")


def nothing_to_write(path: Path) -> ValueError:
    """For a source without rows."""
    return ValueError(f"there are no rows to write to {path.name.strip('.').removesuffix('.part')}")
