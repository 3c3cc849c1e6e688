"""The scikit-learn side of every moment-based estimator.

Subclasses say which feature map to freeze; classification and regression are two mixins in
:mod:`kernelm.estimators.tasks`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_is_fitted,
    check_X_y,
    validate_data,
)

from kernelm import _checks
from kernelm._config import working_bytes
from kernelm.data import ArraySource, Progress, Rows, Sample, Source
from kernelm.data.frames import FrameColumns, is_frame
from kernelm.data.targets import Targets
from kernelm.estimators.machine import SAMPLE_ROWS, Machine
from kernelm.estimators.plan import Plan
from kernelm.features import FeatureMap
from kernelm.ridge import Path, Status


class Survey(NamedTuple):
    """What is known before anything is learned."""

    sample: Sample
    coding: Targets
    class_weight: NDArray | None


class MomentEstimator(BaseEstimator, ABC):
    """Fit by sums: freeze a feature map, add up moments, solve."""

    machine_: Machine
    n_features_in_: int
    feature_names_in_: NDArray
    columns_: FrameColumns | None  #: how names in a data frame become numbers

    alpha: Any
    fit_intercept: bool
    random_state: Any
    n_jobs: int | None
    verbose: int

    # -- what subclasses say ------------------------------------------------------------

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise for parameters that cannot be used."""

    @abstractmethod
    def _feature_counts(self, n_features: int, n_rows: int | None) -> list[tuple[int, ...]]:
        """Return, pass by pass, the numbers of leading features to compare (rising)."""

    @abstractmethod
    def _freeze_map(self, sample: Sample, n_features_out: int, seed: int) -> FeatureMap:
        """Return the frozen feature map."""

    @abstractmethod
    def _check_y(self, y: Any) -> NDArray:
        """Return valid targets."""

    @abstractmethod
    def _coding(
        self, source: Source, sample: Sample, classes: Any
    ) -> tuple[Targets, NDArray | None]:
        """Return the coding of the targets, and class weights."""

    def _announce(self, classes: Any) -> None:
        """Take in classes that a later call announces."""

    # -- fitting ------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to arrays, CSR matrices or data frames.

        Parameters
        ----------
        X : {array-like, CSR matrix, data frame} of shape (n_samples, n_features)
            Inputs; float32 stays float32. Categorical, string and object columns of a data
            frame are one-hot encoded. Their levels are frozen here (those that a categorical
            declares, else those in X); one that comes up later is encoded as zeros. A missing
            name is a level of its own if X holds any, else zeros too.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights; a whole number means the row repeated so many times.

        Returns
        -------
        self
        """
        return self._fit(self._source(X, y, sample_weight, reset=True), None)

    def fit_source(self, source: Source, *, classes: Any = None) -> Self:
        """Fit to rows that are read block by block, as many as there are.

        Parameters
        ----------
        source : Source
            For example ``kernelm.data.ArraySource(np.load(file, mmap_mode="r"), y)``.
        classes : array-like, optional
            All classes, where they are known; it saves a pass over the rows.
        """
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.columns_ = None
        self.n_features_in_ = source.n_features
        return self._fit(source, classes)

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

    def _survey(self, source: Source, classes: Any) -> Survey:
        """Sample the rows, learn what the targets are, and settle what depends on both."""
        self._check_parameters()
        _checks.has_rows(source.n_rows)
        self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))
        sample = Sample.of(source, self._sample_rows(source), self.seed_)
        survey = Survey(sample, *self._coding(source, sample, classes))
        self._settle(survey)
        return survey

    def _sample_rows(self, source: Source) -> int:
        """Return how many rows the feature map is frozen from."""
        return SAMPLE_ROWS

    def _settle(self, survey: Survey) -> None:
        """Decide once, before any map is frozen, what the maps have in common."""

    def _learn(self, machine: Machine, source: Source) -> None:
        with self._progress(f"fit {machine.phi.n_features_out} features", source) as progress:
            machine.learn(source, progress)

    def _source(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> ArraySource:
        X, y = self._valid(X, y, reset=reset)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
            _checks.some_weight(sample_weight)
        return ArraySource(X, self._check_y(y), sample_weight)

    def _valid(self, X: Any, y: Any = "no_validation", *, reset: bool) -> Any:
        """Return X, and y where it is given, as valid arrays of numbers."""
        alone = isinstance(y, str)
        options: dict[str, Any] = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)}
        options |= {} if alone else {"multi_output": True}
        if reset:
            self.columns_ = FrameColumns.of(X)
        if self.columns_ is None:
            return validate_data(self, X, y, reset=reset, **options)
        if is_frame(X):  # scikit-learn knows the columns of the frame, not those of the levels
            validate_data(self, X, reset=reset, skip_check_array=True)
        X = self.columns_.encode(X)
        if alone:
            return check_array(X, input_name="X", estimator=self, **options)
        return check_X_y(X, y, estimator=self, **options)

    @property
    def _n_inputs(self) -> int:
        """Number of inputs of the feature map, levels of a data frame counted one by one."""
        return self.n_features_in_ if self.columns_ is None else len(self.columns_.names)

    def _progress(self, label: str, source: Source) -> AbstractContextManager[Progress | None]:
        if not self.verbose:
            return nullcontext()
        return Progress(f"{type(self).__name__} {label}", source.n_rows)

    # -- predicting ---------------------------------------------------------------------

    def _scores(self, X: Any) -> NDArray:
        check_is_fitted(self)
        return self.machine_.predict(self._valid(X, reset=False))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "machine_") and self.machine_.sample.seen > 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags

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

    def _fitted(self) -> Machine:
        # AttributeError, so that hasattr() says no before fit.
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self.machine_


def _up_to(n_features: int, counts: tuple[int, ...]) -> tuple[int, ...]:
    """Return the counts that a map can serve, its own size last (data may have less to give)."""
    return (*(k for k in counts if k < n_features), n_features)
