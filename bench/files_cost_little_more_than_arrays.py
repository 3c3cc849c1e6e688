"""Ten million rows from Parquet: linear in the rows, within a gigabyte, hardly slower than arrays.

Claim: an NKELM with 1,000 landmarks on rows of 30 float32 features, read from Parquet files of
``--group`` rows a row group. From a million rows to ten million the time of a row changes by less
than 10 %, peak memory stays below 1 GB (what the whole process holds, libraries and all), and at a
million rows the fit takes at most 1.3 times that of the same rows in memory. The kernel is given,
so that every row is read twice: for the sample, and for the sums.

Files are made by the script in a temporary folder, or in ``--folder``, where they stay. Every run
is a process of its own.

    python bench/files_cost_little_more_than_arrays.py [--rows 1000000 10000000]
        [--landmarks 1000] [--group 131072] [--folder DIR] [--json FILE]
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from harness import in_process, options, peak_megabytes, print_header, save, timed
from kernelm import KernelELMRegressor
from kernelm.data import ArraySource, scan

FEATURES, FILE_ROWS = 30, 1_000_000


def part(k, n_rows):
    """The rows of the k-th file: a smooth function of some of the features, with noise."""
    rng = np.random.default_rng([7, k])
    X = rng.standard_normal((n_rows, FEATURES), dtype=np.float32)
    y = np.sin(X[:, 0] * X[:, 1]) + np.tanh(X[:, 2:5].sum(axis=1)) + 0.1 * X[:, 5] ** 2
    return X, y + np.float32(0.1) * rng.standard_normal(n_rows, dtype=np.float32)


def write_files(folder, n_rows, group):
    """Write what is not there yet, file by file."""
    folder.mkdir(parents=True, exist_ok=True)
    for k in range(-(-n_rows // FILE_ROWS)):
        path = folder / f"part-{k:04d}.parquet"
        if path.exists():
            continue
        X, y = part(k, min(FILE_ROWS, n_rows - k * FILE_ROWS))
        columns = {f"x{j}": X[:, j] for j in range(FEATURES)} | {"y": y}
        pq.write_table(pa.table(columns), path, row_group_size=group)


def machine(n_landmarks):
    return KernelELMRegressor(
        "gaussian", approximation="nystrom", n_landmarks=n_landmarks, random_state=0
    )


def run(form, folder, n_rows, n_landmarks):
    n_files = -(-n_rows // FILE_ROWS)
    machine(64).fit(*part(99, 5000))  # imports and compilation are not what is measured
    if form == "array":
        parts = [part(k, min(FILE_ROWS, n_rows - k * FILE_ROWS)) for k in range(n_files)]
        source = ArraySource(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
        del parts
        scan_s = 0.0
    else:
        files = sorted(Path(folder).glob("*.parquet"))[:n_files]
        scan_s = timed(lambda: scan(files, target="y"))
        source = scan(files, target="y")
    model = machine(n_landmarks)
    fit_s = timed(model.fit_source, source)
    X, y = part(98, 20_000)
    import pandas as pd

    at = X if form == "array" else pd.DataFrame(X, columns=model.feature_names_in_)
    return {
        "form": form,
        "rows": n_rows,
        "scan_s": scan_s,
        "fit_s": fit_s,
        "rows_per_s": n_rows / fit_s,
        "peak_mb": peak_megabytes(),
        "r2": float(model.score(at, y)),
    }


def main():
    parser = options(__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--landmarks", type=int, default=1000)
    parser.add_argument("--group", type=int, default=131_072)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--limit", type=float, default=3600)
    args = parser.parse_args()
    print_header()
    with tempfile.TemporaryDirectory() as made:
        folder = args.folder or Path(made)
        write_s = timed(write_files, folder, max(args.rows), args.group)
        size = sum(path.stat().st_size for path in folder.glob("*.parquet")) / 1e6
        print(
            f"{max(args.rows):,} × {FEATURES} float32 in Parquet: {size:,.0f} MB, {write_s:.0f} s"
        )
        print(f"\n{'':<8} {'rows':>11} {'fit s':>8} {'rows/s':>9} {'peak MB':>8} {'R²':>7}")
        results = []
        for form, n_rows in [("array", min(args.rows)), *(("parquet", n) for n in args.rows)]:
            call = f"run({form!r}, {str(folder)!r}, {n_rows}, {args.landmarks})"
            r = in_process(__file__, call, args.limit)
            results.append(r)
            text = f"{form:<8} {n_rows:11,} {r['fit_s']:8.1f} {r['rows_per_s']:9,.0f} "
            print(text + f"{r['peak_mb']:8.0f} {r['r2']:7.4f}", flush=True)
    array, *files = results
    print(
        f"\nParquet over arrays, {array['rows']:,} rows: {files[0]['fit_s'] / array['fit_s']:.2f}"
    )
    for r in files[1:]:
        growth = r["fit_s"] / r["rows"] / (files[0]["fit_s"] / files[0]["rows"])
        print(f"time of a row at {r['rows']:,} over that at {files[0]['rows']:,}: {growth:.3f}")
    save(results, args.json)


if __name__ == "__main__":
    main()
