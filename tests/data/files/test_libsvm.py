"""LIBSVM text, piece by piece: the rows that scikit-learn loads at once."""

import gzip
import io
import os
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_files

from kernelm.data import Source
from kernelm.data.files import libsvm
from kernelm.data.files.libsvm import open_libsvm

SEPARATORS = st.sampled_from([" ", "\t", "  ", " \t "])
LINE_ENDS = st.sampled_from(["\n", "\r\n", " \n", "\n\n", " # why\n", "#\n", "\n # 1 1:1\n"])
FLOATS = st.floats(-1e308, 1e308)
TOKENS = st.one_of(
    FLOATS.map(repr),
    st.builds("{:.{}{}}".format, FLOATS, st.integers(0, 25), st.sampled_from("eEgG")),
    st.integers(-(10**40), 10**40).map(str),
    st.from_regex(
        r"[+-]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})([eE][+-]?[0-9]{1,2})?", fullmatch=True
    ),
    st.from_regex(r"[1-9][0-9]{15,18}[eE]-?[0-9]{1,3}", fullmatch=True),
).filter(lambda token: abs(float(token)) <= 1e308)

quick = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(autouse=True)
def short_pieces(monkeypatch):
    monkeypatch.setattr(libsvm, "_BYTES", 32)


@pytest.fixture
def opened(tmp_path):
    """Open texts as files."""

    def opened(*texts, **options):
        paths = [tmp_path / f"{k}.svm" for k in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return open_libsvm(paths, **options)

    return opened


def everything(source, rows=7):
    blocks = [read() for read in source.blocks(rows)]
    return sparse.vstack([b.X for b in blocks]).toarray(), np.concatenate([b.y for b in blocks])


@st.composite
def texts(draw):
    """Files of LIBSVM text: rows of several shapes, and at least one entry in each file."""
    first = draw(st.integers(0, 1))
    labels = st.one_of(st.integers(-3, 3).map(str), TOKENS)
    entries = st.dictionaries(st.integers(first, 12), TOKENS, max_size=6)

    def line(entries):
        space = draw(SEPARATORS)
        words = [draw(labels), *(f"{k}:{entries[k]}" for k in sorted(entries))]
        if draw(st.booleans()):
            words.insert(1, "qid:4")
        return space.join(words) + draw(LINE_ENDS)

    def text():
        rows = [*draw(st.lists(entries, max_size=8)), {draw(st.integers(first, 12)): "1"}]
        whole = "".join(map(line, draw(st.permutations(rows))))
        return whole if draw(st.booleans()) else whole.rstrip("\r\n")

    return [text() for _ in range(draw(st.integers(1, 3)))]


# --- the same as scikit-learn --------------------------------------------------------------------


@quick
@given(texts=texts(), rows=st.integers(1, 9))
def test_rows_are_those_that_scikit_learn_loads(texts, rows, opened):
    source = opened(*texts)
    expected = load_svmlight_files([io.BytesIO(text.encode()) for text in texts])
    X, y = everything(source, rows)
    assert_array_equal(X, sparse.vstack(expected[::2]).toarray())
    assert_array_equal(y, np.concatenate(expected[1::2]))
    assert source.n_rows == len(y)


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_scikit_learn_writes_comes_back(zero_based, dtype, tmp_path):
    X = sparse.random_array((50, 20), density=0.3, rng=np.random.default_rng(0)).astype(dtype)
    y = np.arange(50) % 3
    dump_svmlight_file(X, y, str(tmp_path / "x.svm"), zero_based=zero_based)
    source = open_libsvm([tmp_path / "x.svm"], zero_based=zero_based, n_features=20, dtype=dtype)
    got, labels = everything(source)
    assert got.dtype == source.dtype == dtype
    assert_allclose(got, X.toarray(), rtol=1e-15)  # it writes 16 digits
    assert_array_equal(labels, y)
    assert labels.dtype == np.int64


# --- numbers -------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(st.lists(TOKENS, min_size=1, max_size=30))
def test_numbers_are_rounded_as_python_does(tokens):
    limits = libsvm.Limits(1, 1, 1e308)
    rows = libsvm._parsed("".join(f"{t} 1:{t}\n" for t in tokens).encode(), limits).rows
    expected = np.array([float(token) for token in tokens])
    assert_array_equal(rows.values.view(np.int64), expected.view(np.int64))
    assert_array_equal(rows.labels.view(np.int64), expected.view(np.int64))


def test_common_numbers_need_no_help_from_python():
    values = np.random.default_rng(0).standard_normal(10_000) * 10.0 ** (
        np.arange(10_000) % 60 - 30
    )
    for form in ("{:.6g}", "{:.16g}", "{!r}"):
        text = "".join(f"1 1:{form.format(value)}\n" for value in values.tolist())
        parsed = libsvm.parse(np.frombuffer(text.encode(), np.uint8), libsvm.Limits(1, 1, 1e308))
        assert len(parsed.rows.hard) == 0
        assert_array_equal(parsed.rows.values, [float(form.format(v)) for v in values.tolist()])


def test_whole_labels_are_integers_only_if_all_are(opened):
    assert everything(opened("1 1:1\n" * 20, "-0 1:1\n+2e0 1:1"))[1].dtype == np.int64
    assert everything(opened("1 1:1\n" * 20, "0.5 1:1\n"))[1].dtype == np.float64
    assert everything(opened("1e300 1:1\n"))[1].dtype == np.float64


# --- columns -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("zero_based", "text", "expected"),
    [
        ("auto", "1 1:5 2:6\n", [[5, 6]]),
        ("auto", "1 1:5 2:6\n2 0:7\n", [[0, 5, 6], [7, 0, 0]]),
        (True, "1 1:5 2:6\n", [[0, 5, 6]]),
        (False, "1 1:5 2:6\n", [[5, 6]]),
    ],
)
def test_the_first_column_has_index_zero_or_one(zero_based, text, expected, opened):
    assert_array_equal(everything(opened(text, zero_based=zero_based))[0], expected)


