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

    def decode(self, scores: NDArray) -> NDArray:
        """Return targets from columns of scores."""
        ...

    def recode(self, other: Any) -> tuple[NDArray, NDArray]:
        """Return M, v such that ``Y @ M + v`` are columns in another coding."""
        ...


@final
@dataclass(frozen=True)
class Values:
    """Real targets, one or several columns, brought near zero mean and unit variance.

    With an intercept the model is the same, and float32 sums keep the digits of targets that
    are large or far from zero; several outputs count alike when alpha is chosen.
    """

    offset: tuple[float, ...]
    scale: tuple[float, ...]
    is_flat: bool  #: y had one dimension, so predictions have one too

    @classmethod
    def of(cls, y: NDArray, weight: NDArray | None = None, *, center: bool = True) -> Self:
        """Freeze offset and scale from a sample of targets."""
        columns = np.asarray(y, np.float64).reshape(len(y), -1)
        top = np.abs(columns).max(axis=0)
        top[top == 0] = 1.0
        U = columns / top
        mean = np.average(U, axis=0, weights=weight) if center else np.zeros(U.shape[1])
        std = np.sqrt(np.average((U - mean) ** 2, axis=0, weights=weight))
        std[std < 10 * np.finfo(np.float64).eps] = 1.0
        return cls(tuple((mean * top).tolist()), tuple((std * top).tolist()), np.ndim(y) == 1)

    @property
    def n_columns(self) -> int:
        """Number of outputs."""
        return len(self.offset)

    def encode(self, y: NDArray, dtype: Any) -> NDArray:
        """Return y as columns of coded values."""
        _checks.outputs(y, self.n_columns)
        columns = np.asarray(y, np.float64).reshape(len(y), self.n_columns)
        return ((columns - self.offset) / self.scale).astype(dtype)

    def decode(self, scores: NDArray) -> NDArray:
        """Return predictions in the units and the shape of y."""
        values = (scores * np.asarray(self.scale) + np.asarray(self.offset)).astype(scores.dtype)
        return values[:, 0] if self.is_flat else values

    def recode(self, other: Values) -> tuple[NDArray, NDArray]:
        """Return M, v such that ``Y @ M + v`` are the codes that ``other`` gives."""
        _checks.same_targets(self.n_columns, other.n_columns)
        scale = np.asarray(other.scale)
        v = (np.asarray(self.offset) - np.asarray(other.offset)) / scale
        return np.diag(np.asarray(self.scale) / scale), v


@final
@dataclass(frozen=True, eq=False)
class Classes:
    """Class labels: one column of ±1 for two classes, one column a class for more."""

    labels: NDArray  #: sorted class labels

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Classes) and np.array_equal(self.labels, other.labels)

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

    def each(self, scores: NDArray, y: NDArray) -> list[tuple[NDArray, NDArray]]:
        """Return scores and true class of each output, of which there is one."""
        return [(scores, self.index(y))]

    def recode(self, other: Classes) -> tuple[NDArray, NDArray]:
        """Return M, v such that ``Y @ M + v`` are the codes in a wider set of classes.

        Rows seen so far have code −1 for every class that was unknown then, and two classes
        have opposite codes: the new codes are known without the rows.
        """
        _checks.same_targets(True, bool(np.isin(self.labels, other.labels).all()))
        M = np.zeros((self.n_columns, other.n_columns))
        v = np.zeros(other.n_columns)
        known = {label: k for k, label in enumerate(self.labels.tolist())}
        for j, label in enumerate(other.labels.tolist()):
            k = known.get(label)
            if k is None:
                v[j] = -1
            elif self.n_columns == 1:
                M[0, j] = 1 if k == 1 else -1
            else:
                M[k, j] = 1
        return M, v


@final
@dataclass(frozen=True)
class ManyClasses:
    """Several class labels a row, each coded by itself."""

    parts: tuple[Classes, ...]

    @property
    def n_columns(self) -> int:
        """The columns of all parts together."""
        return sum(part.n_columns for part in self.parts)

    @property
    def is_multilabel(self) -> bool:
        """Whether every part is the same yes or no, 0 or 1."""
        return all(np.array_equal(part.labels, [0, 1]) for part in self.parts)

    def encode(self, y: NDArray, dtype: Any) -> NDArray:
        """Return the codes of all parts side by side."""
        return np.hstack([part.encode(y[:, k], dtype) for k, part in enumerate(self.parts)])

    def decode(self, scores: NDArray) -> NDArray:
        """Return one column of labels a part."""
        columns = [p.decode(s) for p, s in zip(self.parts, self.split(scores), strict=True)]
        return np.stack(columns, axis=1)

    def each(self, scores: NDArray, y: NDArray) -> list[tuple[NDArray, NDArray]]:
        """Return scores and true class of each output."""
        indices = [part.index(column) for part, column in zip(self.parts, y.T, strict=True)]
        return list(zip(self.split(scores), indices, strict=True))

    def recode(self, other: ManyClasses) -> tuple[NDArray, NDArray]:
        """Return the identity: several outputs cannot be recoded."""
        _checks.same_targets(self, other)
        return np.eye(self.n_columns), np.zeros(self.n_columns)

    def split(self, scores: NDArray) -> list[NDArray]:
        """Cut the columns into those of each part."""
        ends = np.cumsum([part.n_columns for part in self.parts])[:-1]
        return np.split(scores, ends, axis=1)


def best_class(scores: NDArray) -> NDArray:
    """Return the index of the class with the largest score (0/1 from one column)."""
    return (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
