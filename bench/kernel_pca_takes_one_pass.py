"""Kernel PCA from landmarks takes one pass and memory that does not grow with the rows.

Claim: the leading 50 components of a Gaussian kernel on 10⁴ … 10⁶ rows of 20 features, from 1,024
landmarks: seconds linear in the rows, megabytes flat. scikit-learn's KernelPCA, which needs the
matrix of all rows, is beside it at 4,000 and 10,000 rows, with how far the eigenvalues of the
landmarks are from its own.

    python bench/kernel_pca_takes_one_pass.py [--rows 10000 100000 1000000] [--json FILE]
"""

import numpy as np
from sklearn.decomposition import KernelPCA as TheirKernelPCA

from harness import in_process, options, peak_of, print_header, save, timed
from kernelm import KernelPCA
from kernelm.kernels import Gaussian

D, COMPONENTS, SCALE = 20, 50, 6.0


def rows(n):
    """Float32 rows on a curved surface of few dimensions, with noise."""
    rng = np.random.default_rng(0)
    T = rng.uniform(-2, 2, (n, 4)).astype(np.float32)
    M = rng.standard_normal((4, D)).astype(np.float32)
    return np.sin(T @ M) + T @ M / 2 + 0.1 * rng.standard_normal((n, D), np.float32)


def machine(side):
    if side == "scikit-learn":
        return TheirKernelPCA(COMPONENTS, kernel="rbf", gamma=0.5 / SCALE**2)
    return KernelPCA(COMPONENTS, kernel=Gaussian(SCALE), approximation=side, random_state=0)


def run(side, n):
    X, model, seconds = rows(n), machine(side), []
    machine(side).fit(X[:1500])
    megabytes = peak_of(lambda: seconds.append(timed(model.fit, X)))
    transform_s = timed(model.transform, X[:10_000])
    result = {"side": side, "rows": n, "seconds": seconds[0], "mb": megabytes}
    values = [float(v) for v in model.eigenvalues_[:10] / n]
    return result | {"transform_s": transform_s, "values": values}


def main():
    parser = options(__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    args = parser.parse_args()
    print_header()
    print(f"\n{'side':<13} {'rows':>9} {'fit s':>7} {'MB':>6}  10,000 rows transformed, s")
    results = []
    runs = [("scikit-learn", 4000), ("exact", 4000), ("nystrom", 4000), ("scikit-learn", 10_000)]
    for side, n in [*runs, *(("nystrom", n) for n in args.rows)]:
        r = in_process(__file__, f"run({side!r}, {n})")
        results.append(r)
        print(
            f"{side:<13} {n:9,} {r['seconds']:7.2f} {r['mb']:6.0f}  {r['transform_s']:.2f}",
            flush=True,
        )
    theirs, _, near = (np.array(r["values"]) for r in results[:3])
    print(f"largest error of ten eigenvalues, 4,000 rows: {np.abs(near / theirs - 1).max():.1e}")
    save(results, args.json)


if __name__ == "__main__":
    main()
