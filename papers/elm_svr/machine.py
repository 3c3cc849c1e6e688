"""Support vector regression on standardised rows, with a kernel of the paper."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from kernelm.kernels import AsymptoticELM, Gaussian, Kernel

GAUSSIAN = "Gaussian"
SIGMAS = ("1e-3", "1e-2", "1e-1", "1e0", "1e1", "1e2", "1e3")
MACHINES = (GAUSSIAN, *SIGMAS)
_CACHE = 400  # megabytes: libsvm keeps the whole matrix of the largest set


def kernel_of(machine: str, gamma: float | None = None) -> Kernel:
    """Return the Gaussian kernel of a γ, or the normalised ELM kernel of a σ.

    Examples
    --------
    >>> kernel_of("1e1").gram([[0.0]], [[0.0], [1.0]]).round(2)
    array([[1.  , 0.53]])
    """
    if gamma is not None:
        return Gaussian.from_gamma(gamma)
    return AsymptoticELM(weight_scale=float(machine)).normalized()


@dataclass(frozen=True)
class Rows:
    """Rows to train on and rows to judge by, both in units of the training rows."""

    X: NDArray
    y: NDArray
    X_test: NDArray
    y_test: NDArray
    unit: float  #: the standard deviation of y

    @classmethod
    def of(cls, X: NDArray, y: NDArray, train: NDArray, test: NDArray) -> Rows:
        """Standardise inputs and targets by the training rows."""
        inputs, targets = StandardScaler().fit(X[train]), StandardScaler().fit(y[train, None])
        y = targets.transform(y[:, None])[:, 0]
        return cls(
            inputs.transform(X[train]),
            y[train],
            inputs.transform(X[test]),
            y[test],
            float(targets.scale_[0]),
        )

    def grams(self, kernel: Kernel) -> tuple[NDArray, NDArray]:
        """Return the kernel of the training rows with themselves, and of the others with them."""
        return kernel.gram(self.X), kernel.gram(self.X_test, self.X)


class Fit(NamedTuple):
    """The error of a machine in units of y², and how libsvm ended."""

    error: float
    is_free: bool  #: no row is held back by C: a larger one gives the same machine
    is_capped: bool  #: libsvm was stopped at its limit of steps


def fit(rows: Rows, grams: tuple[NDArray, NDArray], C: float, epsilon: float, steps: int) -> Fit:
    """Train libsvm's ε-SVR for at most so many steps and judge it on the other rows."""
    K, K_test = grams
    svr = SVR(kernel="precomputed", C=C, epsilon=epsilon, max_iter=steps, cache_size=_CACHE)
    with warnings.catch_warnings(), config_context(assume_finite=True):
        warnings.simplefilter("ignore", ConvergenceWarning)
        svr.fit(K, rows.y)
    weights = np.asarray(svr.dual_coef_)[0]
    errors = K_test[:, svr.support_] @ weights + svr.intercept_ - rows.y_test
    is_free = bool(np.all(np.abs(weights) < C))
    return Fit(float(np.mean(errors**2)) * rows.unit**2, is_free, int(svr.n_iter_) >= steps)
