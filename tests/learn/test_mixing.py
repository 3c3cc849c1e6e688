"""Weights of kernels: the quadratic programme, its sums, and what it finds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelm import MultipleKernelLearner
from kernelm.kernels import ArcCosine, Gaussian, Linear, Matern32
from kernelm.learn.mixing import alignment, mixture, programme, repicked
from kernelm.learn.neighbors import nearest

KERNELS = [Gaussian(0.7), ArcCosine([1], normalize=True), Gaussian(3.0), Matern32(2.0)]


def cloud(n=60, D=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, D)) + 2 * rng.integers(0, 2, (n, 1))


def dense_programme(X, kernels, B):
    """W and z of the design's N × N formulation, with d = 1."""
    N = len(X)
    index = NearestNeighbors(n_neighbors=B).fit(X).kneighbors(return_distance=False)
    D = np.zeros((N, N))
    D[np.arange(N)[:, None], index] = 1
    P = X @ X.T
    V = np.square(X[:, None] - X[None]).sum(axis=2)
    masked = [k.gram(X) * D for k in kernels]
    W = np.array([[np.sum((s @ P) * t) for t in masked] for s in masked])
    p = np.array([np.sum(P * t) for t in masked])
    v = np.array([np.sum(V * t) for t in masked])
    return W, p, v


@parametrize_with_checks(
    [
        MultipleKernelLearner(),
        MultipleKernelLearner([Gaussian(), Linear()], rounds=2, average=False),
        MultipleKernelLearner(criterion="alignment"),
        MultipleKernelLearner(neighbors="approximate", n_samples=50),
    ]
)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_sums_over_neighbours_are_those_of_full_matrices(form):
    X = cloud()
    total = programme(form(X), nearest(X, 5), KERNELS)
    W, p, v = dense_programme(X, KERNELS, 5)
    for ours, dense in zip(total[:3], (W, p, v), strict=True):
        assert_allclose(ours, dense, rtol=1e-10)
    assert_allclose(total.xx, np.sum(X**2))


@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0, 10.0])
@pytest.mark.parametrize("average", [False, True])
def test_weights_solve_the_programme(gamma, average):
    X = cloud()
    learner = MultipleKernelLearner(KERNELS, n_neighbors=5, gamma=gamma, average=average).fit(X)
    mu = learner.weights_
    assert learner.residual_ < 1e-10
    assert mu.min() >= 0
    assert_allclose(mu.sum(), 1)
    W, p, v = dense_programme(X, KERNELS, 5)
    d = 0.2 if average else 1.0

    def objective(m):
        return 0.5 * d**2 * m @ W @ m - d * (p - gamma * v) @ m

    constraint = {"type": "eq", "fun": lambda m: m.sum() - 1}
    start = np.full(4, 0.25)
    oracle = minimize(
        objective, start, bounds=[(0, 1)] * 4, constraints=constraint, options={"ftol": 1e-14}
    )
    assert objective(mu) <= oracle.fun + 1e-9 * abs(oracle.fun)
    value = learner.objective_[-1] * len(X)
    assert_allclose(value, objective(mu) + 0.5 * np.sum(X**2), rtol=1e-9)


def test_the_order_of_rows_does_not_matter():
    X, order = cloud(200), np.random.default_rng(1).permutation(200)
    one, other = (MultipleKernelLearner(KERNELS).fit(rows) for rows in (X, X[order]))
    assert_allclose(one.weights_, other.weights_, atol=1e-9)


def test_blocks_and_threads_give_the_same_sums(monkeypatch):
    X = cloud(300)
    index = nearest(X, 4)
    whole = programme(X, index, KERNELS)
    monkeypatch.setattr("kernelm.learn.mixing._PAIRS", 64)
    for n_jobs in (1, 3):
        for ours, theirs in zip(programme(X, index, KERNELS, n_jobs=n_jobs), whole, strict=True):
            assert_allclose(ours, theirs, rtol=1e-12)


