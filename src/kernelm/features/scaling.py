"""Inputs brought to unit scale, frozen from a sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_SMALLEST = 1e-300  # smaller inputs count as zero: the inverse of their scale would overflow


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
        X = np.asarray(X, np.float64)
        # Means of huge values could overflow as sums; scaled to their maximum they cannot.
        top = np.abs(X).max(axis=0)
        top[top < _SMALLEST] = 1.0
        U = X / top
        mean = w @ U
        std = np.sqrt(w @ (U - mean) ** 2)
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

    def weighted(self, weights: NDArray) -> Self:
        """Return the scaler whose columns are multiplied by ``weights`` as well."""
        return type(self)(self.mean, self.scale * weights, self.root)

    def sweep(self, X: Any, S: NDArray) -> None:
        """Write what :meth:`transform` returns for dense rows, in one compiled sweep."""
        from kernelm.features._scaling_loops import standardise

        standardise(_signed_root(X) if self.root else X, self.mean, self.scale, S)

    def transform(self, X: Any) -> Any:
        """Return scaled rows in the dtype of X; sparse rows stay sparse."""
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
