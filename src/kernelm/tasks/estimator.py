"""The scikit-learn side of every machine.

Rows come in as arrays, frames or sources; what can be known before learning is surveyed once; a
machine is fitted; scores come out. Subclasses say which machine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
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
from kernelm.data import ArraySource, Progress, Rows, Sample, Source
from kernelm.data.checkpoint import Checkpoint, Checkpointed, identity_of
from kernelm.data.files.write import write
from kernelm.data.frames import FrameColumns, is_frame
from kernelm.data.targets import Targets
from kernelm.tasks.predicting import as_trained, predictions

#: Rows kept for freezing maps, leave-one-out scores, calibration and intervals.
SAMPLE_ROWS = 4096


class Survey(NamedTuple):
    """What is known before anything is learned."""

    sample: Sample
    coding: Targets
    class_weight: NDArray | None


class Estimator(BaseEstimator, ABC):
    """Survey the rows, fit a machine, and let it score other rows."""

    machine_: Any  #: has targets, held-out scores, and predicts scores
    n_features_in_: int
    feature_names_in_: NDArray
    columns_: FrameColumns | None  #: how names in a data frame become numbers

    fit_intercept: bool
    random_state: Any
    n_jobs: int | None
    verbose: int

    # -- what subclasses say ------------------------------------------------------------

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise for parameters that cannot be used."""

    @abstractmethod
    def _fit(self, source: Source, classes: Any) -> Self:
        """Fit a machine to the rows of a source."""

    @abstractmethod
    def _check_y(self, y: Any) -> NDArray:
        """Return valid targets."""

    @abstractmethod
    def _coding(
        self, source: Source, sample: Sample, classes: Any
    ) -> tuple[Targets, NDArray | None]:
        """Return the coding of the targets, and class weights."""

    @property
    @abstractmethod
    def _held_out_score(self) -> float:
        """How well left-out rows are predicted."""

    # -- fitting ------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to arrays, CSR matrices or data frames.

        Parameters
        ----------
        X : {array-like, CSR matrix, data frame} of shape (n_samples, n_features)
            Inputs; float32 stays float32. Categorical, string and object columns of a data
            frame are one-hot encoded. Their levels are frozen here (those that a categorical
            declares, else those in X); one that comes up later is encoded as zeros. A missing
            name is a level of its own if X holds any, else zeros too. A missing number in a
            data frame is the median of its column, and a further column says so; in arrays it
            is an error.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights; a whole number means the row repeated so many times.

        Returns
        -------
        self
        """
        return self._fit(self._source(X, y, sample_weight, reset=True), None)

    def fit_source(
        self, source: Source, *, classes: Any = None, checkpoint: str | Path | None = None
    ) -> Self:
        """Fit to rows that are read block by block, as many as there are.

        Parameters
        ----------
        source : Source
            For example ``kernelm.data.scan("train-*.parquet", target="label")``.
        classes : array-like, optional
            All classes, where they are known; it saves a pass over the rows.
        checkpoint : path, optional
            A directory in which sums are saved every half minute. After a crash or a kill the same
            call goes on from there and gives the model of an undisturbed fit. A fit that ends
            well clears it.
        """
        _checks.source(source, Source)
        self._take_columns(source)
        if checkpoint is None:
            return self._fit(source, classes)
        kept = Checkpoint(Path(checkpoint), identity_of(self, source))
        self._fit(Checkpointed(source, kept), classes)
        kept.clear()
        return self

    def _take_columns(self, source: Source) -> None:
        """Take names of columns, and how names in them become numbers, from a source."""
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        names = getattr(source, "names", None)
        self.columns_ = getattr(source, "columns", None)
        self.n_features_in_ = source.n_features if self.columns_ is None else len(names or ())
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _survey(self, source: Source, classes: Any) -> Survey:
        """Sample the rows, learn what the targets are, and settle what depends on both."""
        self._check_parameters()
        _checks.has_rows(source.n_rows)
        self.seed_ = self._seed(source)
        sample = Sample.of(source, self._sample_rows(source), self.seed_)
        survey = Survey(sample, *self._coding(source, sample, classes))
        self._settle(survey)
        return survey

    def _seed(self, source: Source) -> int:
        """Return the seed of a fit: that of the first try, if this is another one."""
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        kept: Checkpoint | None = getattr(source, "checkpoint", None)
        return seed if kept is None else kept.remember("seed", lambda: seed)

    def _sample_rows(self, source: Source) -> int:
        """Return how many rows the feature map is frozen from."""
        return SAMPLE_ROWS

    def _settle(self, survey: Survey) -> None:
        """Decide once, before any map is frozen, what the maps have in common."""

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
        if isinstance(X, Rows):  # of a source: numbers already
            return check_array(X.X, input_name="X", estimator=self, **options)
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

    def predict_source(
        self, source: Source, path: str | Path, *, outputs: tuple[str, ...] = ("predict",)
    ) -> int:
        """Write predictions for the rows of a source to a file, block by block.

        Parameters
        ----------
        source : Source
            For example ``kernelm.data.scan("new-*.parquet")``. Of files and data frames with
            names the columns of the training rows are taken, whatever others there are.
        path : path
            A name that ends in ``.parquet``, ``.arrow`` or ``.csv``. It appears when it is
            complete.
        outputs : tuple of str
            Methods whose results become columns: "predict", "predict_proba",
            "decision_function", "predict_interval".

        Returns
        -------
        int
            Number of rows that were written.
        """
        check_is_fitted(self)
        _checks.source(source, Source)
        source = as_trained(source, getattr(self, "feature_names_in_", None), self.columns_)
        _checks.known_columns(source.n_features, self._n_inputs, "source")
        return write(path, predictions(self, source, tuple(outputs), self.n_jobs))

    def _scores(self, X: Any) -> NDArray:
        check_is_fitted(self)
        return self.machine_.predict(self._valid(X, reset=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "machine_")

    def _fitted(self) -> Any:
        # AttributeError, so that hasattr() says no before fit.
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self.machine_
