import json
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier

from hostile import HOSTILE
from kernelm.app import compare as module
from kernelm.app import measuring
from kernelm.app.compare import compare
from kernelm.app.comparison import Comparison, Result
from kernelm.app.insight import Insight
from kernelm.app.machines import BASELINE, MACHINES, OURS, Machine, Shape, find
from kernelm.app.measuring import Measurement, PeakMemory
from kernelm.app.problem import Problem
from kernelm.app.splits import Splits, affordable, filled

FEW = ["Baseline", "OP-ELM"]


def measurement(score: float, seconds: float, split: int = 0) -> Measurement:
    return Measurement(split, score, {}, seconds, 0.01, 0.001, 100, None)


def made_up(*results: Result, like: Comparison) -> Comparison:
    return replace(like, results=results, insight=Insight())


# -- which task, which rows -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "b"] * 20, "classification"),
        ([True, False] * 20, "classification"),
        (pd.Series([1.5, 2.5] * 20, dtype="category"), "classification"),
        (pl.Series(["u", "v"] * 20), "classification"),
        ([0, 1, 2, 3] * 50, "classification"),
        ([0.0, 1.0] * 50, "classification"),
        ([0, 1, 2, 3] * 5, "regression"),  # a fifth of the rows are different
        (list(range(21)) * 50, "regression"),
        ([0.5, 1.5] * 50, "regression"),
    ],
)
def test_task_follows_the_target_and_says_why(y, task):
    problem = Problem.of(np.zeros((len(y), 1)), y)
    assert problem.task == task
    assert problem.task_reason.startswith("the target holds")


def test_text_is_refused_for_regression_with_advice():
    with pytest.raises(ValueError, match=r"y must hold numbers.*'a'.*task='classification'"):
        Problem.of(np.zeros((4, 1)), ["a", "b"] * 2, "regression")


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((3, 1)), [1.0, 2.0], "X has 3 rows, y has 2"),
        (np.zeros((3, 1)), [None, None, None], "at least one value"),
        (np.zeros((4, 1)), ["a"] * 4, "at least two classes"),
        (np.array([["a"], ["b"]]), [1.0, 2.0], r"pandas\.DataFrame"),
    ],
)
def test_bad_tables_are_refused_with_a_sentence(X, y, message):
    with pytest.raises(ValueError, match=message):
        Problem.of(X, y)


