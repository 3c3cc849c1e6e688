"""The nested evaluation against loops, and the claim that it was made for."""

import os
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import SVC, SVR

from kernelm.data import load
from kernelm.kernels import AsymptoticELM, Gaussian
from kernelm.margin.evaluation import CrossTest, cross_test
from kernelm.margin.svm import KernelSVC, KernelSVR
from problems import as_csr, classification, regression

TOL = 1e-8

#: The sets on which Frénay and Verleysen (2011) compare the two kernels.
PAPER_SETS = (
    *("triazines", "r_wpbc", "machine_cpu", "stock"),
    *("abalone", "delta_ailerons", "cpu_act", "delta_elevators"),
)


def squared_error(make, X, y, train, test, params):
    """MSE, in the units of y, of a model of standardised training rows."""
    mean, std = X[train].mean(axis=0), X[train].std(axis=0)
    centre, unit = y[train].mean(), y[train].std()
    model = make(**params).fit((X[train] - mean) / std, (y[train] - centre) / unit)
    return np.mean((y[test] - centre - unit * model.predict((X[test] - mean) / std)) ** 2)


def errors(make, X, y, train, test, params):
    mean, std = X[train].mean(axis=0), X[train].std(axis=0)
    model = make(**params).fit((X[train] - mean) / std, y[train])
    return np.mean(model.predict((X[test] - mean) / std) != y[test])


def nested_loops(loss, make, grid, folds, X, y, outer, inner):
    scores, chosen = [], []
    candidates = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    for train, test in folds(outer).split(X, y):
        cuts = [(train[a], train[b]) for a, b in folds(inner).split(X[train], y[train])]
        inner_losses = [
            np.mean([loss(make, X, y, a, b, params) for a, b in cuts]) for params in candidates
        ]
        chosen.append(candidates[int(np.argmin(inner_losses))])
        scores.append(loss(make, X, y, train, test, chosen[-1]))
    return scores, chosen


def test_regression_is_two_nested_loops():
    X, y = regression(n=90)
    X, y = X * np.arange(1, 6) + 3, 50 * y - 7
    grid = {"C": [0.1, 3.0, 100.0], "epsilon": [0.01, 0.3]}
    result = cross_test(
        KernelSVR(Gaussian(2.0), tol=TOL), grid, X, y, outer=4, inner=3, random_state=5
    )
    scores, chosen = nested_loops(
        squared_error,
        lambda **params: SVR(gamma=1 / 8, tol=TOL, **params),
        grid,
        lambda n: KFold(n, shuffle=True, random_state=5),
        *(X, y, 4, 3),
    )
    assert_allclose(result.scores, scores, rtol=1e-5)
    assert result.best_params == chosen


def test_classification_is_two_nested_loops():
    X, y = classification(n=90)
    grid = {"C": [0.01, 1.0, 30.0]}
    result = cross_test(KernelSVC(Gaussian(2.0), tol=TOL), grid, X, y, outer=3, inner=3)
    wrong, chosen = nested_loops(
        errors,
        lambda **params: SVC(gamma=1 / 8, tol=TOL, break_ties=True, **params),
        grid,
        lambda n: StratifiedKFold(n, shuffle=True, random_state=0),
        *(X, y, 3, 3),
    )
    assert_allclose(result.scores, 1 - np.array(wrong))
    assert result.best_params == chosen


def test_mean_and_interval_are_those_of_students_t():
    scores = np.array([1.0, 4.0, 2.0, 2.5, 0.5])
    result = CrossTest(scores, [{}] * 5)
    low, high = stats.ttest_1samp(scores, 0).confidence_interval(0.95)
    assert_allclose([result.mean - result.interval, result.mean + result.interval], [low, high])
    assert repr(result) == f"2 ± {result.interval:.3g}"


def test_units_of_the_data_do_not_matter():
    X, y = regression(n=80)
    grid = {"alpha": [0.1, 10.0]}
    plain = cross_test(Ridge(), grid, X, y, outer=3, inner=3)
    other = cross_test(Ridge(), grid, 1e3 * X + 5, 10 * y - 4, outer=3, inner=3)
    assert_allclose(other.scores, 100 * plain.scores, rtol=1e-6)


def test_names_nest_grids_may_be_lists_and_processes_agree():
    X, y = regression(n=60)
    grids = [{"kernel__scale": [0.5, 3.0]}, {"C": np.logspace(0, 2, 2), "epsilon": [0.1]}]
    options = {"outer": 3, "inner": 2}
    one = cross_test(KernelSVR(Gaussian()), grids, X, y, **options)
    two = cross_test(KernelSVR(Gaussian()), grids, X, y, n_jobs=2, **options)
    assert_array_equal(one.scores, two.scores)
    assert one.best_params == two.best_params
    assert all(set(p) in ({"kernel__scale"}, {"C", "epsilon"}) for p in one.best_params)


def test_sparse_rows_stay_sparse():
    X, y = regression(n=60)
    result = cross_test(KernelSVR(Gaussian(2.0)), {"C": [1.0]}, as_csr(X), y, outer=3, inner=2)
    unscaled = X / X.std(axis=0)  # nearly what sparse rows become
    dense = cross_test(KernelSVR(Gaussian(2.0)), {"C": [1.0]}, unscaled, y, outer=3, inner=2)
    assert_allclose(result.mean, dense.mean, rtol=0.1)


def test_one_generator_draws_one_seed(capsys):
    X, y = regression(n=60)
    results = [
        cross_test(
            Ridge(), {}, X, y, outer=3, inner=2, random_state=np.random.RandomState(1), verbose=1
        )
        for _ in range(2)
    ]
    assert_array_equal(results[0].scores, results[1].scores)
    assert "cross-test: 60/60 rows" in capsys.readouterr().err


def test_what_cannot_be_used_is_said():
    X, y = regression(n=30)
    with pytest.raises(ValueError, match="outer must be a whole number of at least 2"):
        cross_test(Ridge(), {}, X, y, outer=1)
    with pytest.raises(ValueError, match="C must be a finite number above 0"):
        cross_test(KernelSVR(), {"C": [1.0, -1.0]}, X, y, outer=2, inner=2)


@pytest.mark.skipif(
    not os.environ.get("KERNELM_DATA"),
    reason="KERNELM_DATA is not set: the ELM kernel is not compared on real data",
)
@pytest.mark.parametrize("name", PAPER_SETS)
def test_the_elm_kernel_needs_no_scale_to_do_as_well_as_the_gaussian(name):
    data = load(name)
    rows = np.random.default_rng(0).permutation(len(data.y))[:400]
    X, y = data.X[rows], data.y[rows]
    grid = {"C": [1.0, 10.0, 100.0, 1000.0], "epsilon": [0.1]}
    elm, gaussian = (
        cross_test(KernelSVR(kernel), grid | more, X, y, outer=5, inner=3)
        for kernel, more in [
            (AsymptoticELM(10.0).normalized(), {}),
            (Gaussian(), {"kernel__scale": [1.0, 3.0, 10.0]}),
        ]
    )
    # The rule of the paper: not worse than the other by more than its interval.
    assert elm.mean < gaussian.mean + gaussian.interval
    assert elm.mean < y.var()
