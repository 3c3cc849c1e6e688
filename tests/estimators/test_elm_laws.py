"""ELMs are the textbook model, whatever way the rows arrive."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import kernelm
import oracles
from kernelm import ELMClassifier, ELMRegressor
from kernelm.data import ArraySource
from kernelm.kernels import ArcCosine, AsymptoticELM
from problems import as_csr, classification, regression


def seed_only(**options):
    """A machine whose feature map depends on the seed alone, so that parts can be merged."""
    return ELMRegressor(**{"n_hidden": 30, "scale_inputs": False, "random_state": 0} | options)


def features(model, X):
    return model.machine_.solution.phi.map(X)


@pytest.mark.parametrize("alpha", [0.1, 10.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_predictions_are_the_textbook_ridge_on_hidden_units(alpha, intercept):
    X, y = regression()
    model = ELMRegressor(40, alpha=alpha, fit_intercept=intercept, random_state=0).fit(X, y)
    H = features(model, X)
    W, b = oracles.ridge(H, y[:, None], alpha, intercept=intercept)
    assert_allclose(model.predict(X), (H @ W + b)[:, 0], rtol=1e-8, atol=1e-10)
    assert_allclose(H @ model.coef_ + model.intercept_, model.predict(X), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("n_hidden", [20, 500])
def test_alpha_zero_is_the_pseudo_inverse(n_hidden):
    X, y = regression(n=100)
    model = ELMRegressor(n_hidden, alpha=0, fit_intercept=False, random_state=0).fit(X, y)
    H = features(model, X)
    assert_allclose(model.predict(X), H @ (np.linalg.pinv(H) @ y), atol=1e-5)


def test_classes_are_coded_and_the_largest_score_wins():
    X, y = classification(classes=4)
    model = ELMClassifier(60, alpha=1.0, random_state=0).fit(X, y)
    codes = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    W, b = oracles.ridge(features(model, X), codes, 1.0)
    scores = features(model, X) @ W + b
    assert_allclose(model.decision_function(X), scores, rtol=1e-8, atol=1e-9)
    assert_array_equal(model.predict(X), np.unique(y)[scores.argmax(axis=1)])


def test_two_classes_need_one_column():
    X, y = classification(classes=2)
    model = ELMClassifier(60, random_state=0).fit(X, y)
    assert model.decision_function(X).shape == (len(X),)
    assert_array_equal(model.predict(X), model.classes_[(model.decision_function(X) > 0) * 1])


# -- the order and the blocks in which rows arrive ----------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    cuts=st.lists(st.integers(1, 199), max_size=6, unique=True), alpha=st.sampled_from(["gcv", 1])
)
def test_any_blocking_gives_the_same_model(cuts, alpha):
    X, y = regression(n=200)
    whole = seed_only(alpha=alpha).fit(X, y)
    parts = seed_only(alpha=alpha)
    for rows in np.split(np.arange(200), sorted(cuts)):
        parts.partial_fit(X[rows], y[rows])
    assert parts.alpha_ == pytest.approx(whole.alpha_)
    assert_allclose(parts.predict(X), whole.predict(X), rtol=1e-7, atol=1e-8)
    assert parts.loo_score_ == pytest.approx(whole.loo_score_)


def test_the_first_block_freezes_the_scaling_and_a_frozen_model_learns_nothing():
    X, y = classification()
    frozen = ELMClassifier(50, random_state=0).freeze(X, y)
    assert not hasattr(frozen, "alpha_")
    whole = ELMClassifier(50, random_state=0).fit(X, y)
    a, b = copy.deepcopy(frozen), copy.deepcopy(frozen)
    a.partial_fit(X[:120], y[:120])
    b.partial_fit(X[120:], y[120:])
    merged = a.merge(b)
    assert_allclose(merged.decision_function(X), whole.decision_function(X), rtol=1e-7, atol=1e-8)
    assert_allclose(merged.predict_proba(X), whole.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("n_hidden", [30, 250])
def test_models_of_parts_merge_into_the_model_of_all(n_hidden):
    X, y = regression(n=200)
    a = seed_only(n_hidden=n_hidden).fit(X[:90], y[:90])
    b = seed_only(n_hidden=n_hidden).fit(X[90:], y[90:])
    whole = seed_only(n_hidden=n_hidden).fit(X, y)
    assert_allclose(a.merge(b).predict(X), whole.predict(X), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("n_hidden", [30, 250])
def test_forgetting_rows_is_not_having_learned_them(n_hidden):
    X, y = regression(n=200)
    model = seed_only(n_hidden=n_hidden).fit(X, y).forget(X[150:], y[150:])
    never = seed_only(n_hidden=n_hidden).fit(X[:150], y[:150])
    assert_allclose(model.predict(X), never.predict(X), rtol=1e-6, atol=1e-7)
    assert model.loo_score_ == pytest.approx(never.loo_score_, rel=1e-6)


@pytest.mark.parametrize("storage", ["array", "csr", "memmap", "fortran"])
def test_a_source_gives_the_same_model_as_arrays(storage, tmp_path):
    X, y = classification(n=400)
    stored = X
    if storage == "csr":
        stored = as_csr(X)
    elif storage == "fortran":
        stored = np.asfortranarray(X)
    elif storage == "memmap":
        np.save(tmp_path / "X.npy", X)
        stored = np.load(tmp_path / "X.npy", mmap_mode="r")
    options = {"n_hidden": 40, "scale_inputs": False, "random_state": 0}
    from_source = ELMClassifier(**options).fit_source(ArraySource(stored, y))
    from_arrays = ELMClassifier(**options).fit(X, y)
    assert_allclose(
        from_source.decision_function(X), from_arrays.decision_function(X), rtol=1e-8, atol=1e-9
    )


def test_few_and_many_threads_and_blocks_agree():
    X, y = regression(n=3000)
    models = [ELMRegressor(50, n_jobs=n, random_state=0).fit(X, y) for n in (1, 2, 3)]
    with kernelm.config_context(working_memory=0.05):
        models.append(ELMRegressor(50, n_jobs=2, random_state=0).fit(X, y))
        small_blocks = models[-1].predict(X)
    assert_allclose(small_blocks, models[-1].predict(X), rtol=1e-10)
    for model in models[1:]:
        assert_allclose(model.predict(X), models[0].predict(X), rtol=1e-8, atol=1e-9)


def test_the_order_of_the_rows_does_not_matter():
    X, y = classification()
    order = np.random.default_rng(1).permutation(len(X))
    a = ELMClassifier(random_state=0).fit(X, y)
    b = ELMClassifier(random_state=0).fit(X[order], y[order])
    assert a.n_hidden_ == b.n_hidden_
    assert_allclose(a.decision_function(X), b.decision_function(X), rtol=1e-6, atol=1e-7)
    assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("alpha", ["auto", "gcv", "loo", 0.5])
def test_whole_weights_are_repeated_rows(alpha):
    X, y = regression(n=150)
    w = np.random.default_rng(2).integers(0, 4, 150)
    weighted = ELMRegressor(60, alpha=alpha, random_state=0).fit(X, y, sample_weight=w)
    repeated = ELMRegressor(60, alpha=alpha, random_state=0).fit(
        np.repeat(X, w, 0), np.repeat(y, w)
    )
    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6, atol=1e-7)
    assert weighted.loo_score_ == pytest.approx(repeated.loo_score_, rel=1e-6)
    assert_allclose(
        weighted.predict_interval(X), repeated.predict_interval(X), rtol=1e-6, atol=1e-6
    )


def test_class_weights_are_importance_weights():
    X, y = classification(classes=2)
    factors = {"class 0": 3.0, "class 1": 0.5}
    by_class = ELMClassifier(40, alpha=1.0, class_weight=factors, random_state=0).fit(X, y)
    by_row = ELMClassifier(40, alpha=1.0, random_state=0)
    by_row.fit(X, y, sample_weight=[factors[label] for label in y])
    # The scaling is frozen by row weights, not by class weights: compare on equal features.
    H = features(by_class, X)
    weights = np.array([factors[label] for label in y])
    codes = np.where(y == "class 1", 1.0, -1.0)[:, None]
    W, b = oracles.ridge(H, codes, 1.0, weight=weights)
    assert_allclose(by_class.decision_function(X), (H @ W + b)[:, 0], rtol=1e-8, atol=1e-9)
    assert np.mean(by_class.predict(X) == by_row.predict(X)) > 0.95


def test_balanced_class_weights_move_the_balance():
    X, y = classification(classes=2, n=400)
    rare = np.flatnonzero(y == "class 1")[40:]
    X, y = np.delete(X, rare, 0), np.delete(y, rare)
    plain = ELMClassifier(50, random_state=0).fit(X, y)
    balanced = ELMClassifier(50, class_weight="balanced", random_state=0).fit(X, y)
    assert (balanced.predict(X) == "class 1").sum() > (plain.predict(X) == "class 1").sum()


# -- several outputs, new classes ---------------------------------------------------------------


def test_several_outputs_are_independent_given_alpha():
    X, Y = regression(outputs=3)
    together = ELMRegressor(50, alpha=2.0, random_state=0).fit(X, Y)
    for k in range(3):
        alone = ELMRegressor(50, alpha=2.0, random_state=0).fit(X, Y[:, k])
        assert_allclose(together.predict(X)[:, k], alone.predict(X), rtol=1e-8, atol=1e-9)
    assert together.predict_interval(X).shape == (len(X), 3, 2)


def test_several_class_outputs():
    X, a = classification(classes=3)
    b = np.where(X[:, 0] > 0, 7, 9)
    model = ELMClassifier(80, alpha=1.0, random_state=0)
    Y = np.stack([np.unique(a, return_inverse=True)[1], b], axis=1)
    model.fit(X, Y)
    assert_array_equal(
        model.predict(X)[:, 0],
        ELMClassifier(80, alpha=1.0, random_state=0).fit(X, Y[:, 0]).predict(X),
    )
    P = model.predict_proba(X)
    assert [p.shape for p in P] == [(len(X), 3), (len(X), 2)]
    for k, p in enumerate(P):
        assert_array_equal(model.classes_[k][p.argmax(axis=1)], model.predict(X)[:, k])
    assert 0.5 < model.loo_score_ < 1


def test_classes_announced_later_equal_classes_known_before():
    X, y = classification(classes=4)
    early = np.isin(y, ["class 0", "class 2"])
    late = ELMClassifier(40, scale_inputs=False, random_state=0)
    late.partial_fit(X[early], y[early], classes=["class 0", "class 2"])
    late.partial_fit(X[~early], y[~early], classes=["class 1", "class 3"])
    whole = ELMClassifier(40, scale_inputs=False, random_state=0).fit(X, y)
    assert_array_equal(late.classes_, whole.classes_)
    assert_allclose(late.decision_function(X), whole.decision_function(X), rtol=1e-6, atol=1e-7)


# -- limits and precision -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("activation", "kernel", "augment"),
    [("erf", AsymptoticELM(weight_scale=1.0), False), ("relu", 0.5 * ArcCosine([1]), True)],
    ids=["erf to arcsine", "relu to arc-cosine"],
)
def test_many_units_approach_the_kernel_machine(activation, kernel, augment):
    X, y = regression(n=60, d=3)
    inputs = np.column_stack([X, np.ones(len(X))]) if augment else X
    exact = oracles.kernel_ridge(kernel.gram(inputs), y, alpha=0.1)

    def error(units, seed):
        elm = ELMRegressor(
            units,
            activation=activation,
            scale_inputs=False,
            fit_intercept=False,
            alpha=0.1 * units,
            random_state=seed,
        )
        return np.sqrt(np.mean((elm.fit(X, y).predict(X) - exact) ** 2))

    few, many = (np.mean([error(p, seed) for seed in range(8)]) for p in (100, 6400))
    assert many < few / 4  # 64 times the units: an eighth of the error, with room for chance
    assert many < 0.02


def test_float32_stays_float32_and_is_close_to_float64():
    X, y = classification(n=1000)
    double = ELMClassifier(100, random_state=0).fit(X, y)
    single = ELMClassifier(100, random_state=0).fit(X.astype(np.float32), y)
    scores = single.decision_function(X.astype(np.float32))
    assert scores.dtype == np.float32
    # Different rounding may choose the neighbouring alpha: compare what matters.
    assert_allclose(scores, double.decision_function(X), atol=0.05)
    assert np.mean(single.predict(X.astype(np.float32)) == double.predict(X)) > 0.99


def test_float32_rows_with_targets_far_from_zero():
    X, y = regression(dtype=np.float32)
    near = ELMRegressor(50, random_state=0).fit(X, y)
    far = ELMRegressor(50, random_state=0).fit(X, 1e6 + y)
    assert far.loo_score_ == pytest.approx(near.loo_score_, abs=1e-4)
    assert_allclose(far.predict(X) - 1e6, near.predict(X), atol=0.2)  # float32 steps of 1/16


def test_a_pickled_model_predicts_bit_for_bit():
    X, y = classification()
    model = ELMClassifier(random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_the_same_seed_is_the_same_model_and_another_seed_is_not():
    X, y = regression()
    a, b, c = (ELMRegressor(20, random_state=s).fit(X, y).predict(X) for s in (0, 0, 1))
    assert_array_equal(a, b)
    assert np.abs(a - c).max() > 1e-3
