r"""Layers: kernels of a kernel.

A layer reads only the three numbers :math:`k(x,z)`, :math:`k(x,x)` and :math:`k(z,z)` of the
kernel below it, so depth is repetition. Blocks are changed in place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.kernels._params import Params


class Layer(Params, ABC):
    """A function of ``k(x, z)``, ``k(x, x)`` and ``k(z, z)`` that keeps kernels kernels.

    Every layer maps a positive semidefinite kernel to a positive semidefinite kernel.
    """

    @abstractmethod
    def of(self, k_xz: NDArray, k_xx: NDArray, k_zz: NDArray) -> NDArray:
        """Return the new (n, m) block from the block below and the (n,) and (m,) diagonals.

        For pairs of rows the block is a column, and ``k_zz`` a column beside it.
        ``k_xz`` may be overwritten, and usually is what comes back.
        """

    @abstractmethod
    def diag_of(self, k_xx: NDArray) -> NDArray:
        """Return the new diagonal as a new array."""

    @property
    def makes_constant_diag(self) -> bool:
        """Whether the diagonal is constant above this layer, whatever is below."""
        return False

    @property
    def method(self) -> str | None:
        """The method of a kernel that adds this layer, for the repr."""
        return None


@final
@dataclass(frozen=True)
class Normalize(Layer):
    r"""Cosine of the angle between feature vectors: ``kernel.normalized()``.

    .. math:: \frac{k_{xz}}{\sqrt{k_{xx}\, k_{zz}}}

    A row with :math:`k_{xx} = 0` has no direction and gets one of its own: similarity 1 to
    itself and 0 to all others, so that the diagonal is 1 without exception.

    Examples
    --------
    >>> from kernelm.kernels import Linear
    >>> Linear().normalized().gram([[3.0, 4.0]], [[5.0, 0.0]])
    array([[0.6]])
    """

    def of(self, k_xz: NDArray, k_xx: NDArray, k_zz: NDArray) -> NDArray:
        """Divide by both lengths."""
        return divide_by_lengths(k_xz, k_xx, k_zz, apart=0.0)

    def diag_of(self, k_xx: NDArray) -> NDArray:
        """Return ones."""
        return np.ones_like(_checks.non_negative_diag(k_xx, repr(self)))

    @property
    def makes_constant_diag(self) -> bool:
        """Always true."""
        return True

    @property
    def method(self) -> str:
        """``.normalized()``."""
        return ".normalized()"


@final
@dataclass(frozen=True)
class Exp(Layer):
    r"""Exponential of a kernel: ``kernel.exp(scale)``.

    .. math:: \exp(k_{xz} / s^2)

    Examples
    --------
    >>> from kernelm.kernels import Linear
    >>> Linear().exp(scale=2.0).gram([[2.0]], [[3.0]]).round(4)
    array([[4.4817]])
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        _checks.positive(self.scale, "scale")

    def of(self, k_xz: NDArray, k_xx: NDArray, k_zz: NDArray) -> NDArray:
        """Scale and exponentiate."""
        k_xz /= float(self.scale)
        k_xz /= float(self.scale)
        return np.exp(k_xz, out=k_xz)

    def diag_of(self, k_xx: NDArray) -> NDArray:
        """Scale and exponentiate."""
        return self.of(k_xx.copy(), k_xx, k_xx)

    @property
    def method(self) -> str:
        """``.exp(scale=...)``."""
        return f".exp(scale={self.scale!r})"


@final
@dataclass(frozen=True)
class Power(Layer):
    r"""Power of a kernel: ``kernel.power(degree)``.

    .. math:: k_{xz}^p

    Examples
    --------
    >>> from kernelm.kernels import Linear
    >>> Linear().power(3).gram([[2.0]], [[3.0]])
    array([[216.]])
    """

    degree: int = 2

    def __post_init__(self) -> None:
        _checks.integer(self.degree, "degree")

    def of(self, k_xz: NDArray, k_xx: NDArray, k_zz: NDArray) -> NDArray:
        """Raise to the power."""
        return raise_to(k_xz, self.degree)

    def diag_of(self, k_xx: NDArray) -> NDArray:
        """Raise to the power."""
        return raise_to(k_xx.copy(), self.degree)

    @property
    def method(self) -> str:
        """``.power(...)``."""
        return f".power({self.degree!r})"


