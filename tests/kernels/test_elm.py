"""Kernels of random layers: the finite one tends to the infinite one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelm.kernels import ArcCosine, AsymptoticELM, ELMKernel

X = np.random.default_rng(0).standard_normal((8, 3))


def error(n_units, weight_scale, seeds=range(20)):
    limit = AsymptoticELM(weight_scale).gram(X)
    gaps = [ELMKernel(n_units, "erf", weight_scale, seed).gram(X) - limit for seed in seeds]
    return np.sqrt(np.mean(np.square(gaps)))


@pytest.mark.parametrize("weight_scale", [0.5, 1.0, 5.0])
def test_finite_tends_to_asymptotic_as_one_over_root_p(weight_scale):
    units = np.array([50, 200, 800, 3200])
    slope = np.polyfit(np.log(units), np.log([error(p, weight_scale) for p in units]), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.1)


def test_relu_units_tend_to_arc_cosine_of_degree_one():
    """With a bias, the rows get a one: k_1 = 2 E[relu relu]."""
    limit = ArcCosine([1]).gram(np.hstack([X, np.ones((8, 1))]))
    gram = 2 * ELMKernel(200_000, "relu").gram(X)
    # Relative error of a mean of products of half-normal variables: a few 1/√p.
    assert np.abs(gram - limit).max() < 10 / np.sqrt(200_000) * limit.max()


def test_large_weights_have_a_limit():
    a, b = (AsymptoticELM(s).gram(X, X[::-1]) for s in (1e3, 1e6))
    assert_allclose(a, b, atol=1e-3)
    assert np.isfinite(b).all()


def test_the_seed_decides():
    one, two = ELMKernel(50, seed=1), ELMKernel(50, seed=2)
    assert_allclose(one.gram(X), ELMKernel(50, seed=1).gram(X), rtol=0)
    assert np.abs(one.gram(X) - two.gram(X)).max() > 1e-3


def test_fourier_units_make_a_constant_diagonal():
    assert_allclose(ELMKernel(100, "fourier").diag(X), 0.5)


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="activation must be one of"):
        ELMKernel(activation="cube")
    with pytest.raises(ValueError, match="n_units"):
        ELMKernel(n_units=0)
    with pytest.raises(ValueError, match="weight_scale"):
        AsymptoticELM(weight_scale=-1)
