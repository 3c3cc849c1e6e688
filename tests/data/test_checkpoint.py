"""Fits that are killed, and go on."""

import os
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest

from kernelm import BoostedELMClassifier, ELMRegressor, KernelELMRegressor
from kernelm.data import ArraySource, checkpoint
from kernelm.data.checkpoint import Checkpoint, Checkpointed

X = np.random.default_rng(0).standard_normal((600, 4))
y = np.sin(X[:, 0]) + X[:, 1]

#: Estimators by the passes that they make, and the reading at which a fit is killed.
FITS = {
    "layer after layer": ("ELMRegressor(alpha='loo', random_state=3)", 20),
    "landmarks": ("KernelELMRegressor('gaussian', random_state=3, **NYSTROM)", 20),
    "many landmarks": ("KernelELMRegressor('gaussian', random_state=3, **MANY)", 20),
    "passes": ("KernelELMRegressor('gaussian', solver='falkon', random_state=3, **MANY)", 31),
    "steps": ("BoostedELMRegressor(6, n_hidden=20, random_state=3)", 40),
}

SCRIPT = """
import os, signal, sys
import numpy as np
import kernelm.data.checkpoint, kernelm.estimators.kernel_machine as machine, kernelm.data.reduce
import kernelm.estimators.large
from kernelm import BoostedELMRegressor, ELMRegressor, KernelELMRegressor, set_config

kernelm.data.checkpoint.SECONDS, kernelm.data.checkpoint.SHARE = 0.0, 1e9
kernelm.data.reduce.MAX_ROWS = kernelm.data.reduce.MIN_ROWS = 64
machine.DIRECT_LANDMARKS = 32
NYSTROM = dict(approximation="nystrom")
MANY = dict(approximation="nystrom", n_landmarks=64)
rng = np.random.default_rng(0)
X = rng.standard_normal((600, 4))
y = np.sin(X[:, 0]) + X[:, 1]
reads = 0

class Deadly:
    n_rows, n_features, dtype, identity = 600, 4, np.dtype(np.float64), "rows"
    def __init__(self, at): self.at = at
    def blocks(self, rows):
        for start in range(0, 600, min(rows, 64)):
            yield lambda at=slice(start, start + min(rows, 64)): self.read(at)
    def read(self, at):
        global reads
        reads += 1
        if reads == self.at: os.kill(os.getpid(), signal.SIGKILL)
        return kernelm.data.Rows(X[at], y[at], None, at.start)

made, at, directory = sys.argv[1:]
resumed = eval(made).fit_source(Deadly(int(at)), checkpoint=directory)
n_resumed = reads
whole = eval(made).fit_source(Deadly(-1))
np.testing.assert_array_equal(resumed.predict(X), whole.predict(X))
assert n_resumed < reads - n_resumed, (n_resumed, reads)
"""


def run(made, at, directory):
    arguments = [sys.executable, "-c", SCRIPT, made, str(at), str(directory)]
    return subprocess.run(arguments, capture_output=True, text=True, env=os.environ)


@pytest.mark.parametrize("name", FITS)
def test_a_killed_fit_goes_on_and_gives_the_same_model(name, tmp_path):
    made, at = FITS[name]
    state = tmp_path / "state"
    assert run(made, at, state).returncode == -signal.SIGKILL
    assert any(state.iterdir())
    again = run(made, -1, state)
    assert again.returncode == 0, again.stderr
    assert not state.exists()  # a fit that ended well leaves nothing


def test_a_seed_that_nobody_gave_is_remembered(tmp_path):
    kept = Checkpoint(tmp_path, "me")
    seeds = {ELMRegressor()._seed(Checkpointed(ArraySource(X), kept)) for _ in range(3)}
    assert len(seeds) == 1


def test_sums_that_are_complete_are_not_made_again(tmp_path):
    kept = Checkpoint(tmp_path, "me")
    source = Checkpointed(ArraySource(X), kept)
    calls = []

    def total(rows):
        calls.append(rows.n)
        return rows.X.sum(axis=0)

    first = source.reduce(total, np.add, rows=100)
    again = Checkpointed(ArraySource(X), Checkpoint(tmp_path, "me"))
    np.testing.assert_array_equal(again.reduce(total, np.add, rows=50), first)
    assert len(calls) == 6


