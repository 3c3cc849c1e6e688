"""A LIBSVM file of the shape of KDD Cup 2010: a million rows, thirty million columns.

Claim: the file is streamed. An ELM with a hashed projection and a core vector machine are fitted
to it within a few hundred megabytes, whatever the number of columns; a single dense row would take
as much. The file (about 30 entries a row, most columns rare) is made by the script: the first
entries of a row tell its class, and ``--noise`` of them are of the wrong one.

Every side is a process of its own; peak memory is that of the whole process.

    python bench/libsvm_of_millions_of_columns.py [--rows 1000000] [--columns 30000000]
        [--noise 0.1] [--folder DIR] [--json FILE]
"""

import tempfile
from pathlib import Path

import numpy as np

from harness import in_process, options, peak_megabytes, print_header, save, timed
from kernelm import CoreVectorClassifier, ELMClassifier
from kernelm.data import scan
from kernelm.kernels import Linear

ENTRIES, TELLING, POPULAR, BLOCK, TEST_ROWS = 30, 8, 100, 50_000, 20_000


def lines(rng, n, n_columns, noise):
    """Rows as text; wider and wider ranges of columns, so that most columns are rare."""
    edges = 2 * (np.geomspace(POPULAR, n_columns + POPULAR, ENTRIES + 1).astype(int) // 2) - POPULAR
    columns = rng.integers(edges[:-1], edges[1:], size=(n, ENTRIES))
    y = rng.random(n) < 0.5
    told = columns[:, :TELLING]
    told -= told % 2
    told += y[:, None] ^ (rng.random(told.shape) < noise)
    values = np.round(rng.random((n, ENTRIES)) + 0.5, 3)
    for label, row, entries in zip(y, columns + 1, values, strict=True):
        pairs = zip(row.tolist(), entries.tolist(), strict=True)
        yield f"{int(label)} " + " ".join(f"{j}:{v}" for j, v in pairs) + "\n"


def write(path, n_rows, n_columns, noise, seed):
    rng = np.random.default_rng(seed)
    with path.open("w") as file:
        for start in range(0, n_rows, BLOCK):
            file.writelines(lines(rng, min(BLOCK, n_rows - start), n_columns, noise))


def machine(side):
    if side == "elm":
        return ELMClassifier(1000, weights="hashed", random_state=0)
    return CoreVectorClassifier(Linear(), C=1.0, eps=0.01, max_seconds=600, random_state=0)


def run(side, folder, n_columns):
    given = {"n_features": n_columns, "dtype": "float32"}
    sources = []
    scan_s = timed(lambda: sources.append(scan(Path(folder, "train.svm"), **given)))
    test = scan(Path(folder, "test.svm"), **given)
    model = machine(side)
    fit_s = timed(model.fit_source, sources[0])
    right = n = 0
    for read in test.blocks(4096):
        block = read()
        right += int((model.predict(block.X) == block.y).sum())
        n += block.n
    more = {"n_core": int(model.n_core_)} if side == "cvm" else {"alpha": float(model.alpha_)}
    result = {"side": side, "scan_s": scan_s, "fit_s": fit_s, "accuracy": right / n}
    return result | {"peak_mb": peak_megabytes(), "status": str(model.status_)[:60]} | more


def main():
    parser = options(__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=30_000_000)
    parser.add_argument("--noise", type=float, default=0.1)
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    print_header()
    results = []
    with tempfile.TemporaryDirectory() as made:
        folder = args.folder or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        for name, n, seed in (("train", args.rows, 0), ("test", TEST_ROWS, 1)):
            if not (folder / f"{name}.svm").exists():
                write(folder / f"{name}.svm", n, args.columns, args.noise, seed)
        size = (folder / "train.svm").stat().st_size / 1e6
        print(f"{args.rows:,} rows, {args.columns:,} columns, {size:,.0f} MB of text")
        for side in ("elm", "cvm"):
            r = in_process(__file__, f"run({side!r}, {str(folder)!r}, {args.columns})", 3600)
            results.append(r)
            print(
                f"{side}: index {r['scan_s']:.1f} s, fit {r['fit_s']:.1f} s, accuracy "
                f"{r['accuracy']:.4f}, peak {r['peak_mb']:.0f} MB, {r}",
                flush=True,
            )
    save(results, args.json)


if __name__ == "__main__":
    main()
