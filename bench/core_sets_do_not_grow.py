"""The core set of a ball does not grow with the rows; time is linear in them, memory flat.

Claim: from 10⁴ to 10⁶ rows of two overlapping Gaussian clouds in ten dimensions, at a fixed eps,
the core set stays of one size, the seconds grow at most as the rows do, and the megabytes beside
the rows do not grow. skin and covtype (its second class against the rest) are the same for parts
of real sets. Where classes overlap and eps is small, every row on the wrong side of its margin
wants to be a core vector: covtype shows that, and ends at its limits.

    python bench/core_sets_do_not_grow.py [--rows 10000 100000 1000000] [--sets skin covtype]
        [--eps 1e-3] [--plot FILE.png] [--json FILE]
"""

import numpy as np
from sklearn.preprocessing import StandardScaler

from harness import in_process, options, peak_of, print_header, save, timed
from kernelm import CoreVectorClassifier
from kernelm.data import load
from kernelm.kernels import Gaussian

D, GAP, SECONDS = 10, 1.5, 120.0


def clouds(n_rows):
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 2
    X = rng.standard_normal((n_rows, D), dtype=np.float32)
    X[:, :2] += GAP * (2 * y[:, None] - 1).astype(np.float32)
    return X, y


def rows_of(name, n_rows):
    if name == "clouds":
        return clouds(n_rows)
    data = load(name)
    X, y = data.X.astype(np.float32), data.y
    y = y == np.unique(y)[1]
    order = np.random.default_rng(0).permutation(len(X))[:n_rows]
    return StandardScaler().fit_transform(X[order]), y[order]


def run(name, n_rows, eps):
    X, y = rows_of(name, n_rows)
    model = CoreVectorClassifier(
        Gaussian(float(np.sqrt(X.shape[1] / 2))),
        C=1,
        eps=eps,
        scale_inputs=False,
        max_seconds=SECONDS,
        random_state=0,
    )
    model.fit(X[:2000], y[:2000])  # imports are not what is measured
    seconds = []
    megabytes = peak_of(lambda: seconds.append(timed(model.fit, X, y)))
    return {
        "set": name,
        "rows": len(X),
        "seconds": seconds[0],
        "core": model.n_core_,
        "mb": megabytes,
        "gap": model.gap_,
        "evaluations": model.n_evaluations_,
        "status": model.status_.name,
    }


def plot(results, file):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    labels = {
        "core": ("core vectors", (10, 100_000)),
        "seconds": ("seconds", (0.1, 100)),
        "mb": ("megabytes beside the rows", (10, 10_000)),
    }
    for axis, (key, (label, limits)) in zip(axes, labels.items(), strict=True):
        for name in dict.fromkeys(r["set"] for r in results):
            own = [r for r in results if r["set"] == name]
            axis.plot([r["rows"] for r in own], [r[key] for r in own], "o-", label=name)
        axis.set(xscale="log", yscale="log", xlabel="rows", title=label, ylim=limits)
        axis.grid(alpha=0.3)
    axes[0].legend()
    figure.savefig(file, dpi=120)


def main():
    parser = options(__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--sets", nargs="*", default=["skin", "covtype"])
    parser.add_argument("--eps", type=float, default=1e-3)
    parser.add_argument("--plot", metavar="FILE.png")
    args = parser.parse_args()
    print_header()
    print(f"\neps {args.eps:g}\n{'set':<9} {'rows':>9} {'fit s':>7} {'core':>6} {'MB':>6}  gap")
    results = []
    for name in ["clouds", *args.sets]:
        for n_rows in args.rows:
            r = in_process(__file__, f"run({name!r}, {n_rows}, {args.eps})")
            results.append(r)
            print(
                f"{name:<9} {r['rows']:9,} {r['seconds']:7.2f} {r['core']:6,} {r['mb']:6.0f}  "
                f"{r['gap']:.1e} {r['status']}",
                flush=True,
            )
            if r["rows"] < n_rows:
                break
    save(results, args.json)
    if args.plot:
        plot(results, args.plot)


if __name__ == "__main__":
    main()
