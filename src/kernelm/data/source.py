"""Where rows come from: anything that can be read block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, final, runtime_checkable

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse


class Rows(NamedTuple):
    """A block of rows with the position of its first one."""

    X: Any  #: dense (n, D) array or CSR matrix
    y: NDArray | None  #: targets, (n,) or (n, C)
    weight: NDArray | None  #: row weights, (n,)
    start: int  #: position of the first row in the source

    @property
    def n(self) -> int:
        """Number of rows in the block."""
        return self.X.shape[0]


#: Reads one block. Reading is left to the worker that needs the block.
Read = Callable[[], Rows]


@runtime_checkable
class Source(Protocol):
    """Rows that can be read again and again, in the same order."""

    @property
    def n_rows(self) -> int | None:
        """Number of rows, or None where only a pass can tell."""
        ...

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        ...

    @property
    def dtype(self) -> np.dtype:
        """Of X: float32 or float64."""
        ...

    def blocks(self, rows: int) -> Iterator[Read]:
        """Yield readers of consecutive blocks of at most ``rows`` rows."""
        ...


def width(source: Source, *, fills: bool = False) -> float:
    """Return how many numbers a row holds: its columns, or its entries where rows stay sparse.

    Ten million columns of which a row has fifty must not make blocks of a single row.
    """
    entries = None if fills else getattr(source, "row_entries", None)
    return source.n_features if entries is None else entries


@final
@dataclass(frozen=True, eq=False)
class ArraySource:
    """Rows of arrays in memory, of CSR matrices, or of memory-mapped files.

    Parameters
    ----------
    X : ndarray, memmap or CSR matrix of shape (N, D)
        Inputs. A memory-mapped array is read block by block, never as a whole.
    y : ndarray of shape (N,) or (N, C), optional
        Targets.
    weight : ndarray of shape (N,), optional
        Row weights.

    Examples
    --------
    >>> import numpy as np
    >>> source = ArraySource(np.zeros((10, 3)), np.arange(10))
    >>> [read().n for read in source.blocks(4)]
    [4, 4, 2]
    """

    X: Any
    y: NDArray | None = None
    weight: NDArray | None = None

    def __post_init__(self) -> None:
        if self.X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got shape {self.X.shape}")
        for name in ("y", "weight"):
            array = getattr(self, name)
            if array is not None and len(array) != self.X.shape[0]:
                raise ValueError(
                    f"{name} must have one entry for each row of X ({self.X.shape[0]}), "
                    f"got {len(array)}"
                )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self.X.shape[1]

    @property
    def dtype(self) -> np.dtype:
        """float32 where X is float32, else float64."""
        return np.dtype(np.float32 if self.X.dtype == np.float32 else np.float64)

    @property
    def row_entries(self) -> float | None:
        """Entries of a row in the mean where rows are sparse, else None."""
        return self.X.nnz / max(self.n_rows, 1) if sparse.issparse(self.X) else None

    @cached_property
    def identity(self) -> str:
        """A hash of shapes and of some rows, to tell one set of rows from another."""
        some = np.unique(np.linspace(0, max(self.n_rows - 1, 0), 64).astype(int))
        rows = self.take(some) if self.n_rows else None
        return str(joblib.hash((self.X.shape, rows)))

    def blocks(self, rows: int) -> Iterator[Read]:
        """Yield readers of consecutive slices."""
        for start in range(0, self.n_rows, rows):
            yield lambda at=slice(start, start + rows): self._read(at)

    def take(self, indices: NDArray) -> Rows:
        """Return chosen rows at once (sources that can jump offer this)."""
        return self._read(indices)

    def _read(self, at: slice | NDArray) -> Rows:
        X = self.X[at]
        X = X.astype(self.dtype, copy=False) if sparse.issparse(X) else np.asarray(X, self.dtype)
        start = (at.start or 0) if isinstance(at, slice) else 0
        return Rows(
            X,
            None if self.y is None else self.y[at],
            None if self.weight is None else self.weight[at],
            start,
        )
