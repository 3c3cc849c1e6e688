"""Other defaults of the kernel ELM: settled on one half of the sets, confirmed on the other.

Claim: printed, not assumed. Each variant changes constants of the default search and is compared
with the defaults as they were: the geometric mean over sets of its error over theirs, and of its
fit time over theirs. The rule was written before the run: on the first half, the fastest variant
with at most half a percent more error is taken; the second half says whether that holds. It did
not for the one that was taken (0.7 % more error there), so that the default became the next that
holds on both halves: a first round of 128 rows. Errors are test errors of random splits (one minus
R² for numbers; half an error is added for classes, so that sets without errors count), and training
rows beyond ``--rows`` are left out. The halves are those of the comparison with peers: every other
set of each task.

    KERNELM_DATA=... python bench/defaults_settled_on_half_the_sets.py [--sets letter]
        [--variants NAME ...] [--rows 2000] [--seeds 2] [--quick] [--json FILE]
"""

import itertools
import warnings
from contextlib import ExitStack
from unittest.mock import patch

import numpy as np

from default_models_against_peers import all_sets, first_half
from harness import options, print_header, save, timed
from kernelm import KernelELMClassifier, KernelELMRegressor
from kernelm.data import load
from kernelm.search import Round
from peers import score, split

MORE_ERROR = 1.005  # what a faster variant may cost
MOST_TEST_ROWS = 4000
ALL = 10**6
ROUNDS, WALK_ROWS = "kernelm.search.ROUNDS", "kernelm.estimators.exact.WALK_ROWS"
WEIGHTS = "kernelm.estimators.metric.MOST_SHARPENINGS"
BEFORE = {ROUNDS: (Round(256, ALL), Round(512, 8), Round(1000, 2))}
SOONER = {ROUNDS: (Round(128, ALL), Round(256, 16), Round(512, 4), Round(1000, 2))}
FORMER = "the former defaults"
VARIANTS = {
    FORMER: BEFORE,
    "first round of 128 rows": SOONER,
    "no round of 1,000 rows": {ROUNDS: BEFORE[ROUNDS][:2]},
    "alpha on 1,024 rows": BEFORE | {WALK_ROWS: 1024},
    "inputs weighed once": BEFORE | {WEIGHTS: 1},
    "128 rows first, alpha on 1,024, weighed once": SOONER | {WALK_ROWS: 1024, WEIGHTS: 1},
}


def measured(variant, task, parts):
    """Test error and seconds of one fit."""
    X, X_test, y, y_test = parts
    kind = KernelELMClassifier if task == "classification" else KernelELMRegressor
    model = kind(random_state=0)
    with ExitStack() as stack:
        for place, value in VARIANTS[variant].items():
            stack.enter_context(patch(place, value))
        seconds = timed(model.fit, X, y)
    X_test, y_test = X_test[:MOST_TEST_ROWS], y_test[:MOST_TEST_ROWS]
    found = score(task, y_test, np.ravel(model.predict(X_test)))
    half = 0.5 / len(y_test) if task == "classification" else 0.0
    return {"error": 1 - found + half, "fit_s": seconds}


def compared(results, sets):
    """Errors and times over those of the defaults as they stand, geometric means over sets."""
    found = {}
    by = {(r["set"], r["variant"]): r for r in results}
    for variant in dict.fromkeys(r["variant"] for r in results):
        ratios = [
            [by[name, variant][key] / by[name, FORMER][key] for key in ("error", "fit_s")]
            for name in sets
            if (name, variant) in by
        ]
        if ratios:
            found[variant] = np.exp(np.mean(np.log(ratios), axis=0))
    return found


def report(results):
    """Compare on each half, and take the variant that the rule takes on the first."""
    known = all_sets()
    settled = first_half(known)
    sets = list(dict.fromkeys(r["set"] for r in results))
    halves = {
        "first": [name for name in sets if name in settled],
        "second": [name for name in sets if name not in settled],
    }
    found = {half: compared(results, names) for half, names in halves.items()}
    good = {v: time for v, (error, time) in found["first"].items() if error <= MORE_ERROR}
    taken = min(good, key=good.get) if good else FORMER
    rows = []
    for variant in found["first"]:
        row = {"variant": variant + (" (taken)" if variant == taken else "")}
        for half, ratios in found.items():
            error, seconds = ratios.get(variant, (np.nan, np.nan))
            row |= {f"error, {half} half": float(error), f"time, {half} half": float(seconds)}
        rows.append(row)
        print("  ".join(f"{k} {v:.3f}" if k != "variant" else f"{v:<52}" for k, v in row.items()))
    listed = [{"half": half, "sets": ", ".join(names)} for half, names in halves.items()]
    return {"compared": rows, "halves": listed}


def main():
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", default=None)
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS))
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="500 rows, one split")
    args = parser.parse_args()
    if args.quick:
        args.rows, args.seeds = 500, 1
    print_header()
    warnings.simplefilter("ignore")
    results = []
    for name in args.sets or itertools.chain(*all_sets().values()):
        task, runs = load(name).task, {variant: [] for variant in args.variants}
        for seed in range(1, args.seeds + 1):  # seed 0 would be the official split
            parts = split(name, seed, args.rows)
            for variant in args.variants:
                runs[variant].append(measured(variant, task, parts))
        for variant, some in runs.items():
            mean = {key: float(np.mean([r[key] for r in some])) for key in ("error", "fit_s")}
            results.append({"set": name, "variant": variant} | mean)
        shown = "  ".join(f"{np.mean([r['error'] for r in some]):.4f}" for some in runs.values())
        print(f"{name:<24} {shown}", flush=True)
        save({"results": results}, args.json)
    save(report(results) | {"results": results}, args.json)


if __name__ == "__main__":
    main()
