r"""Functions of values, and those that runtimes lack in double precision, from what they have.

onnxruntime has no arc cosine, arc sine and error function of doubles. Polynomials that
interpolate at Chebyshev points give them to a few units of rounding:

.. math:: \arcsin t = t\, P(t^2),\ |t| \le \tfrac12, \qquad
          \arccos x = 2 \arcsin\sqrt{(1 - x)/2}, \qquad
          \operatorname{erf} x = 1 - e^{-x^2} Q\Bigl(\frac{x - 3}{x + 3}\Bigr),\ x \ge 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray
from scipy.special import erfcx

from kernelm.onnx.graph import BOOL, FLOAT64, INT64, Value, apply

_ARCSINE_DEGREE, _ERF_DEGREE, _ERF_MIDDLE = 12, 18, 3.0  # errors below 1e-14
_ROWS, _COLUMNS = np.array([0]), np.array([1])


def exp(v: Value) -> Value:
    """Return the exponential."""
    return apply("Exp", v)


def log(v: Value) -> Value:
    """Return the logarithm."""
    return apply("Log", v)


def sqrt(v: Value) -> Value:
    """Return the square root."""
    return apply("Sqrt", v)


def tanh(v: Value) -> Value:
    """Return the hyperbolic tangent."""
    return apply("Tanh", v)


def absolute(v: Value) -> Value:
    """Return absolute values."""
    return apply("Abs", v)


def sign(v: Value) -> Value:
    """Return -1, 0 or 1."""
    return apply("Sign", v)


def maximum(v: Value, other: Any) -> Value:
    """Return the larger ones of two."""
    return apply("Max", v, other)


def minimum(v: Value, other: Any) -> Value:
    """Return the smaller ones of two."""
    return apply("Min", v, other)


def clipped(v: Value, low: float, high: float) -> Value:
    """Return numbers brought between two others."""
    return apply("Clip", v, low, high)


def where(condition: Value, yes: Any, no: Any) -> Value:
    """Return ``yes`` where the condition holds, else ``no``; one of them is a value."""
    dtype = next(v.dtype for v in (yes, no) if isinstance(v, Value))
    yes, no = (v if isinstance(v, Value) else np.asarray(v, dtype) for v in (yes, no))
    yes, no = (v if isinstance(v, Value) else condition.graph.constant(v) for v in (yes, no))
    return apply("Where", condition, yes, no, dtype=dtype)


def equal(v: Value, other: Any) -> Value:
    """Return where two are the same."""
    return apply("Equal", v, other, dtype=BOOL)


def row_means(v: Value) -> Value:
    """Return the means of rows, a column."""
    return apply("ReduceMean", v, _COLUMNS, keepdims=1)


def n_rows(v: Value) -> Value:
    """Return the number of rows, an array of one entry."""
    return take(apply("Shape", v, dtype=INT64), _ROWS, axis=0)


def n_columns(v: Value) -> Value:
    """Return the number of columns."""
    return take(apply("Shape", v, dtype=INT64), _COLUMNS, axis=0).to(v.dtype)


def squared_lengths(v: Value) -> Value:
    """Return the squared lengths of rows, a column."""
    return apply("ReduceSumSquare", v, _COLUMNS, keepdims=1)


def take(v: Value, index: Any, axis: int) -> Value:
    """Return some rows or columns."""
    return apply("Gather", v, index, axis=axis)


def flat(v: Value) -> Value:
    """Return a column without its second axis."""
    return apply("Squeeze", v, _COLUMNS)


def column(v: Value) -> Value:
    """Return entries below each other."""
    return apply("Unsqueeze", v, _COLUMNS)


def joined(parts: list[Value], axis: int) -> Value:
    """Return values side by side (axis 1) or below each other (axis 0)."""
    return parts[0] if len(parts) == 1 else apply("Concat", *parts, axis=axis)


def repeated(row: NDArray, like: Value, dtype: Any) -> Value:
    """Return a row as often as ``like`` has rows."""
    shape = joined([n_rows(like), like.graph.constant(np.array([1]))], axis=0)
    return apply("Expand", like.graph.constant(row[None].astype(dtype)), shape)


def best(v: Value) -> Value:
    """Return where the largest entry of each row is, the first of equals."""
    return apply("ArgMax", v, dtype=INT64, axis=1, keepdims=0)


def raised(v: Value, degree: int) -> Value:
    """Return a whole power, by squaring."""
    result = v
    for bit in bin(degree)[3:]:
        result = result * result
        result = result * v if bit == "1" else result
    return result


def polynomial(coefficients: Any, v: Value) -> Value:
    """Return a polynomial, the lowest coefficient first, by Horner's rule."""
    *rest, last = (float(c) for c in coefficients)
    if not rest:
        return v * 0.0 + last
    result = last * v if last != 1 else v
    for c in rest[:0:-1]:
        result = (result + c if c else result) * v
    return result + rest[0] if rest[0] else result


def arccos(x: Value) -> Value:
    """Return the arc cosine."""
    if x.dtype != FLOAT64:
        return apply("Acos", x)
    a = absolute(x)
    outer = a > 0.5
    t = where(outer, sqrt((1 - a) * 0.5), a)
    arcsine = t * polynomial(_arcsine(), t * t)
    angle = where(outer, 2 * arcsine, math.pi / 2 - arcsine)
    return where(x < 0, math.pi - angle, angle)


def arcsin(x: Value) -> Value:
    """Return the arc sine."""
    return apply("Asin", x) if x.dtype != FLOAT64 else math.pi / 2 - arccos(x)


def erf(x: Value) -> Value:
    """Return the error function."""
    if x.dtype != FLOAT64:
        return apply("Erf", x)
    a = absolute(x)
    u = (a - _ERF_MIDDLE) / (a + _ERF_MIDDLE)
    return sign(x) * (1 - exp(-(a * a)) * polynomial(_scaled_erfc(), u))


@cache
def _arcsine() -> NDArray:
    """Return the coefficients of P."""

    def ratio(z: NDArray) -> NDArray:
        t = np.sqrt(z)
        return np.arcsin(t) / t  # Chebyshev points are inside: never 0

    return _interpolated(ratio, _ARCSINE_DEGREE, 0.0, 0.25)


@cache
def _scaled_erfc() -> NDArray:
    """Return the coefficients of Q."""
    return _interpolated(lambda u: erfcx(_ERF_MIDDLE * (1 + u) / (1 - u)), _ERF_DEGREE, -1.0, 1.0)


def _interpolated(
    function: Callable[[NDArray], NDArray], degree: int, low: float, high: float
) -> NDArray:
    series = Chebyshev.interpolate(function, degree, [low, high])
    return series.convert(kind=Polynomial, domain=[-1, 1], window=[-1, 1]).coef
