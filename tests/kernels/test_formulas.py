"""Elementary kernels against the textbook and against scikit-learn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import Matern
from sklearn.metrics import pairwise

import oracles
from kernelm import kernels as km

rng = np.random.default_rng(0)
X, Z = rng.standard_normal((9, 4)), rng.standard_normal((6, 4))


def counts(n, seed=0):
    """Counts with many zeros, some of them shared."""
    return np.random.default_rng(seed).poisson(1.0, (n, 5)).astype(float)


FORMULAS = [
    (km.Gaussian(1.7), oracles.gaussian(1.7)),
    (km.Laplacian(1.7), oracles.laplacian(1.7)),
    (km.LaplacianL1(1.7), oracles.laplacian_l1(1.7)),
    (km.Matern32(1.7), oracles.matern32(1.7)),
    (km.Matern52(1.7), oracles.matern52(1.7)),
    (km.Circular(3.0), oracles.circular(3.0)),
    (km.Spherical(3.0), oracles.spherical(3.0)),
    (km.Linear(0.3), oracles.linear(0.3)),
    (km.Polynomial(0.5, 0.3, 3), oracles.polynomial(0.5, 0.3, 3)),
    (km.Polynomial(0.5, 0.0, 1), oracles.polynomial(0.5, 0.0, 1)),
    (km.Polynomial(1.0, 2.0, 7), oracles.polynomial(1.0, 2.0, 7)),
    (km.Sigmoid(0.2, -0.3), oracles.sigmoid(0.2, -0.3)),
    (km.AsymptoticELM(0.6), oracles.asymptotic_elm(0.6)),
]
NON_NEGATIVE = [
    (km.ChiSquare(0.4), oracles.chi_square(0.4)),
    (km.AdditiveChiSquare(), oracles.additive_chi_square),
]


@pytest.mark.parametrize(("kernel", "formula"), FORMULAS, ids=[repr(k) for k, _ in FORMULAS])
def test_gram_is_the_textbook_formula(kernel, formula):
    assert_allclose(kernel.gram(X, Z), oracles.gram(formula, X, Z), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("kernel", "formula"), NON_NEGATIVE, ids=["ChiSquare", "Additive"])
def test_gram_of_counts_is_the_textbook_formula(kernel, formula):
    P, Q = counts(9, seed=1), counts(6, seed=2)
    assert_allclose(kernel.gram(P, Q), oracles.gram(formula, P, Q), rtol=1e-12)


def test_cut_off_kernels_are_zero_beyond_their_scale():
    far = np.array([[0.0, 0.0], [3.0, 0.0], [2.9, 0.0]])
    for kernel in (km.Circular(3.0), km.Spherical(3.0)):
        K = kernel.gram(far[:1], far[1:])
        assert K[0, 0] == pytest.approx(0, abs=1e-15)
        assert K[0, 1] > 1e-4


def test_agrees_with_scikit_learn():
    P, Q = np.abs(X), np.abs(Z)
    pairs = [
        (km.Gaussian.from_gamma(0.3).gram(X, Z), pairwise.rbf_kernel(X, Z, gamma=0.3)),
        (
            km.Polynomial(0.3, 0.7, 4).gram(X, Z),
            pairwise.polynomial_kernel(X, Z, degree=4, gamma=0.3, coef0=0.7),
        ),
        (km.LaplacianL1(1 / 0.3).gram(X, Z), pairwise.laplacian_kernel(X, Z, gamma=0.3)),
        (km.Sigmoid(0.3, 0.1).gram(X, Z), pairwise.sigmoid_kernel(X, Z, gamma=0.3, coef0=0.1)),
        (km.ChiSquare(0.3).gram(P, Q), pairwise.chi2_kernel(P, Q, gamma=0.3)),
        (km.AdditiveChiSquare().gram(P, Q), 1 + 2 * pairwise.additive_chi2_kernel(P, Q)),
        (km.Linear().normalized().gram(X, Z), pairwise.cosine_similarity(X, Z)),
        (km.Laplacian(1.3).gram(X, Z), Matern(1.3, nu=0.5)(X, Z)),
        (km.Matern32(1.3).gram(X, Z), Matern(1.3, nu=1.5)(X, Z)),
        (km.Matern52(1.3).gram(X, Z), Matern(1.3, nu=2.5)(X, Z)),
    ]
    for ours, theirs in pairs:
        assert_allclose(ours, theirs, rtol=1e-9, atol=1e-13)


def test_is_psd_and_domain_say_what_is_known():
    assert not km.Sigmoid().is_psd
    assert not km.AdditiveChiSquare().is_psd
    assert km.Circular().is_psd_in(2)
    assert not km.Circular().is_psd_in(3)
    assert km.Linear().domain == "all real vectors"
    assert km.Circular().domain == "vectors of at most 2 features"
    both = km.ChiSquare() + 2.0 * km.Spherical().normalized()
    assert both.domain == "non-negative vectors of at most 3 features"
    assert both.is_psd
    assert not (both * km.Sigmoid()).is_psd
    assert not km.Sigmoid().power(2).is_psd


def test_what_is_not_claimed_psd_really_is_not():
    """The flags say no more and no less: each False has a witness."""
    assert np.linalg.eigvalsh(km.AdditiveChiSquare().gram(counts(20)))[0] < -1e-3
    assert np.linalg.eigvalsh(km.Sigmoid(1.0, -1.0).gram(X))[0] < -1e-3
    cube = np.stack(np.meshgrid(*[[0.0, 1.0]] * 8), axis=-1).reshape(-1, 8)
    assert np.linalg.eigvalsh(km.Spherical(1.5).gram(cube))[0] < -1e-3
    assert np.linalg.eigvalsh(km.Circular(1.5).gram(cube))[0] < -1e-3


def test_additive_chi_square_is_psd_on_coefficients_that_sum_to_zero():
    H = np.eye(20) - 1 / 20
    eigenvalues = np.linalg.eigvalsh(H @ km.AdditiveChiSquare().gram(counts(20)) @ H)
    assert eigenvalues[0] > -1e-12 * eigenvalues[-1]
