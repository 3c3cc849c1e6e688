"""Models survive the ways in which others keep them: pickle, joblib, skops."""

import pickle

import joblib
import numpy as np
import pytest

import kernelm as km
from kernelm.kernels import ArcCosine, Gaussian
from problems import classification, regression

X, LABELS = classification(n=60, d=4)
_, Y = regression(n=60, d=4)

MODELS = [
    km.ELMClassifier(20, random_state=0).fit(X, LABELS),
    km.KernelELMClassifier(approximation="exact", random_state=0).fit(X, LABELS),
    km.KernelELMRegressor(Gaussian(), approximation="nystrom", n_landmarks=9).fit(X, Y),
    km.KernelELMClassifier("laplacian", approximation="local", leaf_size=30).fit(X, LABELS),
    km.BoostedELMRegressor(3, random_state=0).fit(X, Y),
    km.OPELMRegressor(20, random_state=0).fit(X, Y),
    km.CoreVectorClassifier(Gaussian()).fit(X, LABELS),
    km.CoreVectorRegressor(Gaussian()).fit(X, Y),
    km.CoreVectorDetector(random_state=0).fit(X),
    km.KernelSVC(ArcCosine([0, 1])).fit(X, LABELS),
    km.MultilayerKernelClassifier(2, keep=0.5, random_state=0).fit(X, LABELS),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)


def assert_same(model, other):
    np.testing.assert_array_equal(model.predict(X), other.predict(X))


@each_model
def test_models_survive_pickle(model):
    assert_same(model, pickle.loads(pickle.dumps(model)))


@each_model
def test_models_survive_joblib(model, tmp_path):
    joblib.dump(model, tmp_path / "m", compress=3)
    assert_same(model, joblib.load(tmp_path / "m"))


@each_model
def test_skops_asks_for_types_of_kernelm_only(model):
    skops = pytest.importorskip("skops.io")
    model.predict(X)  # what is cached must not stand in the way
    content = skops.dumps(model)
    types = skops.get_untrusted_types(data=content)
    assert type(model).__module__ + "." + type(model).__name__ in types
    assert [name for name in types if not name.startswith("kernelm.")] == []
    assert_same(model, skops.loads(content, trusted=types))
