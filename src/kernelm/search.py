"""Which kernel? Ranking kernels by closed-form leave-one-out on a sample of rows.

Every candidate costs one Gram matrix and one factorisation, for all alphas and without folds; in
the later rounds of the default search, which have more rows and know about which alpha, a Cholesky
factor for each of a few of them.
Deep kernels that begin with the same layers share them: a list of layers costs one layer more
than the list without its last entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight, check_X_y

from kernelm import _checks
from kernelm.data import ArraySource, Sample, effective_jobs, pooled
from kernelm.data.frames import as_numbers
from kernelm.data.targets import Classes, Values
from kernelm.features import InputScaler
from kernelm.kernels import (
    ArcCosine,
    AsymptoticELM,
    Gaussian,
    Kernel,
    Laplacian,
    Layer,
    Matern32,
    Stacked,
)
from kernelm.kernels.widths import shared_widths
from kernelm.ridge import DualFactor, Path, dual_loo_error, walk

#: What ``kernel="auto"`` chooses from.
DEFAULT_CANDIDATES: tuple[Kernel, ...] = (
    *(Gaussian(f"{m}*median") for m in (0.25, 0.5, 1)),
    *(Laplacian(f"{m}*median") for m in (0.5, 1, 2)),
    *(Matern32(f"{m}*median") for m in (0.5, 1, 2)),
    *(ArcCosine([1] * depth, normalize=True) for depth in (1, 2, 3)),
    AsymptoticELM(weight_scale=1.0),
)

#: Shares of the largest eigenvalue that are tried as alpha.
ALPHA_SHARES = np.logspace(-9, 0, 19)


class Round(NamedTuple):
    """Rows that a round of a default search looks at, and how many candidates come that far."""

    rows: int
    most: int


ROUNDS = (Round(128, 10**6), Round(256, 16), Round(512, 4), Round(1000, 2))


@final
@dataclass(frozen=True, eq=False)
class Trial:
    """One kernel, with the alpha that suits it best."""

    kernel: Kernel  #: as it was offered
    resolved: Kernel  #: with numbers for its scales
    alpha: float
    score: float  #: mean squared leave-one-out error, the smaller the better
    path: Path
    rows: int = 0  #: rows that were looked at; scores of different numbers do not compare

    def __repr__(self) -> str:
        return f"{self.score:.4g}  alpha={self.alpha:.2g}  {self.kernel!r}"


@final
@dataclass(frozen=True, eq=False)
class KernelPath:
    """Kernels ranked by leave-one-out error, the best first.

    After a search in rounds, those that were judged on more rows stand before the others.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelm.kernels import Gaussian, Linear
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> rank_kernels(X, np.sin(2 * X[:, :1]), [Linear(), Gaussian()]).best
    Gaussian(scale=1.0)
    """

    trials: tuple[Trial, ...]

    @property
    def best(self) -> Kernel:
        """The kernel with the smallest error."""
        return self.trials[0].kernel

    def __iter__(self) -> Iterator[Trial]:
        return iter(self.trials)

    def __len__(self) -> int:
        return len(self.trials)

    def __getitem__(self, index: int) -> Trial:
        return self.trials[index]

    def __repr__(self) -> str:
        shown = [repr(t) for t in self.trials[:10]]
        more = [f"... and {len(self) - 10} more"] if len(self) > 10 else []
        return "\n".join(["error      alpha   kernel", *shown, *more])


def arc_cosine_lists(degrees: Iterable[int] = range(4), max_depth: int = 4) -> list[Kernel]:
    """Return every arc-cosine kernel with layers of these degrees, up to a depth.

    Examples
    --------
    >>> len(arc_cosine_lists())
    340
    """
    degrees = tuple(degrees)
    lists = [p for depth in range(1, max_depth + 1) for p in product(degrees, repeat=depth)]
    return [ArcCosine(p, normalize=True) for p in lists]


def rank_kernels(
    X: Any,
    Y: NDArray,
    candidates: Sequence[Kernel] = DEFAULT_CANDIDATES,
    *,
    weight: NDArray | None = None,
    intercept: bool = True,
    seed: int = 0,
    starts: Mapping[Kernel, float] | None = None,
) -> KernelPath:
    """Rank kernels on rows X with target columns Y; all rows are used.

    Every kernel is judged with the best of all alphas; where ``starts`` are given, with the best
    near its start, which is faster.
    """
    _checks.some_candidates(candidates)
    # Few rows, so double precision costs little; in single, equals would differ by rounding.
    X = _checks.rows(X).astype(np.float64, copy=False)
    weight = None if weight is None else np.asarray(weight, np.float64)
    unit = None if weight is None else np.minimum(weight, 1.0)
    with shared_widths():
        resolved = [k.resolve(X, weight, seed) for k in candidates]

    def rate(task: tuple[int, NDArray]) -> tuple[int, Trial]:
        index, K = task
        kernel = candidates[index]
        if starts is None:
            dual = DualFactor.of(K, Y, weight, intercept=intercept)
            path = dual.loo_path(dual.values[-1] * ALPHA_SHARES, unit)
        else:
            error = partial(dual_loo_error, K, Y, weight=weight, unit=unit, intercept=intercept)
            path = walk(error, starts[kernel], closely=True)
        return index, Trial(kernel, resolved[index], path.best, path.score, path, len(K))

    # Factorisations of this size gain little from threads of BLAS: one core for each.
    trials = dict(pooled(rate, _grams(resolved, X), effective_jobs(None)))
    # Of equals, the one that was offered first.
    return KernelPath(tuple(sorted((trials[i] for i in sorted(trials)), key=lambda t: t.score)))


def scalings(sample: Sample, *, scale_inputs: bool, several: bool) -> list[InputScaler]:
    """Return the scalings of the inputs to choose from, the usual one first.

    Pixels are alike: all of them get the same scale. Counts and intensities have roots.
    """
    X, weight = sample.X, sample.weight
    if not scale_inputs:
        return [InputScaler.identity(X.shape[1])]
    alike = (False, True) if several and X.shape[1] > 1 and not sparse.issparse(X) else (False,)
    root = (False, True) if several and X.min() >= 0 else (False,)
    return [
        InputScaler.fit(X, weight, unit_length=False, alike=a, root=r)
        for r, a in product(root, alike)
    ]


def best_metric(
    sample: Sample,
    Y: Callable[[Sample], NDArray],
    scalers: Sequence[InputScaler],
    candidates: Sequence[Kernel] = DEFAULT_CANDIDATES,
    **options: Any,
) -> tuple[InputScaler, KernelPath]:
    """Choose a scaling and a kernel together: all on few rows, then the best of them on more.

    Parameters
    ----------
    sample : Sample
        Rows to look at: few in the first of the ``ROUNDS``, more in the later ones.
    Y : callable
        Target columns of a sample.
    scalers, candidates : sequence
        What to choose from.
    **options
        Of :func:`rank_kernels`.

    Returns
    -------
    InputScaler, KernelPath
        The chosen scaling, and all kernels for it, those of the final first.
    """

    def rank(rows: Sample, scaler: InputScaler, kernels: Any, starts: Any = None) -> KernelPath:
        S = scaler.transform(rows.X)
        return rank_kernels(S, Y(rows), kernels, weight=rows.weight, starts=starts, **options)

    few = sample.head(ROUNDS[0].rows)
    still = {k: rank(few, scaler, candidates) for k, scaler in enumerate(scalers)}
    out: dict[int, list[Trial]] = {k: [] for k in still}
    for rows, most in ROUNDS[1:]:
        if len(few.priority) == len(sample.priority):
            break
        few = sample.head(rows)
        bar = sorted(trial.score for path in still.values() for trial in path)[:most][-1]
        for k, path in list(still.items()):
            passed = {trial.kernel: trial.alpha for trial in path if trial.score <= bar}
            out[k] = [*(trial for trial in path if trial.score > bar), *out[k]]
            if passed:
                still[k] = rank(few, scalers[k], list(passed), passed)
            else:
                del still[k]
    k = min(still, key=lambda k: still[k][0].score)
    return scalers[k], KernelPath((*still[k], *out[k]))


def select_kernel(
    X: Any,
    y: Any,
    candidates: Sequence[Kernel] | str = DEFAULT_CANDIDATES,
    *,
    sample_weight: Any = None,
    n_samples: int = 1500,
    scale_inputs: bool = True,
    fit_intercept: bool = True,
    random_state: int = 0,
) -> KernelPath:
    """Rank kernels for a task by closed-form leave-one-out: no folds, no validation rows.

    Parameters
    ----------
    X, y : array-like
        Inputs (dense, CSR, or a data frame, its names one-hot encoded) and targets: labels or
        numbers.
    candidates : sequence of kernels, or "arccosine"
        Kernels to try, scales such as "median" allowed; "arccosine" stands for all 340 lists of
        degrees 0 to 3 up to depth 4.
    sample_weight : array-like, optional
        Row weights.
    n_samples : int
        At most so many rows, drawn at random, are looked at.
    scale_inputs : bool
        Standardise inputs first, as the kernel ELMs do.
    fit_intercept : bool
        Rank kernels beside an unpenalised intercept.
    random_state : int
        Of the sample.

    Returns
    -------
    KernelPath
        Trials, the best first; ``.best`` is the kernel to use.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelm import select_kernel
    >>> from kernelm.kernels import ArcCosine, Gaussian, Linear
    >>> X, y = load_iris(return_X_y=True)
    >>> path = select_kernel(X, y, [Linear(), Gaussian("median"), ArcCosine([1, 0])])
    >>> path.best, len(path)
    (Gaussian(scale='median'), 3)
    """
    options: dict[str, Any] = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)}
    X, y = check_X_y(as_numbers(X), y, multi_output=True, **options)
    if isinstance(candidates, str):
        _checks.one_of(candidates, "candidates (or a sequence of kernels)", ["arccosine"])
        candidates = arc_cosine_lists()
    weight = None
    if sample_weight is not None:
        weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        _checks.some_weight(weight)
    sample = Sample.of(ArraySource(X, y, weight), n_samples, random_state)
    Y = coding_of(y).encode(_checks.has_targets(sample.y), np.float64)
    scaler = (
        InputScaler.fit(sample.X, sample.weight, unit_length=False)
        if scale_inputs
        else InputScaler.identity(X.shape[1])
    )
    return rank_kernels(
        scaler.transform(sample.X),
        Y,
        candidates,
        weight=sample.weight,
        intercept=fit_intercept,
        seed=random_state,
    )


def coding_of(y: NDArray) -> Classes | Values:
    """Return how labels or numbers become target columns."""
    if np.ndim(y) == 1 and not type_of_target(y).startswith("continuous"):
        return Classes(_checks.at_least_two_classes(np.unique(y)))
    return Values.of(y)


def _grams(kernels: Sequence[Kernel], X: Any) -> Iterator[tuple[int, NDArray]]:
    """Yield the Gram matrix of each kernel; stacks on one base share their first layers."""
    groups: dict[Kernel, list[tuple[tuple[Layer, ...], int]]] = {}
    for index, kernel in enumerate(kernels):
        tree = getattr(kernel, "tree", kernel)
        base, layers = (tree.base, tree.layers) if isinstance(tree, Stacked) else (tree, ())
        groups.setdefault(base, []).append((layers, index))
    for base, members in groups.items():
        yield from _descend(base.gram(X), base.diag(X), members, 0)


def _descend(
    K: NDArray, d: NDArray, members: list[tuple[tuple[Layer, ...], int]], depth: int
) -> Iterator[tuple[int, NDArray]]:
    """Yield the kernels that end here, then those of each next layer, computed once."""
    yield from ((index, K) for layers, index in members if len(layers) == depth)
    following: dict[Layer, list[tuple[tuple[Layer, ...], int]]] = {}
    for layers, index in members:
        if len(layers) > depth:
            following.setdefault(layers[depth], []).append((layers, index))
    for layer, deeper in following.items():
        with np.errstate(over="ignore", invalid="ignore"):
            above = layer.diag_of(d)
        _checks.finite_diag(above, f"layer {depth + 1} of a candidate, {layer!r},")
        K_above = layer.of(K.copy(), d, d)
        np.fill_diagonal(K_above, above)
        yield from _descend(K_above, above, deeper, depth + 1)
