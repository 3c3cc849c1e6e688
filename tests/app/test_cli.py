"""The command line as a new user would try it: fit, predict, inspect, compare, plan."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file
from typer.testing import CliRunner

import kernelm.app.cli.reading as reading
from kernelm.app.cli import main
from kernelm.app.cli.app import app
from kernelm.estimators import BoostedELMClassifier, KernelELMClassifier
from kernelm.store import load

MARKUP, TARGET = "[bold]weird, name[/bold]", "kind of tree"
SMALL = ["--machine", "elm", "--set", "n_hidden=40"]


def run(*arguments, code=0):
    """Run a command and return what it wrote to standard output and standard error."""
    found = CliRunner().invoke(app, [str(a) for a in arguments])
    assert found.exit_code == code, (found.output, found.exception)
    assert "Traceback" not in found.stderr
    return found.stdout, found.stderr


def run_json(*arguments):
    out, err = run(*arguments, "--json")
    assert err == ""
    return json.loads(out)


def trees(n=300):
    """Mixed types, gaps in numbers, names and targets, dates, a key, and odd names."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "height (m)": rng.normal(size=n).round(3),
            MARKUP: rng.normal(size=n).round(3),
            "colour": rng.choice(np.array(["red", "blue", None], dtype=object), n),
            "count": rng.integers(0, 9, n),
            "when": pd.date_range("2026", periods=n).date,
            "key": [f"key {i}" for i in range(n)],
        }
    )
    score = 3 * frame["height (m)"] + 2 * (frame["colour"] == "red") + 0.2 * frame[MARKUP]
    frame[TARGET] = np.where(score > 0.5, "oak [red]", "elm")
    frame["value"] = score
    frame.loc[::60, TARGET] = None
    frame.loc[::7, "height (m)"] = np.nan
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    trees().drop(columns="value").to_csv(folder / "trees.csv", index=False)
    run("fit", folder / "trees.csv", "-t", TARGET, "-o", folder / "trees.kelm")
    return folder


# --- the round trip ------------------------------------------------------------------------------


def test_fit_says_what_it_chose_and_what_it_left_out(folder, tmp_path):
    out, err = run("fit", folder / "trees.csv", "--target", TARGET, "-o", tmp_path / "m.kelm")
    assert "5 rows without a target left out" in err
    assert "'when' left out" in err
    assert "'key' left out" in err
    for words in ("KernelELMClassifier", "kernel", "alpha", "leave-one-out score", "exact"):
        assert words in out
    assert MARKUP in out
    assert "oak [red]" in out
    assert str(tmp_path / "m.kelm") in "".join(out.split("\n"))


