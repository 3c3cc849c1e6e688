"""Fits grow as their formulas say, in every direction.

Claim: seconds of a fit grow at most linearly with rows, features, classes and outputs, and at most
quadratically with units or landmarks; twice the threads save at least 30 %; megabytes beside the
data do not grow with the rows once there are many blocks of them. Each direction is followed from
one middle: 100,000 float32 rows of 54 features, 7 classes, 1,000 units or landmarks, all threads.
The exponent is the slope of the least-squares line through log time (log memory) against log size,
and beside it that of the last two sizes, where fixed costs count least; memory is judged by these.

Both machines are given their alpha, the Nyström kernel ELM its Gaussian kernel too. Every point is
a process of its own: seconds are the median of up to 3 fits, megabytes those of the first fit at
its peak (Linux only). "Generated rows", a million and ten million of them, are made block by block
when they are read.

    python bench/growth_in_every_direction.py [--machines ELM] [--directions rows threads]
        [--quick] [--json FILE]
"""

import os
import statistics
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from harness import cost_of, in_process, options, print_header, save, timed
from kernelm import ELMClassifier, ELMRegressor, KernelELMClassifier, KernelELMRegressor
from kernelm.data import Rows
from kernelm.kernels import Gaussian

MACHINES = ["ELM", "Nyström kernel ELM"]
ALPHA, REPEATS, ENOUGH_S = 1.0, 3, 6.0  # no more fits of a point after so many seconds
CHUNK = 1024  # rows that are generated together

#: At most so large an exponent of time, and of memory (last two sizes) where that is claimed.
CLAIMS = {
    "rows": (1.1, 0.1),
    "generated rows": (1.1, 0.1),
    "features": (1.1, None),
    "units": (2.1, None),
    "classes": (1.1, None),
    "outputs": (1.1, None),
    "threads": (-0.5, None),
}


@dataclass(frozen=True)
class Size:
    """One problem; ``outputs`` is the number of regression targets, 0 for classification."""

    rows: int = 100_000
    features: int = 54
    units: int = 1000
    classes: int = 7
    outputs: int = 0
    threads: int = 0  #: 0: all
    generated: bool = False


def plan(*, quick):
    """Sizes to measure, direction by direction."""
    cores = len(os.sched_getaffinity(0))
    threads = sorted({min(2**k, cores) for k in range(cores.bit_length())})
    middle = Size(20_000, 16, 250) if quick else Size()
    along = {
        "rows": [5000, 20_000, 80_000] if quick else [10**4, 10**5, 10**6],
        "features": [8, 32, 128] if quick else [8, 32, 128, 512, 1024],
        "units": [125, 250, 500] if quick else [125, 250, 500, 1000, 2000],
        "classes": [2, 20] if quick else [2, 7, 20, 60, 200],
        "outputs": [1, 16] if quick else [1, 4, 16, 64],
        "threads": threads,
    }
    sizes = {name: [replace(middle, **{name: n}) for n in values] for name, values in along.items()}
    if not quick:
        sizes["generated rows"] = [replace(middle, rows=n, generated=True) for n in (10**6, 10**7)]
    return sizes


def measured_along(direction, size):
    return getattr(size, direction.removeprefix("generated "))


# -- rows -----------------------------------------------------------------------------------------


