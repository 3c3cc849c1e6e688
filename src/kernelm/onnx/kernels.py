r"""Kernels as graphs: columns :math:`k(x, Z)` on fixed rows Z, composed as the kernels are.

What layers need travels along: :math:`k(x, x)` is part of the graph, :math:`k(z, z)` is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce, singledispatch

import numpy as np
from numpy.typing import NDArray

from kernelm.kernels import (
    AdditiveChiSquare,
    ChiSquare,
    Circular,
    Constant,
    ELMKernel,
    Gaussian,
    Kernel,
    Laplacian,
    LaplacianL1,
    Linear,
    Matern32,
    Matern52,
    Product,
    Scaled,
    Sigmoid,
    Spherical,
    Stacked,
    Sum,
)
from kernelm.kernels.radial import Radial
from kernelm.kernels.stack import Named
from kernelm.onnx import _errors
from kernelm.onnx.distances import chi_square_distances, l1_distances, squared_distances
from kernelm.onnx.functions import arccos, exp, minimum, repeated, sqrt, squared_lengths, tanh
from kernelm.onnx.graph import Value
from kernelm.onnx.layers import Columns, above, one
from kernelm.onnx.units import activated
from kernelm.units import draw


@singledispatch
def columns(kernel: Kernel, X: Value, Z: NDArray) -> Columns:
    """Return the kernel of rows X with fixed rows Z."""
    raise _errors.no_kernel(kernel)


# --- elementary kernels --------------------------------------------------------------------------


@columns.register
def _(kernel: Linear, X: Value, Z: NDArray) -> Columns:
    c = float(kernel.offset)
    k, k_xx = X @ Z.T, squared_lengths(X)
    return Columns(k + c, k_xx + c, kernel.diag(Z)) if c else Columns(k, k_xx, kernel.diag(Z))


@columns.register
def _(kernel: Sigmoid, X: Value, Z: NDArray) -> Columns:
    a, c = float(kernel.scale), float(kernel.offset)
    below = columns(Linear(), X, Z)
    return Columns(tanh(a * below.k + c), tanh(a * below.k_xx + c), kernel.diag(Z))


@columns.register
def _(kernel: Constant, X: Value, Z: NDArray) -> Columns:
    value = float(kernel.value)
    return Columns(repeated(np.full(len(Z), value), X, X.dtype), value * one(X), kernel.diag(Z))


@columns.register
def _(kernel: Radial, X: Value, Z: NDArray) -> Columns:
    if type(kernel) not in _RADIAL:
        raise _errors.no_kernel(kernel)
    squares = squared_distances(X, Z, float(kernel.scale), snap=not kernel._smooth)
    return Columns(_RADIAL[type(kernel)](squares), one(X), kernel.diag(Z))


@columns.register
def _(kernel: LaplacianL1, X: Value, Z: NDArray) -> Columns:
    return Columns(exp(-l1_distances(X, Z, float(kernel.scale))), one(X), kernel.diag(Z))


@columns.register
def _(kernel: ChiSquare, X: Value, Z: NDArray) -> Columns:
    k = exp(-float(kernel.gamma) * chi_square_distances(X, Z))
    return Columns(k, one(X), np.ones(len(Z)))


@columns.register
def _(kernel: AdditiveChiSquare, X: Value, Z: NDArray) -> Columns:
    return Columns(1 - 2 * chi_square_distances(X, Z), one(X), np.ones(len(Z)))


@columns.register
def _(kernel: ELMKernel, X: Value, Z: NDArray) -> Columns:
    W, b = draw(
        Z.shape[1],
        kernel.n_units,
        scale=float(kernel.weight_scale),
        paired=kernel.activation == "fourier",
        seed=kernel.seed,
    )
    H, p = activated(X @ W + b, kernel.activation), kernel.n_units
    H_z = kernel._features(Z.astype(np.float64))
    return Columns(H @ (H_z.T / p), squared_lengths(H) * (1 / p), kernel.diag(Z))


# --- functions of the squared distance, in scales ------------------------------------------------


def _gaussian(squares: Value) -> Value:
    return exp(-0.5 * squares)


def _laplacian(squares: Value) -> Value:
    return exp(-sqrt(squares))


def _matern32(squares: Value) -> Value:
    r = sqrt(3 * squares)
    return (1 + r) * exp(-r)


def _matern52(squares: Value) -> Value:
    r = sqrt(5 * squares)
    return (1 + r + squares * (5 / 3)) * exp(-r)


def _circular(squares: Value) -> Value:
    squares = minimum(squares, 1.0)
    u = sqrt(squares)
    return (2 / math.pi) * (arccos(u) - u * sqrt(1 - squares))


def _spherical(squares: Value) -> Value:
    squares = minimum(squares, 1.0)
    return 1 + 0.5 * sqrt(squares) * (squares - 3)


_RADIAL: dict[type[Kernel], Callable[[Value], Value]] = {
    Gaussian: _gaussian,
    Laplacian: _laplacian,
    Matern32: _matern32,
    Matern52: _matern52,
    Circular: _circular,
    Spherical: _spherical,
}


# --- kernels of kernels --------------------------------------------------------------------------


@columns.register
def _(kernel: Named, X: Value, Z: NDArray) -> Columns:
    return columns(kernel.tree, X, Z)


@columns.register
def _(kernel: Scaled, X: Value, Z: NDArray) -> Columns:
    factor = float(kernel.factor)
    below = columns(kernel.kernel, X, Z)
    return Columns(factor * below.k, factor * below.k_xx, factor * below.k_zz)


@columns.register
def _(kernel: Sum, X: Value, Z: NDArray) -> Columns:
    a, b = columns(kernel.left, X, Z), columns(kernel.right, X, Z)
    return Columns(a.k + b.k, a.k_xx + b.k_xx, a.k_zz + b.k_zz)


@columns.register
def _(kernel: Product, X: Value, Z: NDArray) -> Columns:
    a, b = columns(kernel.left, X, Z), columns(kernel.right, X, Z)
    return Columns(a.k * b.k, a.k_xx * b.k_xx, a.k_zz * b.k_zz)


@columns.register
def _(kernel: Stacked, X: Value, Z: NDArray) -> Columns:
    return reduce(above, kernel.layers, columns(kernel.base, X, Z))
