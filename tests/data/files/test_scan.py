"""Rows of files are the rows of the table that was written."""

import csv
import io
import runpy
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from kernelm.data import ArraySource, Source
from kernelm.data.chunks import FileSource
from kernelm.data.files import delimited
from kernelm.data.files import tables as tables_module
from kernelm.data.files._csv_loops import QUOTED, ROW, row_ends
from kernelm.data.files.scan import OPTIONS, scan

N = 100


def frame(n=N, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    numbers = {name: rng.standard_normal(n).astype(dtype) for name in "abc"}
    return pd.DataFrame({**numbers, "w": rng.random(n), "y": np.arange(n)})


def write_parquet(data, path, group=13):
    data.to_parquet(path, row_group_size=group)


def write_arrow(data, path, group=13):
    table = pa.Table.from_pandas(data)
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table, max_chunksize=group)


def write_csv(data, path, group=None):
    data.to_csv(path, index=False)


WRITERS = {"parquet": write_parquet, "arrow": write_arrow, "csv": write_csv}
every_format = pytest.mark.parametrize("suffix", WRITERS)


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr(delimited, "PIECE", 700)


def written(folder, data, suffix="parquet", name="data"):
    path = folder / f"{name}.{suffix}"
    WRITERS[suffix](data, path)
    return path


def text(folder, content, name="data.csv"):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(source, rows=17):
    """All rows of a source: X, y and weight."""
    blocks = [block() for block in source.blocks(rows)]
    y, weight = [b.y for b in blocks], [b.weight for b in blocks]
    return (
        np.concatenate([b.X for b in blocks]),
        None if y[0] is None else np.concatenate(y),
        None if weight[0] is None else np.concatenate(weight),
    )


# --- laws ----------------------------------------------------------------------------------------


@every_format
@pytest.mark.parametrize("rows", [1, 7, 50, 1000])
def test_blocks_are_the_rows_of_the_table(tmp_path, suffix, rows):
    data = frame()
    source = scan(written(tmp_path, data, suffix), "y", weight="w")
    assert isinstance(source, Source)
    assert (source.n_rows, source.n_features, source.dtype) == (N, 3, np.float64)
    assert source.names == ("a", "b", "c")
    blocks = [block() for block in source.blocks(rows)]
    starts = np.cumsum([0, *(b.n for b in blocks)])
    assert [b.start for b in blocks] == list(starts[:-1])
    assert max(b.n for b in blocks) <= rows
    X, y, weight = read(source, rows)
    assert_array_equal(X, data[["a", "b", "c"]])
    assert_array_equal(y, data["y"])
    assert_array_equal(weight, data["w"])
    assert X.flags.c_contiguous
    assert y.dtype == np.int64


@every_format
def test_blocks_are_read_again_out_of_order_and_by_threads(tmp_path, suffix):
    source = scan(written(tmp_path, frame(), suffix), "y")
    X, y, _ = read(source)
    readers = list(source.blocks(5))
    with ThreadPoolExecutor(4) as pool:
        blocks = list(pool.map(lambda block: block(), readers[::-1]))[::-1]
    assert_array_equal(np.concatenate([b.X for b in blocks]), X)
    assert_array_equal(np.concatenate([b.y for b in blocks]), y)


@every_format
def test_many_files_are_one_table(tmp_path, suffix):
    parts = [frame(n, seed=n) for n in (20, 1, 33)]
    for k, part in enumerate(parts):
        written(tmp_path, part, suffix, f"part-{k}")
    (tmp_path / "_SUCCESS").touch()
    whole = pd.concat(parts)
    files = [tmp_path / f"part-{k}.{suffix}" for k in range(3)]
    for paths in (tmp_path, str(tmp_path), tmp_path / f"part-*.{suffix}", files):
        X, y, _ = read(scan(paths, "y", features=["c", "a"]))
        assert_array_equal(X, whole[["c", "a"]])
        assert_array_equal(y, whole["y"])


