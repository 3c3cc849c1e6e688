"""Input that is wrong, extreme or degenerate."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import oracles
from catalog import KERNELS, rows_for
from kernelm import kernels as km
from kernelm.kernels.distances import MAX_NOISE, squared_distances

every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)
RADIAL = {
    km.Gaussian: "gaussian",
    km.Laplacian: "laplacian",
    km.LaplacianL1: "laplacian_l1",
    km.Matern32: "matern32",
    km.Matern52: "matern52",
    km.Circular: "circular",
    km.Spherical: "spherical",
}


@every_kernel
def test_one_dimensional_rows_are_refused(kernel):
    with pytest.raises(ValueError, match=r"X must be 2-D .* got shape \(3,\); use X.reshape"):
        kernel.gram(np.ones(3))
    with pytest.raises(ValueError, match="Z must be 2-D"):
        kernel.gram(np.ones((2, 3)), np.ones(3))
    with pytest.raises(ValueError, match="X must be 2-D"):
        kernel.diag(5.0)


@every_kernel
def test_different_columns_are_refused(kernel):
    with pytest.raises(ValueError, match="X has 3 features but Z has 2"):
        kernel.gram(np.ones((2, 3)), np.ones((2, 2)))


def test_complex_rows_are_refused():
    with pytest.raises(ValueError, match="X must hold real numbers, got dtype complex128"):
        km.Linear().gram(np.ones((2, 2), complex))


@pytest.mark.parametrize("kernel", [km.ChiSquare(), km.Linear() + km.AdditiveChiSquare()])
def test_chi_square_refuses_negative_rows(kernel):
    good, bad = np.ones((2, 2)), np.array([[1.0, -0.5]])
    for args, name in [((bad,), "X"), ((good, bad), "Z"), ((sparse.csr_matrix(bad), good), "X")]:
        with pytest.raises(ValueError, match=rf"non-negative features, but {name} has -0\.5"):
            kernel.gram(*args)


@pytest.mark.parametrize(
    "make",
    [
        *(lambda kind=kind: kind(scale=0.0) for kind in RADIAL),
        lambda: km.Gaussian(scale=np.inf),
        lambda: km.Gaussian(scale=None),
        lambda: km.Gaussian(scale=True),
        lambda: km.Gaussian.from_gamma(0),
        lambda: km.Linear(offset=-1.0),
        lambda: km.Polynomial(degree=0),
        lambda: km.Polynomial(degree=1.5),
        lambda: km.Polynomial(offset=-1.0),
        lambda: km.Sigmoid(scale=np.nan),
        lambda: km.ChiSquare(gamma=-1.0),
        lambda: km.Linear().power(0),
        lambda: km.Linear().exp(scale=0.0),
        lambda: km.Linear().then(km.GaussianLayer(scale=-1.0)),
        lambda: km.ArcSineLayer(weight_scale=0.0),
    ],
)
def test_bad_parameters_are_refused(make):
    with pytest.raises(ValueError, match=r"must be a .* got "):
        make()


def test_normalizing_a_negative_diagonal_is_refused():
    with pytest.raises(ValueError, match="is not positive semidefinite"):
        km.Sigmoid(offset=-5.0).normalized().gram(np.ones((2, 2)))


@every_kernel
def test_zero_rows_give_finite_similarities(kernel):
    X = np.vstack([rows_for(kernel, n=4), np.zeros((2, rows_for(kernel).shape[1]))])
    K = kernel.gram(X)
    assert np.isfinite(K).all()
    assert_allclose(np.diag(K), kernel.diag(X), rtol=1e-12)
    assert_allclose(kernel.gram(sparse.csr_matrix(X)), K, atol=1e-9 * np.abs(K).max())


@pytest.mark.parametrize("kind", RADIAL)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_radial_kernels_are_right_at_any_size(kind, form, dtype, scale, size):
    """Rows and scale up to 60 orders of magnitude apart; the first and third row are equal."""
    rows = (size * np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 1.0], [0.0, 1.125]])).astype(dtype)
    K = kind(scale).gram(form(rows), form(rows.copy()))
    formula = getattr(oracles, RADIAL[kind])(scale)
    assert K.dtype == dtype
    # Distances from squares keep half the digits of the dtype: √eps near distance 0.
    atol = 4 * np.sqrt(np.finfo(dtype).eps)
    assert_allclose(K, oracles.gram(formula, *2 * [rows.astype(float)]), atol=atol)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_equal_rows_are_alike_however_long_they_are(form):
    rows = np.random.default_rng(0).standard_normal((20, 30))
    for length in 10.0 ** np.arange(0, 13, 2):
        for dtype in (np.float32, np.float64):
            X = form((length * rows).astype(dtype))
            # Rounding of squared lengths of up to MAX_NOISE scales is let through.
            assert_allclose(np.diag(km.Gaussian().gram(X, X.copy())), 1, atol=2 * MAX_NOISE)


def test_distances_far_from_the_origin_do_not_cancel():
    rows = np.random.default_rng(0).standard_normal((20, 3))
    near, far = (
        squared_distances(rows, rows[:5].copy()),
        squared_distances(rows + 1e7, rows[:5] + 1e7),
    )
    assert_allclose(far, near, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_are_never_negative_and_zero_on_the_diagonal(dtype):
    rows = np.repeat(np.random.default_rng(0).normal(3, 1, (40, 50)), 2, axis=0).astype(dtype)
    for X in (rows, sparse.csr_array(rows)):
        assert squared_distances(X).min() == 0
        assert squared_distances(X, X.copy()).min() >= 0
        assert squared_distances(X, sign=-1).max() == 0
        assert_array_equal(np.diag(squared_distances(X)), 0)


def test_csr_rows_are_never_made_dense():
    """Ten million columns: a dense row alone would be 80 MB, and a dense matrix 16 GB."""
    rng = np.random.default_rng(0)
    indices = rng.integers(0, 10**7, (200, 5))
    X = sparse.csr_matrix(
        (rng.random(1000), indices.ravel(), np.arange(0, 1001, 5)), shape=(200, 10**7)
    )
    small = sparse.csr_matrix(
        (X.data, np.unique(indices.ravel(), return_inverse=True)[1], X.indptr)
    )
    for kernel in (km.Gaussian(), km.LaplacianL1(), km.ArcCosine([1, 0]), km.ChiSquare()):
        assert_allclose(kernel.gram(X, X[:50]), kernel.gram(small, small[:50]), rtol=1e-9)


def test_chi_square_adds_up_duplicate_csr_entries_and_leaves_them():
    twice = sparse.csr_matrix((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2])), (1, 3))
    other = np.array([[1.0, 1.0, 0.0]])
    expected = km.ChiSquare().gram(np.array([[0.0, 3.0, 0.0]]), other)
    assert_allclose(km.ChiSquare().gram(twice, other), expected)
    assert twice.nnz == 2


@pytest.mark.parametrize(
    "kernel",
    [km.Linear(), km.Polynomial(degree=3), km.Linear().exp(), km.Linear().power(9)],
    ids=repr,
)
def test_overflow_is_an_error_that_names_the_dtype(kernel):
    with pytest.raises(ValueError, match="overflows float32"):
        kernel.gram(np.full((2, 2), 1e30, np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_layers_take_small_and_large_scales(dtype):
    X = np.array([[1.0, 2.0], [1.0, 2.5]], dtype)
    assert_array_equal(km.Linear().then(km.GaussianLayer(1e-25)).gram(X, X.copy()), np.eye(2))
    assert_array_equal(km.Linear().then(km.GaussianLayer(1e25)).gram(X, X.copy()), np.ones((2, 2)))
    assert_array_equal(km.Linear().exp(1e25).gram(X), np.ones((2, 2)))


def test_lists_integers_and_booleans_are_rows():
    assert_allclose(km.Linear().gram([[1, 2]], [[3, 4]]), [[11.0]])
    assert km.Linear().gram(np.array([[True, False]])).dtype == np.float64


def test_importing_kernels_does_not_import_numba():
    code = "import sys, kernelm.kernels; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
