"""Features that are degenerate, extreme or too large: finite answers and the right advice."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import oracles
from catalog import regression_rows
from kernelm.ridge import Factor, Moments, Status, gcv_path, loo_residuals

pytestmark = pytest.mark.filterwarnings("error")
PHI, Y, WEIGHT = regression_rows()
both_sides = pytest.mark.parametrize("rows", [False, True], ids=["of", "of_rows"])


def factor(Phi, targets=Y, weight=None, *, rows=False, **options):
    if rows:
        return Factor.of_rows(Phi, targets, weight, **options)
    return Factor.of(Moments.of(Phi.copy(), targets, weight), **options)


def test_a_ridge_that_can_be_used_is_used():
    assert factor(PHI).resolve(1.0) == (1.0, Status.OK)
    assert factor(PHI).resolve(0.0) == (0.0, Status.OK)


@both_sides
@pytest.mark.parametrize("alpha", [1e-300, 1e-30])
def test_a_ridge_below_rounding_is_raised_to_the_floor(rows, alpha):
    f = factor(PHI, rows=rows)
    assert f.resolve(alpha) == (f.floor, Status.FLOORED)
    assert 0 < f.floor < 1e-10 * f.values[-1]
    assert_allclose(f.coef(alpha).coef, f.coef(f.floor).coef)


@both_sides
def test_duplicate_features_share_their_weight(rows):
    twice = np.hstack([PHI, PHI])
    f = factor(twice, rows=rows)
    assert f.resolve(0.0) == (0.0, Status.RANK_DEFICIENT)
    assert f.resolve(1.0) == (1.0, Status.OK)
    expected, _ = oracles.least_squares(PHI, Y)
    assert_allclose(f.coef(0.0).coef, np.vstack([expected, expected]) / 2, rtol=1e-7, atol=1e-9)


@both_sides
def test_duplicate_rows_change_nothing_but_the_counts(rows):
    f = factor(np.repeat(PHI, 3, axis=0), np.repeat(Y, 3, axis=0), rows=rows)
    assert_allclose(f.coef(3.0).coef, factor(PHI).coef(1.0).coef, rtol=1e-9)
    assert f.resolve(0.0)[1] is (Status.RANK_DEFICIENT if len(f.values) < 6 else Status.OK)


def test_fewer_rows_than_features_is_rank_deficient():
    for rows in (False, True):
        assert factor(PHI[:4], Y[:4], rows=rows).resolve(0.0)[1] is Status.RANK_DEFICIENT


@both_sides
@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, -123.456, 1e9 + 0.3, 1e150, 1e-150])
@pytest.mark.parametrize("alpha", [0.0, 1e-3])
def test_a_constant_feature_has_no_weight(rows, value, alpha):
    wide = np.hstack([PHI, np.full((40, 1), value)])
    coef, b = factor(wide, rows=rows).coef(alpha)
    alone, c = factor(PHI, rows=rows).coef(alpha)
    assert_allclose(coef[-1], 0)
    assert_allclose(coef[:-1], alone, rtol=1e-9)
    assert_allclose(b, c, rtol=1e-9)


@both_sides
@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e6 / 3])
@pytest.mark.parametrize("n", [1, 5, 40])
def test_only_constant_features_predict_the_mean_and_say_so(rows, value, n):
    f = factor(np.full((n, 3), value), Y[:n], rows=rows)
    for alpha in (0.0, 1e-9, 1.0):
        assert f.resolve(alpha)[1] is Status.NO_SIGNAL
        coef, b = f.coef(alpha)
        assert_allclose(coef, 0)
        assert_allclose(b, Y[:n].mean(axis=0))
    assert np.isfinite(gcv_path(f).best)


def test_constant_features_without_an_intercept_are_features():
    ones = np.ones((40, 1))
    assert_allclose(factor(ones, intercept=False).coef(0.0).coef, [Y.mean(axis=0)])


@pytest.mark.parametrize("size", [1e-150, 1e-30, 1e30, 1e150])
@both_sides
def test_any_scale_of_features_gives_the_same_model(size, rows):
    a, b = factor(PHI, rows=rows), factor(size * PHI, rows=rows)
    assert_allclose(size * b.coef(size**2).coef, a.coef(1.0).coef, rtol=1e-9)
    assert b.df(size**2) == pytest.approx(a.df(1.0))
    assert b.resolve(size**2)[1] is Status.OK
    assert_allclose(gcv_path(b).scores.min(), gcv_path(a).scores.min(), rtol=1e-9)


@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_any_scale_of_targets_gives_the_same_model(size):
    f = factor(PHI, size * Y)
    assert_allclose(f.coef(1.0).coef, size * factor(PHI).coef(1.0).coef, rtol=1e-9)
    assert gcv_path(f).best == gcv_path(factor(PHI)).best


def test_features_of_very_different_scales_stay_finite():
    sizes = 10.0 ** np.arange(-9, 9, 3)
    f = factor(PHI * sizes)
    for alpha in (0.0, 1e-12, 1.0, 1e12):
        alpha, _ = f.resolve(alpha)
        assert np.isfinite(f.coef(alpha).coef).all()
        assert np.isfinite(f.rss(alpha)).all()
        assert np.isfinite(loo_residuals(f, PHI * sizes, Y, np.array([alpha]))).all()


def test_an_offset_of_the_features_costs_digits_that_the_floor_knows_about():
    """A mean of 1e6: the sums hold 1e12, and the variance of 1 keeps four digits."""
    far = factor(PHI + 1e6)
    # One rounding error of the 40 squares, shared by six features.
    assert far.floor > np.finfo(float).eps * 40 * 1e12
    assert_allclose(far.coef(1.0).coef, factor(PHI).coef(1.0).coef, atol=1e-2)
    # Rows are centred before they are multiplied: nothing is lost there.
    near = factor(PHI + 1e6, rows=True)
    assert_allclose(near.coef(1.0).coef, factor(PHI).coef(1.0).coef, rtol=1e-8)


def test_the_floor_is_measured_in_units_of_the_penalty():
    plain, penalised = factor(PHI + 1e6), factor(PHI + 1e6, penalty=100.0 * np.eye(6))
    assert penalised.floor == pytest.approx(plain.floor / 100, rel=1e-2)


def test_constant_targets_need_no_weights():
    f = factor(PHI, np.full((40, 1), 0.1))
    path = gcv_path(f)
    assert_allclose(PHI @ f.coef(path.best).coef + f.coef(path.best).intercept, 0.1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_that_overflow_are_refused_with_advice(dtype):
    huge = np.full((4, 2), np.sqrt(np.finfo(dtype).max) * 10, dtype) * np.eye(4, 2, dtype=dtype)
    ones = np.ones((4, 1), dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        features, targets = Moments.of(huge, ones), Moments.of(np.eye(4, 2, dtype=dtype), huge)
    for m in (features, targets):
        with pytest.raises(ValueError, match=r"the sums overflow\); scale the inputs"):
            Factor.of(m)
    if dtype == np.float64:
        with pytest.raises(ValueError, match="the sums overflow"):
            Factor.of_rows(huge, ones)


def test_float32_rows_give_the_float64_model_to_their_precision():
    Phi, targets, _ = regression_rows(n=5000, n_features=20, n_outputs=1)
    fine = factor(Phi, targets)
    coarse = factor(Phi.astype(np.float32), targets.astype(np.float32))
    assert_allclose(coarse.coef(1.0).coef, fine.coef(1.0).coef, atol=1e-4)
    assert coarse.resolve(1e-9)[1] is Status.FLOORED
    assert fine.resolve(1e-9)[1] is Status.OK
    assert_allclose(coarse.gcv(np.array([1.0])), fine.gcv(np.array([1.0])), rtol=1e-4)


def test_every_status_but_ok_gives_advice():
    for status in Status:
        assert (";" in status) == (status is not Status.OK)
