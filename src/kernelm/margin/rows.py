"""Equal rows as one: weights are then repeated rows, whatever a solver does with them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelm.features.landmarks import digests


def merged(X: Any, y: NDArray, weight: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Return positions of one row of each kind (x, y), in an order of contents, and weights.

    The last array says for each row which position stands for it; its own for rows that do not
    count.
    """
    there = np.flatnonzero(weight > 0)
    contents = np.concatenate(
        [digests(X[there[at : at + 1024]]) for at in range(0, len(there), 1024)]
    )
    target = np.unique(y[there], return_inverse=True)[1].astype(np.uint64)
    keys = np.column_stack([contents, target])
    _, first, kind = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    stands_for = np.arange(len(weight))
    stands_for[there] = there[first][kind.ravel()]
    return there[first], np.bincount(kind.ravel(), weight[there]), stands_for
