"""Two Dask workers take little more than half the time of one, and may die.

Claim: with a scheduler and single-threaded workers that are processes of their own, an NKELM of
1,000 landmarks on rows that the workers hold is fitted with a parallel efficiency of at least 0.8
on two of them, and the models are equal. ``--kill`` ends a worker in the middle of the fit with
two: it takes longer, and gives the same model to the last digit.

The part that does not run on workers (the choice of landmarks, the solve) is in both times.

    python bench/dask_workers_add_up.py [--rows 400000] [--landmarks 1000] [--repeats 3] [--kill]
        [--json FILE]
"""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import dask
import dask.array as da
import distributed
import numpy as np

from harness import options, print_header, save
from kernelm import KernelELMRegressor
from kernelm.data import from_dask

FEATURES, CHUNK = 30, 20_000


@contextmanager
def cluster(n_workers):
    """Start a scheduler and workers, processes of one thread each; yield client and workers."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    processes = []

    def start(module, *arguments):
        command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments]
        quiet = subprocess.DEVNULL
        processes.append(subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environment))

    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder, "scheduler.json"))
        start("dask_scheduler", "--scheduler-file", file, "--port", "0", "--no-dashboard")
        for _ in range(n_workers):
            options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "60"]
            start("dask_worker", "--scheduler-file", file, "--local-directory", folder, *options)
        try:
            with distributed.Client(scheduler_file=file, timeout=60) as client:
                client.wait_for_workers(n_workers, timeout=60)
                yield client, processes[1:]
        finally:
            for process in processes:
                process.kill()
                process.wait()


def rows(n_rows):
    X = da.random.default_rng(0).standard_normal((n_rows, FEATURES), chunks=(CHUNK, FEATURES))
    X = X.astype(np.float32)
    return X, da.sin(X[:, 0] * X[:, 1]) + da.tanh(X[:, 2] + X[:, 3])


def fitted(source, n_landmarks):
    model = KernelELMRegressor(
        "gaussian", approximation="nystrom", n_landmarks=n_landmarks, random_state=0
    )
    start = time.perf_counter()
    model.fit_source(source)
    return model, time.perf_counter() - start


def main():
    parser = options(__doc__)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--landmarks", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--kill", action="store_true")
    args = parser.parse_args()
    print_header()
    at = np.random.default_rng(1).standard_normal((1000, FEATURES)).astype(np.float32)
    seconds, scores = {}, {}
    for n_workers in (1, 2):
        with cluster(n_workers) as (client, workers), dask.config.set(scheduler=client):
            X, y = client.persist(rows(args.rows))
            distributed.wait([X, y])
            source = from_dask(X, y)
            fitted(source, 64)  # imports and compilation on the workers
            runs = [fitted(source, args.landmarks) for _ in range(args.repeats)]
            model, seconds[n_workers] = runs[0][0], statistics.median(s for _, s in runs)
            scores[n_workers] = model.predict(at)
            print(f"{n_workers} worker(s): {seconds[n_workers]:6.1f} s", flush=True)
            if args.kill and n_workers == 2:
                half = threading.Timer(
                    seconds[2] / 2, lambda: workers[0].send_signal(signal.SIGKILL)
                )
                half.start()
                model, seconds["killed"] = fitted(source, args.landmarks)
                same = np.array_equal(model.predict(at), scores[2])
                print(f"2, one killed after half of that: {seconds['killed']:.1f} s, same: {same}")
    efficiency = seconds[1] / seconds[2] / 2
    difference = float(np.abs(scores[1] - scores[2]).max())
    print(f"parallel efficiency {efficiency:.2f} (≥ 0.8), largest difference {difference:.1e}")
    save({"seconds": seconds, "efficiency": efficiency, "difference": difference}, args.json)


if __name__ == "__main__":
    main()
