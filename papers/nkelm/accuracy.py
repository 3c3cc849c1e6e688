"""Tables 3 and 4: training seconds and test accuracy of four machines on five sets."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.svm import SVC

from kernelm import KernelELMClassifier
from papers.experiment import Column, Mode, Result, Table
from papers.nkelm.sets import (
    SIZES,
    Choice,
    Parts,
    elm,
    exact_choice,
    gaussian,
    landmark_choice,
    layer_choice,
    nkelm,
    seeds,
    split,
    thinned,
)

LOG2_SLOPES = (-2, -1, 0, 1, 2)
LOG2_COSTS = (0, 3, 6, 9)  # of the support vector machine
COST_ROWS = 3_000  # training rows on which they are compared: two thirds to fit, a third to test
SVM_ROWS = {Mode.QUICK: 5_000, Mode.FULL: 150_000}
SVM_MOST = {"covtype": 15_000}  # where libsvm would take hours
SVM_TEST_ROWS = {"covtype": 20_000}


def run(row: str, machine: str, mode: Mode) -> Result:
    """Return accuracy and seconds of a machine, over random splits of a set."""
    warm_up()
    runs = [MACHINES[machine](row, seed, mode) for seed in seeds(row, mode)]
    scores = [r["accuracy"] for r in runs]
    notes = [thinned(row, mode), *dict.fromkeys(r.get("thinned", "") for r in runs)]
    return {
        "score": statistics.fmean(scores),
        "std": statistics.stdev(scores) if len(scores) > 1 else None,
        "scores": scores,
        "fit_s": statistics.median(r["fit_s"] for r in runs),
        "predict_s": statistics.median(r["predict_s"] for r in runs),
        "n_train": runs[0]["n_train"],
        "n_test": runs[0]["n_test"],
        "chosen": [r["chosen"] for r in runs],
        "seeds": list(seeds(row, mode)),
        "thinned": "; ".join(n for n in notes if n),
    }


def _nkelm(name: str, seed: int, mode: Mode) -> Result:
    """Landmarks as in table 2; C by generalised cross-validation, from the sums of the fit."""
    choice = landmark_choice(name, seed, mode)
    parts = split(name, seed, mode).scaled(choice.scaling)
    model = nkelm(choice.log2, SIZES[name].n_units, seed=seed)
    result = _measured(model, parts)
    return result | {"chosen": _settings(choice, "σ") | {"log2 C": _log2(1 / model.alpha_)}}


def _elm(name: str, seed: int, mode: Mode) -> Result:
    """Units as in table 2, λ = 1, least squares without a ridge; only the scaling is chosen."""
    choice = layer_choice(name, seed, mode, (0,))
    parts = split(name, seed, mode).scaled(choice.scaling)
    result = _measured(elm(SIZES[name].n_units, 0, 0.0, seed=seed), parts)
    return result | {"chosen": _settings(choice, "λ")}


def _chosen_elm(name: str, seed: int, mode: Mode) -> Result:
    """The same with slope and ridge chosen on training rows, as NKELM has its width and ridge."""
    choice = layer_choice(name, seed, mode, LOG2_SLOPES)
    parts = split(name, seed, mode).scaled(choice.scaling)
    model = elm(SIZES[name].n_units, choice.log2, "gcv", seed=seed)
    result = _measured(model, parts)
    return result | {"chosen": _settings(choice, "λ") | {"log2 C": _log2(1 / model.alpha_)}}


def _kelm(name: str, seed: int, mode: Mode) -> Result:
    """All rows; C by leave-one-out first, then one fit with it is timed."""
    choice = exact_choice(name, seed, mode)
    parts = split(name, seed, mode).scaled(choice.scaling)
    model = KernelELMClassifier(
        gaussian(choice.log2),
        approximation="exact",
        scale_inputs=False,
        fit_intercept=False,
        alpha="loo",
        random_state=seed,
    )
    alpha = model.fit(parts.X, parts.y).alpha_
    result = _measured(model.set_params(alpha=alpha), parts)
    return result | {"chosen": _settings(choice, "σ") | {"log2 C": _log2(1 / alpha)}}


def _svm(name: str, seed: int, mode: Mode) -> Result:
    """libsvm with the width of the exact kernel machine; C by rows held out of the training."""
    choice = exact_choice(name, seed, mode)
    whole = split(name, seed, mode)
    most, most_tests = _svm_rows(name, mode), SVM_TEST_ROWS.get(name, len(whole.y_test))
    parts = whole.scaled(choice.scaling).head(most, most_tests)
    log2_cost = _best_cost(parts, 2.0**choice.log2)
    result = _measured(_svc(2.0**choice.log2, log2_cost), parts)
    note = "" if most >= len(whole.y) else f"SVM on {most:,} of {len(whole.y):,} training rows"
    if most_tests < len(whole.y_test):
        note += f", tested on {most_tests:,} rows"
    return result | {"chosen": _settings(choice, "σ") | {"log2 C": log2_cost}, "thinned": note}


MACHINES: dict[str, Callable[[str, int, Mode], Result]] = {
    "NKELM": _nkelm,
    "ELM": _elm,
    "KELM": _kelm,
    "SVM": _svm,
    "ELM with λ and ridge chosen": _chosen_elm,
}


def _svm_rows(name: str, mode: Mode) -> int:
    return min(SVM_ROWS[mode], SVM_MOST.get(name, SVM_ROWS[mode]))


def _best_cost(parts: Parts, width: float) -> int:
    """Return the logarithm of the C that does best on a third of some training rows."""
    X, y = parts.X[:COST_ROWS], parts.y[:COST_ROWS]
    cut = 2 * len(y) // 3

    def score(log2_cost: int) -> float:
        return _svc(width, log2_cost).fit(X[:cut], y[:cut]).score(X[cut:], y[cut:])

    return max(LOG2_COSTS, key=score)


def _svc(width: float, log2_cost: int) -> SVC:
    return SVC(C=2.0**log2_cost, gamma=width, cache_size=500)


def _measured(model: Any, parts: Parts) -> Result:
    """Return accuracy on test rows, and the seconds of fit and prediction."""
    start = time.perf_counter()
    model.fit(parts.X, parts.y)
    fitted = time.perf_counter()
    predicted = model.predict(parts.X_test)
    return {
        "accuracy": 100 * float(np.mean(predicted == parts.y_test)),
        "fit_s": fitted - start,
        "predict_s": time.perf_counter() - fitted,
        "n_train": len(parts.y),
        "n_test": len(parts.y_test),
    }


def _settings(choice: Choice, symbol: str) -> dict[str, Any]:
    return {"scaling": choice.scaling, f"log2 {symbol}": choice.log2}


def _log2(value: float) -> float:
    return round(float(np.log2(value)), 1)


@lru_cache(maxsize=1)
def warm_up() -> None:
    """Imports, thread pools and caches are not what is measured."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 3, 300)
    for model in (nkelm(0, 50, seed=0), elm(50, 0, "gcv", seed=0), _svc(1.0, 0)):
        model.fit(X, y).predict(X)


_PAPERS_MEMORY = "the kernel matrix of {:.0f} GB was too large for the paper's 4 GB, and is not run"
_NOT_RUN = {
    f"{name}/KELM": _PAPERS_MEMORY.format(8 * size.n_train**2 / 1e9)
    for name, size in SIZES.items()
    if name != "satimage"
}
_NOTE = (
    "Mean of random splits at the sizes of the paper's table 1, landmarks and units as in its "
    "table 2. Scaling of the inputs, width, C and λ are chosen on the training rows of each split."
)

TABLE4 = Table(
    name="table4",
    title="Test accuracy on five sets",
    rows=tuple(SIZES),
    columns=tuple(Column(name) for name in MACHINES),
    run=run,
    note=_NOTE,
    alone=True,
    not_run=_NOT_RUN,
)

TABLE3 = Table(
    name="table3",
    title="Training time on five sets",
    rows=TABLE4.rows,
    columns=tuple(Column(c.name, field="fit_s", unit="s", better="") for c in TABLE4.columns),
    run=run,
    note="One fit with settled parameters, the median of the splits of table 4.",
    alone=True,
    source="table4",
    not_run=_NOT_RUN,
)
