"""What goes wrong at a terminal: one clear line, the right exit code, nothing half-written."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from kernelm.app.cli.app import app
from kernelm.app.cli.conditions import conditions
from kernelm.app.cli.console import literal
from kernelm.app.cli.reading import split_names

FIT = "fit {good} -t kind -o out.kelm --machine elm --set n_hidden=20"

#: A command, its exit code, and words that its one line must hold.
BAD = {
    "missing file": ("fit gone.csv -t kind -o out.kelm", 1, ["gone.csv", "check the spelling"]),
    "empty file": ("fit {empty} -t kind", 1, ["empty.csv", "empty"]),
    "header only": ("fit {header} -t kind", 1, ["header.csv", "no rows"]),
    "binary as CSV": ("fit {garbage} -t kind", 1, ["garbage.csv"]),
    "truncated Parquet": ("fit {cut} -t kind", 1, ["cut.parquet", "cut off"]),
    "text as Parquet": ("fit {text_parquet} -t kind", 1, ["text.parquet", "another format"]),
    "damaged npy": ("fit {npy} -t 0", 1, ["bad.npy"]),
    "damaged LIBSVM": ("fit {svm}", 1, ["bad.svm", "line 2"]),
    "folder without data": ("fit {folder} -t kind", 1, ["nothing", "holds no file"]),
    "unknown ending": ("fit {unknown} -t kind", 1, ["data.xyz", "--format"]),
    "no target": ("fit {good}", 2, ["--target", "'kind'"]),
    "target misspelled": ("fit {good} -t kidn", 1, ["'kidn'", "did you mean 'kind'"]),
    "feature misspelled": ("fit {good} -t kind --features agee", 1, ["'agee'", "'age'"]),
    "dropped misspelled": ("fit {good} -t kind --drop agee", 1, ["'agee'", "--drop"]),
    "weight misspelled": ("fit {good} -t kind --weight ww", 1, ["'ww'", "--weight"]),
    "target is a feature": ("fit {good} -t kind --features kind,age", 1, ["'kind'", "one use"]),
    "nothing to learn from": ("fit {good} -t kind --drop age,name", 2, ["no column"]),
    "one class": ("fit {one} -t kind", 1, ["the target must", "two classes", "--task regression"]),
    "no targets": ("fit {none} -t kind", 1, ["only missing"]),
    "names as values": ("fit {good} -t kind --task regression", 1, ["--task classification"]),
    "unknown task": ("fit {good} -t kind --task clustering", 2, ["clustering", "--task"]),
    "unknown machine": ("fit {good} -t kind --machine kernl-elm", 2, ["kernl-elm", "kernel-elm"]),
    "ambiguous machine": ("fit {good} -t kind --machine kernel", 2, ["kernel-elm-gaussian"]),
    "machine for more rows": ("fit {good} -t kind --machine local", 1, ["10,000"]),
    "--set name": (f"{FIT} --set alhpa=1", 2, ["alhpa", "did you mean alpha"]),
    "--set value": (f"{FIT} --set alpha=banana", 2, ["alpha=banana", "alpha"]),
    "--set without =": (f"{FIT} --set alpha", 2, ["name=value"]),
    "--where nonsense": (f"{FIT} --where nonsense", 2, ["--where", "'nonsense'", "age > 30"]),
    "--where column": (f"{FIT} --where 'agee>3'", 1, ["agee", "--where", "'age'"]),
    "--where type": (f"{FIT} --where 'age>banana'", 1, ["--where", "banana"]),
    "--where nothing": (f"{FIT} --where 'age>1e9'", 1, ["no row is left"]),
    "output in no folder": ("fit {good} -t kind -o gone/out.kelm", 1, ["gone", "make it"]),
    "output below a file": ("fit {good} -t kind -o {good}/out.kelm", 1, ["--output"]),
    "output is a folder": ("fit {good} -t kind -o {folder}.kelm", 2, ["is a folder"]),
    "model of other ending": ("fit {good} -t kind -o out.csv", 2, [".kelm"]),
    "negative seed": ("fit {good} -t kind --seed -1", 2, ["--seed"]),
    "unknown option": ("fit {good} --targt kind", 2, ["--targt"]),
    "unknown command": ("fti {good}", 2, ["fti"]),
    "options without data": ("fit -t kind", 2, ["--target"]),
    "two characters": ("fit {good} -t kind --delimiter ;;", 2, ["--delimiter"]),
    "other delimiter": ("fit {good} -t kind --delimiter ;", 1, ["'kind'", "it has"]),
    "target of LIBSVM": ("fit {goodsvm} -t kind", 2, ["libsvm", "labels"]),
    "npy without target": ("fit {goodnpy}", 2, ["--target"]),
    "names of npy": ("fit {goodnpy} -t 0 --drop age", 2, ["--drop", "npy"]),
    "npy column": ("fit {goodnpy} -t 7", 1, ["from 0 to 2"]),
    "missing model": ("predict gone.kelm {good}", 1, ["gone.kelm", "does not exist"]),
    "corrupt model": ("predict {corrupt} {good}", 1, ["corrupt.kelm", "again"]),
    "text as model": ("predict {good} {good}", 1, ["good.csv", "not a model file"]),
    "no model": ("predict", 2, ["MODEL"]),
    "model of other columns": ("predict {model} {other}", 1, ["other.csv", "'age'"]),
    "npy for names": ("predict {model} {goodnpy}", 1, ["names of columns", "'age'"]),
    "digits for names": ("predict {model}", 1, ["names of columns"]),
    "other number of columns": ("predict {numbers} {goodnpy}", 1, ["3 columns", "2"]),
    "prediction ending": ("predict {model} {good} -o out.xlsx", 2, ["out.xlsx", ".parquet"]),
    "prediction in no folder": ("predict {model} {good} -o gone/out.csv", 1, ["gone"]),
    "own input": ("predict {model} {good} -o {good}", 2, ["own input"]),
    "kept column": ("predict {model} {good} --keep agee -o out.csv", 1, ["agee", "--keep"]),
    "intervals of classes": ("predict {model} {good} --intervals 0.9", 2, ["--probabilities"]),
    "share": ("predict {model} {good} --intervals 9", 2, ["--intervals", "between 0 and 1"]),
    "inspected text": ("inspect {good}", 1, ["good.csv", "not a model file"]),
    "inspected folder": ("inspect {folder}", 1, ["not a file"]),
    "negative budget": ("compare {good} -t kind --budget -5", 2, ["--budget"]),
    "no splits": ("compare {good} -t kind --splits 0", 2, ["--splits"]),
    "compared machine": ("compare {good} -t kind --machines elmo", 2, ["elmo", "elm"]),
    "no machine": ("compare {good} -t kind --machines ,", 2, ["--machines"]),
    "report ending": ("compare {good} -t kind --report out.pdf", 2, [".html"]),
    "report in no folder": ("compare {good} -t kind --report gone/r.html", 1, ["gone"]),
    "half a plan": ("plan --rows 5", 2, ["--columns"]),
    "two plans": ("plan {good} --rows 5 --columns 5", 2, ["DATA"]),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files of all kinds, most of them bad, by name."""
    folder = tmp_path_factory.mktemp("errors")
    rng = np.random.default_rng(0)
    good = pd.DataFrame({"age": rng.normal(size=60), "name": ["a", "b", "c"] * 20})
    good["kind"] = np.where(good["age"] > 0, "yes", "no")
    files = {
        name: folder / path
        for name, path in {
            "good": "good.csv",
            "empty": "empty.csv",
            "header": "header.csv",
            "garbage": "garbage.csv",
            "cut": "cut.parquet",
            "text_parquet": "text.parquet",
            "npy": "bad.npy",
            "svm": "bad.svm",
            "folder": "nothing",
            "unknown": "data.xyz",
            "one": "one.csv",
            "none": "none.csv",
            "other": "other.csv",
            "goodsvm": "good.svm",
            "goodnpy": "good.npy",
            "model": "model.kelm",
            "numbers": "numbers.kelm",
            "corrupt": "corrupt.kelm",
        }.items()
    }
    good.to_csv(files["good"], index=False)
    files["empty"].write_bytes(b"")
    files["header"].write_text("age,name,kind\n")
    files["garbage"].write_bytes(rng.integers(0, 256, 5000, dtype=np.uint8).tobytes())
    good.to_parquet(files["cut"])
    files["cut"].write_bytes(files["cut"].read_bytes()[:-200])
    for name in ("text_parquet", "npy", "unknown"):
        files[name].write_text("age,kind\n1,2\n")
    files["svm"].write_text("1 1:2\nbanana\n")
    files["goodsvm"].write_text("1 1:2\n0 1:3\n1 1:4\n0 2:1\n")
    np.save(files["goodnpy"], rng.normal(size=(30, 3)))
    files["folder"].mkdir()
    (folder / "nothing.kelm").mkdir()
    good.assign(kind="yes").to_csv(files["one"], index=False)
    good.assign(kind=None).to_csv(files["none"], index=False)
    good.rename(columns={"age": "height"}).to_csv(files["other"], index=False)
    arguments = ["-t", "kind", "--machine", "elm", "--set", "n_hidden=20"]
    invoke("fit", files["good"], *arguments, "-o", files["model"], code=0)
    arguments = ["-t", "0", "--machine", "elm", "--set", "n_hidden=20"]
    invoke("fit", files["goodnpy"], *arguments, "-o", files["numbers"], code=0)
    data = bytearray(files["model"].read_bytes())
    data[-100] ^= 1
    files["corrupt"].write_bytes(bytes(data))
    return files


