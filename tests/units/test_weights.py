"""Random weights: nested, reproducible, of one variance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import oracles
from kernelm.units import WEIGHTS, Hashed, activate, draw

every_kind = pytest.mark.parametrize("kind", WEIGHTS)
D = 16  # a square, for patches


@every_kind
@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("n_units", [1, 2, 7, D, D + 1, 2 * D + 5])
def test_the_first_units_of_a_larger_layer_are_the_smaller_layer(kind, paired, n_units):
    W, b = draw(D, n_units, weights=kind, paired=paired, seed=3)
    more_W, more_b = draw(D, 3 * D + 2, weights=kind, paired=paired, seed=3)
    assert W.shape == (D, n_units)
    assert_array_equal(W, more_W[:, :n_units])
    assert_array_equal(b, more_b[:n_units])


@every_kind
def test_the_seed_decides(kind):
    one, again, other = (draw(D, 40, weights=kind, seed=s) for s in (1, 1, 2))
    assert_array_equal(one[0], again[0])
    assert_array_equal(one[1], again[1])
    assert np.abs(one[0] - other[0]).max() > 0.1
    assert np.abs(one[1] - other[1]).max() > 0.1


@every_kind
def test_weights_and_biases_are_different_draws(kind):
    W, b = draw(D, 200, weights=kind, seed=0)
    assert not np.isin(b, W).any()


@every_kind
def test_float32_is_the_rounded_float64(kind):
    W, b = draw(D, 20, weights=kind, seed=0)
    w, c = draw(D, 20, weights=kind, seed=0, dtype=np.float32)
    assert w.dtype == c.dtype == np.float32
    assert_array_equal(w, W.astype(np.float32))
    assert_array_equal(c, b.astype(np.float32))
    assert w.flags.c_contiguous


@every_kind
def test_scale_multiplies_weights_and_biases(kind):
    W, b = draw(D, 20, weights=kind)
    scaled_W, scaled_b = draw(D, 20, weights=kind, scale=3.0)
    assert_allclose(scaled_W, 3 * W)
    assert_allclose(scaled_b, 3 * b)
    kept_W, kept_b = draw(D, 20, weights=kind, scale=3.0, bias_scale=0.5)
    assert_array_equal(kept_W, scaled_W)
    assert_allclose(kept_b, 0.5 * b)


@every_kind
def test_projections_have_the_variance_of_normal_weights(kind):
    """E[(x·w)²] = |x|², for rows whose inputs matter alike; a third of it for uniform weights."""
    W, b = draw(D, 20_000, weights=kind, seed=0)
    x = np.where(np.arange(D) % 2, 1.0, -1.0)
    share = 1 / 3 if kind == "uniform" else 1.0
    # The mean of 20,000 squares has a standard error of about 1–2 %.
    assert np.mean((x @ W) ** 2) == pytest.approx(share * D, rel=0.06)
    assert np.mean(x @ W) == pytest.approx(0, abs=0.12)
    assert np.mean(b**2) == pytest.approx(share, rel=0.06)


def test_uniform_weights_and_biases_fill_their_interval():
    W, b = draw(3, 5000, weights="uniform", scale=2.0)
    for values in (W, b):
        assert -2 <= values.min() < -1.99
        assert 1.99 < values.max() <= 2


def test_orthogonal_directions_come_in_orthogonal_groups():
    W, _ = draw(D, 2 * D + 3, weights="orthogonal")
    for group in (W[:, :D], W[:, D : 2 * D], W[:, 2 * D :]):
        G = group.T @ group
        assert_allclose(G, np.diag(np.diag(G)), atol=1e-12)
    between = W[:, :D].T @ W[:, D : 2 * D]
    assert np.abs(between).max() > 1


def test_orthogonal_lengths_are_those_of_normal_vectors():
    lengths = np.linalg.norm(draw(D, 4000, weights="orthogonal")[0], axis=0)
    normal = np.linalg.norm(draw(D, 4000, weights="normal")[0], axis=0)
    assert lengths.mean() == pytest.approx(normal.mean(), rel=0.02)
    assert lengths.std() == pytest.approx(normal.std(), rel=0.1)


def test_orthogonal_directions_prefer_no_sign():
    """A bare QR decomposition fixes signs; uniform rotations do not (Mezzadri, 2007)."""
    mean = np.mean([draw(4, 4, weights="orthogonal", seed=s)[0] for s in range(400)], axis=0)
    assert_allclose(mean, 0, atol=0.2)  # four standard errors of 1/√400


@pytest.mark.parametrize(("n_features", "kept"), [(1, 1), (2, 1), (16, 4), (100, 10)])
def test_sparse_units_see_about_root_many_inputs(n_features, kept):
    W, _ = draw(n_features, 300, weights="sparse")
    assert_array_equal((W != 0).sum(axis=0), kept)
    assert (W != 0).any(axis=1).all()


def test_patches_are_rectangles_that_reach_every_pixel():
    W, _ = draw(D, 300, weights="patches")
    fields = (W.T != 0).reshape(-1, 4, 4)
    for field in fields:
        assert_array_equal(field, np.outer(field.any(axis=1), field.any(axis=0)))
        for side in (field.any(axis=0), field.any(axis=1)):
            inside = np.flatnonzero(side)
            assert_array_equal(inside, np.arange(inside[0], inside[-1] + 1))
    assert fields.any(axis=0).all()
    assert len(np.unique(fields.reshape(300, -1).sum(axis=1))) > 5


@pytest.mark.parametrize("n_features", [2, 15, 17])
def test_patches_need_a_square(n_features):
    with pytest.raises(ValueError, match=rf'square number of features\), got {n_features} .*"sp'):
        draw(n_features, 5, weights="patches")


def test_unknown_weights_are_refused():
    with pytest.raises(ValueError, match=r"weights must be one of 'normal', .*; got 'cauchy'"):
        draw(3, 5, weights="cauchy")


def test_pairs_are_cosines_and_sines_of_the_same_projections():
    X = np.random.default_rng(0).standard_normal((10, 3))
    W, b = draw(3, 9, paired=True, scale=2.0)
    H = activate(X @ W + b, "fourier")
    projections = X @ draw(3, 5, scale=2.0)[0]
    assert_allclose(H[:, ::2], np.cos(projections), atol=1e-14)
    assert_allclose(H[:, 1::2], np.sin(projections[:, :4]), atol=1e-14)


def test_fourier_pairs_tend_to_the_gaussian_kernel_as_one_over_root_units():
    X = np.random.default_rng(0).standard_normal((8, 3))
    limit = oracles.gram(oracles.gaussian(1 / 0.7), X, X)

    def error(n_units):
        gaps = []
        for seed in range(20):
            W, b = draw(3, n_units, paired=True, scale=0.7, seed=seed)
            H = activate(X @ W + b, "fourier")
            gaps.append(2 / n_units * H @ H.T - limit)
        return np.sqrt(np.mean(np.square(gaps)))

    units = np.array([50, 200, 800, 3200])
    slope = np.polyfit(np.log(units), np.log([error(n) for n in units]), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.1)


# --- hashed --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_units", [1, 63, 64, 65, 130])
@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_hashed_products_are_those_of_the_weights(n_units, paired, dtype):
    X = sparse.random(20, 50, 0.2, "csr", random_state=0, dtype=dtype)
    out = np.empty((20, n_units), dtype)
    Hashed(n_units, 0.5, paired, seed=3).write(X, out)
    options = {"weights": "hashed", "scale": 0.5, "paired": paired, "seed": 3, "dtype": dtype}
    assert_allclose(out, X @ draw(50, n_units, **options)[0], rtol=1e-5, atol=1e-6)


def test_hashed_weights_are_independent_signs():
    W = draw(4000, 256, weights="hashed", seed=1)[0]
    assert set(np.unique(W)) == {-1.0, 1.0}
    bound = 5 / np.sqrt(len(W))
    assert np.abs(W.mean(axis=0)).max() < bound
    assert np.abs(W.T @ W / len(W) - np.eye(256)).max() < bound * 1.2
    inputs = W[:200] @ W[:200].T / 256
    assert np.abs(inputs - np.eye(200)).max() < 6 / np.sqrt(256)
    assert (draw(4000, 256, weights="hashed", seed=2)[0] != W).mean() > 0.4
