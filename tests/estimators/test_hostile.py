"""Bad input gets a sentence; hard input gets a finite answer."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from kernelm import ELMClassifier, ELMRegressor
from kernelm.data import ArraySource
from problems import as_csr, classification, regression


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


X, Y = regression(n=120)
_, LABELS = classification(n=120)


def bad_value(value):
    broken = X.copy()
    broken[3, 2] = value
    return broken


# -- errors that say what to do -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((bad_value(np.nan), Y), "X contains NaN"),
        ((bad_value(np.inf), Y), "X contains infinity"),
        ((X, np.where(Y > 0, np.nan, Y)), "y contains NaN"),
        ((X[:0], Y[:0]), "0 sample"),
        ((X[:, :0], Y), "0 feature"),
        ((X, Y[:-1]), "inconsistent numbers of samples"),
        ((X[:, 0], Y), "Expected 2D array"),
        ((np.full((120, 2), "a", object), Y), "could not convert"),
        ((X, np.array(["word"] * 120)), "could not convert|must hold numbers"),
        ((X, Y, -np.ones(120)), "Negative values"),
        ((X, Y, np.zeros(120)), "zero"),
        ((X, Y, np.full(120, np.nan)), "NaN"),
        ((X, Y, np.ones(7)), "sample_weight"),
    ],
)
def test_bad_rows_are_refused_with_a_reason(arguments, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        ELMRegressor(10).fit(*arguments)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_hidden": 0}, "n_hidden must be a whole number of at least 1"),
        ({"n_hidden": 2.5}, "n_hidden must be a whole number"),
        ({"n_hidden": "many"}, "must be one of 'auto'"),
        ({"activation": "softplus"}, "activation must be one of 'tanh'"),
        ({"weights": "cauchy"}, "weights must be one of 'normal'"),
        ({"weights": "patches"}, "square"),
        ({"weight_scale": -1}, "weight_scale must be a finite number above 0"),
        ({"alpha": -1}, "alpha must be"),
        ({"alpha": "cv"}, "alpha must be one of 'auto', 'gcv', 'loo'"),
        ({"alpha": []}, "alpha must be"),
        ({"alpha": [1.0, np.nan]}, "alpha must be"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"activation": lambda A: A[:, :1]}, "must have shape"),
    ],
)
def test_bad_parameters_are_refused_at_fit(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        ELMRegressor(**{"n_hidden": 10} | options).fit(X, Y)


@pytest.mark.parametrize(
    ("class_weight", "sentence"),
    [("even", "class_weight must be one of"), ({"x": 1}, "names classes"), ([1, 2], "dictionary")],
)
def test_bad_class_weights(class_weight, sentence):
    with pytest.raises(ValueError, match=sentence):
        ELMClassifier(10, class_weight=class_weight).fit(X, LABELS)


def test_one_class_is_not_a_classification():
    with pytest.raises(ValueError, match="at least 2 classes, got 1 class"):
        ELMClassifier().fit(X, np.ones(120))


def test_use_before_fit():
    with pytest.raises(NotFittedError):
        ELMRegressor().predict(X)
    with pytest.raises(NotFittedError):
        ELMRegressor().merge(ELMRegressor())
    with pytest.raises(NotFittedError):
        ELMClassifier(10).freeze(X, LABELS).predict(X)


def test_another_number_of_columns():
    model = ELMRegressor(10, random_state=0).fit(X, Y)
    for call in (model.predict, lambda Z: model.partial_fit(Z, Y), lambda Z: model.forget(Z, Y)):
        with pytest.raises(ValueError, match="4 features, but ELMRegressor is expecting 5"):
            call(X[:, :4])
    with pytest.raises(ValueError, match="2 outputs, but the model was fitted with 1"):
        model.partial_fit(X, np.stack([Y, Y], axis=1))


def test_moments_of_other_feature_maps_do_not_add():
    model = ELMRegressor(10, scale_inputs=False, random_state=0).fit(X, Y)
    before = model.predict(X)
    for other in (
        ELMRegressor(10, scale_inputs=False, random_state=1).fit(X, Y),
        ELMRegressor(10, scale_inputs=False, activation="relu", random_state=0).fit(X, Y),
        ELMRegressor(10, random_state=0).fit(X, Y),
    ):
        with pytest.raises(ValueError, match="re-accumulate the second set"):
            model.merge(other)
    assert_array_equal(model.predict(X), before)


def test_merging_models_of_other_classes():
    a = ELMClassifier(10, scale_inputs=False, random_state=0).fit(X, LABELS)
    b = ELMClassifier(10, scale_inputs=False, random_state=0).fit(X, np.where(Y > 0, "up", "down"))
    with pytest.raises(ValueError, match="differ in their targets"):
        a.merge(b)


def test_unknown_classes_change_nothing():
    model = ELMClassifier(10, random_state=0).fit(X, LABELS)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="not announced: 'class 9'"):
        model.partial_fit(X, np.where(Y > 1, "class 9", LABELS))
    assert_array_equal(model.decision_function(X), before)
    with pytest.raises(ValueError, match="classes must be given"):
        ELMClassifier(10).partial_fit(X, LABELS)


def test_rows_never_learned_cannot_be_forgotten():
    model = ELMRegressor(10, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="has not learned"):
        model.forget(X, Y)
    with pytest.raises(ValueError, match="has not learned"):
        model.forget(np.repeat(X, 2, axis=0), np.repeat(Y, 2))


def test_sources_without_rows_or_targets():
    with pytest.raises(ValueError, match="no targets"):
        ELMRegressor(10).fit_source(ArraySource(X))
    with pytest.raises(ValueError, match="no rows"):
        ELMRegressor(10).fit_source(ArraySource(X[:0], Y[:0]))


def test_coverage_is_a_probability():
    model = ELMRegressor(10, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="coverage must be a number between 0 and 1"):
        model.predict_interval(X, coverage=90)


# -- hard data, finite answers ------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_extreme_scales_change_nothing(scale, dtype):
    rows = (X * scale).astype(dtype)
    model = ELMRegressor(40, random_state=0).fit(rows, Y)
    expected = ELMRegressor(40, random_state=0).fit(X.astype(dtype), Y).predict(X.astype(dtype))
    assert_allclose(model.predict(rows), expected, atol=2e-2 if dtype == np.float32 else 1e-6)


def test_extreme_targets_are_finite():
    for factor in (1e-30, 1e30):
        model = ELMRegressor(40, random_state=0).fit(X, factor * Y)
        assert model.score(X, factor * Y) > 0.8


@pytest.mark.parametrize("alpha", ["auto", "gcv", "loo", 0, 1e-300, 1e300])
@pytest.mark.parametrize("n_hidden", [10, 400, "auto"])
def test_duplicates_constants_and_few_rows_are_finite(alpha, n_hidden):
    rows = np.column_stack([np.repeat(X[:30], 4, axis=0), np.ones(120), np.zeros(120)])
    for R, t in ((rows, Y), (rows[:1], Y[:1]), (rows[:2], Y[:2]), (np.ones((9, 2)), Y[:9])):
        model = ELMRegressor(n_hidden, alpha=alpha, random_state=0).fit(R, t)
        assert np.isfinite(model.predict(R)).all()
        assert np.isfinite(model.predict_interval(R)).all()
        assert isinstance(model.status_, str)


def test_two_rows_of_two_classes():
    model = ELMClassifier(random_state=0).fit([[0.0], [1.0]], ["a", "b"])
    assert_array_equal(model.predict([[0.0], [1.0]]), ["a", "b"])
    assert np.isfinite(model.predict_proba([[0.5]])).all()


def test_overflow_without_scaling_is_an_error_and_keeps_the_model():
    rows = (X * 1e30).astype(np.float32)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="scale the inputs"):
        ELMRegressor(10, activation="relu", scale_inputs=False).fit(rows, Y)
    model = ELMRegressor(10, activation="relu", scale_inputs=False, random_state=0)
    model.fit(X.astype(np.float32), Y)
    before = model.predict(X.astype(np.float32))
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="scale the inputs"):
        model.partial_fit(rows, Y)
    assert_array_equal(model.predict(X.astype(np.float32)), before)


@pytest.mark.parametrize(
    "activation",
    [
        "tanh",
        "sigmoid",
        "erf",
        "relu",
        "sign",
        "hardlim",
        "sine",
        "fourier",
        "identity",
        "rbf",
        "multiquadric",
        np.cos,
    ],
)
@pytest.mark.parametrize("weights", ["normal", "uniform", "orthogonal", "sparse", "data"])
def test_every_layer_learns(activation, weights):
    rows, labels = classification(n=400, classes=2)
    for storage in (np.asarray, as_csr):
        model = ELMClassifier(150, activation=activation, weights=weights, random_state=0)
        floor = 0.5 if activation == "identity" else 0.75
        assert model.fit(storage(rows), labels).loo_score_ > floor


def test_integer_boolean_and_object_columns_of_numbers():
    counts = np.random.default_rng(0).integers(0, 9, (120, 3))
    expected = ELMRegressor(20, random_state=0).fit(counts.astype(float), Y).predict(counts)
    for rows in (counts, counts.astype(object), counts.astype(np.int8)):
        assert_allclose(ELMRegressor(20, random_state=0).fit(rows, Y).predict(rows), expected)
