"""Which rows are nearest to each row? Exactly, or by a few random trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from kernelm.kernels._blocks import row_sq_norms
from kernelm.kernels.distances import squared_distances

_LEAF = 256  # rows of a leaf: all pairs of them are compared
_TREES = 6


def nearest(X: Any, n_neighbors: int, *, approximate: bool = False, seed: int = 0) -> NDArray:
    """Return the positions of the nearest rows of each row, itself left out, (N, B).

    There are fewer than ``n_neighbors`` where there are fewer other rows. The approximate form
    compares rows that share a leaf of a random tree, for a few trees: linear in the rows but for
    a logarithm, where exact distances in many dimensions are quadratic.

    Examples
    --------
    >>> import numpy as np
    >>> nearest(np.array([[0.0], [1.0], [5.0]]), 1).ravel()
    array([1, 0, 1])
    """
    B = min(n_neighbors, X.shape[0] - 1)
    if B < 1:
        return np.empty((X.shape[0], 0), np.intp)
    if not approximate or X.shape[0] <= 4 * _LEAF:
        return NearestNeighbors(n_neighbors=B).fit(X).kneighbors(return_distance=False)
    rng = np.random.default_rng([seed, 5])
    N = X.shape[0]
    index, square = np.zeros((N, 0), np.intp), np.zeros((N, 0))
    for _ in range(_TREES):
        found, far = np.zeros((N, B), np.intp), np.zeros((N, B))
        for leaf in _leaves(X, rng, max(_LEAF, 2 * B)):
            D = squared_distances(X[leaf])
            np.fill_diagonal(D, np.inf)
            at = np.argpartition(D, B - 1, axis=1)[:, :B]
            found[leaf], far[leaf] = leaf[at], np.take_along_axis(D, at, axis=1)
        index, square = _closest(np.hstack([index, found]), np.hstack([square, far]), B)
    return index


def _closest(index: NDArray, square: NDArray, B: int) -> tuple[NDArray, NDArray]:
    """Return the nearest B of some candidates of each row, each of them once."""
    order = np.argsort(index, axis=1, kind="stable")
    index = np.take_along_axis(index, order, axis=1)
    square = np.take_along_axis(square, order, axis=1)
    square[:, 1:][index[:, 1:] == index[:, :-1]] = np.inf
    order = np.argsort(square, axis=1, kind="stable")[:, :B]
    return np.take_along_axis(index, order, axis=1), np.take_along_axis(square, order, axis=1)


def _leaves(X: Any, rng: Generator, size: int) -> Iterator[NDArray]:
    """Yield the rows of each leaf: halves at the median of the difference of two random rows."""
    waiting = [np.arange(X.shape[0])]
    while waiting:
        rows = waiting.pop()
        if len(rows) <= size:
            yield rows
            continue
        a, b = rng.choice(rows, 2, replace=False)
        direction = X[[b]] - X[[a]]
        length = float(row_sq_norms(direction)[0]) or 1.0
        product = X[rows] @ direction.T
        place = np.asarray(product.todense() if hasattr(product, "todense") else product)
        # Equal rows are kept apart by chance, not all in one half.
        order = np.lexsort((rng.random(len(rows)), place.ravel() / length))
        half = len(rows) // 2
        waiting += [rows[order[:half]], rows[order[half:]]]
