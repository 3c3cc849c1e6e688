"""Rows on a cluster: the same models, with workers that come and go."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from kernelm import (
    BoostedELMRegressor,
    CoreVectorClassifier,
    CoreVectorDetector,
    CoreVectorRegressor,
    ELMClassifier,
    ELMRegressor,
    KernelELMClassifier,
    KernelELMRegressor,
    KernelPCA,
)
from kernelm.data import ArraySource, Sample, from_dask

da = pytest.importorskip("dask.array", reason="dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")
dask = pytest.importorskip("dask")

rng = np.random.default_rng(0)
X = rng.standard_normal((1200, 5))
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(1200)
labels = np.where(y > 0.5, "high", np.where(y < -0.5, "low", "mid"))
weight = rng.integers(0, 3, 1200).astype(float)

CHUNKS = (300, 300, 37, 563)

REGRESSORS = {
    "elm": ELMRegressor(100, random_state=0),
    "loo": ELMRegressor(alpha="loo", random_state=0),
    "nystrom": KernelELMRegressor(approximation="nystrom", n_landmarks=128, random_state=0),
    "falkon": KernelELMRegressor(
        "gaussian", approximation="nystrom", n_landmarks=64, solver="falkon", random_state=0
    ),
    "exact": KernelELMRegressor("gaussian", approximation="exact", random_state=0),
    "local": KernelELMRegressor(
        "gaussian", approximation="local", leaf_size=300, random_state=0, alpha=0.1
    ),
    "boosted": BoostedELMRegressor(10, random_state=0),
    "core": CoreVectorRegressor("gaussian", C=10.0, random_state=0),
}


@pytest.fixture(autouse=True)
def here():
    """One thread at a time, but for tests that start a cluster."""
    with dask.config.set(scheduler="synchronous"):
        yield


def rows(X, chunks=CHUNKS):
    return da.from_array(X, chunks=(chunks, *((-1,) if np.ndim(X) == 2 else ())))


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_model_of_dask_rows_is_that_of_the_arrays(name):
    model = REGRESSORS[name]
    expected = model.fit(X, y, sample_weight=weight).predict(X[:50])
    found = model.fit_source(from_dask(rows(X), rows(y), rows(weight))).predict(X[:50])
    # Core sets begin with other rows where rows cannot be drawn: the same ball, another path.
    assert_allclose(found, expected, rtol=1e-5, atol=0.05 if name == "core" else 1e-6)


@pytest.mark.parametrize(
    "model",
    [
        ELMClassifier(100, random_state=0),
        KernelELMClassifier(approximation="nystrom", n_landmarks=128, random_state=0),
        CoreVectorClassifier("gaussian", C=10.0, random_state=0),
        CoreVectorClassifier("gaussian", C=10.0, multiclass="vector", random_state=0),
    ],
    ids=str,
)
def test_classes_of_dask_rows_are_those_of_the_arrays(model):
    expected = model.fit(X, labels).decision_function(X[:50])
    found = model.fit_source(from_dask(rows(X), rows(labels)))
    assert_array_equal(found.classes_, ["high", "low", "mid"])
    loose = isinstance(model, CoreVectorClassifier)
    assert_allclose(found.decision_function(X[:50]), expected, atol=0.05 if loose else 1e-6)


def test_components_and_novelty_from_dask_rows():
    pca = KernelPCA(3, kernel="gaussian", approximation="nystrom", n_landmarks=100, random_state=0)
    expected = pca.fit(X).transform(X[:20])
    assert_allclose(pca.fit_source(from_dask(rows(X))).transform(X[:20]), expected, atol=1e-7)
    detector = CoreVectorDetector("gaussian", random_state=0)
    expected = detector.fit(X).score_samples(X[:20])
    found = detector.fit_source(from_dask(rows(X))).score_samples(X[:20])
    assert_allclose(found, expected, atol=0.02)


@pytest.mark.parametrize("chunks", [(1200,), (1, 1199), (600, 0, 600)])
def test_partitions_do_not_matter(chunks):
    model = ELMRegressor(50, random_state=0)
    expected = model.fit(X, y).predict(X[:20])
    source = from_dask(rows(X, chunks), rows(y, chunks))
    assert_allclose(model.fit_source(source).predict(X[:20]), expected, rtol=1e-9)


def test_columns_in_several_blocks_and_lengths_that_nobody_knows():
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=3)
    source = from_dask(frame.values, dd.from_pandas(pd.Series(y), npartitions=3).values)
    assert source.n_rows == 1200
    wide = from_dask(da.from_array(X, chunks=(400, 2)))
    assert_array_equal(np.vstack([read().X for read in wide.blocks(100)]), X)


def test_sparse_rows_stay_sparse():
    blocks = [sparse.csr_matrix(part * (part > 0.5)) for part in (X[:500], X[500:])]
    lazy = da.concatenate(
        [da.from_delayed(dask.delayed(b), b.shape, meta=sparse.csr_matrix((0, 5))) for b in blocks]
    )
    whole = sparse.vstack(blocks, format="csr")
    model = ELMRegressor(50, random_state=0)
    expected = model.fit(whole, y).predict(whole[:20])
    source = from_dask(lazy, rows(y, (500, 700)))
    assert sparse.issparse(next(iter(source.blocks(10)))().X)
    assert_allclose(model.fit_source(source).predict(whole[:20]), expected, rtol=1e-9)


def frame():
    table = pd.DataFrame(X[:, :2], columns=["a", "b"])
    table["colour"] = np.where(X[:, 2] > 0, "red", "blue")
    return table.assign(target=y, w=weight)


@pytest.mark.parametrize("named", [True, False])
def test_data_frames_with_names(named):
    table = frame()
    lazy = dd.from_pandas(table, npartitions=3)
    inputs = ["a", "b", "colour"]
    source = (
        from_dask(lazy, "target", "w")
        if named
        else from_dask(lazy[inputs], lazy["target"], lazy["w"])
    )
    model = ELMRegressor(60, random_state=0)
    expected = model.fit(table[inputs], y, weight).predict(table[inputs][:30])
    found = model.fit_source(source)
    assert list(found.feature_names_in_) == inputs
    assert_allclose(found.predict(table[inputs][:30]), expected, rtol=1e-6)


def test_single_precision_stays():
    assert from_dask(rows(X.astype(np.float32))).dtype == np.float32
    assert from_dask(rows((10 * X).astype(int))).dtype == np.float64


def test_a_sample_is_that_of_the_arrays():
    drawn = Sample.of(from_dask(rows(X), rows(y)), 100, 0)
    expected = Sample.of(ArraySource(X, y), 100, 0)
    assert_array_equal(drawn.X, expected.X)
    assert_array_equal(drawn.y, expected.y)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (lambda: (X, y), "X must be a Dask array or data frame, got ndarray; .*fit"),
        (lambda: (rows(X), y), "y must be a Dask array"),
        (lambda: (rows(X), rows(y, (600, 600))), r"y must have the partitions of X \(4\), got 2"),
        (lambda: (dd.from_pandas(frame(), npartitions=2), "tarket"), "column 'tarket'; it has"),
    ],
)
def test_rows_that_cannot_be_used(arguments, message):
    with pytest.raises(ValueError, match=message):
        from_dask(*arguments())


# -- a cluster ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Return a client of a scheduler, and two workers, each a process of its own."""
    where = tmp_path_factory.mktemp("cluster")
    file, processes = where / "scheduler.json", []

    def start(*command):
        with (where / f"log-{len(processes)}").open("w") as log:
            environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", "distributed.cli." + command[0], *command[1:]],
                    stdout=log,
                    stderr=log,
                    cwd=where,
                    env=environment | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                )
            )
        return processes[-1]

    def worker():
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "60"]
        return start("dask_worker", "--scheduler-file", str(file), *options)

    start("dask_scheduler", "--scheduler-file", str(file), "--port", "0", "--no-dashboard")
    workers = [worker(), worker()]
    with distributed.Client(scheduler_file=str(file), timeout=60) as client:
        client.wait_for_workers(2, timeout=60)
        yield client, workers, worker
    for process in processes:
        process.kill()
        process.wait()


