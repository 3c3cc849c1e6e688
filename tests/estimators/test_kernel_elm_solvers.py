"""Every solver of a kernel ELM gives the same model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import oracles
from kernelm import KernelELMClassifier, KernelELMRegressor, Status, select_kernel
from kernelm.estimators import exact, kernel_machine
from kernelm.estimators.iterative import IterativeMachine
from kernelm.estimators.large import LargeMachine
from kernelm.kernels import ArcCosine, Gaussian, Laplacian, Linear
from kernelm.ridge import DualCholesky, Factor
from problems import as_csr, classification, regression


@pytest.fixture
def many_rows(monkeypatch):
    """Make a hundred rows many."""
    monkeypatch.setattr(exact, "EIGEN_ROWS", 100)
    monkeypatch.setattr(kernel_machine, "DIRECT_LANDMARKS", 64)


@pytest.mark.parametrize("storage", [np.asarray, as_csr])
def test_exact_machines_of_many_rows_are_kernel_ridge(many_rows, storage):
    X, y = regression(n=250)
    model = KernelELMRegressor(
        Laplacian(2.0), approximation="exact", scale_inputs=False, fit_intercept=False, alpha=0.1
    ).fit(storage(X), y)
    assert isinstance(model.machine_.solution.factor, DualCholesky)
    expected = oracles.kernel_ridge(Laplacian(2.0).gram(X), y, 0.1)
    assert_allclose(model.predict(storage(X)), expected, rtol=1e-7, atol=1e-9)


def test_many_rows_choose_alpha_on_some_of_them(many_rows):
    X, y = classification(n=400, classes=3)
    some = KernelELMClassifier(Gaussian("median"), random_state=0).fit(X, y)
    truth = np.mean(_loo_by_hand(some, X, y) == y)
    assert some.loo_score_ == pytest.approx(truth, abs=1e-9)
    assert some.path_.criterion == "loo"
    assert 1 < some.effective_df_ < 400


def _loo_by_hand(model, X, y):
    """Refit without each row, on the same kernel, scaling and alpha."""
    S, codes = model.scaler_.transform(X), np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    K = model.kernel_.gram(S)
    labels = []
    for i in range(len(y)):
        r = np.delete(np.arange(len(y)), i)
        M = np.block(
            [
                [K[np.ix_(r, r)] + model.alpha_ * np.eye(len(r)), np.ones((len(r), 1))],
                [np.ones((1, len(r))), np.zeros((1, 1))],
            ]
        )
        a = np.linalg.solve(M, np.vstack([codes[r], np.zeros((1, 3))]))
        labels.append((K[i, r] @ a[:-1] + a[-1]).argmax())
    return np.unique(y)[labels]


@pytest.mark.parametrize("weighted", [False, True])
def test_passes_give_the_model_of_the_sums(many_rows, weighted):
    X, y = regression(n=600)
    w = np.random.default_rng(0).integers(1, 4, 600).astype(float) if weighted else None
    options = {"approximation": "nystrom", "n_landmarks": 120, "alpha": 1.0, "random_state": 0}
    direct = KernelELMRegressor(Laplacian("median"), solver="direct", **options)
    passes = KernelELMRegressor(Laplacian("median"), solver="falkon", **options)
    direct.fit(X, y, sample_weight=w)
    passes.fit(X, y, sample_weight=w)
    assert isinstance(passes.machine_, IterativeMachine)
    # Conjugate gradients stop at a relative residual of 1e-3 in the root mean square.
    gap = passes.predict(X) - direct.predict(X)
    assert np.sqrt(np.mean(gap**2)) < 2e-3 * y.std()
    assert passes.loo_score_ == pytest.approx(direct.loo_score_, abs=0.01)
    assert passes.status_ is Status.OK


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("storage", [np.asarray, as_csr])
def test_factors_in_place_give_the_model_of_the_sums(many_rows, weighted, storage):
    X, y = classification(n=600)
    w = np.random.default_rng(0).integers(1, 4, 600).astype(float) if weighted else None
    options = {"approximation": "nystrom", "n_landmarks": 120, "alpha": 0.1, "random_state": 0}
    options |= {"scale_inputs": False, "class_weight": {y[0]: 2.0}}
    sums = KernelELMClassifier(Laplacian("median"), solver="direct", **options)
    large = KernelELMClassifier(Laplacian("median"), **options)
    sums.fit(storage(X), y, sample_weight=w)
    large.fit(storage(X), y, sample_weight=w)
    assert isinstance(large.machine_, LargeMachine)
    # The penalty of the larger machine has some jitter, which moves scores by about as much.
    assert_allclose(large.decision_function(X), sums.decision_function(X), atol=1e-8)
    assert large.loo_score_ == pytest.approx(sums.loo_score_, abs=1e-12)
    assert large.effective_df_ == pytest.approx(sums.effective_df_, rel=1e-6)
    assert_allclose(large.predict_proba(X), sums.predict_proba(X), atol=1e-6)


def test_many_landmarks_walk_to_the_alpha_that_leave_one_out_prefers(many_rows):
    X, y = regression(n=600)
    options = {"approximation": "nystrom", "n_landmarks": 120, "random_state": 0}
    model = KernelELMRegressor(Laplacian("median"), **options).fit(X, y)
    assert model.path_.criterion == "loo"
    grid = np.logspace(-8, 3, 12) * model.alpha_
    errors = [
        _loo_error(KernelELMRegressor(Laplacian("median"), alpha=a, **options).fit(X, y))
        for a in grid
    ]
    assert _loo_error(model) <= 1.01 * min(errors)
    assert 1 < len(model.path_.alphas) <= 8


def _loo_error(model):
    return float(np.mean(model.machine_.held_out.residuals**2))


def test_probed_hat_values_are_those_of_the_sums(many_rows):
    X, y = classification(n=500)
    options = {"approximation": "nystrom", "n_landmarks": 100, "alpha": 1.0, "random_state": 0}
    passes = KernelELMClassifier(Laplacian("median"), solver="falkon", **options).fit(X, y)
    machine = passes.machine_
    direct = KernelELMClassifier(Laplacian("median"), solver="direct", **options).fit(X, y)
    Phi = machine.phi.map(machine.sample.X)
    sums = direct.machine_
    factor = Factor.of(sums.moments, penalty=sums.phi.penalty)
    h = factor.leverage(sums.phi.map(machine.sample.X), 1.0)
    assert Phi.shape == (500, 100)
    assert_allclose(machine.hats[:128], h[:128], rtol=0.02, atol=2e-3)
    # The others are guessed from these: right in the mean, and in their order.
    assert machine.hats.mean() == pytest.approx(h.mean(), rel=0.05)
    assert np.corrcoef(machine.hats, h)[0, 1] > 0.8


def test_models_of_passes_do_not_stream(many_rows):
    X, y = regression(n=300)
    model = KernelELMRegressor(Laplacian("median"), approximation="nystrom", n_landmarks=100)
    assert hasattr(model, "partial_fit")
    model.fit(X, y)
    assert not hasattr(model, "partial_fit")


def test_landmarks_grow_by_passes_while_it_pays(many_rows, monkeypatch):
    monkeypatch.setattr(kernel_machine, "_SMALLEST", 16)
    monkeypatch.setattr(kernel_machine, "_FIRST_PASS", 32)
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (800, 2))
    y = np.sin(9 * X[:, 0]) * np.cos(8 * X[:, 1])
    model = KernelELMRegressor(Laplacian("0.5*median"), approximation="nystrom", random_state=0)
    model.fit(X, y)
    assert model.n_landmarks_ > 64
    assert list(model.landmark_path_) == sorted(model.landmark_path_)
    assert model.score(X, y) > 0.99


def test_select_kernel_ranks_lists_of_layers():
    X, y = classification(n=200)
    path = select_kernel(X, y, "arccosine", n_samples=100)
    assert len(path) == 340
    scores = [trial.score for trial in path]
    assert scores == sorted(scores)
    few = select_kernel(X, y, [Linear(), ArcCosine([1, 0])])
    assert isinstance(few.best, ArcCosine)


def test_landmark_paths_say_why_they_end(many_rows):
    X, y = regression(n=300)
    options = {"random_state": 0, "kernel": Laplacian("median")}
    exact = KernelELMRegressor(**options).fit(X, y)
    assert "every row" in exact.landmark_path_.stopped
    given = KernelELMRegressor(approximation="nystrom", n_landmarks=20, **options).fit(X, y)
    assert "given" in repr(given.landmark_path_)
    grown = KernelELMRegressor(approximation="nystrom", **options).fit(X[:50], y[:50])
    assert "no more rows" in grown.landmark_path_.stopped
    flat = KernelELMRegressor(Linear(), approximation="nystrom").fit(X[:, :1], 2 * X[:, 0])
    assert "less than 1%" in flat.landmark_path_.stopped


def test_verbose_fits_report_in_every_form(many_rows, capsys):
    X, y = regression(n=300)
    for options in ({"approximation": "exact"}, {"solver": "falkon"}, {"n_landmarks": 100}):
        options = {"approximation": "nystrom", "n_landmarks": 80} | options
        KernelELMRegressor(Laplacian("median"), verbose=1, **options).fit(X, y)
        assert "rows/s" in capsys.readouterr().err
