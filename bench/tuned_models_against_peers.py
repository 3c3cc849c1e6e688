"""Tuned models against tuned models: the same seconds for each to find its settings.

Claim: printed, not assumed. Each machine draws settings from the ranges that people search and
compares them by three folds of the training rows until its seconds are over (the settings it has
begun are finished, the defaults are the first), then it is fitted to all training rows. Kernel
ELMs draw from forms, kernels and rounds of feature weights, and read leave-one-out instead of
making folds: that is what closed form is for. Sets are every third one of those in KERNELM_DATA
with at least 500 rows; training rows beyond ``--rows`` are left out for every machine alike. The
kept run was ended once: support vector regression had run past the limit on four sets, was given a
bound on its steps and run again on these; all other cells are as they came, those of trees that ran
past it too.

    KERNELM_DATA=... python bench/tuned_models_against_peers.py [--sets letter] [--budget 10]
        [--rows 2000] [--json FILE]
"""

import itertools
import json
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, ParameterSampler, StratifiedKFold, cross_val_score

import kernelm
from default_models_against_peers import all_sets, critical_difference, ranks
from harness import options, print_header, save
from kernelm.data import load
from kernelm.kernels import ArcCosine, Gaussian, Laplacian, Matern32, Matern52
from peers import Worker, machines, score, split

GAMMAS = np.logspace(-3, 1, 9)
SPACES = {
    "LightGBM": {
        "n_estimators": [100, 200, 400, 800],
        "learning_rate": [0.02, 0.05, 0.1, 0.2],
        "num_leaves": [7, 15, 31, 63, 127],
        "min_child_samples": [5, 10, 20, 40],
        "subsample": [0.7, 1.0],
        "subsample_freq": [1],
        "colsample_bytree": [0.5, 0.8, 1.0],
        "reg_lambda": [0.0, 1.0, 10.0],
    },
    "XGBoost": {
        "n_estimators": [100, 200, 400, 800],
        "learning_rate": [0.02, 0.05, 0.1, 0.3],
        "max_depth": [3, 4, 6, 8, 10],
        "min_child_weight": [1, 3, 10],
        "subsample": [0.7, 1.0],
        "colsample_bytree": [0.5, 0.8, 1.0],
        "reg_lambda": [0.1, 1.0, 10.0],
    },
    "HistGradientBoosting": {
        "max_iter": [100, 200, 400],
        "learning_rate": [0.02, 0.05, 0.1, 0.2],
        "max_leaf_nodes": [7, 15, 31, 63],
        "min_samples_leaf": [5, 10, 20, 40],
        "l2_regularization": [0.0, 1.0, 10.0],
    },
    "ExtraTrees": {
        "n_estimators": [100, 300, 500],
        "max_features": ["sqrt", 0.3, 0.6, 1.0],
        "min_samples_leaf": [1, 2, 4, 8],
    },
    # Without a bound on its steps one setting may take minutes.
    "SVM": {"C": np.logspace(-1, 4, 11), "gamma": ["scale", *GAMMAS], "max_iter": [100_000]},
    "Nystroem + Ridge": {"gamma": GAMMAS, "alpha": np.logspace(-6, 2, 9)},
    "MLP": {
        "hidden_layer_sizes": [(100,), (256,), (100, 100), (256, 256)],
        "alpha": np.logspace(-5, 0, 6),
        "learning_rate_init": [1e-3, 3e-3, 1e-2],
    },
}
KERNELS = ["auto"] + [
    kind(f"{m}*median")
    for kind in (Gaussian, Laplacian, Matern32, Matern52)
    for m in (0.5, 1, 2, 4)
]
KERNELS += [ArcCosine(list_, normalize=True) for list_ in ([1], [1, 1], [1, 0], [0])]
OURS = {"kernel": KERNELS, "feature_rounds": [0, 1, 2, 3], "approximation": ["auto", "local"]}


def with_settings(model, settings):
    """Set parameters, wherever in a pipeline they belong."""
    known = model.get_params()
    for name, value in settings.items():
        place = next(k for k in known if k == name or k.endswith(f"__{name}"))
        model.set_params(**{place: value})
    return model


def tuned(machine, name, seed, most_rows, budget):
    """Search for ``budget`` seconds, fit, and score on test rows."""
    warnings.simplefilter("ignore")
    task = load(name).task
    X, X_test, y, y_test = split(name, seed, most_rows)
    start, best, tried = time.perf_counter(), None, 0
    for settings in drawn(SPACES.get(machine, OURS)):
        if best is not None and time.perf_counter() - start > budget:
            break
        make = ours(task) if machine == "KernelELM" else machines(task, X.shape[1])[machine]()
        model = with_settings(make, settings)
        found = judged(machine, model, X, y, task)
        tried += 1
        if best is None or found > best[0]:
            best = found, model
    model = best[1] if machine == "KernelELM" else clone(best[1]).fit(X, y)
    seconds = time.perf_counter() - start
    predicted = np.ravel(model.predict(X_test))
    return {"score": score(task, y_test, predicted), "tried": tried, "seconds": seconds}


def ours(task):
    kind = "Classifier" if task == "classification" else "Regressor"
    return getattr(kernelm, f"KernelELM{kind}")(random_state=0)


def judged(machine, model, X, y, task):
    """How good settings are, by training rows."""
    if machine == "KernelELM":
        return -model.fit(X, y).path_.score
    folds, scoring = (StratifiedKFold, "accuracy") if task == "classification" else (KFold, "r2")
    cv = folds(3, shuffle=True, random_state=0)
    return cross_val_score(model, X, y, cv=cv, scoring=scoring).mean()


def drawn(space):
    """The defaults, and then settings at random."""
    yield {}
    for seed in itertools.count():
        yield from ParameterSampler(space, 1, random_state=seed)


def main():
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", default=None)
    parser.add_argument("--machines", nargs="+", default=["KernelELM", *SPACES])
    parser.add_argument("--budget", type=float, default=10)
    parser.add_argument("--rows", type=int, default=2000)
    args = parser.parse_args()
    print_header()
    sets = args.sets or [
        name
        for names in all_sets().values()
        for name in [n for n in names if load(n).X.shape[0] >= 500][::3]
    ]
    file = Path(args.json) if args.json else None
    results = json.loads(file.read_text())["results"] if file and file.is_file() else []
    done, worker = {(r["set"], r["machine"]) for r in results}, Worker()
    for name, machine in itertools.product(sets, args.machines):
        if (name, machine) in done:
            continue
        limit = 6 * args.budget + 60
        found = worker.call(tuned, machine, name, 0, args.rows, args.budget, limit=limit)
        results.append({"set": name, "machine": machine} | found)
        print(f"{name:<24}{machine:<22} {found}", flush=True)
        save({"results": results}, args.json)
    worker.end()
    mean = ranks(results, sets)
    for machine, rank in mean.items():
        print(f"{machine:<24} mean rank {rank:.2f}")
    about = {"budget": args.budget, "rows": args.rows}
    about["critical_difference"] = critical_difference(len(mean), len(sets))
    save({"results": results, "ranks": mean} | about, args.json)


if __name__ == "__main__":
    main()
