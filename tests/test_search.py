"""The kernel search: closed-form leave-one-out, with layers shared between deep kernels."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import oracles
from kernelm import search
from kernelm.kernels import (
    ArcCosine,
    ArcCosineLayer,
    AsymptoticELM,
    Gaussian,
    Laplacian,
    Linear,
    Matern32,
    Normalize,
    Polynomial,
)
from kernelm.ridge import DualFactor
from kernelm.search import DEFAULT_CANDIDATES, arc_cosine_lists, rank_kernels
from problems import regression

FEW = [Linear(), Gaussian("median"), Laplacian(2.0), ArcCosine([1, 0]), AsymptoticELM()]


def problem(n=30, outputs=2):
    X, Y = regression(n=n, d=3, outputs=outputs)
    return X, Y - Y.mean(axis=0)


def refit_error(K, Y, alpha, intercept):
    """Mean squared error of rows predicted by machines that have not seen them."""
    total = 0.0
    for i in range(len(K)):
        rest = np.delete(np.arange(len(K)), i)
        if intercept:
            a, b = oracles.bordered_kernel_ridge(K[np.ix_(rest, rest)], Y[rest], alpha)
        else:
            a, b = np.linalg.solve(K[np.ix_(rest, rest)] + alpha * np.eye(len(rest)), Y[rest]), 0
        total += np.sum((Y[i] - K[i, rest] @ a - b) ** 2)
    return total / len(K)


@pytest.mark.parametrize("intercept", [True, False])
def test_scores_are_errors_of_refits(intercept):
    X, Y = problem()
    ranked = rank_kernels(X, Y, FEW, intercept=intercept)
    errors = {}
    for trial in ranked:
        K = trial.resolved.gram(X)
        assert trial.score == pytest.approx(refit_error(K, Y, trial.alpha, intercept), rel=1e-6)
        tried = [refit_error(K, Y, a, intercept) for a in trial.path.alphas]
        # Alphas within a tenth of a percent are equals.
        assert trial.score <= min(tried) * (1 + 1.1e-3)
        errors[trial.kernel] = min(tried)
    assert errors[ranked.best] <= min(errors.values()) * (1 + 1.1e-3)


def test_rules_are_resolved_and_remembered():
    X, Y = problem()
    trial = rank_kernels(X, Y, [Gaussian("0.5*median")])[0]
    assert trial.kernel == Gaussian("0.5*median")
    assert trial.resolved == Gaussian("0.5*median").resolve(X, None, 0)


# -- shared layers --------------------------------------------------------------------------------


def test_there_are_340_lists():
    lists = arc_cosine_lists()
    assert len(lists) == len(set(lists)) == 340 == sum(4**depth for depth in range(1, 5))
    assert {len(k.degrees) for k in lists} == {1, 2, 3, 4}
    assert all(k.normalize for k in lists)
    assert arc_cosine_lists([1], 3) == [ArcCosine([1] * d, normalize=True) for d in (1, 2, 3)]


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_shared_layers_give_the_same_gram_matrices(storage):
    X = storage(problem()[0])
    kernels = [
        *arc_cosine_lists(max_depth=3),
        ArcCosine([1]),
        ArcCosine([1, 0]),
        *FEW[2:],
        Polynomial(degree=2),
        Linear(),
        Linear().normalized(),
        ArcCosine([2]).normalized(),
        Gaussian(2.0).then(ArcCosineLayer(1)),
        Gaussian(2.0) + Linear(),
    ]
    grams = dict(search._grams(kernels, X))
    assert sorted(grams) == list(range(len(kernels)))
    for index, kernel in enumerate(kernels):
        assert_allclose(grams[index], kernel.gram(X), rtol=1e-9, atol=1e-12, err_msg=repr(kernel))


def test_a_kernel_that_ends_early_is_not_changed_by_deeper_ones():
    X = problem()[0]
    kept = [(i, K, K.copy()) for i, K in search._grams([Linear(), *arc_cosine_lists([0, 1], 2)], X)]
    for _, K, at_the_time in kept:
        assert_array_equal(K, at_the_time)


def test_scores_of_shared_layers_are_those_of_each_kernel_alone():
    X, Y = problem()
    together = {t.kernel: t for t in rank_kernels(X, Y, arc_cosine_lists(max_depth=3))}
    for degrees in ([0], [1, 1], [3, 0, 2], [2, 2, 2], [0, 3, 1]):
        kernel = ArcCosine(degrees, normalize=True)
        dual = DualFactor.of(kernel.gram(X), Y, intercept=True)
        path = dual.loo_path(dual.values[-1] * search.ALPHA_SHARES)
        assert together[kernel].score == pytest.approx(path.score, rel=1e-6)
        alone = rank_kernels(X, Y, [kernel])[0]
        assert together[kernel].score == pytest.approx(alone.score, rel=1e-9)
        assert together[kernel].alpha == pytest.approx(alone.alpha)


def test_each_layer_is_computed_once(monkeypatch):
    calls = Counter()

    def counting(layer):
        compute = layer.of

        def of(self, *parts):
            calls[layer.__name__] += 1
            return compute(self, *parts)

        monkeypatch.setattr(layer, "of", of)

    counting(ArcCosineLayer)
    counting(Normalize)
    X, Y = problem(n=10)
    rank_kernels(X, Y, arc_cosine_lists(max_depth=4))
    # One layer a list, where each list alone would compute 4 + 2·16 + 3·64 + 4·256 = 1252.
    assert calls == {"ArcCosineLayer": 340, "Normalize": 340}


# -- weights, order, precision --------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
def test_whole_weights_are_repeated_rows(intercept):
    X, Y = problem()
    w = np.random.default_rng(0).integers(0, 4, len(X))
    candidates = [Gaussian("median"), Laplacian(1.0), ArcCosine([1])]
    weighted = rank_kernels(X, Y, candidates, weight=w, intercept=intercept)
    repeated = rank_kernels(np.repeat(X, w, 0), np.repeat(Y, w, 0), candidates, intercept=intercept)
    for a, b in zip(weighted, repeated, strict=True):
        assert a.kernel == b.kernel
        assert a.score == pytest.approx(b.score, rel=1e-6)
        assert a.alpha == pytest.approx(b.alpha, rel=1e-6)


def test_the_order_of_the_rows_does_not_matter():
    X, Y = problem()
    order = np.random.default_rng(0).permutation(len(X))
    a, b = rank_kernels(X, Y), rank_kernels(X[order], Y[order])
    assert [t.kernel for t in a] == [t.kernel for t in b]
    assert_allclose([t.score for t in a], [t.score for t in b], rtol=1e-6)


def test_kernels_come_in_the_order_of_their_errors():
    X, Y = problem()
    ranked = rank_kernels(X, Y)
    assert len(ranked) == len(DEFAULT_CANDIDATES)
    assert {t.kernel for t in ranked} == set(DEFAULT_CANDIDATES)
    scores = [t.score for t in ranked]
    assert scores == sorted(scores)
    assert ranked.best == ranked[0].kernel


def test_equals_keep_the_order_in_which_they_were_offered():
    X, Y = problem()
    same = [Gaussian(2.0), Linear(), Gaussian(2), Linear(), Gaussian(2.0)]
    ranked = rank_kernels(X, Y, same)
    assert [id(t.kernel) for t in ranked] == [id(same[i]) for i in (0, 2, 4, 1, 3)]
    # Nothing to learn; the arc-cosine kernel shares the group of the linear one.
    offered = [Linear(), Laplacian(1.0), ArcCosine([1]), Matern32()]
    assert [t.kernel for t in rank_kernels(X, np.zeros_like(Y), offered)] == offered


def test_the_better_kernel_wins_on_problems_made_for_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    linear = X @ [[1.0], [-2.0], [0.5]] + 0.3 * rng.normal(size=(120, 1))
    assert rank_kernels(X, linear, [Gaussian(0.5), Laplacian(0.5), Linear()]).best == Linear()
    waves = np.sin(4 * X[:, :1])
    assert rank_kernels(X[:, :1], waves, [Linear(), Gaussian(0.5)]).best == Gaussian(0.5)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_single_precision_ranks_alike(storage):
    X, Y = problem(n=80)
    double = {t.kernel: t.score for t in rank_kernels(X, Y)}
    single = {t.kernel: t.score for t in rank_kernels(storage(X.astype(np.float32)), Y)}
    for kernel, score in double.items():
        # Gram matrices are in double precision: only the rows were rounded.
        assert single[kernel] == pytest.approx(score, rel=1e-4)


def test_hopeless_rows_are_ranked_too():
    _, Y = problem(n=20)
    for X in (np.zeros((20, 3)), np.ones((20, 3)), np.repeat(np.eye(3)[:2], 10, axis=0)):
        ranked = rank_kernels(X, Y)
        assert np.isfinite([t.score for t in ranked]).all()
        assert np.isfinite([t.alpha for t in ranked]).all()
    assert np.isfinite(rank_kernels(np.ones((1, 2)), Y[:1])[0].score)
    assert np.isfinite(rank_kernels(np.ones((2, 2)), Y[:2])[0].score)


def test_overflow_names_the_kernel():
    X, Y = problem()
    with pytest.raises(ValueError, match=r"layer 2 of .*ArcCosineLayer\(degree=3\), overflows"):
        rank_kernels(1e20 * X, Y, [Linear(), ArcCosine([3, 3, 3])])


def test_no_candidates_are_refused():
    with pytest.raises(ValueError, match="at least one kernel"):
        rank_kernels(*problem(), [])


def test_the_repr_lists_the_best():
    X, Y = problem()
    shown = repr(rank_kernels(X, Y, arc_cosine_lists(max_depth=2))).splitlines()
    assert shown[0].split() == ["error", "alpha", "kernel"]
    assert len(shown) == 12
    assert shown[-1] == "... and 10 more"
    one = rank_kernels(X, Y, [Gaussian(2.0)])
    assert repr(one).splitlines()[1] == repr(one[0])
    assert repr(one[0]).endswith("Gaussian(scale=2.0)")
    assert f"{one[0].score:.4g}" in repr(one)
