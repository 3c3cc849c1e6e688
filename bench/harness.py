"""What every benchmark prints and measures the same way."""

import argparse
import ctypes
import gc
import json
import platform
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_info


def print_header():
    """Print machine and versions."""
    blas = [lib for lib in threadpool_info() if lib["user_api"] == "blas"]
    print(
        f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}, "
        f"{blas[0]['internal_api']} {blas[0]['version']} × {blas[0]['num_threads']} threads"
    )


def options(doc):
    """Return a parser that shows the docstring of the script and knows ``--json``."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", metavar="FILE", help="also write the results there")
    return parser


def save(results, file):
    """Write results as JSON where a file was asked for."""
    if file:
        Path(file).write_text(json.dumps(results, indent=1), encoding="utf-8")


def parts(data):
    """Return training and test rows: the official ones, or else 80/20 with seed 0."""
    if data.is_train is not None:
        return data.train, data.test
    X, X_test, y, y_test = data.split(0.2, 0)
    return (X, y), (X_test, y_test)


def lightgbm():
    """Return LightGBM, or None where it is not installed (``pip install lightgbm``)."""
    try:
        import lightgbm
    except ImportError:
        return None
    return lightgbm


def timed(fn, *args):
    """Return the seconds of one call."""
    start = time.perf_counter()
    fn(*args)
    return time.perf_counter() - start


def peak_of(fn, *args):
    """Return the megabytes that a call adds to resident memory at its peak (Linux only)."""
    gc.collect()
    # What earlier calls freed goes back first: reused, it would not show as growth.
    getattr(ctypes.CDLL(None), "malloc_trim", int)(0)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    before = _status("VmRSS")
    fn(*args)
    return (_status("VmHWM") - before) / 1024


def peak_megabytes():
    """Return the most megabytes that this process has held, libraries and all (Linux only)."""
    return _status("VmHWM") / 1024


def cost_of(fn, *args):
    """Return seconds and extra megabytes of one call."""
    seconds = []
    megabytes = peak_of(lambda: seconds.append(timed(fn, *args)))
    return seconds[0], megabytes


def in_process(script, call, limit=None):
    """Evaluate a call of a benchmark script in a process of its own and return the result.

    The result is what JSON can hold; after ``limit`` seconds, imports and loading included, the
    process is ended and the result is None.
    """
    path = Path(script).resolve()
    code = (
        f"import json, sys; sys.path.insert(0, {str(path.parent)!r}); "
        f"import {path.stem} as script; print(json.dumps(script.{call}))"
    )
    try:
        out = subprocess.run(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return None
    return json.loads(out.stdout)


def _status(key):
    line = next(row for row in Path("/proc/self/status").read_text().splitlines() if key in row)
    return float(line.split()[1])
