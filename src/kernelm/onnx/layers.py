"""Layers of kernels as graphs: the counterpart of :mod:`kernelm.kernels.layers`."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelm.kernels import (
    ArcCosineLayer,
    ArcSineLayer,
    Exp,
    GaussianLayer,
    Layer,
    Normalize,
    PolynomialLayer,
    Power,
)
from kernelm.kernels.arc_cosine import polynomials
from kernelm.onnx import _errors
from kernelm.onnx.functions import (
    arccos,
    arcsin,
    clipped,
    equal,
    exp,
    minimum,
    polynomial,
    raised,
    sqrt,
    where,
)
from kernelm.onnx.graph import Value, apply


class Columns(NamedTuple):
    """A kernel of rows X with fixed rows Z, and of either with itself."""

    k: Value  #: k(x, z), (n, m)
    k_xx: Value  #: k(x, x), (n, 1), or (1, 1) where all are the same
    k_zz: NDArray  #: k(z, z), (m,)


def above(below: Columns, layer: Layer) -> Columns:
    """Return the columns of a layer on top of a kernel."""
    k, k_xx = _of(layer, below)
    return Columns(k, k_xx, layer.diag_of(below.k_zz))


@singledispatch
def _of(layer: Layer, below: Columns) -> tuple[Value, Value]:
    """Return k(x, z) and k(x, x) above the layer."""
    raise _errors.no_kernel(layer)


@_of.register
def _(layer: Normalize, below: Columns) -> tuple[Value, Value]:
    return _cosines(below, apart=0.0), one(below.k)


@_of.register
def _(layer: Exp, below: Columns) -> tuple[Value, Value]:
    s = float(layer.scale)
    return exp(below.k / s / s), exp(below.k_xx / s / s)


@_of.register
def _(layer: Power, below: Columns) -> tuple[Value, Value]:
    return raised(below.k, layer.degree), raised(below.k_xx, layer.degree)


@_of.register
def _(layer: PolynomialLayer, below: Columns) -> tuple[Value, Value]:
    a, c, p = float(layer.scale), float(layer.offset), layer.degree
    return raised(a * below.k + c, p), raised(a * below.k_xx + c, p)


@_of.register
def _(layer: GaussianLayer, below: Columns) -> tuple[Value, Value]:
    s = float(layer.scale)
    half = below.k - 0.5 * below.k_xx - 0.5 * below.k_zz
    return exp(minimum(half, 0.0) / s / s), one(below.k)


@_of.register
def _(layer: ArcCosineLayer, below: Columns) -> tuple[Value, Value]:
    n = layer.degree
    k = _angular(_cosines(below, apart=-1.0), n)
    diag = _power(below.k_xx, n) * math.prod(map(float, range(1, 2 * n, 2)))
    if n == 0:
        return k * (1 / math.pi), one(k)
    lengths = below.k_zz.astype(np.float64) ** (n / 2) / math.pi
    return k * _power(below.k_xx, n / 2) * lengths, diag


@_of.register
def _(layer: ArcSineLayer, below: Columns) -> tuple[Value, Value]:
    more = 0.5 / float(layer.weight_scale) / float(layer.weight_scale)
    length = sqrt(below.k_xx + more)
    k = below.k / length / np.sqrt(below.k_zz.astype(np.float64) + more)
    return _arcsine(k), _arcsine(below.k_xx / length / length)


def one(like: Value) -> Value:
    """Return the diagonal of a kernel that is 1 for every row with itself."""
    return like.graph.constant(np.ones((1, 1), like.dtype))


def _cosines(below: Columns, apart: float) -> Value:
    """Return cosines; rows of length 0 get ``apart``, and 1 among themselves."""
    k, k_xx, k_zz = below
    none_x, none_z = equal(k_xx, 0.0), (k_zz == 0)[None]
    # A few units of rounding shorter, as the kernels do: equal rows have the cosine 1. Not by a
    # factor, which onnxruntime takes for 1 and leaves out.
    shorter = 1 - 8 * float(np.finfo(k.dtype).eps)
    k = k / sqrt(where(none_x, 1.0, k_xx))
    k = k / (shorter * np.sqrt(np.where(none_z, 1.0, k_zz.astype(np.float64))))
    if none_z.any():
        k = where(apply("Or", none_x, none_z), apart, k)
        k = where(apply("And", none_x, none_z), 1.0, k)
    else:
        k = where(none_x, apart, k)
    return clipped(k, -1.0, 1.0)


def _angular(cos: Value, degree: int) -> Value:
    r"""Return :math:`J_n(\theta)`, see :func:`kernelm.kernels.arc_cosine.polynomials`."""
    rest = arccos(-cos)  # π - θ
    if degree == 0:
        return rest
    P, Q = polynomials(degree)
    sine = sqrt((1 - cos) * (1 + cos))
    sine = sine if P == [1.0] else sine * polynomial(P, cos)
    return sine + rest * polynomial(Q, cos)


def _arcsine(k: Value) -> Value:
    return arcsin(clipped(k, -1.0, 1.0)) * (2 / math.pi)


def _power(v: Value, exponent: float) -> Value:
    return v if exponent == 1 else apply("Pow", v, exponent)
