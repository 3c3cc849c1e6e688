"""Draw units.png: the leave-one-out error of every number of units, and three of the fits.

python docs/figures/units.py
"""

from pathlib import Path

import numpy as np

from kernelm import ELMRegressor, unit_curve
from kernelm.ridge import Prefixes


def sine(seed, n):
    """Return noisy points of a sine."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-5, 5, (n, 1))
    return X, np.sin(X[:, 0]) + rng.normal(0, 0.1, n)


def main():
    """Draw the figure."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    X, y = sine(0, 20)
    X_new, y_new = sine(1, 1000)
    elm = ELMRegressor(20, alpha=0, random_state=0).fit(X, y)
    phi, curve = elm.machine_.phi, unit_curve(elm, X, y)
    prefixes = Prefixes.of(phi.map(X), y[:, None])

    def predict(n_units, rows):
        W, b = prefixes.fit(n_units).weights
        return (phi.map(rows)[:, :n_units] @ W + b)[:, 0]

    new = [np.mean((predict(k, X_new) - y_new) ** 2) for k in curve.n_units]
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    left.semilogy(curve.n_units, curve.errors, "o-", ms=3, label="leave-one-out")
    left.semilogy(curve.n_units, new, "s--", ms=3, label="1,000 new points")
    left.axvline(curve.best, color="0.7", lw=1, zorder=0)
    left.set(xlabel="units", ylabel="mean squared error", xticks=range(0, 21, 5), ylim=(5e-3, 1e2))
    left.legend(frameon=False)
    grid = np.linspace(-5, 5, 200)[:, None]
    for k, style in ((2, "--"), (curve.best, "-"), (20, ":")):
        right.plot(grid, predict(k, grid), style, label=f"{k} units")
    right.plot(X[:, 0], y, "k.", ms=5)
    right.set(xlabel="x", ylim=(-2.4, 2))
    right.legend(frameon=False, loc="lower center", ncols=3)
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=100)


if __name__ == "__main__":
    main()
