"""What kernel ELMs share: landmarks, and which form to fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.metaestimators import available_if

from kernelm import _checks
from kernelm._config import working_bytes
from kernelm.data import ArraySource, Sample, Source, effective_jobs
from kernelm.estimators.exact import ExactMachine
from kernelm.estimators.iterative import IterativeMachine
from kernelm.estimators.large import LargeMachine
from kernelm.estimators.local import LocalMachine
from kernelm.estimators.local_fit import LocalFit, checked, depth_of
from kernelm.estimators.machine import WORTHWHILE, Machine
from kernelm.estimators.metric import KernelChooser
from kernelm.estimators.sensitivity import MAX_COLUMNS
from kernelm.features import CHOICES, FeatureMap, InputScaler, KernelColumns, choose, distinct
from kernelm.kernels import NAMED, Kernel, named
from kernelm.tasks import SAMPLE_ROWS, Plan, Survey, doublings, largest_layer

APPROXIMATIONS = ("auto", "exact", "subset", "landmarks", "nystrom", "local")

DIRECT_LANDMARKS = 2048  # up to here sums and an eigendecomposition are the faster solver
LARGE_WORK = 4.1e12  # N·n² up to which n_landmarks="auto" goes: less than a minute
LOCAL_ROWS = 16_384  # "auto" looks at leaves from so many rows on: where the exact form ends
HOPELESS = 3  # times the error of landmarks, where leaves are not looked at any further
POOL_ROWS = 16_384  # rows that landmarks are chosen from
_SMALLEST, _FIRST_PASS = 256, 1024


def _streams(estimator: KernelMachine) -> bool:
    """Whether the form has sums; raises with advice where it keeps rows instead."""
    machine = getattr(estimator, "machine_", None)
    keeps_rows = isinstance(machine, ExactMachine | IterativeMachine | LargeMachine | LocalMachine)
    return _checks.streams(estimator.approximation, keeps_rows)


@final
class LandmarkPath(dict[int, float]):
    """Criterion for each number of landmarks, and in ``stopped`` why there are no more."""

    def __init__(self, path: dict[int, float], stopped: str) -> None:
        super().__init__(path)
        self.stopped = stopped

    def __repr__(self) -> str:
        shown = ", ".join(f"{n}: {score:.4g}" for n, score in self.items())
        return f"{{{shown}}} ({self.stopped})"


class KernelMachine(KernelChooser):
    """The parameters of kernel and landmarks, and which form to fit."""

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
        leaf_size: int = 2500,
        n_trees: int = 1,
        overlap: float = 0.1,
        scale_inputs: bool = True,
        alpha: Any = "auto",
        fit_intercept: bool = True,
        feature_rounds: int = 0,
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
        self.leaf_size = leaf_size
        self.n_trees = n_trees
        self.overlap = overlap
        self.scale_inputs = scale_inputs
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.feature_rounds = feature_rounds
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
        checked(self.leaf_size, self.n_trees, self.overlap)
        _checks.integer(self.feature_rounds, "feature_rounds", low=0)
        effective_jobs(self.n_jobs)
        if isinstance(self.kernel, str):
            _checks.one_of(self.kernel, "kernel (or a kernel object)", ["auto", *NAMED])
        else:
            _checks.instance(self.kernel, "kernel", Kernel)

    def _sample_rows(self, source: Source) -> int:
        return POOL_ROWS

    def _freeze_map(self, sample: Sample, n_features_out: int, seed: int) -> FeatureMap:
        # Rows that are held out to compare models are new to the landmarks, as later rows are.
        if len(sample.priority) >= SAMPLE_ROWS + n_features_out:
            sample = sample.beyond(SAMPLE_ROWS)
        rows = distinct(sample.X, sample.weight)
        S = self.scaler_.transform(sample.X[rows])
        groups = _checks.has_targets(sample.y)[rows] if self.stratify else None
        method = self._landmark_choice(S)
        chosen = choose(S, n_features_out, method, self.kernel_, seed, groups)
        self.landmarks_ = chosen
        in_kernel_norm = self.approximation != "landmarks"
        return KernelColumns(self.kernel_, self.scaler_, chosen.Z, in_kernel_norm)

    def _landmark_choice(self, S: Any) -> Any:
        """Return how landmarks are chosen; given ones move with the weights of the inputs."""
        if isinstance(self.landmarks, str) or callable(self.landmarks):
            return self.landmarks
        Z = _checks.rows(self.landmarks, "landmarks")
        _checks.same_columns(S, Z)
        return InputScaler.identity(S.shape[1]).weighted(self.feature_weights_).transform(Z)

    def _feature_counts(self, n_features: int, n_rows: int | None) -> list[tuple[int, ...]]:
        if not isinstance(self.landmarks, str) and not callable(self.landmarks):
            return [(_checks.rows(self.landmarks, "landmarks").shape[0],)]
        if not isinstance(self.n_landmarks, str):
            n = int(self.n_landmarks)
            direct = self.solver == "direct" or self.approximation == "landmarks"
            return [(n if direct else min(n, DIRECT_LANDMARKS),)]
        # Where a large machine may follow, no pass but the first.
        most = _FIRST_PASS if self._more_landmarks(n_rows) else DIRECT_LANDMARKS
        top = min(largest_layer(_SMALLEST), most, n_rows or _FIRST_PASS)
        sizes = doublings(_SMALLEST, top)
        first = tuple(n for n in sizes if n <= _FIRST_PASS)
        return [first, *((n,) for n in sizes[len(first) :])]

    # -- fitting ------------------------------------------------------------------------

    def _fit(self, source: Source, classes: Any) -> Self:
        survey = self._survey(source, classes)
        if self.feature_rounds:
            _checks.few_columns(source.n_features, MAX_COLUMNS, "feature_rounds")
        self._fit_round(source, survey)
        best = dict(vars(self))
        for _ in range(self.feature_rounds):
            squared_slopes = self._squared_slopes()
            if not squared_slopes.any():  # a constant model: nothing tells inputs apart
                break
            self._weigh(survey, squared_slopes)
            self._fit_round(source, survey)
            if self.round_path_[-1] < min(self.round_path_[:-1]):
                best = dict(vars(self))
        vars(self).update(best)
        return self

    def _fit_round(self, source: Source, survey: Survey) -> None:
        form = self._form(source.n_rows)
        if form in ("exact", "subset"):
            self.machine_ = self._exact(source, survey, form)
        elif form == "local":
            self.machine_ = self._local(source, survey)
        else:
            machine = self._grown(source, survey)
            local = self._local_wins(source, survey, machine)
            self.machine_ = (
                self._local(source, survey, local)
                if local is not None
                else self._enlarged(source, survey, machine)
            )
        self.round_path_.append(_criterion(self.machine_))

    def _exact(self, source: Source, survey: Survey, form: str) -> ExactMachine:
        # Samples keep rows by priority: with room for all of them, all.
        rows = self._subset_rows() if form == "subset" else source.n_rows or 2**62
        sample = Sample.of(source, rows, self.seed_)
        vars(self).pop("landmarks_", None)  # of an earlier fit
        with self._progress("kernel matrix", source) as progress:
            machine = self._exact_machine(survey, sample)
            if progress is not None:
                progress.advance(len(sample.priority))
        return machine

    def _local_wins(self, source: Source, survey: Survey, machine: Machine) -> LocalFit | None:
        """Return a local fit that has begun, if its leaves promise less error than landmarks."""
        if self.approximation != "auto" or not isinstance(source, ArraySource):
            return None
        size = source.n_rows * source.n_features * source.dtype.itemsize
        if source.n_rows < LOCAL_ROWS or sparse.issparse(source.X) or size > 4 * working_bytes():
            return None
        fit = self._local_fit(source, survey)
        expected = _projected(machine.solution.units_path, self._more_landmarks(source.n_rows))
        if fit.first_error > HOPELESS * expected:  # no choice will make up for that
            return None
        return fit if fit.path.score < expected else None

    def _local(self, source: Source, survey: Survey, fit: LocalFit | None = None) -> LocalMachine:
        vars(self).pop("landmarks_", None)  # of an earlier fit
        with self._progress("leaves", source) as progress:
            fit = fit or self._local_fit(source, survey)
            fit.progress = progress
            machine = fit.run()
        # What the leaves prefer is what the model uses.
        self.scaler_, self.kernel_ = fit.scaler, fit.kernel
        before = 1.0 if self._starts_anew else self.feature_weights_
        self.feature_weights_ = before * fit.factors
        return machine

    @property
    def _starts_anew(self) -> bool:
        """Whether leaves find weights of their own: those of a global machine suit them less."""
        return self._searches and not self.feature_rounds

    @property
    def _sharpens(self) -> bool:
        return self.approximation != "local"

    def _local_fit(self, source: Source, survey: Survey) -> LocalFit:
        rule = self.kernel_path_.best if self.kernel_path_ is not None else self.kernel
        scaler = self.scaler_
        if self._starts_anew:
            scaler = scaler.weighted(1 / self.feature_weights_)
        return LocalFit(
            source,
            survey,
            scaler,
            named(rule),
            self.alpha,
            self.fit_intercept,
            int(self.leaf_size),
            int(self.n_trees),
            float(self.overlap),
            self._searches,
            self.scale_inputs,
            self.seed_,
            self.n_jobs,
        )

    def _enlarged(self, source: Source, survey: Survey, machine: Machine) -> Any:
        """Go on with more landmarks than an eigendecomposition serves, while it pays."""
        n = self._more_landmarks(source.n_rows)
        if n is None or (isinstance(self.n_landmarks, str) and not _promises(machine)):
            return machine
        phi = self._freeze_map(survey.sample, n, self.seed_)
        assert isinstance(phi, KernelColumns)
        common: dict[str, Any] = {
            "phi": phi,
            "targets": survey.coding,
            "sample": survey.sample.head(SAMPLE_ROWS),
            "intercept": self.fit_intercept,
            "class_weight": survey.class_weight,
            "n_jobs": self.n_jobs,
            "earlier": machine.solution.units_path,
        }
        alpha = machine.solution.alpha
        if self._by_passes(n):
            larger = IterativeMachine(alpha=alpha, **common)
        else:
            given = np.ndim(self.alpha) == 0 and not isinstance(self.alpha, str)
            larger = LargeMachine(alpha=self.alpha if given else "loo", start=alpha, **common)
        with self._progress(f"fit {n} landmarks", source) as progress:
            larger.solve(source, progress)
        return larger

    def _more_landmarks(self, n_rows: int | None) -> int | None:
        """Return a number of landmarks beyond those that sums of all alphas serve, if any."""
        if self.approximation == "landmarks" or self.solver == "direct":
            return None
        if not isinstance(self.n_landmarks, str):
            n = int(self.n_landmarks)
            return n if n > DIRECT_LANDMARKS or self.solver == "falkon" else None
        rows = n_rows or 0
        fits = min(np.sqrt(LARGE_WORK / max(rows, 1)), np.sqrt(2 * working_bytes() / 8), rows)
        step = DIRECT_LANDMARKS // 2
        n = int(fits) // step * step
        return n if n > DIRECT_LANDMARKS else None

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
        once = self._plan_round(n_samples, n_features, n_outputs)
        rounds = 1 + int(self.feature_rounds)
        return replace(once, passes=rounds * once.passes, flops=rounds * once.flops)

    def _plan_round(self, n_samples: int, n_features: int, n_outputs: int) -> Plan:
        form = self._form(n_samples)
        if form == "local":
            return self._local_plan(n_samples, n_features, n_outputs)
        if form not in ("exact", "subset"):
            plan = super().plan(n_samples, n_features, n_outputs)
            return self._enlarged_plan(plan, n_samples, n_features, n_outputs)
        N = n_samples if form == "exact" else min(self._subset_rows(), n_samples)
        return Plan(
            passes=1,
            flops=2.0 * N * N * n_features + 10.0 * N**3,
            bytes_sums=3 * 8 * N * N,
            bytes_blocks=working_bytes(),
            bytes_model=8 * N * (n_features + n_outputs),
        )

    def _local_plan(self, N: int, D: int, C: int) -> Plan:
        depth = depth_of(N, self.leaf_size, self.overlap)
        share = (1 + self.overlap) ** depth
        leaf = N * share / 2**depth
        rows = self.n_trees * N * share  # with those that leaves share
        return Plan(
            passes=2,
            flops=rows * leaf * (2.0 * D + leaf),
            bytes_sums=int(4 * 2 * leaf * leaf),
            bytes_blocks=working_bytes(),
            bytes_model=int(4 * N * D + rows * (8 + 4 * C)),
        )

    def _enlarged_plan(self, plan: Plan, N: int, D: int, C: int) -> Plan:
        n = self._more_landmarks(N)
        if n is None:
            return plan
        by_passes = self._by_passes(n)
        work = (
            15 * N * n * 4.0 * (D + C) + n**3 if by_passes else N * n * (2.0 * D + n) + 1.5 * n**3
        )
        return replace(
            plan,
            passes=plan.passes + (16 if by_passes else 1),
            flops=plan.flops + n * work,
            bytes_sums=8 * n * n,
            bytes_model=8 * n * (D + C),
        )

    def _by_passes(self, n: int) -> bool:
        """Whether conjugate gradients fit n landmarks; sums are faster wherever they fit."""
        fits = 8 * n * n <= 4 * working_bytes()
        return self.solver == "falkon" or not fits

    @property
    def n_landmarks_(self) -> int:
        """Number of landmarks in use (of rows, for the exact and local forms)."""
        machine = self._fitted()
        if isinstance(machine, LocalMachine):
            return machine.solution.n_rows
        return machine.solution.phi.n_features_out

    @property
    def landmark_path_(self) -> LandmarkPath:
        """Closed-form criterion for each number of landmarks that was tried, and why no more."""
        path = self._fitted().solution.units_path
        return LandmarkPath(path, stopped=self._why_no_more(path))

    def _why_no_more(self, path: dict[int, float]) -> str:
        n, machine = max(path), self.machine_
        if isinstance(machine, ExactMachine | LocalMachine):
            return "every row is a landmark"
        if not isinstance(self.n_landmarks, str) or not isinstance(self.landmarks, str):
            return "the number was given"
        *_, before, last = [np.inf, *path.values()]
        if not last < (1 - WORTHWHILE) * before:
            return f"the last step lowered the criterion by less than {WORTHWHILE:.0%}"
        if n >= machine.sample.seen:
            return "there are no more rows"
        if isinstance(machine, Machine) and self._more_landmarks(machine.sample.seen) is None:
            return "the next step would take too long for so many rows (give n_landmarks to go on)"
        return "the next step would exceed the working memory or take too long"

    @property
    def feature_importances_(self) -> NDArray:
        """Share of each input in the mean squared slope of the scores; zeros if they are constant.

        Slopes are taken at some of the kept rows, along inputs in units of their scaling before
        any round (standard deviations, as a rule). They are computed when they are asked for.
        """
        n_features = self._fitted().phi.n_features_in
        _checks.few_columns(n_features, MAX_COLUMNS, "feature_importances_")
        squared_slopes = self._squared_slopes()
        if self.columns_ is not None:  # the levels of a name together
            squared_slopes = self.columns_.summed(squared_slopes)
        return squared_slopes / (squared_slopes.sum() or 1.0)


def _criterion(machine: Any) -> float:
    """Return the closed-form error that decides between rounds, the smaller the better."""
    score = machine.solution.path.score
    if np.isfinite(score):
        return score
    # Many rows and one given alpha: no path was needed, and leave-one-out is there anyway.
    held_out = machine.held_out
    return float(np.average((held_out.residuals**2).sum(axis=1), weights=held_out.weight))


def _projected(path: dict[int, float], n_landmarks: int | None) -> float:
    """Return the error of more landmarks if it goes on falling as it did in the last doubling.

    Examples
    --------
    >>> _projected({256: 4.0, 512: 2.0}, 2048), _projected({256: 4.0, 512: 2.0}, None)
    (0.5, 2.0)
    """
    *_, before, last = [np.inf, *path.values()]
    if n_landmarks is None or not np.isfinite(before):
        return last
    doublings = np.log2(max(n_landmarks / max(path), 1.0))
    return float(last * min(last / before, 1.0) ** doublings)


def _promises(machine: Any) -> bool:
    """Whether the last growth in landmarks lowered the error enough to go on."""
    *_, before, last = [np.inf, *machine.solution.units_path.values()]
    return last < (1 - WORTHWHILE) * before
