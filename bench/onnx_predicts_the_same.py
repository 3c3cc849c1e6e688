"""ONNX graphs of fitted models in onnxruntime, beside the models themselves.

Claim: a graph gives the labels of its model, float64 scores to 1e-9 of their scale and float32
scores to 1e-4 of those of the model on float64 rows. For each set and machine: rows whose label
differs though the scores of the best two classes are more than 1e-5 apart, the largest difference
of scores (of predictions) in units of their largest value for a float64 graph (beside the model
on float64 rows) and a float32 graph (beside the model on float32 rows, and in brackets beside the
model on float64 rows), the largest difference of probabilities, megabytes of the float32 file,
and microseconds of one row and milliseconds of 10,000 rows, ours and onnxruntime's, both with
float32 rows and as many threads as BLAS has. Our predict cuts rows into blocks by itself; a
runtime is given ``--batch`` of them at a time.

Sets come through ``kernelm.data.load``; set KERNELM_DATA to a folder that has them. Models are
fitted to at most ``--rows`` rows.

    python bench/onnx_predicts_the_same.py [--only letter] [--machines elm nystrom] [--rows 4000]
        [--repeats 5] [--batch 256] [--json FILE]
"""

import statistics
import time
from typing import Any

import numpy as np
import onnxruntime
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_info

from harness import options, parts, print_header, save
from kernelm import (
    BoostedELMClassifier,
    BoostedELMRegressor,
    CoreVectorClassifier,
    CoreVectorRegressor,
    ELMClassifier,
    ELMRegressor,
    KernelELMClassifier,
    KernelELMRegressor,
    KernelSVC,
    KernelSVR,
    OPELMClassifier,
    OPELMRegressor,
)
from kernelm.data import load
from kernelm.kernels import ArcCosine, Gaussian, LaplacianL1
from kernelm.onnx import to_onnx

BUNDLED = {"iris": load_iris, "digits": load_digits}
SETS = [*BUNDLED, "letter", "satimage", "usps", "cal_housing", "cpu_act"]
MANY = 10_000


def machines(values):
    """Machines by name, for values or for classes."""
    kernel_elm = KernelELMRegressor if values else KernelELMClassifier
    deep, l1 = ArcCosine([1, 0]), LaplacianL1("median")
    some: dict[str, Any] = {"n_landmarks": 500}
    nystrom = {"approximation": "nystrom", **some}
    svm = KernelSVR if values else KernelSVC
    return {
        "elm": (ELMRegressor if values else ELMClassifier)(500),
        "exact": kernel_elm(approximation="exact"),
        "exact deep": kernel_elm(deep, approximation="exact"),
        "nystrom": kernel_elm(**nystrom),
        "nystrom L1": kernel_elm(l1, **nystrom),
        "landmarks": kernel_elm(approximation="landmarks", **some),
        "local": kernel_elm(approximation="local", leaf_size=500),
        "boosted": (BoostedELMRegressor if values else BoostedELMClassifier)(50),
        "pruned": (OPELMRegressor if values else OPELMClassifier)(),
        "core vectors": (CoreVectorRegressor if values else CoreVectorClassifier)(),
        "svm": svm(Gaussian("median"), scale_inputs=True),
    }


def rows_of(name, most):
    """Return training and test rows, at most so many to train on, and whether y holds values."""
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        X, X_test, y, _ = train_test_split(X, y, random_state=0)
        return X[:most], y[:most], X_test, False
    data = load(name)
    (X, y), (X_test, _) = parts(data)
    some = np.random.default_rng(0).permutation(len(y))[:most]
    return X[some], y[some], X_test, np.asarray(y).dtype.kind == "f" and len(np.unique(y)) > 50


def session(model, dtype, threads):
    exported = to_onnx(model, dtype=dtype)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    data = exported.SerializeToString()
    made = onnxruntime.InferenceSession(data, settings, providers=["CPUExecutionProvider"])
    return made, len(data) / 1e6


def outputs(made, X):
    names = [port.name for port in made.get_outputs()]
    return dict(zip(names, made.run(names, {"X": X}), strict=True))


