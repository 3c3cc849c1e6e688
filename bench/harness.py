"""What every benchmark prints and measures the same way."""

import platform
import resource
import time

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


def peak_megabytes():
    """Return the largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
