"""Activations of hidden units: the counterpart of :mod:`kernelm.units.activations`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernelm.onnx import _errors
from kernelm.onnx.functions import erf, maximum, sign, tanh
from kernelm.onnx.graph import Value, apply


def _sigmoid(A: Value) -> Value:
    return 0.5 * tanh(0.5 * A) + 0.5


def _sine(A: Value) -> Value:
    return apply("Sin", A)


ACTIVATIONS: dict[str, Callable[[Value], Value]] = {
    "tanh": tanh,
    "sigmoid": _sigmoid,
    "erf": erf,
    "relu": lambda A: maximum(A, 0.0),
    "sign": sign,
    "hardlim": lambda A: (A >= 0.0).to(A.dtype),
    "sine": _sine,
    "fourier": _sine,
    "identity": lambda A: A,
}


def activated(A: Value, activation: Any) -> Value:
    """Return what units make of their pre-activations."""
    if callable(activation):
        raise _errors.no_activation(activation)
    return ACTIVATIONS[activation](A)
