"""Alpha, units, probabilities and intervals are chosen in closed form, and honestly."""

import io
from contextlib import redirect_stderr

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import kernelm
from kernelm import ELMClassifier, ELMRegressor, Status
from kernelm.data.targets import best_class
from kernelm.tasks import Link, fit_link, probabilities
from problems import classification, regression

WAYS = ("auto", "loo")


def brute_force_loo(model, X, y):
    """Leave-one-out predictions by refitting on the same frozen features."""
    H = model.machine_.solution.phi.map(X)
    predictions = np.empty(len(y))
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        centre = H[rest].mean(axis=0)
        A = (H[rest] - centre).T @ (H[rest] - centre) + model.alpha_ * np.eye(H.shape[1])
        w = np.linalg.solve(A, (H[rest] - centre).T @ (y[rest] - y[rest].mean()))
        predictions[i] = y[rest].mean() + (H[i] - centre) @ w
    return predictions


def test_the_leave_one_out_score_is_that_of_refits():
    X, y = regression(n=80)
    model = ELMRegressor(30, alpha=0.5, random_state=0).fit(X, y)
    residuals = y - brute_force_loo(model, X, y)
    assert model.loo_score_ == pytest.approx(1 - residuals.var() / y.var(), rel=1e-2)
    r2 = 1 - np.sum(residuals**2) / np.sum((y - y.mean()) ** 2)
    assert model.loo_score_ == pytest.approx(r2, rel=1e-7)


def test_alpha_by_leave_one_out_minimises_the_error_of_refits():
    X, y = regression(n=60)
    model = ELMRegressor(25, alpha="loo", random_state=0).fit(X, y)
    assert model.path_.criterion == "loo"
    at_best = np.mean((y - brute_force_loo(model, X, y)) ** 2)
    assert model.path_.score * y.var() == pytest.approx(at_best, rel=1e-6)
    for other in model.path_.alphas[:: len(model.path_.alphas) // 4]:
        refit = ELMRegressor(25, alpha=other, random_state=0).fit(X, y)
        # The largest alpha within 1e-3 of the least error is taken.
        assert np.mean((y - brute_force_loo(refit, X, y)) ** 2) >= at_best * (1 - 1.1e-3)


def test_auto_is_leave_one_out_of_all_rows_while_they_are_few():
    X, y = regression(n=300)
    for n_hidden in (25, 400):  # fewer units than rows, and more
        auto, loo = (ELMRegressor(n_hidden, alpha=a, random_state=0).fit(X, y) for a in WAYS)
        assert auto.path_.criterion == "loo"
        assert_allclose(auto.path_.scores, loo.path_.scores, rtol=1e-9)
        assert auto.alpha_ == loo.alpha_


def test_auto_is_leave_one_out_of_the_kept_rows_of_many():
    X, y = regression(n=6000)
    auto, loo = (ELMRegressor(60, alpha=a, random_state=0).fit(X, y) for a in WAYS)
    # A sample of 4,096 of 6,000 squared errors, and the same model.
    assert_allclose(auto.path_.scores, loo.path_.scores, rtol=0.05)
    assert abs(np.log10(auto.alpha_ / loo.alpha_)) <= 0.51  # half a decade: next to it


def test_some_rows_that_come_twice_do_not_flatter_a_model_of_many_units():
    # Generalised cross-validation prefers to interpolate here.
    X, y = regression(n=400)
    y = y + np.random.default_rng(1).normal(size=400)
    twice = np.r_[0:150, 0:30]
    model = ELMRegressor(1000, random_state=0).fit(X[twice], y[twice])
    assert model.score(X[150:], y[150:]) > 0.25
    flattered = ELMRegressor(1000, alpha="gcv", random_state=0).fit(X[twice], y[twice])
    assert flattered.score(X[150:], y[150:]) < -1


def test_the_path_of_given_candidates():
    X, y = regression()
    alphas = [100.0, 1e-3, 0.1]
    model = ELMRegressor(50, alpha=alphas, random_state=0).fit(X, y)
    assert_array_equal(model.path_.alphas, sorted(alphas))
    assert model.alpha_ in alphas
    assert model.path_.criterion == "gcv"
    given = ELMRegressor(50, alpha=0.1, random_state=0).fit(X, y)
    assert given.alpha_ == 0.1
    assert given.path_.criterion == "given"


def test_effective_degrees_of_freedom():
    X, y = regression()
    model = ELMRegressor(40, alpha=3.0, random_state=0).fit(X, y)
    H = model.machine_.solution.phi.map(X)
    H = H - H.mean(axis=0)
    hat = H @ np.linalg.solve(H.T @ H + 3.0 * np.eye(40), H.T)
    assert model.effective_df_ == pytest.approx(np.trace(hat) + 1)


def test_auto_units_grow_with_the_problem_and_stay_small_where_it_is_simple():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (4000, 2))
    simple = ELMRegressor(random_state=0).fit(X, X @ [1.0, -2.0] + rng.normal(0, 1, 4000))
    wiggly = np.sin(12 * X[:, 0]) * np.cos(14 * X[:, 1])
    hard = ELMRegressor(weight_scale=4, random_state=0).fit(X, wiggly)
    assert simple.n_hidden_ == 128
    assert hard.n_hidden_ > 500
    assert min(hard.units_path_, key=hard.units_path_.get) == hard.n_hidden_


