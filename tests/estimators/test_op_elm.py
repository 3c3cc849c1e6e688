"""OP-ELM: units ranked by LARS, as many kept as leave-one-out wants, least squares on them."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression

import oracles
from kernelm import OPELMClassifier, OPELMRegressor, Status
from kernelm.data import ArraySource
from kernelm.features import MixedUnits
from kernelm.ridge import lars_order
from problems import as_csr, classification, regression


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def candidates(model, X):
    """All units that were drawn, in the order of the ranking."""
    return model.machine_.phi.map(X)[:, model.ranking_]


# -- the model is what it says ------------------------------------------------------------------


@pytest.mark.parametrize("outputs", [None, 3])
def test_units_are_ranked_judged_and_fitted_as_the_textbook_has_it(outputs):
    X, y = regression(n=60, outputs=outputs)
    Y = y if outputs else y[:, None]
    Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    model = OPELMRegressor(20, random_state=0).fit(X, y)
    assert_array_equal(model.ranking_, lars_order(model.machine_.phi.map(X), Y))
    H = candidates(model, X)
    press = [
        np.mean(oracles.leave_one_out(oracles.least_squares, H[:, :k], Y) ** 2)
        for k in range(1, 21)
    ]
    assert_allclose(model.press_, press, rtol=1e-6)
    k = model.n_units_
    assert k == 1 + np.flatnonzero(model.press_ <= 1.001 * model.press_.min())[0]
    assert sum(model.units_.values()) == k
    expected = LinearRegression().fit(H[:, :k], y).predict(H[:, :k])
    assert_allclose(model.predict(X), expected, rtol=1e-7, atol=1e-9)
    residuals = oracles.leave_one_out(oracles.least_squares, H[:, :k], Y)
    assert model.loo_score_ == pytest.approx(1 - np.mean(residuals**2), rel=1e-6)


def test_classes_are_coded_and_probabilities_agree_with_predictions():
    X, y = classification(n=300)
    model = OPELMClassifier(40, random_state=0).fit(X, y)
    H, k = candidates(model, X), model.n_units_
    codes = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    scores = LinearRegression().fit(H[:, :k], codes).predict(H[:, :k])
    assert_allclose(model.decision_function(X), scores, rtol=1e-6, atol=1e-8)
    P = model.predict_proba(X)
    assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    assert_allclose(P.sum(axis=1), 1)
    assert model.score(X, y) > 0.8
    held_out = model.machine_.held_out
    assert model.loo_score_ == np.mean(model.classes_[held_out.scores.argmax(axis=1)] == y)


def test_planted_units_are_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    drawn = OPELMRegressor(90, random_state=3).fit(X, X[:, 0]).machine_.phi
    planted = [2, 20, 70]  # an input, a sigmoid and a Gaussian unit
    H = drawn.map(X)[:, planted]
    y = (H / H.std(axis=0)) @ [1.0, 2.0, -2.0] + 0.001 * rng.normal(size=400)
    model = OPELMRegressor(90, random_state=3).fit(X, y)
    kept = model.ranking_[: model.n_units_]
    assert set(planted) <= set(kept.tolist())
    assert model.n_units_ < 45
    assert model.loo_score_ > 0.9999


def test_fewer_units_than_drawn_do_better_than_all_of_them():
    X, y = regression(n=120)
    X_new, y_new = regression(n=2000, seed=1)
    model = OPELMRegressor(110, random_state=0).fit(X, y)
    assert model.n_units_ < 90
    H, H_new = candidates(model, X), candidates(model, X_new)
    everything = LinearRegression().fit(H, y).score(H_new, y_new)
    assert model.score(X_new, y_new) > max(0.6, everything + 0.1)


def test_intervals_cover():
    X, y = regression(n=500)
    X_new, y_new = regression(n=1000, seed=1)
    model = OPELMRegressor(random_state=0).fit(X, y)
    low, high = model.predict_interval(X_new, 0.8).T
    assert 0.7 < np.mean((low < y_new) & (y_new < high)) < 0.88


# -- however the rows come ----------------------------------------------------------------------


def test_weights_are_repetitions_in_any_order():
    X, y = classification(n=150)
    weight = np.random.default_rng(0).integers(0, 4, 150)
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(150), weight))
    a = OPELMClassifier(30, random_state=0).fit(X, y, weight)
    b = OPELMClassifier(30, random_state=0).fit(X[rows], y[rows])
    assert_array_equal(a.ranking_, b.ranking_)
    assert_allclose(a.press_, b.press_, rtol=1e-8)
    assert_allclose(a.decision_function(X), b.decision_function(X), rtol=1e-7, atol=1e-9)
    assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("units", [("linear",), ("sigmoid", "linear"), ("gaussian",)])
def test_sparse_rows_give_the_model_of_dense_ones(units):
    X, y = regression(n=150)
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    a, b = (
        OPELMRegressor(30, units=units, scale_inputs=False, random_state=0).fit(Z, y)
        for Z in (X, as_csr(X))
    )
    assert_array_equal(a.ranking_, b.ranking_)
    assert_allclose(a.predict(as_csr(X)), b.predict(X), rtol=1e-7, atol=1e-8)
    assert OPELMRegressor(30, random_state=0).fit(as_csr(X), y).loo_score_ > 0.2


def test_single_precision_is_close_to_double():
    X, y = regression(n=300)
    double = OPELMRegressor(40, random_state=0).fit(X, y)
    single = OPELMRegressor(40, random_state=0).fit(X.astype(np.float32), y)
    assert single.predict(X.astype(np.float32)).dtype == np.float32
    assert single.loo_score_ == pytest.approx(double.loo_score_, abs=0.01)


def test_a_source_and_a_pickle_give_the_same_model():
    X, y = regression(n=150)
    model = OPELMRegressor(30, random_state=0).fit(X, y)
    sourced = OPELMRegressor(30, random_state=0).fit_source(ArraySource(X, y))
    assert_array_equal(sourced.predict(X), model.predict(X))
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict(X), model.predict(X))
    assert_array_equal(again.predict_interval(X), model.predict_interval(X))


def test_the_same_seed_is_the_same_model_and_many_rows_are_not_kept():
    X, y = regression(n=5000)
    a, b, c = (OPELMRegressor(30, random_state=s).fit(X, y) for s in (0, 0, 1))
    assert_array_equal(a.predict(X), b.predict(X))
    assert np.abs(a.predict(X) - c.predict(X)).max() > 1e-3
    assert a.machine_.sample.X.shape[0] == len(a.machine_.held_out.residuals) == 4096


def test_several_class_outputs_and_class_weights():
    X, y = classification(n=200)
    Y = np.stack([np.unique(y, return_inverse=True)[1], X[:, 0] > 0], axis=1)
    model = OPELMClassifier(40, random_state=0).fit(X, Y)
    assert [p.shape for p in model.predict_proba(X)] == [(200, 3), (200, 2)]
    assert np.mean(model.predict(X) == Y) > 0.8
    rare = (y == "class 1") & (np.arange(200) % 5 > 0)
    plain, balanced = (
        OPELMClassifier(40, class_weight=w, random_state=0).fit(X[~rare], y[~rare])
        for w in (None, "balanced")
    )
    assert (balanced.predict(X) == "class 1").sum() > (plain.predict(X) == "class 1").sum()


# -- which units --------------------------------------------------------------------------------


def test_units_are_what_their_formulas_say():
    X, _ = regression(n=30, d=3)
    phi = MixedUnits.draw(X, 12, seed=1)
    S = oracles.standardised(X)
    H = phi.map(X)
    assert phi.kinds() == {"linear": 3, "sigmoid": 5, "gaussian": 4}
    assert_allclose(H[:, :3], S[:, phi.inputs])
    assert_allclose(H[:, 3:8], 1 / (1 + np.exp(-(S @ phi.W + phi.b))))
    for j, (z, s) in enumerate(zip(phi.Z, phi.widths, strict=True)):
        assert np.abs(S - z).max(axis=1).min() < 1e-12  # a row
        assert_allclose(H[:, 8 + j], [oracles.gaussian(s)(x, z) for x in S], rtol=1e-7)
    chosen = phi.take([9, 0, 5])
    assert_allclose(chosen.map(X), H[:, [9, 0, 5]], rtol=1e-12)
    assert_allclose(chosen.take([2, 0]).map(X), H[:, [5, 9]], rtol=1e-12)
    assert_allclose(phi.leading(4).map(X), H[:, :4], rtol=1e-12)
    assert phi.leading(4).fingerprint != phi.fingerprint


def test_kinds_share_the_units_and_inputs_are_few():
    X, y = regression(n=100)
    model = OPELMRegressor(60, units=["gaussian", "linear"], random_state=0).fit(X, y)
    assert model.machine_.phi.kinds() == {"linear": 5, "sigmoid": 0, "gaussian": 55}
    wide = MixedUnits.draw(np.random.default_rng(0).normal(size=(50, 200)), 30)
    assert wide.kinds() == {"linear": 10, "sigmoid": 10, "gaussian": 10}
    assert len(OPELMRegressor(60, units=["linear"], random_state=0).fit(X, y).ranking_) == 5


# -- hostile rows -------------------------------------------------------------------------------


def hostile():
    X, y = regression(n=80)
    constant = X.copy()
    constant[:, 2] = 1e6
    return {
        "a constant column": (constant, y),
        "only constant columns": (np.full((80, 2), 3.0), y),
        "equal rows": (np.repeat(X[:10], 8, axis=0), y),
        "one row again and again": (np.repeat(X[:1], 80, axis=0), y),
        "equal columns": (np.hstack([X, X, -X]), y),
        "huge inputs": (1e150 * X, y),
        "tiny inputs": (1e-150 * X, y),
        "far inputs": (1e9 + X, y),
        "huge targets": (X, 1e150 * y),
        "a constant target": (X, np.full(80, 2.5)),
        "an outlier": (np.vstack([X[:-1], 1e6 * np.ones(5)]), y),
        "fewer rows than units": (X[:12], y[:12]),
        "more inputs than rows": (np.random.default_rng(0).normal(size=(20, 300)), y[:20]),
        "four rows": (X[:4], y[:4]),
        "three rows": (X[:3], y[:3]),
        "two rows": (X[:2], y[:2]),
        "one row": (X[:1], y[:1]),
    }


@pytest.mark.parametrize("case", hostile())
def test_hard_rows_get_a_finite_answer(case):
    X, y = hostile()[case]
    model = OPELMRegressor(random_state=0).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.predict_interval(X)).all()
    assert 1 <= model.n_units_ <= len(model.press_) <= max(1, len(X) - 2)
    labels = (y > np.median(y)).astype(int)
    if len(np.unique(labels)) > 1:
        P = OPELMClassifier(random_state=0).fit(X, labels).predict_proba(X)
        assert np.isfinite(P).all()


def test_nothing_to_learn_from_is_said():
    X, y = hostile()["only constant columns"]
    model = OPELMRegressor(random_state=0).fit(X, y)
    assert model.status_ is Status.NO_SIGNAL
    assert_allclose(model.predict(X), y.mean())
    assert OPELMRegressor(random_state=0).fit(*regression()).status_ is Status.OK


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_units": 0}, "n_units must be a whole number of at least 1"),
        ({"units": []}, "units must list one or more of 'linear', 'sigmoid', 'gaussian'"),
        ({"units": "linear"}, "units must list one or more"),
        ({"units": ["tanh"]}, "each of units must be one of"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_parameters_are_refused_at_fit(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        OPELMRegressor(**options).fit(*regression(n=20))


def test_progress_is_shown_where_it_is_asked_for(capfd):
    OPELMRegressor(10, verbose=1, random_state=0).fit(*regression(n=50))
    assert "OPELMRegressor" in "".join(capfd.readouterr())
