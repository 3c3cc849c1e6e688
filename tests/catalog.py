"""Everything that a law of the library must hold for."""

from __future__ import annotations

import numpy as np

from kernelm import kernels as km

# --- kernels -------------------------------------------------------------------------------------

#: Kernels for all real rows.
REAL_KERNELS = [
    km.Linear(),
    km.Linear(offset=0.5),
    km.Polynomial(scale=0.5, offset=1.0, degree=3),
    km.Sigmoid(scale=0.1, offset=0.2),
    km.Gaussian(scale=2.0),
    km.Gaussian(scale=np.float64(1.5)),  # as a grid search over np.logspace sets it
    km.Laplacian(scale=3.0),
    km.LaplacianL1(scale=4.0),
    km.Matern32(scale=2.0),
    km.Matern52(scale=2.0),
    km.Circular(scale=3.0),
    km.Spherical(scale=3.0),
    km.ArcCosine([0]),
    km.ArcCosine([1]),
    km.ArcCosine([2]),
    km.ArcCosine([3]),
    km.ArcCosine([4]),
    km.ArcCosine([1, 0]),
    km.ArcCosine([0, 1, 2]),
    km.ArcCosine([1, 1, 1, 1]),
    km.ArcCosine([3, 2], normalize=True),
    km.AsymptoticELM(weight_scale=1.0),
    km.AsymptoticELM(weight_scale=10.0).normalized(),
    km.ELMKernel(n_units=50),
    km.ELMKernel(n_units=20, activation="relu", weight_scale=0.5, seed=3).normalized(),
    km.Constant(0.7),
    0.5 * km.Gaussian(scale=2.0) + km.Linear().power(2),
    km.Gaussian() * (km.Linear() + 1.5),
    2.0 * (km.Laplacian() * km.Matern32()) + km.Circular(scale=5.0),
    (km.Linear() + km.Gaussian()).normalized(),
    km.Linear().normalized().exp(scale=2.0),
    km.Gaussian(scale=3.0).then(km.GaussianLayer(scale=0.8)),
    km.Polynomial(degree=2, offset=0.5).then(km.PolynomialLayer(scale=0.3, offset=0.1, degree=2)),
    km.Gaussian(scale=2.0).then(km.ArcCosineLayer(1), km.ArcSineLayer(2.0)).normalized().power(3),
]

#: Kernels for non-negative rows only.
NON_NEGATIVE_KERNELS = [
    km.ChiSquare(gamma=0.3),
    km.AdditiveChiSquare(),
    0.3 * km.ChiSquare() + km.Linear().normalized(),
    km.ChiSquare().then(km.ArcCosineLayer(1)),
]

KERNELS = REAL_KERNELS + NON_NEGATIVE_KERNELS


def rows_for(kernel, n: int = 12, n_features: int = 3, seed: int = 0, dtype=np.float64):
    """Rows with some zeros, in the domain of the kernel (also where it claims to be PSD)."""
    n_features = min(n_features, kernel._domain.max_features or n_features)
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_features)) * (rng.random((n, n_features)) < 0.8)
    X[:, 0] += 0.1  # zero rows have tests of their own
    return (np.abs(X) if kernel._domain.non_negative else X).astype(dtype)