def test_auto_units_equal_the_same_number_given():
    X, y = regression(n=600)
    auto = ELMRegressor(random_state=0).fit(X, y)
    given = ELMRegressor(auto.n_hidden_, random_state=0).fit(X, y)
    assert_allclose(auto.predict(X), given.predict(X), rtol=1e-6, atol=1e-7)


def test_auto_units_while_streaming_use_one_pass():
    X, y = regression(n=2500)
    model = ELMRegressor(random_state=0)
    for rows in np.array_split(np.arange(2500), 5):
        model.partial_fit(X[rows], y[rows])
    assert set(model.units_path_) == {128, 256, 512, 1024}
    assert model.score(X, y) > 0.95


def test_auto_units_stay_within_the_memory_budget():
    X, y = regression(n=1500)
    with kernelm.config_context(working_memory=2):
        model = ELMRegressor(weight_scale=6, random_state=0).fit(X, y)
    assert model.n_hidden_ <= 256


def test_plan_states_passes_and_memory():
    plan = ELMRegressor(1000, alpha="loo").plan(10**6, 20)
    assert plan.passes == 2
    assert plan.bytes_sums == 3 * 8 * 1000**2
    assert ELMRegressor(1000).plan(10**6, 20).passes == 1
    assert ELMRegressor().plan(10**6, 20).passes == 3
    assert plan.flops > 10**6 * 1000**2


# -- status -------------------------------------------------------------------------------------


def test_status_tells_what_happened():
    X, y = regression(n=200)
    assert ELMRegressor(50, random_state=0).fit(X, y).status_ is Status.OK
    assert ELMRegressor(50, alpha=1e-30, random_state=0).fit(X, y).status_ is Status.FLOORED
    rank = ELMRegressor(500, alpha=0, random_state=0).fit(X, y)
    assert rank.status_ is Status.RANK_DEFICIENT
    flat = ELMRegressor(20, random_state=0).fit(np.ones((50, 3)), y[:50])
    assert flat.status_ is Status.NO_SIGNAL
    assert_allclose(flat.predict(np.ones((2, 3))), y[:50].mean())
    edge = ELMRegressor(50, alpha=[1e3, 1e4, 1e5], random_state=0).fit(X, y)
    assert edge.status_ is Status.EDGE_LOW


# -- probabilities ------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_probabilities_agree_with_predict_and_add_up(classes):
    X, y = classification(n=500, classes=classes)
    model = ELMClassifier(random_state=0).fit(X, y)
    grid = np.random.default_rng(1).normal(0, 5, (2000, X.shape[1]))
    P = model.predict_proba(grid)
    assert_allclose(P.sum(axis=1), 1)
    assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(grid))


@settings(deadline=None)
@given(
    scores=st.lists(
        st.lists(st.floats(-1e6, 1e6, width=32), min_size=3, max_size=3), min_size=1, max_size=20
    ),
    linear=st.floats(1e-3, 1e3),
    log=st.floats(0, 1e3),
)
def test_probabilities_never_contradict_the_scores(scores, linear, log):
    for S in (np.array(scores), np.array(scores)[:, :1]):
        P = probabilities(S, Link(linear, log))
        assert_array_equal(P.argmax(axis=1), best_class(S))
        assert np.all(P >= 0)
        assert_allclose(P.sum(axis=1), 1, rtol=1e-9)


def test_probabilities_are_calibrated():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 2))
    truth = 1 / (1 + np.exp(-2 * X[:, 0]))
    y = (rng.random(6000) < truth).astype(int)
    p = ELMClassifier(random_state=0).fit(X[:3000], y[:3000]).predict_proba(X[3000:])[:, 1]
    for low in (0.1, 0.3, 0.5, 0.7):
        chosen = (p > low) & (p < low + 0.2)
        assert abs(p[chosen].mean() - truth[3000:][chosen].mean()) < 0.05


def test_the_link_minimises_the_smoothed_log_loss():
    rng = np.random.default_rng(0)
    scores, index = rng.normal(size=(50, 3)), rng.integers(0, 3, 50)
    scores[np.arange(50), index] += 1.0
    target = np.full((50, 3), 1 / 53)
    target[np.arange(50), index] += 50 / 53

    def loss(link):
        return -np.sum(target * np.log(probabilities(scores, link)))

    best = fit_link(scores, index)
    for other in ((1.02, 1.0), (0.98, 1.0), (1.0, 1.02), (1.0, 0.98)):
        moved = Link(best.linear * other[0], best.log * other[1])
        assert loss(best) <= loss(moved) * (1 + 1e-9)


# -- intervals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_intervals_hold_the_share_they_promise(coverage):
    held = []
    for seed in range(8):
        X, y = regression(n=3000, seed=seed)
        model = ELMRegressor(random_state=0).fit(X[:1000], y[:1000])
        low, high = model.predict_interval(X[1000:], coverage=coverage).T
        held.append(np.mean((low <= y[1000:]) & (y[1000:] <= high)))
    # Two standard errors of the mean, each of 2,000 new rows and of 1,000 residuals.
    error = np.sqrt(coverage * (1 - coverage) * (1 / 2000 + 1 / 1000) / len(held))
    assert abs(np.mean(held) - coverage) < 2 * error


def test_progress_is_shown_when_asked_for():
    X, y = regression()
    with redirect_stderr(io.StringIO()) as shown:
        ELMRegressor(20, verbose=1, random_state=0).fit(X, y)
    assert "ELMRegressor fit 20 features: 300/300 rows" in shown.getvalue()
    with redirect_stderr(io.StringIO()) as quiet:
        ELMRegressor(20, random_state=0).fit(X, y)
    assert quiet.getvalue() == ""
