"""Any nest of plain values, arrays and kernels comes back as it was."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from catalog import KERNELS
from kernelm import Status
from kernelm.kernels import ELMKernel, Gaussian, Kernel
from kernelm.ridge import Weights
from kernelm.store import seeds
from kernelm.store.codec import decode, encode
from kernelm.store.graph import DEPTH
from kernelm.store.registry import classes

dtypes = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    hnp.complex_number_dtypes(endianness="?", sizes=(64, 128)),
    hnp.unicode_string_dtypes(endianness="?"),
    hnp.byte_string_dtypes(),
    hnp.datetime64_dtypes(),
)
arrays = hnp.arrays(dtypes, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
orders = st.sampled_from([lambda a: a, np.asfortranarray, lambda a: a.T, lambda a: a[..., ::2]])
laid_out = st.builds(lambda a, order: order(a) if a.ndim else a, arrays, orders)
repeated = st.builds(lambda v, shape: np.broadcast_to(v, shape), st.floats(), hnp.array_shapes())
scalars = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.complex_numbers()),
    *(st.text(), st.binary(), st.sampled_from(Status), st.sampled_from(KERNELS)),
    st.builds(np.float32, st.floats(width=32)),
    st.builds(np.str_, st.text()),
    st.builds(np.int64, st.integers(-(2**63), 2**63 - 1)),
)
keys = st.one_of(st.none(), st.integers(), st.text(), st.floats(allow_nan=False), st.binary())
small = st.integers(-5, 5)
values = st.recursive(
    scalars | laid_out | repeated,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(keys, inner, max_size=4),
        st.sets(keys, max_size=4),
        st.frozensets(keys, max_size=4),
        st.builds(slice, small, small, small),
        st.lists(inner, min_size=1, max_size=4).map(lambda v: as_objects(v)),
        st.builds(Weights, laid_out, laid_out),
    ),
    max_leaves=12,
)


def as_objects(items):
    a = np.empty(len(items), object)
    a[:] = [None] * len(items)
    for i, item in enumerate(items):
        a[i] = item
    return a


def same(a, b):
    """Whether two values are the same to the last bit, types and memory order included."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            return False
        if a.dtype == object:
            return all(map(same, a.ravel().tolist(), b.ravel().tolist()))
        ordered = b.flags.f_contiguous or not a.flags.f_contiguous
        return ordered and a.tobytes() == b.tobytes()
    if isinstance(a, np.generic):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, float):
        return a.hex() == b.hex()
    if isinstance(a, complex):
        return same(a.real, b.real) and same(a.imag, b.imag)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    return a == b


@settings(max_examples=100, deadline=None)
@given(values)
def test_values_come_back_as_they_were(value):
    nodes, tensors = encode([value])
    assert same([value], decode(nodes, tensors))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernels_come_back_equal(kernel):
    back = decode(*encode([kernel]))[0]
    assert back == kernel
    assert repr(back) == repr(kernel)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("shape", [(4, 7), (0, 5), (3, 0)])
def test_sparse_rows_keep_class_and_index_type(make, index, shape):
    X = make(sparse.random(*shape, density=0.5, format="csr", random_state=0))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    back = decode(*encode([X]))[0]
    assert type(back) is type(X)
    assert back.shape == X.shape
    assert back.indices.dtype == index
    assert (back != X).nnz == 0
    assert back.astype(np.float64)[: shape[0] // 2].shape == (shape[0] // 2, shape[1])


def test_what_is_shared_stays_shared_and_is_stored_once():
    rows = np.arange(1000.0)
    nodes, tensors = encode({"a": rows, "b": (rows, [rows])})
    assert len(tensors) == 1
    back = decode(nodes, tensors)
    assert back["a"] is back["b"][0] is back["b"][1][0]
    back["a"][0] = 5.0  # and can be changed in place
    assert back["b"][0][0] == 5.0


def test_repeated_entries_take_no_space():
    ones = np.broadcast_to(1.0, 10**9)
    nodes, tensors = encode([ones])
    assert sum(t.nbytes for t in tensors.values()) == 8
    assert decode(nodes, tensors)[0].strides == (0,)


def test_circles_are_refused():
    circle = []
    circle.append({"again": circle})
    with pytest.raises(ValueError, match="contains itself"):
        encode(circle)


def test_nesting_has_a_limit_that_both_sides_know():
    value = 1.5
    for _ in range(DEPTH):
        value = [value]
    assert same(value, decode(*encode(value)))
    with pytest.raises(ValueError, match="nested deeper"):
        encode([value])


@dataclass(frozen=True)
class Mine(Kernel):
    def _gram(self, X, Z):
        return np.ones((len(X), len(X if Z is None else Z)))

    def _diag(self, X):
        return np.ones(len(X))


@pytest.mark.parametrize(
    "foreign", [Mine(), math.sin, np.tanh, lambda x: x, Mine, object(), np, np.float64(1).dtype]
)
def test_what_is_not_ours_is_refused(foreign):
    with pytest.raises(ValueError, match=r"entry.* of dict is"):
        encode({"entry": foreign})


def test_no_class_that_touches_files_can_be_named():
    assert not [name for name in classes() if name.startswith(("data.files", "data.check", "app"))]
    assert Gaussian in classes().values()


# --- seeds ---------------------------------------------------------------------------------------


def test_a_seed_that_gives_other_weights_is_refused(monkeypatch):
    nodes, tensors = encode([ELMKernel(30, seed=4)])
    draw = seeds.draw
    monkeypatch.setattr(seeds, "draw", lambda *a, **k: draw(*a, **k | {"seed": 5}))
    with pytest.raises(ValueError, match="random weights of seed 4"):
        decode(nodes, tensors)


def test_a_seed_that_differs_by_rounding_is_accepted(monkeypatch):
    nodes, tensors = encode([ELMKernel(30, seed=4)])
    draw = seeds.draw

    def rounded(*args, **options):
        W, b = draw(*args, **options)
        return W * (1 + 1e-12), b

    monkeypatch.setattr(seeds, "draw", rounded)
    assert decode(nodes, tensors) == [ELMKernel(30, seed=4)]