@every_format
def test_columns_are_found_by_name_in_every_file(tmp_path, suffix):
    data = frame()
    written(tmp_path, data[:50], suffix, "a")
    written(tmp_path, data[50:].assign(more=1)[["y", "more", "c", "w", "b", "a"]], suffix, "b")
    X, y, _ = read(scan(tmp_path, "y"))
    assert_array_equal(X, data[["a", "b", "c", "w"]])
    assert_array_equal(y, data["y"])


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["f4", "f4"], "f4"),
        (["f2", "i2"], "f4"),
        (["u1", "?"], "f4"),
        (["f4", "f8"], "f8"),
        (["f4", "i4"], "f8"),
        (["i8"], "f8"),
    ],
)
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_float32_is_kept_where_it_is_exact(tmp_path, kinds, expected, suffix):
    data = pd.DataFrame({f"x{k}": np.arange(9).astype(kind) for k, kind in enumerate(kinds)})
    if suffix == "parquet":  # pandas and Arrow disagree about float16 in some versions
        pq.write_table(pa.Table.from_pandas(data), tmp_path / "data.parquet")
        path = tmp_path / "data.parquet"
    else:
        path = written(tmp_path, data, suffix)
    source = scan(path)
    X = read(source)[0]
    assert X.dtype == source.dtype == np.dtype(expected)
    assert_array_equal(X, data.astype(float))
    for dtype in ("float32", np.float64):
        assert read(scan(path, dtype=dtype))[0].dtype == dtype


def test_weights_are_never_rounded(tmp_path):
    data = frame(dtype=np.float32)
    X, _, weight = read(scan(written(tmp_path, data), "y", weight="w"))
    assert X.dtype == np.float32
    assert_array_equal(weight, data["w"])


def test_one_file_of_doubles_makes_the_source_double(tmp_path):
    written(tmp_path, frame(dtype=np.float32)[["a"]], name="1")
    written(tmp_path, frame(dtype=np.float64)[["a"]], name="2")
    assert read(scan(tmp_path))[0].dtype == np.float64


def test_several_targets_and_no_target(tmp_path):
    data = frame()
    path = written(tmp_path, data)
    assert_array_equal(read(scan(path, ["y", "w"]))[1], data[["y", "w"]])
    assert read(scan(path, ["y"]))[1].shape == (N, 1)
    assert read(scan(path))[1:] == (None, None)


@every_format
def test_targets_keep_their_type(tmp_path, suffix):
    data = frame()
    labels = {
        "text": np.where(data["a"] > 0, "ja", "nein"),
        "whole": data["y"].astype(float) + 0.0,
        "flag": data["a"].to_numpy() > 0,
        "category": pd.Categorical(np.where(data["b"] > 0, "up", "down")),
    }
    data = data.assign(**labels)
    path = written(tmp_path, data, suffix)
    for name, kind in {"text": "U", "whole": "f", "flag": "b", "category": "U", "y": "i"}.items():
        y = read(scan(path, name, features=["a"]))[1]
        assert y.dtype.kind == kind
        assert_array_equal(y, np.asarray(data[name]))


def test_the_index_of_pandas_is_not_a_feature(tmp_path):
    data = frame()[["a", "b"]]
    data.index = np.arange(N) * 2
    path = tmp_path / "data.parquet"
    data.to_parquet(path)
    assert scan(path).names == ("a", "b")


# --- names ---------------------------------------------------------------------------------------


def trees(n=60):
    kinds = np.array(["oak", "elm", None, "ash"], dtype=object)[np.arange(n) % 4]
    return pd.DataFrame({"height": np.arange(n) / 2, "kind": kinds, "y": np.arange(n)})


@every_format
def test_names_become_frozen_levels(tmp_path, suffix):
    source = scan(written(tmp_path, trees(), suffix), "y")
    assert source.columns.names == ["height", "kind_ash", "kind_elm", "kind_oak", "kind_nan"]
    assert source.n_features == 5
    X, _, _ = read(source)
    assert_array_equal(X, source.columns.encode(trees()[["height", "kind"]]))


