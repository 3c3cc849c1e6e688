"""One factorisation says what a machine of every size would have."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelm import ELMClassifier, ELMRegressor, KernelELMRegressor, unit_curve
from kernelm.ridge import Prefixes
from problems import as_csr, classification, regression


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"direct_links": True}])
def test_each_number_of_units_is_a_machine_of_that_size(options):
    X, y = regression(n=80)
    weight = np.arange(80) % 3
    curve = unit_curve(ELMRegressor(30, random_state=0, **options), X, y, weight, alpha=0.5)
    assert_array_equal(curve.n_units, np.arange(1, 31))
    for k in (1, 12, 30):
        model = ELMRegressor(k, alpha=0.5, random_state=0, **options).fit(X, y, weight)
        expected = np.average(
            (model.machine_.held_out.residuals[:, 0] * model.machine_.targets.scale) ** 2,
            weights=weight,
        )
        assert curve.errors[k - 1] == pytest.approx(expected, rel=1e-6)


def test_classes_and_several_outputs():
    X, y = classification(n=90)
    curve = unit_curve(ELMClassifier(20, class_weight="balanced", random_state=0), X, y, alpha=1)
    model = ELMClassifier(20, class_weight="balanced", alpha=1, random_state=0).fit(X, y)
    held_out = model.machine_.held_out
    expected = np.average((held_out.residuals**2).mean(axis=1), weights=held_out.weight)
    assert curve.errors[-1] == pytest.approx(expected, rel=1e-6)
    X, Y = regression(n=90, outputs=2)
    curve = unit_curve(ELMRegressor(20, random_state=0), X, Y, alpha=1)
    model = ELMRegressor(20, alpha=1, random_state=0).fit(X, Y)
    assert curve.errors[-1] == pytest.approx((model.machine_.held_out.residuals**2).mean())


def test_sparse_and_single_precision_rows():
    X, y = regression(n=60)
    elm = ELMRegressor(15, scale_inputs=False, random_state=0)
    curve = unit_curve(elm, X, y)
    assert_allclose(unit_curve(elm, as_csr(X), y).errors, curve.errors, rtol=1e-9)
    assert_allclose(unit_curve(elm, X.astype(np.float32), y).errors, curve.errors, rtol=1e-3)
    assert not hasattr(elm, "machine_")


def sine(seed, n=20):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-5, 5, (n, 1))
    return X, np.sin(X[:, 0]) + rng.normal(0, 0.1, n)


def test_twenty_points_of_a_sine_want_a_moderate_number_of_units():
    """The shape of figure 2 of the ELM kernel paper: down, a minimum, and then up and away."""
    elm = ELMRegressor(20, random_state=0)
    curves = [unit_curve(elm.set_params(random_state=s), *sine(s)) for s in range(20)]
    best = np.array([curve.best for curve in curves])
    assert 4 <= np.median(best) <= 11
    assert best.max() <= 14
    errors = np.array([curve.errors for curve in curves])
    lowest = errors.min(axis=1)
    assert np.median(errors[:, 0] / lowest) > 5
    assert np.median(errors[:, 16] / lowest) > 100
    assert np.median(errors[:, -1] / lowest) > 100
    # It is not just leave-one-out that says so: the chosen size is good on other rows.
    X_new, y_new = sine(99, 1000)
    one, chosen, many = np.median(
        [new_errors(s, (1, best[s], 20), X_new, y_new) for s in range(9)], 0
    )
    assert chosen < min(one, many) / 3


def new_errors(seed, sizes, X_new, y_new):
    X, y = sine(seed)
    phi = ELMRegressor(20, random_state=seed).fit(X, y).machine_.phi
    H, H_new = phi.map(X), phi.map(X_new)
    fits = [Prefixes.of(H[:, :k], y[:, None]).fit(k).weights for k in sizes]
    predictions = [H_new[:, : len(W)] @ W[:, 0] + b for W, b in fits]
    return [np.mean((p - y_new) ** 2) for p in predictions]


def test_auto_means_the_first_pass_and_other_machines_are_refused():
    X, y = regression(n=60)
    assert len(unit_curve(ELMRegressor(random_state=0), X, y, alpha=1.0).errors) == 512
    with pytest.raises(TypeError, match="elm must be an ELMClassifier or ELMRegressor"):
        unit_curve(KernelELMRegressor(), X, y)
    with pytest.raises(ValueError, match="alpha must be a finite number of at least 0"):
        unit_curve(ELMRegressor(5), X, y, alpha=-1)
