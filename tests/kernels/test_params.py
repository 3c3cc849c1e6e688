"""Parameters by scikit-learn's protocol, up to a search that really tunes a kernel."""

import dataclasses

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelm import kernels as km


def test_kernels_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        km.Gaussian().scale = 2.0  # type: ignore[misc]


def test_names_nest():
    k = 0.5 * km.Gaussian(2.0) + km.Linear().then(km.ArcCosineLayer(1), km.Power(2))
    params = k.get_params()
    assert params["left__kernel__scale"] == 2.0
    assert params["left__factor"] == 0.5
    assert params["right__base__offset"] == 0.0
    assert params["right__layers__0__degree"] == 1
    assert params["right__layers__1"] == km.Power(2)
    assert set(k.get_params(deep=False)) == {"left", "right"}


def test_set_params_changes_in_place_and_only_this_object():
    shared = km.Gaussian(1.0)
    k = shared + shared
    assert k.set_params(left__scale=3.0) is k
    assert k == km.Gaussian(3.0) + km.Gaussian(1.0)
    assert shared == km.Gaussian(1.0)


def test_set_params_reaches_layers_and_replaces_whole_parts():
    k = km.Linear().then(km.ArcCosineLayer(1), km.Power(2))
    k.set_params(layers__0__degree=0, layers__1=km.Normalize(), base=km.Gaussian(), base__scale=4.0)
    assert k == km.Gaussian(4.0).then(km.ArcCosineLayer(0)).normalized()


def test_with_params_leaves_the_original():
    k = km.Gaussian(1.0)
    assert k.with_params(scale=2.0) == km.Gaussian(2.0)
    assert k == km.Gaussian(1.0)


@pytest.mark.parametrize(
    "name", ["width", "left__width", "left__scale__deeper", "right__layers__7", "right__layers__x"]
)
def test_unknown_names_are_refused_with_the_valid_ones(name):
    k = km.Gaussian() + km.Linear().normalized()
    with pytest.raises(ValueError, match=r"has no parameter .*; valid names are: "):
        k.set_params(**{name: 1.0})
    assert k == km.Gaussian() + km.Linear().normalized()


def test_new_values_are_checked_and_a_refused_change_changes_nothing():
    k = km.Gaussian() + km.Linear()
    with pytest.raises(ValueError, match="scale must be a finite number above 0"):
        k.set_params(right__offset=1.0, left__scale=-1.0)
    assert k == km.Gaussian() + km.Linear()


def test_clones_are_independent():
    k = km.Gaussian(1.0).normalized() + 2.0 * km.ArcCosine([1, 0])
    copy = clone(k)
    copy.set_params(left__base__scale=9.0, right__kernel__degrees=(0,))
    assert copy == km.Gaussian(9.0).normalized() + 2.0 * km.ArcCosine([0])
    assert k == km.Gaussian(1.0).normalized() + 2.0 * km.ArcCosine([1, 0])


def test_a_kernel_is_a_kernel_of_svc():
    X, y = make_moons(80, noise=0.2, random_state=0)
    ours = SVC(kernel=km.Gaussian.from_gamma(0.7)).fit(X, y)
    theirs = SVC(kernel="rbf", gamma=0.7).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


def test_grid_search_really_tunes_nested_parameters():
    X, y = make_moons(150, noise=0.2, random_state=0)
    kernel = (km.Gaussian(1.0) * km.Linear(offset=1.0)).normalized()
    model = make_pipeline(StandardScaler(), SVC(kernel=kernel))
    scales = [0.001, 0.5, 100.0]
    search = GridSearchCV(model, {"svc__kernel__base__left__scale": scales}, cv=3).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    by_hand = [
        GridSearchCV(
            model.set_params(svc__kernel=(km.Gaussian(s) * km.Linear(1.0)).normalized()), {}, cv=3
        )
        .fit(X, y)
        .best_score_
        for s in scales
    ]
    np.testing.assert_allclose(scores, by_hand)
    assert len(set(scores)) == 3
    assert search.best_params_ == {"svc__kernel__base__left__scale": 0.5}
    assert kernel == (km.Gaussian(1.0) * km.Linear(offset=1.0)).normalized()
