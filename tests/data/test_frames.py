"""Names in data frames become columns of zeros and ones, frozen."""

import copy
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.preprocessing import OneHotEncoder

from kernelm.data.frames import MAX_LEVELS, FrameColumns, as_numbers

#: Ways to hold the same names.
NAME_DTYPES = [object, "str", "string", "category"]

names = st.lists(st.sampled_from(["red", "blue", "", "nan", "10", "9", "é"]), min_size=1)


def numbers_only():
    return pd.DataFrame(
        {
            "float": [0.5, 1.5],
            "int": [1, 2],
            "bool": [True, False],
            "nullable": pd.array([True, False], "boolean"),
            "objects": np.array([1, 2.5], object),
            "decimals": np.array([Decimal(1), Decimal(2)], object),
        }
    )


def names_and_numbers(colours=("red", "blue", "red"), dtype=object):
    return pd.DataFrame(
        {
            "size": np.arange(len(colours)) + 0.5,
            "colour": pd.Series(list(colours), dtype=dtype),
            "new": [k % 2 == 0 for k in range(len(colours))],
        }
    )


# -- laws ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", NAME_DTYPES)
@settings(max_examples=25, deadline=None)
@given(first=names, later=names)
def test_it_is_scikit_learns_one_hot_encoder(first, later, dtype):
    frame = pd.DataFrame({"colour": pd.Series(first, dtype=dtype)})
    new = pd.DataFrame({"colour": pd.Series(later, dtype=dtype)})
    peer = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    peer.fit(frame.astype(object))
    columns = FrameColumns.of(frame)
    assert_array_equal(columns.encode(new), peer.transform(new.astype(object)))
    assert columns.names == list(peer.get_feature_names_out())


@settings(max_examples=25, deadline=None)
@given(
    entries=st.lists(st.sampled_from(["a", "b", 1, 2.5, None, np.nan, pd.NA, True]), min_size=1),
    seed=st.integers(0, 9),
)
def test_the_order_of_the_rows_does_not_matter(entries, seed):
    frame = pd.DataFrame({"x": pd.Series([*entries, "a"], dtype=object), "y": 1.0})
    rows = np.random.default_rng(seed).permutation(len(frame))
    whole, shuffled = FrameColumns.of(frame), FrameColumns.of(frame.iloc[rows])
    Z = whole.encode(frame)
    assert_array_equal(Z[rows], shuffled.encode(frame.iloc[rows]))
    assert_array_equal(Z[:, :-1].sum(axis=1), 1)  # every row has one level, missing or not
    assert Z.shape[1] == len(whole.names)


def test_columns_stay_in_the_order_of_the_frame():
    columns = FrameColumns.of(names_and_numbers())
    assert columns.names == ["size", "colour_blue", "colour_red", "new"]
    assert_array_equal(
        columns.encode(names_and_numbers()),
        [[0.5, 0, 1, 1], [1.5, 1, 0, 0], [2.5, 0, 1, 1]],
    )


@pytest.mark.parametrize("dtype", NAME_DTYPES)
def test_how_names_are_stored_does_not_matter(dtype):
    columns = FrameColumns.of(names_and_numbers())
    assert FrameColumns.of(names_and_numbers(dtype=dtype)) == columns
    frame = names_and_numbers(["blue", "green", None], dtype)
    assert_array_equal(columns.encode(frame)[:, 1:3], [[1, 0], [0, 0], [0, 0]])


@pytest.mark.parametrize("again", [copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))])
def test_copies_are_equal(again):
    columns = FrameColumns.of(names_and_numbers(["red", None, "blue"]))
    assert again(columns) == columns
    assert FrameColumns.of(names_and_numbers(["red", "green", "blue"])) != columns


# -- which columns, which levels ----------------------------------------------------------------


def test_frames_of_numbers_and_other_things_are_left_alone():
    for X in (numbers_only(), np.eye(2), sparse.eye_array(2), [["a"]], np.array([["a"]], object)):
        assert FrameColumns.of(X) is None
        assert as_numbers(X) is X


