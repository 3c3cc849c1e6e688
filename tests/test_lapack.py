"""Routines of LAPACK by either way to reach them, against NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelm import _lapack


@pytest.fixture(params=["numpy", "scipy"])
def library(request, monkeypatch):
    """NumPy's own library where it shows its routines, and SciPy's."""
    if request.param == "scipy":
        monkeypatch.setattr(_lapack, "_numpys_library", lambda: None)
    _lapack._routine.cache_clear()
    yield request.param
    _lapack._routine.cache_clear()


@pytest.fixture(params=[np.float32, np.float64], ids=["float32", "float64"])
def S(request):
    F = np.random.default_rng(0).normal(size=(60, 37))
    return np.asfortranarray(F.T @ F + np.eye(37), request.param)


def triangle(S):
    return np.asfortranarray(np.linalg.cholesky(S.astype(np.float64)).T.astype(S.dtype))


def close(found, expected, dtype):
    assert_allclose(found, expected, atol=2000 * np.finfo(dtype).eps, rtol=0)


def test_cholesky_factor(library, S):
    U = S.copy(order="F")
    assert _lapack.potrf(U) == 0
    close(np.triu(U).T @ np.triu(U), S, S.dtype)
    assert (np.tril(U, -1) == np.tril(S, -1)).all()


def test_cholesky_factor_says_where_it_failed(library, S):
    S[20, 20] = -1.0
    assert _lapack.potrf(S) == 21


def test_inverse_of_a_triangle(library, S):
    U = triangle(S)
    inverse = U.copy(order="F")
    assert _lapack.trtri(inverse) == 0
    close(inverse @ U, np.eye(len(U)), S.dtype)


def test_inverse_from_a_factor(library, S):
    inverse = triangle(S)
    assert _lapack.potri(inverse) == 0
    upper = np.triu(inverse)
    close((upper + np.triu(upper, 1).T) @ S, np.eye(len(S)), S.dtype)


def test_square_of_a_triangle(library, S):
    U = triangle(S)
    square = U.copy(order="F")
    assert _lapack.lauum(square) == 0
    close(np.triu(square), np.triu(U @ U.T), S.dtype)


@pytest.mark.parametrize("transposed", [False, True])
def test_solutions_with_a_triangle(library, S, transposed):
    U = triangle(S)
    B = np.asfortranarray(np.random.default_rng(1).normal(size=(len(U), 5)), S.dtype)
    X = B.copy(order="F")
    _lapack.trsm(U, X, transposed=transposed)
    close((U.T if transposed else U) @ X, B, S.dtype)


def test_numpys_routine_is_taken_where_it_is_shown():
    found = _lapack._of_numpy("dpotrf", 5)
    assert found is None or _lapack._routine("dpotrf", 5).call is found.call
