"""Real scikit-learn citizens: its own checks, and what its users do."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelm import (
    BoostedELMClassifier,
    BoostedELMRegressor,
    ELMClassifier,
    ELMRegressor,
    KernelELMClassifier,
    KernelELMRegressor,
    OPELMClassifier,
    OPELMRegressor,
)
from kernelm.kernels import ArcCosine, Gaussian
from problems import as_csr, classification, regression

CHECKED = [
    ELMClassifier(),
    ELMRegressor(),
    ELMClassifier(n_hidden=30, activation="relu", alpha="loo", direct_links=True),
    ELMRegressor(n_hidden=20, activation="rbf", alpha=0.1, scale_inputs=False),
    KernelELMClassifier(),
    KernelELMRegressor(),
    # 8 landmarks and an intercept would interpolate the 9 weighted rows of a check: 0/0 in LOO.
    KernelELMClassifier(Gaussian("median"), approximation="nystrom", n_landmarks=6),
    KernelELMRegressor(ArcCosine([1, 0]), approximation="landmarks", n_landmarks=20),
    KernelELMClassifier("laplacian", approximation="subset"),
    OPELMClassifier(),
    OPELMRegressor(),
    OPELMRegressor(n_units=30, units=["sigmoid", "linear"], scale_inputs=False),
    BoostedELMClassifier(n_steps=12),
    BoostedELMRegressor(n_steps=12),
    BoostedELMClassifier(n_steps=8, n_hidden=30, activation="sign", warm_start=True),
    BoostedELMRegressor(n_steps=8, n_hidden=30, early_stopping=True, preprocess=None),
]


@parametrize_with_checks(CHECKED)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


def test_grid_search_tunes_the_layer_through_a_pipeline():
    X, y = classification(n=400)
    grid = {"elmclassifier__activation": ["tanh", "relu"], "elmclassifier__n_hidden": [5, 200]}
    pipe = make_pipeline(StandardScaler(), ELMClassifier(random_state=0))
    search = GridSearchCV(pipe, grid, cv=3).fit(X, y)
    assert search.best_params_["elmclassifier__n_hidden"] == 200
    assert search.best_score_ > 0.6


def test_processes_of_a_grid_search_agree_with_one():
    X, y = regression(n=200)
    scores = [
        cross_val_score(ELMRegressor(50, random_state=0), X, y, cv=3, n_jobs=n) for n in (1, 2)
    ]
    assert_allclose(*scores, rtol=1e-9)


def test_other_meta_estimators_work():
    X, y = classification()
    for meta in (
        BaggingClassifier(ELMClassifier(20), 3),
        CalibratedClassifierCV(ELMClassifier(20)),
    ):
        assert meta.fit(X, y).score(X, y) > 0.6
    X, Y = regression(outputs=2)
    assert MultiOutputRegressor(ELMRegressor(50)).fit(X, Y).score(X, Y) > 0.8


def test_data_frames_carry_their_names():
    X, y = regression()
    frame = pd.DataFrame(X, columns=[f"column {k}" for k in range(X.shape[1])])
    model = ELMRegressor(30, random_state=0).fit(frame, y)
    assert_array_equal(model.feature_names_in_, frame.columns)
    assert_allclose(model.predict(frame), ELMRegressor(30, random_state=0).fit(X, y).predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[frame.columns[::-1]])


def test_labels_of_any_kind_come_back_as_they_were():
    X, y = classification()
    index = np.unique(y, return_inverse=True)[1]
    for labels in (np.array([10, 20, 30]), np.array(["a", "b", "c"], object)):
        model = ELMClassifier(40, random_state=0).fit(X, labels[index])
        assert model.predict(X).dtype == labels.dtype
        assert_array_equal(model.classes_, labels)
    truth = ELMClassifier(40, random_state=0).fit(X, index > 0)
    assert truth.predict(X).dtype == bool


def test_clone_drops_what_was_fitted_and_keeps_parameters():
    X, y = regression()
    model = ELMRegressor(30, activation="sine", random_state=0).fit(X, y)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "alpha_")


@pytest.mark.parametrize("storage", [np.asarray, as_csr])
def test_sparse_and_dense_predict_alike(storage):
    X, y = classification()
    model = ELMClassifier(30, scale_inputs=False, random_state=0).fit(storage(X), y)
    assert_allclose(model.decision_function(as_csr(X)), model.decision_function(X), atol=1e-10)