@final
@dataclass(frozen=True)
class PolynomialLayer(Layer):
    r"""Polynomial of a kernel; on a polynomial without offset the degrees multiply.

    .. math:: (a\, k_{xz} + c)^p

    Examples
    --------
    >>> from kernelm.kernels import Linear
    >>> Linear().then(PolynomialLayer(offset=1.0, degree=2)).gram([[2.0]], [[3.0]])
    array([[49.]])
    """

    scale: float = 1.0
    offset: float = 1.0
    degree: int = 2

    def __post_init__(self) -> None:
        _checks.positive(self.scale, "scale")
        _checks.non_negative(self.offset, "offset")
        _checks.integer(self.degree, "degree")

    def of(self, k_xz: NDArray, k_xx: NDArray, k_zz: NDArray) -> NDArray:
        """Scale, shift and raise to the power."""
        if self.scale != 1:
            k_xz *= float(self.scale)
        k_xz += float(self.offset)
        return raise_to(k_xz, self.degree)

    def diag_of(self, k_xx: NDArray) -> NDArray:
        """Scale, shift and raise to the power."""
        return self.of(k_xx.copy(), k_xx, k_xx)


@final
@dataclass(frozen=True)
class GaussianLayer(Layer):
    r"""Gaussian of the distance that a kernel defines (two-layer Gaussian on a Gaussian).

    .. math:: \exp\left(-\frac{k_{xx} + k_{zz} - 2 k_{xz}}{2 \sigma^2}\right)

    Examples
    --------
    >>> from kernelm.kernels import Gaussian
    >>> Gaussian().then(GaussianLayer(scale=1.0)).gram([[0.0]], [[1.0]]).round(4)
    array([[0.6747]])
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        _checks.positive(self.scale, "scale")

    def of(self, k_xz: NDArray, k_xx: NDArray, k_zz: NDArray) -> NDArray:
        """Turn similarities into squared distances and those into a Gaussian."""
        # Halves first: k_xx + k_zz may overflow where each of them does not.
        k_xz -= 0.5 * k_xx[:, None]
        k_xz -= 0.5 * k_zz
        np.minimum(k_xz, 0, out=k_xz)
        with np.errstate(over="ignore"):  # exp(-inf) is the right answer
            k_xz /= float(self.scale)  # twice: the square of a small scale underflows
            k_xz /= float(self.scale)
        return np.exp(k_xz, out=k_xz)

    def diag_of(self, k_xx: NDArray) -> NDArray:
        """Return ones."""
        return np.ones_like(k_xx)

    @property
    def makes_constant_diag(self) -> bool:
        """Always true."""
        return True


def divide_by_lengths(k_xz: NDArray, k_xx: NDArray, k_zz: NDArray, apart: float) -> NDArray:
    """Turn a block into cosines in place; rows of length 0 get ``apart`` (1 among themselves)."""
    none_x, none_z = (k_xx == 0)[:, None], k_zz == 0
    # One side at a time: the product k_xx k_zz overflows before its square root does. A few
    # units of rounding shorter, so that the cosine of equal rows is 1 and not a little less,
    # which the root in an arc cosine would magnify.
    shorter = 1 - 8 * np.finfo(k_xz.dtype).eps
    k_xz /= np.sqrt(np.where(none_x, 1, k_xx[:, None])) * k_xz.dtype.type(shorter)
    k_xz /= np.sqrt(np.where(none_z, 1, k_zz))
    if none_x.any() or none_z.any():
        np.copyto(k_xz, apart, where=none_x | none_z)
        np.copyto(k_xz, 1, where=none_x & none_z)
    return np.clip(k_xz, -1, 1, out=k_xz)


def raise_to(block: NDArray, degree: int) -> NDArray:
    """Raise a block to a whole power in place, by squaring (``np.power`` is ten times slower)."""
    base = block.copy() if degree > 2 else block
    for bit in bin(degree)[3:]:
        np.square(block, out=block)
        if bit == "1":
            block *= base
    return block
