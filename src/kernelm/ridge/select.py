"""Choosing alpha in closed form: from the moments alone, fold by fold, or by leave-one-out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.ridge.factor import Factor
from kernelm.ridge.moments import Moments
from kernelm.ridge.path import Path


class Spectral(Protocol):
    """A factorisation by eigenvalues, primal or dual."""

    @property
    def values(self) -> NDArray:
        """Rising eigenvalues."""
        ...

    @property
    def floor(self) -> float:
        """The smallest alpha that is resolved."""
        ...


def default_alphas(factor: Spectral) -> NDArray:
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