@pytest.mark.parametrize("options", [{"budget": 0}, {"n_splits": 0}, {"test_size": 1.5}])
def test_bad_settings_are_refused_by_name(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        compare(np.zeros((9, 1)), np.arange(9.0), **options)


def test_unknown_machines_are_refused_with_the_list():
    with pytest.raises(ValueError, match="'NKELM'"):
        compare(np.zeros((9, 1)), np.arange(9.0), machines=["XGB"])


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_frames_become_numbers_with_notes_on_what_is_left_out(kind):
    columns = {
        "size": [1.0, None, 3.0, 4.0] * 75,
        "colour": ["red", "blue", None, "red"] * 75,
        "id": [f"u{i}" for i in range(300)],
        "empty": [float("nan")] * 300,
    }
    problem = Problem.of(kind(columns), [0.1, None, 0.3, 0.4] * 75)
    assert problem.columns == ("size", "colour")
    assert problem.X.shape == (225, 4)
    assert_array_equal(problem.owner, [0, 1, 1, 1])
    assert problem.kinds == {"numbers": 1, "names": 1}
    said = " ".join(problem.notes)
    assert all(words in said for words in ("'id'", "'empty'", "75 rows without a target"))


def test_dates_are_left_out_with_advice():
    frame = pd.DataFrame({"x": range(9), "when": pd.date_range("2026", periods=9)})
    problem = Problem.of(frame, np.linspace(0, 1, 9))
    assert problem.columns == ("x",)
    assert "weekday" in problem.notes[0]


def test_a_class_with_one_row_is_left_out():
    problem = Problem.of(np.zeros((9, 1)), ["a"] * 4 + ["b"] * 4 + ["c"])
    assert len(problem.y) == 8
    assert "'c'" in problem.notes[0]


@given(
    gaps=st.lists(st.booleans(), min_size=20, max_size=20).filter(lambda g: not all(g[:12])),
    shift=st.floats(-1e6, 1e6),
)
def test_test_rows_never_change_how_training_rows_are_filled(gaps, shift):
    X = np.where(np.array(gaps)[:, None], np.nan, np.arange(20.0)[:, None])
    owner = np.array([0])
    one, _, _ = filled(X[:12], X[12:], owner)
    two, X_test, names = filled(X[:12], X[12:] + shift, owner)
    assert_array_equal(one, two)
    assert np.isfinite(X_test).all()
    assert X_test.shape[1] == one.shape[1] == len(names)


def test_large_tables_are_sampled_with_a_note_and_keep_all_classes():
    y = np.repeat([0, 1, 2], [9000, 900, 100])
    problem = affordable(Problem.of(np.zeros((10_000, 2)), y), budget=5, seed=0)
    assert len(problem.y) == 2500
    assert "2,500 of 10,000 rows" in problem.notes[0]
    assert_array_equal(np.unique(problem.y), [0, 1, 2])
    assert problem.summary.n_rows == 10_000


def test_splits_are_stratified_disjoint_and_repeatable():
    y = np.repeat([0, 1], [80, 20])
    problem = Problem.of(np.arange(100.0)[:, None], y)
    first, again = (Splits(problem, 3, 0.2, seed=1) for _ in range(2))
    for one, two in zip(first, again, strict=True):
        assert not set(one.X.ravel()) & set(one.X_test.ravel())
        assert np.bincount(one.y_test).tolist() == [16, 4]
        assert_array_equal(one.X_test, two.X_test)


# -- machines -------------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: m.name)
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_machine_that_suits_fits_predicts_and_can_be_read(machine, task):
    X, y = load_iris(return_X_y=True)
    shape = Shape(task, 150, 4)
    if machine.suits(shape):
        pytest.skip(machine.suits(shape))
    model = machine.make(shape)
    assert model.fit(X, y).score(X, y) > (-0.01 if machine.family == BASELINE else 0.8)
    assert repr(model)


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: m.name)
def test_every_machine_that_suits_sparse_rows_takes_them(machine):
    X, y = load_iris(return_X_y=True)
    shape = Shape("classification", 150, 4, is_sparse=True)
    if machine.suits(shape):
        pytest.skip(machine.suits(shape))
    assert machine.make(shape).fit(sparse.csr_matrix(X), y).predict(sparse.csr_matrix(X[:1])).size


def test_machines_say_why_they_do_not_suit():
    many, classes = Shape("regression", 50_000, 9), Shape("classification", 100, 9)
    assert "16,384" in find("Deep kernel ELM").suits(many)
    assert find("Multilayer kernels").suits(many) == "for classes only"
    assert "10,000" in find("Local kernel ELM").suits(classes)
    assert not find("Local kernel ELM").suits(many)


# -- budget, failures, Ctrl-C ---------------------------------------------------------------------


def test_machines_that_do_not_fit_the_budget_are_skipped_with_the_reason(monkeypatch):
    costs = iter([0.0, 1e6])
    monkeypatch.setattr(module, "estimated_seconds", lambda *_: next(costs))
    X, y = load_iris(return_X_y=True)
    found = compare(X, y, machines=FEW, n_splits=2, budget=20)
    assert [r.name for r in found.skipped] == ["OP-ELM"]
    assert "a fit takes about 1000000.0 s" in found.skipped[0].reason
    assert found.best is not None
    assert found.best.name == "Baseline"