def test_the_file_holds_the_model_that_python_would_fit(folder):
    model = load(folder / "trees.kelm")
    frame = pd.read_csv(folder / "trees.csv").dropna(subset=[TARGET])
    X = frame[["height (m)", MARKUP, "colour", "count"]]
    twin = KernelELMClassifier(random_state=0).fit(X, frame[TARGET].to_numpy(dtype=str))
    assert list(model.feature_names_in_) == list(X.columns)
    np.testing.assert_allclose(model.predict_proba(X), twin.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_predictions_are_those_of_the_model(folder, tmp_path, ending):
    path = tmp_path / f"out.{ending}"
    keep = ["--keep", "key", "--keep", MARKUP]
    out, _ = run(
        "predict", folder / "trees.kelm", folder / "trees.csv", "-o", path, "--probabilities", *keep
    )
    assert "300 rows" in out
    reader = {"csv": pd.read_csv, "parquet": pd.read_parquet, "arrow": pd.read_feather}[ending]
    found, frame = reader(path), pd.read_csv(folder / "trees.csv")
    model = load(folder / "trees.kelm")
    X = frame[list(model.feature_names_in_)]
    assert list(found.columns[:3]) == ["key", MARKUP, "prediction"]
    assert found["key"].tolist() == frame["key"].tolist()
    assert found["prediction"].tolist() == model.predict(X).tolist()
    P = found[[f"probability_{label}" for label in model.classes_]].to_numpy()
    np.testing.assert_allclose(P, model.predict_proba(X), rtol=1e-6)


def test_predict_without_an_output_shows_the_first_rows(folder):
    out, _ = run("predict", folder / "trees.kelm", folder / "trees.csv", "--probabilities")
    assert "probability_oak [red]" in out
    assert "first 10 of 300 rows" in out


def test_predict_as_json_lines(folder):
    out, err = run("predict", folder / "trees.kelm", folder / "trees.csv", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert len(rows) == 300
    assert err == ""
    assert {row["prediction"] for row in rows} == {"oak [red]", "elm"}


def test_numbers_where_the_model_learned_names_are_names(tmp_path):
    frame = pd.DataFrame({"zip": ["10", "A1", "20", "10"] * 30, "x": np.arange(120) % 7})
    frame["y"] = np.where(frame["zip"] == "10", "yes", "no")
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame[frame["zip"] != "A1"].drop(columns="y").to_csv(tmp_path / "b.csv", index=False)
    run("fit", tmp_path / "a.csv", "-t", "y", "-o", tmp_path / "m.kelm", *SMALL)
    out, _ = run("predict", tmp_path / "m.kelm", tmp_path / "b.csv", "--json")
    found = [json.loads(line)["prediction"] for line in out.splitlines()]
    assert found == frame.loc[frame["zip"] != "A1", "y"].tolist()


def test_inspect_tells_choices_and_importances(folder):
    out, _ = run("inspect", folder / "trees.kelm")
    assert MARKUP in out
    assert "most important inputs" in out
    found = run_json("inspect", folder / "trees.kelm")
    assert found["machine"] == "KernelELMClassifier"
    assert 0.7 < found["leave-one-out score"] <= 1
    assert found["status"] == "ok"
    assert found["classes"] == ["elm", "oak [red]"]
    assert max(found["importances"], key=found["importances"].get) == "height (m)"
    assert found["bytes"] == (folder / "trees.kelm").stat().st_size


def test_values_have_intervals(tmp_path):
    trees().dropna(subset=["value"]).drop(columns=TARGET).to_parquet(tmp_path / "t.parquet")
    found = run_json(
        "fit", tmp_path / "t.parquet", "-t", "value", "-o", tmp_path / "m.kelm", "--drop", "key"
    )
    assert found["task"] == "regression"
    widths = []
    for share in ("0.5", "0.95"):
        out, _ = run(
            "predict", tmp_path / "m.kelm", tmp_path / "t.parquet", "--intervals", share, "--json"
        )
        rows = [json.loads(line) for line in out.splitlines()]
        assert all(row["low"] <= row["prediction"] <= row["high"] for row in rows)
        widths.append(np.mean([row["high"] - row["low"] for row in rows]))
    assert widths[0] < widths[1]


# --- formats and options -------------------------------------------------------------------------


def numbers(n=150):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)


def test_libsvm_and_npy(tmp_path):
    X, y = numbers()
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    np.save(tmp_path / "a.npy", np.column_stack([X, y]))
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    answers = []
    for data, new, target in (
        ("a.svm", "a.svm", []),
        ("a.npy", "X.npy", ["-t", "4"]),
        ("X.npy", "X.npy", ["-t", tmp_path / "y.npy"]),
    ):
        told = run_json("fit", tmp_path / data, *target, "-o", tmp_path / "m.kelm", *SMALL)
        assert told["rows"] == len(y)
        out, _ = run("predict", tmp_path / "m.kelm", tmp_path / new, "--json")
        answers.append([json.loads(line)["prediction"] for line in out.splitlines()])
    assert answers[1] == answers[2]
    assert np.mean(np.equal(answers[0], y)) > 0.8


def test_tsv_folders_patterns_and_other_delimiters(tmp_path):
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    (tmp_path / "parts").mkdir()
    for k in range(2):
        frame[k::2].to_csv(tmp_path / "parts" / f"{k}.csv", index=False)
    frame.to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    frame.to_csv(tmp_path / "semicolons.txt", index=False, sep=";")
    for data, *more in (
        ("parts",),
        ("parts/*.csv",),
        ("t.tsv",),
        ("semicolons.txt", "--format", "csv", "--delimiter", ";"),
    ):
        told = run_json("fit", tmp_path / data, "-t", "y", *more, *SMALL)
        assert (told["rows"], told["features"]) == (150, list("abcd"))


def test_large_files_are_read_block_by_block_and_give_a_like_model(folder, tmp_path, monkeypatch):
    held = run_json("fit", folder / "trees.csv", "-t", TARGET, *SMALL)
    monkeypatch.setattr(reading, "LARGE", 0)
    drop = ["--drop", "key"]
    arguments = ["fit", folder / "trees.csv", "-t", TARGET, *drop, *SMALL]
    told = run_json(*arguments, "-o", tmp_path / "m.kelm")
    assert told["rows"] == held["rows"] == 295
    assert any("5 rows without a target" in note for note in told["notes"])
    assert told["leave-one-out score"] == pytest.approx(held["leave-one-out score"], abs=0.03)
    kept = run_json(*arguments, "--checkpoint", tmp_path / "sums")
    assert kept["leave-one-out score"] == told["leave-one-out score"]
    report = tmp_path / "r.html"
    compared = run_json(
        *["compare", folder / "trees.csv", "-t", TARGET, *drop],
        *["--machines", "baseline", "--splits", "1", "--report", report],
    )
    assert any("sample of 295" in note for note in compared["notes"])
    out, _ = run("plan", folder / "trees.csv", "-t", TARGET, *drop)
    assert "295 rows" in out


def test_features_weights_and_conditions_change_what_is_learned(tmp_path):
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, w=1 + y)
    frame.to_parquet(tmp_path / "t.parquet")
    arguments = ["fit", tmp_path / "t.parquet", "-t", "y", *SMALL]
    told = run_json(*arguments, "--features", "a, b", "--where", "a > 0 and y in 0,1")
    assert told["features"] == ["a", "b"]
    assert told["rows"] == np.count_nonzero(X[:, 0] > 0)
    plain = run_json(*arguments, "--drop", "w")
    weighted = run_json(*arguments, "--weight", "w")
    assert plain["features"] == weighted["features"] == list("abcd")
    assert plain["degrees of freedom"] != weighted["degrees of freedom"]


