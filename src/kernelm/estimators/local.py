r"""Exact kernel machines in the leaves of a tree: costs N·leaf² where one for all costs N³.

A :class:`~kernelm.features.Partition` cuts the space into leaves of equal size; each holds a kernel
ridge regression on its own rows and, near the cuts, on rows of its neighbours. A row is scored by
its leaf, and by the mean over trees if there are several. Leaves are independent of each other,
so that leaving out a row changes only its own leaf (of each tree): leave-one-out residuals of the
leaves are those of the whole, with the tree and the scales of the kernels held fixed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelm.data import ArraySource, Rows, Sample, block_rows, effective_jobs, pooled, stream
from kernelm.data.targets import Targets
from kernelm.estimators.sensitivity import squared_slopes
from kernelm.features import InputScaler, Partition
from kernelm.kernels import Kernel
from kernelm.ridge import DualCholesky, Path, Status, Weights
from kernelm.tasks import Coded

SLOPE_LEAVES, SLOPE_ROWS = 6, 128  # leaves, and rows in each, at which slopes are taken
_ROUTED_BYTES = 2**26  # of projections at a time
_SCORED_ROWS = 4096  # whose columns are made at a time
_SAFE = 10  # times the rounding of a leaf: alphas above this are solved in single precision


class Leaf(NamedTuple):
    """A kernel machine on some rows."""

    rows: NDArray  #: positions among the training rows
    kernel: Kernel
    weights: Weights
    alpha: float
    degrees: float  #: effective degrees of freedom
    status: Status

    def scores(self, S: Any, training: Any) -> NDArray:
        """Return scores of scaled rows, in double precision where the weights need it."""
        W, b = self.weights
        if not len(self.rows):  # one class, or no rows: a constant
            return np.tile(b, (S.shape[0], 1)).astype(S.dtype)
        Z = training[self.rows]
        dtype = np.result_type(S.dtype, W.dtype)
        K = self.kernel.gram(S.astype(dtype, copy=False), Z.astype(dtype, copy=False))
        return K @ W.astype(dtype, copy=False) + b.astype(dtype)

    def squared_slopes(self, training: Any, at: NDArray) -> NDArray:
        """Return mean squared slopes along the scaled inputs, at some of the rows."""
        Z = training[self.rows].astype(np.float64)
        at = at[at < len(self.rows)]
        return squared_slopes(self.kernel, Z[at], Z, self.weights.coef.astype(np.float64))


class Tree(NamedTuple):
    """Cuts, and a machine in every leaf."""

    partition: Partition
    leaves: list[Leaf]


class LocalSolution(NamedTuple):
    """What estimators tell about any solved machine."""

    alpha: float
    path: Path
    status: Status
    degrees: float
    n_rows: int
    units_path: dict[int, float]

    @property
    def factor(self) -> LocalSolution:
        """Itself: it knows its degrees of freedom."""
        return self

    def df(self, alpha: float) -> float:
        """Return the effective degrees of freedom, of all leaves together."""
        return self.degrees


@final
@dataclass(eq=False)
class LocalMachine(Coded):
    """Fitted trees of kernel machines; rows are kept once for all of them."""

    scaler: InputScaler
    targets: Targets
    sample: Sample
    S: Any  #: (N, D) training rows, scaled
    trees: list[Tree]
    residuals: NDArray  #: leave-one-out residuals of the kept rows, (n, C)
    solution: LocalSolution
    squared_slopes: NDArray | None = None  #: mean squared slopes along scaled inputs, if known
    class_weight: NDArray | None = None
    n_jobs: int | None = None

    def predict(self, X: Any) -> NDArray:
        """Return scores of any number of rows, leaf by leaf."""
        source = ArraySource(X)
        scores = np.zeros((source.n_rows, self.targets.n_columns), source.dtype)
        for tree in self.trees:
            for _ in self._each(
                partial(self._score, source, tree, scores), self._tasks(tree, source)
            ):
                pass
        scores /= len(self.trees)
        return scores

    def _tasks(self, tree: Tree, source: ArraySource) -> list[tuple[int, NDArray]]:
        """Return leaves and some of the rows that belong to each."""
        found = list(routed(source, self.scaler, tree.partition, n_jobs=self.n_jobs))
        leaf = np.concatenate(found)
        order = np.argsort(leaf, kind="stable")
        ends = np.cumsum(np.bincount(leaf, minlength=tree.partition.n_leaves))
        groups = enumerate(np.split(order, ends[:-1]))
        return [
            (k, rows[start : start + _SCORED_ROWS])
            for k, rows in groups
            for start in range(0, len(rows), _SCORED_ROWS)
        ]

    def _score(
        self, source: ArraySource, tree: Tree, scores: NDArray, task: tuple[int, NDArray]
    ) -> None:
        k, rows = task
        S = self.scaler.transform(source.take(rows).X)
        scores[rows] += tree.leaves[k].scores(S, self.S)

    def _each(self, work: Any, tasks: list[Any]) -> Iterator[None]:
        if len(tasks) == 1:  # a single row shall not wait for threads
            return map(work, tasks)
        return pooled(work, iter(tasks), effective_jobs(self.n_jobs))

    def mean_squared_slopes(self) -> NDArray:
        """Return mean squared slopes along the scaled inputs, in some of the leaves."""
        if self.squared_slopes is not None:
            return self.squared_slopes
        leaves = [leaf for tree in self.trees for leaf in tree.leaves if len(leaf.rows)]
        some = leaves[:: max(1, len(leaves) // SLOPE_LEAVES)][:SLOPE_LEAVES]
        each = [leaf.squared_slopes(self.S, np.arange(SLOPE_ROWS)) for leaf in some]
        return np.mean(each, axis=0) if each else np.zeros(self.n_features_in)

    def _sample_residuals(self) -> NDArray:
        return self.residuals

    @property
    def phi(self) -> LocalMachine:
        """Itself: it maps inputs, and knows how many rows it keeps."""
        return self

    @property
    def n_features_in(self) -> int:
        """Number of inputs."""
        return len(self.scaler.mean)


def routed(
    source: Any, scaler: InputScaler, partition: Partition, n_jobs: int | None = None
) -> Iterator[NDArray]:
    """Yield the leaves of the rows, block by block."""

    def route(rows: Rows) -> NDArray:
        return partition.leaves(scaler.transform(rows.X))

    return stream(source, route, rows=routed_rows(source, partition, n_jobs), n_jobs=n_jobs)


def routed_rows(source: Any, partition: Partition, n_jobs: int | None) -> int:
    """Return how many rows are routed at a time."""
    per_row = source.dtype.itemsize * (3 * len(partition.cut) + 3 * source.n_features + 16)
    rows = block_rows(per_row, source.n_rows, n_jobs)
    return max(1, min(rows, int(_ROUTED_BYTES / per_row)))


def fit_leaf(
    S: Any,
    rows: NDArray,
    Y: NDArray,
    kernel: Kernel,
    alpha: float,
    weight: NDArray | None,
    part: NDArray | None,
    *,
    intercept: bool,
    seed: int,
) -> tuple[Leaf, NDArray]:
    """Fit a machine to rows; return it with their leave-one-out residuals.

    Parameters
    ----------
    S : array or CSR matrix
        All training rows, scaled.
    rows : ndarray
        Which of them the leaf holds.
    Y, weight, part : ndarray
        Of these rows: codes, weights, and the part of each weight that one observation is.
    kernel : Kernel
        Scales such as "median" are taken from the leaf.
    alpha : float
        Ridge strength.
    intercept : bool
        Fit an unpenalised intercept.
    seed : int
        Of the rows that scales are taken from.
    """
    C = Y.shape[1]
    if not len(rows) or (intercept and (Y[:1] == Y).all()):
        b = Y[0].astype(np.float64) if len(rows) else np.zeros(C)
        weights = Weights(np.zeros((0, C)), b)
        leaf = Leaf(rows[:0], kernel, weights, alpha, float(len(rows) > 0), Status.OK)
        return leaf, np.zeros((len(rows), C))
    Z = S[rows]
    own = kernel.resolve(Z, weight, seed)

    def solved(Z: Any) -> DualCholesky:
        return DualCholesky.of(own.gram(Z), Y, alpha, weight, intercept=intercept, overwrite=True)

    single = Z.dtype == np.float32
    if single and not _is_safe(alpha, len(rows), float(own.diag(Z).mean())):
        single, Z = False, Z.astype(np.float64)
    dual = solved(Z)
    if single and dual.status is not Status.OK:
        # Kernels of the distance itself may lose definiteness in single precision.
        Z = Z.astype(np.float64)
        dual = solved(Z)
    dtype = Z.dtype
    weights = Weights(dual.weights.coef.astype(dtype), dual.weights.intercept)
    leaf = Leaf(rows, own, weights, dual.alpha, dual.df(alpha), dual.status)
    return leaf, dual.loo_residuals(part)


def _is_safe(alpha: float, n: int, diagonal: float) -> bool:
    return alpha >= _SAFE * n * float(np.finfo(np.float32).eps) * diagonal


def stacked(parts: list[Any]) -> Any:
    """Return blocks of rows as one, dense or CSR."""
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)
