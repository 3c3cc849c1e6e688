"""Rows on a Dask cluster: blocks are mapped where they lie, and only sums travel.

The only module that knows Dask. A pass is a graph: each partition is folded on the worker that
holds it, and the results are combined in a tree of fixed shape. Tasks change nothing but what they
return, so a worker that dies costs time and no digit: its tasks run again elsewhere.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, final

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelm import _checks
from kernelm.data.chunks import Chunk, FileSource
from kernelm.data.frames import FrameColumns
from kernelm.data.progress import Progress
from kernelm.data.reduce import reduce, stream
from kernelm.data.source import ArraySource, Read, Rows

T = TypeVar("T")

FAN_IN = 4  # sums that a task of the tree combines
LEVEL_PARTS, LEVEL_ROWS = 8, 20_000  # partitions, and rows of each, that levels are taken from
_WINDOW = 4  # partitions a core whose results wait here for their turn


def from_dask(X: Any, y: Any = None, weight: Any = None) -> DaskSource:
    """Return the rows of Dask arrays or data frames as a source.

    Parameters
    ----------
    X : dask array (N, D) or dask data frame
        Inputs. Names in a frame become zeros and ones; their levels are taken from some rows of
        some partitions, and others that come up later are rows of zeros.
    y : dask array or series, or the name of a column of X, optional
        Targets.
    weight : dask array or series, or the name of a column of X, optional
        Row weights.

    Notes
    -----
    Rows stay where they are: ``client.persist(X)`` keeps them in the memory of the workers, else
    they are made anew in each pass. One small computation finds the lengths of partitions where
    Dask does not know them. Passes run on the default scheduler: that of a
    ``distributed.Client`` if there is one, else threads here.

    Examples
    --------
    >>> import dask.array as da
    >>> from kernelm import ELMRegressor
    >>> X = da.random.default_rng(0).standard_normal((2000, 3), chunks=(500, 3))
    >>> model = ELMRegressor(random_state=0).fit_source(from_dask(X, X[:, 0] ** 2))
    >>> print(f"{model.loo_score_:.2f}")
    1.00
    """
    _dask()
    if _is_frame(X):
        X, y, weight = _taken_out(X, y, weight)
    return _opened(X, y, weight, _columns(X) if _is_frame(X) else None)


def _opened(X: Any, y: Any, weight: Any, columns: FrameColumns | None) -> DaskSource:
    dask = _dask()
    parts = [_parts(rows, name) for rows, name in ((X, "X"), (y, "y"), (weight, "weight"))]
    names = tuple(map(str, X.columns)) if _is_frame(X) else None
    n_parts = len(parts[0])
    for name, others in zip(("y", "weight"), parts[1:], strict=True):
        if others and len(others) != n_parts:
            raise ValueError(
                f"{name} must have the partitions of X ({n_parts}), got {len(others)}; rechunk or "
                "repartition it"
            )
    lengths = _lengths(X, parts[0])
    dtype = _dtype(X, columns)
    starts = np.cumsum([0, *lengths])
    rows = [
        dask.delayed(_rows, pure=False)(*own, columns, dtype, int(start))
        for *own, start in zip(*(part or [None] * n_parts for part in parts), starts, strict=False)
    ]
    n_features = X.shape[1] if columns is None else len(columns.names)
    identity = str(
        joblib.hash([getattr(rows, "name", None) or str(rows) for rows in (X, y, weight)])
    )

    def reopen(names: tuple[str, ...], columns: FrameColumns | None) -> DaskSource:
        return _opened(X[list(names)], None, None, columns)

    again = reopen if _is_frame(X) else None
    return DaskSource(rows, lengths, int(n_features), dtype, names, columns, identity, again)


@final
@dataclass(frozen=True, eq=False)
class DaskSource:
    """Partitions of rows, each a task of a graph."""

    parts: Sequence[Any]  #: delayed :class:`Rows`
    lengths: Sequence[int]
    n_features: int
    dtype: np.dtype
    names: tuple[str, ...] | None
    columns: FrameColumns | None
    identity: str
    #: Takes other columns of a frame, encoded in a given way.
    reopen: Callable[[tuple[str, ...], FrameColumns | None], DaskSource] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.lengths)

    @cached_property
    def here(self) -> FileSource:
        """The same rows, fetched partition by partition."""
        chunks = [
            Chunk(n, lambda part=part: part.compute()._replace(start=0))
            for n, part in zip(self.lengths, self.parts, strict=True)
            if n
        ]
        return FileSource(
            chunks,
            self.n_features,
            self.dtype,
            self.names,
            self.columns,
            identity=self.identity,
        )

    def blocks(self, rows: int) -> Iterator[Read]:
        """Yield readers of consecutive blocks, which fetch the rows."""
        return self.here.blocks(rows)

    def stream(
        self, fn: Callable[[Rows], T], *, rows: int, progress: Progress | None = None
    ) -> Iterator[T]:
        """Yield ``fn(block)`` for every block, in order; it runs where the rows are."""
        dask = _dask()
        sent = dask.delayed(_Sent(fn), traverse=False, pure=False)
        tasks = [dask.delayed(_mapped, pure=False)(sent, part, rows) for part in self.parts]
        lengths = iter(self.lengths)
        for window in _groups(tasks, _WINDOW * _n_threads()):
            for results in dask.compute(*window):
                yield from results
                if progress is not None:
                    progress.advance(next(lengths))

    def reduce(
        self,
        fn: Callable[[Rows], T],
        combine: Callable[[T, T], T],
        *,
        rows: int,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> T | None:
        """Fold each partition where it is, and the results in a tree."""
        dask = _dask()
        sent = dask.delayed(_Sent((fn, combine)), traverse=False, pure=False)
        level = [dask.delayed(_folded, pure=False)(sent, part, rows) for part in self.parts]
        while len(level) > 1:
            level = [
                dask.delayed(_combined, pure=False)(sent, *group)
                for group in _groups(level, FAN_IN)
            ]
        (total,) = dask.compute(*level) if level else (None,)
        if progress is not None:
            progress.advance(self.n_rows)
        return total


@final
@dataclass(frozen=True, eq=False)
class _Sent:
    """Functions on their way to the workers; Dask shall not look for tasks in them."""

    what: Any


# -- on the workers -------------------------------------------------------------------------------


def _rows(X: Any, y: Any, weight: Any, columns: Any, dtype: np.dtype, start: int) -> Rows:
    """Return a partition as rows of numbers."""
    if columns is not None:
        X = columns.encode(X)
    X = X.tocsr().astype(dtype) if sparse.issparse(X) else np.asarray(X, dtype)
    return Rows(X, _plain(y), _plain(weight), start)


def _plain(values: Any) -> NDArray | None:
    """Return targets or weights as NumPy knows them; strings of data frames as objects."""
    return None if values is None else np.asarray(values)


def _mapped(sent: _Sent, part: Rows, rows: int) -> list[Any]:
    return list(stream(_source(part), _moved(sent.what, part.start), rows=rows, n_jobs=1))


def _folded(sent: _Sent, part: Rows, rows: int) -> Any:
    fn, combine = sent.what
    return reduce(_source(part), _moved(fn, part.start), combine, rows=rows, n_jobs=1)


def _combined(sent: _Sent, *totals: Any) -> Any:
    """Fold some results; they belong to other tasks, so the first is copied before it grows."""
    _, combine = sent.what
    there = [total for total in totals if total is not None]
    if not there:
        return None
    whole = copy.deepcopy(there[0])
    for total in there[1:]:
        whole = combine(whole, total)
    return whole


def _source(part: Rows) -> ArraySource:
    return ArraySource(part.X, part.y, part.weight)


def _moved(fn: Callable[[Rows], T], start: int) -> Callable[[Rows], T]:
    """Return a function of the blocks of a partition that tells it where they are in the whole."""
    return lambda rows: fn(rows._replace(start=rows.start + start))


# -- what Dask knows ------------------------------------------------------------------------------


def _dask() -> Any:
    try:
        import dask
    except ImportError as error:
        raise _checks.missing("from_dask", "dask", "dask") from error
    return dask


def _groups(tasks: list[Any], n: int) -> list[list[Any]]:
    return [tasks[k : k + n] for k in range(0, len(tasks), n)]


def _n_threads() -> int:
    """Return how many tasks run at the same time."""
    try:
        from distributed import get_client

        workers: Any = get_client().nthreads()
        return sum(workers.values()) or 1
    except (ImportError, ValueError):
        return joblib.cpu_count()


def _is_frame(X: Any) -> bool:
    return hasattr(X, "npartitions") and hasattr(X, "columns") and hasattr(X, "map_partitions")


def _taken_out(X: Any, y: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Return a frame without the columns that are named as targets or weights, and those."""
    named = [name for name in (y, weight) if isinstance(name, str)]
    unknown = [name for name in named if name not in X.columns]
    if unknown:
        raise ValueError(f"X must have the column {unknown[0]!r}; it has {list(X.columns)}")
    y, weight = (X[name] if isinstance(name, str) else name for name in (y, weight))
    return X[[name for name in X.columns if name not in named]], y, weight


