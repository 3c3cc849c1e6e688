"""Everything that a law of the library must hold for."""

from __future__ import annotations

from itertools import product

import dask.array as da
import numpy as np
import pandas as pd
from scipy import sparse

from kernelm import kernels as km
from kernelm.data import ArraySource, Rows, from_dask, scan
from kernelm.features import RandomLayer
from kernelm.features.random import RADIAL
from kernelm.units import ACTIVATIONS, WEIGHTS

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


# --- feature maps --------------------------------------------------------------------------------


def bump(A):
    """An activation of a user's own."""
    return np.exp(-(A**2))


#: Every activation with every distribution of the weights, and the other switches.
LAYERS = [
    *(
        RandomLayer(n_units=13, activation=activation, weights=weights, seed=5)
        for activation, weights in product([*ACTIVATIONS, *RADIAL, bump], [*WEIGHTS, "data"])
    ),
    RandomLayer(n_units=13, weight_scale=3.0, seed=1),
    RandomLayer(n_units=13, direct_links=True, center=False),
    RandomLayer(n_units=13, activation="rbf", weights="data", direct_links=True, weight_scale=0.5),
    RandomLayer(n_units=13, activation="fourier", scale_inputs=False),
    RandomLayer(n_units=40, weights="data", scale_inputs=False),  # more units than rows
]


def inputs(n: int = 30, n_features: int = 9, seed: int = 0, dtype=np.float64):
    """Rows with zeros, columns of different scales and offsets; a square number of columns."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_features)) * (rng.random((n, n_features)) < 0.7)
    return (X * np.linspace(0.5, 2, n_features) + (np.arange(n_features) % 3 == 0)).astype(dtype)


def layer_id(layer) -> str:
    name = getattr(layer.activation, "__name__", layer.activation)
    more = [f for f in ("direct_links", "scale_inputs") if getattr(layer, f) != (f[0] == "s")]
    return "-".join([name, layer.weights, str(layer.n_units), str(layer.weight_scale), *more])


# --- regression problems -------------------------------------------------------------------------


def regression_rows(n: int = 40, n_features: int = 6, n_outputs: int = 2, seed: int = 0):
    """Features of nonzero mean, noisy targets, and whole-number weights."""
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((n, n_features)) + rng.uniform(-1, 1, n_features)
    Y = Phi @ rng.standard_normal((n_features, n_outputs)) / np.sqrt(n_features) + 1
    return Phi, Y + rng.standard_normal((n, n_outputs)), rng.integers(1, 4, n).astype(float)


# --- sources -------------------------------------------------------------------------------------


class OnePass:
    """Rows that come in order and cannot be counted before: a Source without ``take``."""

    n_rows = None

    def __init__(self, X, y=None, weight=None):
        self._inner = ArraySource(X, y, weight)
        self.n_features, self.dtype = self._inner.n_features, self._inner.dtype

    def blocks(self, rows):
        return self._inner.blocks(rows)


def mapped(X, y, weight, folder):
    np.save(folder / "X.npy", X)
    return ArraySource(np.load(folder / "X.npy", mmap_mode="r"), y, weight)


def table(X, y, weight):
    """A data frame of the rows, and which columns mean what."""
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    named = {name: v for name, v in (("target", y), ("weight", weight)) if v is not None}
    for name, values in named.items():
        frame[name] = values
    return frame, {name: name for name in named}


def parquet(X, y, weight, folder):
    """Three files of two row groups."""
    frame, uses = table(X, y, weight)
    for k, at in enumerate(np.array_split(np.arange(len(X)), 3)):
        size = max(1, -(-len(at) // 2))
        frame.iloc[at].to_parquet(folder / f"{k}.parquet", row_group_size=size, index=False)
    return scan(folder, **uses)


def delimited(X, y, weight, folder):
    frame, uses = table(X, y, weight)
    frame.to_csv(folder / "rows.csv", index=False)
    return scan(folder / "rows.csv", **uses)


def on_dask(X, y, weight, folder):
    """Partitions of unequal length, mapped in this thread."""
    cut = (len(X) // 3, len(X) - len(X) // 3)

    def lazy(rows):
        return None if rows is None else da.from_array(rows, (cut, *rows.shape[1:]))

    return from_dask(lazy(X), lazy(y), lazy(weight))


#: Ways to offer the same rows: functions of X, y, weight and a folder for files.
SOURCES = {
    "array": lambda X, y, weight, folder: ArraySource(X, y, weight),
    "fortran": lambda X, y, weight, folder: ArraySource(np.asfortranarray(X), y, weight),
    "csr_matrix": lambda X, y, weight, folder: ArraySource(sparse.csr_matrix(X), y, weight),
    "csr_array": lambda X, y, weight, folder: ArraySource(sparse.csr_array(X), y, weight),
    "memmap": mapped,
    "one_pass": lambda X, y, weight, folder: OnePass(X, y, weight),
    "parquet": parquet,
    "csv": delimited,
    "dask": on_dask,
}


def dense(rows: Rows):
    """The inputs of a block as a dense array."""
    return rows.X.toarray() if sparse.issparse(rows.X) else np.asarray(rows.X)