def test_damaged_rows_can_be_left_out(tmp_path):
    X, y = numbers()
    path = tmp_path / "t.csv"
    pd.DataFrame(X, columns=list("abcd")).assign(y=y).to_csv(path, index=False)
    path.write_text(path.read_text() + "1,2,3\n")
    _, err = run("fit", path, "-t", "y", *SMALL, code=1)
    assert "row 150" in err
    assert "--on-error skip" in err
    told = run_json("fit", path, "-t", "y", "--on-error", "skip", *SMALL)
    assert told["rows"] == 150
    assert told["notes"] == ["1 damaged rows left out"]


@pytest.mark.parametrize("machine", ["elm", "boosted", "op-elm", "core-vector", "akelm", "deep"])
def test_every_machine_goes_round(folder, tmp_path, machine):
    path = tmp_path / "m.kelm"
    told = run_json("fit", folder / "trees.csv", "-t", TARGET, "--machine", machine, "-o", path)
    assert any(name.startswith("leave-one-out score") for name in told)
    assert run_json("inspect", path)["machine"] == told["machine"]
    out, _ = run("predict", path, folder / "trees.csv", "--json")
    truth = pd.read_csv(folder / "trees.csv")[TARGET]
    found = pd.Series([json.loads(line)["prediction"] for line in out.splitlines()])
    right = (found == truth).to_numpy()[truth.notna().to_numpy()]
    assert right.mean() > 0.75