@every_format
def test_levels_that_come_later_are_rows_of_zeros(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(tables_module, "SAMPLE", 10)
    monkeypatch.setattr(tables_module, "_PARTS", 1)
    monkeypatch.setattr(delimited, "PIECE", 200)
    late = trees(200)
    late.loc[150:, "kind"] = "yew"
    source = scan(written(tmp_path, late, suffix), "y")
    X, _, _ = read(source)
    assert "kind_yew" not in source.columns.names
    assert not X[150:, 1:].any()


def test_categories_and_booleans_with_gaps_are_names(tmp_path):
    data = pd.DataFrame(
        {
            "code": pd.Categorical([3, 1, 3, None]),
            "full": [True, False, True, True],
            "gaps": [True, None, False, True],
        }
    )
    source = scan(written(tmp_path, data, "arrow"))  # Parquet has categories of text only
    assert source.columns.levels == ((1, 3, None), None, (False, True, None))
    assert_array_equal(read(source)[0], source.columns.encode(data))


def test_booleans_of_text_are_numbers(tmp_path):
    source = scan(text(tmp_path, "a,b\ntrue,1\nfalse,2\n"))
    assert source.columns is None
    assert_array_equal(read(source)[0], [[1, 1], [0, 2]])


def test_dates_are_refused_with_advice(tmp_path):
    data = frame().assign(day=pd.Timestamp("2020-01-01"))
    for suffix in WRITERS:
        path = written(tmp_path, data, suffix)
        with pytest.raises(ValueError, match="column 'day' must hold numbers or names"):
            scan(path, "y")
        assert scan(path, "y", features=["a"]).n_features == 1


# --- rows that are left out ----------------------------------------------------------------------


@every_format
@pytest.mark.parametrize("column", ["a", "w", "y"])
def test_gaps_are_named_or_skipped(tmp_path, suffix, column):
    data = frame().astype({"y": float})
    data.loc[[31, 77], column] = np.nan
    path = written(tmp_path, data, suffix)
    source = scan(path, "y", weight="w")
    with pytest.raises(ValueError, match=rf"{path}.*row 31 .*column '{column}' is missing"):
        read(source)
    source = scan(path, "y", weight="w", on_error="skip")
    assert (source.n_rows, source.n_skipped) == (N - 2, 2)
    X, _, weight = read(source)
    left = data.dropna()
    assert_array_equal(X, left[["a", "b", "c"]])
    assert_array_equal(weight, left["w"])


@every_format
def test_missing_labels_are_named_or_skipped(tmp_path, suffix):
    path = written(tmp_path, trees(), suffix)
    with pytest.raises(ValueError, match=r"row 2 .*column 'kind' is missing"):
        read(scan(path, "kind"))
    source = scan(path, "kind", on_error="skip")
    assert (source.n_rows, source.n_skipped) == (45, 15)
    assert_array_equal(read(source)[1][:3], ["oak", "elm", "ash"])


@every_format
def test_filters_choose_rows_before_faults_count(tmp_path, suffix):
    data = frame()
    data.loc[3, "b"] = np.nan
    path = written(tmp_path, data, suffix)
    kept = data[(data["y"] >= 20) & (data["a"] > 0)]
    both = [("y", ">=", 20), ("a", ">", 0.0)]
    for where in (both, [both], (pc.field("y") >= 20) & (pc.field("a") > 0)):
        source = scan(path, "w", features=["b"], where=where)
        assert (source.n_rows, source.n_skipped) == (len(kept), 0)
        X, y, _ = read(source)
        assert_array_equal(X, kept[["b"]])
        assert_array_equal(y, kept["w"])
    data.loc[kept.index[2], "b"] = np.inf
    path = written(tmp_path, data, suffix, "second")
    with pytest.raises(ValueError, match=f"row {kept.index[2]} .*column 'b'"):
        read(scan(path, "w", features=["b"], where=both))
    assert scan(path, "w", features=["b"], where=both, on_error="skip").n_skipped == 1


def test_filters_see_columns_before_they_become_floats(tmp_path):
    data = pd.DataFrame({"id": [2**53, 2**53 + 1], "flag": [True, False]})
    path = written(tmp_path, data)
    assert scan(path, where=[("id", "==", 2**53 + 1)], dtype="float32").n_rows == 1
    assert_array_equal(read(scan(path, where=[("flag", "==", True)]))[0][:, 1], [1])


@pytest.mark.parametrize(
    "where", [[("nope", ">", 3)], [("a", "~", 3)], [("a", ">")], "a > 3", [("a", ">", "x")], 7]
)
def test_filters_that_make_no_sense_are_refused(tmp_path, where):
    with pytest.raises(ValueError, match=r"where=.*cannot be used"):
        scan(written(tmp_path, frame()), "y", where=where)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_types_of_later_files_are_converted_or_refused(tmp_path, suffix):
    written(tmp_path, pd.DataFrame({"a": [1, 2], "y": [0, 1]}), suffix, "1")
    path = written(tmp_path, pd.DataFrame({"a": ["3.5", "x"], "y": [True, False]}), suffix, "2")
    with pytest.raises(ValueError, match=rf"{path}, (row group|record batch) 0, row 1 .*numbers"):
        read(scan(tmp_path, "y"))
    source = scan(tmp_path, "y", on_error="skip")
    assert source.n_skipped == 1
    X, y, _ = read(source)
    assert_array_equal(X, [[1], [2], [3.5]])
    assert_array_equal(y, [0, 1, 1])


def test_types_that_cannot_be_converted_leave_the_whole_chunk_out(tmp_path):
    written(tmp_path, pd.DataFrame({"a": [1.0, 2.0]}), name="1")
    pq.write_table(pa.table({"a": [[1], [2], [3]]}), tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"2\.parquet, row group 0, row 0 .*numbers.*\[1\]"):
        read(scan(tmp_path))
    assert scan(tmp_path, on_error="skip").n_skipped == 3


# --- text ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "end", "blank"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("piece", [1, 7, 700])
def test_text_of_every_dialect(tmp_path, monkeypatch, end, last, bom, piece):
    monkeypatch.setattr(delimited, "PIECE", piece)
    lines = ['"a",kind,y', '1,"two\nlines",0', '-2.5e0,"say ""hi"", then",1', " 3 ,5 feet,2"]
    tail = {"": "", "end": end, "blank": 3 * end}[last]
    source = scan(text(tmp_path, bom + end.join(lines) + tail), "kind")
    assert source.names == ("a", "y")
    assert source.n_rows == 3
    X, y, _ = read(source)
    assert_array_equal(X, [[1, 0], [-2.5, 1], [3, 2]])
    assert_array_equal(y, ["two\nlines", 'say "hi", then', "5 feet"])


def test_quotes_inside_an_entry_do_not_count(tmp_path):
    source = scan(text(tmp_path, 'a,kind\n1,5" pipe\n2,x\n3,4" pipe\n'), "kind")
    assert_array_equal(read(source)[1], ['5" pipe', "x", '4" pipe'])


@given(
    st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.text()), min_size=1),
    st.sampled_from([1, 5, 64, 4096]),
)
def test_any_text_comes_back(tmp_path_factory, rows, piece):
    rows = [(x, f"<{name}>".replace("\0", "")) for x, name in rows]  # never a missing one
    rows = [(x, name.encode("utf-8", "ignore").decode()) for x, name in rows]
    path = tmp_path_factory.mktemp("odd") / "data.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("x", "name"), *rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "PIECE", piece)
        source = scan(path, "name")
    assert source.n_rows == len(rows)
    X, y, _ = read(source, 3)
    assert_array_equal(X[:, 0], [x for x, _ in rows])
    assert y.tolist() == [name for _, name in rows]


