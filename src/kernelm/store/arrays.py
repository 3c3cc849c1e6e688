"""Arrays, sparse matrices, NumPy's scalars and random generators, as nodes and tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.random import MT19937, PCG64, Generator, RandomState
from numpy.typing import NDArray
from scipy import sparse

from kernelm.store.graph import Kind, Reader, Writer

_KINDS = "biufcSUmM"  # letters of the dtypes that hold no objects
_LAST_CHARACTER = 0x10FFFF
_SPARSE = {cls.__name__: cls for cls in (sparse.csr_matrix, sparse.csr_array)}
_BITS = {cls.__name__: cls for cls in (MT19937, PCG64)}


# --- arrays ----------------------------------------------------------------------------------


def _is_array(value: Any) -> bool:
    return type(value) in (np.ndarray, np.memmap) and value.dtype.kind in _KINDS


def _write_array(a: NDArray, path: str, writer: Writer) -> dict[str, Any]:
    content: dict[str, Any] = {}
    repeated = [stride == 0 and n > 1 for stride, n in zip(a.strides, a.shape, strict=True)]
    if any(repeated):
        content["repeated"] = a.shape
        a = a[tuple(slice(1) if again else slice(None) for again in repeated)]
    if a.flags.f_contiguous and not a.flags.c_contiguous:
        content["transposed"] = True  # BLAS rounds differently for another order
        a = a.T
    a = np.asarray(a, order="C")
    if not _is_direct(a.dtype):
        content |= {"dtype": a.dtype.str, "shape": a.shape}
        a = a.reshape(-1).view(np.uint8)
    return content | {"tensor": writer.tensor(a, path)}


def _read_array(content: Any, reader: Reader) -> NDArray:
    a = reader.tensor(content["tensor"])
    if "dtype" in content:
        a = a.view(_dtype(content["dtype"])).reshape(_shape(content["shape"]))
    _check_entries(a)
    if content.get("transposed"):
        a = a.T
    return np.broadcast_to(a, _shape(content["repeated"])) if "repeated" in content else a


def _is_direct(dtype: np.dtype[Any]) -> bool:
    """Whether tensors of the file can have the dtype."""
    return dtype.kind in "biuf" and dtype.itemsize <= 8 and dtype.isnative


def _dtype(text: Any) -> np.dtype[Any]:
    dtype = np.dtype(text) if isinstance(text, str) else np.dtype("V")
    if dtype.kind not in _KINDS or not dtype.itemsize or dtype.str != text:
        raise ValueError(f"an array of dtype {str(text)[:40]!r}")
    return dtype


def _shape(shape: Any) -> tuple[int, ...]:
    if not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"an array of shape {str(shape)[:40]}")
    return tuple(shape)


def _check_entries(a: NDArray) -> None:
    """Refuse bytes that are no entry of their dtype."""
    if a.dtype.kind == "U" and a.size:
        codes = np.ascontiguousarray(a).reshape(-1).view(a.dtype.byteorder + "u4")
        if codes.max() > _LAST_CHARACTER:
            raise ValueError("text that is not Unicode")
    if a.dtype.kind == "b" and a.size and a.view(np.uint8).max() > 1:
        raise ValueError("truth values that are neither 0 nor 1")


def _is_object_array(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype.kind == "O"


def _write_objects(a: NDArray, path: str, writer: Writer) -> list[Any]:
    return [a.shape, writer.items(a.ravel(), path)]


def _read_objects(content: Any, reader: Reader) -> NDArray:
    shape, items = _shape(content[0]), reader.items(content[1])
    if math.prod(shape) != len(items):
        raise ValueError(f"{len(items)} entries of an array of shape {shape}")
    a = np.empty(len(items), object)
    for i, item in enumerate(items):  # one by one: NumPy would open up sequences
        a[i] = item
    return a.reshape(shape)


# --- sparse matrices -------------------------------------------------------------------------


def _write_sparse(X: Any, path: str, writer: Writer) -> list[Any]:
    parts = [writer.value(getattr(X, n), f"{path}.{n}") for n in ("data", "indices", "indptr")]
    return [type(X).__name__, X.shape, *parts]


def _read_sparse(content: Any, reader: Reader) -> Any:
    name, shape, *parts = content
    shape, (data, indices, indptr) = _shape(shape), reader.items(parts)
    if len(shape) != 2 or indptr.shape != (shape[0] + 1,) or data.shape != indices.shape:
        raise ValueError(f"a sparse matrix of shape {shape}")
    X = _SPARSE[name]((0, shape[1]))
    X._shape = shape
    X.data, X.indices, X.indptr = data, indices, indptr  # as they are: a constructor would cast
    X.check_format(full_check=True)
    return X


# --- scalars and generators ------------------------------------------------------------------


def _is_scalar(value: Any) -> bool:
    return isinstance(value, np.generic) and value.dtype.kind in _KINDS


def _write_scalar(value: np.generic, path: str, writer: Writer) -> list[str]:
    if isinstance(value, np.str_):
        return ["str", str(value)]
    return [value.dtype.str, value.tobytes().hex()]


def _read_scalar(content: Any, reader: Reader) -> np.generic:
    dtype, text = content
    if dtype == "str" and isinstance(text, str):
        return np.str_(text)
    (value,) = np.frombuffer(bytes.fromhex(text), _dtype(dtype))
    return value


def _is_generator(value: Any) -> bool:
    if type(value) is RandomState:
        return True
    return type(value) is Generator and type(value.bit_generator) in _BITS.values()


def _write_generator(value: Any, path: str, writer: Writer) -> list[Any]:
    whole = isinstance(value, RandomState)
    state = value.get_state(legacy=False) if whole else value.bit_generator.state
    return [type(value).__name__, writer.value(state, path)]


def _read_generator(content: Any, reader: Reader) -> Any:
    name, state = content[0], reader.value(content[1])
    bits = _BITS[state["bit_generator"]](0)
    if isinstance(bits, MT19937):
        key, at = state["state"]["key"], state["state"]["pos"]
        # NumPy reads there without looking.
        if key.shape != (624,) or key.dtype != np.uint32 or not 0 <= at <= 624:
            raise ValueError("a random generator in an impossible state")
    if name == "RandomState":
        generator = RandomState(bits)
        generator.set_state(state)
        return generator
    bits.state = state
    return Generator(bits)


ARRAYS = (
    Kind("array", _is_array, _write_array, _read_array),
    Kind("objects", _is_object_array, _write_objects, _read_objects),
    Kind("sparse", lambda v: type(v) in _SPARSE.values(), _write_sparse, _read_sparse),
    Kind("scalar", _is_scalar, _write_scalar, _read_scalar),
    Kind("random", _is_generator, _write_generator, _read_generator),
)
