"""Kernel extreme learning machines: exact, on a subset, on landmarks, Nyström, deep."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
from sklearn.utils.metaestimators import available_if

from kernelm import _checks
from kernelm._config import working_bytes
from kernelm.data import Sample, Source, effective_jobs
from kernelm.estimators.base import MomentEstimator, Survey
from kernelm.estimators.exact import ExactMachine
from kernelm.estimators.iterative import IterativeMachine
from kernelm.estimators.machine import SAMPLE_ROWS, WORTHWHILE
from kernelm.estimators.plan import Plan
from kernelm.estimators.tasks import MomentClassifier, MomentRegressor
from kernelm.features import CHOICES, FeatureMap, InputScaler, KernelColumns, choose, distinct
from kernelm.kernels import (
    ArcCosine,
    AsymptoticELM,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
)
from kernelm.search import KernelPath, rank_kernels

#: Kernels that can be asked for by name.
NAMED: dict[str, Kernel] = {
    "linear": Linear(),
    "gaussian": Gaussian("median"),
    "laplacian": Laplacian("median"),
    "matern32": Matern32("median"),
    "matern52": Matern52("median"),
    "arccosine": ArcCosine([1], normalize=True),
    "elm": AsymptoticELM(),
}

APPROXIMATIONS = ("auto", "exact", "subset", "landmarks", "nystrom")

DIRECT_LANDMARKS = 2048  # up to here sums and an eigendecomposition are the faster solver
MAX_FLOPS = 2e13  # n_landmarks="auto" stops before a fit would take minutes
SEARCH_ROWS = 1000  # rows that kernel="auto" looks at
POOL_ROWS = 16_384  # rows that landmarks are chosen from
_SMALLEST, _FIRST_PASS = 256, 1024


def _streams(estimator: _KernelMachine) -> bool:
    """Whether the form has sums; raises with advice where it keeps rows instead."""
    machine = getattr(estimator, "machine_", None)
    keeps_rows = isinstance(machine, ExactMachine | IterativeMachine)
    return _checks.streams(estimator.approximation, keeps_rows)


class _KernelMachine(MomentEstimator):
    """The parameters of kernel and landmarks, and what is settled before a fit."""

    kernel_: Kernel
    machine_: Any  # sums, rows or passes: whatever the form asks for

    def __init__(
        self,
        kernel: Kernel | str = "auto",
        *,
        approximation: str = "auto",
        n_landmarks: int | str = "auto",
        landmarks: Any = "uniform",
        stratify: bool = False,
        solver: str = "auto",
        scale_inputs: bool = True,
        alpha: Any = "gcv",
        fit_intercept: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.approximation = approximation
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.stratify = stratify
        self.solver = solver
        self.scale_inputs = scale_inputs
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        _checks.alpha_choice(self.alpha)
        _checks.one_of(self.approximation, "approximation", APPROXIMATIONS)
        _checks.one_of(self.solver, "solver", ["auto", "direct", "falkon"])
        if isinstance(self.n_landmarks, str):
            _checks.one_of(self.n_landmarks, "n_landmarks (or a number)", ["auto"])
        else:
            _checks.integer(self.n_landmarks, "n_landmarks")
        if isinstance(self.landmarks, str):
            _checks.one_of(self.landmarks, "landmarks", CHOICES)
        elif not callable(self.landmarks):
            _checks.rows(self.landmarks, "landmarks")
        effective_jobs(self.n_jobs)
        if isinstance(self.kernel, str):
            _checks.one_of(self.kernel, "kernel (or a kernel object)", ["auto", *NAMED])
        else:
            _checks.instance(self.kernel, "kernel", Kernel)

    # -- before any map -----------------------------------------------------------------

    def _settle(self, survey: Survey) -> None:
        sample, coding = survey.sample, survey.coding
        X, weight = sample.X, sample.weight
        if self.scale_inputs:
            self.scaler_ = InputScaler.fit(X, weight, unit_length=False)
        else:
            self.scaler_ = InputScaler.identity(X.shape[1])
        self.kernel_path_: KernelPath | None = None
        if isinstance(self.kernel, str) and self.kernel == "auto":
            few = sample.head(SEARCH_ROWS)
            S, Y = self.scaler_.transform(few.X), coding.encode(_checks.has_targets(few.y), float)
            self.kernel_path_ = rank_kernels(
                S, Y, weight=few.weight, intercept=self.fit_intercept, seed=self.seed_
            )
            self.kernel_ = self.kernel_path_[0].resolved
        else:
            kernel = NAMED[self.kernel] if isinstance(self.kernel, str) else self.kernel
            self.kernel_ = kernel.resolve(self.scaler_.transform(X), weight, self.seed_)

    def _sample_rows(self, source: Source) -> int:
        return POOL_ROWS

    def _freeze_map(self, sample: Sample, n_features_out: int, seed: int) -> FeatureMap:
        rows = distinct(sample.X, sample.weight)
        S = self.scaler_.transform(sample.X[rows])
        groups = _checks.has_targets(sample.y)[rows] if self.stratify else None
        chosen = choose(S, n_features_out, self.landmarks, self.kernel_, seed, groups)
        self.landmarks_ = chosen
        in_kernel_norm = self.approximation != "landmarks"
        return KernelColumns(self.kernel_, self.scaler_, chosen.Z, in_kernel_norm)

    def _feature_counts(self, n_features: int, n_rows: int | None) -> list[tuple[int, ...]]:
        if not isinstance(self.landmarks, str) and not callable(self.landmarks):
            return [(_checks.rows(self.landmarks, "landmarks").shape[0],)]
        if not isinstance(self.n_landmarks, str):
            n = int(self.n_landmarks)
            direct = self.solver == "direct" or self.approximation == "landmarks"
            return [(n if direct else min(n, DIRECT_LANDMARKS),)]
        top = min(_largest_set(), DIRECT_LANDMARKS)
        sizes = [_SMALLEST]
        while sizes[-1] < min(top, n_rows or _FIRST_PASS):
            sizes.append(2 * sizes[-1])
        first = tuple(n for n in sizes if n <= _FIRST_PASS)
        return [first, *((n,) for n in sizes[len(first) :])]

    # -- fitting ------------------------------------------------------------------------

    def _fit(self, source: Source, classes: Any) -> Self:
        survey = self._survey(source, classes)
        form = self._form(source.n_rows)
        if form in ("exact", "subset"):
            self.machine_ = self._exact(source, survey, form)
        else:
            self.machine_ = self._iterated(source, survey, self._grown(source, survey))
        return self

    def _exact(self, source: Source, survey: Survey, form: str) -> ExactMachine:
        # Samples keep rows by priority: with room for all of them, all.
        rows = self._subset_rows() if form == "subset" else source.n_rows or 2**62
        sample = Sample.of(source, rows, self.seed_)
        Z = self.scaler_.transform(sample.X)
        phi = KernelColumns(self.kernel_, self.scaler_, Z, in_kernel_norm=True)
        machine = ExactMachine(
            phi,
            survey.coding,
            sample,
            self.alpha,
            self.fit_intercept,
            survey.class_weight,
            self.n_jobs,
        )
        machine.solve()
        return machine

    def _iterated(self, source: Source, survey: Survey, machine: Any) -> Any:
        """Go on with more landmarks than sums can serve, by passes, while it pays."""
        for n in self._iterative_counts(source):
            if isinstance(self.n_landmarks, str) and not _promises(machine):
                break
            phi = self._freeze_map(survey.sample, n, self.seed_)
            assert isinstance(phi, KernelColumns)
            larger = IterativeMachine(
                phi,
                survey.coding,
                survey.sample.head(SAMPLE_ROWS),
                machine.solution.alpha,
                self.fit_intercept,
                survey.class_weight,
                self.n_jobs,
                earlier=machine.solution.units_path,
            )
            larger.solve(source)
            machine = larger
        return machine

    def _iterative_counts(self, source: Source) -> list[int]:
        """Return the numbers of landmarks to try beyond those that sums serve."""
        if self.solver == "direct" or self.approximation == "landmarks":
            return []
        if not isinstance(self.n_landmarks, str):
            n = int(self.n_landmarks)
            return [n] if n > DIRECT_LANDMARKS or self.solver == "falkon" else []
        rows, sizes = source.n_rows or 0, []
        n = 2 * DIRECT_LANDMARKS
        while n // 2 < rows and _falkon_bytes(n) <= 4 * working_bytes():
            if _falkon_flops(rows, n, source.n_features) > MAX_FLOPS:
                break
            sizes.append(min(n, rows))
            n *= 2
        return sizes

    def _form(self, n_rows: int | None) -> str:
        if self.approximation != "auto":
            return self.approximation
        exact = n_rows is not None and 4 * n_rows**2 <= 4 * working_bytes()
        return "exact" if exact else "nystrom"

    def _subset_rows(self) -> int:
        return _FIRST_PASS if isinstance(self.n_landmarks, str) else int(self.n_landmarks)

    @available_if(_streams)  # hides the method where the form has no sums
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Add rows to the model (landmark forms); the first block freezes the landmarks."""
        return super().partial_fit(X, y, classes, sample_weight)

    @available_if(_streams)  # hides the method where the form has no sums
    def freeze(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Freeze kernel and landmarks on a sample (landmark forms) without learning from it."""
        return super().freeze(X, y, classes, sample_weight)

    @available_if(_streams)  # hides the method where the form has no sums
    def merge(self, other: Self) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Add what another model with the same landmarks has learned (landmark forms)."""
        _streams(other)
        return super().merge(other)

    @available_if(_streams)  # hides the method where the form has no sums
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Take rows out of the model (landmark forms), as if they had not been learned."""
        return super().forget(X, y, sample_weight)

    def plan(self, n_samples: int, n_features: int, n_outputs: int = 1) -> Plan:
        """Return passes, arithmetic and memory of a fit of that size; nothing runs."""
        form = self._form(n_samples)
        if form not in ("exact", "subset"):
            return super().plan(n_samples, n_features, n_outputs)
        N = n_samples if form == "exact" else min(self._subset_rows(), n_samples)
        return Plan(
            passes=1,
            flops=2.0 * N * N * n_features + 10.0 * N**3,
            bytes_sums=3 * 8 * N * N,
            bytes_blocks=working_bytes(),
            bytes_model=8 * N * (n_features + n_outputs),
        )

    @property
    def n_landmarks_(self) -> int:
        """Number of landmarks in use (of rows, for the exact form)."""
        return self._fitted().solution.phi.n_features_out

    @property
    def landmark_path_(self) -> dict[int, float]:
        """Closed-form criterion for each number of landmarks that was tried."""
        return self._fitted().solution.units_path


def _largest_set() -> int:
    """Return the largest power of two whose moments and factors fit the memory budget."""
    top = _SMALLEST
    while 3 * 8 * (2 * top) ** 2 <= working_bytes():
        top *= 2
    return top


def _falkon_bytes(n: int) -> int:
    return 2 * 4 * n * n


def _falkon_flops(rows: int, n: int, n_features: int) -> float:
    return 20 * 2.0 * rows * n * (n_features + 20) + n**3


def _promises(machine: Any) -> bool:
    """Whether the last growth in landmarks lowered the error enough to go on."""
    *_, before, last = [np.inf, *machine.solution.units_path.values()]
    return last < (1 - WORTHWHILE) * before


@final
class KernelELMClassifier(_KernelMachine, MomentClassifier):
    """Kernel extreme learning machine for classification; tunes itself.

    Parameters
    ----------
    kernel : Kernel, str or "auto"
        A kernel object, a name ("gaussian", "laplacian", "matern32", "matern52", "arccosine",
        "elm", "linear"), or "auto": the best of a short list by closed-form leave-one-out on
        at most 1,000 rows.
    approximation : str
        "exact" (a weight on every row), "subset" (exact on sampled rows), "landmarks" (kernel
        columns on landmarks, plain ridge: AKELM), "nystrom" (the same with the norm of the
        kernel's space as penalty: NKELM), or "auto": exact while a float32 kernel matrix takes no
        more than four times the working memory (16,384 rows by default), else nystrom.
    n_landmarks : int or "auto"
        "auto" doubles them while generalised cross-validation still improves by a percent and
        the sums fit the memory budget.
    landmarks : str, array-like or callable
        "uniform", "kmeans", "leverage", "rpcholesky", the landmarks themselves (in the units
        of the kernel: scaled inputs), or a function ``(X, n, kernel, rng) -> rows``.
    stratify : bool
        Give each class its share of the landmarks.
    solver : str
        "direct" adds up a Gram matrix of the landmarks; "falkon" makes passes of preconditioned
        conjugate gradients, with the alpha that sums over 2,048 landmarks choose; "auto" is
        direct up to 2,048 landmarks.
    scale_inputs : bool
        Standardise inputs by a sample of the rows, frozen.
    alpha : float, array-like, "gcv" or "loo"
        Ridge strength (papers: 1/C), given or chosen in closed form; the exact form always
        chooses by leave-one-out, which it has for free.
    fit_intercept : bool
        Fit an unpenalised intercept.
    class_weight : dict or "balanced", optional
        Factors of the row weights, class by class.
    random_state, n_jobs, verbose
        As in scikit-learn; ``n_jobs=None`` takes as many threads as BLAS would.

    Attributes
    ----------
    kernel_, kernel_path_, n_landmarks_, landmark_path_, classes_, alpha_, path_, status_,
    effective_df_, coef_, intercept_, loo_score_

    References
    ----------
    Iosifidis, Tefas and Pitas (2017), Approximate kernel extreme learning machine for large
    scale data classification. Williams and Seeger (2001), Using the Nyström method to speed up
    kernel machines.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelm import KernelELMClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelELMClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> print(f"{model.score(X[1000:], y[1000:]):.2f}")
    0.95
    """

    def __init__(
        self,
        kernel: Kernel | str = "auto",
        *,
        approximation: str = "auto",
        n_landmarks: int | str = "auto",
        landmarks: Any = "uniform",
        stratify: bool = False,
        solver: str = "auto",
        scale_inputs: bool = True,
        alpha: Any = "gcv",
        fit_intercept: bool = True,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            kernel,
            approximation=approximation,
            n_landmarks=n_landmarks,
            landmarks=landmarks,
            stratify=stratify,
            solver=solver,
            scale_inputs=scale_inputs,
            alpha=alpha,
            fit_intercept=fit_intercept,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.class_weight = class_weight


@final
class KernelELMRegressor(_KernelMachine, MomentRegressor):
    """Kernel extreme learning machine for regression; tunes itself.

    Parameters
    ----------
    kernel, approximation, n_landmarks, landmarks, stratify, scale_inputs, alpha, fit_intercept
        As in :class:`KernelELMClassifier` (``stratify`` makes sense for few distinct targets).
    random_state, n_jobs, verbose
        As in scikit-learn.

    Attributes
    ----------
    kernel_, kernel_path_, n_landmarks_, landmark_path_, alpha_, path_, status_,
    effective_df_, coef_, intercept_, loo_score_

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelm import KernelELMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KernelELMRegressor(random_state=0).fit(X, y)
    >>> print(f"leave-one-out R2 {model.loo_score_:.2f}")
    leave-one-out R2 0.51
    """
