"""The scikit-learn side of every moment-based estimator.

Subclasses say which feature map to freeze; classification and regression are two mixins in
:mod:`kernelm.estimators.tasks`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from kernelm import _checks
from kernelm._config import working_bytes
from kernelm.data import Rows, Sample, Source
from kernelm.estimators.machine import Machine
from kernelm.features import FeatureMap
from kernelm.ridge import Path, Status
from kernelm.tasks import SAMPLE_ROWS, Estimator, Plan, Survey

__all__ = ["MomentEstimator", "Survey"]


class MomentEstimator(Estimator, ABC):
    """Fit by sums: freeze a feature map, add up moments, solve."""

    machine_: Machine
    alpha: Any

    # -- what subclasses say ------------------------------------------------------------

    @abstractmethod
    def _feature_counts(self, n_features: int, n_rows: int | None) -> list[tuple[int, ...]]:
        """Return, pass by pass, the numbers of leading features to compare (rising)."""

    @abstractmethod
    def _freeze_map(self, sample: Sample, n_features_out: int, seed: int) -> FeatureMap:
        """Return the frozen feature map."""

    def _announce(self, classes: Any) -> None:
        """Take in classes that a later call announces."""

    # -- fitting ------------------------------------------------------------------------

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to the model. The first block freezes the feature map.

        Weights are derived when they are next needed, so many small blocks cost little.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`.
        classes : array-like, optional
            For classifiers: every class that can occur. Needed in the first call; a later
            call may announce more.
        """
        first = not hasattr(self, "machine_")
        source = self._source(X, y, sample_weight, reset=first)
        if first:
            machine = self._streaming(source, classes)
            self._learn(machine, source)
            self.machine_ = machine
            return self
        self._announce(classes)
        machine = self.machine_
        with self._progress("partial_fit", source) as progress:
            machine.add(source, progress)
        machine.sample.add(Rows(source.X, source.y, source.weight, machine.sample.seen))
        machine.changed()
        return self

    def freeze(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Freeze the feature map on a sample without learning from it.

        Copies of a frozen model (``copy.deepcopy``) can ``partial_fit`` different rows, on
        different machines, and :meth:`merge` into the model of all of them.
        """
        source = self._source(X, y, sample_weight, reset=True)
        machine = self._streaming(source, classes)
        machine.empty()
        self.machine_ = machine
        return self

    def merge(self, other: Self) -> Self:
        """Add what another model with the same feature map has learned."""
        check_is_fitted(self)
        check_is_fitted(other)
        _checks.same_levels(self.columns_, other.columns_)
        self.machine_.merge(other.machine_)
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows out of the model, as if they had not been learned.

        Exact (to rounding, and alpha is chosen anew) for rows that did not shape the frozen
        feature map; what the map owes to them, such as the scaling of the inputs, stays. The
        rows must have been learned with the same weights.
        """
        check_is_fitted(self)
        self.machine_.forget(self._source(X, y, sample_weight, reset=False))
        return self

    def plan(self, n_samples: int, n_features: int, n_outputs: int = 1) -> Plan:
        """Return passes, arithmetic and memory of a fit of that size; nothing runs.

        Examples
        --------
        >>> from kernelm import ELMRegressor
        >>> print(ELMRegressor(n_hidden=1000).plan(200_000, 54))
        1 pass over the rows, 232.0 GFLOP; memory: 24.0 MB sums + 268.4 MB blocks; model 0.0 MB
        """
        sizes = [counts[-1] for counts in self._feature_counts(n_features, n_samples)]
        N, D, C, L = n_samples, n_features, n_outputs, sizes[-1]
        loo = isinstance(self.alpha, str) and self.alpha == "loo"
        # Products with the weights, Gram and cross moments; then one eigendecomposition.
        fits = sum(N * (2.0 * D * n + n * n + 2.0 * n * C) + 10.0 * n**3 for n in sizes)
        return Plan(
            passes=len(sizes) + loo,
            flops=fits + loo * N * 2.0 * L * (D + L),
            bytes_sums=3 * 8 * L * L,
            bytes_blocks=working_bytes(),
            bytes_model=8 * (L * C + 3 * D),
        )

    def _fit(self, source: Source, classes: Any) -> Self:
        self.machine_ = self._grown(source, self._survey(source, classes))
        return self

    def _grown(self, source: Source, survey: Survey) -> Machine:
        """Learn all rows with one layer after the other, while the larger one is worth it."""
        first, *later = self._feature_counts(source.n_features, source.n_rows)
        machine = self._machine(survey, first)
        self._learn(machine, source)
        for counts in later:
            if not machine.gains:
                break
            phi = self._freeze_map(survey.sample, counts[-1], self.seed_)
            larger = machine.with_map(phi, _up_to(phi.n_features_out, counts))
            self._learn(larger, source)
            if not larger.gains:
                machine.elsewhere = larger.units_path
                break
            machine = larger
        with self._progress("leave-one-out", source) as progress:
            machine.solve(source, progress)
        return machine

    def _streaming(self, source: Source, classes: Any) -> Machine:
        """Return a machine for rows that come once, frozen on the first of them."""
        counts = self._feature_counts(source.n_features, None)
        return self._machine(self._survey(source, classes), counts[0])

    def _machine(self, survey: Survey, counts: tuple[int, ...]) -> Machine:
        phi = self._freeze_map(survey.sample, counts[-1], self.seed_)
        return Machine(
            phi,
            survey.coding,
            survey.sample.head(SAMPLE_ROWS),
            alpha=self.alpha,
            intercept=self.fit_intercept,
            counts=_up_to(phi.n_features_out, counts),
            class_weight=survey.class_weight,
            n_jobs=self.n_jobs,
        )

    def _learn(self, machine: Machine, source: Source) -> None:
        with self._progress(f"fit {machine.phi.n_features_out} features", source) as progress:
            machine.learn(source, progress)

    # -- attributes that are derived when they are asked for ----------------------------

    @property
    def alpha_(self) -> float:
        """The ridge strength in use."""
        return self._fitted().solution.alpha

    @property
    def path_(self) -> Path:
        """The criterion for every alpha."""
        return self._fitted().solution.path

    @property
    def status_(self) -> Status:
        """What happened in the solve, with advice; empty if all is well."""
        return self._fitted().solution.status

    @property
    def effective_df_(self) -> float:
        """Effective degrees of freedom, the trace of the hat matrix."""
        solution = self._fitted().solution
        return solution.factor.df(solution.alpha)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "machine_") and self.machine_.sample.seen > 0


def _up_to(n_features: int, counts: tuple[int, ...]) -> tuple[int, ...]:
    """Return the counts that a map can serve, its own size last (data may have less to give)."""
    return (*(k for k in counts if k < n_features), n_features)