@given(st.text(alphabet='",\n\r a', max_size=40), st.integers(0, 40))
def test_rows_end_where_arrow_ends_them(content, cut):
    parts = [np.frombuffer(part.encode(), np.uint8) for part in (content[:cut], content[cut:])]
    state, first, _ = row_ends(parts[0], ROW, ord(","), -1)
    state, second, _ = row_ends(parts[1], state, ord(","), -1)
    assume(content and state != QUOTED)
    wrong = []
    options = pa.csv.ParseOptions(invalid_row_handler=lambda row: wrong.append(row) or "skip")
    names = pa.csv.ReadOptions(column_names=["a", "b"], use_threads=False)
    table = pa.csv.read_csv(io.BytesIO(content.encode()), names, options)
    assert first + second + (state != ROW) == table.num_rows + len(wrong)


def test_types_are_frozen_on_the_first_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "HEAD", 40)
    lines = [f"{k},{k}" for k in range(40)]
    lines[33] = "x33,33"
    lines[35] = "35.5, 35"
    path = text(tmp_path, "\n".join(["a,y", *lines]))
    with pytest.raises(ValueError, match=r"row 33 .*column 'a' must hold numbers.*'x33'"):
        read(scan(path, "y"))
    source = scan(path, "y", on_error="skip")
    assert (source.n_rows, source.n_skipped) == (39, 1)
    X, y, _ = read(source)
    assert X[34, 0] == 35.5
    assert_array_equal(y, [k for k in range(40) if k != 33])
    lines[33] = "33,1.5"  # targets are whole numbers, and are not rounded
    with pytest.raises(ValueError, match=r"row 33 .*column 'y' must hold int64"):
        read(scan(text(tmp_path, "\n".join(["a,y", *lines])), "y"))


