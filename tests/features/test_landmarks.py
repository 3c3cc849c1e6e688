"""Landmarks: rows that stand for all, by every choice; and one row of each kind."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from kernelm.features import CHOICES, Landmarks, choose, distinct
from kernelm.features.landmarks import digests, rpcholesky
from kernelm.kernels import ArcCosine, Gaussian, Laplacian, Linear, Matern32

STORAGES = {"dense": np.asarray, "csr": sparse.csr_array, "csr_matrix": sparse.csr_matrix}
OF_ROWS = [name for name in CHOICES if name != "kmeans"]
KERNEL = Gaussian(scale=1.5)


def rows(n=120, d=4, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.8)).astype(dtype)


def clusters(n=300, seed=0):
    """Nine rows of ten in one narrow cluster, the rest in nine far ones."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(0, 6, (10, 2))
    which = np.where(rng.random(n) < 0.9, 0, rng.integers(1, 10, n))
    return centres[which] + 0.3 * rng.normal(size=(n, 2))


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def lost_trace(kernel, X, Z):
    """The trace of K - K_xz K_zz⁺ K_zx."""
    K_xz = kernel.gram(X, Z)
    explained = K_xz @ np.linalg.pinv(kernel.gram(Z), rcond=1e-12, hermitian=True) * K_xz
    return kernel.diag(X).sum() - explained.sum()


# -- every choice ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("name", OF_ROWS)
def test_landmarks_are_distinct_rows_of_the_sample(name, storage, dtype):
    X = STORAGES[storage](rows(dtype=dtype))
    chosen = choose(X, 20, name, KERNEL, seed=1)
    assert len(set(chosen.indices.tolist())) == 20
    assert chosen.Z.dtype == dtype
    assert sparse.issparse(chosen.Z) == sparse.issparse(X)
    assert_array_equal(dense(chosen.Z), dense(X)[chosen.indices])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("storage", STORAGES)
def test_kmeans_gives_centres_near_the_rows(storage, dtype):
    X = clusters().astype(dtype)
    chosen = choose(STORAGES[storage](X), 40, "kmeans", KERNEL, seed=1)
    assert chosen.Z.shape == (40, 2)
    assert chosen.Z.dtype == dtype
    assert chosen.indices is None
    Z = dense(chosen.Z)
    nearest = np.linalg.norm(Z[:, None] - X, axis=2)
    assert nearest.min(axis=1).max() < 3
    assert nearest.min(axis=0).mean() < 0.5


@pytest.mark.parametrize("name", CHOICES)
def test_the_seed_decides(name):
    X = rows()
    a, b, c = (choose(X, 15, name, KERNEL, seed=s).Z for s in (4, 4, 5))
    assert_array_equal(a, b)
    assert not np.array_equal(a, c)


@pytest.mark.parametrize("name", CHOICES)
def test_dense_and_sparse_choose_alike(name):
    X = rows()
    a, b = (choose(S, 15, name, KERNEL, seed=4).Z for S in (X, sparse.csr_array(X)))
    assert_allclose(a, dense(b), atol=1e-12)


@pytest.mark.parametrize("name", CHOICES)
def test_there_are_never_more_landmarks_than_rows(name):
    X = rows(n=7)
    assert choose(X, 50, name, Laplacian(2.0), seed=0).Z.shape == (7, 4)


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("n", [1, 3])
def test_rows_of_zeros_under_a_linear_kernel(name, storage, n):
    # Every similarity is 0: nothing tells rows apart, and a model still needs a landmark.
    X = STORAGES[storage](np.zeros((n, 3)))
    assert 1 <= choose(X, 2, name, Linear(), seed=0).Z.shape[0] <= 2


# -- beginnings -----------------------------------------------------------------------------------


def test_beginnings_of_uniform_landmarks_are_uniform_landmarks():
    X = rows()
    larger = choose(X, 60, "uniform", KERNEL, seed=2).indices
    for n in (1, 10, 59):
        assert_array_equal(choose(X, n, "uniform", KERNEL, seed=2).indices, larger[:n])


