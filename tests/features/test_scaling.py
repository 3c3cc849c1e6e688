"""Inputs brought to unit scale."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.preprocessing import StandardScaler

import oracles
from catalog import inputs
from kernelm.features import InputScaler, scaled_chunks

X = inputs(n=50)
both_dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])
every_form = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])


def length(S):
    """Root mean square length of rows."""
    S = S.toarray() if sparse.issparse(S) else S
    return np.sqrt((S.astype(float) ** 2).sum(axis=1).mean())


def test_dense_rows_are_standardised():
    assert_allclose(InputScaler.fit(X).transform(X), oracles.standardised(X), atol=1e-13)


@every_form
@both_dtypes
@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_rows_of_any_size_become_rows_of_length_one(form, dtype, size):
    rows = form((size * X).astype(dtype))
    S = InputScaler.fit(rows).transform(rows)
    assert S.dtype == dtype
    assert length(S) == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize("size", [1e-320, 1e-310, 1e-302, 1e-200, 1e200, 1e300])
@every_form
def test_extreme_sizes_stay_finite_without_warnings(form, size):
    rows = form(size * X)
    with np.errstate(all="raise", under="ignore"):
        scaler = InputScaler.fit(rows)
        S = scaler.transform(rows)
    assert np.isfinite(scaler.scale).all()
    # Inputs below 1e-300 count as zero.
    assert length(S) == pytest.approx(1 if size > 1e-300 else 0, abs=1e-6)


def test_sparse_columns_keep_their_proportions_and_their_zeros():
    """The documented difference to dense rows: one factor, nothing is centred."""
    rows = sparse.csr_array(X)
    scaler = InputScaler.fit(rows)
    S = scaler.transform(rows)
    assert sparse.issparse(S)
    assert S.nnz == rows.nnz
    assert_allclose(S.toarray(), X / np.sqrt((X**2).sum(axis=1).mean()))
    assert_allclose(scaler.transform(X), S.toarray())


@every_form
def test_a_scaler_frozen_from_dense_rows_scales_sparse_rows_alike(form):
    scaler = InputScaler.fit(X)
    S = scaler.transform(form(X))
    assert_allclose(S.toarray() if sparse.issparse(S) else S, scaler.transform(X))


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, -1e6, 1e30, 1e-30])
@both_dtypes
def test_constant_columns_become_zero(value, dtype):
    rows = np.hstack([X, np.full((50, 1), value)]).astype(dtype)
    S = InputScaler.fit(rows).transform(rows)
    assert_allclose(S[:, -1], 0, atol=1e-15)
    # And the others do not notice.
    alone = InputScaler.fit(rows[:, :-1]).transform(rows[:, :-1])
    assert_allclose(S[:, :-1], alone, rtol=1e-12)


def test_a_column_that_was_constant_in_the_sample_only_is_not_blown_up():
    sample = np.hstack([X, np.full((50, 1), 5.0)])
    S = InputScaler.fit(sample).transform(np.array([[*X[0], 10.0]]))
    assert abs(S[0, -1]) <= 1


def test_only_constant_columns():
    assert_array_equal(InputScaler.fit(np.ones((4, 3))).transform(np.ones((2, 3))), 0)
    assert_array_equal(InputScaler.fit(np.zeros((4, 3))).transform(np.zeros((2, 3))), 0)
    empty = sparse.csr_array((4, 3))
    assert InputScaler.fit(empty).transform(empty).nnz == 0


def test_one_row_is_a_sample():
    assert_allclose(InputScaler.fit(X[:1]).transform(X[:1]), 0)
    assert np.isfinite(InputScaler.fit(X[:1]).transform(X)).all()


@every_form
def test_weights_are_repetitions(form):
    weight = np.arange(50) % 3.0
    repeated = np.repeat(X, weight.astype(int), axis=0)
    a, b = InputScaler.fit(form(X), weight), InputScaler.fit(form(repeated))
    assert_allclose(a.mean, b.mean, rtol=1e-12, atol=1e-14)
    assert_allclose(a.scale, b.scale, rtol=1e-12)


@every_form
def test_rows_of_no_weight_do_not_count_however_large(form):
    wild = np.vstack([X, np.full((1, 9), 1e200)])
    a, b = InputScaler.fit(form(wild), np.append(np.ones(50), 0)), InputScaler.fit(form(X))
    assert_allclose(a.mean, b.mean, rtol=1e-12, atol=1e-14)
    assert_allclose(a.scale, b.scale, rtol=1e-12)


def test_float32_keeps_the_digits_of_columns_far_from_zero():
    """Differences are taken in float64: a shift by a power of two changes nothing."""
    steps = np.random.default_rng(0).integers(-16, 17, (50, 9)) / 8
    near, far = steps.astype(np.float32), (steps + 2.0**20).astype(np.float32)
    assert_array_equal(far - np.float32(2.0**20), near)
    assert_allclose(
        InputScaler.fit(far).transform(far), InputScaler.fit(near).transform(near), atol=1e-6
    )


@every_form
def test_duplicate_entries_of_csr_rows_add_up(form):
    twice = sparse.csr_array((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2])), (1, 3))
    plain = np.array([[0.0, 3.0, 0.0]])
    expected = InputScaler.fit(sparse.csr_array(plain)).scale
    assert_allclose(InputScaler.fit(twice).scale, expected)
    assert twice.nnz == 2


def test_the_identity_leaves_rows_alone():
    assert_array_equal(InputScaler.identity(9).transform(X), X)
    assert_array_equal(InputScaler.identity(9).transform(sparse.csr_array(X)).toarray(), X)


@every_form
def test_weights_multiply_scaled_columns(form):
    weights = np.arange(9.0)
    scaler = InputScaler.fit(form(X))
    S = scaler.weighted(weights).transform(form(X))
    expected = scaler.transform(X) * weights
    assert_allclose(S.toarray() if sparse.issparse(S) else S, expected, atol=1e-15)


def test_fitting_leaves_the_rows_alone():
    for rows in (X.copy(), sparse.csr_array(X)):
        InputScaler.fit(rows).transform(rows)
        assert_array_equal(rows.toarray() if sparse.issparse(rows) else rows, X)


def test_roots_keep_signs_and_zeros_in_any_storage():
    X = np.array([[4.0, 0.0, -9.0], [1.0, 16.0, 0.0], [0.0, 25.0, -1.0]])
    root = InputScaler(np.zeros(3), np.ones(3), root=True)
    assert_allclose(root.transform(X), [[2, 0, -3], [1, 4, 0], [0, 5, -1]])
    rows = root.transform(sparse.csr_array(X))
    assert rows.nnz == np.count_nonzero(X)
    assert_allclose(rows.toarray(), root.transform(X))
    fitted = InputScaler.fit(X, root=True, unit_length=False)
    assert_allclose(fitted.transform(X), StandardScaler().fit_transform(root.transform(X)))
    assert fitted.weighted(np.full(3, 2.0)).root


@both_dtypes
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("root", [False, True])
def test_compiled_sweeps_and_chunks_give_the_same_digits(dtype, order, root):
    rng = np.random.default_rng(0)
    rows = np.asarray(1e3 + rng.normal(size=(2200, 500)), dtype, order=order)
    scaler = InputScaler.fit(rows, root=root)
    plain = np.vstack([scaler.transform(rows[i : i + 100]) for i in range(0, 2200, 100)])
    assert_array_equal(scaler.transform(rows), plain)
    chunks = [(at, S.copy()) for at, S in scaled_chunks(scaler, rows, 300)]
    assert_array_equal(np.vstack([S for _, S in chunks]), plain)
    assert_array_equal(np.concatenate([np.arange(2200)[at] for at, _ in chunks]), np.arange(2200))


@every_form
def test_chunks_of_any_form_are_scaled_rows(form):
    scaler = InputScaler.fit(X)
    for at, S in scaled_chunks(scaler, form(X), 7):
        S = S.toarray() if sparse.issparse(S) else S
        assert_allclose(S, scaler.transform(X[at]))


def test_many_columns_are_frozen_as_each_alone():
    rng = np.random.default_rng(0)
    rows, weight = rng.normal(size=(6000, 200)) * np.logspace(-3, 3, 200), rng.random(6000)
    together = InputScaler.fit(rows, weight, unit_length=False)
    for j in (0, 86, 87, 88, 199):
        alone = InputScaler.fit(rows[:, [j]], weight, unit_length=False)
        assert_allclose(together.mean[j], alone.mean[0], rtol=1e-12, atol=1e-15)
        assert_allclose(together.scale[j], alone.scale[0], rtol=1e-12)


def test_compiled_sweeps_refuse_rows_of_another_width():
    """Compiled loops do not look: without a check they would read what is not theirs."""
    rows = np.ones((3000, 400))
    for scaler in (InputScaler.identity(399), InputScaler(np.zeros(400), np.ones(401))):
        with pytest.raises(ValueError, match="400 features"):
            scaler.transform(rows)
