"""Kernels from kernels: sums, products, multiples and constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.kernels.base import Kernel, Rows


@final
@dataclass(frozen=True)
class Sum(Kernel):
    r"""Sum of two kernels: ``k1 + k2``.

    .. math:: k(x, z) = k_1(x, z) + k_2(x, z)

    Examples
    --------
    >>> from kernelm.kernels import Gaussian, Linear
    >>> (Linear() + Gaussian()).gram([[1.0]], [[2.0]]).round(4)
    array([[2.6065]])
    """

    left: Kernel
    right: Kernel
    _binds: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _check_kernels(self.left, self.right)

    def _gram(self, X: Rows, Z: Rows | None) -> NDArray:
        K = self.left._gram(X, Z)
        K += self.right._gram(X, Z)
        return K

    def _pairs(self, X: Rows, Z: Rows) -> NDArray:
        return self.left._pairs(X, Z) + self.right._pairs(X, Z)

    def _diag(self, X: Rows) -> NDArray:
        return self.left._diag(X) + self.right._diag(X)

    @property
    def has_constant_diag(self) -> bool:
        """Whether both terms have a constant diagonal."""
        return self.left.has_constant_diag and self.right.has_constant_diag

    def __repr__(self) -> str:
        right = self.right
        if isinstance(right, Constant) and right.value != 0:
            return f"{self.left._inside(1)} + {right.value!r}"
        return f"{self.left._inside(1)} + {right._inside(2)}"


@final
@dataclass(frozen=True)
class Product(Kernel):
    r"""Product of two kernels: ``k1 * k2``.

    .. math:: k(x, z) = k_1(x, z)\, k_2(x, z)

    Examples
    --------
    >>> from kernelm.kernels import Gaussian, Linear
    >>> (Linear() * Gaussian()).gram([[1.0]], [[2.0]]).round(4)
    array([[1.2131]])
    """

    left: Kernel
    right: Kernel
    _binds: ClassVar[int] = 2

    def __post_init__(self) -> None:
        _check_kernels(self.left, self.right)

    def _gram(self, X: Rows, Z: Rows | None) -> NDArray:
        K = self.left._gram(X, Z)
        K *= self.right._gram(X, Z)
        return K

    def _pairs(self, X: Rows, Z: Rows) -> NDArray:
        return self.left._pairs(X, Z) * self.right._pairs(X, Z)

    def _diag(self, X: Rows) -> NDArray:
        return self.left._diag(X) * self.right._diag(X)

    @property
    def has_constant_diag(self) -> bool:
        """Whether both factors have a constant diagonal."""
        return self.left.has_constant_diag and self.right.has_constant_diag

    def __repr__(self) -> str:
        return f"{self.left._inside(2)} * {self.right._inside(3)}"


@final
@dataclass(frozen=True)
class Scaled(Kernel):
    r"""Multiple of a kernel: ``c * k``.

    .. math:: k(x, z) = c\, k_1(x, z), \qquad c \ge 0

    Examples
    --------
    >>> from kernelm.kernels import Linear
    >>> (0.5 * Linear()).gram([[3.0]], [[4.0]])
    array([[6.]])
    """

    factor: float
    kernel: Kernel
    _binds: ClassVar[int] = 2

    def __post_init__(self) -> None:
        _checks.non_negative(self.factor, "the factor of a kernel")
        _check_kernels(self.kernel)

    def _gram(self, X: Rows, Z: Rows | None) -> NDArray:
        K = self.kernel._gram(X, Z)
        K *= float(self.factor)
        return K

    def _pairs(self, X: Rows, Z: Rows) -> NDArray:
        return float(self.factor) * self.kernel._pairs(X, Z)

    def _diag(self, X: Rows) -> NDArray:
        return float(self.factor) * self.kernel._diag(X)

    @property
    def has_constant_diag(self) -> bool:
        """Whether the kernel that is multiplied has a constant diagonal."""
        return self.kernel.has_constant_diag

    def __repr__(self) -> str:
        return f"{self.factor!r} * {self.kernel._inside(3)}"


@final
@dataclass(frozen=True)
class Constant(Kernel):
    r"""The same similarity for all rows; ``k + c`` adds one.

    .. math:: k(x, z) = c, \qquad c \ge 0

    Examples
    --------
    >>> from kernelm.kernels import Linear
    >>> (Linear() + 0.5).gram([[3.0]], [[4.0]])
    array([[12.5]])
    """

    value: float = 1.0

    def __post_init__(self) -> None:
        _checks.non_negative(self.value, "the constant of a kernel")

    def _gram(self, X: Rows, Z: Rows | None) -> NDArray:
        m = X.shape[0] if Z is None else Z.shape[0]
        return np.full((X.shape[0], m), float(self.value), X.dtype)

    def _pairs(self, X: Rows, Z: Rows) -> NDArray:
        return self._diag(X)

    def _diag(self, X: Rows) -> NDArray:
        return np.full(X.shape[0], float(self.value), X.dtype)

    @property
    def has_constant_diag(self) -> bool:
        """Always true."""
        return True


def _check_kernels(*parts: Kernel) -> None:
    for part in parts:
        _checks.instance(part, "each part of a sum or product", Kernel)
