"""What a person who waits can read."""

import io
import re

import numpy as np
import pytest

from kernelm.data import ArraySource, Progress, reduce


class Clock:
    """Time that passes only when a test says so."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr("kernelm.data.progress.time.perf_counter", lambda: self.now)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def lines(file):
    return [line.rstrip() for line in file.getvalue().split("\r")[1:]]


def on_screen(file):
    """What a terminal shows: later characters replace earlier ones."""
    shown = ""
    for line in file.getvalue().rstrip("\n").split("\r"):
        shown = line + shown[len(line) :]
    return shown.rstrip()


def test_rows_speed_and_time_left(clock):
    file = io.StringIO()
    with Progress("fit", total=10_000, file=file) as progress:
        clock.now += 2
        progress.advance(4000)
        clock.now += 1
        progress.advance(2000)
        clock.now += 1
        progress.advance(4000)
    assert lines(file) == [
        "fit: 4,000/10,000 rows, 2,000 rows/s, 2.0 s, 3.0 s left",
        "fit: 6,000/10,000 rows, 2,000 rows/s, 3.0 s, 2.0 s left",
        "fit: 10,000/10,000 rows, 2,500 rows/s, 4.0 s",
        "fit: 10,000/10,000 rows, 2,500 rows/s, 4.0 s",
    ]
    assert file.getvalue().endswith("\n")


def test_an_unknown_total_has_no_time_left(clock):
    file = io.StringIO()
    with Progress("scan", file=file) as progress:
        clock.now += 2
        progress.advance(4000)
    assert lines(file)[0] == "scan: 4,000 rows, 2,000 rows/s, 2.0 s"


def test_lines_come_no_more_often_than_asked(clock):
    file = io.StringIO()
    progress = Progress("fit", file=file, every=1.0)
    for _ in range(100):
        clock.now += 0.1
        progress.advance(1)
    assert 9 <= len(lines(file)) <= 10
    assert progress.rows == 100


def test_a_shorter_line_leaves_nothing_of_a_longer_one(clock):
    file = io.StringIO()
    label = "ELMClassifier fit 1024 features of a model with a long name"
    with Progress(label, total=1_000_000, file=file) as progress:
        clock.now += 1
        progress.advance(1000)
        clock.now += 1
        progress.advance(999_000)
    assert on_screen(file) == f"{label}: 1,000,000/1,000,000 rows, 500,000 rows/s, 2.0 s"


def test_the_line_ends_also_after_an_error(clock):
    file = io.StringIO()
    with pytest.raises(ZeroDivisionError), Progress("fit", total=10, file=file):
        raise ZeroDivisionError
    assert file.getvalue().startswith("\rfit: 0/10 rows, 0 rows/s")
    assert file.getvalue().endswith("\n")


def test_standard_error_is_the_default(capsys):
    with Progress("fit"):
        pass
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("\rfit: 0 rows")


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("rows", [30, 1000])
def test_a_pass_reports_all_its_rows(n_jobs, rows):
    file = io.StringIO()
    source = ArraySource(np.ones((100, 1)))
    with Progress("fit", total=100, file=file, every=0.0) as progress:
        reduce(
            source, lambda r: r.n, lambda a, b: a + b, rows=rows, n_jobs=n_jobs, progress=progress
        )
    assert progress.rows == 100
    done = [int(m) for m in re.findall(r"(\d+)/100 rows", file.getvalue())]
    assert done == [*range(rows, 100, rows), 100, 100]
