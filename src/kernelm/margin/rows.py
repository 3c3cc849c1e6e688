"""Equal rows as one: weights are then repeated rows, whatever a solver does with them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelm.features.landmarks import digests

_BLOCK = 16_384  # rows that are hashed at a time


def merged(X: Any, y: NDArray, weight: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Return positions of one row of each kind (x, y), in an order of contents, and weights.

    The last array says for each row which position stands for it; its own for rows that do not
    count.
    """
    there = np.flatnonzero(weight > 0)
    parts = (digests(X[there[at : at + _BLOCK]]) for at in range(0, len(there), _BLOCK))
    contents = np.concatenate([part[:, 0] ^ (part[:, 1] << np.uint64(1)) for part in parts])
    target = np.unique(y[there], return_inverse=True)[1].astype(np.uint64)
    keys = contents + target * np.uint64(0x9E3779B97F4A7C15)
    _, first, kind = np.unique(keys, return_index=True, return_inverse=True)
    stands_for = np.arange(len(weight))
    stands_for[there] = there[first][kind.ravel()]
    return there[first], np.bincount(kind.ravel(), weight[there]), stands_for
