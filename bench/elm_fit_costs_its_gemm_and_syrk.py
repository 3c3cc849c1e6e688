"""ELM fit costs little more than its own GEMM + SYRK, and memory does not grow with the rows.

Claim: ``ELMClassifier(n_hidden=1000)`` on 200,000×54 float32 rows, 7 classes, 20 alphas, takes
at most 1.5 times the bare BLAS time of its matrix products in the same run, adds at most
400 MB whatever the number of rows, and is at least 3 times as fast as scikit-learn's
``StandardScaler + RBFSampler(1000) + RidgeCV(20 alphas)``.

    python bench/elm_fit_costs_its_gemm_and_syrk.py [--rows 200000] [--repeats 3]
"""

import argparse
import statistics
import subprocess
import sys
import time

import numpy as np
from harness import peak_megabytes, print_header, timed
from scipy.linalg import blas

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
        blas.ssyrk(1.0, H[: len(block)].T)


def ours(X, y):
    from kernelm import ELMClassifier

    return ELMClassifier(n_hidden=L, alpha=ALPHAS, random_state=0).fit(X, y)


def peer(X, y):
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    Y = np.where(y[:, None] == np.arange(C), 1.0, -1.0).astype(np.float32)
    sampler = RBFSampler(gamma=1 / D, n_components=L, random_state=0)
    return make_pipeline(StandardScaler(), sampler, RidgeCV(ALPHAS)).fit(X, Y)


def memory(n_rows):
    """Extra peak memory of a fit, in a process of its own."""
    code = f"import {__file_stem()} as b; b.report_memory({n_rows})"
    out = subprocess.run(
        [sys.executable, "-c", code],
        cwd=__import__("pathlib").Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(out.stdout)


def __file_stem():
    return __import__("pathlib").Path(__file__).stem


def report_memory(n_rows):
    X, y = problem(n_rows)
    ours(X[:5000], y[:5000])  # imports and caches are not what is measured
    before = peak_megabytes()
    ours(X, y)
    print(peak_megabytes() - before)


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
    start = time.perf_counter()
    peer(X, y)
    peer_s = time.perf_counter() - start
    print(f"rows {args.rows:,} × {D} float32, {L} units, {C} classes, {len(ALPHAS)} alphas")
    print(f"bare GEMM + SYRK     {bare_s:7.2f} s")
    print(f"ELMClassifier        {ours_s:7.2f} s   {ours_s / bare_s:.2f} × bare BLAS (≤ 1.5)")
    print(f"RBFSampler + RidgeCV {peer_s:7.2f} s   {peer_s / ours_s:.1f} × ours (≥ 3)")
    one, two = memory(args.rows), memory(2 * args.rows)
    print(
        f"extra memory         {one:7.0f} MB  (≤ 400), at {2 * args.rows:,} rows {two:.0f} MB "
        f"({100 * (two / one - 1):+.0f} %, ±10)"
    )


if __name__ == "__main__":
    main()
