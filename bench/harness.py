"""What every benchmark prints and measures the same way."""

import gc
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


def timed(fn, *args):
    """Return the seconds of one call."""
    start = time.perf_counter()
    fn(*args)
    return time.perf_counter() - start


def peak_of(fn, *args):
    """Return the megabytes that a call adds to resident memory at its peak (Linux only)."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    before = _status("VmRSS")
    fn(*args)
    return (_status("VmHWM") - before) / 1024


def in_process(script, call):
    """Evaluate a call of a benchmark script in a process of its own and return the number."""
    path = Path(script)
    code = f"import {path.stem} as script; print(script.{call})"
    out = subprocess.run(
        [sys.executable, "-c", code], cwd=path.parent, capture_output=True, text=True, check=True
    )
    return float(out.stdout)


def _status(key):
    line = next(row for row in Path("/proc/self/status").read_text().splitlines() if key in row)
    return float(line.split()[1])