def _parts(rows: Any, name: str) -> list[Any]:
    """Return the partitions of an array or a frame, with all its columns in each."""
    if rows is None:
        return []
    if not hasattr(rows, "to_delayed"):
        raise ValueError(
            f"{name} must be a Dask array or data frame, got {type(rows).__name__}; for rows in "
            "memory use fit(X, y)"
        )
    if hasattr(rows, "numblocks") and rows.ndim == 2 and rows.numblocks[1] > 1:
        rows = rows.rechunk({1: -1})
    parts = rows.to_delayed()
    return list(parts.ravel()) if isinstance(parts, np.ndarray) else list(parts)


def _lengths(X: Any, parts: list[Any]) -> list[int]:
    known = X.chunks[0] if hasattr(X, "chunks") else (np.nan,)
    if not np.isnan(known).any():
        return [int(n) for n in known]
    dask = _dask()
    return list(dask.compute(*(dask.delayed(_n_rows, pure=False)(part) for part in parts)))


def _n_rows(part: Any) -> int:
    return int(part.shape[0])


def _dtype(X: Any, columns: FrameColumns | None) -> np.dtype:
    kinds = [X.dtype] if columns is None and hasattr(X, "dtype") else list(X.dtypes)
    single = columns is None and all(kind == np.float32 for kind in kinds)
    return np.dtype(np.float32 if single else np.float64)


def _columns(X: Any) -> FrameColumns | None:
    """Return how a frame becomes numbers, from some rows of some partitions."""
    at = np.unique(np.linspace(0, X.npartitions - 1, LEVEL_PARTS).astype(int))
    heads = [X.get_partition(int(k)).head(LEVEL_ROWS, compute=False) for k in at]
    some = _dask().compute(*heads)
    import pandas as pd

    return FrameColumns.of(pd.concat(some, ignore_index=True))
