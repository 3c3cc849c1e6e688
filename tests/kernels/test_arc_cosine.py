"""Arc-cosine kernels: recursion by hand, Monte Carlo, zero rows, overflow."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import oracles
from kernelm.kernels import ArcCosine, ArcCosineLayer, Gaussian, Linear
from kernelm.kernels.arc_cosine import angular, polynomials

rng = np.random.default_rng(0)
X, Z = rng.standard_normal((7, 4)), rng.standard_normal((5, 4))

LISTS = [[0], [1], [2], [3], [0, 1], [1, 0], [2, 1], [1, 1, 1], [0, 1, 2], [3, 0, 2, 1]]


@pytest.mark.parametrize("degrees", LISTS, ids=str)
def test_a_list_of_degrees_is_the_recursion_by_hand(degrees):
    expected = oracles.gram(oracles.arc_cosine(degrees), X, Z)
    assert_allclose(ArcCosine(degrees).gram(X, Z), expected, rtol=1e-9)


def test_the_first_degree_is_applied_first():
    deep = Linear().then(ArcCosineLayer(1), ArcCosineLayer(0))
    assert_allclose(ArcCosine([1, 0]).gram(X, Z), deep.gram(X, Z), rtol=0)
    assert np.abs(ArcCosine([0, 1]).gram(X, Z) - deep.gram(X, Z)).max() > 0.01


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4, 5])
def test_one_layer_is_its_monte_carlo_limit(degree):
    mean, error = oracles.arc_cosine_monte_carlo(X, degree, np.random.default_rng(1), 200_000)
    assert (np.abs(ArcCosine([degree]).gram(X) - mean) <= 4 * error).all()


@pytest.mark.parametrize(
    "degrees", [[1, 0], [0, 1], [1, 1, 2], [0, 2, 1, 0], [1, 1, 1, 1]], ids=str
)
def test_the_last_of_many_layers_is_its_monte_carlo_limit(degrees):
    """Features of the layers below come from their Gram matrix, which is exact."""
    values, vectors = np.linalg.eigh(ArcCosine(degrees[:-1]).gram(X))
    F = vectors * np.sqrt(np.maximum(values, 0))
    mean, error = oracles.arc_cosine_monte_carlo(F, degrees[-1], np.random.default_rng(2), 200_000)
    assert (np.abs(ArcCosine(degrees).gram(X) - mean) <= 4 * error).all()


@pytest.mark.parametrize("degree", [0, 1, 2, 3])
def test_angular_part_is_the_printed_formula(degree):
    t = np.linspace(0, math.pi, 50)
    expected = [oracles.angular(degree, a) for a in t]
    assert_allclose(angular(np.cos(t), degree), expected, rtol=1e-7, atol=1e-7)


def test_angular_part_of_any_degree_is_a_double_factorial_at_zero():
    for n in range(12):
        _, Q = polynomials(n)
        assert sum(Q) == math.prod(range(1, 2 * n, 2))


def test_normalize_keeps_the_angles():
    for degrees in LISTS:
        assert_allclose(
            ArcCosine(degrees, normalize=True).gram(X, Z),
            ArcCosine(degrees).normalized().gram(X, Z),
            rtol=1e-9,
        )


def test_constant_diagonal_is_known_exactly():
    for degrees in LISTS:
        constant = np.ptp(ArcCosine(degrees).diag(X)) < 1e-12
        assert ArcCosine(degrees).has_constant_diag == constant == (0 in degrees)
    assert ArcCosine([1], normalize=True).has_constant_diag
    assert Gaussian().then(ArcCosineLayer(2)).has_constant_diag


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("degrees", [[0], [1], [3], [1, 0], [0, 1]], ids=str)
def test_zero_rows_are_finite_and_like_no_other(degrees, normalize):
    kernel = ArcCosine(degrees, normalize)
    rows = np.vstack([X, np.zeros((2, 4))])
    K = kernel.gram(rows)
    assert np.isfinite(K).all()
    assert_allclose(np.diag(K), kernel.diag(rows))
    assert_allclose(K, kernel.gram(rows, rows.copy()), atol=1e-7)
    assert np.linalg.eigvalsh(K)[0] > -1e-10 * K.max()


def test_degree_zero_of_a_zero_row_is_zero_off_the_diagonal():
    K = ArcCosine([0]).gram(np.vstack([X, np.zeros(4)]))
    assert (K[-1, :-1] == 0).all()
    assert K[-1, -1] == 1


def test_nearly_parallel_rows_stay_in_range():
    rows = np.outer([1.0, -1.0, 3.0, 1e-8], rng.standard_normal(50))
    for dtype, tolerance in ((np.float64, 1e-7), (np.float32, 2e-3)):  # √eps of the angle
        K = ArcCosine([0]).gram(rows.astype(dtype), rows.astype(dtype).copy())
        expected = np.outer([1, -1, 1, 1], [1, -1, 1, 1]) > 0
        assert_allclose(K, expected, atol=tolerance)


def test_overflow_names_the_layer_and_the_way_out():
    rows = 10 * X.astype(np.float32)
    with pytest.raises(ValueError, match=r"layer 3 of .*ArcCosineLayer\(degree=3\), overflows"):
        ArcCosine([3, 3, 3]).gram(rows)
    K = ArcCosine([3, 3, 3], normalize=True).gram(rows)
    assert np.isfinite(K).all()
    assert_allclose(np.diag(K), 1)


def test_bad_degrees_are_refused():
    with pytest.raises(ValueError, match="degree must be a whole number of at least 0, got -1"):
        ArcCosine([1, -1])
    with pytest.raises(ValueError, match=r"got 1\.5"):
        ArcCosine([1.5])
    with pytest.raises(ValueError, match="at least one degree"):
        ArcCosine([])