def test_numbers_beside_names_remain_one_column():
    frame = numbers_only().assign(colour=["red", "blue"])
    columns = FrameColumns.of(frame)
    assert columns.names == [*numbers_only().columns, "colour_blue", "colour_red"]
    assert_array_equal(columns.encode(frame)[:, :6], numbers_only().astype(float))


def test_declared_categories_are_levels_in_their_order_seen_or_not():
    dtype = pd.CategoricalDtype(["small", "large", "huge"])
    columns = FrameColumns.of(names_and_numbers(["small", "small"], dtype))
    assert columns.names[1:4] == ["colour_small", "colour_large", "colour_huge"]
    assert_array_equal(columns.encode(names_and_numbers(["huge"]))[:, 1:4], [[0, 0, 1]])


def test_numbers_declared_to_be_categories_are_levels():
    frame = pd.DataFrame({"code": pd.Series([10, 9, 10], dtype="category")})
    columns = FrameColumns.of(frame)
    assert columns.names == ["code_9", "code_10"]
    assert_array_equal(columns.encode(frame), [[0, 1], [1, 0], [0, 1]])
    assert_array_equal(columns.encode(frame.astype(int)), columns.encode(frame))


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA])
@pytest.mark.parametrize("dtype", NAME_DTYPES)
def test_missing_names_are_a_level_if_there_are_any(dtype, gap):
    frame = names_and_numbers(["red", gap], dtype)
    columns = FrameColumns.of(frame)
    assert columns.names[1:3] == ["colour_red", "colour_nan"]
    assert_array_equal(columns.encode(frame)[:, 1:3], np.eye(2))
    never = FrameColumns.of(names_and_numbers(["red", "red"], dtype))
    assert_array_equal(never.encode(frame)[:, 1:2], [[1], [0]])


@pytest.mark.parametrize("dtype", [object, "boolean"])
def test_missing_booleans_make_three_levels(dtype):
    frame = pd.DataFrame({"x": pd.Series([True, None, False], dtype=dtype)})
    columns = FrameColumns.of(frame)
    assert columns.names == ["x_False", "x_True", "x_nan"]
    assert_array_equal(columns.encode(frame), np.eye(3)[[1, 2, 0]])


def test_a_nullable_boolean_has_both_levels_even_if_one_was_seen():
    frame = pd.DataFrame({"x": pd.Series([True, None], dtype="boolean")})
    assert FrameColumns.of(frame).names == ["x_False", "x_True", "x_nan"]


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (["float32"], "float32"),
        (["float32", "float32"], "float32"),
        (["float32", "float64"], "float64"),
        (["int64"], "float64"),
        ([], "float64"),
    ],
)
def test_single_precision_stays_where_all_numbers_have_it(numbers, expected):
    frame = pd.DataFrame({"colour": ["red", "blue"]})
    for k, dtype in enumerate(numbers):
        frame[f"number {k}"] = np.ones(2, dtype)
    assert as_numbers(frame).dtype == expected


def test_gaps_in_numbers_are_the_median_of_the_first_frame():
    frame = names_and_numbers(["red"] * 4).assign(size=pd.array([1, None, 3, 7], "Int64"))
    columns = FrameColumns.of(frame)
    assert columns.names[:2] == ["size", "size_missing"]
    assert_array_equal(columns.encode(frame)[:, :2], [[1, 0], [3, 1], [3, 0], [7, 0]])
    assert_array_equal(columns.encode(frame[1:2])[:, :2], [[3, 1]])
    assert_array_equal(columns.summed(np.arange(4.0)), [1, 2, 3])


def test_gaps_that_only_later_frames_have_stay_gaps():
    columns = FrameColumns.of(names_and_numbers())
    later = names_and_numbers().assign(size=[1.0, np.nan, 3.0])
    assert_array_equal(columns.encode(later)[:, 0], [1, np.nan, 3])
    empty = FrameColumns.of(names_and_numbers().assign(size=np.nan))
    assert empty.names[0] == "size"
    assert np.isnan(empty.encode(names_and_numbers().assign(size=np.nan))[:, 0]).all()