class Generated:
    """Rows that are made when they are read: the same ones each time, and none are kept."""

    dtype = np.dtype(np.float32)

    def __init__(self, size):
        self.size = size
        self.n_rows, self.n_features = size.rows, size.features
        width = size.outputs or size.classes
        rng = np.random.default_rng(0)
        self.W = rng.standard_normal((size.features, width), dtype=np.float32)
        self.W /= np.float32(size.features**0.5)

    def blocks(self, rows):
        step = max(rows // CHUNK, 1) * CHUNK
        for start in range(0, self.n_rows, step):
            stop = min(start + step, self.n_rows)
            for begin in range(start, stop, rows):  # a block may be smaller than a chunk
                upto = min(begin + rows, stop)
                yield lambda a=begin, b=upto: self.read(a, b)

    def read(self, start, stop):
        first = start // CHUNK
        parts = [self.chunk(k) for k in range(first, -(-stop // CHUNK))]
        X, y = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        at = slice(start - first * CHUNK, stop - first * CHUNK)
        return Rows(X[at], y[at], None, start)

    def chunk(self, k):
        rng = np.random.default_rng([1, k])
        X = rng.standard_normal((CHUNK, self.n_features), dtype=np.float32)
        Y = np.tanh(X @ self.W)
        Y += np.float32(0.5) * rng.standard_normal(Y.shape, dtype=np.float32)
        return X, (Y if self.size.outputs else Y.argmax(axis=1))


# -- one point ------------------------------------------------------------------------------------


def machine(name, size):
    if name == "ELM":
        kind = ELMRegressor if size.outputs else ELMClassifier
        return kind(size.units, alpha=ALPHA, random_state=0)
    kind = KernelELMRegressor if size.outputs else KernelELMClassifier
    kernel = Gaussian.from_gamma(1 / size.features)
    form = {"approximation": "nystrom", "n_landmarks": size.units}
    return kind(kernel, alpha=ALPHA, random_state=0, **form)


def run(name, size):
    """Seconds and extra megabytes of a fit."""
    source = Generated(size)
    few = source.read(0, 5000)
    machine(name, replace(size, units=min(size.units, 500))).fit(few.X, few.y)  # imports, caches
    if size.generated:

        def fit():
            options = {} if size.outputs else {"classes": np.arange(size.classes)}
            machine(name, size).fit_source(source, **options)

    else:
        rows = source.read(0, size.rows)

        def fit():
            machine(name, size).fit(rows.X, rows.y)

    with threadpool_limits(size.threads or None, user_api="blas"):
        first, megabytes = cost_of(fit)
        seconds = [first]
        while len(seconds) < REPEATS and sum(seconds) < ENOUGH_S:
            seconds.append(timed(fit))
    return {"seconds": statistics.median(seconds), "mb": megabytes, "fits": len(seconds)}


# -- exponents ------------------------------------------------------------------------------------


def slope(sizes, values):
    """Return the exponent of a power law through the points."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(values, 1e-3)), 1)[0])


def exponents(points):
    """Exponents of time and memory for each machine and direction that has two sizes."""
    groups = {}
    for p in points:
        groups.setdefault((p["machine"], p["direction"]), []).append(p)
    for (name, direction), found in groups.items():
        if len(found) < 2:
            continue
        sizes = [p["size"] for p in found]
        seconds, megabytes = ([p[key] for p in found] for key in ("seconds", "mb"))
        time, last = slope(sizes, seconds), slope(sizes[-2:], megabytes[-2:])
        most_time, most_memory = CLAIMS[direction]
        yield {
            "machine": name,
            "direction": direction,
            "from": sizes[0],
            "to": sizes[-1],
            "time": time,
            "time_last": slope(sizes[-2:], seconds[-2:]),
            "memory": slope(sizes, megabytes),
            "memory_last": last,
            "allowed_time": most_time,
            "allowed_memory": most_memory,
            "met": time <= most_time and (most_memory is None or last <= most_memory),
        }


def main():
    parser = options(__doc__)
    parser.add_argument("--machines", nargs="+", default=MACHINES, choices=MACHINES)
    parser.add_argument("--directions", nargs="+", choices=list(CLAIMS))
    parser.add_argument("--quick", action="store_true", help="a fifth of the rows, and fewer sizes")
    args = parser.parse_args()
    print_header()
    print(f"\n{'':<19} {'direction':<15} {'size':>10} {'fit s':>8} {'MB':>7}")
    points = []
    for direction, sizes in plan(quick=args.quick).items():
        if args.directions and direction not in args.directions:
            continue
        for name in args.machines:
            for size in sizes:
                n = measured_along(direction, size)
                r = in_process(__file__, f"run({name!r}, script.{size!r})")
                points.append({"machine": name, "direction": direction, "size": n} | r)
                text = f"{name:<19} {direction:<15} {n:10,} {r['seconds']:8.2f} {r['mb']:7.0f}"
                print(text, flush=True)
    found = list(exponents(points))
    print(f"\n{'exponents':<19} {'':<15} {'time':>6} {'last':>6} {'memory':>7} {'last':>6}")
    for e in found:
        allowed = f"time ≤ {e['allowed_time']:g}"
        if e["allowed_memory"] is not None:
            allowed += f", memory ≤ {e['allowed_memory']:g}"
        verdict = "met" if e["met"] else "MISSED"
        print(
            f"{e['machine']:<19} {e['direction']:<15} {e['time']:6.2f} {e['time_last']:6.2f} "
            f"{e['memory']:7.2f} {e['memory_last']:6.2f}  {allowed}: {verdict}"
        )
    save({"points": points, "exponents": found}, args.json)


if __name__ == "__main__":
    main()