# --- compare, plan, the bundled data -------------------------------------------------------------


def test_compare_shows_a_table_and_writes_a_report(folder, tmp_path):
    report = tmp_path / "r.html"
    out, _ = run(
        *["compare", folder / "trees.csv", "-t", TARGET, "--report", report],
        *["--machines", "baseline,elm,linear", "--splits", "2", "--budget", "10"],
    )
    assert out.index("ELM") < out.index("Baseline")
    assert str(report) in "".join(out.split("\n"))
    assert "<html" in report.read_text()


def test_compare_as_json(folder, tmp_path):
    found = run_json(
        *["compare", folder / "trees.csv", "-t", TARGET, "--report", tmp_path / "r.html"],
        *["--machines", "baseline", "--splits", "1"],
    )
    assert found["report"] == str(tmp_path / "r.html")
    assert [row["name"] for row in found["table"]] == ["Baseline"]
    assert found["task_reason"] == "the target holds text"


def test_without_data_the_digits_are_taken(tmp_path):
    arguments = ["fit", "--machine", "elm", "--set", "n_hidden=30", "-o", tmp_path / "m.kelm"]
    _, err = run(*arguments)
    assert "bundled digits" in err
    out, err = run("predict", tmp_path / "m.kelm")
    assert "bundled digits" in err
    assert "1,797 rows" in out
    out, _ = run("plan")
    assert "bundled digits" in out


def test_plan_of_sizes_needs_no_data():
    found = run_json("plan", "--rows", 1000, "--columns", 5, "--classes", 3)
    assert found["machines"]["elm"]["passes"] >= 1
    assert found["outputs"] == 3


@pytest.mark.parametrize("command", ["fit", "predict", "compare", "inspect", "plan"])
def test_help_shows_the_python(command):
    out, _ = run(command, "--help")
    assert "In Python:\n" in out
    assert "    import kernelm" in out or "    from kernelm" in out


def test_version_and_module():
    command = [sys.executable, "-m", "kernelm.app.cli", "--version"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.startswith("kernelm ")
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert "fit" in run()[0]


# --- Ctrl-C --------------------------------------------------------------------------------------


def interrupt(*_, **__):
    raise KeyboardInterrupt


def test_an_interrupted_fit_leaves_nothing(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(KernelELMClassifier, "fit", interrupt)
    arguments = ["fit", folder / "trees.csv", "-t", TARGET, "-o", tmp_path / "m.kelm"]
    _, err = run(*arguments, code=130)
    assert "interrupted" in err
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_boosting_keeps_its_steps(folder, tmp_path, monkeypatch):
    from kernelm.estimators.boosting import Boosting

    step, calls = Boosting._solve, []

    def sometimes(self, *args, **options):
        calls.append(1)
        return interrupt() if len(calls) == 4 else step(self, *args, **options)

    monkeypatch.setattr(Boosting, "_solve", sometimes)
    path = tmp_path / "m.kelm"
    arguments = ["fit", folder / "trees.csv", "-t", TARGET, "--machine", "boosted", "-o", path]
    run(*arguments, code=130)
    assert isinstance(load(path), BoostedELMClassifier)
    assert load(path).n_steps_ == 3


def test_an_interrupted_comparison_is_reported(folder, tmp_path, monkeypatch):
    import kernelm.app.compare as engine

    measure, calls = engine.measure, []

    def sometimes(*args, **options):
        calls.append(1)
        return interrupt() if len(calls) == 2 else measure(*args, **options)

    monkeypatch.setattr(engine, "measure", sometimes)
    report = tmp_path / "r.html"
    _, err = run(
        *["compare", folder / "trees.csv", "-t", TARGET, "--report", report],
        *["--machines", "baseline,elm", "--splits", "1"],
        code=130,
    )
    assert "interrupted" in err
    assert "Baseline" in report.read_text()
