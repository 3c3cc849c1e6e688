"""The paper's cross-test: outer folds to judge, inner rows to choose, and what is left out."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.model_selection import KFold, ShuffleSplit

from kernelm.data import load
from papers.elm_svr.machine import GAUSSIAN, Rows, fit, kernel_of
from papers.elm_svr.search import Search, value
from papers.experiment import Mode, Result
from papers.seeds import SEED

SMALL = ("r_wpbc", "machine_cpu", "stock", "triazines")
LARGE = ("abalone", "delta_ailerons", "cpu_act", "delta_elevators")
FINAL_STEPS = 300_000


@dataclass(frozen=True)
class Plan:
    """How much of the paper's protocol a set affords.

    Inner rows are ``inner`` folds, or as many draws of ``n_train`` rows to train on and
    ``n_judge`` others to choose by.
    """

    outer: int = 10
    inner: int = 10
    n_train: int = 0
    n_judge: int = 0
    epsilons: tuple[int, ...] = (-10, -8, -6, -4, -2, 0, 2)
    is_fine: bool = True
    steps: int = 30_000  #: of libsvm in the search
    is_patient: bool = False  #: whether C may rise past machines that libsvm did not finish
    n_rows: int = 0  #: how many rows of the set are used, 0 for all

    def inner_rows(self, X: NDArray, y: NDArray) -> list[Rows]:
        """Return training rows cut into rows to try machines on and rows to choose by."""
        if self.n_train:
            cut = ShuffleSplit(
                self.inner, train_size=self.n_train, test_size=self.n_judge, random_state=SEED
            )
        else:
            cut = KFold(self.inner, shuffle=True, random_state=SEED)
        return [Rows.of(X, y, train, judge) for train, judge in cut.split(X)]

    def thinned(self, machine: str) -> str:
        """Say what is done less of than in the paper."""
        what = "C, ε and γ" if machine == GAUSSIAN else "C and ε"
        parts = [f"{what} by factors of 10"]
        if self.is_fine:
            parts[0] += ", then by steps of √10 along one of them while that helps"
        if len(self.epsilons) < len(Plan.epsilons):
            shown = ", ".join(f"{value(e):g}" for e in sorted(self.epsilons))
            parts.append(f"first with ε of {shown}" if self.is_fine else f"ε of {shown}")
        if self.n_train:
            parts.append(
                f"chosen by {self.inner} draws of {self.n_train:,} training rows judged on "
                f"{self.n_judge:,} others instead of 10 folds"
            )
        elif self.inner < Plan.inner:
            parts.append(f"chosen by {self.inner} folds instead of 10")
        if self.outer < Plan.outer:
            parts.append(f"{self.outer} test folds instead of 10")
        if self.n_rows:
            parts.append(f"{self.n_rows:,} rows of the set")
        past = " and the error no longer falls" if self.is_patient else ""
        parts.append(
            "C rises until it changes nothing, the error is a quarter above the lowest, or libsvm "
            f"needs more than {self.steps:,} steps{past}; the chosen machine has {FINAL_STEPS:,}"
        )
        return "; ".join(parts)


_SMALL = Plan(epsilons=(-6, -4, -2, 0, 2), steps=40_000, is_patient=True)
_STOCK = Plan(inner=3, epsilons=(-4, -2, 0), steps=40_000, is_patient=True)
# Not patient: a C that libsvm does not solve on 1,000 rows is not solved on 8,000 either.
_LARGE = Plan(inner=2, n_train=1000, n_judge=2000, epsilons=(-4, -2, 0))
_QUICK = Plan(outer=3, inner=3, epsilons=(-4, -2, 0), is_fine=False, is_patient=True)
_QUICK_LARGE = replace(_QUICK, inner=2, n_train=500, n_judge=1000, n_rows=3000, is_patient=False)


def _plan(row: str, mode: Mode) -> Plan:
    if mode is Mode.QUICK:
        return _QUICK if row in SMALL else _QUICK_LARGE
    if row == "stock":
        return _STOCK
    return _SMALL if row in SMALL else _LARGE


def run(row: str, machine: str, mode: Mode) -> Result:
    """Return the mean squared error of a kernel on a set, with its interval over the folds."""
    plan = _plan(row, mode)
    start = time.process_time()
    data = load(row)
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y, dtype=float)
    if 0 < plan.n_rows < len(y):
        drawn = np.random.default_rng(SEED).permutation(len(y))[: plan.n_rows]
        X, y = X[drawn], y[drawn]
    folds = KFold(plan.outer, shuffle=True, random_state=SEED)
    tested = [_test(X, y, train, test, machine, plan) for train, test in folds.split(X)]
    errors = np.array([t["error"] for t in tested])
    low, high = interval(errors)
    return {
        "score": float(errors.mean()),
        "low": low,
        "high": high,
        "folds": errors.tolist(),
        "chosen": [t["chosen"] for t in tested],
        "fits": sum(t["fits"] for t in tested),
        "capped": sum(t["capped"] for t in tested),
        "finals_capped": sum(t["final_capped"] for t in tested),
        "n_rows": len(y),
        "seed": SEED,
        "thinned": plan.thinned(machine),
        "seconds": round(time.process_time() - start, 2),
    }


def interval(errors: NDArray) -> tuple[float, float]:
    """Return Student's 95 % interval of the mean of fold errors.

    Examples
    --------
    >>> low, high = interval(np.array([1.0, 2.0, 3.0]))
    >>> round(low, 2), round(high, 2)
    (-0.48, 4.48)
    """
    F = len(errors)
    half = stats.t.ppf(0.975, F - 1) * errors.std(ddof=1) / np.sqrt(F)
    return float(errors.mean() - half), float(errors.mean() + half)


def _test(
    X: NDArray, y: NDArray, train: NDArray, test: NDArray, machine: str, plan: Plan
) -> Result:
    """Choose on the training rows of an outer fold, train on all of them, judge on the others."""
    search = Search(
        machine, plan.inner_rows(X[train], y[train]), plan.epsilons, plan.steps, plan.is_patient
    )
    C, epsilon, *gamma = map(value, search.best(is_fine=plan.is_fine))
    rows = Rows.of(X, y, train, test)
    final = fit(rows, rows.grams(kernel_of(machine, *gamma)), C, epsilon, FINAL_STEPS)
    chosen = {"C": C, "epsilon": epsilon} | ({"gamma": gamma[0]} if gamma else {})
    return {
        "error": final.error,
        "chosen": chosen,
        "fits": search.n_fits + 1,
        "capped": search.n_capped,
        "final_capped": final.is_capped,
    }
