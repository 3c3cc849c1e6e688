"""Boosted extreme learning machines: many random layers, each fitted to what is left."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from kernelm import _checks
from kernelm._config import working_bytes
from kernelm.data import Progress, Source, here
from kernelm.estimators.boosting import KEPT, LEFT_OUT_ROWS, Boosting
from kernelm.estimators.steps import BoostedModel, Layers
from kernelm.features import InputScaler, RowNormalizer
from kernelm.ridge import Status
from kernelm.tasks import Classifier, Estimator, Plan, Regressor, Survey
from kernelm.units import ACTIVATIONS, WEIGHTS

_FEWEST, _MOST = 100, 1000  # units of a layer where their number is not given
_PREPROCESS = ("standard", "sqrt-center-norm", None)
_NO_MATTER = ("n_steps", "n_jobs", "verbose", "warm_start")  # steps are the same whatever these say


class _BoostedMachine(Estimator):
    """The parameters of the steps, and a run of them that can be made longer."""

    machine_: BoostedModel

    def __init__(
        self,
        n_steps: int = 100,
        *,
        n_hidden: int | None = None,
        activation: str | Callable[[NDArray], NDArray] = "tanh",
        weights: str = "normal",
        weight_scale: float = 1.0,
        bias_scale: float = 1.0,
        preprocess: str | None = "standard",
        alpha: float = 1.0,
        shrinkage: float = 0.5,
        fit_intercept: bool = True,
        early_stopping: bool = False,
        patience: int = 10,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_steps = n_steps
        self.n_hidden = n_hidden
        self.activation = activation
        self.weights = weights
        self.weight_scale = weight_scale
        self.bias_scale = bias_scale
        self.preprocess = preprocess
        self.alpha = alpha
        self.shrinkage = shrinkage
        self.fit_intercept = fit_intercept
        self.early_stopping = early_stopping
        self.patience = patience
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __getstate__(self) -> Any:
        # The run holds residuals of all rows: it stays in the process.
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_run"}

    def _check_parameters(self) -> None:
        _checks.integer(self.n_steps, "n_steps")
        if self.n_hidden is not None:
            _checks.integer(self.n_hidden, "n_hidden (None: as many as inputs)")
        if not callable(self.activation):
            _checks.one_of(self.activation, "activation", ACTIVATIONS)
        _checks.one_of(self.weights, "weights", WEIGHTS)
        _checks.positive(self.weight_scale, "weight_scale")
        _checks.non_negative(self.bias_scale, "bias_scale")
        _checks.one_of(self.preprocess, "preprocess", _PREPROCESS)
        _checks.non_negative(self.alpha, "alpha")
        _checks.share(self.shrinkage, "shrinkage")
        _checks.integer(self.patience, "patience")

    # -- fitting ------------------------------------------------------------------------

    def _fit(self, source: Source, classes: Any) -> Self:
        self._check_parameters()
        key = self._key(source) if self.warm_start else None
        known, run = getattr(self, "_run", (None, None))
        if run is None or known is None or not _same(known, key):
            run = self._begin(source, self._survey(source, classes))
        _checks.no_fewer_steps(int(self.n_steps), len(run.weights))
        run.source, run.n_jobs = here(source), self.n_jobs
        with self._step_progress(source, run) as progress:
            run.extend(int(self.n_steps), progress)
        self.machine_ = run.model()
        vars(self).pop("_run", None)
        if self.warm_start:
            self._run = key, run
        return self

    def _begin(self, source: Source, survey: Survey) -> Boosting:
        sample = survey.sample
        scaler: InputScaler | RowNormalizer
        if self.preprocess == "standard":
            scaler = InputScaler.fit(sample.X, sample.weight)
        elif self.preprocess is None:
            scaler = InputScaler.identity(source.n_features)
        else:
            scaler = RowNormalizer()
        layers = Layers(
            scaler,
            source.n_features,
            self._units(source.n_features),
            activation=self.activation,
            weights=self.weights,
            weight_scale=self.weight_scale,
            bias_scale=self.bias_scale,
            seed=self.seed_,
        )
        return Boosting(
            layers,
            survey.coding,
            sample.head(LEFT_OUT_ROWS),
            source,
            alpha=float(self.alpha),
            shrinkage=float(self.shrinkage),
            centered=self.fit_intercept,
            patience=int(self.patience) if self.early_stopping else None,
            class_weight=survey.class_weight,
            n_jobs=self.n_jobs,
        )

    def _units(self, n_features: int) -> int:
        if self.n_hidden is not None:
            return int(self.n_hidden)
        return min(max(n_features, _FEWEST), _MOST)

    def _key(self, source: Source) -> dict[str, Any]:
        """Return what two fits must share for the second one to go on from the first."""
        parameters = self.get_params(deep=False)
        digest = hashlib.blake2b()
        for read in source.blocks(4096):  # blocks of one size, whatever the budget
            rows = read()
            X = rows.X
            parts = (X.data, X.indices, X.indptr) if hasattr(X, "indptr") else (X,)
            for part in (*parts, rows.y, rows.weight):
                digest.update(_bytes(part))
        kept = {k: v for k, v in parameters.items() if k not in _NO_MATTER}
        return kept | {"rows": digest.digest(), "dtype": source.dtype}

    def _step_progress(self, source: Source, run: Boosting) -> Any:
        if not self.verbose:
            return nullcontext()
        passes = int(self.n_steps) - len(run.weights) + 1
        total = None if source.n_rows is None else passes * source.n_rows
        return Progress(type(self).__name__, total)

    def plan(self, n_samples: int, n_features: int, n_outputs: int = 1) -> Plan:
        """Return passes, arithmetic and memory of a fit of that size; nothing runs.

        Examples
        --------
        >>> from kernelm import BoostedELMClassifier
        >>> print(BoostedELMClassifier(350).plan(60_000, 784, 10))
        352 passes over the rows, 39,438.1 GFLOP; memory: 14.8 MB sums + 536.9 MB blocks; \
