"""The fits of chapter 5: deep kernel ELM beside kernel ELM, deep SVM and other machines.

Random splits of the printed sizes. In each, one of three scalings and one of the 64 lists, as
it is or of unit length (for KELM: one of five widths), is chosen by closed-form leave-one-out on
training rows, alpha too; C of DSVM is cross-validated on some training rows.

Best on test: the one scaling and list with the highest mean accuracy on the test rows of all
splits, by machines on the rows of the ranking, then fitted to all rows; for DSVM, among the eight
with the least mean leave-one-out error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from kernelm import MultilayerKernelClassifier
from kernelm.kernels import Gaussian
from papers import seeds
from papers.deep_kernel import machines
from papers.deep_kernel.lists import (
    Candidate,
    Effort,
    Ranking,
    deep,
    leaders,
    picked_on_test,
    rank,
)
from papers.deep_kernel.sets import SIZES, Split, random_split
from papers.experiment import Mode, Result

SCALERS = ("standard", "robust", "minmax")
WIDTHS = (0.25, 0.5, 1, 2, 4)
LEADERS = 8
#: Machines of table 5.4, on four sets only.
OTHERS = ("CVM", "DCVM", "DMMlKLCVM")


@dataclass(frozen=True)
class _Plan:
    effort: Effort
    splits: int
    fewer: dict[str, int] = field(default_factory=dict)  # splits by set, or by set and machine
    rows: int | None = None  # for training
    test_rows: int | None = None
    cost_rows: int = 1000
    pick_rows: int = 1000  # for the pick of DSVM on test rows
    all_rows: int = 0  # sets up to here are ranked on all of their rows

    def n_splits(self, row: str, machine: str) -> int:
        """Return the number of splits of a cell."""
        own = self.fewer.get(f"{row}/{machine}") or self.fewer.get(f"*/{machine}")
        return own or self.fewer.get(row, self.splits)


_FEWER = {"letter": 2, "mushroom": 3, "satimage": 5, "segment": 5}
_FEWER |= {"letter/DMMlKLCVM": 1, "satimage/DMMlKLCVM": 2, "*/DMMlKLCVM": 5}
_PLANS = {
    Mode.FULL: _Plan(Effort(400, 2000, 1500, 5), 10, _FEWER, all_rows=512),
    Mode.QUICK: _Plan(
        Effort(200, 500, 500, 4), 2, {"*/DMMlKLCVM": 1}, 2000, 2000, cost_rows=400, pick_rows=400
    ),
}


def run(row: str, machine: str, mode: Mode) -> Result:
    """Choose in each split on its training rows, fit, and score on its test rows."""
    plan = _PLANS[mode]
    n_splits = plan.n_splits(row, machine)
    splits = [_split(row, seed, mode) for seed in seeds.first(n_splits)]
    rankings = _rankings(row, machine, mode, n_splits)
    best = [r.best for r in rankings] or [None] * n_splits
    found = [_fit(machine, c, s, plan) for c, s in zip(best, splits, strict=True)]
    result = _summary(found) | {
        "n_splits": n_splits,
        "seeds": list(seeds.first(n_splits)),
        "n_train": len(splits[0].y),
        "n_test": len(splits[0].y_test),
    }
    if machine in ("KELM", "DKELM"):
        result["fit_s"] = _elm_seconds(rankings[0].best, found[0]["alpha"], splits[0])
    if machine == "DKELM":
        result |= _best_on_test(machine, picked_on_test(rankings), splits, plan, result)
    if machine == "DSVM":
        pick = _svm_pick(leaders(rankings, LEADERS), splits, found, plan)
        result |= _best_on_test(machine, pick, splits, plan, result)
    thinned = _thinned(row, machine, mode, result)
    return result | ({"thinned": thinned} if thinned else {})


def _split(row: str, seed: int, mode: Mode) -> Split:
    plan = _PLANS[mode]
    split = random_split(row, seed)
    return split.head(plan.rows or len(split.y), plan.test_rows)


def _rankings(row: str, machine: str, mode: Mode, n_splits: int) -> list[Ranking]:
    """Return the candidates of a machine in order, split by split; none if it chooses itself."""
    if machine == "DMMlKLCVM":
        return []
    if machine not in ("KELM", "CVM"):
        return [_deep_ranking(row, seed, mode) for seed in seeds.first(n_splits)]
    kernels = [Gaussian(f"{w}*median") for w in (WIDTHS if machine == "KELM" else (1,))]
    candidates = [Candidate(s, kernel) for s in SCALERS for kernel in kernels]
    return [_ranked(row, seed, mode, candidates) for seed in seeds.first(n_splits)]


@lru_cache(maxsize=10)
def _deep_ranking(row: str, seed: int, mode: Mode) -> Ranking:
    return _ranked(row, seed, mode, deep(SCALERS, normalize=[False, True]))


def _ranked(row: str, seed: int, mode: Mode, candidates: Sequence[Candidate]) -> Ranking:
    plan, split = _PLANS[mode], _split(row, seed, mode)
    effort = plan.effort
    if len(split.y) <= plan.all_rows:
        effort = replace(effort, rows=plan.all_rows)
    return rank(split, candidates, effort)


def _fit(machine: str, candidate: Candidate | None, split: Split, plan: _Plan) -> Result:
    """Fit a machine with a scaling and a kernel; returns its scores, and what was chosen."""
    if candidate is None:
        model, fit_s = machines.fitted(MultilayerKernelClassifier(random_state=seeds.SEED), split)
        degrees = list(model.final_.kernel.degrees)
        chosen = f"layers {model.n_layers_}, {degrees}"
        return machines.scores(model, split) | {"fit_s": fit_s, "chosen": chosen}
    rows, kernel = split.scaled(candidate.scaler), candidate.kernel
    found: Result = {"chosen": str(candidate)}
    if machine in ("KELM", "DKELM"):
        model: Any = machines.kernel_elm(kernel)
    elif machine in ("CVM", "DCVM"):
        model = machines.core_vectors(kernel)
    else:
        found["C"] = machines.best_cost(_svm(kernel), rows.X, rows.y, plan.cost_rows)
        model = machines.deep_svm(kernel, found["C"], rows.X)
    model, found["fit_s"] = machines.fitted(model, rows)
    if machine in ("KELM", "DKELM"):
        found["alpha"] = float(model.alpha_)
    return found | machines.scores(model, rows)


def _elm_seconds(candidate: Candidate, alpha: float, split: Split) -> float:
    """Return the time of a fit with alpha given, as C is given to the machines beside it."""
    model = machines.kernel_elm(candidate.kernel, alpha)
    return machines.fitted(model, split.scaled(candidate.scaler))[1]


def _svm(kernel: Any) -> Any:
    return lambda C, X: machines.deep_svm(kernel, C, X)


def _svm_pick(
    candidates: Sequence[Candidate], splits: Sequence[Split], found: Sequence[Result], plan: _Plan
) -> Candidate:
    """Return the candidate whose DSVM is the best on test rows, fitted on some rows."""

    def tried(candidate: Candidate) -> float:
        total = 0.0
        for split, honest in zip(splits, found, strict=True):
            rows = split.scaled(candidate.scaler).head(plan.pick_rows, plan.effort.test_rows)
            model = machines.deep_svm(candidate.kernel, honest["C"], rows.X)
            total += machines.accuracy(model.fit(rows.X, rows.y), rows)
        return total

    return max(candidates, key=tried)


def _best_on_test(
    machine: str, pick: Candidate, splits: Sequence[Split], plan: _Plan, honest: Result
) -> Result:
    """Return the scores of the candidate that was picked on test rows, fitted in every split."""
    again = [_fit(machine, pick, split, plan) for split in splits]
    names = ("score", "precision", "recall", "f1")
    means = {name: float(np.mean([each[name] for each in again])) for name in names}
    best = means if means["score"] > honest["score"] else {name: honest[name] for name in names}
    labels = {name: f"optimistic_{name}" for name in names} | {"score": "optimistic"}
    return {labels[name]: best[name] for name in names} | {"optimistic_chosen": str(pick)}


def _summary(found: Sequence[Result]) -> Result:
    """Return means over the splits, and what was chosen most often."""
    names = ("score", "precision", "recall", "f1", "fit_s")
    result: Result = {name: float(np.mean([each[name] for each in found])) for name in names}
    each = [each["score"] for each in found]
    choice, times = Counter(each["chosen"] for each in found).most_common(1)[0]
    result["std"] = float(np.std(each, ddof=1)) if len(each) > 1 else None
    result["chosen"] = choice if len(found) == 1 else f"{choice}, {times} of {len(found)}"
    return result | {"scores": each, "all_chosen": [each["chosen"] for each in found]}


def _thinned(row: str, machine: str, mode: Mode, result: Result) -> str:
    """Return what was done less of than in the thesis."""
    said = []
    if result["n_splits"] < _PLANS[Mode.FULL].splits:
        said.append(f"{result['n_splits']} of {_PLANS[Mode.FULL].splits} splits")
    n_train, n_test = SIZES[row]
    if result["n_train"] < n_train:
        said.append(f"{result['n_train']:,} of {n_train:,} training rows")
    if result["n_test"] < n_test:
        said.append(f"{result['n_test']:,} of {n_test:,} test rows")
    few, is_ranked = _PLANS[mode].effort.rows, machine != "DMMlKLCVM"
    if is_ranked and result["n_train"] > max(few, _PLANS[mode].all_rows):
        said.append(f"kernels ranked on {few} rows, the best on {_PLANS[mode].effort.final_rows:,}")
    return ", ".join(said)
