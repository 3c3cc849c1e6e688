"""Random layers are stored as seeds: do these still give the weights of the fit?

Weights are not in a file. A checksum of what the seed gave is, with a few weights beside it: on
another machine the last digits may differ, but not more. At most 1024 units of 1024 inputs are
drawn: larger layers begin with those units, or at least come from the same streams.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelm.estimators.steps import Layers
from kernelm.features.random import HiddenLayer
from kernelm.kernels import ELMKernel
from kernelm.store import errors
from kernelm.units import draw

_MOST = 1024  # units, and inputs; a square number, as images are
_SOME = 16  # weights that are written down
_ROUNDING = 1e-6  # of the largest of them


@singledispatch
def drawn(layer: Any) -> tuple[NDArray, NDArray] | None:
    """Return the first weights and the biases of a random layer; None if it is none."""
    return None


@drawn.register
def _(layer: HiddenLayer) -> tuple[NDArray, NDArray]:
    spec = layer.spec
    return draw(
        min(layer.n_features_in, _MOST),
        min(spec.n_units, _MOST),
        weights="normal" if layer.centres is not None else spec.weights,
        paired=spec.activation == "fourier",
        seed=spec.seed,
    )


@drawn.register
def _(layer: Layers) -> tuple[NDArray, NDArray]:
    n_units, n_features = min(layer.n_units, _MOST), min(layer.n_features, _MOST)
    first = replace(layer, n_units=n_units, n_features=n_features, _drawn={}).at(0, np.float64)
    return first.W, first.b


@drawn.register
def _(layer: ELMKernel) -> tuple[NDArray, NDArray]:
    paired = layer.activation == "fourier"
    return draw(_SOME, min(layer.n_units, _MOST), paired=paired, seed=layer.seed)


def sketch(layer: Any) -> list[Any] | None:
    """Return what proves the weights of a layer: a checksum, and a few of them.

    Examples
    --------
    >>> digest, some = sketch(ELMKernel(n_units=3, seed=1))
    >>> len(digest), round(some[0], 3)
    (64, 0.346)
    >>> sketch("no layer") is None
    True
    """
    weights = drawn(layer)
    if weights is None:
        return None
    W, b = weights
    digest = hashlib.sha256(W.astype("<f8").tobytes() + b.astype("<f8").tobytes())
    flat = W.ravel()
    return [digest.hexdigest(), flat[:: -(-flat.size // _SOME)].tolist()]


def check(layer: Any, before: Any = None) -> None:
    """Raise if a layer's seed gives other weights than before."""
    now = sketch(layer)
    if now is None or now == before:
        return
    some, earlier = np.array(now[1], float), np.array(before[1], float)
    gap = _ROUNDING * np.abs(earlier).max()
    if some.shape != earlier.shape or not np.allclose(some, earlier, rtol=0, atol=gap):
        seed = layer.spec.seed if isinstance(layer, HiddenLayer) else layer.seed
        raise errors.other_weights(seed, np.__version__)