def test_rows_of_the_wrong_length_are_named_or_skipped(tmp_path):
    lines = [f"{k},{k}" for k in range(300)]
    lines[250] = "1,2,3"
    lines[260] = "1"
    path = text(tmp_path, "\n".join(["a,y", *lines]))
    with pytest.raises(ValueError, match=r"row 250 .*must have 2 entries.*got 3"):
        read(scan(path, "y"))
    source = scan(path, "y", on_error="skip")
    assert (source.n_rows, source.n_skipped) == (298, 2)
    assert_array_equal(read(source)[1], [k for k in range(300) if k not in (250, 260)])


def test_only_wrong_rows_leave_nothing(tmp_path):
    with pytest.raises(ValueError, match=r"no row is left; 2 were damaged"):
        scan(text(tmp_path, "a,y\n1\n1,2,3\n"), "y", on_error="skip")


def test_text_that_is_not_utf8_is_refused_or_skipped(tmp_path):
    path = text(tmp_path, b"a,kind\n1,x\n2,caf\xe9\n3,y\n")
    with pytest.raises(ValueError, match=r"row 1 .*column 'kind'"):
        read(scan(path, "kind"))
    source = scan(path, "kind", on_error="skip")
    assert_array_equal(read(source)[1], ["x", "y"])
    with pytest.raises(ValueError, match="UTF-16"):
        scan(text(tmp_path, "a,b\n1,2\n".encode("utf-16")))


def test_delimiters(tmp_path):
    assert_array_equal(read(scan(text(tmp_path, "a\tb\n1\t2\n", "x.tsv")))[0], [[1, 2]])
    path = text(tmp_path, "a;b\n1;2\n", "notes.txt")
    assert_array_equal(read(scan(path, format="csv", delimiter=";"))[0], [[1, 2]])
    with pytest.raises(ValueError, match="delimiter must be one ASCII character"):
        scan(path, format="csv", delimiter="--")


def test_files_with_a_header_only_are_no_rows(tmp_path):
    header = text(tmp_path, "a,y\n", "1.csv")
    with pytest.raises(ValueError, match="there are no rows"):
        scan(header)
    text(tmp_path, "a,y\n1,p\n", "2.csv")
    assert_array_equal(read(scan(tmp_path, "y"))[1], ["p"])
    assert scan(tmp_path).columns.names == ["a", "y_p"]


def test_open_quotes_are_found(tmp_path, monkeypatch):
    path = text(tmp_path, 'a,b\n1,2\n3,"4\n5,6\n')
    with pytest.raises(ValueError, match=r"row 1 .*opens a quote"):
        scan(path)
    monkeypatch.setattr(delimited, "LONGEST_ROW", 2000)
    path = text(tmp_path, 'a,b\n1,2\n3,"4' + 900 * "\n5,6")
    with pytest.raises(ValueError, match=r"row 1 .*no end within 2000 bytes"):
        scan(path)


# --- arrays --------------------------------------------------------------------------------------


