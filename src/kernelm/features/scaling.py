"""Inputs brought to unit scale, frozen from a sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelm import _checks

_SMALLEST = 1e-300  # smaller inputs count as zero: the inverse of their scale would overflow
_MANY = 2**20  # inputs of a block from which on compiled sweeps pay for their import
_FITTED = 2**19  # inputs that are summed at a time: in double precision a cache still holds them


@final
@dataclass(frozen=True, eq=False)
class InputScaler:
    """Centre and scale columns so that a row has length one in the root mean square.

    Rows of unit length make one weight scale suit any number of inputs. Dense columns are
    standardised first. Sparse columns are left as they are, and only the length is set: to
    centre them would fill the matrix, and to blow up rare columns to unit variance hurts.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 100.0], [2.0, 300.0]])
    >>> InputScaler.fit(X).transform(X).round(3)
    array([[-0.707, -0.707],
           [ 0.707,  0.707]])
    """

    mean: NDArray  #: (D,), or zeros where nothing is centred
    scale: NDArray  #: (D,) factors, 1/(standard deviation · length)
    root: bool = False  #: take square roots first, √|x| with the sign of x

    @classmethod
    def fit(
        cls,
        X: Any,
        weight: NDArray | None = None,
        *,
        unit_length: bool = True,
        alike: bool = False,
        root: bool = False,
    ) -> Self:
        """Freeze column means and scales of a sample.

        Without ``unit_length`` dense columns are standardised and no more. Columns that are
        ``alike``, such as pixels, are all scaled by the same number: a pixel that is nearly
        always black must not count as much as the others. Square roots (``root``) make counts
        and intensities vary alike, whether they are small or large.
        """
        X, weight = counted(X, weight)
        X = _signed_root(X) if root else X
        w = np.ones(X.shape[0]) if weight is None else weight
        w = w / w.sum()
        if sparse.issparse(X):
            return cls(*_same(0.0, 1.0 / _length(X, w), X.shape[1]), root)
        top, mean, std = _column_moments(X, w)
        varies = std > 10 * np.finfo(np.float64).eps
        std[~varies] = 1.0
        length = np.sqrt(max(varies.sum(), 1)) if unit_length else 1.0
        spread = std * top
        if alike and varies.any():
            largest = spread[varies].max()
            spread = np.full_like(
                spread, largest * np.sqrt(np.mean((spread[varies] / largest) ** 2))
            )
        return cls(mean * top, 1.0 / spread / length, root)

    @classmethod
    def identity(cls, n_features: int) -> Self:
        """Return the scaler that leaves inputs alone."""
        return cls(*_same(0.0, 1.0, n_features))

    @property
    def fills(self) -> bool:
        """Whether sparse rows become dense ones."""
        return bool(self.mean.any())

    @property
    def changes(self) -> bool:
        """Whether any input comes out other than it went in."""
        return self.root or self.fills or bool((self.scale != 1).any())

    def weighted(self, weights: NDArray) -> Self:
        """Return the scaler whose columns are multiplied by ``weights`` as well."""
        return type(self)(self.mean, self.scale * weights, self.root)

    def sweep(self, X: Any, S: NDArray) -> None:
        """Write what :meth:`transform` returns for dense rows, in one compiled sweep."""
        from kernelm.features._scaling_loops import standardise

        X = _signed_root(X) if self.root else X
        # Arrays of one kind: each other kind would be compiled anew.
        mean, scale = (np.require(v, np.float64, ["C", "W"]) for v in (self.mean, self.scale))
        for v in (mean, scale):  # compiled loops never look
            _checks.known_columns(X.shape[1], len(v), "X")
        standardise(_read_only(X), mean, scale, S)

    def transform(self, X: Any) -> Any:
        """Return scaled rows in the dtype of X; sparse rows stay sparse."""
        if not sparse.issparse(X) and _is_swept(X):
            S = np.empty(X.shape, X.dtype)
            self.sweep(X, S)
            return S
        X = _signed_root(X) if self.root else X
        if sparse.issparse(X) and self.mean.any():
            X = X.toarray()  # frozen from dense rows: the same map, whatever form a row has
        if sparse.issparse(X):
            X = X.tocsr(copy=True)
            # Entry by entry: a product with a diagonal walks over all columns, used or not.
            X.data *= self.scale[X.indices].astype(X.dtype)
            return X
        # The difference of large numbers is taken in double precision.
        return ((X - self.mean) * self.scale).astype(X.dtype, copy=False)


@final
@dataclass(frozen=True)
class RowNormalizer:
    """Square roots, then each row less its own mean and divided by its own length.

    Nothing is learned from other rows. Roots keep the sign of their entries; a row of equal
    entries becomes zero. Sparse rows become dense ones.

    References
    ----------
    Andrecut (2023), ELM ridge regression boosting, eq. 21.

    Examples
    --------
    >>> import numpy as np
    >>> RowNormalizer().transform(np.array([[0.0, 4.0, 16.0], [1.0, 1.0, 1.0]])).round(3)
    array([[-0.707,  0.   ,  0.707],
           [ 0.   ,  0.   ,  0.   ]])
    """

    fills = True  #: sparse rows become dense ones
    changes = True  #: rows come out other than they went in

    def transform(self, X: Any) -> NDArray:
        """Return normalised rows in the dtype of X."""
        X = X.toarray() if sparse.issparse(X) else X
        S = np.empty(X.shape, X.dtype)
        self.sweep(X, S)
        return S

    def sweep(self, X: NDArray, S: NDArray) -> None:
        """Write what :meth:`transform` returns for dense rows."""
        from kernelm.features._scaling_loops import normalise

        # Equal entries leave rounding only, which must not be blown up.
        normalise(X, X.dtype.type(X.shape[1] * np.finfo(X.dtype).eps), S)


def scaled_chunks(
    scaler: InputScaler | RowNormalizer | None, X: Any, rows: int
) -> Iterator[tuple[slice, Any]]:
    """Yield the places of some rows at a time, and these rows scaled.

    What is yielded is overwritten by what comes next: it stays in the cache, and new memory
    for all rows would cost as much as the scaling.

    Examples
    --------
    >>> import numpy as np
    >>> scaler = InputScaler.identity(2).weighted(np.array([1.0, 10.0]))
    >>> [(at.start, S.tolist()) for at, S in scaled_chunks(scaler, np.ones((3, 2)), 2)]
    [(0, [[1.0, 10.0], [1.0, 10.0]]), (2, [[1.0, 10.0]])]
    """
    if scaler is not None and sparse.issparse(X):
        X, scaler = scaler.transform(X), None
    swept = scaler is not None and _is_swept(X)
    buffer = np.empty((min(rows, X.shape[0]), X.shape[1]), X.dtype) if swept else None
    for start in range(0, X.shape[0], rows):
        at = slice(start, start + rows)
        chunk = X[at]
        if scaler is None:
            yield at, chunk
        elif buffer is None:
            yield at, scaler.transform(chunk)
        else:
            S = buffer[: len(chunk)]
            scaler.sweep(chunk, S)
            yield at, S


def _is_swept(X: Any) -> bool:
    """Whether dense rows are many, and lie one after the other as compiled loops read them."""
    return X.size > _MANY and X.flags.c_contiguous


def _read_only(X: NDArray) -> NDArray:
    view = X.view()
    view.flags.writeable = False
    return view


def _column_moments(X: NDArray, share: NDArray) -> NDArray:
    """Return largest absolute values of columns, and means and deviations in units of them."""
    moments = np.empty((3, X.shape[1]))
    # Some columns at a time: new memory for all of them would cost more than the arithmetic.
    step = max(1, _FITTED // max(X.shape[0], 1))
    for start in range(0, X.shape[1], step):
        at = slice(start, start + step)
        U = np.array(X[:, at], np.float64)
        # Means of huge values could overflow as sums; scaled to their maximum they cannot.
        top = np.maximum(U.max(axis=0), -U.min(axis=0))
        top[top < _SMALLEST] = 1.0
        U /= top
        mean = share @ U
        U -= mean
        U *= U
        moments[:, at] = top, mean, np.sqrt(share @ U)
    return moments


def _same(mean: float, scale: float, n_features: int) -> tuple[NDArray, NDArray]:
    """Return the same numbers for all columns: millions of them take no memory."""
    return np.broadcast_to(mean, n_features), np.broadcast_to(scale, n_features)


def _signed_root(X: Any) -> Any:
    """Return √|x| with the sign of x; sparse rows stay sparse."""
    if sparse.issparse(X):
        return abs(X).sqrt().multiply(X.sign()).tocsr()
    return np.copysign(np.sqrt(np.abs(X)), X)


def counted(X: Any, weight: NDArray | None) -> tuple[Any, NDArray | None]:
    """Return the rows that have a weight: those of weight 0 shape nothing."""
    if weight is None or not np.any(weight):
        return X, None
    counts = weight > 0
    return (X, weight) if counts.all() else (X[counts], weight[counts])


def _length(X: Any, share: NDArray) -> float:
    """Return the root mean square length of sparse rows."""
    squares = X.astype(np.float64)
    squares.sum_duplicates()
    top = abs(squares).max() if squares.nnz else 0.0
    if top < _SMALLEST:
        return 1.0
    squares.data = (squares.data / top) ** 2
    return float(top * np.sqrt(share @ np.asarray(squares.sum(axis=1)).ravel())) or 1.0
