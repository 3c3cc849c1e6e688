"""Balls hold every row, and are as small as an exact programme says, for every kernel."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from catalog import KERNELS, OnePass, rows_for
from kernelm.data import ArraySource
from kernelm.kernels import Gaussian
from kernelm.margin import ball as ball_module
from kernelm.margin import furthest as furthest_module
from kernelm.margin.ball import enclose
from kernelm.margin.blurred import touch
from kernelm.margin.furthest import Points, Search
from kernelm.margin.simplex import maximise

RIDGE = 0.1


def problem(kernel, n=150, seed=0):
    X = rows_for(kernel, n, seed=seed)
    y = np.where(X[:, 0] + 0.3 * np.random.default_rng(seed).normal(size=n) > 0.3, 1.0, -1.0)
    return X, y


def signed(eta):
    """Points of a classification: the sign of the class, a private coordinate, constant g."""

    def points(rows):
        n = rows.n
        codes, at = rows.y[:, None, None], np.arange(rows.start, rows.start + n)
        g, ridge = np.full((n, 1), eta), np.full(n, RIDGE)
        return Points(rows.X, codes, g, ridge, np.ones(n), at)

    return points


def matrix(kernel, X, y):
    return np.outer(y, y) * (kernel.gram(X) + 1) + RIDGE * np.eye(len(X))


def fitted(kernel, source, eta, eps, **options):
    search = Search(source, signed(eta), kernel, 1.0)
    options = {
        "max_core": 10_000,
        "tolerance": lambda b: ((1 + eps) ** 2 - 1) * b.radius**2,
    } | options
    return enclose(search, kernel, 1.0, **options)


def distances(ball, kernel, X, y, eta):
    Q = matrix(kernel, X, y)
    alpha = np.zeros(len(X))
    alpha[ball.core.position] = ball.alpha
    return np.sqrt(alpha @ Q @ alpha - 2 * Q @ alpha + eta)


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch):
    monkeypatch.setattr(ball_module, "ALL_AT_ONCE", 0)  # these problems are small on purpose


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.is_psd], ids=repr)
@pytest.mark.parametrize("eps", [0.1, 1e-3])
def test_no_row_is_outside_and_the_radius_is_that_of_the_exact_programme(kernel, eps):
    X, y = problem(kernel)
    Q = matrix(kernel, X, y)
    eta = float(np.diagonal(Q).max())
    ball = fitted(kernel, ArraySource(X, y), eta, eps)
    d = distances(ball, kernel, X, y, eta)
    assert d.max() <= (1 + eps) * ball.radius * (1 + 1e-6)
    assert ball.violation <= eps * (1 + 1e-6)
    assert np.sqrt(ball.furthest) == pytest.approx(d.max(), rel=1e-6)
    exact = maximise(Q, np.full(len(X), eta), np.ones(len(X), bool))
    squared = eta - exact.alpha @ Q @ exact.alpha
    assert ball.radius**2 <= squared * (1 + 1e-9) <= (1 + eps) ** 2 * ball.radius**2 * (1 + 1e-6)


def test_the_storage_of_rows_makes_no_difference():
    kernel = Gaussian(1.5)
    X, y = problem(kernel)
    sources = [ArraySource(X, y), ArraySource(sparse.csr_array(X), y), OnePass(X, y)]
    radii = [fitted(kernel, s, 2 + RIDGE, 1e-9).radius for s in sources]
    assert_allclose(radii, radii[0], rtol=1e-9)


def test_columns_that_are_kept_and_columns_made_again_give_the_same_ball(monkeypatch):
    monkeypatch.setattr(furthest_module, "NARROW", 0)
    kernel = Gaussian(0.7)
    X, y = problem(kernel, n=4000)
    found = []
    for budget in (1e9, 0.0):
        search = Search(ArraySource(X, y), signed(2 + RIDGE), kernel, 1.0, None, budget)
        found.append(enclose(search, kernel, 1.0, tolerance=lambda b: 0.02 * b.rho, max_core=4000))
        assert search.is_complete
        d = distances(found[-1], kernel, X, y, 2 + RIDGE)
        assert d.max() ** 2 == pytest.approx(found[-1].furthest, rel=1e-9)
    assert found[0].radius == pytest.approx(found[1].radius, rel=1e-4)


def test_a_limit_ends_the_search_with_a_status_and_a_true_certificate():
    kernel = Gaussian(0.3)
    X, y = problem(kernel, n=1000)
    ball = fitted(kernel, ArraySource(X, y), 2 + RIDGE, 1e-9, max_core=50)
    assert ball.status.name == "CORE_BUDGET"
    assert len(ball.alpha) <= 50
    d = distances(ball, kernel, X, y, 2 + RIDGE)
    assert ball.violation == pytest.approx(d.max() / ball.radius - 1, rel=1e-6)


def test_the_core_set_does_not_grow_with_the_rows():
    kernel = Gaussian(2.0)
    sizes = []
    for n in (2000, 20_000):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, 3)) + 2 * (np.arange(n) % 2)[:, None]
        y = np.where(np.arange(n) % 2, 1.0, -1.0)
        ball = fitted(kernel, ArraySource(X, y), 2 + RIDGE, 1e-3).carrying()
        sizes.append(len(ball.alpha))
    assert sizes[1] <= 2 * sizes[0]


def test_a_moved_ball_of_fixed_radius_holds_every_row():
    kernel = Gaussian(1.0)
    X, y = problem(kernel, n=300)
    search = Search(ArraySource(X, y), signed(2 + RIDGE), kernel, 1.0)
    ball = touch(search, kernel, 1.0, eps=1e-3, max_core=1000)
    d = distances(ball, kernel, X, y, 2 + RIDGE)
    assert ball.radius == pytest.approx(np.sqrt(2 + RIDGE))
    assert d.max() <= (1 + 1e-3) * ball.radius * (1 + 1e-9)
    alpha = np.zeros(len(X))
    alpha[ball.core.position] = ball.alpha
    assert alpha @ matrix(kernel, X, y) @ alpha == pytest.approx(ball.rho, rel=1e-9)
