"""Tables written block by block, and predictions of files."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelm import (
    BoostedELMRegressor,
    CoreVectorClassifier,
    ELMClassifier,
    ELMRegressor,
    KernelELMClassifier,
)
from kernelm.data import ArraySource, scan
from kernelm.data.files.write import write

rng = np.random.default_rng(0)
N = 900
TABLE = pd.DataFrame(
    {
        "size": rng.standard_normal(N),
        "colour": rng.choice(["red", "green", "blue"], N),
        "age": rng.integers(0, 90, N),
    }
)
TABLE["price"] = TABLE["size"] + (TABLE["colour"] == "red") + TABLE["age"] / 50
TABLE["kind"] = np.where(TABLE["price"] > 1.5, "dear", "cheap")
INPUTS = ["size", "colour", "age"]


def parts(tmp_path, table=TABLE, n=3, suffix="parquet"):
    for k, part in enumerate(np.array_split(np.arange(len(table)), n)):
        file = tmp_path / f"part-{k}.{suffix}"
        rows = table.iloc[part]
        rows.to_csv(file, index=False) if suffix == "csv" else rows.to_parquet(file, index=False)
    return tmp_path / f"part-*.{suffix}"


def read(path):
    if path.suffix == ".csv":
        return pd.read_csv(path)
    return pd.read_feather(path) if path.suffix == ".arrow" else pd.read_parquet(path)


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".arrow"])
def test_tables_are_written_one_after_the_other(suffix, tmp_path):
    path = tmp_path / f"out{suffix}"
    blocks = [
        {"x": np.arange(3.0), "name": np.array(["a", "b", "c"])},
        {"x": np.arange(2.0), "name": np.array(["a longer one", "é"])},
    ]
    assert write(path, iter(blocks)) == 5
    found = read(path)
    assert_array_equal(found["x"], [0, 1, 2, 0, 1])
    assert found["name"].tolist() == ["a", "b", "c", "a longer one", "é"]
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_what_was_there_stays_until_the_file_is_whole(tmp_path):
    path = tmp_path / "out.parquet"
    path.write_text("precious")

    def blocks():
        yield {"x": np.arange(3)}
        raise OSError("the rows are gone")

    with pytest.raises(OSError, match="gone"):
        write(path, blocks())
    assert path.read_text() == "precious"
    assert [p.name for p in tmp_path.iterdir()] == ["out.parquet"]


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("out.xlsx", ValueError, r"must end in \.parquet"),
        ("no/such/folder/out.parquet", OSError, "cannot be written"),
    ],
)
def test_places_that_cannot_be_written(name, error, message, tmp_path):
    with pytest.raises(error, match=message):
        write(tmp_path / name, iter([{"x": np.arange(3)}]))
    with pytest.raises(ValueError, match=r"no rows to write to out\.csv"):
        write(tmp_path / "out.csv", iter([]))


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_predictions_of_files_are_those_of_the_frame(suffix, tmp_path):
    pattern = parts(tmp_path, suffix=suffix)
    source = scan(str(pattern), target="price", features=INPUTS)
    model = ELMRegressor(40, random_state=0).fit_source(source)
    # The columns of the model are found among others, in another order, with other levels.
    new = TABLE[["price", "age", "colour", "size", "kind"]][:100].copy()
    new.loc[3, "colour"] = "violet"
    folder = tmp_path / "new"
    folder.mkdir()
    parts(folder, new, 2, suffix)
    out = tmp_path / "out.parquet"
    n = model.predict_source(scan(folder), out, outputs=("predict", "predict_interval"))
    found = read(out)
    assert n == 100
    assert_allclose(found["prediction"], model.predict(new[INPUTS]), rtol=1e-6)
    assert_allclose(found[["low", "high"]], model.predict_interval(new[INPUTS]), rtol=1e-6)


def test_probabilities_have_the_names_of_classes(tmp_path):
    source = scan(str(parts(tmp_path)), target="kind", features=INPUTS)
    model = KernelELMClassifier("gaussian", random_state=0).fit_source(source)
    out = tmp_path / "out.csv"
    model.predict_source(source, out, outputs=("predict", "predict_proba", "decision_function"))
    found = read(out)
    assert list(found) == ["prediction", "probability_cheap", "probability_dear", "score"]
    assert_allclose(found["probability_dear"], model.predict_proba(TABLE[INPUTS])[:, 1], rtol=1e-5)
    assert_array_equal(found["prediction"], model.predict(TABLE[INPUTS]))


@pytest.mark.parametrize(
    "model",
    [
        BoostedELMRegressor(5, random_state=0),
        ELMClassifier(30, random_state=0),
        CoreVectorClassifier("gaussian", C=1.0, random_state=0),
    ],
    ids=str,
)
def test_every_estimator_predicts_sources(model, tmp_path):
    X, y = TABLE[["size", "age"]].to_numpy(), TABLE["age"].to_numpy() // 30
    model.fit(X, y)
    model.predict_source(ArraySource(X), tmp_path / "out.parquet")
    assert_array_equal(read(tmp_path / "out.parquet")["prediction"], model.predict(X))


def test_several_outputs_are_numbered(tmp_path):
    X = TABLE[["size", "age"]].to_numpy()
    Y = np.stack([X[:, 0], X[:, 1]], axis=1)
    model = ELMRegressor(30, random_state=0).fit(X, Y)
    path = tmp_path / "out.parquet"
    model.predict_source(ArraySource(X), path, outputs=("predict", "predict_interval"))
    names = ["prediction_0", "prediction_1", "low_0", "high_0", "low_1", "high_1"]
    assert list(read(path)) == names
    labels = np.stack([X[:, 0] > 0, X[:, 1] > 40], axis=1).astype(int)
    many = ELMClassifier(30, random_state=0).fit(X, labels + np.array([5, 7]))
    many.predict_source(ArraySource(X), path, outputs=("predict_proba",))
    assert list(read(path))[:2] == ["probability_0_0", "probability_0_1"]


def test_sources_that_do_not_fit_the_model(tmp_path):
    X, y = TABLE[["size", "age"]].to_numpy(), TABLE["price"].to_numpy()
    model = ELMRegressor(30, random_state=0).fit(X, y)
    out = tmp_path / "out.parquet"
    with pytest.raises(ValueError, match="2"):
        model.predict_source(ArraySource(X[:, :1]), out)
    with pytest.raises(ValueError, match="outputs must be one of"):
        model.predict_source(ArraySource(X), out, outputs=("predict_proba",))
    with pytest.raises(TypeError, match=r"source must be rows .* got ndarray; arrays go to fit"):
        model.predict_source(X, out)
    spoilt = X.copy()
    spoilt[7, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.predict_source(ArraySource(spoilt), out)
    assert not out.exists()


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_missing_numbers_are_filled_as_in_a_frame(suffix, tmp_path):
    table = TABLE.copy()
    table.loc[::5, "size"] = np.nan
    table.loc[::7, "colour"] = None
    source = scan(
        str(parts(tmp_path, table, suffix=suffix)), target="price", features=INPUTS, missing="fill"
    )
    assert source.columns.names[:2] == ["size", "size_missing"]
    model = ELMRegressor(40, random_state=0)
    expected = model.fit(table[INPUTS], table["price"]).predict(table[INPUTS])
    assert_allclose(model.fit_source(source).predict(table[INPUTS]), expected, rtol=1e-6)
    model.predict_source(scan(str(tmp_path / f"part-*.{suffix}")), tmp_path / "out.parquet")
    assert_allclose(read(tmp_path / "out.parquet")["prediction"], expected, rtol=1e-6)
    with pytest.raises(ValueError, match="size"):
        next(scan(str(tmp_path / f"part-*.{suffix}"), target="price").blocks(10))()
