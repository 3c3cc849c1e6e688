"""Optimally pruned extreme learning machines: many units, ranked, and as few kept as needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.data import Progress, Sample, Source, effective_jobs
from kernelm.data.targets import Targets
from kernelm.estimators.solution import Solution, Solver
from kernelm.features import KINDS, MixedUnits
from kernelm.ridge import Path, Prefixes, Status, fewest, lars_order, observations
from kernelm.tasks import SAMPLE_ROWS, Classifier, Estimator, Plan, Regressor, Survey


@final
@dataclass(eq=False)
class PrunedMachine(Solver):
    """Least squares on the units that rank highest; the sample is what is kept of the rows."""

    phi: MixedUnits  #: all units; those in use are in the solution
    targets: Targets
    sample: Sample
    class_weight: NDArray | None = None
    n_jobs: int | None = None

    def learn(self, n_units: int) -> None:
        """Rank the units, choose how many to keep, and fit; the sample holds all rows."""
        Y, weights = self._encode(self.sample), self._weights(self.sample)
        Phi = self.phi.map(self.sample.X.astype(np.float64))
        self.ranking = lars_order(Phi, Y, weights[0])[:n_units]
        prefixes = Prefixes.of(Phi[:, self.ranking], Y, *weights)
        self.press = prefixes.errors() / Y.shape[1]
        k = fewest(self.press)
        path = Path("given", np.zeros(1), self.press[[k - 1]])
        chosen = self.phi.take(self.ranking[:k])
        self.solution = Solution.of(chosen, prefixes.fit(k), path, {})
        self.residuals = prefixes.loo_residuals(k)

    def keep(self, n_rows: int) -> None:
        """Keep a sample of the rows, and of their leave-one-out residuals."""
        sample = self.sample.head(n_rows)
        self.residuals = self.residuals[np.isin(self.sample.priority, sample.priority)]
        self.sample = sample

    def solve(self, source: Source | None = None, progress: Progress | None = None) -> Solution:
        """Return the solution: ranking and fit were one step."""
        return self.solution

    def _sample_residuals(self) -> NDArray:
        return self.residuals


class _PrunedLayer(Estimator):
    """The parameters of the units, and what is known about them after the fit."""

    machine_: PrunedMachine
    fit_intercept = True

    def __init__(
        self,
        n_units: int = 100,
        *,
        units: Sequence[str] = KINDS,
        scale_inputs: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_units = n_units
        self.units = units
        self.scale_inputs = scale_inputs
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def plan(self, n_samples: int, n_features: int, n_outputs: int = 1) -> Plan:
        """Return passes, arithmetic and memory of a fit of that size; nothing runs.

        Examples
        --------
        >>> from kernelm import OPELMRegressor
        >>> print(OPELMRegressor().plan(10_000, 8))
        1 pass over the rows, 0.6 GFLOP; memory: 24.0 MB sums + 0.6 MB blocks; model 0.0 MB
        """
        N, D, C, L = n_samples, n_features, n_outputs, min(self.n_units, n_samples)
        return Plan(
            passes=1,
            # Units; Gram matrix of the ranking; Gram-Schmidt, twice; residuals.
            flops=2.0 * N * L * (D + L + 2 * L + C),
            bytes_sums=3 * 8 * N * L,
            bytes_blocks=8 * N * D,
            bytes_model=8 * L * (D + C),
        )

    def _check_parameters(self) -> None:
        _checks.integer(self.n_units, "n_units")
        _checks.some_units(self.units, KINDS)
        effective_jobs(self.n_jobs)

    def _sample_rows(self, source: Source) -> int:
        return source.n_rows or 2**62  # all of them, also where only a pass can count them

    def _fit(self, source: Source, classes: Any) -> Self:
        survey = self._survey(source, classes)
        sample, n_units = survey.sample, self._n_candidates(survey)
        phi = MixedUnits.draw(
            sample.X,
            n_units,
            self.units,
            weight=sample.weight,
            scale_inputs=self.scale_inputs,
            seed=self.seed_,
        )
        machine = PrunedMachine(phi, survey.coding, sample, survey.class_weight, self.n_jobs)
        with self._progress(f"rank {phi.n_features_out} units", source) as progress:
            machine.learn(n_units)
            if progress is not None:
                progress.advance(len(sample.priority))
        machine.keep(SAMPLE_ROWS)
        self.machine_ = machine
        return self

    def _n_candidates(self, survey: Survey) -> int:
        """Return the number of units to draw: one row must be left to judge them by."""
        weight = survey.sample.weight
        rows = len(survey.sample.priority) if weight is None else observations(weight)
        return max(1, min(int(self.n_units), round(rows) - 2))

    # -- attributes ---------------------------------------------------------------------

    @property
    def ranking_(self) -> NDArray:
        """All units that were drawn, the most useful first; inputs are counted first, then
        sigmoid, then Gaussian units."""
        return self._fitted().ranking

    @property
    def press_(self) -> NDArray:
        """Mean squared leave-one-out error of the first 1, 2, … units of the ranking.

        Of targets of unit variance (regression) or codes of ±1 (classification), averaged over
        outputs; infinite where units use up every row.
        """
        return self._fitted().press

    @property
    def n_units_(self) -> int:
        """Number of units in use: the fewest whose error is within 0.1 % of the lowest."""
        return self._fitted().solution.phi.n_features_out

    @property
    def units_(self) -> dict[str, int]:
        """Number of units in use, kind by kind."""
        return self._fitted().solution.phi.kinds()

    @property
    def status_(self) -> Status:
        """What happened in the solve, with advice; empty if all is well."""
        return self._fitted().solution.status


@final
class OPELMClassifier(_PrunedLayer, Classifier):
    """Optimally pruned extreme learning machine for classification.

    Draws linear, sigmoid and Gaussian units, ranks them by multiresponse sparse regression
    (least angle regression for several outputs), keeps the leading ones with the smallest
    leave-one-out error (PRESS), and fits them by least squares. The model is small; the fit is
    in memory, about three arrays of rows × units.

    Parameters
    ----------
    n_units : int
        Number of units to draw; no more than there are rows, less two.
    units : sequence of str
        Kinds to draw, in equal shares: "linear" (an input; at most as many as there are),
        "sigmoid" (weights uniform in [-5, 5]) and "gaussian" (centres are training rows, widths
        lie between the 20th and the 80th percentile of their distances).
    scale_inputs : bool
        Scale inputs by the rows: columns standardised, rows of unit length on average.
    class_weight : dict or "balanced", optional
        Factors of the row weights, class by class.
    random_state, n_jobs, verbose
        As in scikit-learn; ``n_jobs`` is for predicting, BLAS has its own threads.

    Attributes
    ----------
    classes_, ranking_, press_, n_units_, units_, loo_score_, status_

    Notes
    -----
    ``loo_score_`` and ``press_`` are exact for given units; that the units were ranked by the
    same rows is not left out: they are too optimistic, clearly so where rows are few.

    References
    ----------
    Miche, Sorjamaa, Bas, Simula, Jutten and Lendasse (2010), OP-ELM: optimally pruned extreme
    learning machine.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelm import OPELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OPELMClassifier(random_state=0).fit(X, y)
    >>> print(f"{model.n_units_} of {len(model.ranking_)} units, {model.loo_score_:.2f}")
    12 of 100 units, 0.98
    """

    def __init__(
        self,
        n_units: int = 100,
        *,
        units: Sequence[str] = KINDS,
        scale_inputs: bool = True,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_units,
            units=units,
            scale_inputs=scale_inputs,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.class_weight = class_weight

    @property
    def loo_score_(self) -> float:
        """Accuracy of leave-one-out predictions on the kept rows, for the chosen units."""
        return self._held_out_score


@final
class OPELMRegressor(_PrunedLayer, Regressor):
    """Optimally pruned extreme learning machine for regression, one or several outputs.

    Draws linear, sigmoid and Gaussian units, ranks them by least angle regression (several
    outputs: multiresponse sparse regression), keeps the leading ones with the smallest
    leave-one-out error (PRESS), and fits them by least squares. The model is small; the fit is
    in memory, about three arrays of rows × units.

    Parameters
    ----------
    n_units, units, scale_inputs
        As in :class:`OPELMClassifier`.
    random_state, n_jobs, verbose
        As in scikit-learn; ``n_jobs`` is for predicting, BLAS has its own threads.

    Attributes
    ----------
    ranking_, press_, n_units_, units_, loo_score_, status_

    Notes
    -----
    ``loo_score_`` and ``press_`` are exact for given units; that the units were ranked by the
    same rows is not left out: they are too optimistic, clearly so where rows are few.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelm import OPELMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = OPELMRegressor(random_state=0).fit(X, y)
    >>> print(f"{model.n_units_} of {len(model.ranking_)} units, R2 {model.loo_score_:.2f}")
    25 of 100 units, R2 0.51
    >>> model.units_
    {'linear': 2, 'sigmoid': 18, 'gaussian': 5}
    """

    @property
    def loo_score_(self) -> float:
        """R² of leave-one-out predictions on the kept rows, for the chosen units."""
        return self._held_out_score
