"""Targets as columns of numbers: values stay values, classes become codes of ±1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self, final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks


class Targets(Protocol):
    """How y becomes the columns Y of a regression."""

    @property
    def n_columns(self) -> int:
        """Number C of columns."""
        ...

    def encode(self, y: NDArray, dtype: Any) -> NDArray:
        """Return the (n, C) columns of targets y."""
        ...


@final
@dataclass(frozen=True)
class Values:
    """Real targets, one or several columns."""

    n_columns: int
    is_flat: bool  #: y had one dimension, so predictions have one too

    @classmethod
    def of(cls, y: NDArray) -> Self:
        """Read the shape off y."""
        return cls(1 if y.ndim == 1 else y.shape[1], y.ndim == 1)

    def encode(self, y: NDArray, dtype: Any) -> NDArray:
        """Return y as columns."""
        return np.asarray(y, dtype).reshape(len(y), self.n_columns)

    def decode(self, scores: NDArray) -> NDArray:
        """Return predictions in the shape of y."""
        return scores[:, 0] if self.is_flat else scores


@final
@dataclass(frozen=True, eq=False)
class Classes:
    """Class labels: one column of ±1 for two classes, one column a class for more."""

    labels: NDArray  #: sorted class labels

    @property
    def n_columns(self) -> int:
        """Two classes need one column."""
        return 1 if len(self.labels) == 2 else len(self.labels)

    def index(self, y: NDArray) -> NDArray:
        """Return the position of each label among the classes."""
        return _checks.class_index(y, self.labels)

    def encode(self, y: NDArray, dtype: Any) -> NDArray:
        """Return codes: 1 for the class, −1 elsewhere."""
        index = self.index(y)
        if len(self.labels) == 2:
            return np.where(index[:, None] == 1, 1, -1).astype(dtype)
        codes = np.full((len(y), len(self.labels)), -1, dtype)
        codes[np.arange(len(y)), index] = 1
        return codes

    def decode(self, scores: NDArray) -> NDArray:
        """Return the label with the largest score."""
        return self.labels[best_class(scores)]

    def recode(self, wider: Classes) -> tuple[NDArray, NDArray]:
        """Return M, v such that ``Y @ M + v`` are the codes in a wider set of classes.

        Rows seen so far have code −1 for every class that was unknown then, and two classes
        have opposite codes: the new codes are known without the rows.
        """
        M = np.zeros((self.n_columns, wider.n_columns))
        v = np.zeros(wider.n_columns)
        known = {label: k for k, label in enumerate(self.labels.tolist())}
        for j, label in enumerate(wider.labels.tolist()):
            k = known.get(label)
            if k is None:
                v[j] = -1
            elif self.n_columns == 1:
                M[0, j] = 1 if k == 1 else -1
            else:
                M[k, j] = 1
        return M, v


@final
@dataclass(frozen=True, eq=False)
class ManyClasses:
    """Several class labels a row, each coded by itself."""

    parts: tuple[Classes, ...]

    @property
    def n_columns(self) -> int:
        """The columns of all parts together."""
        return sum(part.n_columns for part in self.parts)

    def encode(self, y: NDArray, dtype: Any) -> NDArray:
        """Return the codes of all parts side by side."""
        return np.hstack([part.encode(y[:, k], dtype) for k, part in enumerate(self.parts)])

    def decode(self, scores: NDArray) -> NDArray:
        """Return one column of labels a part."""
        columns = [p.decode(s) for p, s in zip(self.parts, self.split(scores), strict=True)]
        return np.stack(columns, axis=1)

    def split(self, scores: NDArray) -> list[NDArray]:
        """Cut the columns into those of each part."""
        ends = np.cumsum([part.n_columns for part in self.parts])[:-1]
        return np.split(scores, ends, axis=1)


def best_class(scores: NDArray) -> NDArray:
    """Return the index of the class with the largest score (0/1 from one column)."""
    return (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
