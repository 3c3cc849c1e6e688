"""Figures 2 and 3 of the paper: an ELM that fits a sine, and the shape of the kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelm import ELMRegressor, unit_curve
from papers.elm_svr.machine import kernel_of
from papers.experiment import Mode, Result
from papers.seeds import first

N_UNITS, SHOWN = 20, (2, 9, 20)
SHAPES = ("1e-3", "1e0", "1e3")  # σ
_END, _NOISE = 5.0, 0.1


def run_sine(row: str, machine: str, mode: Mode) -> Result:
    """Return the test error of ELMs with 1 to 20 units that learn a sine from 20 noisy rows.

    The best size is that of the median over draws of rows and units, and the machines that are
    kept are those of the first one. The paper names no interval and no noise: ours are [-5, 5]
    and 0.1.
    """
    n_draws = 10 if mode is Mode.QUICK else 100
    sizes = range(1, N_UNITS + 1)
    curves = [[_error(size, seed) for size in sizes] for seed in first(n_draws)]
    X, y = _rows(20, 0)
    loo = unit_curve(_elm(N_UNITS, 0), X, y)
    grid = np.linspace(-_END, _END, 201)
    low, median, high = np.quantile(curves, (0.25, 0.5, 0.75), axis=0)
    return {
        "score": int(np.argmin(median)) + 1,
        "best_of_draws": [int(np.argmin(curve)) + 1 for curve in curves],
        "x": list(sizes),
        "y": median.tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "chosen_without_test": loo.best,
        "rows": [X[:, 0].tolist(), y.tolist()],
        "grid": grid.tolist(),
        "models": {
            str(size): _elm(size, 0).fit(X, y).predict(grid[:, None]).tolist() for size in SHOWN
        },
        "seeds": list(first(n_draws)),
        "thinned": f"{n_draws} draws instead of 100" if mode is Mode.QUICK else "",
    }


def run_shape(row: str, machine: str, mode: Mode) -> Result:
    """Return the normalised ELM kernel between 0 and points around it, and where it is a half."""
    x = np.linspace(-_END, _END, 1001)
    y = kernel_of(machine).gram(np.zeros((1, 1)), x[:, None])[0]
    half = float(np.interp(-0.5, -y[x >= 0], x[x >= 0]))
    return {"score": half, "x": x[::5].tolist(), "y": y[::5].tolist(), "seed": None}


def _rows(n: int, seed: int) -> tuple[NDArray, NDArray]:
    rng = np.random.default_rng([seed, n])
    X = rng.uniform(-_END, _END, (n, 1))
    return X, np.sin(X[:, 0]) + rng.normal(0, _NOISE, n)


def _elm(n_units: int, seed: int) -> ELMRegressor:
    return ELMRegressor(
        n_units,
        activation="erf",
        weights="uniform",
        weight_scale=3.0,  # uniform in [-3, 3], as the paper suggests
        alpha=0,
        random_state=seed,
    )


def _error(n_units: int, seed: int) -> float:
    X_test, y_test = _rows(1000, seed)
    errors = _elm(n_units, seed).fit(*_rows(20, seed)).predict(X_test) - y_test
    return float(np.mean(errors**2))
