"""What the default machines give on real sets, beside their peers.

Accuracy on the official test rows (80/20 with seed 0 where there are none), the median (and
range) of fit and predict seconds, and the megabytes that the first fit adds at its peak. The
sets come through ``kernelm.data.load``; set KERNELM_DATA to a folder that has them. The others
keep their own settings but for SVC's usual C=10, and for extra trees, which get every core as the
other machines do; LightGBM is there where it is installed. The default ELM and kernel ELM choose
units, kernel and alpha by themselves, so the ELM may take more units than the sampler's 1,000.
SVC runs in a process of its own, which is ended after ``--limit`` seconds.

    python bench/default_machines_on_real_sets.py [--only letter usps] [--machines elm lightgbm]
        [--repeats 3] [--limit 600] [--quick] [--json FILE]
"""

import os
import statistics

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from harness import cost_of, in_process, lightgbm, options, parts, print_header, save, timed
from kernelm import ELMClassifier, KernelELMClassifier
from kernelm.data import load

SETS = ["letter", "satimage", "pendigits", "optdigits", "usps", "shuttle", "ijcnn1"]
SETS += ["mnist", "fashion_mnist", "covtype"]
SLOW = ["SVC(C=10)"]  # these grow with the square of the rows


def machines(n_features):
    sampler = RBFSampler(gamma=1 / n_features, n_components=1000, random_state=0)
    nystroem = Nystroem(gamma=1 / n_features, n_components=1000, random_state=0)
    boosting = (
        {"LightGBM": lightgbm().LGBMClassifier(random_state=0, verbose=-1)} if lightgbm() else {}
    )
    return {
        "KernelELMClassifier()": KernelELMClassifier(random_state=0),
        "ELMClassifier()": ELMClassifier(random_state=0),
        "ELMClassifier(1000)": ELMClassifier(1000, random_state=0),
        "Nystroem(1000) + Ridge": make_pipeline(StandardScaler(), nystroem, RidgeClassifier()),
        "SVC(C=10)": make_pipeline(StandardScaler(), SVC(C=10)),
        "RBFSampler(1000) + Ridge": make_pipeline(StandardScaler(), sampler, RidgeClassifier()),
        "HistGradientBoosting": HistGradientBoostingClassifier(random_state=0),
        "ExtraTrees": ExtraTreesClassifier(random_state=0, n_jobs=-1),
        **boosting,
    }


def run(label, train, test):
    """Fit and predict once; return accuracy, costs, and what an ELM chose."""
    machine = machines(train[0].shape[1])[label]
    fit_s, megabytes = cost_of(machine.fit, *train)
    predicted = []
    predict_s = timed(lambda: predicted.append(machine.predict(test[0])))
    accuracy = float(np.mean(predicted[0] == test[1]))
    result = {"accuracy": accuracy, "fit_s": fit_s, "predict_s": predict_s, "extra_mb": megabytes}
    if isinstance(machine, ELMClassifier):
        result |= {"chose": f"{machine.n_hidden_} units, alpha {machine.alpha_:.2g}"}
    if isinstance(machine, KernelELMClassifier):
        result |= {"chose": f"{machine.kernel_path_.best}, alpha {machine.alpha_:.2g}"}
    return result


def run_alone(label, name):
    """The same from the name of the set, for a process of its own."""
    warm_up([label])
    return run(label, *parts(load(name)))


def measure(name, labels, repeats, limit):
    """Results of each machine; rounds are interleaved so that noise hits all of them alike."""
    train, test = parts(load(name))
    runs = {label: [] for label in labels}
    for _ in range(repeats):
        for label, done in runs.items():
            if label not in SLOW:
                done.append(run(label, train, test))
            elif None not in done:  # once over the limit is enough
                done.append(in_process(__file__, f"run_alone({label!r}, {name!r})", limit))
    n, d = train[0].shape
    for label, done in runs.items():
        result = {"set": name, "rows": n, "features": d, "machine": label}
        yield result | (summary(done) if None not in done else {"over_s": limit})


def summary(runs):
    """The first run, with the medians and ranges of all seconds."""
    result = dict(runs[0])
    for key in ("fit_s", "predict_s"):
        seconds = [r[key] for r in runs]
        result[key] = statistics.median(seconds)
        result[f"{key[:-2]}_range_s"] = [min(seconds), max(seconds)]
    return result


def line(r):
    size = f"{r['rows']:,} × {r['features']}"
    start = f"{r['set']:<13} {size:>13}  {r['machine']:<25}"
    if "over_s" in r:
        return f"{start} over {r['over_s']:g} s"
    low, high = r["fit_range_s"]
    spread = f"({low:.2f}–{high:.2f})"
    chosen = f"  {r['chose']}" if "chose" in r else ""
    return (
        f"{start} {r['accuracy']:8.4f} {r['fit_s']:7.2f} {spread:<15} {r['predict_s']:9.2f} "
        f"{r['extra_mb']:8.0f}{chosen}"
    )


def warm_up(labels):
    """Imports, thread pools and caches are not what is measured."""
    X, y = load("iris").X, load("iris").y
    for label in labels:
        machines(X.shape[1])[label].fit(X, y).predict(X)


def main():
    parser = options(__doc__)
    parser.add_argument("--sets", "--only", nargs="+", default=SETS)
    parser.add_argument("--machines", nargs="+", default=[""], help="parts of their names")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--limit", type=float, default=600, help="seconds for SVC, loading included"
    )
    parser.add_argument("--quick", action="store_true", help="one run, 60 s for SVC")
    args = parser.parse_args()
    if args.quick:
        args.repeats, args.limit = 1, 60
    wanted = [part.lower() for part in args.machines]
    labels = [m for m in machines(1) if any(part in m.lower() for part in wanted)]
    if not labels:
        parser.error(f"no machine has such a name; there are {', '.join(machines(1))}")
    print_header()
    print(f"load average before the run {os.getloadavg()[0]:.1f} (above 0.5, seconds are inflated)")
    if lightgbm() is None:
        print("LightGBM is not installed and left out: pip install lightgbm")
    head = f"{'set':<13} {'train':>13}  {'machine':<25} {'accuracy':>8} {'fit s':>7}"
    print(f"\n{head} {'(range)':<15} predict s extra MB")
    warm_up(label for label in labels if label not in SLOW)
    results = []
    for name in args.sets:
        for result in measure(name, labels, args.repeats, args.limit):
            print(line(result), flush=True)
            results.append(result)
    save(results, args.json)


if __name__ == "__main__":
    main()
