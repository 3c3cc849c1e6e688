import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets
from numpy.testing import assert_array_equal
from scipy import sparse

from kernelm.data import Dataset, load
from kernelm.data.datasets import BUNDLED, OPENML

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

SHARED = os.environ.get("KERNELM_DATA")


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    """Two empty folders instead of the user's, and no network."""
    places = SimpleNamespace(data=tmp_path / "data", cache=tmp_path / "cache")
    for variable, folder in (("KERNELM_DATA", places.data), ("KERNELM_CACHE", places.cache)):
        folder.mkdir()
        monkeypatch.setenv(variable, str(folder))

    def offline(*args, **options):
        raise URLError("the tests have no network")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", offline)
    return places


@pytest.fixture
def tiny():
    return pd.DataFrame(
        {
            "width": np.array([1, 2, 3, 4], dtype=np.uint8),
            "target": pd.Categorical(["b", "a", "b", "a"]),
            "colour": pd.Categorical(["red", "blue", None, "red"]),
            "split": ["train", "test", "train", "train"],
        }
    )


# --- bundled --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_sets_are_those_of_scikit_learn(name):
    theirs = getattr(sklearn.datasets, f"load_{name}")()
    ours = load(name)
    assert_array_equal(ours.X, theirs.data)
    assert_array_equal(ours.y, theirs.target)
    assert ours.feature_names == tuple(theirs.feature_names)
    assert ours.task == ("regression" if name == "diabetes" else "classification")


def test_dtype_is_float32_only_where_it_is_exact():
    assert load("digits").X.dtype == np.float32
    assert load("iris").X.dtype == np.float64


def test_split_is_seeded_and_keeps_the_shares_of_the_classes():
    iris = load("iris")
    X_train, X_test, y_train, y_test = iris.split(test_size=0.2, seed=3)
    assert_array_equal(np.bincount(y_train), [40, 40, 40])
    assert_array_equal(np.bincount(y_test), [10, 10, 10])
    assert X_train.shape == (120, 4)
    assert_array_equal(X_test, iris.split(test_size=0.2, seed=3)[1])
    assert not np.array_equal(X_test, iris.split(test_size=0.2, seed=4)[1])


def test_split_of_a_regression_set_is_not_stratified():
    X_train, X_test, _, y_test = load("diabetes").split(test_size=42)
    assert (len(X_train), len(X_test), len(y_test)) == (400, 42, 42)


def test_parts_need_an_official_split():
    for part in ("train", "test"):
        with pytest.raises(ValueError, match=r"'wine' has no official split .* use split\("):
            getattr(load("wine"), part)


# --- files ----------------------------------------------------------------------------------------


def test_parquet_columns_become_numbers_labels_and_parts(folders, tiny):
    tiny.to_parquet(folders.data / "tiny.parquet")
    data = load("tiny")
    assert isinstance(data, Dataset)
    assert (data.task, data.notes, data.feature_names) == (
        "classification",
        "",
        ("width", "colour"),
    )
    # Codes follow the alphabet, whatever the order of the categories; a gap is NaN.
    assert_array_equal(data.X, np.array([[1, 1], [2, 0], [3, np.nan], [4, 1]], np.float32))
    assert data.X.dtype == np.float32
    assert_array_equal(data.y, ["b", "a", "b", "a"])
    assert_array_equal(data.train[0], data.X[[0, 2, 3]])
    assert_array_equal(data.test[1], ["a"])


@pytest.mark.parametrize(
    ("column", "dtype"),
    [
        (np.array([0.5, 1e-3, 2, 3]), np.float64),
        (np.array([0.5, np.nan, 2, 3]), np.float32),
        (np.array([1e300, 1, 2, 3]), np.float64),
        (np.array([2**24, 1, 2, 3], dtype=np.int32), np.float32),
        (np.array([2**24 + 1, 1, 2, 3], dtype=np.int32), np.float64),
        (np.array([True, False, True, True]), np.float32),
        (["10", "9", "2", "1"], np.float32),
    ],
)
def test_every_number_survives_in_the_dtype_chosen(folders, tiny, column, dtype):
    tiny.assign(colour=column).to_parquet(folders.data / "tiny.parquet")
    X = load("tiny").X
    assert X.dtype == dtype
    assert_array_equal(X[:, 1], np.asarray(column).astype(np.float64))