def test_a_failure_in_the_middle_is_gone_on_from(tmp_path):
    calls = []

    def total(rows, fail=True):
        calls.append(rows.start)
        if fail and rows.start == 300:
            raise OSError("gone")
        return rows.X.sum(axis=0)

    def source():
        return Checkpointed(ArraySource(X), Checkpoint(tmp_path, "me", every=0.0))

    with pytest.raises(OSError, match="gone"):
        source().reduce(total, np.add, rows=100, n_jobs=1)
    found = source().reduce(lambda rows: total(rows, fail=False), np.add, rows=7, n_jobs=1)
    in_order = ArraySource(X[:0])
    assert in_order.n_rows == 0
    expected = sum((X[i : i + 100].sum(axis=0) for i in range(100, 600, 100)), X[:100].sum(axis=0))
    np.testing.assert_array_equal(found, expected)
    assert calls.count(0) == 1


@pytest.mark.parametrize(
    "other",
    [
        (ELMRegressor(31, random_state=0), X, y),
        (ELMRegressor(30, random_state=1), X, y),
        (ELMRegressor(30, random_state=0), X + 1, y),
        (ELMRegressor(30, random_state=0), X, y + 1),
    ],
    ids=["parameter", "seed", "inputs", "targets"],
)
def test_the_state_of_another_fit_is_refused(other, tmp_path, monkeypatch):
    stop_after(monkeypatch, 1)
    with pytest.raises(KeyboardInterrupt):
        ELMRegressor(30, random_state=0).fit_source(ArraySource(X, y), checkpoint=tmp_path)
    monkeypatch.undo()
    model, X_other, y_other = other
    with pytest.raises(ValueError, match="other parameters or other rows"):
        model.fit_source(ArraySource(X_other, y_other), checkpoint=tmp_path)
    same = ELMRegressor(30, random_state=0, n_jobs=1)
    same.fit_source(ArraySource(X, y), checkpoint=tmp_path)
    expected = ELMRegressor(30, random_state=0).fit(X, y).predict(X)
    np.testing.assert_allclose(same.predict(X), expected, rtol=1e-10, atol=1e-12)


def stop_after(monkeypatch, n):
    """Interrupt a fit when it has saved so many states."""
    save = Checkpoint.save

    def saving(self, name, state, saved=[]):  # noqa: B006
        save(self, name, state)
        saved.append(name)
        if len(saved) == n:
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "save", saving)


@pytest.mark.parametrize(
    "spoil", [lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b"\x00" * len(b)]
)
def test_a_damaged_state_is_an_error_that_names_it(spoil, tmp_path):
    Checkpoint(tmp_path, "me").save("pass-0000", np.arange(1000))
    path = tmp_path / "pass-0000.state"
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(ValueError, match=r"pass-0000\.state.*delete the directory"):
        Checkpoint(tmp_path, "me").load("pass-0000")


class Hostile:
    def __reduce__(self):
        return os.system, ("touch hostile",)


def test_a_state_cannot_run_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kept = Checkpoint(tmp_path / "state", "me")
    (tmp_path / "state" / "pass-0000.state").write_bytes(pickle.dumps(Hostile()))
    with pytest.raises(ValueError, match="delete the directory"):
        kept.load("pass-0000")
    assert not (tmp_path / "hostile").exists()


def test_other_files_in_the_directory_stay(tmp_path):
    (tmp_path / "mine.txt").write_text("here")
    ELMRegressor(30, random_state=0).fit_source(ArraySource(X, y), checkpoint=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_saving_takes_a_small_share_of_the_time(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: clock[0])
    kept = Checkpoint(tmp_path, "me", every=1.0)
    clock[0] = 2.0
    assert kept.is_due

    def slow(path, content):
        clock[0] += 5.0

    monkeypatch.setattr(checkpoint, "_write", slow)
    kept.save("sums", 1)
    clock[0] += 49.0
    assert not kept.is_due
    clock[0] += 1.5
    assert kept.is_due


def test_classifiers_and_kernels_take_checkpoints(tmp_path):
    labels = np.where(y > 0, "up", "down")
    model = BoostedELMClassifier(5, n_hidden=20, random_state=0)
    model.fit_source(ArraySource(X, labels), checkpoint=tmp_path / "a")
    assert model.score(X, labels) > 0.8
    kernel = KernelELMRegressor("gaussian", random_state=0)
    assert kernel.fit_source(ArraySource(X, y), checkpoint=tmp_path / "b").score(X, y) > 0.9
