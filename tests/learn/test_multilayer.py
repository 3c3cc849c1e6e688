"""Multilayer kernel machines: a textbook version, no leakage, structure from training rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification
from sklearn.decomposition import KernelPCA as TheirKernelPCA
from sklearn.feature_selection import SelectPercentile
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelm import KernelSVC, MultilayerKernelClassifier
from kernelm.kernels import ArcCosine, Gaussian
from kernelm.learn.layer import compare, informative


def problem(n=150, seed=0, classes=3):
    X, y = make_classification(
        n, 8, n_informative=5, n_classes=classes, class_sep=1.5, random_state=seed
    )
    return X, y


@parametrize_with_checks(
    [
        MultilayerKernelClassifier(),
        MultilayerKernelClassifier(2, keep=0.2, mixing="uniform", approximation="nystrom"),
        MultilayerKernelClassifier(
            [Gaussian("median"), [ArcCosine([1]), Gaussian("median")]],
            final=KernelSVC(C=10.0),
            keep=0.5,
            mixing="alignment",
        ),
    ]
)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


def test_it_is_scalers_components_and_selection_by_scikit_learn():
    """Two layers with one kernel each, written with scikit-learn alone."""
    X, y = problem(120)
    test = problem(40, seed=0)[0] + 0.1
    ours = MultilayerKernelClassifier(
        [Gaussian(3.0), Gaussian(0.8)],
        keep=0.25,
        n_components=24,
        final=SVC(kernel="linear"),
        scale_inputs=False,
    ).fit(X, y)
    H, T = X, test
    for scale in (3.0, 0.8):
        pca = TheirKernelPCA(24, kernel="rbf", gamma=0.5 / scale**2).fit(H)
        H, T = pca.transform(H), pca.transform(T)
        select = SelectPercentile(percentile=25).fit(H, y)
        H, T = select.transform(H), select.transform(T)
    assert_allclose(np.abs(ours.transform(X)), np.abs(H), atol=1e-7)
    assert_allclose(np.abs(ours.transform(test)), np.abs(T), atol=1e-7)
    assert_array_equal(ours.predict(test), SVC(kernel="linear").fit(H, y).predict(T))


@pytest.mark.parametrize("approximation", ["exact", "nystrom"])
def test_test_rows_are_seen_by_nothing(approximation):
    X, y = problem()
    model = MultilayerKernelClassifier(
        2, keep=0.3, approximation=approximation, n_landmarks=60, random_state=0
    ).fit(X[:100], y[:100])
    together = model.transform(X[100:])
    alone = np.vstack([model.transform(row[None]) for row in X[100:]])
    assert_allclose(alone, together, atol=1e-8)
    assert_array_equal(
        np.concatenate([model.predict(row[None]) for row in X[100:]]), model.predict(X[100:])
    )


def test_layers_one_after_the_other():
    X, y = problem()
    model = MultilayerKernelClassifier(3, keep=0.3, random_state=0).fit(X, y)
    assert model.n_layers_ == 3
    H = model.transform(X, layer=0)
    assert_allclose(H, model.scaler_.transform(X))
    assert_allclose(H.mean(axis=0), 0, atol=1e-9)
    for k, layer in enumerate(model.layers_, 1):
        H = layer.map(H)
        assert_allclose(H, model.transform(X, layer=k))
        assert H.shape[1] == model.widths_[k - 1] == layer.pca.n_components_
        assert_allclose(layer.weights.sum(), 1)
    assert [len(w) for w in model.weights_] == [3, 3, 3]


def test_the_same_seed_gives_the_same_machine():
    X, y = problem(300)
    model = MultilayerKernelClassifier(approximation="nystrom", n_landmarks=40, random_state=3)
    one, other = clone(model).fit(X, y), clone(model).set_params(n_jobs=1).fit(X, y)
    assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-9)
    assert one.widths_ == other.widths_
    errors = ([s.error for s in model.structure_] for model in (one, other))
    assert_allclose(*errors, rtol=1e-9)


def test_the_structure_is_the_best_that_was_tried():
    X, y = problem(300)
    model = MultilayerKernelClassifier(n_components=(20, None), random_state=0).fit(X, y)
    assert len(model.structure_) == 3
    errors = [s.error for s in model.structure_]
    assert errors[model.n_layers_ - 1] <= 1.02 * min(errors)
    for layer, found in zip(model.layers_, model.structure_, strict=False):
        assert layer.trials[0] == found
        assert len(layer.trials) == 10
        assert found.error <= 1.02 * min(t.error for t in layer.trials)
        assert len(layer.chosen) == max(1, round(found.keep * found.n_components))


def test_labels_that_chose_components_do_not_judge_them():
    """Noise: components chosen with all labels look useful, those chosen with half do not."""
    rng = np.random.default_rng(0)
    scores, index = rng.standard_normal((400, 300)), rng.integers(0, 2, 400)
    few = compare(scores, index, [300], [0.05], Gaussian("median"), 0)[0].error
    assert few > 1.9  # two columns of codes ±1 that nothing predicts: their variances add up to 2
    chosen = informative(scores, index, 300, 0.05)
    all_labels = compare(scores[:, chosen], index, [15], [1.0], Gaussian("median"), 0)[0].error
    assert all_labels < 0.9 * few


def test_informative_components_are_found():
    rng = np.random.default_rng(0)
    index = rng.integers(0, 3, 200)
    scores = rng.standard_normal((200, 20))
    scores[:, [4, 11]] += 2 * index[:, None]
    assert_array_equal(informative(scores, index, 20, 0.1), [4, 11])
    assert_array_equal(informative(scores, index, 10, 0.1), [4])
    assert_array_equal(informative(scores, index, 20, 2), [4, 11])
    assert_array_equal(informative(np.ones((200, 4)), index, 4, 0.5), [0, 1])
    assert_array_equal(informative(scores, np.zeros(200, int), 20, 0.1), [0, 1])


def test_digits_are_told_apart_and_probabilities_agree():
    X, y = load_digits(return_X_y=True)
    model = MultilayerKernelClassifier(random_state=0).fit(X[:900], y[:900])
    assert model.score(X[900:], y[900:]) > 0.94
    assert_allclose(model.predict_proba(X[900:]).sum(axis=1), 1)
    assert_array_equal(
        model.classes_[model.predict_proba(X[900:]).argmax(axis=1)], model.predict(X[900:])
    )


def test_sparse_rows_strings_and_other_machines_on_top():
    X, y = problem()
    X[np.abs(X) < 0.5] = 0
    names = np.array(["a", "b", "c"])[y]
    dense = MultilayerKernelClassifier(
        1, keep=0.5, final=LogisticRegression(), scale_inputs=False, random_state=0
    ).fit(X, names)
    rows = clone(dense).fit(sparse.csr_array(X), names)
    assert_array_equal(rows.predict(sparse.csr_array(X)), dense.predict(X))
    assert set(dense.predict(X)) <= set("abc")
    assert dense.predict_proba(X).shape == (150, 3)
    svm = MultilayerKernelClassifier([ArcCosine([1])], final=KernelSVC(ArcCosine([1])))
    assert not hasattr(svm.fit(X, names), "predict_proba")


def test_the_picture_names_every_layer():
    X, y = problem()
    model = MultilayerKernelClassifier(2, keep=0.3, random_state=0).fit(X, y)
    texts = [text.get_text() for text in model.plot().texts]
    assert "layer 1: " in " ".join(texts)
    assert "layer 2: " in " ".join(texts)
    assert "CoreVectorClassifier\n3 classes" in texts
    assert sum("Gaussian" in text for text in texts) == 4


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"layers": 0}, "layers must be a whole number of at least 1"),
        ({"layers": "deep"}, "layers"),
        ({"layers": []}, "candidates"),
        ({"layers": [["rbf"]]}, "kernel"),
        ({"keep": 0.0}, "keep"),
        ({"keep": "some"}, "keep"),
        ({"n_components": 0}, "n_components"),
        ({"mixing": "product"}, "mixing must be one of"),
    ],
)
def test_parameters_that_cannot_be_used(parameters, message):
    X, y = problem(60)
    with pytest.raises(ValueError, match=message):
        MultilayerKernelClassifier(**parameters).fit(X, y)