def test_manifest_gives_task_and_notes(folders, tiny):
    tiny["target"] = [3, 5, 4, 3]
    tiny.to_parquet(folders.data / "tiny.parquet")
    assert load("tiny").task == "classification"
    entry = {"name": "tiny", "file": "tiny.parquet", "task": "regression", "notes": "four rows"}
    (folders.data / "manifest.json").write_text(json.dumps([{"file": "other"}, entry]))
    data = load("tiny")
    assert (data.task, data.notes, data.y.dtype) == ("regression", "four rows", np.float64)


def test_float_targets_without_a_manifest_mean_regression(folders, tiny):
    tiny.assign(target=[1.0, 2.0, 3.0, 4.0]).to_parquet(folders.data / "tiny.parquet")
    assert load("tiny").task == "regression"


@pytest.mark.parametrize("words", [["", "x"], ["a", "bé"]])
def test_npz_holds_csr_rows(folders, words):
    X = sparse.csr_matrix(np.array([[0, 2], [1, 0], [0, 0]], dtype=np.uint16))
    vocabulary = np.frombuffer("\n".join(words).encode(), np.uint8)
    np.savez(
        folders.data / "words.npz",
        data=X.data,
        indices=X.indices,
        indptr=X.indptr,
        shape=X.shape,
        target=np.array([0, 1, 1], np.int8),
        is_train=np.array([True, True, False]),
        vocabulary_utf8=vocabulary,
    )
    data = load("words")
    assert data.X.format == "csr"
    assert data.X.dtype == np.float32
    assert_array_equal(data.X.toarray(), X.toarray())
    assert data.feature_names == tuple(words)
    assert (data.train[0].shape, data.test[1].tolist()) == ((2, 2), [1])


def test_npz_may_be_dense(folders):
    np.savez(folders.data / "dense.npz", X=np.eye(3), target=np.array(["u", "v", "u"]))
    data = load("dense")
    assert_array_equal(data.X, np.eye(3))
    assert (data.feature_names, data.is_train) == (("x0", "x1", "x2"), None)


def test_the_data_folder_goes_before_the_cache_and_the_cache_before_openml(
    folders, tiny, monkeypatch
):
    here, there = folders.data / "letter.parquet", folders.cache / "letter.parquet"
    tiny.assign(width=[1, 1, 1, 1]).to_parquet(here)
    tiny.assign(width=[2, 2, 2, 2]).to_parquet(there)
    assert load("letter").X[0, 0] == 1
    here.unlink()
    assert load("letter").X[0, 0] == 2
    monkeypatch.delenv("KERNELM_DATA")
    assert load("letter").X[0, 0] == 2


@pytest.mark.parametrize(
    ("platform", "variable"), [("linux", "XDG_CACHE_HOME"), ("win32", "LOCALAPPDATA")]
)
def test_the_cache_is_where_the_platform_keeps_its_own(
    tmp_path, tiny, monkeypatch, platform, variable
):
    monkeypatch.delenv("KERNELM_CACHE")
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv(variable, str(tmp_path))
    (tmp_path / "kernelm").mkdir()
    tiny.to_parquet(tmp_path / "kernelm" / "tiny.parquet")
    assert load("tiny").X.shape == (4, 2)


# --- OpenML ---------------------------------------------------------------------------------------


def test_openml_is_asked_by_its_own_name_and_version(monkeypatch):
    asked = {}

    def fetch(name, **options):
        asked.update(options, name=name)
        frame = pd.DataFrame({"a": [0.5, 1.5], "soil": pd.Categorical(["1", "0"])})
        return SimpleNamespace(data=frame, target=pd.Series(["5", "2"], dtype="category"))

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    data = load("covtype")
    assert asked == {"name": "covertype", "version": 4, "as_frame": "auto"}
    assert_array_equal(data.X, [[0.5, 1], [1.5, 0]])
    assert_array_equal(data.y, [5, 2])
    assert (data.y.dtype, data.task, data.is_train) == (np.int64, "classification", None)
    assert data.feature_names == ("a", "soil")
    assert "OpenML covertype" in data.notes


