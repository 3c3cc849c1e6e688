"""Rows → features → sums → weights: the part that all moment-based estimators share.

A machine holds what adds up (moments, a sample of rows) and derives everything else when it is
asked: alpha, weights, leave-one-out scores, probabilities, intervals.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.data import ArraySource, Progress, Rows, Sample, Source, block_rows, reduce
from kernelm.data.targets import Classes, Targets
from kernelm.estimators.solution import Solution, Solver
from kernelm.features import FeatureMap
from kernelm.ridge import (
    Factor,
    GivenRidge,
    Moments,
    Path,
    default_alphas,
    gcv_path,
    loo_residuals,
    solve_given,
)

#: A larger layer must lower the criterion by this share to be preferred.
WORTHWHILE = 0.01


@final
@dataclass(eq=False)
class Machine(Solver):
    """A frozen feature map and the sums of the rows it has seen."""

    phi: FeatureMap
    targets: Targets
    sample: Sample
    alpha: Any  #: a number, candidates, "auto", "gcv" or "loo"
    intercept: bool
    counts: tuple[int, ...]  #: numbers of leading features to choose from, rising
    class_weight: NDArray | None = None
    n_jobs: int | None = None
    sums: Moments | None = None  #: None while the sample holds all rows, and they are few
    elsewhere: dict[int, float] = field(default_factory=dict)  #: criterion of other layers

    def with_map(self, phi: FeatureMap, counts: tuple[int, ...]) -> Machine:
        """Return a machine with another map that has learned nothing yet."""
        return replace(self, phi=phi, counts=counts, sums=None, elsewhere=self.units_path)

    # -- sums ---------------------------------------------------------------------------

    def learn(self, source: Source, progress: Progress | None = None) -> None:
        """Learn the rows that the sample was drawn from."""
        # Fewer rows than features: the rows themselves are the smaller state.
        few = self.sample.is_complete and self.sample.seen < self.phi.n_features_out
        if not few or self.phi.penalty is not None:
            self.sums = self._total(source, progress)

    def add(self, source: Source, progress: Progress | None = None) -> None:
        """Add more rows; a failure in any block leaves the sums as they were."""
        total = self._total(source, progress)
        self.sums = self.moments
        self.sums += total
        self.changed()

    def merge(self, other: Machine) -> None:
        """Add the sums and the sample of another machine."""
        theirs = other.moments
        if other.targets != self.targets:
            theirs = theirs.retarget(*other.targets.recode(self.targets))
        self.sums = self.moments + theirs
        self.sample.merge(other.sample)
        self.changed()

    def forget(self, source: ArraySource) -> None:
        """Subtract rows from the sums and drop them from the sample."""
        before = self.moments
        left = before - self._total(source)
        _checks.were_learned(left.rows, np.diagonal(left.gram), np.diagonal(before.gram))
        self.sums = left
        self.sample.drop(source.X, _checks.has_targets(source.y))
        self.changed()

    def empty(self) -> None:
        """Forget all rows and keep the map."""
        self.sums = Moments.zeros(
            self.phi.n_features_out, self.targets.n_columns, self.phi.fingerprint
        )
        self.sample = Sample(self.sample.capacity, self.sample.seed)
        self.changed()

    def widen(self, targets: Classes) -> None:
        """Learn that there are more classes than were known so far."""
        self.sums = self.moments.retarget(*self.targets.recode(targets))
        self.targets = targets
        self.changed()

    @property
    def moments(self) -> Moments:
        """The sums; those of few rows are made when they are asked for."""
        if self.sums is None:
            s = self.sample
            self.sums = self._moments_of(Rows(s.X, s.y, s.weight, 0))
        return self.sums

    def changed(self) -> None:
        """Drop what was derived from the sums."""
        for name in ("scored", "solution", "held_out", "needs_double"):
            vars(self).pop(name, None)

    def _total(self, source: Source, progress: Progress | None = None) -> Moments:
        total = reduce(
            source,
            self._moments_of,
            operator.iadd,
            rows=self._block_rows(source),
            n_jobs=self.n_jobs,
            progress=progress,
        )
        _checks.has_rows(0 if total is None else None)
        return total  # type: ignore[return-value]

    def _moments_of(self, rows: Rows) -> Moments:
        Phi = self.phi.map(rows.X)
        if self.phi.needs_double:
            Phi = Phi.astype(np.float64, copy=False)
        Y = self._encode(rows, Phi.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            m = Moments.of(Phi, Y, *self._weights(rows), fingerprint=self.phi.fingerprint)
        # A block that overflows must not get into the sums of the others.
        _checks.finite_sums(m.phi, m.cross, np.diagonal(m.gram))
        return m

    # -- solving ------------------------------------------------------------------------

    @cached_property
    def scored(self) -> dict[int, tuple[Factor | GivenRidge, Path]]:
        """Factor and criterion of every alpha for each number of leading features."""
        return {k: self._score(k) for k in self.counts}

    @property
    def units_path(self) -> dict[int, float]:
        """Criterion for every number of features that was tried."""
        path = self.elsewhere | {k: p.score for k, (_, p) in self.scored.items()}
        return dict(sorted(path.items()))

    @property
    def gains(self) -> bool:
        """Whether the largest layer is worth more than the one before it.

        Few rows, for which a larger layer costs little, have two doublings to show it.
        """
        doublings = 2 if self.sample.is_complete else 1
        scores = [np.inf] * doublings + list(self.units_path.values())
        return scores[-1] < (1 - WORTHWHILE) * scores[-1 - doublings]

    def solve(self, source: Source | None, progress: Progress | None = None) -> Solution:
        """Solve, with one more pass over ``source`` where alpha is chosen by leave-one-out."""
        least = min(path.score for _, path in self.scored.values())
        best = next(k for k, (_, p) in self.scored.items() if (1 - WORTHWHILE) * p.score <= least)
        factor, path = self.scored[best]
        phi = self._leading(best)
        if isinstance(self.alpha, str) and self.alpha == "loo":
            assert isinstance(factor, Factor)
            path = self._loo_path(phi, factor, source, progress)
        solution = Solution.of(phi, factor, path, self.units_path)
        self.changed()
        self.solution = solution
        return solution

    def _score(self, n_features: int) -> tuple[Factor | GivenRidge, Path]:
        if isinstance(self.alpha, str):
            factor = self._factor(n_features)
            if self.alpha == "auto" and len(self.sample.priority):
                return factor, self._loo_path(self._leading(n_features), factor)
            return factor, gcv_path(factor)
        alphas = np.sort(np.ravel(np.asarray(self.alpha, np.float64)))
        if len(alphas) > 1:
            factor = self._factor(n_features)
            return factor, gcv_path(factor, alphas)
        given = self._given(n_features, float(alphas[0]))
        return given, Path("given", alphas, given.gcv(alphas))

    def _given(self, n_features: int, alpha: float) -> Factor | GivenRidge:
        """Return what one alpha needs: no eigenvalues, if it is well above rounding."""
        if self._are_few(n_features) or alpha == 0:
            return self._factor(n_features)
        return solve_given(alpha=alpha, **self._sums_of(n_features))

    def _factor(self, n_features: int) -> Factor:
        if self._are_few(n_features):
            Phi = self.phi.map(self.sample.X)[:, :n_features]
            Y, weights = self._encode(self.sample), self._weights(self.sample)
            return Factor.of_rows(Phi, Y, *weights, intercept=self.intercept)
        return Factor.of(**self._sums_of(n_features))

    def _are_few(self, n_features: int) -> bool:
        """Whether the rows themselves are the smaller state."""
        return self.sums is None and self.sample.seen < n_features

    def _sums_of(self, n_features: int) -> dict[str, Any]:
        """Return the sums, the penalty and the intercept of the leading features."""
        m, P = self.moments, self.phi.penalty
        m = m if n_features == m.n_features else m.leading(n_features)
        P = None if P is None else P[:n_features, :n_features]
        return {"m": m, "penalty": P, "intercept": self.intercept}

    def _leading(self, n_features: int) -> FeatureMap:
        is_all = n_features == self.phi.n_features_out
        return self.phi if is_all else self.phi.leading(n_features)

    def _loo_path(
        self,
        phi: FeatureMap,
        factor: Factor,
        source: Source | None = None,
        progress: Progress | None = None,
    ) -> Path:
        """Return the leave-one-out error of every alpha, on the kept rows if no others are given.

        The factor is of all rows, so a kept row is left out of all of them: the error of some rows
        is that of all, up to the luck of the draw.
        """
        alphas = default_alphas(factor)

        def squared_errors(rows: Rows) -> NDArray:
            weight, unit = self._weights(rows)
            e = loo_residuals(factor, phi.map(rows.X), self._encode(rows), alphas, unit)
            w = np.ones(rows.n) if weight is None else weight
            return np.append(np.einsum("anc,n->a", e**2, w), w.sum())

        source = source or ArraySource(self.sample.X, self.sample.y, self.sample.weight)
        per_row = 24 * phi.n_features_out + 16 * len(alphas) * self.targets.n_columns
        totals = reduce(
            source,
            squared_errors,
            operator.iadd,
            rows=block_rows(per_row, source.n_rows, self.n_jobs),
            n_jobs=self.n_jobs,
            progress=progress,
        )
        assert totals is not None
        return Path("loo", alphas, totals[:-1] / totals[-1])

    def _sample_residuals(self) -> NDArray:
        solution, (_, unit) = self.solution, self._weights(self.sample)
        factor = solution.factor
        if not isinstance(factor, Factor):  # one alpha was given, and took no eigenvalues
            factor = self._factor(solution.phi.n_features_out)
        Phi, Y = solution.phi.map(self.sample.X), self._encode(self.sample)
        return loo_residuals(factor, Phi, Y, np.array([solution.alpha]), unit)[0]
