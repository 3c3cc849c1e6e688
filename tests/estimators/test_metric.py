"""Scaling, kernel and weights of the inputs are chosen together, on training rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelm import KernelELMClassifier, KernelELMRegressor
from kernelm.data import ArraySource, Sample
from kernelm.features import InputScaler
from kernelm.kernels import Gaussian, Laplacian, Linear
from kernelm.ridge import dual_loo_error
from kernelm.search import ROUNDS, best_metric, rank_kernels


def waves(n=1500, relevant=1, noise=9, seed=0):
    """A target that depends on a few of many inputs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, relevant + noise))
    return X, np.sin(2 * X[:, :relevant]).sum(axis=1)


def test_inputs_are_weighed_where_other_rows_prefer_it():
    X, y = waves()
    model = KernelELMRegressor(random_state=0).fit(X[:1400], y[:1400])
    assert model.feature_weights_[0] > 5 * model.feature_weights_[1:].max()
    plain = KernelELMRegressor(model.kernel_path_.best, random_state=0).fit(X[:1400], y[:1400])
    assert model.score(X[1400:], y[1400:]) > plain.score(X[1400:], y[1400:]) + 0.05


def test_inputs_that_count_alike_keep_their_scale():
    X, _ = waves(relevant=3, noise=0)
    model = KernelELMRegressor(random_state=0).fit(X, np.sin(X).sum(axis=1))
    assert_allclose(model.feature_weights_, 1.0, atol=0.05)


def test_noise_is_not_sharpened():
    rng = np.random.default_rng(0)
    model = KernelELMRegressor(random_state=0).fit(
        rng.normal(size=(2000, 8)), rng.normal(size=2000)
    )
    assert_array_equal(model.feature_weights_, 1.0)


@pytest.mark.parametrize("kernel", ["gaussian", Laplacian("median")])
def test_a_given_kernel_means_plain_scaling(kernel):
    X, y = waves(500)
    model = KernelELMRegressor(kernel).fit(np.abs(X), y)
    expected = InputScaler.fit(np.abs(X), unit_length=False)
    assert_allclose(model.scaler_.scale, expected.scale)
    assert not model.scaler_.root
    assert model.kernel_path_ is None


def test_unscaled_inputs_stay_as_they_are():
    X, y = waves()
    model = KernelELMRegressor(scale_inputs=False, random_state=0).fit(X, y)
    assert_array_equal(model.scaler_.scale, 1.0)


def test_counts_get_their_square_roots():
    rng = np.random.default_rng(0)
    rates = np.array([[1.0, 30.0], [3.0, 60.0], [9.0, 30.0]])
    y = rng.integers(3, size=1200)
    X = rng.poisson(rates[y]).astype(float) ** 2  # very skewed
    model = KernelELMClassifier(random_state=0).fit(X, y)
    assert model.scaler_.root
    below = model.predict(-X[:5])  # later rows may be what the sample had not: still defined
    assert below.shape == (5,)


def test_finalists_are_ranked_on_more_rows():
    X, y = waves()
    sample = Sample.of(ArraySource(X, y), 1500, 0)
    scalers = [InputScaler.fit(X, unit_length=False), InputScaler.identity(X.shape[1])]
    kernels = [Linear(), *(Gaussian(s) for s in (0.5, 1.0, 2.0, 4.0, 8.0))]
    scaler, path = best_metric(sample, lambda s: s.y[:, None], scalers, kernels)
    assert scaler in scalers
    assert len(path) == len(kernels)
    rows = [trial.rows for trial in path]
    assert rows == sorted(rows, reverse=True)
    assert 1 <= rows.count(1000) <= ROUNDS[-1].most
    more = sample.head(1000)
    alone = rank_kernels(scaler.transform(more.X), more.y[:, None], [path.best])[0]
    # A walk may stop between two of all alphas, and no further.
    assert path[0].score == pytest.approx(alone.score, rel=0.01)
    K = path[0].resolved.gram(scaler.transform(more.X))
    assert path[0].score == pytest.approx(dual_loo_error(K, more.y[:, None], path[0].alpha))
    few = best_metric(sample.head(200), lambda s: s.y[:, None], scalers, kernels)[1]
    assert {trial.rows for trial in few} == {200}
