"""Which finite vector stands for a row? The contract of every feature map."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class FeatureMap(Protocol):
    """A frozen map of rows to features: nothing in it changes with the rows it sees later.

    Freezing comes first and accumulation second: moments of two sets of rows add up only if
    the same map made both, and the fingerprint proves it.
    """

    @property
    def n_features_in(self) -> int:
        """Number D of inputs."""
        ...

    @property
    def n_features_out(self) -> int:
        """Number L of features."""
        ...

    @property
    def penalty(self) -> NDArray | None:
        """Matrix P of the ridge penalty α·tr(WᵀPW); None is the identity."""
        ...

    @property
    def needs_double(self) -> bool:
        """Whether sums of products of the features need double precision from the start."""
        ...

    @property
    def fingerprint(self) -> str:
        """Digest of everything that determines the map."""
        ...

    def map(self, X: Any) -> NDArray:
        """Return the features of a block of rows, an (n, L) array in the dtype of X."""
        ...

    def leading(self, n_features: int) -> Self:
        """Return the map to the first features only."""
        ...


_HASHED = 2**20  # rows of an array that are hashed at a time


def fingerprint(parts: Iterable[Any]) -> str:
    """Return a digest of parameters and arrays.

    Examples
    --------
    >>> fingerprint(["tanh", 3]) == fingerprint(["tanh", 3]), len(fingerprint([]))
    (True, 64)
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(repr((part.shape, part.dtype.str)).encode())
            for start in range(0, len(part) if part.ndim else 1, _HASHED):
                some = part[start : start + _HASHED] if part.ndim else part
                digest.update(np.ascontiguousarray(some).tobytes())
        else:
            digest.update(repr(part).encode())
        digest.update(b"\0")
    return digest.hexdigest()
