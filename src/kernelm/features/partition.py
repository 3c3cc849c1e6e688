r"""Which part of the space does a row lie in? A balanced tree of cuts, frozen from a sample.

Every node cuts its part in two halves at the median of a projection :math:`x \cdot w`, so that
leaves hold about as many rows each. Cuts come from a seeded sample: rows in memory, in a file or
on other machines give the same tree, and one pass tells every row its leaf.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse

from kernelm import _checks

_SOME_ROWS = 8192  # for the direction of many inputs
_NARROW = 128  # inputs up to which an eigendecomposition is the faster way

#: How a node chooses its direction.
DIRECTIONS = ("principal", "random")


@final
@dataclass(frozen=True, eq=False)
class Partition:
    """A complete tree of cuts; leaves are numbered from left to right.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(8.0)[:, None]
    >>> tree = Partition.fit(X, depth=2, seed=0)
    >>> np.bincount(tree.leaves(X))
    array([2, 2, 2, 2])
    """

    W: NDArray  #: (D, n) directions, node by node, the root first, children 2i + 1 and 2i + 2
    cut: NDArray  #: (n,) a row goes right if its projection is larger
    margin: NDArray  #: (n,) rows this close to a cut belong to both sides
    depth: int

    @classmethod
    def fit(
        cls, X: Any, depth: int, *, direction: str = "random", overlap: float = 0.0, seed: int = 0
    ) -> Self:
        """Cut rows of a sample.

        Parameters
        ----------
        X : array or CSR matrix
            Rows, in the units of the kernel.
        depth : int
            There are ``2**depth`` leaves.
        direction : "principal" or "random"
            Cut along the direction in which the rows of a node vary most; or along a random
            combination of them, which prefers directions in which they vary.
        overlap : float
            Share of the rows of a node that lies so close to its cut that both sides train on it.
        seed : int
            Of random directions.
        """
        _checks.one_of(direction, "direction", DIRECTIONS)
        rng = np.random.default_rng([seed, 9])
        n, D = 2**depth - 1, X.shape[1]
        W, cut, margin = np.zeros((D, n)), np.zeros(n), np.zeros(n)
        parts = {0: np.arange(X.shape[0])}
        for node in range(n):
            rows = parts.pop(node)
            R = X[rows]
            W[:, node] = _principal(R) if direction == "principal" else _random(R, rng)
            place = np.asarray(R @ W[:, node]).ravel()
            cut[node], margin[node] = _middle(place, overlap)
            right = place > cut[node]
            parts[2 * node + 1], parts[2 * node + 2] = rows[~right], rows[right]
        return cls(W, cut, margin, depth)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return 2**self.depth

    def leaves(self, X: Any) -> NDArray:
        """Return the leaf of each row."""
        gap = self._gaps(X)
        rows, node = np.arange(X.shape[0]), np.zeros(X.shape[0], np.intp)
        for _ in range(self.depth):
            node = 2 * node + 1 + (gap[rows, node] > 0)
        return node - (self.n_leaves - 1)

    def shared(self, X: Any) -> tuple[NDArray, NDArray]:
        """Return rows and leaves of all memberships: rows near a cut are on both sides of it."""
        gap = self._gaps(X)
        rows, node = np.arange(X.shape[0]), np.zeros(X.shape[0], np.intp)
        for _ in range(self.depth):
            here = gap[rows, node]
            right = here > 0
            both = np.flatnonzero(np.abs(here) < self.margin[node])
            other = 2 * node[both] + 1 + ~right[both]
            node = np.concatenate([2 * node + 1 + right, other])
            rows = np.concatenate([rows, rows[both]])
        return rows, node - (self.n_leaves - 1)

    def _gaps(self, X: Any) -> NDArray:
        """Return how far right of every cut each row is: one product for all nodes."""
        return np.asarray(X @ self.W.astype(X.dtype)) - self.cut.astype(X.dtype)


def _middle(place: NDArray, overlap: float) -> tuple[float, float]:
    """Return the median, between two values that differ, and the margin that holds a share."""
    if not len(place):
        return 0.0, 0.0
    values = np.unique(place)
    middle = np.median(place)
    # Equal values stay on one side: cut where the halves are most alike.
    at = np.clip(np.searchsorted(values, middle, side="right"), 1, max(len(values) - 1, 1))
    options = [values[k - 1 : k + 1].mean() for k in {at, max(at - 1, 1)}]
    cut = min(options, key=lambda c: abs(np.mean(place > c) - 0.5))
    return float(cut), _margin(np.abs(place - cut), overlap) if overlap else 0.0


def _margin(distances: NDArray, share: float) -> float:
    """Return a margin that holds a share of the rows: halfway between two of them.

    The last bit of a projection depends on how many rows are projected together, and must not
    decide. The two rows that a cut runs between are equally far from it: both are inside.

    Examples
    --------
    >>> _margin(np.array([1.0, 1.0, 3.0, 4.0]), 0.5)
    2.0
    """
    inside = min(max(round(share * len(distances)), 2), len(distances) - 1)
    return float(np.sort(distances)[max(inside - 1, 0) : inside + 1].mean())


def _random(R: Any, rng: Generator) -> NDArray:
    """Return a random combination of centred rows."""
    g = rng.standard_normal(R.shape[0])
    return _unit(np.asarray(R.T @ (g - g.mean() if len(g) > 1 else g)).ravel())


def _principal(R: Any) -> NDArray:
    """Return the leading principal direction; of many inputs by a few power steps on some rows."""
    if not R.shape[0]:
        return np.zeros(R.shape[1])
    if R.shape[1] > _NARROW:
        R = R[:: -(-R.shape[0] // _SOME_ROWS)]
    R = R.astype(np.float64)
    mean = np.asarray(R.mean(axis=0)).ravel()
    if R.shape[1] <= _NARROW:
        products = R.T @ R
        C = products.toarray() if sparse.issparse(products) else products
        w = np.linalg.eigh(C - R.shape[0] * np.outer(mean, mean))[1][:, -1]
        return w * (np.sign(w[np.abs(w).argmax()]) or 1.0)
    w = _unit(np.asarray(abs(R).sum(axis=0)).ravel())
    for _ in range(20):
        score = np.asarray(R @ w).ravel() - mean @ w
        w = _unit(np.asarray(R.T @ score).ravel() - score.sum() * mean)
    return w


def _unit(w: NDArray) -> NDArray:
    return w / (np.linalg.norm(w) or 1.0)
