"""Default models against default models, on every real set: who ranks best, and at what cost.

Claim: printed, not assumed. Sets without an official split, and all of fewer than 3,000 rows, are
split 80/20 by several seeds; training rows beyond ``--rows`` are left out, for every machine alike.
A machine that takes longer than ``--limit`` seconds, or fails, ranks last on that set. The sets
are in two halves, so that defaults can be settled on the first and confirmed on the second; those
of this library have been settled with some sets of both in view.

    KERNELM_DATA=... python bench/default_models_against_peers.py [--sets letter] [--machines ELM]
        [--rows 5000] [--limit 40] [--seeds 2] [--quick] [--json FILE]
"""

import itertools
import json
import os
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from harness import options, print_header, save
from kernelm.data import load
from peers import OURS, Worker, machines, measure

SMALL = 3000
SPARSE = ("news20_bydate",)  # most machines here want dense rows


def all_sets():
    """Names of the sets in KERNELM_DATA by task, as its manifest says."""
    manifest = json.loads((Path(os.environ["KERNELM_DATA"]) / "manifest.json").read_text("utf-8"))
    found = {"classification": [], "regression": []}
    for entry in sorted(manifest, key=lambda entry: entry["name"]):
        if entry["name"] not in SPARSE:
            found[entry["task"]].append(entry["name"])
    return found


def first_half(sets):
    """Every other set of each task: defaults may be settled on these."""
    return {name for names in sets.values() for name in names[::2]}


def summary(name, machine, runs):
    """Means over the splits of one machine on one set."""
    failed = [r for r in runs if "score" not in r]
    if failed:
        return {"set": name, "machine": machine} | failed[0]
    mean = {key: float(np.mean([r[key] for r in runs])) for key in ("score", "extra_mb")}
    median = {key: float(np.median([r[key] for r in runs])) for key in ("fit_s", "predict_s")}
    rest = {key: runs[0][key] for key in ("row_s", "model_bytes", "rows", "tested", "features")}
    return {"set": name, "machine": machine, "splits": len(runs)} | mean | median | rest


def ranks(results, sets):
    """Mean rank of every machine over the sets it was offered for; failures are last."""
    found = {}
    for name in sets:
        here = {r["machine"]: r.get("score", -np.inf) for r in results if r["set"] == name}
        # To the fourth decimal: nobody tells apart what differs less.
        for machine, rank in zip(here, rankdata(-np.round([*here.values()], 4)), strict=True):
            found.setdefault(machine, []).append(rank)
    mean = {machine: float(np.mean(some)) for machine, some in found.items()}
    return dict(sorted(mean.items(), key=lambda each: each[1]))


def report(results):
    """Print the mean ranks, over all sets and each half, with median fit times."""
    sets, known = list(dict.fromkeys(r["set"] for r in results)), all_sets()
    settled = first_half(known)
    halves = {
        "all": sets,
        "classes": [s for s in sets if s in known["classification"]],
        "numbers": [s for s in sets if s in known["regression"]],
        "first": [s for s in sets if s in settled],
        "second": [s for s in sets if s not in settled],
    }
    found = {half: ranks(results, some) for half, some in halves.items() if some}
    fit = {
        m: [r["fit_s"] for r in results if r["machine"] == m and "fit_s" in r] for m in found["all"]
    }
    print(f"\nmean rank  {'':<22}" + "".join(f"{h} ({len(halves[h])})".rjust(14) for h in found))
    for m in found["all"]:
        line = "".join(f"{found[h].get(m, np.nan):14.2f}" for h in found)
        print(f"{m:<33}{line}   fit {np.median(fit[m]) if fit[m] else np.nan:.2f} s")
    distance = critical_difference(len(found["all"]), len(sets))
    print(f"critical difference (Nemenyi, 5 %): {distance:.2f}")
    return {"ranks": found, "critical_difference": distance}


def critical_difference(n_machines, n_sets):
    """From which difference on mean ranks are told apart at 5 % (Nemenyi)."""
    from scipy.stats import studentized_range

    q = studentized_range.ppf(0.95, n_machines, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_machines * (n_machines + 1) / 6 / n_sets))


def main():
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", default=None)
    parser.add_argument("--machines", nargs="+", default=None)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--limit", type=float, default=40)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="2,000 rows, 20 s, one seed")
    args = parser.parse_args()
    if args.quick:
        args.rows, args.limit, args.seeds = 2000, 20, 1
    print_header()
    file = Path(args.json) if args.json else None
    known = json.loads(file.read_text())["results"] if file and file.is_file() else []
    done = {(r["set"], r["machine"]): r for r in known}
    worker = Worker()
    for name in args.sets or [*itertools.chain(*all_sets().values())]:
        data = load(name)
        small = data.X.shape[0] < SMALL
        seeds = range(args.seeds if small else 1)
        wanted = args.machines or list(machines(data.task, data.X.shape[1]))
        for machine in wanted:
            if (name, machine) in done:
                continue
            runs = []
            for seed in seeds:
                runs.append(worker.call(measure, machine, name, seed, args.rows, limit=args.limit))
                if "score" not in runs[-1]:
                    break
            r = done[name, machine] = summary(name, machine, runs)
            mark = "*" if machine in OURS else " "
            found = f"{r['score']:.4f} {r['fit_s']:8.2f} s" if "score" in r else str(r)[-80:]
            print(f"{name:<24}{mark}{machine:<22} {found}", flush=True)
            save({"results": list(done.values())}, args.json)
    worker.end()
    results = list(done.values())
    save({"results": results, "rows": args.rows} | report(results), args.json)


if __name__ == "__main__":
    main()
