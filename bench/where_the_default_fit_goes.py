"""Where the seconds of a default kernel ELM go, beside what one kernel and one alpha cost.

Claim: printed, not assumed. The goal was a median fit no slower than LightGBM's. This profile says
what stands in the way: "floor" is bare BLAS and LAPACK for one Gaussian kernel matrix of all rows
and one Cholesky factor of it, nothing chosen, no leave-one-out. Where LightGBM is quicker than the
floor, no exact kernel machine can follow it. The other columns split our fit: rounds of the kernel
search by their rows, weights of the inputs, the walk to alpha, the factor of all rows, the rest.
Each line is the fit of median time of some; LightGBM is timed in the same process, in turn.

    KERNELM_DATA=... python bench/where_the_default_fit_goes.py [--sets adult] [--rows 2000 10000]
        [--repeats 5] [--quick] [--json FILE]
"""

import json
import statistics
import time
from collections import defaultdict
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np

from harness import lightgbm, options, print_header, save, timed
from kernelm import KernelELMClassifier, KernelELMRegressor, search
from kernelm._lapack import potrf
from kernelm.data import load
from kernelm.estimators import metric
from kernelm.estimators.exact import ExactMachine
from peers import split

SETS = ["pima_diabetes", "concrete", "wine_white", "adult", "cal_housing", "letter", "mnist"]


class Clock:
    """Seconds by name; what runs inside another part is taken off that one."""

    def __init__(self):
        self.seconds, self._inner = defaultdict(float), []

    def around(self, function, name):
        """Return a function that is timed under ``name``, or what it makes of the arguments."""

        def measured(*args, **kwargs):
            self._inner.append(0.0)
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                took = time.perf_counter() - start
                self.seconds[name(*args) if callable(name) else name] += took - self._inner.pop()
                if self._inner:
                    self._inner[-1] += took

        return measured


@contextmanager
def watched(clock):
    """Time the parts of a default fit."""
    of_rows = "search, {} rows".format
    parts = [
        (search, "rank_kernels", lambda S, *_: of_rows(_round_of(S.shape[0]))),
        (metric, "rank_kernels", "weights of inputs"),
        (metric, "best_metric", "scaling"),
        (metric.KernelChooser, "_sharpen", "weights of inputs"),
        (ExactMachine, "_by_walking", "alpha"),
        (ExactMachine, "_by_cholesky", "factor"),
        (ExactMachine, "_by_eigenvalues", "alpha"),
    ]
    with ExitStack() as stack:
        for owner, attribute, name in parts:
            wrapped = clock.around(getattr(owner, attribute), name)
            stack.enter_context(patch.object(owner, attribute, wrapped))
        yield


def _round_of(rows):
    """The rows of the round that so many rows belong to."""
    return next(r.rows for r in search.ROUNDS if rows <= r.rows)


def profile(model, X, y):
    """Seconds of a fit in all, and by part."""
    clock = Clock()
    with watched(clock):
        seconds = timed(model.fit, X, y)
    return seconds, clock.seconds | {"rest": seconds - sum(clock.seconds.values())}


def floor(X):
    """Seconds of a kernel matrix and a Cholesky factor, in BLAS, NumPy and LAPACK."""
    X = np.asarray(X, np.float64)
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)

    def bare():
        K = X @ X.T
        d = K.diagonal().copy()
        K *= 2
        K -= d[:, None]
        K -= d
        K /= X.shape[1]
        np.exp(K, out=K)
        K.flat[:: len(K) + 1] += 1e-2
        potrf(K.T)  # columns first, as LAPACK wants it

    return timed(bare)


def measured(name, rows, repeats):
    """One line of the profile."""
    is_classes = load(name).task == "classification"
    X, _, y, _ = split(name, 0, rows)
    ours = KernelELMClassifier if is_classes else KernelELMRegressor
    gbm = lightgbm()
    theirs = gbm and (gbm.LGBMClassifier if is_classes else gbm.LGBMRegressor)
    ours(random_state=0).fit(X[:100], y[:100])  # compiled loops
    fits, floors, peer = [], [], []
    for _ in range(repeats):
        fits.append(profile(ours(random_state=0), X, y))
        floors.append(floor(X))
        if theirs:
            peer.append(timed(theirs(random_state=0, verbose=-1).fit, X, y))
    seconds, parts = sorted(fits, key=lambda fit: fit[0])[len(fits) // 2]
    row = {"set": name, "rows": len(X), "features": X.shape[1], "fit_s": seconds}
    row["lightgbm_s"] = statistics.median(peer) if peer else None
    row["floor_s"] = statistics.median(floors)
    rounds = [f"search, {r.rows} rows" for r in search.ROUNDS]
    for part in [*rounds, "scaling", "weights of inputs", "alpha", "factor", "rest"]:
        row[part + ", s"] = parts.get(part, 0.0)
    return row


def main():
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--rows", type=int, nargs="+", default=[2000, 10_000])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="2,000 rows, three fits")
    args = parser.parse_args()
    if args.quick:
        args.rows, args.repeats = args.rows[:1], 3
    print_header()
    file = Path(args.json) if args.json else None
    found = json.loads(file.read_text())["seconds"] if file and file.is_file() else []
    for rows in args.rows:
        for name in args.sets:
            n = len(split(name, 0, rows)[2])
            if any((row["set"], row["rows"]) == (name, n) for row in found):
                continue  # all rows of a small set, or a run that was ended goes on
            row = measured(name, rows, args.repeats)
            found.append(row)
            shown = "  ".join(f"{k.removesuffix(', s')} {v:.3f}" for k, v in list(row.items())[3:])
            print(f"{name} {row['rows']} × {row['features']}  {shown}", flush=True)
            save({"seconds": found}, args.json)


if __name__ == "__main__":
    main()
