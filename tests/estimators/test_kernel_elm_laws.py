"""Kernel ELMs are the textbook kernel machines, exact and on landmarks, in any order of rows."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV

import kernelm
import oracles
from catalog import OnePass
from kernelm import KernelELMClassifier, KernelELMRegressor, Status
from kernelm.data import ArraySource
from kernelm.kernels import (
    ArcCosine,
    AsymptoticELM,
    ELMKernel,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern32,
    Polynomial,
)
from kernelm.ridge import Factor, Moments
from problems import as_csr, classification, regression

KERNELS = [
    Linear(),
    Polynomial(scale=0.2, offset=1.0, degree=2),
    Gaussian(2.0),
    Laplacian(3.0),
    Matern32(2.0),
    ArcCosine([1]),
    ArcCosine([1, 0]),  # the deep kernel ELM (DKELM)
    ArcCosine([2, 1], normalize=True),
    AsymptoticELM(),
]


def bare(kernel, **options):
    """The machine of the papers: no scaling, no intercept."""
    plain = {"scale_inputs": False, "fit_intercept": False, "alpha": 0.1, "random_state": 0}
    return KernelELMRegressor(kernel, **plain | options)


def on_landmarks(Z, form="nystrom", **options):
    """A machine with given landmarks: its map depends on no rows, so that parts merge."""
    given = {"scale_inputs": False, "alpha": 0.1, "random_state": 0}
    return KernelELMRegressor(Laplacian(3.0), approximation=form, landmarks=Z, **given | options)


def nystrom_oracle(kernel, X, Z, y, alpha, *, intercept=True, weight=None):
    """Whiten the columns by U S^(-1/2) of K_ZZ, then the plain ridge (NKELM as printed)."""
    s, U = np.linalg.eigh(kernel.gram(Z))
    white = U / np.sqrt(s)
    H = kernel.gram(X, Z) @ white
    W, b = oracles.ridge(H, y[:, None], alpha, intercept=intercept, weight=weight)
    return lambda T: (kernel.gram(T, Z) @ white @ W + b)[:, 0]


# -- exact ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("storage", [np.asarray, as_csr])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_exact_is_kernel_ridge_regression(kernel, storage, weighted):
    X, y = regression(n=80)
    T = regression(n=30, seed=1)[0]
    w = np.random.default_rng(0).uniform(0.2, 3, 80) if weighted else None
    model = bare(kernel, approximation="exact").fit(storage(X), y, sample_weight=w)
    ridge = KernelRidge(alpha=0.1, kernel="precomputed").fit(kernel.gram(X), y, sample_weight=w)
    expected = ridge.predict(kernel.gram(T, X))
    assert_allclose(model.predict(storage(T)), expected, rtol=1e-8, atol=1e-9)
    assert_allclose(kernel.gram(T, X) @ model.coef_, expected, rtol=1e-8, atol=1e-9)
    assert (model.intercept_, model.alpha_, model.n_landmarks_) == (0.0, 0.1, 80)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_exact_in_single_precision(kernel):
    X, y = regression(n=80)
    T = regression(n=30, seed=1)[0].astype(np.float32)
    model = bare(kernel, approximation="exact").fit(X.astype(np.float32), y)
    ridge = KernelRidge(alpha=0.1, kernel="precomputed").fit(kernel.gram(X), y)
    assert model.predict(T).dtype == np.float32
    # Errors of 1e-7 in K are divided by alpha; angles near 0 lose half of the digits (1e-4).
    assert_allclose(model.predict(T), ridge.predict(kernel.gram(T.astype(float), X)), atol=2e-2)


def test_exact_classification_is_kernel_ridge_regression_on_codes():
    X, y = classification(n=90, classes=4)
    model = KernelELMClassifier(
        Gaussian(1.5), alpha=0.5, scale_inputs=False, fit_intercept=False, random_state=0
    ).fit(X, y)
    codes = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    K = Gaussian(1.5).gram(X)
    scores = KernelRidge(alpha=0.5, kernel="precomputed").fit(K, codes).predict(K)
    assert_allclose(model.decision_function(X), scores, rtol=1e-8, atol=1e-9)
    assert_array_equal(model.predict(X), np.unique(y)[scores.argmax(axis=1)])


@pytest.mark.parametrize("weighted", [False, True])
def test_the_intercept_is_free(weighted):
    X, y = regression(n=60)
    y = y + 100
    w = np.random.default_rng(0).uniform(0.2, 3, 60) if weighted else None
    model = bare(Gaussian(2.0), fit_intercept=True).fit(X, y, sample_weight=w)
    K = Gaussian(2.0).gram(X)
    a, b = oracles.bordered_kernel_ridge(K, y[:, None], 0.1, w)
    assert_allclose(model.predict(X), (K @ a + b)[:, 0], rtol=1e-8)


def test_a_subset_is_the_exact_machine_on_its_rows():
    X, y = regression(n=200)
    subset = bare(Laplacian(2.0), approximation="subset", n_landmarks=50).fit(X, y)
    sample = subset.machine_.sample
    assert sample.X.shape == (50, 5)
    assert len({row.tobytes() for row in sample.X} & {row.tobytes() for row in X}) == 50
    exact = bare(Laplacian(2.0), approximation="exact").fit(sample.X, sample.y)
    assert_allclose(subset.predict(X), exact.predict(X), rtol=1e-8, atol=1e-9)


def test_a_finite_hidden_layer_as_a_kernel_is_the_ridge_on_that_layer():
    # k = φ·φ/p: (H Hᵀ/p + α)⁻¹ is the ridge of strength α p on H (RELM).
    X, y = regression(n=70)
    kernel = ELMKernel(n_units=30, seed=4)
    H = kernel._features(X)
    for intercept in (True, False):
        model = bare(kernel, alpha=0.01, fit_intercept=intercept).fit(X, y)
        W, b = oracles.ridge(H, y[:, None], 0.01 * 30, intercept=intercept)
        assert_allclose(model.predict(X), (H @ W + b)[:, 0], rtol=1e-7, atol=1e-8)


# -- landmarks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Laplacian(2.0), Matern32(1.0), ArcCosine([0])], ids=repr)
@pytest.mark.parametrize("intercept", [True, False])
def test_nystrom_on_all_rows_is_the_exact_machine(kernel, intercept):
    X, y = regression(n=100)
    T = regression(n=40, seed=1)[0]
    exact = bare(kernel, fit_intercept=intercept, approximation="exact").fit(X, y)
    nystrom = bare(kernel, fit_intercept=intercept, approximation="nystrom", n_landmarks=100).fit(
        X, y
    )
    assert nystrom.n_landmarks_ == 100
    # Sums hold squares of K, so the digits that its condition number (1e4) costs are lost twice.
    assert_allclose(nystrom.predict(T), exact.predict(T), rtol=1e-6, atol=1e-6)
    assert nystrom.effective_df_ == pytest.approx(exact.effective_df_, rel=1e-6)
    assert nystrom.loo_score_ == pytest.approx(exact.loo_score_, rel=1e-6)


@pytest.mark.parametrize("storage", [np.asarray, as_csr])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_nystrom_is_the_plain_ridge_on_whitened_columns(storage, intercept, weighted):
    X, y = regression(n=150)
    w = np.random.default_rng(0).uniform(0.2, 3, 150) if weighted else None
    model = on_landmarks(X[:25], fit_intercept=intercept).fit(storage(X), y, sample_weight=w)
    oracle = nystrom_oracle(Laplacian(3.0), X, X[:25], y, 0.1, intercept=intercept, weight=w)
    assert_allclose(model.predict(storage(X)), oracle(X), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("intercept", [True, False])
def test_landmarks_with_the_penalty_of_the_kernel_are_nystrom(intercept):
    X, y = regression(n=150)
    Z, kernel = X[:25], Laplacian(3.0)
    moments = Moments.of(kernel.gram(X, Z), y[:, None])
    W, b = Factor.of(moments, penalty=kernel.gram(Z), intercept=intercept).coef(0.1)
    model = on_landmarks(Z, fit_intercept=intercept).fit(X, y)
    assert_allclose(model.predict(X), (kernel.gram(X, Z) @ W + b)[:, 0], rtol=1e-7, atol=1e-8)
    V, c = oracles.generalised_ridge(
        kernel.gram(X, Z), y[:, None], 0.1, kernel.gram(Z), intercept=intercept
    )
    assert_allclose(model.predict(X), (kernel.gram(X, Z) @ V + c)[:, 0], rtol=1e-6, atol=1e-7)


def test_landmarks_with_the_plain_ridge_are_another_model():
    X, y = regression(n=150)
    Phi = Laplacian(3.0).gram(X, X[:25])
    plain = on_landmarks(X[:25], "landmarks").fit(X, y)
    W, b = oracles.ridge(Phi, y[:, None], 0.1)
    assert_allclose(plain.predict(X), (Phi @ W + b)[:, 0], rtol=1e-7, atol=1e-8)
    assert np.abs(plain.predict(X) - on_landmarks(X[:25]).fit(X, y).predict(X)).max() > 1e-3


def test_landmarks_without_a_ridge_are_least_squares():
    X, y = regression(n=150)
    model = on_landmarks(X[:15], "landmarks", alpha=0, fit_intercept=False).fit(X, y)
    Phi = Laplacian(3.0).gram(X, X[:15])
    W = np.linalg.lstsq(Phi, y)[0]
    assert model.status_ is Status.OK
    assert_allclose(model.predict(X), Phi @ W, rtol=1e-6, atol=1e-7)


def test_predictions_approach_the_exact_machine_as_landmarks_are_added():
    X, y = regression(n=256)
    T = regression(n=100, seed=1)[0]
    exact = bare(Laplacian(3.0), approximation="exact").fit(X, y).predict(T)

    def error(n, seed):
        model = bare(Laplacian(3.0), approximation="nystrom", n_landmarks=n, random_state=seed).fit(
            X, y
        )
        return np.sqrt(np.mean((model.predict(T) - exact) ** 2))

    few, some, many = (np.mean([error(n, seed) for seed in range(8)]) for n in (8, 32, 128))
    assert few > 1.3 * some > 1.3**2 * many


@pytest.mark.parametrize("choice", ["uniform", "kmeans", "leverage", "rpcholesky"])
@pytest.mark.parametrize("form", ["nystrom", "landmarks"])
@pytest.mark.parametrize("storage", [np.asarray, as_csr])
def test_every_choice_of_landmarks_learns(choice, form, storage):
    X, y = classification(n=300)
    model = KernelELMClassifier(
        "gaussian",
        approximation=form,
        n_landmarks=60,
        landmarks=choice,
        stratify=True,
        random_state=0,
    ).fit(storage(X), y)
    assert model.n_landmarks_ <= 60
    assert model.loo_score_ > 0.7
    assert model.score(storage(X), y) > 0.75


def test_dense_and_sparse_rows_choose_the_same_landmarks():
    X, y = regression(n=200)
    X[np.abs(X) < 0.5] = 0
    options = {"approximation": "nystrom", "n_landmarks": 30}
    a = bare(Gaussian(2.0), **options).fit(X, y)
    b = bare(Gaussian(2.0), **options).fit(as_csr(X), y)
    assert_allclose(a.predict(X), b.predict(as_csr(X)), rtol=1e-6, atol=1e-7)


# -- any way the rows arrive ----------------------------------------------------------------------


@pytest.mark.parametrize("form", ["nystrom", "landmarks"])
@pytest.mark.parametrize("alpha", [0.1, "gcv"])
def test_blocks_parts_and_sources_give_the_same_model(form, alpha):
    X, y = regression(n=200)
    Z = X[::10]
    whole = on_landmarks(Z, form, alpha=alpha).fit(X, y)
    blocks = on_landmarks(Z, form, alpha=alpha)
    for rows in np.split(np.arange(200), [3, 70, 150]):
        blocks.partial_fit(X[rows], y[rows])
    parts = on_landmarks(Z, form, alpha=alpha).fit(X[:90], y[:90])
    parts.merge(on_landmarks(Z, form, alpha=alpha).fit(X[90:], y[90:]))
    more = on_landmarks(Z, form, alpha=alpha).fit(
        np.concatenate([X, X[:50] + 1]), np.concatenate([y, y[:50] + 1])
    )
    more.forget(X[:50] + 1, y[:50] + 1)
    source = on_landmarks(Z, form, alpha=alpha).fit_source(ArraySource(X, y))
    passing = on_landmarks(Z, form, alpha=alpha).fit_source(OnePass(X, y))
    for model in (blocks, parts, more, source, passing):
        # Means and scales of targets come from other rows; alpha is in the units of the kernel.
        assert model.alpha_ == pytest.approx(whole.alpha_, rel=1e-6)
        assert_allclose(model.predict(X), whole.predict(X), rtol=1e-6, atol=1e-6)
        assert model.loo_score_ == pytest.approx(whole.loo_score_, rel=1e-5)


@pytest.mark.parametrize("form", ["nystrom", "landmarks"])
def test_copies_of_a_frozen_model_merge_into_the_model_of_all(form):
    X, y = classification(n=300)
    options = {"approximation": form, "n_landmarks": 40, "random_state": 0}
    frozen = KernelELMClassifier("laplacian", **options).freeze(X, y)
    assert not hasattr(frozen, "alpha_")
    a, b = copy.deepcopy(frozen), copy.deepcopy(frozen)
    a.partial_fit(X[:120], y[:120])
    b.partial_fit(X[120:], y[120:])
    whole = KernelELMClassifier("laplacian", **options).fit(X, y)
    merged = a.merge(b)
    assert_allclose(merged.decision_function(X), whole.decision_function(X), rtol=1e-6, atol=1e-6)
    assert_allclose(merged.predict_proba(X), whole.predict_proba(X), atol=1e-5)


def test_exact_from_a_source_of_unknown_length():
    X, y = regression(n=100)
    a = bare(Gaussian(2.0), approximation="exact").fit_source(OnePass(X, y))
    b = bare(Gaussian(2.0), approximation="exact").fit(X, y)
    assert_allclose(a.predict(X), b.predict(X), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("form", ["exact", "nystrom", "landmarks"])
@pytest.mark.parametrize("kernel", ["auto", "gaussian"])
def test_the_order_of_the_rows_does_not_matter(form, kernel):
    X, y = classification(n=200)
    order = np.random.default_rng(1).permutation(len(X))
    options = {"approximation": form, "n_landmarks": 40, "alpha": 0.1, "random_state": 0}
    a = KernelELMClassifier(kernel, **options).fit(X, y)
    b = KernelELMClassifier(kernel, **options).fit(X[order], y[order])
    assert_allclose(a.decision_function(X), b.decision_function(X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("form", ["exact", "nystrom", "landmarks"])
@pytest.mark.parametrize("alpha", ["auto", "gcv", "loo", 0.5])
def test_whole_weights_are_repeated_rows(form, alpha):
    X, y = regression(n=120)
    w = np.random.default_rng(2).integers(0, 4, 120)
    model = KernelELMRegressor(
        "laplacian", approximation=form, n_landmarks=30, alpha=alpha, random_state=0
    )
    weighted = clone(model).fit(X, y, sample_weight=w)
    repeated = clone(model).fit(np.repeat(X, w, 0), np.repeat(y, w))
    assert weighted.alpha_ == pytest.approx(repeated.alpha_, rel=1e-5)
    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-5, atol=1e-5)
    assert weighted.loo_score_ == pytest.approx(repeated.loo_score_, rel=1e-5)
    assert_allclose(
        weighted.predict_interval(X), repeated.predict_interval(X), rtol=1e-5, atol=1e-5
    )


def test_class_weights_are_importance_weights():
    X, y = classification(n=100, classes=2)
    factors = {"class 0": 3.0, "class 1": 0.5}
    options = {"alpha": 1.0, "scale_inputs": False}
    by_class = KernelELMClassifier(Gaussian(1.5), class_weight=factors, **options).fit(X, y)
    w = np.array([factors[label] for label in y])
    by_row = KernelELMClassifier(Gaussian(1.5), **options).fit(X, y, sample_weight=w)
    assert_allclose(by_class.decision_function(X), by_row.decision_function(X), rtol=1e-9)


# -- selection ------------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
def test_the_exact_path_is_that_of_refits(intercept):
    X, y = regression(n=40)
    K = Gaussian(2.0).gram(X)
    model = bare(Gaussian(2.0), alpha=[1e-3, 0.1, 10.0], fit_intercept=intercept).fit(X, y)
    assert model.path_.criterion == "loo"
    scale = model.machine_.targets.scale

    def residuals(alpha):
        e = np.empty(40)
        for i in range(40):
            rest = np.delete(np.arange(40), i)
            part = bare(Gaussian(2.0), alpha=alpha, fit_intercept=intercept)
            e[i] = y[i] - part.fit(X[rest], y[rest]).predict(X[[i]])[0]
        return e

    errors = [np.mean(residuals(alpha) ** 2) for alpha in model.path_.alphas]
    assert_allclose(model.path_.scores * np.asarray(scale) ** 2, errors, rtol=1e-6)
    assert model.alpha_ == model.path_.alphas[np.argmin(errors)]
    r2 = 1 - min(errors) / y.var()
    assert model.loo_score_ == pytest.approx(r2, rel=1e-6)
    assert len(K) == model.n_landmarks_


def test_leave_one_out_accuracy_is_that_of_refits():
    X, y = classification(n=60)
    options = {"alpha": 0.1, "scale_inputs": False, "random_state": 0}
    model = KernelELMClassifier(Laplacian(2.0), **options).fit(X, y)
    rest = [np.delete(np.arange(60), i) for i in range(60)]
    right = [
        KernelELMClassifier(Laplacian(2.0), **options).fit(X[r], y[r]).predict(X[[i]])[0] == y[i]
        for i, r in enumerate(rest)
    ]
    assert model.loo_score_ == pytest.approx(np.mean(right))


@pytest.mark.parametrize("intercept", [True, False])
def test_generalised_cross_validation_of_landmarks_is_its_formula(intercept):
    X, y = regression(n=100)
    Z, kernel = X[:20], Laplacian(3.0)
    alphas = [1e-2, 0.3, 10.0]
    model = on_landmarks(Z, alpha=alphas, fit_intercept=intercept).fit(X, y)
    assert model.path_.criterion == "gcv"
    Phi, P = kernel.gram(X, Z), kernel.gram(Z)
    expected = []
    for alpha in alphas:

        def fit(H, Y, weight=None, alpha=alpha):
            return oracles.generalised_ridge(H, Y, alpha, P, intercept=intercept, weight=weight)

        expected.append(oracles.gcv(fit, Phi, y[:, None]))
    scale = np.asarray(model.machine_.targets.scale)
    # GCV here is a mean over rows: N·RSS/(N - df)².
    assert_allclose(model.path_.scores * scale**2, expected, rtol=1e-6)
    assert model.alpha_ == alphas[np.argmin(expected)]


def test_auto_picks_a_sensible_kernel_and_tells_how():
    X, y = classification(n=300)
    model = KernelELMClassifier(random_state=0).fit(X, y)
    assert isinstance(model.kernel_, Kernel)
    assert len(model.kernel_path_) > 5
    assert model.kernel_ == model.kernel_path_[0].resolved
    assert model.kernel_path_.best == model.kernel_path_[0].kernel
    # Scores on different numbers of rows do not compare: those that came further are first.
    order = [(-trial.rows, trial.score) for trial in model.kernel_path_]
    assert order == sorted(order)
    assert {trial.rows for trial in model.kernel_path_} == {128, 256, 300}
    linear = KernelELMClassifier("linear", random_state=0).fit(X, y)
    assert model.loo_score_ > linear.loo_score_ + 0.1
    assert linear.kernel_path_ is None
    assert linear.kernel_ == Linear()


def test_auto_is_exact_for_few_rows_and_on_landmarks_for_many():
    X, y = regression(n=3000, d=3)
    few = KernelELMRegressor("laplacian", random_state=0).fit(X[:300], y[:300])
    assert few.n_landmarks_ == 300
    with kernelm.config_context(working_memory=8):  # not for 3,000 rows, but for 512 landmarks
        many = KernelELMRegressor("laplacian", random_state=0).fit(X, y)
    assert set(many.landmark_path_) == {256, 512}
    assert many.n_landmarks_ == min(many.landmark_path_, key=many.landmark_path_.get)
    assert many.score(X, y) > 0.9
    given = KernelELMRegressor(
        "laplacian", approximation="nystrom", n_landmarks=many.n_landmarks_, random_state=0
    ).fit(X, y)
    assert_allclose(given.predict(X), many.predict(X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
def test_many_rows_are_solved_as_few_are(monkeypatch, intercept, weighted):
    X, y = regression(n=150)
    w = np.random.default_rng(0).integers(1, 4, 150) if weighted else None
    model = bare(Gaussian(2.0), approximation="exact", fit_intercept=intercept)
    eigen = clone(model).fit(X, y, sample_weight=w)
    monkeypatch.setattr("kernelm.estimators.exact.EIGEN_ROWS", 50)
    cholesky = clone(model).fit(X, y, sample_weight=w)
    assert_allclose(cholesky.predict(X), eigen.predict(X), rtol=1e-7, atol=1e-8)
    assert cholesky.loo_score_ == pytest.approx(eigen.loo_score_, rel=1e-6)
    assert cholesky.effective_df_ == pytest.approx(eigen.effective_df_, rel=1e-6)
    assert_allclose(cholesky.predict_interval(X), eigen.predict_interval(X), rtol=1e-6, atol=1e-7)


def test_grid_search_reaches_into_the_kernel():
    X, y = classification(n=200)
    grid = {"kernel__scale": [1e-3, 2.0, 1e3], "alpha": [0.1]}
    for form in ("exact", "nystrom"):
        model = KernelELMClassifier(Gaussian(), approximation=form, n_landmarks=50, random_state=0)
        search = GridSearchCV(model, grid, cv=3).fit(X, y)
        assert search.best_params_["kernel__scale"] == 2.0
        assert search.best_estimator_.kernel == Gaussian(2.0)
        assert model.kernel == Gaussian()


# -- several outputs, probabilities, intervals ----------------------------------------------------


@pytest.mark.parametrize("form", ["exact", "nystrom", "landmarks", "subset"])
def test_several_outputs_are_independent_given_alpha(form):
    X, Y = regression(n=150, outputs=3)
    options = {"approximation": form, "n_landmarks": 40, "alpha": 0.5, "random_state": 0}
    together = KernelELMRegressor("gaussian", **options).fit(X, Y)
    for k in range(3):
        alone = KernelELMRegressor("gaussian", **options).fit(X, Y[:, k])
        assert_allclose(together.predict(X)[:, k], alone.predict(X), rtol=1e-7, atol=1e-8)
    assert together.predict_interval(X).shape == (150, 3, 2)


@pytest.mark.parametrize("form", ["exact", "nystrom", "landmarks", "subset"])
@pytest.mark.parametrize("stratify", [False, True])
def test_several_class_outputs(form, stratify):
    X, a = classification(n=150)
    Y = np.stack([np.unique(a, return_inverse=True)[1], np.where(X[:, 0] > 0, 7, 9)], axis=1)
    model = KernelELMClassifier(
        "gaussian", approximation=form, n_landmarks=40, stratify=stratify, random_state=0
    ).fit(X, Y)
    assert [p.shape for p in model.predict_proba(X)] == [(150, 3), (150, 2)]
    assert np.mean(model.predict(X) == Y) > (0.7 if form == "subset" else 0.8)


@pytest.mark.parametrize("form", ["exact", "nystrom", "landmarks", "subset"])
@pytest.mark.parametrize("classes", [2, 4])
def test_probabilities_agree_with_predict_and_add_up(form, classes):
    X, y = classification(n=250, classes=classes)
    model = KernelELMClassifier("gaussian", approximation=form, n_landmarks=50, random_state=0).fit(
        X, y
    )
    grid = np.random.default_rng(1).normal(0, 4, (500, 5))
    P = model.predict_proba(grid)
    assert_allclose(P.sum(axis=1), 1)
    assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(grid))


@pytest.mark.parametrize("form", ["exact", "nystrom", "landmarks", "subset"])
@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_intervals_hold_the_share_they_promise(form, coverage):
    X, y = regression(n=1600)
    model = KernelELMRegressor("gaussian", approximation=form, n_landmarks=300, random_state=0).fit(
        X[:600], y[:600]
    )
    low, high = model.predict_interval(X[600:], coverage=coverage).T
    held = np.mean((low <= y[600:]) & (y[600:] <= high))
    # Two standard errors of 1,000 new rows and of 600 (subset: 300) residuals.
    kept = len(model.machine_.sample.priority)
    assert abs(held - coverage) < 2 * np.sqrt(coverage * (1 - coverage) * (1 / 1000 + 1 / kept))


# -- precision, copies ----------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", ArcCosine([1, 0]), "elm"], ids=repr)
@pytest.mark.parametrize("form", ["exact", "nystrom", "landmarks"])
def test_single_precision_is_close_to_double(kernel, form):
    X, y = classification(n=400)
    options = {"approximation": form, "n_landmarks": 80, "random_state": 0}
    double = KernelELMClassifier(kernel, **options).fit(X, y)
    single = KernelELMClassifier(kernel, **options).fit(X.astype(np.float32), y)
    T = np.random.default_rng(1).normal(size=(300, 5)).astype(np.float32)
    scores = single.decision_function(T)
    assert scores.dtype == np.float32
    # Rounding may choose the neighbouring alpha: compare what matters.
    assert_allclose(scores, double.decision_function(T.astype(float)), atol=0.1)
    assert np.mean(single.predict(T) == double.predict(T.astype(float))) > 0.98


@pytest.mark.parametrize("form", ["exact", "nystrom", "subset", "landmarks"])
def test_a_pickled_model_predicts_bit_for_bit(form):
    X, y = classification(n=150)
    model = KernelELMClassifier(approximation=form, n_landmarks=40, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.loo_score_ == model.loo_score_


@pytest.mark.parametrize("form", ["exact", "subset"])
def test_machines_that_keep_rows_do_not_stream(form):
    X, y = regression(n=60)
    model = KernelELMRegressor(approximation=form, random_state=0)
    for machine in (model, clone(model).fit(X, y)):
        for name in ("partial_fit", "freeze", "merge", "forget"):
            assert not hasattr(machine, name)
        with pytest.raises(AttributeError, match="has no attribute 'partial_fit'") as error:
            machine.partial_fit(X, y)
        assert 'approximation="nystrom"' in str(error.value.__cause__ or error.value)


def test_auto_streams_until_it_has_become_exact():
    X, y = regression(n=60)
    model = KernelELMRegressor("laplacian", random_state=0)
    assert hasattr(model, "partial_fit")
    streamed = clone(model).partial_fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    assert streamed.score(X, y) > 0.5
    assert not hasattr(model.fit(X, y), "partial_fit")
    with pytest.raises((ValueError, AttributeError), match="nystrom"):
        streamed.merge(model)


# -- hard data, finite answers --------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("alpha", ["gcv", 0, 1e-300, 1e300])
@pytest.mark.parametrize("form", ["exact", "subset", "nystrom", "landmarks"])
def test_ill_conditioned_problems_are_finite(form, alpha, dtype):
    X, y = regression(n=60)
    twice = np.repeat(X[:20], 3, axis=0)
    for kernel in (Gaussian(50.0), Gaussian("median"), Linear(), ArcCosine([1, 0])):
        for rows in (twice, 1e-6 * X, 1e6 * X, np.ones((60, 2)), np.zeros((60, 2)), X[:1], X[:2]):
            rows, target = rows.astype(dtype), y[: len(rows)]
            for scale_inputs in (True, False):
                model = KernelELMRegressor(
                    kernel,
                    approximation=form,
                    n_landmarks=30,
                    alpha=alpha,
                    scale_inputs=scale_inputs,
                    random_state=0,
                )
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    model.fit(rows, target)
                    assert np.isfinite(model.predict(rows)).all()
                    assert np.isfinite(model.predict_interval(rows)).all()
                assert isinstance(model.status_, Status)


@pytest.mark.parametrize("form", ["nystrom", "landmarks"])
@pytest.mark.parametrize("choice", ["kmeans", "leverage", "rpcholesky"])
def test_rows_without_differences_have_landmarks(form, choice):
    y = np.arange(30.0)
    for rows in (np.zeros((30, 2)), np.ones((30, 2)), np.repeat(np.eye(2), 15, axis=0)):
        for kernel in (Linear(), Gaussian("median")):
            for scale_inputs in (True, False):
                model = KernelELMRegressor(
                    kernel,
                    approximation=form,
                    landmarks=choice,
                    n_landmarks=8,
                    scale_inputs=scale_inputs,
                ).fit(rows, y)
                assert np.isfinite(model.predict(rows)).all()


def test_landmarks_that_repeat_change_nothing():
    X, y = regression(n=150)
    once = on_landmarks(X[:20]).fit(X, y)
    thrice = on_landmarks(np.repeat(X[:20], 3, axis=0)).fit(X, y)
    assert_allclose(thrice.predict(X), once.predict(X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("form", ["exact", "nystrom"])
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_scales_of_the_inputs_change_nothing(form, scale):
    X, y = regression(n=100)
    model = KernelELMRegressor(
        "laplacian", approximation=form, n_landmarks=100, alpha=0.1, random_state=0
    )
    expected = clone(model).fit(X, y).predict(X)
    # Landmarks come in the order of their contents, but they are all rows.
    assert_allclose(clone(model).fit(scale * X, y).predict(scale * X), expected, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("alpha", ["gcv", 0, 1e-300, 1e-30, 1.0])
@pytest.mark.parametrize("form", ["exact", "subset", "nystrom", "landmarks"])
def test_rows_that_are_all_alike_predict_the_mean(form, alpha, dtype):
    y = np.random.default_rng(0).normal(3, 1, 40)
    for kernel in (Gaussian("median"), Linear(), ArcCosine([1, 0])):
        for value in (0.0, 1.0, 0.1):
            rows = np.full((40, 2), value, dtype)
            model = KernelELMRegressor(kernel, approximation=form, n_landmarks=40, alpha=alpha)
            model.fit(rows, y)
            sample = y.mean() if form != "subset" else model.machine_.sample.y.mean()
            assert_allclose(model.predict(rows[:2]), sample, rtol=1e-5)
            assert_allclose(model.predict(rows[:2] + 1), sample, rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"kernel": 3}, "kernel must be a Kernel"),
        ({"kernel": "x"}, "kernel.* must be one of 'auto', 'linear', 'gaussian'"),
        ({"kernel": None}, "kernel must be a Kernel"),
        ({"approximation": "x"}, "approximation must be one of 'auto', 'exact'"),
        ({"approximation": None}, "approximation must be one of"),
        ({"n_landmarks": 0}, "n_landmarks must be a whole number of at least 1"),
        ({"n_landmarks": 2.5}, "n_landmarks must be a whole number"),
        ({"n_landmarks": "many"}, "n_landmarks .*must be one of 'auto'"),
        ({"landmarks": "x"}, "landmarks must be one of 'uniform'"),
        ({"landmarks": np.zeros((3, 2))}, "5 features"),
        ({"landmarks": np.zeros(5)}, "landmarks must be 2-D"),
        ({"landmarks": np.zeros((0, 5))}, "landmarks must hold at least one row"),
        ({"landmarks": 7}, "landmarks must be"),
        ({"landmarks": None}, "landmarks must be"),
        ({"alpha": -1}, "alpha must be"),
        ({"alpha": "cv"}, "alpha must be one of 'auto', 'gcv', 'loo'"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
@pytest.mark.parametrize("form", ["exact", "nystrom"])
def test_bad_parameters_are_refused_with_a_reason(options, sentence, form):
    X, y = regression(n=40)
    if form == "exact" and isinstance(options.get("landmarks"), np.ndarray):
        pytest.skip("the exact machine looks at no landmarks")
    given = {"kernel": "gaussian", "approximation": form, "n_landmarks": 8} | options
    with pytest.raises((ValueError, TypeError), match=sentence):
        KernelELMRegressor(**given).fit(X, y)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, np.ndarray.tolist])
def test_landmarks_can_be_given_in_any_form(storage):
    X, y = regression(n=80)
    model = on_landmarks(storage(X[:10])).fit(X, y)
    assert model.n_landmarks_ == 10
    assert_allclose(model.predict(X), on_landmarks(X[:10]).fit(X, y).predict(X), rtol=1e-6)


def test_an_indefinite_kernel_is_still_finite():
    from kernelm.kernels import Sigmoid

    X, y = regression(n=80)
    for form in ("exact", "nystrom", "landmarks"):
        for choice in ("uniform", "rpcholesky", "leverage"):
            model = KernelELMRegressor(
                Sigmoid(1.0, -1.0), approximation=form, landmarks=choice, n_landmarks=20
            )
            assert np.isfinite(model.fit(X, y).predict(X)).all()