def test_cheap_machines_get_their_splits_before_expensive_ones(monkeypatch):
    order: list[tuple[str, int]] = []
    cost = {"cheap": 0.001, "slow": 0.3}

    def recorded(model, split, number, *, classes):
        order.append((model.label, number))
        return measurement(0.5, cost[model.label], number)

    monkeypatch.setattr(module, "measure", recorded)
    monkeypatch.setattr(module, "estimated_seconds", lambda make, *_: cost[make().label])

    def named(label: str) -> Machine:
        def make(shape: Shape) -> DummyClassifier:
            model = DummyClassifier()
            model.label = label  # type: ignore[attr-defined]
            return model

        return Machine(label, "alternative", make)

    X, y = load_iris(return_X_y=True)
    compare(X, y, machines=[named("slow"), named("cheap")], n_splits=3, budget=30)
    assert order == [
        *[("cheap", 0), ("slow", 0)],
        *[("cheap", 1), ("cheap", 2), ("slow", 1), ("slow", 2)],
    ]


@pytest.mark.parametrize("growth", [1.0, 2.0])
def test_fit_times_are_estimated_from_small_fits(monkeypatch, growth):
    fits: list[int] = []

    def pretended(make, split, n_rows):
        fits.append(n_rows)
        return 1e-4 * n_rows**growth

    monkeypatch.setattr(measuring, "_small_fit", pretended)
    split = Splits(Problem.of(np.zeros((10_000, 1)), np.linspace(0, 1, 10_000)), 1, 0.2, 0)[0]
    found = measuring.estimated_seconds(lambda: None, split, growth, patience=1e9)
    assert found == pytest.approx(1e-4 * 8000**growth)
    assert fits == [100, 300, 1000]
    measuring.estimated_seconds(lambda: None, split, growth, patience=0.0)
    assert fits[3:] == [100]


def test_a_machine_that_fails_is_reported_and_the_others_go_on():
    def broken(shape: Shape) -> DummyClassifier:
        raise RuntimeError("no such thing\nhere")

    X, y = load_iris(return_X_y=True)
    machines = [Machine("broken", "alternative", broken), *FEW]
    found = compare(X, y, machines=machines, n_splits=2)
    assert [r.reason for r in found.skipped] == ["RuntimeError: no such thing here"]
    assert len(found.ranking) == 2


def test_ctrl_c_keeps_what_is_done(monkeypatch):
    real, calls = module.measure, []

    def interrupted(*args, **options):
        calls.append(args)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*args, **options)

    monkeypatch.setattr(module, "measure", interrupted)
    X, y = load_iris(return_X_y=True)
    found = compare(X, y, machines=FEW, n_splits=2)
    assert found.interrupted
    assert [len(r.parts) for r in found.results] == [1, 1]
    assert all("interrupted after 1 of 2 splits" in r.reason for r in found.results)
    assert json.loads(found.to_json())["interrupted"] is True


def test_progress_rises_to_the_end_and_names_the_machines():
    said: list[tuple[str, float]] = []
    X, y = load_iris(return_X_y=True)
    compare(X, y, machines=FEW, n_splits=2, progress=lambda *step: said.append(step))
    shares = [share for _, share in said]
    assert shares == sorted(shares)
    assert 0 <= shares[0] < shares[-1] < 1
    assert said[-1][0] == "OP-ELM: split 2 of 2"


# -- what was found -------------------------------------------------------------------------------


def test_an_easy_first_split_flatters_nobody(regression):
    def result(name, *scores):
        return Result(name, "alternative", "", tuple(measurement(s, 1.0) for s in scores))

    fast, other = result("fast", 0.9, 0.7, 0.8), result("other", 0.8, 0.6, 0.7)
    slow = result("slow", 0.85)  # worse than the fast one on the split that both have seen
    found = made_up(slow, fast, other, like=regression)
    assert [r.name for r in found.ranking] == ["fast", "slow", "other"]
    assert found.level(slow) == pytest.approx(0.75)
    assert found.level(fast) == pytest.approx(0.8)


