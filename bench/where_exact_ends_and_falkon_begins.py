"""The thresholds of the kernel ELM are where its solvers cross.

Measured, with a Gaussian kernel of median width and rows held out from the TRAINING part:
(1) ``exact.EIGEN_ROWS``: every alpha by one eigendecomposition, or one alpha (chosen on
at most 4,096 rows) by Cholesky; (2) exact or ``nystrom`` with 2,048 landmarks, from 2,000 to 16,000
rows; (3) ``kernel_machine.DIRECT_LANDMARKS``: sums and an eigendecomposition, or Falkon's passes.
Claim: the thresholds in the code are those that the last lines print, to a factor of two.

    KERNELM_DATA=... python bench/where_exact_ends_and_falkon_begins.py [--parts exact]
"""

from unittest.mock import patch

import numpy as np

from harness import cost_of, options, parts, print_header, save
from kernelm import KernelELMClassifier
from kernelm.data import load
from kernelm.estimators import exact
from kernelm.estimators.kernel_machine import DIRECT_LANDMARKS

HELD_OUT = 5000
EIGEN_SECONDS = 2.0  # what the choice of alpha by an eigendecomposition may take
POINTS = 0.1  # percent of accuracy that held-out rows hardly tell apart
MINUTE = 60.0  # what an exact fit may take, if it is the better one


def rows_of(name):
    """Shuffled training rows (float32) without, and then with only, those held out."""
    X, y = parts(load(name))[0]
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order].astype(np.float32), y[order]
    return X[HELD_OUT:], y[HELD_OUT:], X[:HELD_OUT], y[:HELD_OUT]


def fitted(data, n_rows, **settings):
    """Seconds, extra megabytes and held-out accuracy in percent of one fit."""
    X, y, X_out, y_out = data
    model = KernelELMClassifier("gaussian", random_state=0, **settings)
    seconds, megabytes = cost_of(model.fit, X[:n_rows], y[:n_rows])
    accuracy = 100 * model.score(X_out, y_out)
    return {"fit_s": seconds, "extra_mb": megabytes, "accuracy": accuracy}


def eigen_or_cholesky(data, sizes):
    """Both ways to the exact machine; the Cholesky way takes as many rows for alpha as the code."""
    for n in sizes:
        for label, limit in {"eigen": n, "cholesky": min(n - 1, exact.EIGEN_ROWS)}.items():
            with patch.object(exact, "EIGEN_ROWS", limit):
                yield {"n": n, "way": label, **fitted(data, n, approximation="exact")}


def exact_or_nystrom(data, sizes):
    for n in sizes:
        yield {"n": n, "way": "exact", **fitted(data, n, approximation="exact")}
        settings = {"approximation": "nystrom", "n_landmarks": DIRECT_LANDMARKS}
        yield {"n": n, "way": "nystrom", **fitted(data, n, **settings)}


def direct_or_falkon(data, sizes):
    """Falkon's seconds include the sums over at most DIRECT_LANDMARKS that choose its alpha."""
    for n in sizes:
        for way in ("direct", "falkon"):
            settings = {"approximation": "nystrom", "n_landmarks": n, "solver": way}
            yield {"n": n, "way": way, **fitted(data, len(data[0]), **settings)}


def quick_eigen(one, other):
    return one["fit_s"] <= EIGEN_SECONDS


def no_slower(one, other):
    return one["fit_s"] <= other["fit_s"]


def no_worse_in_a_minute(one, other):
    return one["fit_s"] <= MINUTE and one["accuracy"] >= other["accuracy"] - POINTS


#: part: what is measured, at which sizes, when the first way is right, and what the code says
PARTS = {
    "eigen": (eigen_or_cholesky, [1000, 1500, 2000, 3000, 4000], quick_eigen, exact.EIGEN_ROWS),
    "exact": (exact_or_nystrom, [2000, 4000, 8000, 16_000], no_worse_in_a_minute, 16_384),
    "direct": (direct_or_falkon, [1024, 2048, 4096], no_slower, DIRECT_LANDMARKS),
}
RULES = {
    "eigen": f"the eigendecomposition takes at most {EIGEN_SECONDS:g} s",
    "exact": f"exact is not behind nystrom by {POINTS} points, and takes at most a minute",
    "direct": "direct is no slower than falkon",
}


def threshold(results, right):
    """Largest size up to which the first way is right at every size measured, or None."""
    last = None
    for one, other in zip(results[::2], results[1::2], strict=True):
        if not right(one, other):
            break
        last = one["n"]
    return last


def main():
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", default=["ijcnn1", "mnist"])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--sizes", nargs="+", type=int, help="instead of the usual ones")
    parser.add_argument("--rows", type=int, default=50_000, help="most rows for direct or falkon")
    args = parser.parse_args()
    print_header()
    everything, verdicts = [], []
    for name in args.sets:
        X, y, *held_out = rows_of(name)
        data = (X[: args.rows], y[: args.rows], *held_out)
        fitted(data, 1500, approximation="exact")  # imports and caches are not what is measured
        for part in args.parts:
            measure, sizes, right, code = PARTS[part]
            print(f"\n{name}, {part}: up to {len(data[0]):,} × {X.shape[1]} rows")
            print(f"{'n':>6}  {'way':<9} {'fit s':>7} {'extra MB':>9}  held-out %")
            results = []
            for r in measure(data, args.sizes or sizes):
                print(
                    f"{r['n']:6d}  {r['way']:<9} {r['fit_s']:7.2f} {r['extra_mb']:9.0f} "
                    f"{r['accuracy']:11.2f}",
                    flush=True,
                )
                results.append({"set": name, "part": part, **r})
            found = threshold(results, right) or f"below {results[0]['n']}"
            verdicts.append(f"{name:<8} {part:<7} {found!s:>11}  (code: {code})  {RULES[part]}")
            everything += results
    print("\nlargest size measured up to which")
    print("\n".join(verdicts))
    save(everything, args.json)


if __name__ == "__main__":
    main()
