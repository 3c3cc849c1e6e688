"""LAPACK in the library of NumPy's products, without the interpreter's lock.

Two libraries with threads of their own do not take turns well: workers of the one go on waiting,
busily, for a tenth of a second after a product, on the cores that the other wants. On two cores a
Cholesky factor of 1,000 rows then takes ten times as long. NumPy's own linear algebra has no
triangular inverses and solves, so their routines are looked up in the library that NumPy is linked
with; where it does not show them, those of SciPy serve.

Either way ctypes lets go of the interpreter's lock, which SciPy's wrappers hold: workers factor
matrices of their own side by side.
"""

from __future__ import annotations

import ctypes
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cython_blas, cython_lapack  # pyright: ignore[reportAttributeAccessIssue]

_PLACE = ctypes.c_void_p


class _Routine(NamedTuple):
    """A routine whose arguments are all pointers, and the integers that it wants."""

    call: Any
    integer: Any


def potrf(S: NDArray) -> int:
    """Replace the upper half of S (Fortran order) by its Cholesky factor; return LAPACK's info."""
    return _in_place("potrf", S, b"U")


def potri(U: NDArray) -> int:
    """Replace the upper Cholesky factor U by the upper half of the inverse; return the info."""
    return _in_place("potri", U, b"U")


def trtri(U: NDArray) -> int:
    """Replace the upper triangle U (Fortran order) by its inverse; return LAPACK's info."""
    return _in_place("trtri", U, b"U", b"N")


def lauum(U: NDArray) -> int:
    """Replace the upper triangle U (Fortran order) by the upper half of UUᵀ; return the info."""
    return _in_place("lauum", U, b"U")


def trsm(U: NDArray, B: NDArray, *, transposed: bool) -> None:
    """Replace B (Fortran order) by U⁻¹B or U⁻ᵀB for an upper triangle U (Fortran order)."""
    routine = _routine(_letter(U) + "trsm", 11)
    real = ctypes.c_float if U.dtype == np.float32 else ctypes.c_double
    n, m, one = routine.integer(len(U)), routine.integer(B.shape[1]), real(1.0)
    letters = (b"L", b"U", b"T" if transposed else b"N", b"N")
    routine.call(
        *letters, *map(ctypes.byref, (n, m, one)), U.ctypes.data, ctypes.byref(n),
        B.ctypes.data, ctypes.byref(n),
    )  # fmt: skip


def _in_place(name: str, A: NDArray, *letters: bytes) -> int:
    routine = _routine(_letter(A) + name, len(letters) + 4)
    n, info = routine.integer(len(A)), routine.integer()
    routine.call(*letters, ctypes.byref(n), A.ctypes.data, ctypes.byref(n), ctypes.byref(info))
    return info.value


@cache
def _routine(name: str, n_arguments: int) -> _Routine:
    """Return a routine by its name with the letter of its precision."""
    return _of_numpy(name, n_arguments) or _of_scipy(name, n_arguments)


def _of_numpy(name: str, n_arguments: int) -> _Routine | None:
    """Return the routine of NumPy's library, whose wheels mark integers of 64 bits in the name."""
    library = _numpys_library()
    call = None if library is None else getattr(library, f"scipy_{name}_64_", None)
    if call is None:
        return None
    call.argtypes, call.restype = [_PLACE] * n_arguments, None
    return _Routine(call, ctypes.c_int64)


def _of_scipy(name: str, n_arguments: int) -> _Routine:
    """Return the routine that SciPy offers to compiled code."""
    module = cython_lapack if name in cython_lapack.__pyx_capi__ else cython_blas
    capsule = module.__pyx_capi__[name]
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))
    return _Routine(ctypes.CFUNCTYPE(None, *[_PLACE] * n_arguments)(address), ctypes.c_int)


@cache
def _numpys_library() -> ctypes.CDLL | None:
    """Return NumPy's linear algebra with all that it is linked with."""
    try:
        return ctypes.CDLL(import_module("numpy.linalg._umath_linalg").__file__)
    except (ImportError, OSError):
        return None


def _letter(A: NDArray) -> str:
    assert A.flags.f_contiguous, "LAPACK works on Fortran order"
    return {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}[A.dtype]
