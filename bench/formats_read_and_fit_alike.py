"""The same rows as Parquet, CSV and LIBSVM: how fast each is read, and that the models agree.

Claim: covtype, mnist and ijcnn1 written by pyarrow and scikit-learn give, whatever the format, the
model of the arrays: the largest difference between decision values (float64 rows) is that of sums
in another order. LIBSVM is sparse, and sparse rows are scaled but not shifted: it is compared with
the model of the same rows as a CSR matrix.

Reading is one pass over all blocks of 8,192 rows, on one thread, of files that are in the cache of
the operating system, after the pass that counts rows and types. Beside each: pyarrow's or
scikit-learn's own reader for the whole file at once.

    KERNELM_DATA=... python bench/formats_read_and_fit_alike.py [--sets ijcnn1] [--json FILE]
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from harness import options, parts, print_header, save, timed
from kernelm import ELMClassifier
from kernelm.data import load, scan

SETS = ["ijcnn1", "covtype", "mnist"]
OPTIONS = {"parquet": {"target": "y"}, "csv": {"target": "y"}, "svm": {}}
PEERS = {
    "parquet": lambda path: pyarrow.parquet.read_table(path, use_threads=False),
    "csv": lambda path: pyarrow.csv.read_csv(
        path, read_options=pyarrow.csv.ReadOptions(use_threads=False)
    ),
    "svm": lambda path: load_svmlight_file(str(path)),
}


def write(X, y, kind, path):
    if kind == "svm":
        dump_svmlight_file(X, y, str(path), zero_based=False)
        return
    table = pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": y})
    if kind == "csv":
        pyarrow.csv.write_csv(table, path)
    else:
        pyarrow.parquet.write_table(table, path, row_group_size=32_768)


def read_all(source):
    return sum(read().n for read in source.blocks(8192))


def compared(name, folder):
    train, _ = parts(load(name))
    X, y = train
    X = (X.toarray() if sparse.issparse(X) else X).astype(np.float64)
    y = np.unique(y, return_inverse=True)[1]
    some = X[:: max(1, len(X) // 2000)]

    def model():
        return ELMClassifier(300, alpha=1e-3, random_state=0)

    dense = model().fit(X, y).decision_function(some)
    of_sparse = model().fit(sparse.csr_matrix(X), y).decision_function(some)
    results = []
    for kind, given in OPTIONS.items():
        path = folder / f"{name}.{kind}"
        write(X, y, kind, path)
        more = given | ({"n_features": X.shape[1]} if kind == "svm" else {"dtype": "float64"})
        source = scan(path, **more)  # compiles, and reads the file into the cache
        index_s = timed(lambda path=path, more=more: scan(path, **more))
        read_s = timed(read_all, source)
        peer_s = timed(PEERS[kind], path)
        fitted = model().fit_source(source)
        names = getattr(fitted, "feature_names_in_", None)
        at = some if names is None else _frame(some, names)
        found, expected = fitted.decision_function(at), of_sparse if kind == "svm" else dense
        results.append(
            {
                "set": name,
                "format": kind,
                "rows": len(X),
                "mb": path.stat().st_size / 1e6,
                "index_s": index_s,
                "read_s": read_s,
                "peer_s": peer_s,
                "difference": float(np.abs(found - expected).max()),
                "same_labels": float(np.mean(_labels(found) == _labels(expected))),
            }
        )
        path.unlink()
    return results


def _labels(scores):
    return scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)


def _frame(X, names):
    import pandas as pd

    return pd.DataFrame(X, columns=names)


def main():
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    args = parser.parse_args()
    print_header()
    print(
        f"\n{'set':<8} {'format':<8} {'rows':>8} {'MB':>7} {'index s':>8} {'read s':>7} "
        f"{'rows/s':>10} {'MB/s':>6} {'peer s':>7} {'difference':>11} {'same labels':>11}"
    )
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name in args.sets:
            for r in compared(name, Path(folder)):
                print(
                    f"{r['set']:<8} {r['format']:<8} {r['rows']:8,} {r['mb']:7.1f} "
                    f"{r['index_s']:8.2f} {r['read_s']:7.2f} {r['rows'] / r['read_s']:10,.0f} "
                    f"{r['mb'] / r['read_s']:6.0f} {r['peer_s']:7.2f} {r['difference']:11.1e} "
                    f"{r['same_labels']:11.2%}",
                    flush=True,
                )
                results.append(r)
    save(results, args.json)


if __name__ == "__main__":
    main()
