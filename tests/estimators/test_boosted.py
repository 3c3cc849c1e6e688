"""Boosted ELMs are the two loops of the paper, whatever way steps and rows arrive."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import kernelm
import oracles
from kernelm import BoostedELMClassifier, BoostedELMRegressor, Status
from kernelm.data import ArraySource
from kernelm.features import RowNormalizer
from problems import as_csr, classification, regression

TINY = 0.02  # megabytes: small blocks, and features are not kept between passes


def regressor(n_steps=8, **options):
    return BoostedELMRegressor(n_steps, **{"n_hidden": 20, "random_state": 0} | options)


def classifier(n_steps=8, **options):
    return BoostedELMClassifier(n_steps, **{"n_hidden": 20, "random_state": 0} | options)


def projections(model):
    layers = model.machine_.layers
    return [layers.at(t, np.float64).W.T for t in range(model.n_steps_)]


class Unsized:
    """Rows that only a pass can count."""

    def __init__(self, X, y):
        self.source = ArraySource(X, y)
        self.n_rows, self.n_features, self.dtype = None, X.shape[1], self.source.dtype

    def blocks(self, rows):
        return self.source.blocks(min(rows, 77))


# -- the model ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("levels", "steps"), [(1, 6), (3, 2), (6, 1)])
@pytest.mark.parametrize("activation", ["tanh", "sign"])
def test_levels_of_steps_are_one_sequence_of_steps(levels, steps, activation):
    X, Y = regression(outputs=2)
    model = regressor(
        levels * steps,
        activation=activation,
        bias_scale=0,
        preprocess=None,
        fit_intercept=False,
        alpha=0.7,
        shrinkage=0.4,
    ).fit(X, Y)
    R = np.array(projections(model)).reshape(levels, steps, 20, X.shape[1])
    expected = oracles.ridge_boosting(X, Y, R, 0.7, 0.4, getattr(np, activation))
    assert_allclose(model.predict(X), expected, rtol=1e-9, atol=1e-10)


def test_the_papers_normalisation_and_codes():
    X, y = load_digits(return_X_y=True)
    X, y = X[:400], y[:400]
    options = {"preprocess": "sqrt-center-norm", "bias_scale": 0, "n_hidden": 64}
    model = classifier(5, **options).fit(X, y)
    S = np.array([oracles.normalised_row(x) for x in X])
    codes = np.where(y[:, None] == np.arange(10), 1.0, -1.0)
    mean = codes.mean(axis=0)
    left = oracles.ridge_boosting(S, codes - mean, [projections(model)], 1.0, 0.5, np.tanh)
    assert_allclose(model.decision_function(X), mean + left, rtol=1e-8, atol=1e-9)
    assert_array_equal(model.predict(X), (mean + left).argmax(axis=1))


def test_a_row_of_equal_entries_normalises_to_zero():
    for dtype in (np.float32, np.float64):
        S = RowNormalizer().transform(np.full((2, 7), 0.3, dtype))
        assert S.dtype == dtype
        assert not S.any()


def test_fewer_steps_are_the_stages_of_more():
    X, y = classification()
    model = classifier(9).fit(X, y)
    stages = zip(model.staged_decision_function(X), model.staged_predict(X), strict=True)
    for n_steps, (scores, labels) in enumerate(stages, 1):
        fewer = classifier(n_steps).fit(X, y)
        assert_allclose(scores, fewer.decision_function(X), rtol=1e-10, atol=1e-12)
        assert_array_equal(labels, fewer.predict(X))
        assert_allclose(fewer.step_path_, model.step_path_[:n_steps])
    X, y = regression()
    model = regressor(4).fit(X, y)
    assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))


# -- warm start, interrupts, early stopping -----------------------------------------------------


@pytest.mark.parametrize("memory", [TINY, 256])
def test_a_warm_start_is_one_longer_fit(memory):
    X, y = regression(n=500)
    w = np.random.default_rng(0).integers(0, 3, 500)
    with kernelm.config_context(working_memory=memory):
        model = regressor(3, warm_start=True).fit(X, y, w)
        for n_steps in (4, 9):
            model.set_params(n_steps=n_steps).fit(X, y, w)
        longer = regressor(9).fit(X, y, w)
    assert model.n_steps_ == 9
    assert_array_equal(model.predict(X), longer.predict(X))
    assert_array_equal(model.step_path_, longer.step_path_)
    assert_array_equal(model.predict_interval(X), longer.predict_interval(X))


def test_a_warm_start_makes_only_the_missing_steps():
    X, y = regression()
    calls = []

    def counted(A):
        calls.append(len(A))
        return np.tanh(A)

    model = regressor(10, activation=counted, warm_start=True).fit(X, y)
    first = len(calls)
    model.set_params(n_steps=11).fit(X, y)
    assert len(calls) - first < first / 3
    model.set_params(n_steps=11, alpha=2.0).fit(X, y)  # another model: all steps anew
    assert_allclose(
        model.predict(X), regressor(11, activation=counted, alpha=2.0).fit(X, y).predict(X)
    )
    model.fit(X[:200], y[:200])
    assert_allclose(
        model.predict(X),
        regressor(11, alpha=2.0, activation=counted).fit(X[:200], y[:200]).predict(X),
    )
    with pytest.raises(ValueError, match="n_steps must be at least 11"):
        model.set_params(n_steps=5).fit(X[:200], y[:200])


@pytest.mark.parametrize("memory", [TINY, 256])
def test_an_interrupt_keeps_the_steps_that_are_complete(memory):
    X, y = classification(n=700)
    alive = [10**6]

    def mortal(A):
        alive[0] -= 1
        if alive[0] == 0:
            raise KeyboardInterrupt
        return np.tanh(A)

    with kernelm.config_context(working_memory=memory):
        whole = classifier(6, activation=mortal).fit(X, y)
        calls = 10**6 - alive[0]
        model = classifier(6, activation=mortal, warm_start=True)
        alive[0] = int(0.6 * calls)
        with pytest.warns(UserWarning, match="interrupted after . of 6 steps"):
            model.fit(X, y)
        alive[0] = 10**6
        assert 0 < model.n_steps_ < 6
        assert model.status_ is Status.INTERRUPTED
        assert len(model.step_path_) == model.n_steps_
        stages = list(whole.staged_decision_function(X))
        assert_allclose(model.decision_function(X), stages[model.n_steps_ - 1], atol=1e-12)
        assert_array_equal(model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X))
        model.fit(X, y)
        assert model.status_ is Status.OK
        assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-12)
        alive[0] = 1
        with pytest.raises(KeyboardInterrupt):
            classifier(6, activation=mortal).fit(X, y)


def test_the_criterion_is_gcv_of_the_product_of_all_steps():
    X, y = regression(n=60)
    model = regressor(7, preprocess=None, bias_scale=0, fit_intercept=False).fit(X, y)
    scale = model.machine_.targets.scale[0]
    for n_steps in (1, 3, 7):
        left = oracles.boosting_operator(X, projections(model)[:n_steps], 1.0, 0.5, np.tanh)
        gcv = np.mean((left @ y / scale) ** 2) / np.mean(np.diag(left)) ** 2
        assert model.step_path_[n_steps - 1] == pytest.approx(gcv, rel=1e-8)  # exact for few rows


def test_probes_estimate_the_degrees_of_freedom_of_many_rows():
    X, y = regression(n=400)
    model = regressor(10, preprocess=None, bias_scale=0, fit_intercept=False, n_hidden=60).fit(X, y)
    left = oracles.boosting_operator(X, projections(model), 1.0, 0.5, np.tanh)
    scale = model.machine_.targets.scale[0]
    gcv = np.mean((left @ y / scale) ** 2) / np.mean(np.diag(left)) ** 2
    assert model.step_path_[-1] == pytest.approx(gcv, rel=0.1)


@pytest.mark.parametrize("noise", [0.3, 1.0])
def test_early_stopping_is_nearly_as_good_as_looking_at_held_out_rows(noise):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4400, 5))
    truth = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    y = truth + noise * rng.normal(size=len(X))
    X, X_new, y, new = X[:400], X[400:], y[:400], truth[400:]
    options = {"n_hidden": 50, "alpha": 1.0, "patience": 15}
    stopped = regressor(150, early_stopping=True, **options).fit(X, y)
    errors = np.array(
        [np.mean((p - new) ** 2) for p in regressor(150, **options).fit(X, y).staged_predict(X_new)]
    )
    assert stopped.n_steps_ < 150
    assert len(stopped.step_path_) == stopped.n_steps_ + 15
    assert_allclose(np.mean((stopped.predict(X_new) - new) ** 2), errors[stopped.n_steps_ - 1])
    assert errors[stopped.n_steps_ - 1] < 1.1 * errors.min()
    again = regressor(stopped.n_steps_, **options).fit(X, y)
    assert_allclose(stopped.predict_interval(X), again.predict_interval(X))


def test_early_stopping_and_more_steps_go_together():
    X, y = regression(n=200)
    short = regressor(4, early_stopping=True, warm_start=True, n_hidden=60).fit(X, y)
    for n_steps in (20, 100):
        short.set_params(n_steps=n_steps).fit(X, y)
    long = regressor(100, early_stopping=True, n_hidden=60).fit(X, y)
    assert short.n_steps_ == long.n_steps_ < 100
    assert_array_equal(short.predict(X), long.predict(X))


# -- rows ---------------------------------------------------------------------------------------


def test_whole_weights_are_repeated_rows():
    X, y = regression(n=150)
    w = np.random.default_rng(2).integers(0, 4, 150)
    weighted = regressor().fit(X, y, sample_weight=w)
    repeated = regressor().fit(np.repeat(X, w, 0), np.repeat(y, w))
    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-7, atol=1e-8)
    # Degrees of freedom are estimated by other probes.
    assert_allclose(weighted.step_path_, repeated.step_path_, rtol=0.1)
    assert weighted.approximate_loo_score_ == pytest.approx(
        repeated.approximate_loo_score_, abs=0.02
    )


def test_class_weights_are_importance_weights():
    X, y = classification(classes=2)
    factors = {"class 0": 3.0, "class 1": 0.5}
    by_class = classifier(preprocess=None, class_weight=factors).fit(X, y)
    by_row = classifier(preprocess=None).fit(X, y, sample_weight=[factors[v] for v in y])
    assert_allclose(by_class.decision_function(X), by_row.decision_function(X), atol=1e-10)
    balanced = classifier(class_weight="balanced").fit(X, y)
    assert balanced.decision_function(X).shape == (len(X),)


@pytest.mark.parametrize("weighted", [False, True])
def test_threads_and_blocks_do_not_matter(weighted):
    X, y = regression(n=3000)
    w = np.random.default_rng(0).random(3000) if weighted else None
    models = [regressor(n_jobs=n).fit(X, y, w) for n in (1, 2, 3)]
    with kernelm.config_context(working_memory=TINY):
        models.append(regressor(n_jobs=2).fit(X, y, w))
        small_blocks = models[-1].predict(X)
    assert_allclose(small_blocks, models[-1].predict(X), rtol=1e-10)
    for model in models[1:]:
        assert_allclose(model.predict(X), models[0].predict(X), rtol=1e-8, atol=1e-9)
        assert_allclose(model.step_path_, models[0].step_path_, rtol=1e-8)


@pytest.mark.parametrize("memory", [TINY, 256])
@pytest.mark.parametrize("storage", ["array", "csr", "memmap", "unsized"])
def test_a_source_gives_the_same_model_as_arrays(storage, memory, tmp_path):
    X, y = classification(n=400)
    stored = X
    if storage == "csr":
        stored = as_csr(X)
    elif storage == "memmap":
        np.save(tmp_path / "X.npy", X)
        stored = np.load(tmp_path / "X.npy", mmap_mode="r")
    source = Unsized(X, y) if storage == "unsized" else ArraySource(stored, y)
    with kernelm.config_context(working_memory=memory):
        from_source = classifier(preprocess=None).fit_source(source)
    from_arrays = classifier(preprocess=None).fit(X, y)
    assert_allclose(
        from_source.decision_function(X), from_arrays.decision_function(X), rtol=1e-8, atol=1e-9
    )
    assert_allclose(from_source.predict_proba(X), from_arrays.predict_proba(X), atol=1e-6)
    announced = classifier(preprocess=None).fit_source(source, classes=np.unique(y))
    assert_array_equal(announced.classes_, from_arrays.classes_)


@pytest.mark.parametrize("preprocess", [None, "standard", "sqrt-center-norm"])
def test_sparse_rows_are_rows(preprocess):
    X, y = classification()
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.5, 0, X)
    dense = classifier(preprocess=preprocess).fit(X, y)
    assert_allclose(dense.decision_function(as_csr(X)), dense.decision_function(X), atol=1e-9)
    sparse = classifier(preprocess=preprocess).fit(as_csr(X), y)
    assert_allclose(sparse.decision_function(as_csr(X)), sparse.decision_function(X), atol=1e-9)
    if preprocess != "standard":  # which leaves sparse columns where they are
        assert_allclose(sparse.decision_function(X), dense.decision_function(X), atol=1e-9)


def test_float32_stays_float32_and_is_close_to_float64():
    X, y = classification(n=1000)
    double = classifier(30, n_hidden=60).fit(X, y)
    single = classifier(30, n_hidden=60).fit(X.astype(np.float32), y)
    scores = single.decision_function(X.astype(np.float32))
    assert scores.dtype == np.float32
    assert_allclose(scores, double.decision_function(X), atol=2e-3)
    assert_allclose(single.step_path_, double.step_path_, rtol=1e-3)


# -- what comes out -----------------------------------------------------------------------------


def test_probabilities_agree_with_predictions_and_are_honest():
    X, y = classification(n=3000, classes=3)
    X, X_new, y, y_new = train_test_split(X, y, train_size=600, random_state=0)
    model = classifier(60, n_hidden=60).fit(X, y)
    P = model.predict_proba(X_new)
    assert_allclose(P.sum(axis=1), 1)
    assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X_new))
    assert model.approximate_loo_score_ == pytest.approx(model.score(X_new, y_new), abs=0.04)
    assert P.max(axis=1).mean() == pytest.approx(model.score(X_new, y_new), abs=0.05)


def test_intervals_hold_new_targets():
    X, y = regression(n=3000)
    model = regressor(40, n_hidden=60).fit(X[:500], y[:500])
    low, high = model.predict_interval(X[500:], coverage=0.8).T
    assert 0.7 < np.mean((low < y[500:]) & (y[500:] < high)) < 0.9
    assert model.approximate_loo_score_ == pytest.approx(model.score(X[500:], y[500:]), abs=0.05)


def test_one_full_step_is_left_out_exactly():
    X, y = regression(n=60)
    model = regressor(1, shrinkage=1.0, preprocess=None, bias_scale=0, fit_intercept=False)
    model.fit(X, y)
    H = np.tanh(X @ projections(model)[0].T)

    def fit(H, Y, weight=None):
        return oracles.ridge(H, Y, 1.0, intercept=False, weight=weight)

    expected = oracles.leave_one_out(fit, H, y[:, None])
    held_out = model.machine_.held_out
    assert_allclose(held_out.residuals * model.machine_.targets.scale[0], expected, rtol=1e-6)


def test_several_outputs():
    X, Y = regression(outputs=3)
    together = regressor().fit(X, Y)
    for k in range(3):
        assert_allclose(together.predict(X)[:, k], regressor().fit(X, Y[:, k]).predict(X))
    assert together.predict_interval(X).shape == (len(X), 3, 2)
    X, a = classification()
    index = np.unique(a, return_inverse=True)[1]
    many = classifier().fit(X, np.stack([index, X[:, 0] > 0], axis=1))
    assert [p.shape for p in many.predict_proba(X)] == [(len(X), 3), (len(X), 2)]
    assert_array_equal(many.predict(X)[:, 0], classifier().fit(X, index).predict(X))


def test_a_pickled_model_is_weights_without_projections():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 200)).astype(np.float32)
    y = X[:, 0] > 0
    model = BoostedELMClassifier(5, random_state=0, warm_start=True).fit(X, y)
    stored = pickle.dumps(model)
    weights = 5 * 200 * 4
    assert len(stored) < weights + 100_000  # one layer alone would be 160,000 bytes
    again = pickle.loads(stored)
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    again.set_params(n_steps=7).fit(X, y)
    model.set_params(n_steps=7).fit(X, y)
    assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_the_same_seed_is_the_same_model_and_steps_differ():
    X, y = regression()
    a, b, c = (regressor(random_state=s).fit(X, y) for s in (0, 0, 1))
    assert_array_equal(a.predict(X), b.predict(X))
    assert np.abs(a.predict(X) - c.predict(X)).max() > 1e-3
    first, second = projections(a)[:2]
    assert np.abs(first - second).max() > 0.1
    assert clone(a).get_params() == a.get_params()


def test_default_layers_are_as_wide_as_the_inputs_within_reason():
    rng = np.random.default_rng(0)
    for n_features, expected in ((3, 100), (150, 150)):
        X = rng.normal(size=(50, n_features))
        assert BoostedELMRegressor(1).fit(X, X[:, 0]).n_hidden_ == expected


def test_progress_tells_the_step(capsys):
    X, y = regression()
    regressor(3, verbose=1).fit(X, y)
    assert "BoostedELMRegressor step 3/3" in capsys.readouterr().err


# -- hostile input ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_steps": 0}, "n_steps must be a whole number"),
        ({"n_hidden": 0}, "n_hidden"),
        ({"activation": "rbf"}, "activation must be one of"),
        ({"weights": "data"}, "weights must be one of"),
        ({"preprocess": "minmax"}, "preprocess must be one of"),
        ({"alpha": -1}, "alpha must be"),
        ({"alpha": "gcv"}, "alpha must be"),
        ({"shrinkage": 0}, "shrinkage must be a number above 0"),
        ({"shrinkage": 1.5}, "shrinkage must be a number above 0"),
        ({"patience": 0}, "patience"),
    ],
)
def test_parameters_that_cannot_be_used_are_refused_by_name(options, sentence):
    X, y = regression(n=20)
    with pytest.raises(ValueError, match=sentence):
        regressor(**options).fit(X, y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("alpha", [0.0, 1e-15])
def test_more_units_than_rows_and_hardly_any_ridge(alpha, dtype):
    X, y = regression(n=40, dtype=dtype)
    model = regressor(20, alpha=alpha, n_hidden=100).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert model.status_ is Status.FLOORED
    assert model.score(X, y) > 0.9


def test_constant_columns_constant_targets_and_one_row():
    X = np.ones((30, 3))
    assert_allclose(regressor().fit(X, np.arange(30.0)).predict(X), 14.5, atol=0.5)
    X, _ = regression(n=30)
    assert_allclose(regressor().fit(X, np.full(30, 7.0)).predict(X), 7.0)
    assert_allclose(regressor().fit(X[:1], [3.0]).predict(X[:1]), 3.0)


def test_features_that_overflow_are_refused():
    X, y = regression(n=50, dtype=np.float32)
    with pytest.raises(ValueError, match="too large to be summed"), np.errstate(all="ignore"):
        regressor(activation="identity", preprocess=None).fit(X * np.float32(1e30), y)