def test_beginnings_of_pivots_follow_the_same_law():
    # Blocks are an eighth of the number asked for, so that another number draws other pivots;
    # what is promised is that a beginning is as good as a choice of its size.
    X = clusters()
    beginning, whole = [], []
    for seed in range(12):
        large = choose(X, 32, "rpcholesky", KERNEL, seed)
        beginning.append(lost_trace(KERNEL, X, large.Z[:12]))
        whole.append(lost_trace(KERNEL, X, choose(X, 12, "rpcholesky", KERNEL, seed).Z))
    assert np.mean(beginning) == pytest.approx(np.mean(whole), rel=0.5)


def test_few_pivots_are_drawn_one_by_one_and_nested():
    X = rows()
    larger = choose(X, 8, "rpcholesky", KERNEL, seed=2).indices  # blocks of one
    for n in (1, 4, 7):
        assert_array_equal(choose(X, n, "rpcholesky", KERNEL, seed=2).indices, larger[:n])


def test_beginnings_of_leverage_landmarks_prefer_the_same_rows():
    # Scores are those of the number asked for (their sum is half of it), so beginnings are
    # weighted samples of other scores: nested in kind, not row by row.
    X = clusters()
    scattered = np.linalg.norm(X - np.median(X, axis=0), axis=1) > 2
    shares = [
        scattered[choose(X, 40, "leverage", KERNEL, seed).indices[:10]].mean() for seed in range(20)
    ]
    assert np.mean(shares) > 2 * scattered.mean()


# -- randomly pivoted Cholesky --------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel", [KERNEL, Matern32(2.0), ArcCosine([1, 1]), Linear(1.0)], ids=repr
)
@pytest.mark.parametrize("n", [6, 40])
def test_the_residual_is_the_trace_that_is_left(kernel, n):
    X = rows()
    chosen = choose(X, n, "rpcholesky", kernel, seed=0)
    total = kernel.diag(X).sum()
    for k in range(1, len(chosen.indices) + 1):
        expected = lost_trace(kernel, X, chosen.Z[:k]) / total
        assert chosen.residual[k - 1] == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert np.all(np.diff(chosen.residual) <= 1e-12)