model 22.0 MB
        """
        N, D, C, J = n_samples, n_features, n_outputs, self._units(n_features)
        step = N * (2.0 * D * J + J * J + 4.0 * J * C) + J**3 / 3
        return Plan(
            passes=self.n_steps + 2,
            flops=self.n_steps * step,
            bytes_sums=3 * 8 * J * J,
            bytes_blocks=KEPT * working_bytes(),
            bytes_model=8 * self.n_steps * J * C,
        )

    def _staged(self, X: Any) -> Iterator[NDArray]:
        check_is_fitted(self)
        return self.machine_.staged(self._valid(X, reset=False))

    # -- attributes that are derived when they are asked for ----------------------------

    @property
    def n_steps_(self) -> int:
        """Number of steps in use; early stopping leaves out those after the best."""
        return len(self._fitted().weights)

    @property
    def n_hidden_(self) -> int:
        """Number of units of each layer."""
        return self._fitted().layers.n_units

    @property
    def step_path_(self) -> NDArray:
        """Generalised cross-validation after each step, in squared units of coded targets."""
        return np.array(self._fitted().path)

    @property
    def status_(self) -> Status:
        """What happened in the fit, with advice; empty if all is well."""
        return self._fitted().status

    @property
    def approximate_loo_score_(self) -> float:
        """Accuracy or R² of approximate leave-one-out predictions on at most 1,024 kept rows.

        Residuals are divided by what the fit has left free of each row, which is exact for one
        step and an approximation for many.
        """
        return self._held_out_score


@final
class BoostedELMClassifier(_BoostedMachine, Classifier):
    """Boosted extreme learning machine for classification.

    Parameters
    ----------
    n_steps : int
        Number of steps, each a random layer and a ridge regression on what is left.
    n_hidden : int, optional
        Units of each layer; as many as inputs, but at least 100 and at most 1,000, if not given.
    activation : str or callable
        "tanh", "sign", "sigmoid", "erf", "relu", "hardlim", "sine", "fourier", "identity", or a
        function of the block of pre-activations.
    weights : str
        "normal", "uniform", "orthogonal", "sparse", "patches" or "hashed".
    weight_scale, bias_scale : float
        Factors of weights and biases. The paper has no biases: 0.
    preprocess : "standard", "sqrt-center-norm" or None
        Inputs scaled column by column, frozen from a sample of rows; or row by row as the paper
        does with images (square roots, less the mean of the row, divided by its length).
    alpha : float
        Ridge strength of every step.
    shrinkage : float
        Share of a step that is taken, above 0 and at most 1.
    fit_intercept : bool
        Take off the mean of the targets before the first step.
    early_stopping : bool
        Keep the number of steps with the least generalised cross-validation (``step_path_``), and
        stop after ``patience`` steps without improvement. The degrees of freedom of all steps
        together are estimated by random probes: a closed form, no rows are held back, but an
        estimate.
    patience : int
        See ``early_stopping``.
    warm_start : bool
        Keep residuals after a fit, so that another one on the same rows with more steps makes only
        the steps that are missing. The result is that of one longer fit. Other rows, other
        parameters or a copy that was pickled make all steps anew.
    class_weight : dict or "balanced", optional
        Factors of the row weights, class by class.
    random_state, n_jobs, verbose
        As in scikit-learn; ``n_jobs=None`` takes as many threads as BLAS would. Ctrl-C leaves the
        model of the steps that are complete.

    Attributes
    ----------
    classes_, n_steps_, step_path_, status_, approximate_loo_score_, n_hidden_

    Notes
    -----
    The model is one seed and the output weights: projections are drawn again when they are needed.
    A fit takes one pass over the rows a step and keeps the residuals of all rows in memory.
    Features of all rows are kept between two passes if they fit twice
    ``set_config(working_memory=…)``; else each step computes those of the step before once more.

    References
    ----------
    Andrecut (2023), ELM ridge regression boosting. Its levels of steps are one sequence of steps.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelm import BoostedELMClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> elm = BoostedELMClassifier(30, random_state=0).fit(X[:1000], y[:1000])
    >>> print(f"{elm.score(X[1000:], y[1000:]):.2f}, left-out {elm.approximate_loo_score_:.2f}")
    0.94, left-out 0.99
    """

    def __init__(
        self,
        n_steps: int = 100,
        *,
        n_hidden: int | None = None,
        activation: str | Callable[[NDArray], NDArray] = "tanh",
        weights: str = "normal",
        weight_scale: float = 1.0,
        bias_scale: float = 1.0,
        preprocess: str | None = "standard",
        alpha: float = 1.0,
        shrinkage: float = 0.5,
        fit_intercept: bool = True,
        early_stopping: bool = False,
        patience: int = 10,
        warm_start: bool = False,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_steps,
            n_hidden=n_hidden,
            activation=activation,
            weights=weights,
            weight_scale=weight_scale,
            bias_scale=bias_scale,
            preprocess=preprocess,
            alpha=alpha,
            shrinkage=shrinkage,
            fit_intercept=fit_intercept,
            early_stopping=early_stopping,
            patience=patience,
            warm_start=warm_start,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.class_weight = class_weight

    def staged_decision_function(self, X: Any) -> Iterator[NDArray]:
        """Yield what :meth:`decision_function` would return after each step."""
        return (self._decisions(scores) for scores in self._staged(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray]:
        """Yield the predicted labels after each step."""
        return (self._classes.decode(scores) for scores in self._staged(X))


@final
class BoostedELMRegressor(_BoostedMachine, Regressor):
    """Boosted extreme learning machine for regression, one or several outputs.

    Parameters
    ----------
    n_steps, n_hidden, activation, weights, weight_scale, bias_scale, preprocess, alpha, shrinkage
        As in :class:`BoostedELMClassifier`.
    fit_intercept, early_stopping, patience, warm_start
        As in :class:`BoostedELMClassifier`.
    random_state, n_jobs, verbose
        As in scikit-learn.

    Attributes
    ----------
    n_steps_, step_path_, status_, approximate_loo_score_, n_hidden_

    Notes
    -----
    The model is one seed and the output weights: projections are drawn again when they are needed.
    A fit takes one pass over the rows a step and keeps the residuals of all rows in memory.
    Features of all rows are kept between two passes if they fit twice
    ``set_config(working_memory=…)``; else each step computes those of the step before once more.

    References
    ----------
    Andrecut (2023), ELM ridge regression boosting. Its levels of steps are one sequence of steps.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelm import BoostedELMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> elm = BoostedELMRegressor(early_stopping=True, alpha=10, random_state=0).fit(X, y)
    >>> print(f"{elm.n_steps_} steps, left-out R2 {elm.approximate_loo_score_:.2f}")
    3 steps, left-out R2 0.48
    """

    def staged_predict(self, X: Any) -> Iterator[NDArray]:
        """Yield the predictions after each step."""
        return (self._values.decode(scores) for scores in self._staged(X))


def _same(a: dict[str, Any], b: Any) -> bool:
    return b is not None and all(_equal(a[k], b[k]) for k in a)


def _equal(a: Any, b: Any) -> bool:
    return a is b or (
        type(a) is type(b) and isinstance(a, str | bytes | int | float | dict | np.dtype) and a == b
    )


def _bytes(part: Any) -> bytes:
    if part is None:
        return b""
    part = np.asarray(part)
    # Objects would give their addresses.
    return np.ascontiguousarray(part.astype(str) if part.dtype.hasobject else part).tobytes()
