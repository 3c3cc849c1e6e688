"""Kernel columns: similarities to landmarks, in the units of the inputs."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from catalog import REAL_KERNELS, inputs
from kernelm.features import FeatureMap, InputScaler, KernelColumns
from kernelm.kernels import ArcCosine, Gaussian, Laplacian

X = inputs(n=40)
SCALER = InputScaler.fit(X, unit_length=False)
Z = SCALER.transform(X[:6])
BASE = KernelColumns(Gaussian(3.0), SCALER, Z, in_kernel_norm=True)
SPATIAL = [k for k in REAL_KERNELS if k._domain.max_features is None]


@pytest.mark.parametrize("kernel", SPATIAL, ids=repr)
def test_columns_are_similarities_of_scaled_rows(kernel):
    phi = KernelColumns(kernel, SCALER, Z, in_kernel_norm=True)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    assert_allclose(phi.map(X), kernel.gram(scaled, scaled[:6]), rtol=1e-7, atol=1e-9)
    assert_allclose(phi.penalty, kernel.gram(Z), rtol=1e-12)
    # The landmarks are rows, so the penalty is the map of those rows.
    assert_allclose(phi.penalty, phi.map(X[:6]), rtol=1e-6, atol=1e-7)


def test_it_is_a_feature_map():
    assert isinstance(BASE, FeatureMap)
    assert (BASE.n_features_in, BASE.n_features_out) == (9, 6)
    assert BASE.needs_double


def test_the_plain_ridge_has_no_penalty_matrix():
    assert KernelColumns(Gaussian(), SCALER, Z, in_kernel_norm=False).penalty is None


@pytest.mark.parametrize("storage", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_and_landmarks_are_dense_ones(storage):
    same = InputScaler.identity(9)
    for kernel in (Gaussian(3.0), Laplacian(3.0), ArcCosine([1, 0])):
        expected = KernelColumns(kernel, same, X[:6], True)
        columns = KernelColumns(kernel, same, storage(X[:6]), True)
        for rows in (X, storage(X)):
            for phi in (columns, expected):
                assert_allclose(phi.map(rows), expected.map(X), rtol=1e-7, atol=1e-9)
        assert_allclose(columns.penalty, expected.penalty, rtol=1e-7, atol=1e-9)
        assert columns.fingerprint == expected.fingerprint


def test_dtypes():
    single = BASE.map(X.astype(np.float32))
    assert single.dtype == np.float32
    assert_allclose(single, BASE.map(X), atol=1e-5)
    small = KernelColumns(BASE.kernel, SCALER, Z.astype(np.float32), True)
    assert small.map(X).dtype == np.float64
    assert small.penalty.dtype == np.float64  # it is whitened: float32 noise would be magnified
    assert_allclose(small.penalty, BASE.penalty, atol=1e-5)


def test_leading_landmarks_are_leading_columns():
    for n in (1, 4, 6):
        leading = BASE.leading(n)
        assert leading.n_features_out == n
        assert_allclose(leading.map(X), BASE.map(X)[:, :n], rtol=1e-12)
        assert_allclose(leading.penalty, BASE.penalty[:n, :n])
    assert BASE.leading(6).fingerprint == BASE.fingerprint != BASE.leading(5).fingerprint


@pytest.mark.parametrize(
    "other",
    [
        KernelColumns(Gaussian(3.0000001), SCALER, Z, True),
        KernelColumns(Laplacian(3.0), SCALER, Z, True),
        KernelColumns(Gaussian(3.0), InputScaler.identity(9), Z, True),
        KernelColumns(Gaussian(3.0), InputScaler(SCALER.mean, 2 * SCALER.scale), Z, True),
        KernelColumns(Gaussian(3.0), SCALER, Z + 1e-9, True),
        KernelColumns(Gaussian(3.0), SCALER, Z[::-1], True),
        KernelColumns(Gaussian(3.0), SCALER, Z, False),
    ],
)
def test_any_difference_changes_the_fingerprint(other):
    assert other.fingerprint != BASE.fingerprint


def test_equal_maps_have_equal_fingerprints():
    again = KernelColumns(Gaussian(3.0), InputScaler.fit(X, unit_length=False), Z.copy(), True)
    assert again.fingerprint == BASE.fingerprint


@pytest.mark.parametrize("again", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy])
def test_copies_map_bit_for_bit(again):
    assert BASE.penalty is BASE.penalty  # kept, but not pickled
    same = again(BASE)
    assert same._cache == {}
    assert_array_equal(same.map(X), BASE.map(X))
    assert_array_equal(same.penalty, BASE.penalty)
    assert same.fingerprint == BASE.fingerprint
