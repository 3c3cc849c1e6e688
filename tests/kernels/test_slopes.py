"""Slopes of kernels along the inputs: formulas beside differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from catalog import KERNELS
from kernelm.kernels import (
    ArcCosine,
    AsymptoticELM,
    Gaussian,
    GaussianLayer,
    Laplacian,
    LaplacianL1,
    Linear,
    Matern32,
    Polynomial,
)
from kernelm.kernels.slopes import has_plane, squared_slopes

rng = np.random.default_rng(0)
X, Z, W = rng.standard_normal((6, 4)), rng.standard_normal((9, 4)), rng.standard_normal((9, 3))
PLANAR = [kernel for kernel in KERNELS if has_plane(kernel)]


def by_differences(kernel, X, Z, W, step=1e-5):
    total = np.zeros(X.shape)
    for j in range(X.shape[1]):
        e = step * np.eye(X.shape[1])[j]
        total[:, j] = (((kernel.gram(X + e, Z) - kernel.gram(X - e, Z)) @ W / (2 * step)) ** 2).sum(
            axis=1
        )
    return total


@pytest.mark.parametrize("kernel", PLANAR, ids=repr)
def test_formulas_are_the_differences(kernel):
    expected = by_differences(kernel, X, Z, W)
    assert_allclose(squared_slopes(kernel, X, Z, W), expected, rtol=1e-4, atol=1e-6)
    assert_allclose(
        squared_slopes(kernel, X, sparse.csr_array(Z), W), expected, rtol=1e-4, atol=1e-6
    )


def test_a_formula_is_there_for_what_sees_only_products_and_lengths():
    deep = ArcCosine([1, 2], normalize=True) * Matern32(2.0) + 0.5 * Gaussian().then(
        GaussianLayer()
    )
    assert has_plane(deep + AsymptoticELM() + Polynomial() + 1.0)
    assert not has_plane(deep + LaplacianL1())
    assert len(PLANAR) > len(KERNELS) / 2
    assert_allclose(
        squared_slopes(deep, X, Z, W), by_differences(deep, X, Z, W), rtol=1e-4, atol=1e-6
    )


@pytest.mark.parametrize("kernel", [Laplacian(2.0), Matern32(), ArcCosine([1]), ArcCosine([0])])
def test_the_slope_to_an_equal_row_is_that_of_both_sides(kernel):
    expected = by_differences(kernel, X, X, W[:6], step=1e-6)
    assert_allclose(squared_slopes(kernel, X, X, W[:6]), expected, rtol=1e-2, atol=1e-3)


def test_rows_of_zeros_have_finite_slopes():
    zero = np.zeros((1, 4))
    for kernel in PLANAR:
        assert np.isfinite(
            squared_slopes(kernel, zero, np.vstack([zero, Z]), np.ones((10, 1)))
        ).all()


def test_a_dot_product_has_its_weights_as_slopes():
    expected = np.tile(((Z.T @ W) ** 2).sum(axis=1), (6, 1))
    assert_allclose(squared_slopes(Linear(), X, Z, W), expected, rtol=1e-12)
