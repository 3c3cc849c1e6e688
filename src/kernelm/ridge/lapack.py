"""LAPACK that lets other threads run.

SciPy's Python wrappers hold the interpreter's lock while LAPACK works, so workers that factor
matrices of their own would take turns. The same routines are reached here through the pointers
that SciPy offers to compiled code; ctypes lets go of the lock around a call.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cython_blas, cython_lapack  # pyright: ignore[reportAttributeAccessIssue]

_INT, _CHAR, _PLACE = ctypes.POINTER(ctypes.c_int), ctypes.c_char_p, ctypes.c_void_p


@cache
def _routine(name: str, n_arguments: int) -> Any:
    """Return a routine by its name with the letter of its precision, all arguments pointers."""
    module = cython_lapack if name in cython_lapack.__pyx_capi__ else cython_blas
    capsule = module.__pyx_capi__[name]
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))
    return ctypes.CFUNCTYPE(None, *[_PLACE] * n_arguments)(address)


def potrf(S: NDArray) -> int:
    """Replace the upper half of S (Fortran order) by its Cholesky factor; return LAPACK's info."""
    n, info = ctypes.c_int(len(S)), ctypes.c_int()
    call = _routine(f"{_letter(S)}potrf", 5)
    call(_char("U"), _at(n), S.ctypes.data, _at(n), _at(info))
    return info.value


def trtri(U: NDArray) -> int:
    """Replace the upper triangle U (Fortran order) by its inverse; return LAPACK's info."""
    n, info = ctypes.c_int(len(U)), ctypes.c_int()
    call = _routine(f"{_letter(U)}trtri", 6)
    call(_char("U"), _char("N"), _at(n), U.ctypes.data, _at(n), _at(info))
    return info.value


def trsm(U: NDArray, B: NDArray, *, transposed: bool) -> None:
    """Replace B (Fortran order) by U⁻¹B or U⁻ᵀB for an upper triangle U (Fortran order)."""
    real = ctypes.c_float if U.dtype == np.float32 else ctypes.c_double
    n, m, one = ctypes.c_int(len(U)), ctypes.c_int(B.shape[1]), real(1.0)
    call = _routine(f"{_letter(U)}trsm", 11)
    call(
        *(_char("L"), _char("U"), _char("T" if transposed else "N"), _char("N")),
        *(_at(n), _at(m), _at(one), U.ctypes.data, _at(n), B.ctypes.data, _at(n)),
    )


def _letter(A: NDArray) -> str:
    assert A.flags.f_contiguous, "LAPACK works on Fortran order"
    return {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}[A.dtype]


def _char(letter: str) -> Any:
    return ctypes.cast(ctypes.c_char_p(letter.encode()), ctypes.c_void_p)


def _at(value: Any) -> Any:
    return ctypes.cast(ctypes.pointer(value), ctypes.c_void_p)
