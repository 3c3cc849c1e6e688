"""One layer of a multilayer kernel machine: a mixture of kernels, components, and a choice."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import f_classif

from kernelm.kernels import Kernel
from kernelm.learn.learner import MultipleKernelLearner
from kernelm.learn.pca import KernelPCA
from kernelm.ridge import DualFactor
from kernelm.search import ALPHA_SHARES

_JUDGED_ROWS = 3000  # rows on which structures are compared, in two halves
#: Share of the error that is no difference. All rows can carry wider layers than half of a sample:
#: the widest is taken of layers that differ by less, and no layer is added for less.
NO_DIFFERENCE = 0.02


class Structure(NamedTuple):
    """How wide a layer is, and how well its features tell left-out rows apart."""

    n_components: int  #: components to choose from
    keep: float  #: share of them that is kept, or how many
    error: float  #: mean squared leave-one-out error of the judge


@final
@dataclass(frozen=True, eq=False)
class KernelLayer:
    """A fitted layer: features are chosen components of a mixture of kernels."""

    kernels: list[Kernel]  #: what was mixed
    weights: NDArray  #: how much of each
    pca: KernelPCA  #: of the mixture, with the chosen components only
    chosen: NDArray  #: their positions among all components
    trials: list[Structure]  #: what was compared, the best first; empty if nothing was

    def map(self, X: Any) -> NDArray:
        """Return the features of rows."""
        return self.pca.transform(X)


def learn_layer(
    X: Any,
    index: NDArray,
    learner: MultipleKernelLearner,
    pca: KernelPCA,
    widths: Sequence[int | None],
    keeps: Sequence[float],
    judge: Kernel,
    seed: int,
) -> tuple[KernelLayer, NDArray]:
    """Fit a layer to rows of known classes; return it with the features of the rows.

    Parameters
    ----------
    X : array or CSR matrix
        Rows, or features of the layer below.
    index : ndarray
        Position of the class of each row.
    learner, pca : estimators
        Unfitted; how kernels are mixed, and how components are found.
    widths, keeps : sequence
        Numbers of components (None for all) and shares of them to choose from.
    judge : Kernel
        Structures are compared by leave-one-out of ridge regression with this kernel.
    seed : int
        Of the rows on which they are compared.
    """
    learner.fit(X, index)
    scores = pca.set_params(kernel=learner.kernel_).fit_transform(X)
    rank = scores.shape[1]
    sizes = sorted({min(rank, rank if width is None else width) for width in widths})
    several = len(sizes) * len(keeps) > 1
    trials = compare(scores, index, sizes, keeps, judge, seed) if several else []
    best = trials[0] if trials else Structure(sizes[0], keeps[0], np.nan)
    chosen = informative(scores, index, best.n_components, best.keep)
    layer = KernelLayer(learner.kernels_, learner.weights_, pca.take(chosen), chosen, trials)
    return layer, np.ascontiguousarray(scores[:, chosen])


def compare(
    scores: NDArray,
    index: NDArray,
    sizes: Sequence[int],
    keeps: Sequence[float],
    judge: Kernel,
    seed: int,
) -> list[Structure]:
    """Compare structures, the best first; the widest of those that are about as good as any.

    Components are chosen with the labels of one half of the rows, and judged by leave-one-out on
    the other half, both ways: labels that chose a component do not judge it.
    """
    order = np.random.default_rng([seed, 7]).permutation(len(index))[:_JUDGED_ROWS]
    halves = np.array_split(order, 2)
    codes = np.where(index[:, None] == np.unique(index), 1.0, -1.0)

    def error(size: int, keep: float) -> float:
        total = 0.0
        for choosing, judging in (halves, halves[::-1]):
            chosen = informative(scores[choosing], index[choosing], size, keep)
            S = scores[np.ix_(judging, chosen)].astype(np.float64)
            K = judge.resolve(S, random_state=seed).gram(S)
            dual = DualFactor.of(K, codes[judging], intercept=True)
            total += dual.loo_path((dual.values[-1] or 1.0) * ALPHA_SHARES).score
        return total / 2

    trials = [Structure(size, keep, error(size, keep)) for size, keep in product(sizes, keeps)]
    enough = (1 + NO_DIFFERENCE) * min(trial.error for trial in trials)
    good = (t for t in trials if t.error <= enough)
    wide = max(good, key=lambda t: kept(t.n_components, t.keep))
    return [wide, *sorted((t for t in trials if t is not wide), key=lambda t: t.error)]


def kept(size: int, keep: float) -> int:
    """Return how many components are kept: a share of them, or a whole number.

    Examples
    --------
    >>> kept(200, 0.1), kept(200, 50), kept(30, 50)
    (20, 50, 30)
    """
    n = keep if isinstance(keep, numbers.Integral) else round(keep * size)
    return int(min(max(1, n), size))


def informative(scores: NDArray, index: NDArray, size: int, keep: float) -> NDArray:
    """Return which of the first components tell the classes apart best, by an F test each."""
    n = kept(size, keep)
    if n >= size:
        return np.arange(size)
    classes, counts = np.unique(index, return_counts=True)
    if len(classes) < 2 or len(index) <= len(classes) or not counts.all():
        return np.arange(n)
    first = scores[:, :size]
    varies = np.ptp(first, axis=0) > 0
    F = np.full(size, -1.0)
    if varies.any():
        with np.errstate(divide="ignore", invalid="ignore"):
            F[varies] = np.nan_to_num(f_classif(first[:, varies], index)[0], nan=-1.0)
    return np.sort(np.argsort(-F, kind="stable")[:n])