def test_a_fit_on_workers_is_that_of_the_arrays(cluster):
    client, _, _ = cluster
    lazy = client.persist([rows(X), rows(labels)])
    with dask.config.set(scheduler=client):
        model = ELMClassifier(100, random_state=0).fit_source(from_dask(*lazy))
        core = CoreVectorClassifier("gaussian", C=10.0, random_state=0)
        core.fit_source(from_dask(*lazy))
    expected = ELMClassifier(100, random_state=0).fit(X, labels).decision_function(X[:30])
    assert_allclose(model.decision_function(X[:30]), expected, rtol=1e-9, atol=1e-12)
    assert core.score(X, labels) > 0.8


def slow(block):
    time.sleep(0.3)
    return block


def test_a_worker_that_dies_in_the_middle_changes_nothing(cluster):
    client, workers, worker = cluster
    model = KernelELMRegressor("gaussian", approximation="nystrom", n_landmarks=64, random_state=0)
    parts = (100,) * 12
    with dask.config.set(scheduler=client):
        calm = model.fit_source(from_dask(rows(X, parts), rows(y, parts))).predict(X[:50])
        lazy = rows(X, parts).map_blocks(slow, dtype=X.dtype)
        victim = subprocess.Popen([sys.executable, "-c", _KILLER, str(workers[0].pid)])
        shaken = model.fit_source(from_dask(lazy, rows(y, parts))).predict(X[:50])
    victim.wait()
    assert workers[0].wait(timeout=30) == -signal.SIGKILL
    assert_array_equal(shaken, calm)
    workers[0] = worker()
    client.wait_for_workers(2, timeout=60)


_KILLER = "import os, signal, sys, time; time.sleep(1.2); os.kill(int(sys.argv[1]), signal.SIGKILL)"
