"""Kernels from kernels: sums, products, multiples, layers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from catalog import REAL_KERNELS, rows_for
from kernelm import kernels as km

rng = np.random.default_rng(0)
X, Z = rng.standard_normal((9, 2)), rng.standard_normal((6, 2))

leaves = st.sampled_from(REAL_KERNELS)
# No multiples near the smallest float: there products keep few digits.
factors = st.just(0.0) | st.floats(0.001, 10)
seeds = st.integers(0, 2**32 - 1)


@given(a=leaves, b=leaves, c=factors, seed=seeds, n=st.integers(1, 6), m=st.integers(1, 6))
def test_entries_of_a_tree_are_the_tree_of_entries(a, b, c, seed, n, m):
    X, Z = rows_for(a, n, 2, seed), rows_for(a, m, 2, seed + 1)
    A, B = a.gram(X, Z), b.gram(X, Z)
    for tree, entries in [
        (a + b, A + B),
        (a * b, A * B),
        (c * a, c * A),
        (a * c, c * A),
        (a + c, A + c),
        (c + a, A + c),
        (c * (a + b), c * a.gram(X, Z) + (c * b).gram(X, Z)),
        ((a + b) * a, (a * a + b * a).gram(X, Z)),
    ]:
        assert_allclose(tree.gram(X, Z), entries, rtol=1e-12, atol=1e-12 * np.abs(entries).max())


@given(tree=st.recursive(leaves, lambda k: st.one_of(
    st.builds(lambda a, b: a + b, k, k),
    st.builds(lambda a, b: a * b, k, k),
    st.builds(lambda c, a: c * a, factors, k),
    st.builds(lambda c, a: a + c, factors, k),
    st.builds(lambda a: a.normalized().power(2), k),
    st.builds(lambda a: a.then(km.PolynomialLayer(), km.GaussianLayer(2.0)), k),
), max_leaves=6))  # fmt: skip
def test_repr_of_any_tree_evaluates_to_the_tree(tree):
    assert eval(repr(tree), vars(km) | {"np": np}) == tree


def test_sum_with_itself_is_twice_the_kernel():
    k = km.Gaussian()
    assert_allclose((k + k).gram(X, Z), (2 * k).gram(X, Z), rtol=1e-15)


def test_python_sum_adds_kernels():
    assert sum([km.Linear(), km.Gaussian()]) == km.Linear() + km.Gaussian()


def test_numpy_scalars_are_numbers():
    assert np.float64(0.5) * km.Linear() == 0.5 * km.Linear()
    assert np.float32(0.5) + km.Linear() == km.Linear() + 0.5


@pytest.mark.parametrize("kernel", [k for k in REAL_KERNELS if k.is_psd], ids=repr)
def test_normalized_has_unit_diagonal_and_is_idempotent(kernel):
    once = kernel.normalized()
    assert_allclose(once.diag(X), 1, rtol=0)
    assert np.abs(once.gram(X, Z)).max() <= 1
    assert_allclose(once.normalized().gram(X, Z), once.gram(X, Z), rtol=1e-12, atol=1e-15)


def test_layers_are_functions_of_entries():
    K, xx, zz = km.Linear().gram(X, Z), np.sum(X**2, 1)[:, None], np.sum(Z**2, 1)
    for kernel, expected in [
        (km.Linear().exp(scale=2.0), np.exp(K / 4)),
        (km.Linear().power(1), K),
        (km.Linear().power(5), K**5),
        (km.Linear().power(6), K**6),
        (km.Linear().normalized(), K / np.sqrt(xx * zz)),
        (km.Linear().then(km.PolynomialLayer(0.5, 0.2, 3)), (0.5 * K + 0.2) ** 3),
        (km.Linear().then(km.GaussianLayer(1.5)), km.Gaussian(1.5).gram(X, Z)),
    ]:
        assert_allclose(kernel.gram(X, Z), expected, rtol=1e-10, atol=1e-13)


def test_two_layer_polynomial_without_offset_is_one_of_the_squared_degree():
    for p in (2, 3):
        deep = km.Polynomial(offset=0.0, degree=p).then(km.PolynomialLayer(offset=0.0, degree=p))
        flat = km.Polynomial(offset=0.0, degree=p**2)
        assert_allclose(deep.gram(X, Z), flat.gram(X, Z), rtol=1e-12)


def test_two_layer_gaussian_is_an_exponential_of_the_first():
    gamma = 0.7
    inner = km.Gaussian.from_gamma(gamma)
    deep = inner.then(km.GaussianLayer(scale=1 / np.sqrt(2 * gamma)))
    assert_allclose(deep.gram(X, Z), np.exp(-2 * gamma * (1 - inner.gram(X, Z))), rtol=1e-12)


def test_a_stack_on_a_stack_is_one_stack():
    k = km.Linear().normalized().power(2).then(km.ArcCosineLayer(0), km.ArcCosineLayer(1))
    assert isinstance(k, km.Stacked)
    assert k.base == km.Linear()
    assert len(k.layers) == 4
    assert km.Stacked(km.Linear().normalized(), [km.Power(2)]) == km.Linear().normalized().power(2)
    assert km.Linear().then() == km.Linear()


def test_repr_reads_like_the_formula():
    k = (0.5 * km.Gaussian(2.0) + 1.0) * km.Linear().power(2)
    assert repr(k) == "(0.5 * Gaussian(scale=2.0) + 1.0) * Linear(offset=0.0).power(2)"
    assert repr(km.Gaussian().normalized()) == "Gaussian(scale=1.0).normalized()"


@pytest.mark.parametrize("make", [lambda k: -1.0 * k, lambda k: k + (-0.5), lambda k: k * np.nan])
def test_negative_or_missing_factors_are_refused(make):
    with pytest.raises(ValueError, match="must be a finite number of at least 0, got"):
        make(km.Gaussian())


def test_other_types_are_refused():
    with pytest.raises(TypeError):
        km.Gaussian() + "k"
    with pytest.raises(TypeError):
        km.Gaussian() * [1.0]
    with pytest.raises(TypeError, match="must be a Kernel"):
        km.Sum(km.Gaussian(), 3.0)
    with pytest.raises(TypeError, match="must be a Layer"):
        km.Gaussian().then(km.Gaussian())
