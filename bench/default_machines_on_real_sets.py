"""What the default machines give on real sets, beside scikit-learn's.

Accuracy on the official test rows, and the median (and range) of fit and predict seconds. The
sets come through ``kernelm.data.load``; set KERNELM_DATA to a folder that has them with their
official splits. The others keep scikit-learn's settings but for SVC's usual C=10; the default
ELM and kernel ELM choose units, kernel and alpha by themselves, so the ELM may take more units
than the sampler's 1,000.

    python bench/default_machines_on_real_sets.py [--sets letter] [--repeats 3] [--json FILE]
"""

import argparse
import json
import os
import statistics
import time

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from harness import print_header
from kernelm import ELMClassifier, KernelELMClassifier
from kernelm.data import load

SETS = ["letter", "satimage", "pendigits", "optdigits", "usps", "shuttle", "ijcnn1"]


def machines(n_features):
    sampler = RBFSampler(gamma=1 / n_features, n_components=1000, random_state=0)
    nystroem = Nystroem(gamma=1 / n_features, n_components=1000, random_state=0)
    return {
        "KernelELMClassifier()": KernelELMClassifier(random_state=0),
        "ELMClassifier()": ELMClassifier(random_state=0),
        "ELMClassifier(1000)": ELMClassifier(1000, random_state=0),
        "Nystroem(1000) + Ridge": make_pipeline(StandardScaler(), nystroem, RidgeClassifier()),
        "SVC(C=10)": make_pipeline(StandardScaler(), SVC(C=10)),
        "RBFSampler(1000) + Ridge": make_pipeline(StandardScaler(), sampler, RidgeClassifier()),
        "HistGradientBoosting": HistGradientBoostingClassifier(random_state=0),
    }


def run(machine, data):
    """Fit and predict once; return accuracy, seconds, and what an ELM chose."""
    (X, y), (X_test, y_test) = data.train, data.test
    start = time.perf_counter()
    machine.fit(X, y)
    fitted = time.perf_counter()
    right = machine.predict(X_test) == y_test
    done = time.perf_counter()
    result = {"accuracy": right.mean(), "fit_s": fitted - start, "predict_s": done - fitted}
    if isinstance(machine, ELMClassifier):
        result |= {"chose": f"{machine.n_hidden_} units, alpha {machine.alpha_:.2g}"}
    if isinstance(machine, KernelELMClassifier):
        result |= {"chose": f"{machine.kernel_path_.best}, alpha {machine.alpha_:.2g}"}
    return result


def measure(data, repeats):
    """Results of each machine; rounds are interleaved so that noise hits all of them alike."""
    d = data.X.shape[1]
    rounds = [
        {label: run(machine, data) for label, machine in machines(d).items()}
        for _ in range(repeats)
    ]
    for label in rounds[0]:
        result = {"set": data.name, "rows": int(data.is_train.sum()), "features": d}
        result |= {"machine": label, **rounds[0][label]}
        for key in ("fit_s", "predict_s"):
            seconds = [r[label][key] for r in rounds]
            result[key] = statistics.median(seconds)
            result[f"{key[:-2]}_range_s"] = [min(seconds), max(seconds)]
        yield result


def line(r):
    low, high = r["fit_range_s"]
    size, spread = f"{r['rows']:,} × {r['features']}", f"({low:.2f}–{high:.2f})"
    chosen = f"  {r['chose']}" if "chose" in r else ""
    return (
        f"{r['set']:<10} {size:>14}  {r['machine']:<25} {r['accuracy']:8.4f} {r['fit_s']:7.2f} "
        f"{spread:<14} {r['predict_s']:9.2f}{chosen}"
    )


def warm_up():
    """Imports, thread pools and caches are not what is measured."""
    X, y = load("iris").X, load("iris").y
    for machine in machines(X.shape[1]).values():
        machine.fit(X, y).predict(X)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", metavar="FILE", help="also write the results there")
    args = parser.parse_args()
    print_header()
    print(f"load average before the run {os.getloadavg()[0]:.1f} (above 0.5, seconds are inflated)")
    head = f"{'set':<10} {'train':>14}  {'machine':<25} {'accuracy':>8} {'fit s':>7}"
    print(f"\n{head} {'(range)':<14} predict s")
    warm_up()
    results = []
    for name in args.sets:
        for result in measure(load(name), args.repeats):
            print(line(result), flush=True)
            results.append(result)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
