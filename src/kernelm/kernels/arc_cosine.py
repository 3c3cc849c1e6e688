r"""Arc-cosine kernels: infinitely wide layers of one-sided power units, to any depth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from numbers import Integral
from typing import final

import numpy as np
from numpy.polynomial import polynomial
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.kernels.base import Kernel
from kernelm.kernels.dot import Linear
from kernelm.kernels.layers import Layer, Normalize, divide_by_lengths
from kernelm.kernels.stack import Named


@final
@dataclass(frozen=True)
class ArcCosineLayer(Layer):
    r"""One arc-cosine layer of degree n (Cho and Saul, 2009).

    .. math:: \tfrac1\pi (k_{xx} k_{zz})^{n/2} J_n(\theta), \qquad
              \cos\theta = k_{xz} / \sqrt{k_{xx} k_{zz}}

    with :math:`J_0 = \pi - \theta`, :math:`J_1 = \sin\theta + (\pi - \theta)\cos\theta`,
    :math:`J_2 = 3\sin\theta\cos\theta + (\pi - \theta)(1 + 2\cos^2\theta)`, and in general
    :math:`J_n = (-1)^n \sin^{2n+1}\theta
    \left(\tfrac{1}{\sin\theta}\partial_\theta\right)^n \tfrac{\pi - \theta}{\sin\theta}`.
    The diagonal is :math:`(2n-1)!!\, k_{xx}^n`.

    A row with :math:`k_{xx} = 0` has no angle: its similarity is 0 to every other row, and to
    itself what the diagonal says.

    Examples
    --------
    >>> from kernelm.kernels import Linear
    >>> Linear().then(ArcCosineLayer(degree=0)).gram([[1.0, 0.0]], [[0.0, 2.0]])
    array([[0.5]])
    """

    degree: int = 1

    def __post_init__(self) -> None:
        _checks.integer(self.degree, "degree", low=0)

    def of(self, k_xz: NDArray, k_xx: NDArray, k_zz: NDArray) -> NDArray:
        """Turn the block into cosines, angles, and the angular part times the lengths."""
        # J_n(π) = 0 for every n, so "opposite" (-1) is what makes a zero row dissimilar.
        k = angular(divide_by_lengths(k_xz, k_xx, k_zz, apart=-1.0), self.degree)
        if self.degree == 0:
            k *= 1 / math.pi
            return k
        k *= k_xx[:, None] ** (self.degree / 2)
        k *= k_zz ** (self.degree / 2) / math.pi
        return k

    def diag_of(self, k_xx: NDArray) -> NDArray:
        """Return the limit at angle zero."""
        _checks.non_negative_diag(k_xx, repr(self))
        return k_xx**self.degree * math.prod(map(float, range(1, 2 * self.degree, 2)))

    @property
    def makes_constant_diag(self) -> bool:
        """True for degree 0, the exact condition for a deep arc-cosine kernel."""
        return self.degree == 0


@final
@dataclass(frozen=True)
class ArcCosine(Named):
    r"""Deep arc-cosine kernel: one layer for each entry of ``degrees``, the first one first.

    .. math:: k = \ell_{n_L} \circ \dots \circ \ell_{n_1}(x \cdot z)

    where :math:`\ell_n` is :class:`ArcCosineLayer`. It is the limit of an infinitely wide
    network with random normal weights and units :math:`\max(0, a)^n`:
    :math:`2\,E[\Theta(w\cdot x)\Theta(w\cdot z)(w\cdot x)^n(w\cdot z)^n]`.

    Parameters
    ----------
    degrees : sequence of int
        Degree of each layer: 0 (steps), 1 (rectifiers), 2, ... One number is a list of one.
    normalize : bool
        Divide by :math:`\sqrt{k_{xx} k_{zz}}` after every layer, so that stacks of high degree
        do not overflow. Angles, and so the kernel up to lengths, stay the same.

    References
    ----------
    Y. Cho and L. K. Saul, "Kernel methods for deep learning", NIPS 2009.

    Examples
    --------
    >>> ArcCosine([1, 0]).gram([[1.0, 0.0]], [[0.0, 2.0]]).round(4)
    array([[0.6031]])
    """

    degrees: Sequence[int] = (1,)
    normalize: bool = False

    def __post_init__(self) -> None:
        degrees = (self.degrees,) if isinstance(self.degrees, Integral) else tuple(self.degrees)
        if not degrees:
            raise ValueError("degrees must hold at least one degree, got none; use Linear()")
        object.__setattr__(self, "degrees", degrees)
        self._layers()

    def _layers(self) -> list[Layer]:
        after = [Normalize()] if self.normalize else []
        return [layer for n in self.degrees for layer in (ArcCosineLayer(n), *after)]

    @property
    def tree(self) -> Kernel:
        """The layers on the dot product."""
        return Linear().then(*self._layers())


def angular(cos: NDArray, degree: int) -> NDArray:
    r"""Return :math:`J_n(\theta)` from :math:`\cos\theta`, which may be overwritten."""
    rest = np.negative(cos)
    np.arccos(rest, out=rest)  # π - θ
    if degree == 0:
        return rest
    P, Q = polynomials(degree)
    rest *= _horner(Q, cos)
    factor = _horner(P, cos)
    # (1 - c)(1 + c) keeps the digits near c = ±1 that 1 - c² loses.
    below = 1 - cos
    cos += 1
    cos *= below
    sine = np.sqrt(cos, out=cos)
    if degree > 1:
        sine *= factor
    rest += sine
    return rest


@cache
def polynomials(degree: int) -> tuple[list[float], list[float]]:
    r"""Return the coefficients, lowest first, of P and Q in the angular part of degree n.

    .. math:: J_n(\theta) = \sin\theta\, P_n(c) + (\pi - \theta)\, Q_n(c), \qquad c = \cos\theta

    The derivative in the definition is the recursion
    :math:`J_{n+1} = (2n+1)\, c\, J_n - \sin\theta\, J_n'`, hence
    :math:`P_{n+1} = 2n c P_n + (1 - c^2) P_n' + Q_n` and
    :math:`Q_{n+1} = (2n+1) c Q_n + (1 - c^2) Q_n'`, from :math:`P_0 = 0, Q_0 = 1`.

    Examples
    --------
    >>> polynomials(3)  # 15 sin - 11 sin³ = sin (4 + 11 cos²), and 9 cos + 6 cos³
    ([4.0, 0.0, 11.0], [0.0, 9.0, 0.0, 6.0])
    """
    P, Q = np.zeros(1), np.ones(1)
    for n in range(degree):
        turned_P = polynomial.polymul([1, 0, -1], polynomial.polyder(P))
        turned_Q = polynomial.polymul([1, 0, -1], polynomial.polyder(Q))
        P = polynomial.polyadd(polynomial.polyadd([0, *(2 * n * P)], turned_P), Q)
        Q = polynomial.polyadd([0, *((2 * n + 1) * Q)], turned_Q)
    return _trimmed(P), _trimmed(Q)


def _trimmed(coefficients: NDArray) -> list[float]:
    return [float(c) for c in polynomial.polytrim(coefficients)]


def _horner(coefficients: list[float], c: NDArray) -> NDArray:
    """Return the polynomial at ``c``, without work for ``c`` itself and for 1."""
    if coefficients == [0.0, 1.0]:
        return c
    if coefficients == [1.0]:
        return np.ones(1, c.dtype)
    value = np.full_like(c, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value *= c
        if coefficient:
            value += coefficient
    return value
