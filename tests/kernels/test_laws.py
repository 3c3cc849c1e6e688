"""Laws that hold for every kernel of the catalog."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from catalog import KERNELS, rows_for
from kernelm import kernels

every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)

# An angle taken from its cosine keeps only half of the digits near 0 (√eps), and degree 0 is the
# angle itself: off the exact diagonal, equal rows agree to 1e-7 in float64.
HALF_THE_DIGITS = 1e-7


@every_kernel
def test_gram_is_symmetric_and_matches_diag(kernel):
    X = rows_for(kernel)
    K = kernel.gram(X)
    assert K.shape == (12, 12)
    assert_allclose(K, K.T, rtol=1e-12, atol=1e-12)
    assert_allclose(np.diag(K), kernel.diag(X), rtol=1e-12)


@every_kernel
def test_gram_of_two_sets_is_the_transpose_of_the_other_order(kernel):
    X, Z = rows_for(kernel), rows_for(kernel, n=7, seed=1)
    assert kernel.gram(X, Z).shape == (12, 7)
    assert_allclose(kernel.gram(X, Z), kernel.gram(Z, X).T, rtol=1e-10, atol=1e-10)


@every_kernel
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_pairs_are_entries_of_gram(kernel, form):
    X, Z = rows_for(kernel), rows_for(kernel, seed=1)
    X[3], Z[4] = 0, 0
    X[5] = Z[5] = 0
    K = np.diag(kernel.gram(X, Z))
    for rows in ((form(X), form(Z)), (form(X), Z), (X, form(Z))):
        values = kernel.pairs(*rows)
        assert values.shape == (12,)
        assert_allclose(values, K, rtol=1e-9, atol=HALF_THE_DIGITS)
    single = kernel.pairs(form(X.astype(np.float32)), form(Z.astype(np.float32)))
    assert single.dtype == np.float32
    with pytest.raises(ValueError, match="Z must have a row for each row of X"):
        kernel.pairs(X, Z[:5])


@every_kernel
def test_a_copy_of_the_rows_gives_the_same_gram(kernel):
    X = rows_for(kernel)
    assert_allclose(kernel.gram(X), kernel.gram(X, X.copy()), rtol=1e-7, atol=HALF_THE_DIGITS)


@every_kernel
def test_gram_is_entrywise(kernel):
    """Blocks of rows and columns give the blocks of the Gram matrix."""
    X, Z = rows_for(kernel, n=300), rows_for(kernel, n=900, seed=1)
    K = kernel.gram(X, Z)
    assert_allclose(K[7:9, 5:800:100], kernel.gram(X[7:9], Z[5:800:100]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.is_psd], ids=repr)
def test_gram_is_positive_semidefinite_where_claimed(kernel):
    X = rows_for(kernel, n=40)
    assert kernel.is_psd_in(X.shape[1])
    eigenvalues = np.linalg.eigvalsh(kernel.gram(X))
    assert eigenvalues[0] >= -1e-10 * eigenvalues[-1]


@every_kernel
def test_constant_diagonal_where_claimed_and_only_there(kernel):
    diag = kernel.diag(rows_for(kernel))
    assert kernel.has_constant_diag == (np.ptp(diag) <= 1e-12 * diag.max())


@every_kernel
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix])
def test_sparse_rows_give_the_dense_gram(kernel, form):
    X, Z = rows_for(kernel), rows_for(kernel, n=7, seed=1)
    for args in ((form(X),), (form(X), form(Z)), (form(X), Z), (X, form(Z))):
        dense = [a if isinstance(a, np.ndarray) else a.toarray() for a in args]
        K = kernel.gram(*args)
        assert isinstance(K, np.ndarray)
        assert_allclose(K, kernel.gram(*dense), rtol=1e-9, atol=1e-9)
    assert_allclose(kernel.diag(form(X)), kernel.diag(X), rtol=1e-12)


@every_kernel
def test_float32_stays_float32_and_agrees(kernel):
    X, Z = rows_for(kernel), rows_for(kernel, n=7, seed=1)
    x, z = X.astype(np.float32), Z.astype(np.float32)
    K = kernel.gram(x, z)
    assert K.dtype == np.float32
    assert kernel.gram(x).dtype == kernel.diag(x).dtype == np.float32
    assert kernel.gram(sparse.csr_matrix(x), z).dtype == np.float32
    assert kernel.gram(x, Z).dtype == kernel.gram(X.astype(int)).dtype == np.float64
    # The powers of degree-4 layers magnify relative rounding of the angle.
    assert_allclose(K, kernel.gram(X, Z), rtol=2e-4, atol=2e-4 * np.abs(K).max())


@every_kernel
def test_gram_leaves_its_input_alone(kernel):
    X = rows_for(kernel)
    before = X.copy()
    kernel.gram(X, X[:5])
    kernel.gram(X)
    assert_array_equal(X, before)


@every_kernel
def test_no_rows_give_an_empty_gram(kernel):
    X = rows_for(kernel)
    assert kernel.gram(X, X[:0]).shape == (12, 0)
    assert kernel.gram(X[:0], X).shape == (0, 12)
    assert kernel.gram(X[:0]).shape == (0, 0)


@every_kernel
def test_repr_is_the_formula(kernel):
    again = eval(repr(kernel), vars(kernels) | {"np": np})
    assert again == kernel
    assert hash(again) == hash(kernel)


@every_kernel
def test_clone_and_pickle_make_equal_independent_copies(kernel):
    for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel))):
        assert copy == kernel
        assert copy is not kernel
    assert clone(kernel).get_params().keys() == kernel.get_params().keys()


@every_kernel
def test_setting_its_own_parameters_changes_nothing(kernel):
    copy = clone(kernel)
    assert copy.set_params(**kernel.get_params()) is copy
    assert copy == kernel


@every_kernel
def test_resolved_kernels_resolve_to_themselves(kernel):
    assert kernel.is_resolved
    assert kernel.resolve(rows_for(kernel)) is kernel