def gap(got, want):
    return float(np.abs(got - want).max() / np.abs(want).max())


def compare(model, X, threads):
    """Differences of both graphs from their model."""
    scored = hasattr(model, "decision_function")
    values, output = (
        (model.decision_function, "scores") if scored else (model.predict, "prediction")
    )
    double = values(X.astype(np.float64))
    result: dict[str, Any] = {"labels": 0}
    for dtype in ("float64", "float32"):
        rows = X.astype(dtype)
        made, megabytes = session(model, dtype, threads)
        got = outputs(made, rows)
        result[dtype] = gap(got[output], values(rows))
        result[f"{dtype}_from_double"] = gap(got[output], double)
        if scored:
            wrong = got["label"] != model.predict(rows)
            result["labels"] += int((wrong & (margins(double) > 1e-5)).sum())
        if "probabilities" in got:
            most = np.abs(got["probabilities"] - model.predict_proba(rows)).max()
            result[f"probabilities_{dtype}"] = float(most)
    return result | {"megabytes": megabytes}


def margins(scores):
    """How far the best class is from the next."""
    if scores.ndim == 1:
        return np.abs(scores)
    ordered = np.sort(scores, axis=1)
    return ordered[:, -1] - ordered[:, -2]


def seconds(call, repeats, inner):
    """Return the median seconds of a call, each the mean of several."""
    runs = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        for _ in range(inner):
            call()
        runs.append((time.perf_counter() - start) / inner)
    return statistics.median(runs[1:])


def in_batches(made, name, X, size):
    parts = [made.run([name], {"X": X[at : at + size]})[0] for at in range(0, len(X), size)]
    return np.concatenate(parts)


def speed(model, X, threads, repeats, batch):
    made, _ = session(model, "float32", threads)
    name = "label" if hasattr(model, "decision_function") else "prediction"
    one = X[:1].astype(np.float32)
    many = np.resize(X, (MANY, X.shape[1])).astype(np.float32)
    return {
        "one_us": 1e6 * seconds(lambda: model.predict(one), repeats, 20),
        "one_onnx_us": 1e6 * seconds(lambda: made.run([name], {"X": one}), repeats, 20),
        "many_ms": 1e3 * seconds(lambda: model.predict(many), repeats, 1),
        "many_onnx_ms": 1e3 * seconds(lambda: in_batches(made, name, many, batch), repeats, 1),
    }


def line(r):
    return (
        f"{r['set']:<11} {r['machine']:<12} {r['labels']:6d} {r['float64']:8.0e} "
        f"{r['float32']:8.0e} ({r['float32_from_double']:.0e}) "
        f"{r.get('probabilities_float32', np.nan):8.0e} {r['megabytes']:7.2f} "
        f"{r['one_us']:8.0f} {r['one_onnx_us']:8.0f} {r['many_ms']:8.0f} {r['many_onnx_ms']:8.0f}"
    )


def main():
    parser = options(__doc__)
    parser.add_argument("--only", nargs="+", default=SETS)
    parser.add_argument("--machines", nargs="+", default=list(machines(False)))
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--batch", type=int, default=256)
    args = parser.parse_args()
    print_header()
    threads = max(lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas")
    print(f"onnxruntime {onnxruntime.__version__} × {threads} threads\n")
    print(
        f"{'set':<11} {'machine':<12} labels  float64  float32 (of f64) probab.      MB "
        f"{'1 row µs':>8} {'onnx':>8} {'10⁴ ms':>8} {'onnx':>8}"
    )
    results = []
    for name in args.only:
        X, y, X_test, values = rows_of(name, args.rows)
        for label in args.machines:
            model = machines(values)[label].set_params(random_state=0).fit(X, y)
            result = {"set": name, "machine": label, "rows": len(y)}
            result |= compare(model, X_test[:2000], threads)
            result |= speed(model, X_test, threads, args.repeats, args.batch)
            results.append(result)
            print(line(result), flush=True)
    save(results, args.json)


if __name__ == "__main__":
    main()