def test_a_planted_mixture_is_recovered():
    """Rows that a known mixture of kernels rebuilds without error, and no other does."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3)) + 3
    planted = np.array([0.3, 0.0, 0.7])
    kernels = [Gaussian(0.5), Matern32(0.2), Gaussian(2.0)]
    index = nearest(X, 6)
    total = programme(X, index, kernels)
    # Targets that the mixture makes of the neighbours, in place of the rows themselves.
    exact = total._replace(p=total.A @ planted, xx=float(planted @ total.A @ planted))
    assert_allclose(exact.solve(0.0), planted, atol=1e-8)
    assert abs(exact.value(exact.solve(0.0), 0.0)) < 1e-8 * exact.xx


def test_identical_kernels_share_and_one_kernel_has_all():
    X = cloud()
    assert_allclose(MultipleKernelLearner([Gaussian(), Gaussian()]).fit(X).weights_, 0.5, atol=1e-3)
    one = MultipleKernelLearner([Gaussian(2.0)]).fit(X)
    assert_array_equal(one.weights_, [1.0])
    assert one.kernel_ == Gaussian(2.0)


@pytest.mark.parametrize(
    "X",
    [np.zeros((20, 3)), np.ones((20, 3)), np.repeat(cloud(5), 6, axis=0), np.eye(1)],
    ids=["zeros", "constant", "repeated", "one row"],
)
@pytest.mark.parametrize("rounds", [0, 2])
def test_degenerate_rows_give_finite_weights(X, rounds):
    learner = MultipleKernelLearner(rounds=rounds).fit(X)
    assert np.isfinite(learner.weights_).all()
    assert_allclose(learner.weights_.sum(), 1)
    assert np.isfinite(learner.kernel_.gram(X)).all()


def test_picking_again_never_raises_the_objective():
    X = cloud(150)
    learner = MultipleKernelLearner(KERNELS, n_neighbors=4, rounds=5).fit(X)
    assert len(learner.objective_) > 1
    assert np.all(np.diff(learner.objective_) <= 1e-12)
    assert learner.objective_[-1] < learner.objective_[0]


def test_greedy_picks_are_those_of_a_loop():
    X, kernel, gamma = cloud(30), Gaussian(2.0), 0.5
    pool = nearest(X, 8)
    K = kernel.gram(X)
    picked = repicked(X, pool[:, :3], pool, kernel, gamma)
    for i in range(len(X)):
        rest, chosen = X[i].copy(), []
        for _ in range(3):
            cost = {
                j: 0.5 * np.sum((rest - K[i, j] * X[j]) ** 2)
                + gamma * K[i, j] * np.sum((X[i] - X[j]) ** 2)
                for j in pool[i]
                if j not in chosen
            }
            chosen.append(min(cost, key=cost.get))
            rest -= K[i, chosen[-1]] * X[chosen[-1]]
        near = list(pool[i, :3])
        assert list(picked[i]) in (chosen, near)
        assert objective(X, K, i, picked[i], gamma) <= objective(X, K, i, near, gamma) + 1e-12
        assert objective(X, K, i, picked[i], gamma) <= objective(X, K, i, chosen, gamma) + 1e-12


def objective(X, K, i, chosen, gamma):
    rest = X[i] - sum(K[i, j] * X[j] for j in chosen)
    return 0.5 * rest @ rest + gamma * sum(K[i, j] * np.sum((X[i] - X[j]) ** 2) for j in chosen)


def test_aligned_weights_are_those_of_a_projected_search():
    X, rng = cloud(50), np.random.default_rng(2)
    Y = np.sin(X[:, :1]) + 0.1 * rng.standard_normal((50, 1))
    grams = [k.gram(X) for k in KERNELS]
    mu = alignment(grams, Y)
    assert_allclose(mu.sum(), 1)

    def aligned(m):
        H = np.eye(50) - 1 / 50
        K = H @ sum(w * G for w, G in zip(m, grams, strict=True)) @ H
        return np.sum(K * (Y @ Y.T)) / np.linalg.norm(K)

    best = max(aligned(m) for m in rng.dirichlet(np.full(4, 0.5), 3000))
    assert aligned(mu) >= best - 1e-12


def test_alignment_finds_the_kernel_that_made_the_targets():
    X = cloud(200)
    y = Gaussian(3.0).gram(X) @ np.random.default_rng(0).standard_normal(200)
    learner = MultipleKernelLearner([Gaussian(0.05), Gaussian(3.0)], criterion="alignment")
    assert learner.fit(X, y).weights_[1] > 0.95


def test_approximate_neighbours_are_mostly_the_nearest():
    X = np.random.default_rng(0).standard_normal((3000, 8))
    exact, near = nearest(X, 10), nearest(X, 10, approximate=True)
    found = np.mean([len(np.intersect1d(a, b)) / 10 for a, b in zip(exact, near, strict=True)])
    assert found > 0.6
    assert all(len(set(row)) == 10 for row in near)
    assert not np.any(near == np.arange(3000)[:, None])
    assert_array_equal(near, nearest(X, 10, approximate=True))
    csr = nearest(sparse.csr_array(X), 10, approximate=True)
    assert np.mean(csr == near) > 0.99


def test_mixtures_are_weighted_sums():
    X, weights = cloud(10), np.array([0.25, 0.0, 0.75, 0.0])
    K = mixture(KERNELS, weights).gram(X)
    assert_allclose(K, 0.25 * KERNELS[0].gram(X) + 0.75 * KERNELS[2].gram(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernels": []}, "candidates"),
        ({"kernels": ["rbf"]}, "kernel"),
        ({"criterion": "entropy"}, "criterion must be one of"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number of at least 1"),
        ({"gamma": -1}, "gamma must be a finite number of at least 0"),
        ({"neighbors": "annoy"}, "neighbors must be one of"),
        ({"rounds": -1}, "rounds must be"),
        ({"n_samples": 1}, "n_samples"),
    ],
)
def test_parameters_that_cannot_be_used(parameters, message):
    with pytest.raises(ValueError, match=message):
        MultipleKernelLearner(**parameters).fit(cloud())