def test_repeated_and_unusual_names_of_columns():
    frame = pd.DataFrame([["a", 1.0, "b"], ["c", 2.0, "b"]])
    frame[1] = frame[1].astype(float)
    frame.columns = [0, ("x", 1), 0]
    assert FrameColumns.of(frame).names == ["0_a", "0_c", "('x', 1)", "0_b"]
    assert_array_equal(as_numbers(frame), [[1, 0, 1, 1], [0, 1, 2, 1]])


def test_no_rows_are_no_rows():
    columns = FrameColumns.of(names_and_numbers())
    assert columns.encode(names_and_numbers()[:0]).shape == (0, 4)


# -- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("declare", [False, True])
def test_too_many_levels(declare):
    def frame(n):
        many = [f"level {k}" for k in range(n)]
        if declare:
            return pd.DataFrame({"id": pd.Categorical(many[:1], many)})
        return pd.DataFrame({"id": many})

    assert len(FrameColumns.of(frame(MAX_LEVELS)).names) == MAX_LEVELS
    with pytest.raises(ValueError, match=r"'id' has 256 levels, and at most 255.*TargetEncoder"):
        FrameColumns.of(frame(MAX_LEVELS + 1))


@pytest.mark.parametrize("X", [np.ones((2, 3)), [[1, "red", True]], sparse.eye_array(3)])
def test_rows_without_names(X):
    columns = FrameColumns.of(names_and_numbers())
    with pytest.raises(ValueError, match="data frame with the 3 columns 'size', 'colour', 'new'"):
        columns.encode(X)


def test_other_columns():
    columns = FrameColumns.of(names_and_numbers())
    for frame in (names_and_numbers()[["colour", "size", "new"]], names_and_numbers().iloc[:, :2]):
        with pytest.raises(ValueError, match="in this order; got"):
            columns.encode(frame)


def test_dates_beside_names():
    for when in (pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-01", tz="UTC"), pd.Timedelta(1)):
        with pytest.raises(
            ValueError, match=r"'when' must hold numbers or names, got .*days since"
        ):
            FrameColumns.of(names_and_numbers().assign(when=when))


def test_entries_that_cannot_be_levels():
    frame = names_and_numbers(["red", "blue"])
    tags = frame.assign(colour=[["a"], ["b"]])
    with pytest.raises(ValueError, match="'colour' must hold numbers or names"):
        FrameColumns.of(tags)
    with pytest.raises(ValueError, match="'colour' must hold numbers or names"):
        FrameColumns.of(frame).encode(tags)


# -- polars -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pl():
    return pytest.importorskip("polars")


def test_polars_frames_are_encoded_alike(pl):
    data = {"size": [0.5, 1.5, 2.5], "colour": ["red", None, "blue"], "new": [True, False, True]}
    frame, peer = pl.DataFrame(data), pd.DataFrame(data)
    columns = FrameColumns.of(frame)
    assert columns == FrameColumns.of(peer)
    assert_array_equal(columns.encode(frame), columns.encode(peer))
    as_categories = frame.with_columns(pl.col("colour").cast(pl.Categorical))
    assert FrameColumns.of(as_categories) == columns
    assert_array_equal(columns.encode(as_categories), columns.encode(peer))


def test_polars_enums_declare_their_levels(pl):
    dtype = pl.Enum(["small", "large", "huge"])
    frame = pl.DataFrame({"size": pl.Series(["small", "large"], dtype=dtype)})
    assert FrameColumns.of(frame).names == ["size_small", "size_large", "size_huge"]


def test_polars_numbers_booleans_and_dates(pl):
    frame = pl.DataFrame({"a": [1.0, 2.0], "b": [True, False], "c": [1, 2]})
    assert FrameColumns.of(frame) is None
    assert FrameColumns.of(frame.with_columns(a=pl.Series([None, 2.0]))).fills == (2.0, None, None)
    gaps = frame.with_columns(b=pl.Series([True, None]))
    assert FrameColumns.of(gaps).names == ["a", "b_False", "b_True", "b_nan", "c"]
    dated = gaps.with_columns(when=pl.lit("2020-01-01").str.to_date())
    with pytest.raises(ValueError, match="'when' must hold numbers or names, got Date"):
        FrameColumns.of(dated)