def test_an_index_zero_in_the_last_file_counts_for_all(opened):
    assert_array_equal(everything(opened("1 1:5\n" * 20, "1 0:5\n"))[0][[0, -1]], [[0, 5], [5, 0]])


def test_entries_are_sorted(opened):
    tokens = {3: "1e-300", 9: "2", 4: "0.1000000000000000055511151231257827021181583404541016"}
    source = opened("1 " + " ".join(f"{k}:{v}" for k, v in tokens.items()))
    X = source.chunks[0].read().X
    assert_array_equal(X.indices, [2, 3, 8])
    assert_array_equal(X.data, [1e-300, 0.1, 2])


@pytest.mark.parametrize(("top", "index_type"), [(3 * 10**7, np.int32), (2**40, np.int64)])
def test_columns_may_be_many(top, index_type, opened):
    source = opened(f"1 1:1 {top}:2\n" * 5)
    X = source.chunks[0].read().X
    assert source.n_features == X.shape[1] == top
    assert X.indices.dtype == X.indptr.dtype == index_type
    assert_array_equal(X.indices[:2], [0, top - 1])


def test_labels_may_be_all_there_is_if_the_columns_are_known(opened):
    assert_array_equal(everything(opened("1\n2\n", n_features=3))[0], np.zeros((2, 3)))


# --- rows that cannot be read --------------------------------------------------------------------

BAD_LINES = {
    "x 1:1": "a label that is one finite number, got 'x 1:1",
    "1:1 2:2": "a label",
    "nan 1:1": "a label",
    "1e999 1:1": "a label",
    "1,2 1:1": "one label, since rows of several labels are not supported, got '1,2 1:1",
    "1 1:1 junk 2:2": "index:value with a whole number for the index, got 'junk 2:2",
    "1 1.5:1": "index:value",
    "1 -1:1": "index:value",
    "1 :1": "index:value",
    "1 1 :1": "index:value",
    "1 qi": "index:value",
    "1 1:": "a value that is a finite number of at most 1e.308, got '1:",
    "1 1: 2": "a value",
    "1 1:nan": "a value",
    "1 1:-inf": "a value",
    "1 1:1e309": "a value",
    "1 1:1e": "a value",
    "1 1:1_0": "a value",
    "1 1:0x1": "a value",
    "1 1:1.2.3": "a value",
    "1 1:.": "a value",
    "1 1:1 1:2": "every index at most once, got '1:2",
    "1 2:1 1:3 2:2": "every index at most once, got '1 2:1 1:3 2:2",
    "1 8:1": "an index from 0 to 7, got '8:1",
    "1 99999999999999999999999:1": "an index",
    "1 1:" + 100 * "é": r"got '1:" + 38 * "é" + r"\.\.\.'",
    "\xff": "a label",
}
GOOD = "1 1:1 7:2\n"


@pytest.mark.parametrize("line", BAD_LINES, ids=ascii)
@pytest.mark.parametrize("end", ["\n", "\r\n", " # why\n", ""], ids=ascii)
def test_a_bad_line_is_named_or_left_out(line, end, opened):
    texts = [GOOD, 9 * GOOD + "\n# comment\n" + line + end]
    with pytest.raises(ValueError, match=rf"1\.svm, line 12: expected .*{BAD_LINES[line]}"):
        opened(*texts, n_features=7)
    source = opened(*texts, n_features=7, on_error="skip")
    assert (source.n_rows, source.n_skipped) == (10, 1)
    assert_array_equal(everything(source)[0], np.tile([1, 0, 0, 0, 0, 0, 2], (10, 1)))


