"""Extreme learning machines: a random hidden layer and a ridge regression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from numpy.typing import NDArray

from kernelm import _checks
from kernelm.data import Sample
from kernelm.estimators.base import MomentEstimator
from kernelm.estimators.tasks import MomentClassifier, MomentRegressor
from kernelm.features import FeatureMap, RandomLayer
from kernelm.tasks import doublings, largest_layer

_SMALLEST, _FIRST_PASS, _STREAMED = 128, 512, 1024


class _HiddenLayerMachine(MomentEstimator):
    """The parameters of the hidden layer, and how many units to try."""

    def __init__(
        self,
        n_hidden: int | str = "auto",
        *,
        activation: str | Callable[[NDArray], NDArray] = "tanh",
        weights: str = "normal",
        weight_scale: float = 1.0,
        direct_links: bool = False,
        scale_inputs: bool = True,
        alpha: Any = "auto",
        fit_intercept: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_hidden = n_hidden
        self.activation = activation
        self.weights = weights
        self.weight_scale = weight_scale
        self.direct_links = direct_links
        self.scale_inputs = scale_inputs
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        _checks.alpha_choice(self.alpha)
        if isinstance(self.n_hidden, str):
            _checks.one_of(self.n_hidden, "n_hidden (or a number of units)", ["auto"])
        else:
            _checks.integer(self.n_hidden, "n_hidden")
        self._layer(1, 0)

    def _layer(self, n_units: int, seed: int) -> RandomLayer:
        return RandomLayer(
            n_units=n_units,
            activation=self.activation,
            weights=self.weights,
            weight_scale=self.weight_scale,
            direct_links=self.direct_links,
            scale_inputs=self.scale_inputs,
            center=self.fit_intercept,
            seed=seed,
        )

    def _freeze_map(self, sample: Sample, n_features_out: int, seed: int) -> FeatureMap:
        linked = sample.X.shape[1] if self.direct_links else 0
        return self._layer(n_features_out - linked, seed).freeze(sample.X, sample.weight)

    def _feature_counts(self, n_features: int, n_rows: int | None) -> list[tuple[int, ...]]:
        linked = n_features if self.direct_links else 0
        if not isinstance(self.n_hidden, str):
            return [(linked + int(self.n_hidden),)]
        top = largest_layer(_SMALLEST)
        top = top if n_rows is not None else min(_STREAMED, top)
        sizes = [linked + n for n in doublings(_SMALLEST, top)]
        if n_rows is None:  # rows come once: one pass with all sizes nested in it
            return [tuple(sizes)]
        nested = sizes.index(linked + min(_FIRST_PASS, top)) + 1
        return [tuple(sizes[:nested]), *((n,) for n in sizes[nested:])]

    @property
    def n_hidden_(self) -> int:
        """Number of hidden units in use."""
        return int(self._fitted().solution.phi.n_features_out) - (
            self._n_inputs if self.direct_links else 0
        )

    @property
    def units_path_(self) -> dict[int, float]:
        """Criterion for each number of units that was tried."""
        linked = self._n_inputs if self.direct_links else 0
        return {k - linked: v for k, v in self._fitted().solution.units_path.items()}


@final
class ELMClassifier(_HiddenLayerMachine, MomentClassifier):
    """Extreme learning machine for classification, regularised and self-tuning.

    Parameters
    ----------
    n_hidden : int or "auto"
        Number of hidden units. "auto" doubles it while the criterion of alpha still improves
        by a percent and the sums fit the memory budget;
        :func:`~kernelm.unit_curve` shows the leave-one-out error of every number.
    activation : str or callable
        "tanh", "sigmoid", "erf", "relu", "sign", "hardlim", "sine", "fourier", "identity",
        "rbf", "multiquadric", or a function of the block of pre-activations.
    weights : str
        "normal", "uniform", "orthogonal", "sparse", "patches", "data", or "hashed": signs that are
        never stored, for sparse rows of millions of inputs.
    weight_scale : float
        Factor of weights and biases (of the width for "rbf" and "multiquadric").
    direct_links : bool
        Use the inputs as features too.
    scale_inputs : bool
        Scale inputs by a sample of the rows, frozen. Papers do without.
    alpha : float, array-like, "auto", "gcv" or "loo"
        Ridge strength: one, some to choose from by generalised cross-validation, or chosen
        from a default range: by the exact leave-one-out error of the rows that the model keeps
        ("auto": all of them up to 4,096), by generalised cross-validation, which needs sums only
        and flatters models with almost as many units as rows, or by leave-one-out of all rows
        (one more pass). 0 is the minimum-norm least-squares solution.
    fit_intercept : bool
        Fit an unpenalised intercept.
    class_weight : dict or "balanced", optional
        Factors of the row weights, class by class.
    random_state, n_jobs, verbose
        As in scikit-learn; ``n_jobs=None`` takes as many threads as BLAS would.

    Attributes
    ----------
    classes_, alpha_, path_, status_, effective_df_, coef_, intercept_, loo_score_,
    n_hidden_, units_path_

    References
    ----------
    Huang, Zhu and Siew (2006), Extreme learning machine: theory and applications.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelm import ELMClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> elm = ELMClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> print(f"{elm.score(X[1000:], y[1000:]):.2f}, leave-one-out {elm.loo_score_:.2f}")
    0.95, leave-one-out 0.99
    """

    def __init__(
        self,
        n_hidden: int | str = "auto",
        *,
        activation: str | Callable[[NDArray], NDArray] = "tanh",
        weights: str = "normal",
        weight_scale: float = 1.0,
        direct_links: bool = False,
        scale_inputs: bool = True,
        alpha: Any = "auto",
        fit_intercept: bool = True,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_hidden,
            activation=activation,
            weights=weights,
            weight_scale=weight_scale,
            direct_links=direct_links,
            scale_inputs=scale_inputs,
            alpha=alpha,
            fit_intercept=fit_intercept,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.class_weight = class_weight


@final
class ELMRegressor(_HiddenLayerMachine, MomentRegressor):
    """Extreme learning machine for regression, one or several outputs.

    Parameters
    ----------
    n_hidden : int or "auto"
        Number of hidden units. "auto" doubles it while the criterion of alpha still improves
        by a percent and the sums fit the memory budget;
        :func:`~kernelm.unit_curve` shows the leave-one-out error of every number.
    activation : str or callable
        "tanh", "sigmoid", "erf", "relu", "sign", "hardlim", "sine", "fourier", "identity",
        "rbf", "multiquadric", or a function of the block of pre-activations.
    weights : str
        "normal", "uniform", "orthogonal", "sparse", "patches", "data", or "hashed": signs that are
        never stored, for sparse rows of millions of inputs.
    weight_scale : float
        Factor of weights and biases (of the width for "rbf" and "multiquadric").
    direct_links : bool
        Use the inputs as features too.
    scale_inputs : bool
        Scale inputs by a sample of the rows, frozen. Papers do without.
    alpha : float, array-like, "auto", "gcv" or "loo"
        Ridge strength: one, some to choose from by generalised cross-validation, or chosen
        from a default range: by the exact leave-one-out error of the rows that the model keeps
        ("auto": all of them up to 4,096), by generalised cross-validation, which needs sums only
        and flatters models with almost as many units as rows, or by leave-one-out of all rows
        (one more pass). 0 is the minimum-norm least-squares solution.
    fit_intercept : bool
        Fit an unpenalised intercept.
    random_state, n_jobs, verbose
        As in scikit-learn; ``n_jobs=None`` takes as many threads as BLAS would.

    Attributes
    ----------
    alpha_, path_, status_, effective_df_, coef_, intercept_, loo_score_, n_hidden_,
    units_path_

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelm import ELMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> elm = ELMRegressor(random_state=0).fit(X, y)
    >>> print(f"leave-one-out R2 {elm.loo_score_:.2f}")
    leave-one-out R2 0.50
    """
