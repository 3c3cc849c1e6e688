r"""Kernels of the dot product :math:`s = x \cdot z`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.kernels._blocks import blocks, dot, row_dots, row_sq_norms
from kernelm.kernels.base import Kernel, Rows
from kernelm.kernels.layers import PolynomialLayer
from kernelm.kernels.stack import Named


@final
@dataclass(frozen=True)
class Linear(Kernel):
    r"""Dot product, with an offset.

    .. math:: k(x, z) = x \cdot z + c

    Examples
    --------
    >>> Linear(offset=1.0).gram([[1.0, 2.0]], [[3.0, 4.0]])
    array([[12.]])
    """

    offset: float = 0.0  #: :math:`c \ge 0`

    def __post_init__(self) -> None:
        _checks.non_negative(self.offset, "offset")

    def _gram(self, X: Rows, Z: Rows | None) -> NDArray:
        # Finite lengths bound every dot product: refuse overflow before it spreads.
        for rows in (X,) if Z is None else (X, Z):
            self._diag(rows)
        K = dot(X, X if Z is None else Z)
        if self.offset:
            K += float(self.offset)
        return K

    def _pairs(self, X: Rows, Z: Rows) -> NDArray:
        for rows in (X, Z):
            self._diag(rows)
        return row_dots(X, Z) + float(self.offset)

    def _diag(self, X: Rows) -> NDArray:
        with np.errstate(over="ignore"):
            diag = row_sq_norms(X) + float(self.offset)
        return _checks.finite_diag(diag, repr(self))


@final
@dataclass(frozen=True)
class Polynomial(Named):
    r"""Polynomial of the dot product.

    .. math:: k(x, z) = (a\, x \cdot z + c)^p

    Examples
    --------
    >>> Polynomial(degree=3).gram([[1.0, 2.0]], [[3.0, -1.0]])
    array([[8.]])
    """

    scale: float = 1.0  #: :math:`a > 0`
    offset: float = 1.0  #: :math:`c \ge 0`
    degree: int = 2  #: :math:`p \ge 1`

    def __post_init__(self) -> None:
        self._layer()

    def _layer(self) -> PolynomialLayer:
        return PolynomialLayer(self.scale, self.offset, self.degree)

    @property
    def tree(self) -> Kernel:
        """The polynomial layer on the dot product."""
        return Linear().then(self._layer())


@final
@dataclass(frozen=True)
class Sigmoid(Kernel):
    r"""Hyperbolic tangent of the dot product.

    .. math:: k(x, z) = \tanh(a\, x \cdot z + c)

    Not positive semidefinite for any parameters: do not hand its Gram matrix to a Cholesky
    factorisation.

    Examples
    --------
    >>> Sigmoid(scale=0.1).gram([[1.0, 2.0]], [[3.0, 1.0]]).round(4)
    array([[0.4621]])
    """

    scale: float = 1.0  #: :math:`a`
    offset: float = 0.0  #: :math:`c`

    def __post_init__(self) -> None:
        _checks.number(self.scale, "scale")
        _checks.number(self.offset, "offset")

    def _gram(self, X: Rows, Z: Rows | None) -> NDArray:
        K = Linear()._gram(X, Z)
        for rows in blocks(*K.shape):
            self._of(K[rows])
        return K

    def _pairs(self, X: Rows, Z: Rows) -> NDArray:
        return self._of(Linear()._pairs(X, Z))

    def _diag(self, X: Rows) -> NDArray:
        return self._of(Linear()._diag(X))

    def _of(self, dots: NDArray) -> NDArray:
        with np.errstate(over="ignore"):  # tanh(inf) is the right answer
            dots *= float(self.scale)
        dots += float(self.offset)
        return np.tanh(dots, out=dots)

    @property
    def is_psd(self) -> bool:
        """Always false."""
        return False
