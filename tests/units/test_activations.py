"""What one hidden unit does to its pre-activation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles
from kernelm.units import ACTIVATIONS, activate

every_activation = pytest.mark.parametrize("name", ACTIVATIONS)
both_dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])
A = np.concatenate([np.linspace(-6, 6, 41), [0.0, -0.0, 1e-8, -30.0, 30.0]]).reshape(2, -1)


def test_every_activation_has_an_oracle():
    assert oracles.ACTIVATIONS.keys() == ACTIVATIONS.keys()


@every_activation
@both_dtypes
def test_names_are_their_formulas(name, dtype):
    block = A.astype(dtype)
    expected = np.vectorize(oracles.ACTIVATIONS[name], otypes=[float])(block.astype(float))
    # A sine of 30 has lost the digits that the argument's own rounding takes.
    rtol = 1e-5 if dtype == np.float32 else 1e-13
    assert_allclose(activate(block.copy(), name), expected, rtol=rtol, atol=rtol / 10)


@every_activation
@both_dtypes
def test_names_work_in_place(name, dtype):
    block = A.astype(dtype)
    H = activate(block, name)
    assert H is block
    assert H.dtype == dtype


@every_activation
def test_names_work_on_part_of_a_block(name):
    """As they do beside direct links: columns of a wider array."""
    wide = np.hstack([A, A])
    H = activate(wide[:, 5:30], name)
    assert_array_equal(H, activate(np.hstack([A, A])[:, 5:30].copy(), name))
    assert np.shares_memory(H, wide)
    assert_array_equal(wide[:, :5], A[:, :5])


@every_activation
@both_dtypes
def test_large_pre_activations_stay_finite_without_warnings(name, dtype):
    large = np.array([[-1e30, 1e30]], dtype)
    with np.errstate(all="raise", under="ignore"):
        assert np.isfinite(activate(large, name)).all()


@both_dtypes
@pytest.mark.parametrize("function", [np.cos, lambda A: A > 0, lambda A: A.astype(np.float64)])
def test_functions_are_applied_and_keep_the_dtype(function, dtype):
    block = A.astype(dtype)
    H = activate(block, function)
    assert H.dtype == dtype
    assert_allclose(H, function(block).astype(dtype))
    assert_array_equal(block, A.astype(dtype))


def test_a_function_must_keep_the_shape():
    with pytest.raises(ValueError, match=r"activation function must have shape \(2, 23\), got"):
        activate(A.copy(), lambda A: A[:, :1])
