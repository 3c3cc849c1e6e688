"""Local kernel machines: one leaf is the exact form, leaves are independent, leave-one-out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from catalog import SOURCES
from kernelm import KernelELMClassifier, KernelELMRegressor, config_context
from kernelm.estimators.local import LocalMachine, fit_leaf
from kernelm.estimators.local_fit import depth_of
from kernelm.kernels import Gaussian, Laplacian
from kernelm.ridge import Status

LOCAL = {"approximation": "local", "leaf_size": 60, "random_state": 0}


def regression(n=300, D=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, D))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.standard_normal(n)


def classification(n=300, D=4, seed=0):
    X, y = regression(n, D, seed)
    return X, np.array(["low", "mid", "up"])[np.digitize(y, [0.3, 1.5])]


def machine(kind, **options):
    options = LOCAL | {"kernel": Gaussian(2.0), "alpha": 0.1} | options
    return (KernelELMClassifier if kind == "classes" else KernelELMRegressor)(**options)


def problem(kind, **options):
    return (classification if kind == "classes" else regression)(**options)


def scores(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


both = pytest.mark.parametrize("kind", ["classes", "values"])


@parametrize_with_checks(
    [
        KernelELMClassifier("gaussian", approximation="local", leaf_size=20),
        KernelELMRegressor(approximation="local", leaf_size=50, n_trees=2),
        KernelELMClassifier("laplacian", approximation="local", overlap=0.0, alpha=0.1),
    ]
)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


@both
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_one_leaf_is_the_exact_form(kind, fit_intercept):
    X, y = problem(kind)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    options = {"kernel": Laplacian("median"), "fit_intercept": fit_intercept}
    local = machine(kind, leaf_size=1000, **options).fit(X, y, weight)
    exact = machine(kind, approximation="exact", **options).fit(X, y, weight)
    assert len(local.machine_.trees[0].leaves) == 1
    assert_allclose(scores(local, X), scores(exact, X), atol=1e-8)
    assert_allclose(local.loo_score_, exact.loo_score_)
    assert_allclose(local.effective_df_, exact.effective_df_, rtol=1e-6)


@both
def test_a_row_is_scored_by_an_exact_machine_on_the_rows_of_its_leaf(kind):
    X, y = problem(kind)
    test = problem(kind, n=40, seed=1)[0]
    model = machine(kind, scale_inputs=False).fit(X, y)
    (tree,) = model.machine_.trees
    assert tree.partition.n_leaves == 2 ** depth_of(300, 60, 0.1)
    leaves = tree.partition.leaves(test)
    for k in np.unique(leaves):
        rows = tree.leaves[k].rows
        if not len(rows):  # of one class: a constant
            continue
        own = machine(kind, approximation="exact", scale_inputs=False)
        at = np.flatnonzero(leaves == k)
        if kind == "classes" and len(np.unique(y[rows])) < 3:
            continue  # an exact machine would not know the third class
        assert_allclose(
            scores(model, test[at]), scores(own.fit(X[rows], y[rows]), test[at]), atol=1e-8
        )


@pytest.mark.parametrize("n_trees", [1, 3])
@pytest.mark.parametrize("overlap", [0.0, 0.2])
def test_leave_one_out_is_that_of_refits_with_the_same_tree_and_scales(n_trees, overlap):
    X, y = regression(120)
    model = machine("values", n_trees=n_trees, overlap=overlap, leaf_size=40).fit(X, y)
    fitted = model.machine_
    Y = fitted.targets.encode(y, np.float64)[:, 0]
    S = fitted.scaler.transform(X)
    expected = np.empty(120)
    for i in range(120):
        total = 0.0
        for tree in fitted.trees:
            leaf = tree.leaves[tree.partition.leaves(S[i : i + 1])[0]]
            rows = leaf.rows[leaf.rows != i]
            K = leaf.kernel.gram(S[rows])
            Q = np.linalg.inv(K + leaf.alpha * np.eye(len(rows)))
            b = (Q @ Y[rows]).sum() / Q.sum()
            total += leaf.kernel.gram(S[i : i + 1], S[rows])[0] @ Q @ (Y[rows] - b) + b
        expected[i] = Y[i] - total / n_trees
    assert_allclose(fitted.held_out.residuals[:, 0], expected, atol=1e-8)
    error = next(iter(fitted.solution.units_path.values()))
    assert_allclose(error, np.mean(expected**2), rtol=1e-8)


@both
def test_training_rows_reach_their_leaf(kind):
    X, y = problem(kind)
    model = machine(kind).fit(X, y)
    fitted = model.machine_
    (tree,) = fitted.trees
    leaves = tree.partition.leaves(fitted.scaler.transform(X))
    for i, k in enumerate(leaves):
        assert i in tree.leaves[k].rows or not len(tree.leaves[k].rows)


@both
@pytest.mark.parametrize("offer", SOURCES.values(), ids=SOURCES)
def test_sources_give_the_machine_of_arrays(kind, offer, tmp_path):
    X, y = problem(kind)
    X *= np.random.default_rng(5).random(X.shape) < 0.7
    model = machine(kind, scale_inputs=False)
    whole = clone(model).fit(X, y)
    part = clone(model).fit_source(offer(X, y, None, tmp_path))
    assert_allclose(scores(part, X), scores(whole, X), atol=1e-8)


@both
def test_threads_blocks_and_precision_do_not_change_the_machine(kind):
    X, y = problem(kind)
    model = machine(kind, n_trees=2)
    one = clone(model).set_params(n_jobs=1).fit(X, y)
    with config_context(working_memory=1):
        other = clone(model).set_params(n_jobs=3).fit(X, y)
        assert_allclose(scores(one, X), scores(other, X), atol=1e-10)
    single = clone(model).fit(X.astype(np.float32), y)
    assert scores(single, X.astype(np.float32)).dtype == np.float32
    assert_allclose(scores(single, X.astype(np.float32)), scores(one, X), atol=2e-3)


@both
def test_each_row_alone_has_the_same_scores(kind):
    X, y = problem(kind)
    model = machine(kind, n_trees=2).fit(X, y)
    alone = np.concatenate([np.atleast_1d(scores(model, row[None])) for row in X[:20]])
    assert_allclose(alone.reshape(20, -1), scores(model, X)[:20].reshape(20, -1), atol=1e-10)


def test_weights_are_repeated_rows_where_scales_are_given():
    X, y = regression(200)
    weight = np.random.default_rng(1).integers(1, 4, 200)
    # One tree of both: cuts come from a sample of rows, which repetition changes.
    weighted = machine("values", leaf_size=10_000).fit(X, y, weight)
    repeated = machine("values", leaf_size=10_000).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-8)
    some = machine("values").fit(X, y, np.where(np.arange(200) < 150, 1.0, 0.0))
    assert np.isfinite(some.predict(X)).all()


def test_the_metric_finds_the_inputs_that_count():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (3000, 8))
    y = np.sin(4 * X[:, 0]) * np.cos(3 * X[:, 1]) + 0.05 * rng.standard_normal(3000)
    model = KernelELMRegressor(approximation="local", leaf_size=500, random_state=0)
    model.fit(X[:2500], y[:2500])
    assert set(np.argsort(-model.feature_weights_)[:2]) == {0, 1}
    assert model.feature_importances_[:2].sum() > 0.9
    plain = KernelELMRegressor("gaussian", approximation="local", leaf_size=500, random_state=0)
    plain.fit(X[:2500], y[:2500])
    assert model.score(X[2500:], y[2500:]) > plain.score(X[2500:], y[2500:])
    assert model.score(X[2500:], y[2500:]) == pytest.approx(model.loo_score_, abs=0.02)


def test_overlap_brings_scores_closer_at_the_cuts():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (2000, 1))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(2000)
    line = np.linspace(-1.9, 1.9, 4001)[:, None]
    jumps = []
    for overlap, leaf_size in ((0.0, 60), (0.3, 160)):  # the same cuts
        model = KernelELMRegressor(
            Gaussian("median"),
            approximation="local",
            alpha=0.01,
            overlap=overlap,
            leaf_size=leaf_size,
            random_state=0,
        ).fit(X, y)
        assert len(model.machine_.trees[0].leaves) == 64
        jumps.append(np.abs(np.diff(model.predict(line))).max())
    assert jumps[1] < 0.5 * jumps[0]


def test_leaves_of_one_class_of_few_rows_and_of_equal_rows():
    rng = np.random.default_rng(0)
    X = np.concatenate(
        [rng.normal(0, 0.1, (200, 2)), rng.normal(5, 0.1, (200, 2)), np.ones((300, 2))]
    )
    y = np.repeat([0, 1, 1], [200, 200, 300])
    model = KernelELMClassifier("gaussian", approximation="local", leaf_size=30, random_state=0)
    model.fit(X, y)
    assert model.score(X, y) > 0.99
    assert np.isfinite(model.predict_proba(X)).all()
    tiny = KernelELMClassifier("gaussian", approximation="local", leaf_size=2).fit(
        X[195:205], y[195:205]
    )
    assert np.isfinite(tiny.decision_function(X)).all()
    y[350] = 0
    values = KernelELMRegressor("gaussian", approximation="local", leaf_size=50).fit(X, y)
    assert np.isfinite(values.predict(X)).all()


def test_intervals_probabilities_sparse_rows_and_several_outputs():
    X, y = regression(400)
    model = machine("values").fit(X, y)
    low, high = model.predict_interval(X, 0.9).T
    assert 0.8 < np.mean((low < y) & (y < high)) <= 1
    Y = np.column_stack([y, -y])
    assert_allclose(machine("values").fit(X, Y).predict(X)[:, 0], model.predict(X), atol=1e-8)
    X[np.abs(X) < 0.7] = 0
    dense = machine("values", scale_inputs=False).fit(X, y)
    rows = machine("values", scale_inputs=False).fit(sparse.csr_array(X), y)
    assert_allclose(rows.predict(sparse.csr_array(X)), dense.predict(X), atol=1e-8)
    X, y = classification()
    model = machine("classes", class_weight="balanced").fit(X, y)
    assert_array_equal(model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X))


def test_the_plan_is_linear_in_the_rows():
    model = KernelELMRegressor(approximation="local")
    # One level more: as large leaves, and each row in 1.1 times as many.
    small, large = (model.plan(n, 54) for n in (500_000, round(500_000 / 0.55)))
    assert large.flops == pytest.approx(1.1 / 0.55 * small.flops, rel=1e-3)
    assert large.bytes_sums == pytest.approx(small.bytes_sums, rel=1e-3)
    fitted = machine("values").fit(*regression())
    assert fitted.landmark_path_.stopped == "every row is a landmark"
    assert fitted.n_landmarks_ == 300


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"leaf_size": 1}, "leaf_size must be a whole number of at least 2"),
        ({"n_trees": 0}, "n_trees must be"),
        ({"overlap": -0.1}, "overlap must be"),
        ({"overlap": 1.0}, "overlap must be"),
    ],
)
def test_parameters_that_cannot_be_used(parameters, message):
    with pytest.raises(ValueError, match=message):
        machine("values", **parameters).fit(*regression())


def test_sums_are_not_what_it_keeps():
    model = machine("values").fit(*regression())
    assert not hasattr(model, "partial_fit")
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize(("expected", "local"), [(np.inf, True), (0.0, False)])
def test_auto_takes_leaves_where_they_promise_less_error(expected, local, monkeypatch):
    X, y = regression(3000)
    monkeypatch.setattr("kernelm.estimators.kernel_machine.LOCAL_ROWS", 1000)
    monkeypatch.setattr(
        "kernelm.estimators.kernel_machine._projected", lambda path, n_landmarks: expected
    )
    with config_context(working_memory=8):  # no room for the exact form
        model = KernelELMRegressor("gaussian", random_state=0).fit(X, y)
    assert isinstance(model.machine_, LocalMachine) == local
    assert model.score(X, y) > 0.9
    assert hasattr(model, "partial_fit") != local


class NoisyInSingle:
    """A kernel that loses definiteness in single precision, as those of the distance may."""

    def resolve(self, X, weight, seed):
        return self

    def diag(self, X):
        return np.ones(len(X), X.dtype)

    def gram(self, X):
        K = Gaussian(2.0).gram(X.astype(np.float64))
        v = np.linalg.eigh(K)[1][:, 0]
        return (K - (X.dtype == np.float32) * 0.05 * np.outer(v, v)).astype(X.dtype)


def test_a_leaf_that_single_precision_leaves_indefinite_is_solved_in_double():
    X, y = regression(80)
    args = (np.arange(80), y[:, None], NoisyInSingle(), 0.01, None, None)
    options = {"intercept": True, "seed": 0}
    single, left = fit_leaf(X.astype(np.float32), *args, **options)
    double, right = fit_leaf(X, *args, **options)
    assert single.status is Status.OK
    assert_allclose(single.weights.coef, double.weights.coef, rtol=1e-4, atol=1e-5)
    assert_allclose(left, right, rtol=1e-3, atol=1e-5)
