"""Core vector machines on sparse rows: text, and ten million columns.

Claim: CSR rows are never made dense. Twenty classes of text (news20_bydate, tf-idf of the training
rows) are told apart with a linear kernel, beside LinearSVC; 10⁶ synthetic rows in 10⁷ columns,
50 entries each, are fitted with a few hundred megabytes beside the rows. A dense block of only
ten of these rows would take as much.

The j-th entry of a synthetic row is in the j-th of 50 ranges of columns, each wider than the one
before by the same factor: popular columns are shared by many rows, most columns by few, as words
are. In the first ten ranges even columns are words of one class and odd ones of the other, and
``--noise`` of a row's words are from the wrong class. At the tolerance "auto" every row inside
its margin wants to be a core vector, more of them than ``max_core``: ``--eps`` is a number.

LinearSVC solves nearly the same problem with one weight a column, far sooner: where the kernel is
linear it is the machine to use. Every side runs in a process of its own, which is ended after
``--limit`` seconds.

    KERNELM_DATA=... python bench/sparse_rows_stay_sparse.py [--sets news20] [--rows 100000]
        [--columns 1000000] [--noise 0.1] [--eps auto] [--limit 1800] [--json FILE]
"""

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.svm import LinearSVC

from harness import cost_of, in_process, options, parts, print_header, save, timed
from kernelm import CoreVectorClassifier
from kernelm.data import load
from kernelm.kernels import Linear

ENTRIES, TELLING, POPULAR, C = 50, 10, 100, 1.0
TEST_ROWS = 10_000


def text():
    (X, y), (X_test, y_test) = parts(load("news20_bydate"))
    idf = TfidfTransformer(sublinear_tf=True).fit(X)
    return idf.transform(X), y, idf.transform(X_test), y_test


def synthetic(n_rows, n_columns, noise):
    """Training and test rows of unit length, float32, with int32 indices."""
    rng = np.random.default_rng(0)
    n = n_rows + TEST_ROWS
    # Even borders: columns 2k and 2k + 1, a word of either class, are in the same range.
    edges = 2 * (np.geomspace(POPULAR, n_columns + POPULAR, ENTRIES + 1).astype(int) // 2) - POPULAR
    columns = rng.integers(edges[:-1], edges[1:], size=(n, ENTRIES), dtype=np.int32)
    y = rng.random(n) < 0.5
    told = columns[:, :TELLING]
    told -= told % 2
    told += y[:, None] ^ (rng.random(told.shape, np.float32) < noise)
    values = rng.random((n, ENTRIES), np.float32) + np.float32(0.5)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    ends = np.arange(0, n * ENTRIES + 1, ENTRIES, dtype=np.int32)
    X = sparse.csr_array((values.ravel(), columns.ravel(), ends), shape=(n, n_columns))
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def machine(side, eps, limit):
    if side == "LinearSVC":
        return LinearSVC(C=C, random_state=0)
    return CoreVectorClassifier(
        Linear(), C=C, eps=eps, scale_inputs=False, max_seconds=limit / 2, random_state=0
    )


def megabytes_of(X):
    return (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20


def run(side, name, n_rows, n_columns, noise, eps, limit):
    if name == "news20":
        (X, y, X_test, y_test), eps = text(), "auto"
    else:
        X, y, X_test, y_test = synthetic(n_rows, n_columns, noise)
    machine(side, eps, limit).fit(X[:2000], y[:2000])  # imports are not what is measured
    model = machine(side, eps, limit)
    fit_s, megabytes = cost_of(model.fit, X, y)
    scores = []
    predict_s = timed(lambda: scores.append(model.score(X_test, y_test)))
    result = {"set": name, "side": side, "rows": X.shape[0], "columns": X.shape[1]}
    result |= {"rows_mb": megabytes_of(X), "mb": megabytes, "accuracy": scores[0]}
    result |= {"fit_s": fit_s, "predict_s": predict_s}
    if side == "LinearSVC":
        return result
    return result | {"core": model.n_core_, "gap": model.gap_, "status": model.status_.name}


def number_or_auto(text):
    return text if text == "auto" else float(text)


def main():
    parser = options(__doc__)
    sets = ["news20", "synthetic"]
    parser.add_argument("--sets", nargs="+", default=sets, choices=sets)
    parser.add_argument("--sides", nargs="+", default=["CVM", "LinearSVC"])
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--columns", type=int, default=10**7)
    parser.add_argument("--noise", type=float, default=0.1)
    parser.add_argument("--eps", type=number_or_auto, default=1e-3, help="of the synthetic rows")
    parser.add_argument("--limit", type=float, default=1800)
    args = parser.parse_args()
    print_header()
    sizes = (args.rows, args.columns, args.noise, args.eps, args.limit)
    print(f"\n{'set':<9} {'side':<9} {'rows':>9} {'columns':>10} {'accuracy':>8} {'fit s':>7} MB")
    results = []
    for name in args.sets:
        for side in args.sides:
            r = in_process(__file__, f"run({side!r}, {name!r}, *{sizes!r})", args.limit)
            if r is None:
                print(f"{name:<9} {side:<9} over {args.limit:g} s", flush=True)
                continue
            tail = f", {r['core']:,} core, gap {r['gap']:.1e} {r['status']}" if "core" in r else ""
            print(
                f"{name:<9} {side:<9} {r['rows']:9,} {r['columns']:10,} {r['accuracy']:8.4f} "
                f"{r['fit_s']:7.1f} {r['mb']:.0f} beside rows of {r['rows_mb']:.0f}{tail}",
                flush=True,
            )
            results.append(r)
    save(results, args.json)


if __name__ == "__main__":
    main()
