"""Scaling and feature maps as graphs: the counterpart of :mod:`kernelm.features`."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelm.features import HiddenLayer, InputScaler, KernelColumns, MixedUnits, RowNormalizer
from kernelm.kernels import Gaussian
from kernelm.onnx.distances import squared_distances
from kernelm.onnx.functions import (
    absolute,
    exp,
    joined,
    n_columns,
    row_means,
    sign,
    sqrt,
    squared_lengths,
    take,
    where,
)
from kernelm.onnx.graph import FLOAT64, Value
from kernelm.onnx.kernels import columns
from kernelm.onnx.units import activated


def fixed_rows(Z: Any, S: Value) -> NDArray:
    """Return rows of a model, sparse or not, as an array of the type of the rows S."""
    S.graph.reserve(Z.shape[0] * Z.shape[1] * S.dtype.itemsize)
    return (Z.toarray() if sparse.issparse(Z) else np.asarray(Z)).astype(S.dtype)


# --- scaling -------------------------------------------------------------------------------------


def scaled(scaler: InputScaler | RowNormalizer, X: Value) -> Value:
    """Return rows in the units of a model."""
    return _normalised(X) if isinstance(scaler, RowNormalizer) else _standardised(scaler, X)


def _standardised(scaler: InputScaler, X: Value) -> Value:
    dtype, X = X.dtype, _signed_root(X) if scaler.root else X
    # The difference of large numbers is taken in double precision.
    if scaler.mean.any():
        X = X.to(FLOAT64) - np.array(scaler.mean)
    if (scaler.scale != 1).any():
        X = X.to(FLOAT64) * np.array(scaler.scale)
    return X.to(dtype)


def _normalised(X: Value) -> Value:
    root = _signed_root(X)
    mean = row_means(root)
    gap = root - mean
    length = sqrt(squared_lengths(gap))
    # Equal entries leave rounding only, which must not be blown up.
    noise = float(np.finfo(X.dtype).eps) * n_columns(X) * absolute(mean)
    there = length > noise
    return where(there, gap / where(there, length, 1.0), 0.0)


def _signed_root(X: Value) -> Value:
    return sign(X) * sqrt(absolute(X))


# --- feature maps --------------------------------------------------------------------------------


@singledispatch
def features(phi: Any, X: Value) -> Value:
    """Return the features of rows."""
    raise TypeError(f"no graph of the feature map {type(phi).__name__}")


@features.register
def _(phi: KernelColumns, X: Value) -> Value:
    S = scaled(phi.scaler, X)
    return columns(phi.kernel, S, fixed_rows(phi.Z, S)).k


@features.register
def _(phi: HiddenLayer, X: Value) -> Value:
    S = scaled(phi.scaler, X)
    units = _radial(phi, S) if phi.spec.is_radial else _projected(phi, S)
    Phi = joined([S, units], axis=1) if phi.n_linked else units
    return Phi if phi.offset is None else Phi - phi.offset


def _projected(phi: HiddenLayer, S: Value) -> Value:
    S.graph.reserve(phi.n_features_in * phi.spec.n_units * S.dtype.itemsize)
    W, b = phi._weights(S.dtype)
    return activated(S @ W + b, phi.spec.activation)


def _radial(phi: HiddenLayer, S: Value) -> Value:
    Q = phi._weights(S.dtype)[0]
    if phi.spec.activation == "rbf":
        return columns(Gaussian(phi.width), S, Q).k
    return sqrt(squared_distances(S, Q, phi.width, snap=False) + 1)


@features.register
def _(phi: MixedUnits, X: Value) -> Value:
    S, units = scaled(phi.scaler, X), []
    if len(phi.inputs):
        units.append(take(S, phi.inputs, axis=1))
    if len(phi.b):
        units.append(activated(S @ phi.W + phi.b, "sigmoid"))
    if len(phi.Z):
        squares = squared_distances(S, phi.Z.astype(S.dtype), 1.0, snap=False)
        units.append(exp(squares * (-0.5 / np.square(phi.widths))))
    return take(joined(units, axis=1), phi.order, axis=1)
