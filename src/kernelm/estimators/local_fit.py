"""Fitting local kernel machines: a metric that suits leaves, a kernel, an alpha, then all leaves.

What is chosen is chosen on a few *probe* leaves, by closed-form leave-one-out in them: the error
of a leaf is an honest sample of the error of all. The metric comes first. Slopes of the probe
machines say how much each input counts; inputs are weighed by them, the tree is cut anew, and
again while the leave-one-out error falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.data import Progress, Rows, Sample, Source, alone, effective_jobs, pooled, stream
from kernelm.data.sample import priorities
from kernelm.estimators.local import (
    SLOPE_LEAVES,
    SLOPE_ROWS,
    Leaf,
    LocalMachine,
    LocalSolution,
    Tree,
    fit_leaf,
    routed_rows,
    stacked,
)
from kernelm.estimators.sensitivity import MAX_COLUMNS, metric_weights
from kernelm.features import InputScaler, Partition, distinct
from kernelm.kernels import Kernel, LaplacianL1
from kernelm.ridge import Path, Status, walk
from kernelm.search import DEFAULT_CANDIDATES, rank_kernels
from kernelm.tasks import SAMPLE_ROWS, Coding, Survey

#: What kernel="auto" chooses from in leaves.
CANDIDATES: tuple[Kernel, ...] = (
    *DEFAULT_CANDIDATES,
    *(LaplacianL1(f"{m}*median") for m in (0.5, 1)),
)
CUT_ROWS = 65_536  # rows of the sample that cuts are made from
PROBES = 2 * SLOPE_LEAVES  # leaves that choices are made on
RANKED_ROWS = 600  # rows of a probe on which kernels are ranked
MOST_ROUNDS = 8  # of weights for the inputs
WORTHWHILE = 0.01  # share by which a round must lower the error
PATIENCE = 1  # rounds without success before the next ones are given up
_COMMON = 0.1  # share of rows that two sets of leaves must have in common to be compared on them
START = 0.01  # the first alpha, in units of the kernel's diagonal
_OVERFULL = 4  # leaves of equal rows may hold so many times the leaf size


class _Data(NamedTuple):
    """All training rows: scaled, coded, weighed."""

    S: Any
    Y: NDArray
    weight: NDArray | None
    part: NDArray | None  #: of each weight that one observation is

    def of(self, rows: NDArray) -> tuple[NDArray, NDArray | None, NDArray | None]:
        """Return codes, weights and parts of some rows."""
        weight = None if self.weight is None else self.weight[rows]
        return self.Y[rows], weight, None if self.part is None else self.part[rows]


class _Errors(NamedTuple):
    """Squared errors of some rows, each row once."""

    rows: NDArray  #: rising
    square: NDArray  #: of a row in several leaves, the mean
    weight: NDArray

    @classmethod
    def of(cls, rows: NDArray, square: NDArray, weight: NDArray | None) -> _Errors:
        """Gather the errors of rows that may come up several times."""
        unique, first, index = np.unique(rows, return_index=True, return_inverse=True)
        total = np.bincount(index, square, len(unique)) / np.bincount(index, minlength=len(unique))
        return cls(unique, total, np.ones(len(unique)) if weight is None else weight[first])

    @property
    def mean(self) -> float:
        """The weighted mean."""
        return float(self.weight @ self.square / (self.weight.sum() or 1.0))

    def below(self, other: _Errors, share: float) -> bool:
        """Whether the mean is below a share of the other, on rows that both have if any."""
        _, mine, theirs = np.intersect1d(self.rows, other.rows, True, return_indices=True)
        if len(mine) < _COMMON * min(len(self.rows), len(other.rows)):
            return self.mean < share * other.mean
        return self._at(mine).mean < share * other._at(theirs).mean

    def _at(self, at: NDArray) -> _Errors:
        return _Errors(self.rows[at], self.square[at], self.weight[at])


@final
@dataclass(eq=False)
class LocalFit(Coding):
    """One fit, step by step."""

    source: Source
    survey: Survey
    scaler: InputScaler
    kernel: Kernel  #: its scales may be rules, which leaves resolve
    alpha: Any
    intercept: bool
    leaf_size: int
    n_trees: int
    overlap: float
    searches: bool  #: choose kernel and metric too
    weighs: bool  #: weigh inputs
    seed: int
    n_jobs: int | None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        self.targets, self.class_weight = self.survey.coding, self.survey.class_weight
        self.sample = Sample.of(self.source, CUT_ROWS, self.seed)
        # Each kind of row once, in an order of contents: cuts do not depend on repetition.
        kinds = distinct(self.sample.X, self.sample.weight)
        self._kinds = self.sample.X[kinds]
        self.factors = np.ones(self.source.n_features)
        self.slopes: NDArray | None = None
        self._cuts: dict[int, tuple[InputScaler, Partition]] = {}
        self._data = self._gathered()
        share = len(kinds) / max(len(self.sample.priority), 1)
        self.depth = depth_of(share * len(self._data.Y), self.leaf_size, self.overlap)

    @cached_property
    def path(self) -> Path:
        """Metric, kernel and alpha chosen on probe leaves, with the leave-one-out error there."""
        if self.searches and self.weighs:
            self._settle_metric()
        probes = self._probes(self._partition(0))
        if self.searches:
            self.kernel = self._best_kernel(probes)
        return self._best_alpha(probes)

    @cached_property
    def first_error(self) -> float:
        """The leave-one-out error in probe leaves before anything is chosen."""
        return self._error(self._probes(self._partition(0)), self._first_alpha)

    @property
    def _first_alpha(self) -> float:
        return START if isinstance(self.alpha, str) else float(np.max(self.alpha))

    def run(self) -> LocalMachine:
        """Fit all leaves of all trees."""
        alpha = self.path.best
        trees, total = [], np.zeros(self._data.Y.shape)
        for k in range(self.n_trees):
            tree, residuals = self._tree(self._partition(k), alpha)
            trees.append(tree)
            total += residuals
        return self._machine(trees, total / self.n_trees)

    # -- rows ---------------------------------------------------------------------------

    def _gathered(self) -> _Data:
        """Return all rows, scaled, in one pass."""

        def read(rows: Rows) -> tuple[Any, NDArray, NDArray | None, NDArray | None]:
            weight, unit = self._weights(rows)
            S = self.scaler.transform(rows.X)
            return S, self._encode(rows, S.dtype), weight, unit

        blocks = list(stream(self.source, read, rows=8192, n_jobs=self.n_jobs))
        S, Y, weight, unit = (list(parts) for parts in zip(*blocks, strict=True))
        whole = None if weight[0] is None else np.concatenate(weight)
        part = None
        if whole is not None:
            part = np.divide(np.concatenate(unit), whole, out=np.ones(len(whole)), where=whole > 0)
        return _Data(stacked(S), np.concatenate(Y), whole, part)

    def _partition(self, k: int) -> Partition:
        """Return the cuts of the k-th tree: along principal directions first, then random ones."""
        made_for, partition = self._cuts.get(k, (None, None))
        if partition is not None and made_for is self.scaler:
            return partition
        S = self.scaler.transform(self._kinds)
        options: dict[str, Any] = {"direction": "random" if k else "principal"}
        options |= {"overlap": self.overlap, "seed": self.seed + k}
        partition = alone(lambda: Partition.fit(S, self.depth, **options))
        self._cuts[k] = self.scaler, partition
        return partition

    def _members(self, partition: Partition) -> list[NDArray]:
        """Return the rows of each leaf, in rising order: blocks of any size give the same."""
        S = self._data.S
        step = routed_rows(self.source, partition, self.n_jobs)
        starts = range(0, S.shape[0], step)

        def route(start: int) -> tuple[NDArray, NDArray]:
            rows, leaf = partition.shared(S[start : start + step])
            return rows + start, leaf

        found = list(pooled(route, iter(starts), effective_jobs(self.n_jobs)))
        rows = np.concatenate([rows for rows, _ in found])
        leaf = np.concatenate([leaf for _, leaf in found])
        order = np.lexsort((rows, leaf))
        ends = np.cumsum(np.bincount(leaf, minlength=partition.n_leaves))
        return np.split(rows[order], ends[:-1])

    def _probes(self, partition: Partition) -> list[NDArray]:
        """Return the rows of some leaves: those around the same rows, however space is cut."""
        anchors = np.random.default_rng([self.seed, 11]).permutation(self._kinds.shape[0])
        S = self.scaler.transform(self._kinds[anchors[: 4 * PROBES]])
        members = self._members(partition)
        near = dict.fromkeys(partition.leaves(S).tolist())
        full = [members[k] for k in near if len(members[k]) > 1]
        varied = [rows for rows in full if np.ptp(self._data.Y[rows], axis=0).any()]
        return [self._bounded(rows) for rows in (varied or full)[:PROBES]]

    def _bounded(self, rows: NDArray) -> NDArray:
        """Return the rows of a leaf, some of them where equal rows made it far too large."""
        most = _OVERFULL * self.leaf_size
        if len(rows) <= most:
            return rows
        return np.sort(np.random.default_rng([self.seed, 13]).choice(rows, most, replace=False))

    # -- choices ------------------------------------------------------------------------

    def _settle_metric(self) -> None:
        """Weigh inputs by slopes in probe leaves, while leave-one-out is the better for it.

        Each metric cuts the space anew, so that probe leaves hold other rows: errors are compared
        on the rows that both have.
        """
        if not 1 < self.source.n_features <= MAX_COLUMNS:
            return
        # At the alpha that noise asks for: a smaller one would make weights look good that fit it.
        alpha, idle = self._best_alpha(self._probes(self._partition(0))).best, 0
        kept, least = (self.scaler, self.factors, self._data), None
        for _ in range(MOST_ROUNDS):
            probes = self._probes(self._partition(0))
            errors = self._errors(probes, alpha)
            if least is None or errors.below(least, 1 - WORTHWHILE):
                kept, least, idle = (self.scaler, self.factors, self._data), errors, 0
            else:
                idle += 1
            slopes = self._slopes(probes[:SLOPE_LEAVES], alpha)
            if idle > PATIENCE or not slopes.any():
                break
            self.slopes = slopes
            self._weigh(metric_weights(slopes * self.factors**2))
        self.scaler, self.factors, self._data = kept

    def _weigh(self, factors: NDArray) -> None:
        ratio = factors / self.factors
        self.scaler, self.factors = self.scaler.weighted(ratio), factors
        S = self._data.S
        scaled = InputScaler.identity(len(ratio)).weighted(ratio).transform(S)
        self._data = self._data._replace(S=scaled)

    def _slopes(self, probes: list[NDArray], alpha: float) -> NDArray:
        """Return mean squared slopes along the scaled inputs in probe leaves."""

        def one(rows: NDArray) -> NDArray:
            leaf, _ = self._leaf(rows, alpha)
            at = np.random.default_rng([self.seed, 17]).permutation(len(rows))[:SLOPE_ROWS]
            return leaf.squared_slopes(self._data.S, at)

        return np.mean(list(self._each(one, probes)), axis=0)

    def _best_kernel(self, probes: list[NDArray]) -> Kernel:
        """Return the candidate with the least leave-one-out error in probe leaves."""
        totals = np.zeros(len(CANDIDATES))
        index = {kernel: k for k, kernel in enumerate(CANDIDATES)}
        for rows in probes[: SLOPE_LEAVES // 2]:
            few = rows[np.random.default_rng(self.seed).permutation(len(rows))[:RANKED_ROWS]]
            Y, weight, _ = self._data.of(few)
            S = self._data.S[few]
            options: dict[str, Any] = {"weight": weight, "intercept": self.intercept}
            rank = partial(rank_kernels, S, Y.astype(np.float64), CANDIDATES, **options)
            ranked = alone(rank)
            for trial in ranked:
                totals[index[trial.kernel]] += trial.score
        return CANDIDATES[int(totals.argmin())]

    def _errors(self, probes: list[NDArray], alpha: float) -> _Errors:
        """Return the squared leave-one-out error of every row of the probe leaves."""
        found = self._each(lambda rows: self._leaf(rows, alpha), probes)
        squares = [np.square(residuals).sum(axis=1) for _, residuals in found]
        rows = np.concatenate([*probes, np.empty(0, np.intp)])
        weight = self._data.of(rows)[1]
        return _Errors.of(rows, np.concatenate([*squares, np.empty(0)]), weight)

    def _error(self, probes: list[NDArray], alpha: float) -> float:
        """Return the mean squared leave-one-out error in probe leaves."""
        return self._errors(probes, alpha).mean

    def _best_alpha(self, probes: list[NDArray]) -> Path:
        if isinstance(self.alpha, str):
            return walk(lambda alpha: self._error(probes, alpha), START)
        alphas = np.sort(np.atleast_1d(np.asarray(self.alpha, np.float64)))
        scores = np.array([self._error(probes, float(alpha)) for alpha in alphas])
        return Path("loo" if len(alphas) > 1 else "given", alphas, scores)

    # -- leaves -------------------------------------------------------------------------

    def _leaf(self, rows: NDArray, alpha: float) -> tuple[Leaf, NDArray]:
        Y, weight, part = self._data.of(rows)
        return fit_leaf(
            self._data.S,
            rows,
            Y,
            self.kernel,
            alpha,
            weight,
            part,
            intercept=self.intercept,
            seed=self.seed,
        )

    def _tree(self, partition: Partition, alpha: float) -> tuple[Tree, NDArray]:
        """Fit all leaves; return them with leave-one-out residuals of all rows."""
        members = [self._bounded(rows) for rows in self._members(partition)]
        home = np.concatenate(
            [
                partition.leaves(self._data.S[start : start + 8192])
                for start in range(0, self._data.S.shape[0], 8192)
            ]
        )
        residuals = np.full(self._data.Y.shape, np.nan)
        leaves = []
        tasks = list(enumerate(members))

        def one(task: tuple[int, NDArray]) -> Leaf:
            k, rows = task
            leaf, left_out = self._leaf(rows, alpha)
            own = home[rows] == k
            residuals[rows[own]] = left_out[own]
            return leaf

        for (_, rows), leaf in zip(tasks, self._each(one, tasks), strict=True):
            leaves.append(leaf)
            if self.progress is not None:
                self.progress.advance(len(rows))
        leaves = _filled(leaves, members)
        self._score_the_rest(residuals, home, leaves)
        return Tree(partition, leaves), residuals

    def _score_the_rest(self, residuals: NDArray, home: NDArray, leaves: list[Leaf]) -> None:
        """Rows that an overfull leaf was not fitted to are new to it."""
        rest = np.flatnonzero(np.isnan(residuals[:, 0]))
        for k in np.unique(home[rest]):
            rows = rest[home[rest] == k]
            scores = leaves[k].scores(self._data.S[rows], self._data.S)
            residuals[rows] = self._data.Y[rows] - scores

    def _machine(self, trees: list[Tree], residuals: NDArray) -> LocalMachine:
        path = self.path
        sample = self.survey.sample.head(SAMPLE_ROWS)
        at = np.isin(priorities(0, len(residuals), sample.seed), sample.priority)
        weight = self._data.weight
        error = float(np.average(np.square(residuals).sum(axis=1), weights=weight))
        leaves = [leaf for tree in trees for leaf in tree.leaves]
        status = next((leaf.status for leaf in leaves if leaf.status is not Status.OK), path.status)
        solution = LocalSolution(
            path.best,
            path,
            status,
            sum(leaf.degrees for leaf in leaves) / len(trees),
            len(residuals),
            {len(residuals): error},
        )
        return LocalMachine(
            self.scaler,
            self.targets,
            sample,
            self._data.S,
            trees,
            residuals[at],
            solution,
            self.slopes,
            self.class_weight,
            self.n_jobs,
        )

    def _each(self, work: Any, tasks: Sequence[Any]) -> Any:
        return pooled(work, iter(tasks), effective_jobs(self.n_jobs))


def depth_of(n_rows: float, leaf_size: int, overlap: float) -> int:
    """Return the depth at which leaves, with the rows they share, have at most the leaf size.

    Examples
    --------
    >>> depth_of(464_809, 2000, 0.0), depth_of(464_809, 2500, 0.1), depth_of(1000, 2000, 0.1)
    (8, 9, 0)
    """
    depth, size = 0, float(n_rows)
    while size > leaf_size:
        depth, size = depth + 1, size * (1 + overlap) / 2
    return depth


def _filled(leaves: list[Leaf], members: list[NDArray]) -> list[Leaf]:
    """Give leaves without rows the machine of the nearest leaf in the tree that has some."""
    there = np.array([len(rows) > 0 for rows in members])
    every = np.arange(len(leaves))
    filled = list(leaves)
    for k in np.flatnonzero(~there):
        # The highest bit in which two leaves differ is where their paths part.
        near = every[there][np.argmin(every[there] ^ k)]
        filled[k] = leaves[near]
    return filled


def checked(leaf_size: Any, n_trees: Any, overlap: Any) -> None:
    """Raise for parameters that cannot be used."""
    _checks.integer(leaf_size, "leaf_size", low=2)
    _checks.integer(n_trees, "n_trees")
    _checks.non_negative(overlap, "overlap")
    _checks.between(overlap, "overlap", -1e-12, 0.9)