def invoke(*arguments, code):
    found = CliRunner().invoke(app, [str(a) for a in arguments])
    assert found.exit_code == code, (found.output, found.exception)
    return found


def words_of(command, files):
    """Return the words of a command; quotes hold words together."""
    parts = command.split("'")
    words = []
    for k, part in enumerate(parts):
        words += [part] if k % 2 else part.split()
    return [word.format(**files) for word in words]


@pytest.mark.parametrize("case", BAD)
def test_a_bad_command_ends_in_one_clear_line(case, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command, code, words = BAD[case]
    before = {path: path.stat().st_mtime_ns for path in files["good"].parent.iterdir()}
    found = invoke(*words_of(command, files), code=code)
    errors = [line for line in found.stderr.splitlines() if not line.startswith("note: ")]
    assert len(errors) == 1, found.stderr
    assert errors[0].startswith("error: ")
    assert found.stdout == ""
    for word in words:
        assert word in errors[0]
    assert list(tmp_path.iterdir()) == []
    assert {p: p.stat().st_mtime_ns for p in files["good"].parent.iterdir()} == before


@pytest.mark.parametrize("command", ["fit {good} -t kidn", "predict {corrupt} {good}"])
def test_debug_shows_the_traceback_and_ends_in_the_same_line(command, files):
    plain = invoke(*words_of(command, files), code=1)
    debug = invoke(*words_of(command, files), "--debug", code=1)
    assert "Traceback (most recent call last)" in debug.stderr
    assert debug.stderr.splitlines()[-1] == plain.stderr.splitlines()[-1]


def test_a_fault_of_ours_is_one_line_too(files, monkeypatch):
    def fault(*_):
        raise KeyError("surprise")

    monkeypatch.setattr("kernelm.app.cli.inspect.load", fault)
    found = invoke("inspect", files["model"], code=1)
    assert found.stderr.startswith("error: KeyError: 'surprise'; this is a fault of kernelm")
    assert len(found.stderr.splitlines()) == 1


def test_errors_with_json_leave_standard_output_empty(files):
    assert invoke("inspect", files["corrupt"], "--json", code=1).stdout == ""


def test_an_output_that_cannot_be_written_is_noticed_before_anything_is_read(files, monkeypatch):
    def read(*_):
        raise AssertionError("the file was read")

    for module in ("fit.table", "compare.sampled", "predict.load"):
        monkeypatch.setattr(f"kernelm.app.cli.{module}", read)
    for command in (
        "fit {good} -t kind -o gone/m.kelm",
        "compare {good} -t kind --report gone/r.html",
        "predict {model} {good} -o gone/p.csv",
    ):
        assert "gone" in invoke(*words_of(command, files), code=1).stderr


# --- small parts ---------------------------------------------------------------------------------

_NAMES = st.text("abcxyz [](){}.%", min_size=1, max_size=8).map(str.strip).filter(bool)


@given(_NAMES, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), st.integers(), st.floats(0, 1))
def test_conditions_are_read_as_they_are_meant(name, op, whole, share):
    text = f"`{name}` {op} {whole} and `{name}` {op} {share!r}"
    assert conditions(text) == [(name, op, whole), (name, op, share)]


def test_conditions_know_lists_and_texts():
    assert conditions("x in 1, 2 and y = 'a b' and z not in (p,q)") == [
        ("x", "in", [1, 2]),
        ("y", "==", "a b"),
        ("z", "not in", ["p", "q"]),
    ]


@given(st.text())
def test_shown_text_is_printable_and_printable_text_is_unchanged(text):
    shown = literal(text)
    assert shown.isprintable()
    assert shown == text or not text.isprintable()


@given(st.lists(_NAMES, min_size=1))
def test_names_are_split_at_commas(names):
    assert split_names(", ".join(names)) == tuple(names)


def test_numbers_that_are_not_finite_are_null_in_json(capsys):
    from kernelm.app.cli.console import document

    document({"a": float("nan"), "b": np.float64(1.5), "c": np.int64(2)})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": 1.5, "c": 2}
