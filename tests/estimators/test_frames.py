"""Every estimator learns from data frames with names in them, as a pipeline would."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from kernelm import (
    ELMClassifier,
    ELMRegressor,
    KernelELMClassifier,
    KernelELMRegressor,
    select_kernel,
)
from kernelm.data import ArraySource
from kernelm.data.frames import as_numbers
from kernelm.kernels import Gaussian, Laplacian

MODELS = [
    ELMRegressor(40, random_state=0),
    ELMRegressor(40, direct_links=True, scale_inputs=False, random_state=0),
    ELMClassifier(40, random_state=0),
    KernelELMRegressor(Gaussian("median"), random_state=0),
    KernelELMRegressor("laplacian", approximation="landmarks", n_landmarks=20, random_state=0),
    KernelELMClassifier("laplacian", approximation="nystrom", n_landmarks=20, random_state=0),
    KernelELMClassifier("gaussian", approximation="subset", n_landmarks=60, random_state=0),
]
FORMS_WITH_SUMS = ("landmarks", "nystrom")
STREAMING = [m for m in MODELS if getattr(m, "approximation", "nystrom") in FORMS_WITH_SUMS]

COLOURS = ["blue", "green", "red"]
SIZES = pd.CategoricalDtype(["small", "large", "huge"], ordered=True)


def problem(n=120, seed=0, missing=False):
    """A frame with every kind of column, and targets that depend on all of them."""
    rng = np.random.default_rng(seed)
    colour, size = rng.integers(3, size=n), rng.integers(2, size=n)
    new, x = rng.random(n) < 0.5, rng.normal(size=n)
    names = np.array(COLOURS, object)[colour]
    if missing:
        names[rng.random(n) < 0.2] = None
    frame = pd.DataFrame(
        {
            "colour": names,
            "x": x,
            "size": pd.Categorical.from_codes(size, dtype=SIZES),
            "new": new,
            "count": rng.integers(9, size=n),
        }
    )
    return frame, np.sin(2 * x) * (colour - 1) + size + 0.5 * new + 0.1 * rng.normal(size=n)


def targets(model, y):
    return y if hasattr(model, "predict_interval") else np.digitize(y, [0, 1])


def outputs(model, X):
    """All that a model says about rows."""
    if hasattr(model, "predict_interval"):
        return [model.predict(X), model.predict_interval(X)]
    return [model.decision_function(X), model.predict_proba(X)]


def pipeline(model):
    """The same by hand: one-hot columns in the place of their column."""

    def one_hot(levels):
        return OneHotEncoder(categories=[levels], handle_unknown="ignore", sparse_output=False)

    parts = [
        ("colour", one_hot(COLOURS), ["colour"]),
        ("x", "passthrough", ["x"]),
        ("size", one_hot(list(SIZES.categories)), ["size"]),
        ("rest", "passthrough", ["new", "count"]),
    ]
    return make_pipeline(ColumnTransformer(parts), clone(model))


def assert_same(model, peer, X, X_peer=None, **tolerance):
    for mine, theirs in zip(
        outputs(model, X), outputs(peer, X if X_peer is None else X_peer), strict=True
    ):
        assert_allclose(mine, theirs, **{"rtol": 1e-7, "atol": 1e-8} | tolerance)


# -- agreement ----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_it_is_the_pipeline_with_a_one_hot_encoder(model):
    X, y = problem()
    y = targets(model, y)
    new, _ = problem(seed=1)
    new.loc[::7, "colour"] = "purple"  # a level that nobody has seen
    mine, peer = clone(model).fit(X, y), pipeline(model).fit(X, y)
    score = "predict" if hasattr(mine, "predict_interval") else "decision_function"
    assert_allclose(getattr(mine, score)(new), getattr(peer, score)(new), rtol=1e-7, atol=1e-8)
    if hasattr(mine, "predict_proba"):
        assert_allclose(mine.predict_proba(new), peer.predict_proba(new), rtol=1e-6, atol=1e-8)
        assert_array_equal(mine.predict(new), peer.predict(new))
    assert mine.loo_score_ == pytest.approx(peer[-1].loo_score_)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_frames_of_numbers_are_what_they_were(model):
    X, y = problem()
    X, y = X[["x", "count", "new"]], targets(model, y)
    mine = clone(model).fit(X, y)
    peer = clone(model).fit(X.to_numpy(float), y)
    assert mine.columns_ is None
    for a, b in zip(outputs(mine, X), outputs(peer, X.to_numpy(float)), strict=True):
        assert_array_equal(a, b)


def test_single_precision_stays_single():
    X, y = problem()
    X = X.drop(columns="count").astype({"x": np.float32})
    assert ELMRegressor(40).fit(X, y).predict(X).dtype == np.float32


def test_weights_are_repeated_rows():
    X, y = problem(60)
    w = np.arange(60) % 3
    again = np.repeat(np.arange(60), w)
    model = ELMRegressor(20, alpha=1.0, random_state=0)
    mine = clone(model).fit(X, y, sample_weight=w)
    assert_allclose(mine.predict(X), clone(model).fit(X.iloc[again], y[again]).predict(X))


def test_several_outputs():
    X, y = problem()
    assert ELMRegressor(40).fit(X, np.c_[y, -y]).predict(X).shape == (len(X), 2)


# -- rows that come in blocks -------------------------------------------------------------------


@pytest.mark.parametrize("model", STREAMING, ids=repr)
def test_blocks_are_encoded_with_the_levels_of_the_first(model):
    X, y = problem(150)
    y, Z = targets(model, y), as_numbers(X)
    classes = {} if hasattr(model, "predict_interval") else {"classes": np.unique(y)}
    mine, peer = clone(model), clone(model)
    X.loc[100:, "colour"], Z[100:, :3] = "purple", 0  # unknown after the first block
    X.loc[120:, "size"] = "huge"  # declared, but not in the first block
    Z[120:, 4:7] = [0, 0, 1]
    for rows in (slice(0, 100), slice(100, 150)):
        mine.partial_fit(X[rows], y[rows], **classes)
        peer.partial_fit(Z[rows], y[rows], **classes)
    assert_same(mine, peer, X, Z)
    mine.forget(X[110:], y[110:])
    peer.forget(Z[110:], y[110:])
    assert_same(mine, peer, X, Z)


@pytest.mark.parametrize("model", STREAMING, ids=repr)
def test_copies_of_a_frozen_model_merge(model):
    X, y = problem(150)
    y = targets(model, y)
    frozen = clone(model).freeze(X, y)
    parts = [
        copy.deepcopy(frozen).partial_fit(X.loc[rows], y[rows]) for rows in np.split(X.index, 3)
    ]
    whole = copy.deepcopy(frozen).partial_fit(X, y)
    merged = parts[0].merge(parts[1]).merge(parts[2])
    assert merged.columns_ == whole.columns_
    assert_same(merged, whole, X)


def test_models_of_different_levels_do_not_merge():
    X, y = problem()
    model = ELMRegressor(20, scale_inputs=False, random_state=0)  # the same map for any rows
    a = clone(model).partial_fit(X, y)
    b = clone(model).partial_fit(X.replace({"colour": {"red": "purple"}}), y)
    with pytest.raises(ValueError, match="different columns or levels"):
        a.merge(b)
    with pytest.raises(ValueError, match="different columns or levels"):
        a.merge(clone(model).partial_fit(as_numbers(X), y))


# -- levels -------------------------------------------------------------------------------------


def test_missing_names_are_learned_where_they_occur():
    X, y = problem(missing=True)
    y = np.where(X["colour"].isna(), 5.0, y)
    model = ELMRegressor(60, random_state=0).fit(X, y)
    assert "colour_nan" in model.columns_.names
    gone = X["colour"].isna().to_numpy()
    assert model.predict(X)[gone].mean() - model.predict(X)[~gone].mean() > 3


def test_missing_names_are_unknown_levels_where_they_do_not_occur():
    X, y = problem()
    model = ELMRegressor(60, random_state=0).fit(X, y)
    assert_array_equal(
        model.predict(X.assign(colour=None)), model.predict(X.assign(colour="purple"))
    )


def test_hidden_units_are_counted_beside_direct_links_of_levels():
    X, y = problem()
    model = ELMRegressor(17, direct_links=True, random_state=0).fit(X, y)
    assert model.n_hidden_ == 17
    assert list(model.units_path_) == [17]


# -- what scikit-learn expects ------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_features_are_the_columns_of_the_frame(model):
    X, y = problem()
    model = clone(model).fit(X, targets(model, y))
    assert model.n_features_in_ == X.shape[1]
    assert_array_equal(model.feature_names_in_, X.columns)
    for other in (X[X.columns[::-1]], X.rename(columns={"x": "z"}), X.drop(columns="x")):
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(other)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_pickles_and_clones(model):
    X, y = problem()
    model = clone(model).fit(X, targets(model, y))
    assert_same(pickle.loads(pickle.dumps(model)), model, X, rtol=0, atol=0)
    assert not hasattr(clone(model), "columns_")


def test_cross_validation():
    X, y = problem()
    model = ELMRegressor(40, random_state=0)
    scores = [cross_val_score(m, X, y, cv=3) for m in (model, pipeline(model))]
    assert_allclose(*scores, rtol=1e-7)


def test_a_new_fit_forgets_the_old_columns():
    X, y = problem()
    Z = as_numbers(X)
    fresh = ELMRegressor(40, random_state=0).fit(Z, y).predict(Z)
    model = ELMRegressor(40, random_state=0)
    for fit_again in (model.fit, lambda Z, y: model.fit_source(ArraySource(Z, y))):
        model.fit(X, y)
        fit_again(Z, y)
        assert model.columns_ is None
        assert not hasattr(model, "feature_names_in_")
        assert_allclose(model.predict(Z), fresh)


def test_kernels_are_selected_for_frames():
    X, y = problem()
    kernels = [Gaussian("median"), Laplacian("median")]
    assert repr(select_kernel(X, y, kernels)) == repr(select_kernel(as_numbers(X), y, kernels))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_missing_numbers_are_medians_and_say_so(model):
    X, y = problem()
    y = targets(model, y)
    gaps = X[["x", "count"]].assign(x=X["x"].where(X.index % 3 > 0))
    mine = clone(model).fit(gaps, y)
    imputer = SimpleImputer(strategy="median", add_indicator=True)
    peer = clone(model).fit(imputer.fit_transform(gaps)[:, [0, 2, 1]], y)
    assert mine.columns_.names == ["x", "x_missing", "count"]
    assert_same(mine, peer, gaps, imputer.transform(gaps)[:, [0, 2, 1]])


# -- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_gaps_in_numbers(model):
    X, y = problem()
    y = targets(model, y)
    gap = X.assign(x=X["x"].where(X.index > 2))
    with pytest.raises(ValueError, match=r"Input X contains NaN.\n.*does not accept missing"):
        clone(model).fit(gap[["x", "count"]].to_numpy(), y)
    model = clone(model).fit(X, y)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.predict(gap)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.predict(X.assign(new=pd.array([None] * len(X), "boolean")))


@pytest.mark.filterwarnings("error")
def test_arrays_where_a_frame_was_learned():
    X, y = problem()
    model = ELMRegressor(20).fit(X, y)
    for other in (as_numbers(X), X.to_numpy(), X["x"]):
        with pytest.raises(ValueError, match="X must be a data frame with the 5 columns 'colour'"):
            model.predict(other)
    with pytest.raises(ValueError, match="X must be a data frame"):
        model.partial_fit(as_numbers(X), y)
    with pytest.raises(ValueError, match="X must be a data frame"):
        model.forget(as_numbers(X), y)


def test_other_columns_that_scikit_learn_does_not_name():
    X, y = problem()
    model = ELMRegressor(20).fit(X.set_axis(range(5), axis=1), y)
    with pytest.raises(ValueError, match=r"columns 0, 1, 2, 3, 4, in this order"):
        model.predict(X.set_axis([1, 0, 2, 3, 4], axis=1))


def test_too_many_levels():
    X, y = problem(300)
    with pytest.raises(ValueError, match="column 'id' has 300 levels"):
        ELMRegressor(20).fit(X.assign(id=[f"row {k}" for k in range(300)]), y)


def test_no_rows_and_unequal_rows():
    X, y = problem()
    model = ELMRegressor(20).fit(X, y)
    for frame in (X[:0], X[["colour"]][:0]):
        with pytest.raises(ValueError, match="0 sample"):
            ELMRegressor(20).fit(frame, y[:0])
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X[:0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ELMRegressor(20).fit(X, y[:-1])
    with pytest.raises(ValueError, match="Input y contains NaN"):
        ELMRegressor(20).fit(X, np.where(y > 0, np.nan, y))
    with pytest.raises(ValueError, match="y is None"):
        ELMRegressor(20).fit(X, None)


def test_a_failed_block_leaves_the_model_as_it_was():
    X, y = problem()
    model = ELMRegressor(20, random_state=0).partial_fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X.assign(x=np.nan), y)
    assert_array_equal(model.predict(X), before)


# -- polars -------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_polars_frames_give_the_same_model(model):
    pl = pytest.importorskip("polars")
    X, y = problem(missing=True)
    y = targets(model, y)
    entries = X.astype(object).where(X.notna(), None)
    frame = pl.DataFrame({name: entries[name].to_list() for name in X}).with_columns(
        pl.col("size").cast(pl.Enum(list(SIZES.categories)))
    )
    mine, peer = clone(model).fit(frame, y), clone(model).fit(X, y)
    assert mine.columns_ == peer.columns_
    assert_array_equal(mine.feature_names_in_, peer.feature_names_in_)
    assert_same(mine, peer, frame, X)
    with pytest.raises(ValueError, match="feature names should match"):
        mine.predict(frame[frame.columns[::-1]])


def test_importances_have_one_entry_a_column_of_the_frame():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=200),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], 200)),
            "noise": rng.normal(size=200),
        }
    )
    y = 2.0 * (frame["colour"] == "red") + 0.1 * frame["x"]
    model = KernelELMRegressor("gaussian", random_state=0).fit(frame, y)
    importances = model.feature_importances_
    assert importances.shape == (3,)
    assert importances.argmax() == 1
