"""Choosing alpha in closed form: from the moments alone, fold by fold, or by leave-one-out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.ridge.factor import Factor
from kernelm.ridge.moments import Moments
from kernelm.ridge.status import Status


@final
@dataclass(frozen=True, eq=False)
class Path:
    """A criterion for every alpha, the smaller the better.

    Attributes
    ----------
    criterion : str
        "gcv", "loo", "kfold" or "given".
    alphas, scores : ndarray of shape (A,)
        Ridge strengths in rising order and their mean squared error on rows not seen.

    Examples
    --------
    >>> import numpy as np
    >>> path = Path("loo", np.array([0.1, 1.0, 10.0]), np.array([3.0, 1.0, 2.0]))
    >>> path.best, path.status
    (1.0, <Status.OK: ''>)
    """

    criterion: str
    alphas: NDArray
    scores: NDArray

    @property
    def index(self) -> int:
        """Position of the best score; of equals (to nine digits) the largest alpha."""
        low = np.fmin.reduce(self.scores)
        if not np.isfinite(low):
            return len(self.scores) - 1
        return int(np.flatnonzero(self.scores <= low + 1e-9 * abs(low))[-1])

    @property
    def best(self) -> float:
        """The chosen alpha."""
        return float(self.alphas[self.index])

    @property
    def score(self) -> float:
        """The best score."""
        return float(self.scores[self.index])

    @property
    def status(self) -> Status:
        """OK, or on which edge of the candidates the best one lies."""
        if len(self.alphas) < 3 or 0 < self.index < len(self.alphas) - 1:
            return Status.OK
        return Status.EDGE_LOW if self.index == 0 else Status.EDGE_HIGH


def default_alphas(factor: Factor) -> NDArray:
    """Return candidates at half decades below and above the largest eigenvalue.

    The range moves with the sums, so it suits any scale of features and any number of rows.
    """
    top = factor.values[-1] if factor.values.size and factor.values[-1] > 0 else 1.0
    alphas = top * np.logspace(-10, 1, 23)
    resolved = alphas[alphas > factor.floor]
    return resolved if resolved.size else np.array([factor.floor])


def gcv_path(factor: Factor, alphas: NDArray | None = None) -> Path:
    """Score alphas by generalised cross-validation: no pass over the rows."""
    alphas = default_alphas(factor) if alphas is None else np.sort(np.atleast_1d(alphas))
    return Path("gcv", alphas, factor.gcv(alphas))


def kfold_path(
    folds: Sequence[Moments], alphas: NDArray | None = None, *, intercept: bool = True
) -> Path:
    r"""Score alphas by k-fold cross-validation from the moments of the folds alone.

    The training part of a fold is the total minus the fold, and the squared error of weights W
    on the fold is :math:`y^\top y - 2 \mathrm{tr}(W^\top B) + \mathrm{tr}(W^\top A W)`: sums
    that the fold already has. One pass over the rows serves every fold and every alpha.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 30)[:, None]
    >>> folds = [Moments.of(X[f::3], 2 * X[f::3]) for f in range(3)]
    >>> float(kfold_path(folds, np.array([1e-6, 1.0, 100.0])).best)
    1e-06
    """
    _checks.several_folds(len(folds))
    total = reduce(add, folds)
    if alphas is None:
        alphas = default_alphas(Factor.of(total, intercept=intercept))
    alphas = np.sort(np.atleast_1d(alphas))
    errors = np.zeros(len(alphas))
    for fold in folds:
        factor = Factor.of(total - fold, intercept=intercept)
        errors += [_squared_error(fold, *factor.coef(a)) for a in alphas]
    return Path("kfold", alphas, errors / total.weight)


def _squared_error(m: Moments, W: NDArray, b: NDArray) -> float:
    fitted = np.sum(W * (m.gram @ W)) + 2 * (m.phi @ W) @ b + m.weight * b @ b
    crossed = np.sum(W * m.cross) + m.y @ b
    return float(max(m.yy.sum() - 2 * crossed + fitted, 0.0))
