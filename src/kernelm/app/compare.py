"""Compare machines on a table within a time budget.

First every machine once, cheap ones first, then the cheap ones again: whenever the time is up,
or a person ends it, what is there is a fair comparison.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, final

import kernelm
from kernelm import _checks
from kernelm.app.comparison import Comparison, Result
from kernelm.app.insight import Fitted, Insight, look_into
from kernelm.app.machines import MACHINES, OURS, Machine, Shape, find
from kernelm.app.measuring import MEMORY, Measurement, estimated_seconds, measure
from kernelm.app.problem import Problem
from kernelm.app.splits import Split, Splits, affordable

#: Called with a sentence and the share that is done, from 0 to 1.
Report = Callable[[str, float], None]

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "lightgbm")

#: Share of the time left that the first fit of a machine may take, so that others follow.
LARGEST_SHARE = 0.5


def compare(
    X: Any,
    y: Any,
    *,
    task: str = "auto",
    machines: Sequence[Machine | str] | None = None,
    budget: float = 120.0,
    n_splits: int = 5,
    test_size: float = 0.2,
    random_state: int = 0,
    progress: Report | None = None,
) -> Comparison:
    """Fit machines of this library and the usual alternatives to the same splits.

    Parameters
    ----------
    X : {data frame, array, CSR matrix} of shape (n_samples, n_features)
        Names become zeros and ones; gaps become medians of the training rows, and a column more
        says where they were. Columns that cannot be used are left out, with a note.
    y : array-like of shape (n_samples,)
        Classes or values; rows without one are left out.
    task : "auto", "classification" or "regression"
        "auto": classes if y holds text, categories, yes or no, or few whole numbers.
    machines : sequence of Machine or str, optional
        All of ``kernelm.app.machines.MACHINES`` by default; or some, by name.
    budget : float
        Seconds for everything. Large tables are sampled; machines whose estimated fit does not
        fit in are skipped, with the reason; the time that is left goes to more splits.
    n_splits, test_size : int, float
        At most so many random splits, stratified by class, with this share of test rows.
    random_state : int
        Seed of splits and machines.
    progress : callable, optional
        Called as ``progress(sentence, share)``.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = compare(X, y, machines=["Baseline", "AKELM"], n_splits=2, random_state=0)
    >>> found.task_reason
    'the target holds 3 different whole numbers'
    >>> found.best.name
    'AKELM'
    """
    _checks.positive(budget, "budget")
    _checks.integer(n_splits, "n_splits")
    _checks.between(test_size, "test_size", 0, 1)
    clock = _Clock(float(budget))
    problem = affordable(Problem.of(X, y, task), clock.budget, random_state)
    run = _Run(
        problem,
        [find(m) if isinstance(m, str) else m for m in machines or MACHINES],
        Splits(problem, n_splits, test_size, random_state),
        clock,
        random_state,
        progress or (lambda sentence, share: None),
    )
    interrupted = False
    try:
        run.all()
    except KeyboardInterrupt:
        interrupted = True
    settings = {
        "task": task,
        "budget": f"{budget:g} s",
        "splits": n_splits,
        "test share": test_size,
        "random state": random_state,
        "memory": MEMORY,
    }
    return run.comparison(settings, interrupted)


@dataclass
class _Clock:
    """Time that is left."""

    budget: float
    start: float = field(default_factory=time.perf_counter)

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.start

    @property
    def left(self) -> float:
        return self.budget - self.elapsed


@dataclass
class _Try:
    """A machine, what is known about its cost, and what it did so far."""

    machine: Machine
    shape: Shape
    reason: str = ""
    failed: bool = False
    estimate: float = 0.0
    parts: list[Measurement] = field(default_factory=list)
    fitted: Fitted | None = None

    @property
    def seconds(self) -> float:
        """Seconds that one more split takes, measured or else estimated."""
        if not self.parts:
            return self.estimate
        return sum(p.fit_seconds + p.predict_seconds for p in self.parts) / len(self.parts)

    def make(self) -> Any:
        return self.machine.make(self.shape)

    def run(self, split: Split, number: int) -> None:
        """Fit and measure on one split; a failure ends the tries of this machine."""
        try:
            model = self.make()
            classes = self.shape.is_classification
            self.parts.append(measure(model, split, number, classes=classes))
        except Exception as error:
            self.failed, self.reason = True, _sentence(error)
            return
        if self.machine.family == OURS:
            self.fitted = Fitted(self.machine.name, model, split)

    def result(self) -> Result:
        code = "" if self.reason and not self.parts else " ".join(repr(self.make()).split())
        machine = self.machine
        return Result(machine.name, machine.family, code, tuple(self.parts), self.reason)


@final
class _Run:
    """All tries of a comparison, one after the other."""

    def __init__(
        self,
        problem: Problem,
        machines: Sequence[Machine],
        splits: Splits,
        clock: _Clock,
        seed: int,
        progress: Report,
    ) -> None:
        self.problem, self.splits, self.clock, self.progress = problem, splits, clock, progress
        self.tries = [_Try(m, self._shape(seed)) for m in machines]

    def _shape(self, seed: int) -> Shape:
        X = self.splits[0].X
        return Shape(self.problem.task, X.shape[0], X.shape[1], hasattr(X, "indptr"), seed)

    def all(self) -> None:
        """Estimate, then every machine once, then again while there is time."""
        for t in self.tries:
            t.reason = t.machine.suits(t.shape)
        suited = [t for t in self.tries if not t.reason]
        for t in suited:
            self._estimate(t)
        for t in sorted(suited, key=lambda t: t.seconds):
            self._once(t)
        measured = [t for t in suited if t.parts]
        for t in sorted(measured, key=lambda t: t.seconds):
            self._again(t)

    def _estimate(self, t: _Try) -> None:
        patience = LARGEST_SHARE * self.clock.left
        if patience > 0:
            self._say(f"{t.machine.name}: small fits to estimate its time")
            t.estimate = estimated_seconds(t.make, self.splits[0], t.machine.growth, patience)

    def _once(self, t: _Try) -> None:
        left, budget = self.clock.left, f"{self.clock.budget:g} s"
        if left <= 0:
            t.reason = f"the budget of {budget} was used up"
        elif t.seconds > LARGEST_SHARE * left:
            t.reason = f"a fit takes about {t.seconds:.1f} s, {left:.1f} s of {budget} were left"
        else:
            self._say(f"{t.machine.name}: split 1 of {len(self.splits)}")
            t.run(self.splits[0], 0)

    def _again(self, t: _Try) -> None:
        for number in range(1, len(self.splits)):
            if t.failed:
                return
            if t.seconds > self.clock.left:
                t.reason = f"{number} of {len(self.splits)} splits, for lack of time"
                return
            self._say(f"{t.machine.name}: split {number + 1} of {len(self.splits)}")
            t.run(self.splits[number], number)

    def _say(self, sentence: str) -> None:
        open_tries = [t for t in self.tries if not t.reason]
        fits = sum(len(t.parts) for t in open_tries) / max(len(open_tries) * len(self.splits), 1)
        self.progress(sentence, min(max(fits, self.clock.elapsed / self.clock.budget), 1.0))

    def comparison(self, settings: dict[str, Any], interrupted: bool) -> Comparison:
        """Gather what was found."""
        for t in self.tries:
            if interrupted and not t.reason and len(t.parts) < len(self.splits):
                t.reason = f"interrupted after {len(t.parts)} of {len(self.splits)} splits"
        p = self.problem
        return Comparison(
            task=p.task,
            task_reason=p.task_reason,
            score_name="accuracy" if p.is_classification else "R²",
            results=tuple(t.result() for t in self.tries),
            data=p.summary,
            settings=settings,
            versions=_versions(),
            computer=_computer(),
            notes=p.notes,
            insight=self._insight(),
            seconds=self.clock.elapsed,
            interrupted=interrupted,
        )

    def _insight(self) -> Insight:
        ours = [t for t in self.tries if t.fitted is not None]
        best = sorted(ours, key=lambda t: -sum(p.score for p in t.parts) / len(t.parts))
        return look_into([t.fitted for t in best if t.fitted is not None], self.problem)


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__


def _versions() -> dict[str, str]:
    found = {"kernelm": kernelm.__version__, "Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _computer() -> dict[str, str]:
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": str(os.cpu_count() or "unknown"),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()
