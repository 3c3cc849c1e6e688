"""Weights of kernels cost the values between neighbours, not a matrix of all rows.

Claim: three kernels are weighed without labels on the 49,990 training rows of ijcnn1 with ten
neighbours each in seconds and tens of megabytes. The same programme written with N × N matrices
is timed on 3,000 rows beside ours: same weights, and a ratio that grows with the rows.

    KERNELM_DATA=... python bench/kernel_weights_cost_their_neighbours.py [--json FILE]
"""

import numpy as np
from sklearn.neighbors import NearestNeighbors

from harness import in_process, options, peak_of, print_header, save, timed
from kernelm import MultipleKernelLearner
from kernelm.data import load
from kernelm.kernels import ArcCosine, Gaussian

KERNELS = [Gaussian("0.5*median"), ArcCosine([1], normalize=True), Gaussian("median")]
B, GAMMA = 10, 0.3


def dense(X, kernels):
    """The programme from full matrices; returns weights from a projected grid of the simplex."""
    N = len(X)
    index = NearestNeighbors(n_neighbors=B).fit(X).kneighbors(return_distance=False)
    D = np.zeros((N, N))
    D[np.arange(N)[:, None], index] = 1 / B
    P = X @ X.T
    V = np.diag(P)[:, None] + np.diag(P) - 2 * P
    masked = [k.gram(X) * D for k in kernels]
    A = np.array([[np.vdot(s @ P, t) for t in masked] for s in masked])
    q = np.array([np.vdot(P - GAMMA * V, t) for t in masked])
    grid = np.array([(i, j, 200 - i - j) for i in range(201) for j in range(201 - i)]) / 200
    value = 0.5 * np.einsum("gs,st,gt->g", grid, A, grid) - grid @ q
    return grid[value.argmin()]


def run(form, n_rows):
    (X, _), _ = load("ijcnn1").train, None
    X = X[np.random.default_rng(0).permutation(len(X))[:n_rows]].astype(np.float64)
    learner = MultipleKernelLearner(
        KERNELS,
        n_neighbors=B,
        gamma=GAMMA,
        n_samples=None,
        neighbors="approximate" if form == "approximate" else "exact",
        random_state=0,
    )
    learner.fit(X[:500])  # imports are not what is measured
    kernels = [k.resolve(X, random_state=0) for k in KERNELS]
    weights, seconds = [], []

    def work():
        weights.append(dense(X, kernels) if form == "dense" else learner.fit(X).weights_)

    megabytes = peak_of(lambda: seconds.append(timed(work)))
    result = {"form": form, "rows": len(X), "seconds": seconds[0], "mb": megabytes}
    return result | {"weights": [float(w) for w in weights[0]]}


def main():
    args = options(__doc__).parse_args()
    print_header()
    print(f"\n{'form':<12} {'rows':>7} {'seconds':>8} {'MB':>6}  weights")
    results = []
    for form, n_rows in (
        *(("dense", 3000), ("exact", 3000)),
        *(("exact", 12_500), ("exact", 49_990), ("approximate", 49_990)),
    ):
        r = in_process(__file__, f"run({form!r}, {n_rows})")
        results.append(r)
        weights = " ".join(f"{w:.3f}" for w in r["weights"])
        print(
            f"{form:<12} {r['rows']:7,} {r['seconds']:8.2f} {r['mb']:6.0f}  {weights}", flush=True
        )
    full, ours = results[:2]
    print(
        f"\ndense / ours at 3,000 rows: {full['seconds'] / ours['seconds']:.1f} × the time, "
        f"{full['mb'] / max(ours['mb'], 1):.0f} × the memory"
    )
    save(results, args.json)


if __name__ == "__main__":
    main()
