r"""Kernels of the distance :math:`d = \lVert x - z\rVert` in units of a scale."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.kernels.base import Kernel, Rows
from kernelm.kernels.distances import l1_distances, paired_distances, squared_distances
from kernelm.kernels.domain import Domain
from kernelm.kernels.widths import is_rule, width


class Radial(Kernel):
    """A function of distance / scale that is 1 at distance 0.

    ``scale`` is a number, or a rule that :meth:`resolve` turns into one: ``"mean"`` or
    ``"median"`` of the distances between rows that differ, or a multiple such as
    ``"0.5*median"``.
    """

    scale: float | str
    _metric: ClassVar[str] = "euclidean"
    _factor: ClassVar[float] = 1.0  # _of receives factor · (d / scale)², ready from the product
    _smooth: ClassVar[bool] = False  # a function of d², which does not magnify rounding near 0

    def __post_init__(self) -> None:
        if not is_rule(self.scale):
            _checks.positive_or_rule(self.scale, "scale")

    @abstractmethod
    def _of(self, block: NDArray) -> None:
        """Turn a block of ``factor * (d / scale)**2`` into similarities in place."""

    def _gram(self, X: Rows, Z: Rows | None) -> NDArray:
        unit = float(self.scale) / math.sqrt(abs(self._factor))
        sign = 1 if self._factor > 0 else -1
        return squared_distances(X, Z, unit, sign, self._of, snap=not self._smooth)

    def _pairs(self, X: Rows, Z: Rows) -> NDArray:
        block = paired_distances(X, Z, float(self.scale), self._metric)
        if self._metric == "euclidean":
            block *= block
            block *= self._factor
        self._of(block)
        return block

    def _diag(self, X: Rows) -> NDArray:
        return np.ones(X.shape[0], X.dtype)

    @property
    def has_constant_diag(self) -> bool:
        """Always true."""
        return True

    @property
    def is_resolved(self) -> bool:
        """Whether the scale is a number."""
        return not isinstance(self.scale, str)

    def resolve(self, X: Rows, sample_weight: Any = None, random_state: Any = 0) -> Self:
        """Return the kernel with a number for its scale (see :meth:`Kernel.resolve`)."""
        if self.is_resolved:
            return self
        X = self._checked(X, "X")
        scale = width(X, self.scale, self._metric, sample_weight, random_state)
        return self.with_params(scale=scale)


@final
@dataclass(frozen=True)
class Gaussian(Radial):
    r"""Gaussian kernel.

    .. math:: k(x, z) = \exp\left(-\frac{d^2}{2 \sigma^2}\right)

    Examples
    --------
    >>> Gaussian(scale=2.0).gram([[0.0, 0.0]], [[0.0, 2.0]]).round(4)
    array([[0.6065]])
    """

    scale: float | str = 1.0  #: :math:`\sigma`
    _factor: ClassVar[float] = -0.5
    _smooth: ClassVar[bool] = True

    @classmethod
    def from_gamma(cls, gamma: float) -> Self:
        r"""Return the kernel :math:`\exp(-\gamma d^2)`, that is :math:`\sigma = 1/\sqrt{2\gamma}`.

        Examples
        --------
        >>> Gaussian.from_gamma(0.5)
        Gaussian(scale=1.0)
        """
        return cls(1.0 / math.sqrt(2.0 * _checks.positive(gamma, "gamma")))

    def _of(self, block: NDArray) -> None:
        np.exp(block, out=block)


@final
@dataclass(frozen=True)
class Laplacian(Radial):
    r"""Laplacian kernel of the Euclidean distance (:class:`LaplacianL1` has the other one).

    .. math:: k(x, z) = e^{-d / \sigma}

    Examples
    --------
    >>> Laplacian(scale=5.0).gram([[0.0, 0.0]], [[3.0, 4.0]]).round(4)
    array([[0.3679]])
    """

    scale: float | str = 1.0  #: :math:`\sigma`

    def _of(self, block: NDArray) -> None:
        np.sqrt(block, out=block)
        np.negative(block, out=block)
        np.exp(block, out=block)


@final
@dataclass(frozen=True)
class LaplacianL1(Radial):
    r"""Laplacian kernel of the city-block distance.

    .. math:: k(x, z) = e^{-\lVert x - z\rVert_1 / \sigma}

    Examples
    --------
    >>> LaplacianL1(scale=7.0).gram([[0.0, 0.0]], [[3.0, 4.0]]).round(4)
    array([[0.3679]])
    """

    scale: float | str = 1.0  #: :math:`\sigma`
    _metric: ClassVar[str] = "l1"

    def _gram(self, X: Rows, Z: Rows | None) -> NDArray:
        K = l1_distances(X, Z, float(self.scale))
        self._of(K)
        return K

    def _of(self, block: NDArray) -> None:
        np.negative(block, out=block)
        np.exp(block, out=block)


@final
@dataclass(frozen=True)
class Matern32(Radial):
    r"""Matérn kernel of smoothness 3/2.

    .. math:: k(x, z) = (1 + r)\, e^{-r}, \qquad r = \sqrt3\, d / \ell

    Examples
    --------
    >>> Matern32(scale=5.0).gram([[0.0, 0.0]], [[3.0, 4.0]]).round(4)
    array([[0.4834]])
    """

    scale: float | str = 1.0  #: :math:`\ell`
    _factor: ClassVar[float] = 3.0

    def _of(self, block: NDArray) -> None:
        r = np.sqrt(block)
        np.exp(-r, out=block)
        r += 1
        block *= r


@final
@dataclass(frozen=True)
class Matern52(Radial):
    r"""Matérn kernel of smoothness 5/2.

    .. math:: k(x, z) = (1 + r + r^2/3)\, e^{-r}, \qquad r = \sqrt5\, d / \ell

    Examples
    --------
    >>> Matern52(scale=5.0).gram([[0.0, 0.0]], [[3.0, 4.0]]).round(4)
    array([[0.524]])
    """

    scale: float | str = 1.0  #: :math:`\ell`
    _factor: ClassVar[float] = 5.0

    def _of(self, block: NDArray) -> None:
        r = np.sqrt(block)
        block /= 3
        block += r
        block += 1
        np.negative(r, out=r)
        block *= np.exp(r, out=r)


@final
@dataclass(frozen=True)
class Circular(Radial):
    r"""Circular kernel: the share that two discs of diameter σ have in common.

    .. math:: k(x, z) = \tfrac2\pi\left(\arccos u - u\sqrt{1 - u^2}\right),
              \qquad u = \min(d / \sigma,\ 1)

    Positive semidefinite for rows of at most two features.

    Examples
    --------
    >>> Circular(scale=2.0).gram([[0.0, 0.0]], [[0.0, 1.0]]).round(4)
    array([[0.391]])
    """

    scale: float | str = 1.0  #: :math:`\sigma`, the distance at which it becomes 0

    def _of(self, block: NDArray) -> None:
        u = np.sqrt(np.minimum(block, 1, out=block))
        np.subtract(1, block, out=block)
        np.sqrt(block, out=block)
        block *= u
        np.subtract(np.arccos(u, out=u), block, out=block)
        block *= 2 / math.pi

    @property
    def _domain(self) -> Domain:
        return Domain(max_features=2)


@final
@dataclass(frozen=True)
class Spherical(Radial):
    r"""Spherical kernel: the share that two balls of diameter σ have in common.

    .. math:: k(x, z) = 1 - \tfrac32 u + \tfrac12 u^3, \qquad u = \min(d / \sigma,\ 1)

    Positive semidefinite for rows of at most three features.

    Examples
    --------
    >>> Spherical(scale=2.0).gram([[0.0, 0.0]], [[0.0, 1.0]])
    array([[0.3125]])
    """

    scale: float | str = 1.0  #: :math:`\sigma`, the distance at which it becomes 0

    def _of(self, block: NDArray) -> None:
        u = np.sqrt(np.minimum(block, 1, out=block))
        block -= 3
        block *= u
        block *= 0.5
        block += 1

    @property
    def _domain(self) -> Domain:
        return Domain(max_features=3)
