"""How good is an estimator with its parameters chosen by folds, on rows that chose nothing?"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse, stats
from sklearn.base import clone, is_classifier
from sklearn.compose import TransformedTargetRegressor
from sklearn.metrics import accuracy_score, mean_squared_error
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing, check_random_state, indexable

from kernelm import _checks
from kernelm._config import config_context, get_config
from kernelm.data import Progress

Grid = Mapping[str, Iterable[Any]]


@final
@dataclass(frozen=True, eq=False, repr=False)
class CrossTest:
    """Scores on the outer folds, and the parameters that each of them was predicted with.

    Examples
    --------
    >>> CrossTest(scores=np.array([1.0, 2.0, 3.0]), best_params=[{}, {}, {}])
    2 ± 2.48
    """

    scores: NDArray  #: one for each outer fold: MSE in units of y², or accuracy
    best_params: list[dict[str, Any]]  #: what the inner folds chose, one for each outer fold

    @property
    def mean(self) -> float:
        """Mean over the outer folds."""
        return float(self.scores.mean())

    @property
    def interval(self) -> float:
        r"""Half the width of the 95 % confidence interval of the mean.

        .. math:: t_{0.975,\, F - 1}\; s / \sqrt F

        for F folds with standard deviation s. Folds share training rows, so it is narrower than
        independent data would make it.
        """
        F = len(self.scores)
        return float(stats.t.ppf(0.975, F - 1) * self.scores.std(ddof=1) / np.sqrt(F))

    def __repr__(self) -> str:
        return f"{self.mean:.4g} ± {self.interval:.3g}"


class _Fold(NamedTuple):
    score: float
    best_params: dict[str, Any]
    n_rows: int


def cross_test(
    estimator: Any,
    grid: Grid | list[Grid],
    X: Any,
    y: Any,
    *,
    outer: int = 10,
    inner: int = 10,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> CrossTest:
    """Estimate the error of an estimator whose parameters are chosen on training rows alone.

    Each outer fold is predicted by a model of the other rows, with the parameters that inner
    folds of these rows prefer. Inputs, and targets of regression, are standardised by the rows
    that a model is trained on, in the inner folds too: one grid of C and epsilon suits all
    data. Errors are in the units of y.

    Parameters
    ----------
    estimator : classifier or regressor of scikit-learn
        It is cloned. Regressors are chosen and judged by mean squared error, classifiers by
        accuracy, with the shares of classes kept in all folds.
    grid : dict, or list of dicts
        Values to try for each parameter, as for :class:`sklearn.model_selection.GridSearchCV`;
        names may nest (``kernel__scale``).
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Inputs. Sparse columns are scaled and not centred.
    y : array-like of shape (n_samples,)
        Targets.
    outer, inner : int
        Numbers of folds.
    random_state : int, RandomState or None
        Shuffles the rows before they are cut: an int is that of scikit-learn's ``KFold``.
    n_jobs : int or None
        Outer folds at a time, as in joblib: None is one, -1 as many as there are cores.
    verbose : int
        Show how many rows have been tested.

    Returns
    -------
    CrossTest
        ``scores``, ``mean``, ``interval`` and ``best_params``.

    References
    ----------
    B. Frénay and M. Verleysen, "Parameter-insensitive kernel in extreme learning for
    non-linear support vector regression", Neurocomputing 74, 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelm.kernels import AsymptoticELM
    >>> from kernelm.margin.svm import KernelSVR
    >>> svr = KernelSVR(AsymptoticELM(weight_scale=10).normalized())
    >>> grid = {"C": [0.1, 1.0], "epsilon": [0.1, 0.5]}
    >>> cross_test(svr, grid, *load_diabetes(return_X_y=True), outer=5, inner=3)
    2966 ± 502
    """
    _checks.integer(outer, "outer", low=2)
    _checks.integer(inner, "inner", low=2)
    X, y = indexable(X, y)
    X, y = X.tocsr() if sparse.issparse(X) else X, np.asarray(y)
    labels = is_classifier(estimator)
    # One seed: a generator would cut other inner folds for every model it is copied to.
    fixed = isinstance(random_state, numbers.Integral)
    seed = random_state if fixed else check_random_state(random_state).randint(2**31 - 1)
    Folds: Any = StratifiedKFold if labels else KFold
    strict: Any = "raise"  # a candidate that cannot be fitted is an error, not a bad score
    search = GridSearchCV(
        _standardised(estimator, labels, sparse.issparse(X)),
        _prefixed(grid, _prefix(labels)),
        scoring="accuracy" if labels else "neg_mean_squared_error",
        cv=Folds(inner, shuffle=True, random_state=seed),
        error_score=strict,
    )
    tasks = (
        delayed(_test)(search, X, y, train, test, get_config())
        for train, test in Folds(outer, shuffle=True, random_state=seed).split(X, y)
    )
    results: Any = Parallel(n_jobs, return_as="generator")(tasks)
    folds: list[_Fold] = []
    with Progress("cross-test", len(y)) if verbose else nullcontext() as progress:
        for fold in results:
            folds.append(fold)
            if progress is not None:
                progress.advance(fold.n_rows)
    return CrossTest(np.array([f.score for f in folds]), [f.best_params for f in folds])


def _test(
    search: Any, X: Any, y: NDArray, train: NDArray, test: NDArray, config: dict[str, Any]
) -> _Fold:
    """Choose parameters on the training rows and judge them on the test rows."""
    with config_context(**config):  # another process does not know what was set here
        chosen: Any = clone(search)
        chosen.fit(_safe_indexing(X, train), y[train])
        predicted = chosen.predict(_safe_indexing(X, test))
    labels = is_classifier(search)
    score = (accuracy_score if labels else mean_squared_error)(y[test], predicted)
    prefix = _prefix(labels)
    best = {name.removeprefix(prefix): value for name, value in chosen.best_params_.items()}
    return _Fold(float(score), best, len(test))


def _standardised(estimator: Any, labels: bool, is_sparse: bool) -> Any:
    """Return the estimator on standardised inputs, and targets where they are numbers."""
    scaler = StandardScaler(with_mean=not is_sparse)
    model = Pipeline([("scale", scaler), ("model", clone(estimator))])
    return model if labels else TransformedTargetRegressor(model, transformer=StandardScaler())


def _prefix(labels: bool) -> str:
    return "model__" if labels else "regressor__model__"


def _prefixed(grid: Grid | list[Grid], prefix: str) -> list[dict[str, Any]]:
    grids = [grid] if isinstance(grid, Mapping) else grid
    return [{f"{prefix}{name}": list(values) for name, values in g.items()} for g in grids]