def test_ranking_front_and_best_agree_with_brute_force(regression):
    rng = np.random.default_rng(0)
    results = [
        Result(str(i), OURS if i % 2 else "alternative", "", (measurement(s, t),))
        for i, (s, t) in enumerate(rng.uniform(0.1, 1, (30, 2)).round(1))
    ]
    found = made_up(*results, Result("none", OURS, "", (), "too slow"), like=regression)
    scores = [row["score"] for row in found.table()]
    assert scores == sorted(scores, reverse=True)
    at = {r.name: (r.parts[0].score, r.parts[0].fit_seconds) for r in results}

    def beaten(name: str) -> bool:
        s, t = at[name]
        return any((a > s and b <= t) or (a >= s and b < t) for a, b in at.values())

    front = {at[r.name] for r in found.front}
    assert front == {at[name] for name in at if not beaten(name)}
    assert found.best is found.ranking[0]
    assert found.best_of_ours is next(r for r in found.ranking if r.family == OURS)
    assert [r.name for r in found.skipped] == ["none"]


def test_mean_and_spread_are_over_splits_and_one_split_has_none():
    two = Result("a", OURS, "", (measurement(0.5, 1.0), measurement(0.7, 3.0, 1)))
    row = two.row()
    assert row["score"] == pytest.approx(0.6)
    assert row["score_std"] == pytest.approx(np.std([0.5, 0.7], ddof=1))
    assert row["fit_seconds"] == 2.0
    assert Result("b", OURS, "", two.parts[:1]).row()["score_std"] is None


def test_json_holds_everything_and_no_nan(regression):
    strange = replace(regression, seconds=float("nan"))
    found = json.loads(strange.to_json(), parse_constant=pytest.fail)
    assert regression.best is not None
    assert found["seconds"] is None
    assert found["table"][0]["name"] == regression.best.name
    assert set(found["versions"]) >= {"kernelm", "numpy", "scikit-learn"}


def test_a_mixed_table_is_compared_and_explained(regression):
    assert regression.task == "regression"
    assert regression.best.score.mean > 0.8
    assert [r.name for r in regression.skipped] == ["Local kernel ELM"]
    assert {"RMSE", "MAE", "peak_bytes", "model_bytes"} <= set(regression.table()[0])
    insight = regression.insight
    assert insight.importance.columns[0] == HOSTILE[0]  # has the largest slope
    assert len(insight.importance.columns) == regression.data.n_columns == 4
    assert sum(insight.importance.shares) == pytest.approx(1)
    assert insight.residuals.covered == pytest.approx(0.9, abs=0.12)
    assert insight.alpha_path.chosen > 0
    assert insight.kernel_ranking.errors == tuple(sorted(insight.kernel_ranking.errors))
    assert {c.unit for c in insight.growth} >= {"units"}


def test_classes_have_confusion_calibration_and_log_loss(classification):
    insight, table = classification.insight, classification.table()
    n_test = sum(map(sum, insight.confusion.counts))
    assert n_test == sum(insight.calibration.counts) == 60
    best = classification.best_of_ours
    right = sum(insight.confusion.counts[i][i] for i in range(3))
    assert right / n_test == pytest.approx(best.parts[-1].score)
    by_name = {row["name"]: row for row in table}
    assert by_name[best.name]["log-loss"] < by_name["Baseline"]["log-loss"]


def test_sparse_rows_are_compared():
    X, y = load_iris(return_X_y=True)
    found = compare(sparse.csr_matrix(X), y, machines=[*FEW, "Local kernel ELM"], n_splits=1)
    assert found.table()[0]["name"] == "OP-ELM"
    assert found.skipped[0].reason == "for dense rows"


def test_the_same_seed_gives_the_same_scores():
    X, y = load_iris(return_X_y=True)
    one, two = (compare(X, y, machines=FEW, n_splits=2, random_state=3) for _ in range(2))
    assert [r.score for r in one.results] == [r.score for r in two.results]


def test_peak_memory_sees_a_large_array():
    with PeakMemory() as memory:
        kept = np.ones(4_000_000)
    assert memory.bytes is None or 25e6 < memory.bytes < 200e6
    del kept
