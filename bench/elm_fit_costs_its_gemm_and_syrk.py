"""ELM fit costs little more than its own GEMM + SYRK, and memory does not grow with the rows.

Claim: ``ELMClassifier(n_hidden=1000)`` on 200,000×54 float32 rows, 7 classes, 20 alphas, takes
at most 1.5 times the bare BLAS time of its matrix products in the same run, adds at most
400 MB whatever the number of rows, and is at least 3 times as fast as scikit-learn's
``StandardScaler + RBFSampler(1000) + RidgeCV(20 alphas)``; Nystroem(1000) + Ridge is beside it.

    python bench/elm_fit_costs_its_gemm_and_syrk.py [--rows 200000] [--repeats 3]
"""

import argparse
import statistics

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from harness import in_process, peak_of, print_header, timed
from kernelm import ELMClassifier

D, L, C = 54, 1000, 7
ALPHAS = np.logspace(-3, 4, 20)


def problem(n_rows):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, D), dtype=np.float32)
    W = rng.standard_normal((D, C), dtype=np.float32)
    y = (np.tanh(X @ W) + 0.5 * rng.standard_normal((n_rows, C), dtype=np.float32)).argmax(axis=1)
    return X, y


def bare_blas(X, rows=16_384):
    """The two products of the fit on blocks of rows, with BLAS's own threads, nothing else."""
    W = np.random.default_rng(0).standard_normal((D, L), dtype=np.float32)
    H = np.empty((rows, L), np.float32)
    for start in range(0, len(X), rows):
        block = X[start : start + rows]
        np.matmul(block, W, out=H[: len(block)])
        H[: len(block)].T @ H[: len(block)]  # NumPy takes SYRK


def ours(X, y):
    return ELMClassifier(n_hidden=L, alpha=ALPHAS, random_state=0).fit(X, y)


def rbf_sampler_ridge_cv(X, y):
    sampler = RBFSampler(gamma=1 / D, n_components=L, random_state=0)
    return make_pipeline(StandardScaler(), sampler, RidgeCV(ALPHAS)).fit(X, codes(y))


def nystroem_ridge(X, y):
    """One alpha only: scikit-learn has no cheap choice of it here."""
    nystroem = Nystroem(gamma=1 / D, n_components=L, random_state=0)
    return make_pipeline(StandardScaler(), nystroem, Ridge()).fit(X, codes(y))


def codes(y):
    return np.where(y[:, None] == np.arange(C), 1.0, -1.0).astype(np.float32)


def extra_memory(n_rows, which="ours"):
    """Megabytes that a fit adds to its data, at the peak."""
    X, y = problem(n_rows)
    fit = globals()[which]
    fit(X[:5000], y[:5000])  # imports and caches are not what is measured
    return peak_of(fit, X, y)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    print_header()
    X, y = problem(args.rows)
    ours(X[:5000], y[:5000])
    bare, mine = [], []
    for _ in range(args.repeats):
        bare.append(timed(bare_blas, X))
        mine.append(timed(ours, X, y))
    bare_s, ours_s = statistics.median(bare), statistics.median(mine)
    print(f"rows {args.rows:,} × {D} float32, {L} units, {C} classes, {len(ALPHAS)} alphas")
    print(f"bare GEMM + SYRK        {bare_s:7.2f} s")
    print(f"ELMClassifier           {ours_s:7.2f} s   {ours_s / bare_s:.2f} × bare BLAS (≤ 1.5)")
    one, two = (in_process(__file__, f"extra_memory({k * args.rows})") for k in (1, 2))
    print(
        f"  extra memory          {one:7.0f} MB  (≤ 400); at {2 * args.rows:,} rows {two:.0f} MB "
        f"({100 * (two / one - 1):+.0f} %, ±10 allowed)"
    )
    for name in ("nystroem_ridge", "rbf_sampler_ridge_cv"):
        seconds = timed(globals()[name], X, y)
        megabytes = in_process(__file__, f"extra_memory({args.rows}, {name!r})")
        print(f"{name:22s}  {seconds:7.2f} s   {seconds / ours_s:.1f} × ours, {megabytes:.0f} MB")


if __name__ == "__main__":
    main()
