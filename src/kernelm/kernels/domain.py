"""The rows for which what a kernel says about itself is true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Domain:
    """A set of vectors: maybe non-negative, maybe of few features.

    Examples
    --------
    >>> print(Domain())
    all real vectors
    >>> print(Domain(non_negative=True) & Domain(max_features=2))
    non-negative vectors of at most 2 features
    """

    non_negative: bool = False  #: outside of it the formula has no meaning: ``gram`` refuses
    max_features: int | None = None  #: above it the kernel may lose positive definiteness

    def __and__(self, other: Domain) -> Domain:
        caps = [d.max_features for d in (self, other) if d.max_features is not None]
        return Domain(self.non_negative or other.non_negative, min(caps, default=None))

    def __str__(self) -> str:
        if self == Domain():
            return "all real vectors"
        sign = "non-negative " if self.non_negative else ""
        cap = "" if self.max_features is None else f" of at most {self.max_features} features"
        return f"{sign}vectors{cap}"
