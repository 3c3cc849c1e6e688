"""Arrays in .npy files, mapped into memory: read where a block needs them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelm.data.chunks import Chunk, FileSource
from kernelm.data.files import _errors
from kernelm.data.source import ArraySource, Rows

PIECE = 65_536  #: rows


def open_npy(files: Sequence[Path], target: Any = None) -> ArraySource | FileSource:
    """Return the rows of a matrix; the target is one of its columns or a file of its own."""
    if len(files) > 1:
        raise _errors.one_array(files)
    X = _mapped(files[0])
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        got = f"shape {X.shape} of {X.dtype}"
        raise _errors.bad_array(files[0], "a matrix of numbers", got)
    if not X.size:
        raise _errors.no_rows(files, f"there are no rows, or no columns: shape {X.shape}")
    if isinstance(target, str | Path):
        return _beside(X, files[0], Path(target))
    if target is None:
        return ArraySource(X)
    if isinstance(target, bool) or not isinstance(target, int | np.integer):
        raise _errors.bad_array_target(target, X.shape[1])
    if not 0 <= target < X.shape[1]:
        raise _errors.bad_array_target(target, X.shape[1])
    return _split(X, int(target))


def _beside(X: NDArray, path: Path, target: Path) -> ArraySource:
    if not target.exists():
        raise _errors.no_files(str(target))
    y = _mapped(target)
    if not y.ndim or len(y) != len(X):
        what = f"a target for each of the {len(X)} rows of {path}"
        raise _errors.bad_array(target, what, f"shape {y.shape}")
    return ArraySource(X, y)


def _split(X: NDArray, target: int) -> FileSource:
    """Return all columns but one as features, and that one as target."""
    source = ArraySource(X)

    def read(start: int) -> Rows:
        part = X[start : start + PIECE]
        features = np.delete(part, target, axis=1).astype(source.dtype, copy=False)
        return Rows(features, np.array(part[:, target]), None, 0)

    chunks = [
        Chunk(min(PIECE, len(X) - start), lambda start=start: read(start))
        for start in range(0, len(X), PIECE)
    ]
    return FileSource(chunks, X.shape[1] - 1, source.dtype)


def _mapped(path: Path) -> NDArray:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise _errors.unreadable(path, "", error) from error