def test_arrays_with_targets_beside_or_inside(tmp_path):
    X = np.random.default_rng(0).standard_normal((50, 4)).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", np.arange(50))
    beside = scan(tmp_path / "X.npy", tmp_path / "y.npy")
    assert isinstance(beside, ArraySource)
    assert isinstance(beside.X, np.memmap)
    assert_array_equal(read(beside)[1], np.arange(50))
    inside = scan(tmp_path / "X.npy", 2)
    assert isinstance(inside, FileSource)
    assert inside.dtype == np.float32
    assert inside.identity
    assert_array_equal(read(inside)[0], X[:, [0, 1, 3]])
    assert_array_equal(read(inside)[1], X[:, 2])
    assert_array_equal(read(scan(tmp_path / "X.npy"))[0], X)


@pytest.mark.parametrize(
    ("array", "target", "message"),
    [
        (np.zeros(3), None, r"must hold a matrix of numbers, got shape \(3,\)"),
        (np.array([["a"]]), None, "must hold a matrix of numbers"),
        (np.zeros((0, 3)), None, "there are no rows"),
        (np.zeros((3, 2)), 2, "a column from 0 to 1 or the path"),
        (np.zeros((3, 2)), 1.5, "a column from 0 to 1 or the path"),
        (np.zeros((3, 2)), "y.npy", "a target for each of the 3 rows"),
        (np.array([[{}]], dtype=object), None, "cannot be read"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(tmp_path, monkeypatch, array, target, message):
    monkeypatch.chdir(tmp_path)
    np.save("X.npy", array)
    np.save("y.npy", np.zeros(7))
    with pytest.raises(ValueError, match=message):
        scan("X.npy", target)


def test_several_arrays_are_refused(tmp_path):
    for name in "ab":
        np.save(tmp_path / f"{name}.npy", np.zeros((3, 2)))
    with pytest.raises(ValueError, match="read alone, got 2"):
        scan(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no file .*y\.npy"):
        scan(tmp_path / "a.npy", tmp_path / "y.npy")


# --- the door ------------------------------------------------------------------------------------


def test_files_that_are_not_there(tmp_path):
    for path in ("no.parquet", "no-*.parquet"):
        with pytest.raises(FileNotFoundError, match="no file"):
            scan(tmp_path / path)
    (tmp_path / "notes.md").touch()
    with pytest.raises(FileNotFoundError, match="holds no file that ends in"):
        scan(tmp_path)
    with pytest.raises(ValueError, match="at least one file"):
        scan([])


def test_formats_are_told_by_names_or_by_format(tmp_path):
    path = tmp_path / "data.bin"
    frame().to_parquet(path)
    with pytest.raises(ValueError, match=r"format of .*data\.bin is not known"):
        scan(path)
    assert scan(path, "y", format="parquet").n_rows == N
    with pytest.raises(ValueError, match="format must be parquet or arrow or"):
        scan(path, format="xls")
    written(tmp_path, frame(), "csv")
    written(tmp_path, frame(), "parquet")
    with pytest.raises(ValueError, match="different formats"):
        scan(tmp_path / "data.[cp]*")
    with pytest.raises(ValueError, match="named twice"):
        scan([tmp_path / "data.csv", tmp_path / "*.csv"])
    for path in (text(tmp_path, b"", "data.csv.gz"), tmp_path):
        with pytest.raises(ValueError, match=r"compressed.*decompress it, or convert"):
            scan(path)


def test_sparse_text_is_read_by_its_own_module(tmp_path):
    source = scan(text(tmp_path, "1 1:2 3:4\n0 2:5\n", "rows.libsvm"), n_features=5)
    block = next(source.blocks(10))()
    assert_array_equal(block.X.toarray(), [[2, 0, 4, 0, 0], [0, 5, 0, 0, 0]])
    assert_array_equal(block.y, [1, 0])
    with pytest.raises(ValueError, match="libsvm files have no use for target"):
        scan(tmp_path, "y")


def test_names_with_brackets_are_names(tmp_path):
    assert scan(written(tmp_path, frame(), name="a[1]"), "y").n_rows == N


@every_format
@pytest.mark.parametrize("size", [0, 1, 50])
def test_damaged_files_are_named(tmp_path, suffix, size):
    path = written(tmp_path, frame(), suffix)
    path.write_bytes(path.read_bytes()[:size] if suffix != "csv" else b"" * size)
    with pytest.raises(ValueError, match=rf"{path} (cannot be read|is empty)"):
        scan(path, "y")


def test_damaged_row_groups_are_named(tmp_path):
    path = written(tmp_path, frame())
    content = bytearray(path.read_bytes())
    content[4:400] = 396 * b"\xff"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"{path}, row group 0, cannot be read"):
        read(scan(path, "y"))


def test_files_that_change_are_noticed(tmp_path):
    path = text(tmp_path, "a,b\n1,2\n3,4\n")
    source = scan(path)
    path.write_text("a,b\n100,2\n\n")
    with pytest.raises(ValueError, match="has changed since it was opened: 1 rows where 2"):
        read(source)


@every_format
def test_tables_without_rows_are_refused(tmp_path, suffix):
    with pytest.raises(ValueError, match=r"data.*: there are no rows"):
        scan(written(tmp_path, frame(0), suffix), "y")
    with pytest.raises(ValueError, match=r"data.*: no row is left"):
        scan(written(tmp_path, frame(), suffix), "y", where=[("a", ">", 99.0)])


@every_format
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "age_"}, "no column 'age_', which target asks for; did you mean 'age'"),
        ({"target": "zzz"}, "no column 'zzz', which target asks for; it has 'age', 'b'"),
        ({"target": "age", "features": ["age", "b"]}, "'age' is in features and in target"),
        ({"target": "age", "weight": "age"}, "'age' is in target and in weight"),
        ({"target": ["age", "age"]}, "'age' is in target and in target"),
        ({"features": ["q"]}, "no column 'q', which features asks for"),
        ({"features": []}, "features must be made of names"),
        ({"target": 3}, "target must be made of names of columns, got 3"),
        ({"weight": "kind"}, "column 'kind' of .* must hold numbers"),
        ({"on_error": "ignore"}, "on_error must be 'raise' or 'skip', got 'ignore'"),
        ({"dtype": "int32"}, "dtype must be 'float32' or 'float64'"),
        ({"n_features": 3}, "files have no use for n_features"),
    ],
)
def test_columns_that_make_no_sense_are_refused(tmp_path, suffix, options, message):
    data = pd.DataFrame({"age": [1.0], "b": [2.0], "kind": ["x"]})
    with pytest.raises(ValueError, match=message):
        scan(written(tmp_path, data, suffix), **options)


