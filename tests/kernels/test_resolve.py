"""Scales taken from data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial.distance import pdist

from kernelm import kernels as km
from kernelm.kernels.widths import MAX_ROWS, width

X = np.random.default_rng(0).standard_normal((30, 3))

RADIAL = [
    km.Gaussian, km.Laplacian, km.LaplacianL1, km.Matern32, km.Matern52, km.Circular, km.Spherical,
]  # fmt: skip


@pytest.mark.parametrize("kind", RADIAL)
@pytest.mark.parametrize("what", ["mean", "median"])
def test_scale_is_the_mean_or_median_of_distances(kind, what):
    metric = "cityblock" if kind is km.LaplacianL1 else "euclidean"
    expected = getattr(np, what)(pdist(X, metric))
    assert kind(what).resolve(X).scale == pytest.approx(expected, rel=1e-12)
    assert kind(f"0.5 * {what}").resolve(X).scale == pytest.approx(expected / 2, rel=1e-12)


@pytest.mark.parametrize("rule", ["mean", "median"])
@pytest.mark.parametrize("metric", ["euclidean", "l1"])
@given(counts=arrays(int, 12, elements=st.integers(0, 4)), seed=st.integers(0, 1000))
def test_weights_are_repetition(rule, metric, counts, seed):
    X = np.random.default_rng(seed).normal(5.0, 1.0, (12, 2)).round(1)  # ties and equal rows
    weighted = width(X, rule, metric, sample_weight=counts)
    assert weighted == pytest.approx(width(np.repeat(X, counts, axis=0), rule, metric), rel=1e-9)
    assert weighted == pytest.approx(width(X, rule, metric, 7.5 * counts), rel=1e-9)


@pytest.mark.parametrize("rule", ["mean", "median", "3*mean"])
def test_degenerate_rows_give_scale_one(rule):
    assert km.Gaussian(rule).resolve(np.full((5, 2), 3.3)).scale == 1.0
    assert km.Gaussian(rule).resolve(X[:1]).scale == 1.0
    assert km.Gaussian(rule).resolve(X, sample_weight=np.eye(30)[3]).scale == 1.0
    assert km.LaplacianL1(rule).resolve(sparse.csr_array(np.full((5, 2), 3.3))).scale == 1.0


def test_many_rows_are_sampled_with_the_seed():
    rows = np.random.default_rng(1).standard_normal((5 * MAX_ROWS, 2))
    a, b, c = (km.Gaussian("mean").resolve(rows, random_state=s).scale for s in (0, 0, 1))
    assert a == b != c
    # The mean distance of normal pairs in the plane is √π; a sample knows it to a few percent.
    assert a == pytest.approx(np.sqrt(np.pi), rel=0.05)


def test_sparse_and_float32_rows_give_the_same_scale():
    dense = km.Gaussian("median").resolve(X).scale
    assert km.Gaussian("median").resolve(sparse.csr_matrix(X)).scale == pytest.approx(dense)
    single = km.Gaussian("median").resolve(X.astype(np.float32)).scale
    assert single == pytest.approx(dense, rel=1e-6)


def test_scale_follows_the_rows_even_far_from_the_origin():
    near, far = (km.Gaussian("mean").resolve(X + shift).scale for shift in (0, 1e6))
    assert far == pytest.approx(near, rel=1e-6)
    assert km.Gaussian("mean").resolve(1e3 * X).scale == pytest.approx(1e3 * near)


def test_trees_resolve_their_parts():
    k = (2.0 * km.Gaussian("mean") + km.LaplacianL1("median") * km.Linear()).normalized()
    assert not k.is_resolved
    done = k.resolve(X)
    assert done.is_resolved
    mean, median = km.Gaussian("mean").resolve(X), km.LaplacianL1("median").resolve(X)
    assert done == (2.0 * mean + median * km.Linear()).normalized()
    assert_allclose(done.gram(X), (2.0 * mean + median * km.Linear()).normalized().gram(X))
    assert not k.is_resolved


def test_an_unresolved_kernel_says_what_to_do():
    kernel = km.Linear() + km.Gaussian("median")
    for call in (kernel.gram, kernel.diag, kernel):
        with pytest.raises(
            ValueError, match=r"Gaussian\(scale='median'\).*call kernel.resolve\(X\)"
        ):
            call(X)


@pytest.mark.parametrize("bad", ["mode", "0*mean", "-1*median", "e*mean", "mean*2", ""])
def test_bad_rules_are_refused(bad):
    with pytest.raises(ValueError, match="'mean', 'median' or a multiple"):
        km.Gaussian(bad)


def test_bad_weights_are_refused():
    with pytest.raises(ValueError, match=r"sample_weight must have shape \(30,\)"):
        km.Gaussian("mean").resolve(X, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="finite and not negative"):
        km.Gaussian("mean").resolve(X, sample_weight=-np.ones(30))