@quick
@given(
    lines=st.lists(st.sampled_from([*BAD_LINES, GOOD.strip(), "", "# x"]), max_size=30),
    rows=st.integers(1, 9),
)
def test_every_pass_leaves_the_same_rows_out(lines, rows, opened):
    source = opened("\n".join([*lines, GOOD]), n_features=7, on_error="skip")
    assert source.n_skipped == sum(line in BAD_LINES for line in lines)
    for _ in range(2):
        assert len(everything(source, rows)[1]) == source.n_rows


def test_the_columns_of_zero_based_files_are_counted_from_zero(opened):
    texts = ["1 7:1\n2 6:1\n" * 5, "3 0:1\n"]
    with pytest.raises(
        ValueError, match=r"0\.svm, line 1: expected an index from 0 to 6, got '7:1'"
    ):
        opened(*texts, n_features=7)
    source = opened(*texts, n_features=7, on_error="skip")
    assert_array_equal(everything(source)[1], [2, 2, 2, 2, 2, 3])
    assert source.n_skipped == 5
    with pytest.raises(
        ValueError, match=r"1\.svm, line 1: expected an index from 1 to 7, got '0:1'"
    ):
        opened(*texts, n_features=7, zero_based=False)


def test_float32_refuses_what_it_cannot_hold(opened):
    assert everything(opened("1 1:3e38\n", dtype="float32"))[0].dtype == np.float32
    with pytest.raises(ValueError, match=r"a finite number of at most 3.403e\+38, got '1:4e38'"):
        opened("1 1:4e38\n", dtype="float32")


# --- files that cannot be read -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", r"0\.svm: expected at least one row, got none; check"),
        (b"\n# nothing\n", "expected at least one row, got none"),
        (gzip.compress(b"1 1:1\n", mtime=0), r"0\.svm is compressed.*decompress it"),
        (b"\x93NUMPY\x01\x00v\x00", r"0\.svm must be LIBSVM text, got a binary file"),
        ("1 1:1\n".encode("utf-16"), "binary"),
        (b"1\n2\n", "expected index:value in some row, got labels only; give n_features="),
        (b"1 1:1\n1 1:1 2:", r"line 2: expected a value .* got '2:'"),
    ],
)
def test_other_files_are_refused(text, message, opened):
    with pytest.raises(ValueError, match=message):
        opened(text)


def test_rows_that_are_all_left_out_are_counted(opened):
    with pytest.raises(
        ValueError, match=r"0\.svm and 1 more: expected .* got none, and 2 left out"
    ):
        opened("x\n", "y\n", on_error="skip")


def test_there_must_be_files():
    with pytest.raises(ValueError, match="paths must name at least one file"):
        open_libsvm([])


def test_a_line_must_end(opened, monkeypatch):
    monkeypatch.setattr(libsvm, "_LONGEST", 50)
    with pytest.raises(ValueError, match="got a line of more than 50 bytes"):
        opened("1 " + " ".join(f"{k}:1" for k in range(1, 40)))


def test_files_that_change_are_noticed(opened, tmp_path):
    source = opened(GOOD * 20)
    (tmp_path / "0.svm").write_text(GOOD * 10)
    with pytest.raises(ValueError, match=r"0\.svm has changed since it was opened"):
        everything(source)
    (tmp_path / "0.svm").write_text(GOOD.replace("7:2", "8:2") * 20)
    with pytest.raises(ValueError, match="open the files again"):
        everything(source)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_error": "ignore"}, "on_error must be one of"),
        ({"zero_based": "yes"}, "zero_based must be one of"),
        ({"dtype": "int32"}, "dtype must be one of"),
        ({"n_features": 0}, "n_features must be a whole number of at least 1"),
    ],
)
def test_options_are_checked(options, message, opened):
    with pytest.raises(ValueError, match=message):
        opened(GOOD, **options)


# --- a source ------------------------------------------------------------------------------------


def test_pieces_are_short_and_read_in_any_order(opened):
    text = "".join(f"{k} 1:{k} 2:1\n" for k in range(100))
    source = opened(text, text)
    assert len(source.chunks) > 20
    assert isinstance(source, Source)
    blocks = [read() for read in reversed(list(source.blocks(4)))][::-1]
    assert_array_equal(np.hstack([np.asarray(b.y) for b in blocks]), [*range(100), *range(100)])
    assert all(b.start == a.start + a.n for a, b in pairwise(blocks))


def test_identity_tells_files_and_options_apart(opened, tmp_path):
    same = opened(GOOD).identity
    assert open_libsvm([tmp_path / "0.svm"]).identity == same
    assert open_libsvm([tmp_path / "0.svm"], n_features=9).identity != same
    os.utime(tmp_path / "0.svm", ns=(0, 0))
    assert open_libsvm([tmp_path / "0.svm"]).identity != same