def test_openml_rows_in_official_order_keep_their_split(monkeypatch):
    frame = pd.DataFrame({"pixel": np.zeros(70_000, np.uint8)})
    bunch = SimpleNamespace(data=frame, target=pd.Series(["0", "1"] * 35_000, dtype="category"))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda *a, **k: bunch)
    X, y = load("mnist").test
    assert (X.shape, y.sum()) == ((10_000, 1), 5_000)


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nope", "../data/tiny", ""])
def test_an_unknown_name_lists_every_place_and_name(folders, tiny, name):
    tiny.to_parquet(folders.data / "tiny.parquet")
    with pytest.raises(FileNotFoundError) as error:
        load(name)
    text = str(error.value)
    assert text.startswith(f"no data set named {name!r}; looked among")
    assert "digits" in text
    assert f"$KERNELM_DATA {folders.data}: tiny" in text
    assert f"cache {folders.cache}: no data files" in text
    assert all(known in text for known in OPENML)


def test_an_unset_data_folder_is_said(monkeypatch):
    monkeypatch.delenv("KERNELM_DATA")
    with pytest.raises(FileNotFoundError, match=r"\$KERNELM_DATA: not set; it names a folder"):
        load("nope")


def test_a_failed_download_says_why_and_where_else_a_file_could_be():
    with pytest.raises(FileNotFoundError, match=r"OpenML \(.*no network.*\); looked among"):
        load("letter")


@pytest.mark.parametrize("missing", ["pyarrow", "pyarrow.parquet"])
def test_without_pyarrow_the_extra_is_named(folders, tiny, monkeypatch, missing):
    tiny.to_parquet(folders.data / "tiny.parquet")
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=r"tiny\.parquet .* pip install kernelm\[files\]"):
        load("tiny")


def test_without_pandas_openml_names_the_extra(monkeypatch):
    def fetch(*args, **options):
        raise ImportError("needs pandas")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    with pytest.raises(ImportError, match=r"pip install kernelm\[files\]"):
        load("letter")


def test_a_file_without_targets_says_what_it_needs(folders, tiny):
    tiny.drop(columns="target").to_parquet(folders.data / "tiny.parquet")
    with pytest.raises(ValueError, match=r"tiny\.parquet has no target"):
        load("tiny")
    np.savez(folders.data / "half.npz", target=[0, 1], data=[1.0])
    with pytest.raises(ValueError, match=r"half\.npz has no indices, indptr, shape"):
        load("half")


def test_a_split_is_train_or_test(folders, tiny):
    tiny.assign(split="valid").to_parquet(folders.data / "tiny.parquet")
    with pytest.raises(ValueError, match=r"split .* must be .*'valid'"):
        load("tiny")


# --- the real files -------------------------------------------------------------------------------


@pytest.mark.skipif(
    not SHARED, reason="KERNELM_DATA is not set: the real data files are not tested"
)
def test_every_file_of_the_data_folder_is_as_its_manifest_says(monkeypatch):
    monkeypatch.setenv("KERNELM_DATA", str(SHARED))
    manifest = json.loads((Path(str(SHARED)) / "manifest.json").read_text("utf-8"))
    for entry in manifest:
        data = load(entry["name"])
        assert data.X.shape == (entry["rows"], entry["features"]), entry["name"]
        assert data.task == entry["task"], entry["name"]
        assert len(data.feature_names) == entry["features"], entry["name"]
        assert np.isfinite(data.X.data if sparse.issparse(data.X) else data.X).all(), entry["name"]
        if data.task == "classification":
            counts = entry["class_counts"]
            counts = counts.values() if isinstance(counts, dict) else counts
            assert sorted(np.unique_counts(data.y).counts) == sorted(counts), entry["name"]
        sizes = entry.get("split_counts")
        if sizes:
            assert len(data.train[1]) == sizes["train"], entry["name"]
            assert len(data.test[1]) == sizes["test"], entry["name"]
        else:
            assert data.is_train is None, entry["name"]