def test_the_residual_in_single_precision():
    X = rows(dtype=np.float32)
    chosen = choose(X, 30, "rpcholesky", KERNEL, seed=0)
    expected = [
        lost_trace(KERNEL, X.astype(float), chosen.Z[:k].astype(float)) / len(X)
        for k in range(1, 31)
    ]
    assert_allclose(chosen.residual, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_pivots_stop_at_the_rank(storage, dtype):
    X = STORAGES[storage](rows(d=3, dtype=dtype))
    for seed in range(5):
        chosen = choose(X, 30, "rpcholesky", Linear(), seed)
        assert len(chosen.indices) == 3
        assert chosen.residual[-1] < 1e-6


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("tol", [1e-6, 1e-12, 0.0])
def test_pivots_go_on_to_the_last_digit_without_harm(tol, dtype):
    # Smooth kernels have little rank: what is left of the diagonal is rounding at the end.
    X = rows(n=80, d=2, dtype=dtype)
    chosen = rpcholesky(X, 80, Gaussian(5.0), np.random.default_rng(0), tol=tol)
    assert len(set(chosen.indices.tolist())) == len(chosen.indices)
    assert np.isfinite(chosen.residual).all()
    assert chosen.residual[-1] <= max(tol, 1e-4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_copies_of_a_row_are_chosen_once(dtype):
    X = np.repeat(rows(n=12, dtype=dtype), 10, axis=0)
    for seed in range(10):
        Z = choose(X, 60, "rpcholesky", Gaussian(0.5), seed).Z
        assert len(Z) <= 12
        assert len(np.unique(Z, axis=0)) == len(Z)


def test_pivots_lose_less_than_uniform_rows():
    X = clusters()
    losses = {
        name: np.mean([lost_trace(KERNEL, X, choose(X, 16, name, KERNEL, s).Z) for s in range(10)])
        for name in ("uniform", "rpcholesky", "leverage")
    }
    assert losses["rpcholesky"] < losses["uniform"] / 2
    assert losses["leverage"] < losses["uniform"]


def test_pivots_are_drawn_in_proportion_to_the_diagonal():
    # One pivot of a linear kernel: probabilities are squared lengths.
    X = np.diag([1.0, 2.0, 3.0])
    first = [choose(X, 1, "rpcholesky", Linear(), seed).indices[0] for seed in range(1400)]
    share = np.bincount(first) / 1400
    assert_allclose(share, [1 / 14, 4 / 14, 9 / 14], atol=0.04)  # three standard errors


# -- leverage -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_leverage_prefers_isolated_rows(dtype):
    rng = np.random.default_rng(0)
    crowd, alone = 0.1 * rng.normal(size=(190, 2)), 10 * rng.normal(size=(10, 2))
    X = np.concatenate([crowd, alone]).astype(dtype)
    found = [np.sum(choose(X, 20, "leverage", KERNEL, s).indices >= 190) for s in range(20)]
    assert np.mean(found) > 8  # of ten; uniform rows would hold one


def test_leverage_of_a_kernel_of_low_rank():
    X = rows(n=200, d=2)
    X[0] *= 50.0
    # Of 20 seeds, rounding decides whether 16 or 18 find it; of 200 it does not matter.
    found = [0 in choose(X, 10, "leverage", Linear(), s).indices for s in range(200)]
    assert np.mean(found) > 0.8


# -- groups ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("name", CHOICES)
def test_each_group_gets_its_share_and_at_least_one(name, storage):
    X = rows(n=120, d=5)
    groups = np.repeat(["a", "b", "c"], [80, 36, 4])
    X[:, 4] = np.repeat([10.0, 20.0, 30.0], [80, 36, 4])
    Z = dense(choose(STORAGES[storage](X), 12, name, KERNEL, 0, groups).Z)
    assert_array_equal(np.bincount(Z[:, 4].round().astype(int))[[10, 20, 30]], [8, 3, 1])


@pytest.mark.parametrize("n", [2, 3, 7, 10, 11, 50, 60])
def test_groups_do_not_change_the_number_of_landmarks(n):
    X = rows(n=60)
    for groups in (np.arange(60) % 7, np.repeat([0, 1, 2], [58, 1, 1]), np.arange(60)):
        Z = choose(X, n, "uniform", KERNEL, 0, groups).Z
        assert len(Z) == n
        assert len(np.unique(Z, axis=0)) == n


def test_groups_of_several_outputs_are_combinations():
    X = rows(n=40)
    X[:, 0] = np.arange(40) % 4
    groups = np.stack([np.arange(40) % 2, np.arange(40) // 2 % 2], axis=1)
    Z = choose(X, 4, "uniform", KERNEL, 0, groups).Z
    assert_array_equal(np.sort(Z[:, 0]), [0, 1, 2, 3])


# -- landmarks of the user ------------------------------------------------------------------------


@pytest.mark.parametrize("storage", STORAGES)
def test_landmarks_can_be_given(storage):
    X = rows(dtype=np.float32)
    Z = STORAGES[storage](rows(n=5, seed=9))
    chosen = choose(X, 99, Z, KERNEL, 0)
    assert chosen.Z.dtype == np.float32
    assert_allclose(dense(chosen.Z), dense(Z), rtol=1e-6)
    assert_array_equal(choose(X, 99, dense(Z).tolist(), KERNEL, 0).Z, dense(chosen.Z))


def test_landmarks_can_be_computed():
    X = rows()
    first = choose(X, 6, lambda X, n, kernel, rng: X[:n], KERNEL, 0)
    assert_array_equal(first.Z, X[:6])
    named = choose(X, 6, CHOICES["rpcholesky"], KERNEL, 3)
    assert isinstance(named, Landmarks)
    assert_array_equal(named.indices, choose(X, 6, "rpcholesky", KERNEL, 3).indices)


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        ("nearest", "landmarks must be one of 'uniform', 'kmeans', 'leverage', 'rpcholesky'"),
        (np.zeros((3, 5)), "landmarks have 5 features but X has 4|4 features but Z has 5"),
        (np.zeros(4), "landmarks must be 2-D"),
        (np.zeros((0, 4)), "landmarks"),
        (np.full((2, 4), np.nan), "landmarks"),
        (lambda X, n, kernel, rng: X[:n, :2], "4 features"),
    ],
)
def test_landmarks_that_cannot_be_used_are_refused(method, sentence):
    with pytest.raises(ValueError, match=sentence):
        choose(rows(), 3, method, KERNEL, 0)


# -- one row of each kind -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("storage", STORAGES)
def test_distinct_rows_depend_neither_on_order_nor_on_repetition(storage, dtype):
    make = STORAGES[storage]
    X = rows(n=40, dtype=dtype)
    once = dense(make(X)[distinct(make(X))])
    assert_array_equal(np.unique(once, axis=0), np.unique(X, axis=0))
    rng = np.random.default_rng(0)
    for _ in range(3):
        again = np.repeat(X, rng.integers(1, 4, 40), axis=0)
        again = make(again[rng.permutation(len(again))])
        assert_array_equal(dense(again[distinct(again)]), once)


@pytest.mark.parametrize("storage", STORAGES)
def test_distinct_rows_have_a_weight(storage):
    make = STORAGES[storage]
    X = rows(n=30)
    w = np.random.default_rng(0).integers(0, 3, 30).astype(float)
    kept = distinct(make(X), w)
    assert np.all(w[kept] > 0)
    assert_array_equal(X[kept], X[w > 0][distinct(make(X[w > 0]))])
    # A copy without weight does not hide one that has it.
    twice = np.concatenate([X[:3], X[:3]])
    assert_array_equal(np.sort(distinct(make(twice), np.array([0.0, 1, 0, 1, 0, 1]))), [1, 3, 5])


def test_distinct_rows_come_in_one_order_from_any_form():
    X = rows(n=50)
    X[X == 0] = -0.0
    expected = distinct(X)
    messy = sparse.csr_array(X + 7.0)  # every entry is stored, then zeros are
    messy.data = (messy.data - 7.0).round(12)
    for form in (np.abs(X) * np.sign(X) + 0.0, np.asfortranarray(X), X[:, ::-1][:, ::-1]):
        assert_array_equal(distinct(form), expected)
    for form in (sparse.csr_array(X), sparse.csr_matrix(X)):
        assert_array_equal(distinct(form), expected)
    assert_array_equal(distinct(messy), distinct(messy.toarray()))
    assert_array_equal(distinct(X.astype(np.float32)), expected)


def test_distinct_leaves_the_rows_as_they_are():
    X = sparse.csr_array(
        (np.array([1.0, 2.0, 0.0]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3)
    )
    X.data.flags.writeable = X.indices.flags.writeable = False
    assert sorted(distinct(X)) == [0, 1]
    assert_array_equal(X.indices, [2, 0, 1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_wide_dense_rows_have_the_digests_of_sparse_ones(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 300)) * 10.0 ** rng.integers(-60, 60, size=(50, 300))
    X[rng.random(X.shape) < 0.3] = -0.0
    with np.errstate(over="ignore", under="ignore"):
        X = X.astype(dtype)
    X[~np.isfinite(X)] = 1.0
    assert_array_equal(digests(X), digests(sparse.csr_matrix(X)))