@every_format
def test_a_column_missing_in_a_later_file_is_named(tmp_path, suffix):
    written(tmp_path, frame(), suffix, "1")
    path = written(tmp_path, frame().drop(columns="b"), suffix, "2")
    with pytest.raises(ValueError, match=f"{path} has no column 'b', which features"):
        scan(tmp_path, "y")


def test_repeated_names_are_refused(tmp_path):
    table = pa.Table.from_arrays([pa.array([1])] * 2, names=["a", "a"])
    pq.write_table(table, tmp_path / "x.parquet")
    for path in (tmp_path / "x.parquet", text(tmp_path, "a,b,a\n1,2,3\n")):
        with pytest.raises(ValueError, match="several columns named 'a'"):
            scan(path)


def test_columns_of_lists_are_refused(tmp_path):
    pq.write_table(pa.table({"a": [[1, 2]], "b": [1]}), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"column 'a' of .* must hold numbers or names"):
        scan(tmp_path)
    assert scan(tmp_path, features=["b"]).n_rows == 1


def test_identity_changes_with_files_and_choices(tmp_path):
    path = written(tmp_path, frame())
    first = scan(path, "y").identity
    assert scan(path, "y").identity == first
    others = [
        scan(path, "y", features=["a"]),
        scan(path, "y", where=[("a", ">", 0.0)]),
        scan(path, "w"),
    ]
    write_parquet(frame(seed=1), path)
    identities = {first, scan(path, "y").identity, *(source.identity for source in others)}
    assert len(identities) == 5


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "kernelm.data.files.arrow")
    with pytest.raises(ImportError, match=r"pip install kernelm\[files\]"):
        runpy.run_module("kernelm.data.files.arrow")


def test_every_format_has_its_options():
    assert set(OPTIONS) == {"parquet", "arrow", "csv", "npy", "libsvm"}
