"""Arrays that compiled loops walk side by side must be of one length: those never look."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from sklearn.base import BaseEstimator

from kernelm.estimators.steps import BoostedModel, Layers
from kernelm.features import InputScaler


@singledispatch
def check(value: Any) -> None:
    """Raise if arrays of an object do not fit together where a loop would not notice.

    Examples
    --------
    >>> import numpy as np
    >>> check(InputScaler(np.zeros(3), np.ones(2)))
    Traceback (most recent call last):
    ...
    ValueError: an InputScaler of shapes (3,) and (2,)
    """


@check.register
def _(scaler: InputScaler) -> None:
    mean, scale = scaler.mean.shape, scaler.scale.shape
    if mean != scale or len(mean) != 1:
        raise ValueError(f"an InputScaler of shapes {mean} and {scale}")


@check.register
def _(layers: Layers) -> None:
    scaler = layers.scaler
    if isinstance(scaler, InputScaler) and len(scaler.mean) != layers.n_features:
        raise ValueError(f"{len(scaler.mean)} scales for {layers.n_features} inputs")


@check.register
def _(model: BaseEstimator) -> None:
    machine: Any = getattr(model, "machine_", None)
    if isinstance(machine, BoostedModel):
        inputs, scaled = getattr(model, "_n_inputs", None), machine.layers.n_features
        if inputs != scaled:
            raise ValueError(f"layers of {scaled} inputs for rows of {inputs}")
