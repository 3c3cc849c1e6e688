"""Inputs brought to unit scale, frozen from a sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


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

    @classmethod
    def fit(cls, X: Any, weight: NDArray | None = None) -> Self:
        """Freeze column means and scales of a sample."""
        w = np.ones(X.shape[0]) if weight is None else np.asarray(weight, np.float64)
        w = w / max(w.sum(), np.finfo(np.float64).tiny)
        if sparse.issparse(X):
            squares = w @ np.asarray(X.multiply(X).astype(np.float64).sum(axis=1)).ravel()
            length = np.sqrt(squares) or 1.0
            return cls(np.zeros(X.shape[1]), np.full(X.shape[1], 1.0 / length))
        X = np.asarray(X, np.float64)
        # Means of huge values could overflow as sums; scaled to their maximum they cannot.
        top = np.abs(X).max(axis=0)
        top[top == 0] = 1.0
        U = X / top
        mean = w @ U
        std = np.sqrt(w @ (U - mean) ** 2)
        varies = std > 10 * np.finfo(np.float64).eps
        std[~varies] = 1.0
        length = np.sqrt(max(varies.sum(), 1))
        return cls(mean * top, 1.0 / (std * top) / length)

    @classmethod
    def identity(cls, n_features: int) -> Self:
        """Return the scaler that leaves inputs alone."""
        return cls(np.zeros(n_features), np.ones(n_features))

    def transform(self, X: Any) -> Any:
        """Return scaled rows in the dtype of X; sparse rows stay sparse."""
        if sparse.issparse(X):
            return (X @ sparse.diags_array(self.scale.astype(X.dtype))).tocsr()
        # The difference of large numbers is taken in double precision.
        return ((X - self.mean) * self.scale).astype(X.dtype, copy=False)
