"""Kernels of extreme learning machines: random hidden layers, finite and infinite."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.kernels._blocks import dot, row_dots, row_sq_norms
from kernelm.kernels.base import Kernel, Rows
from kernelm.kernels.dot import Linear
from kernelm.kernels.layers import Layer
from kernelm.kernels.stack import Named
from kernelm.units import ACTIVATIONS, activate, draw


@final
@dataclass(frozen=True)
class ArcSineLayer(Layer):
    r"""An infinitely wide layer of erf units with weights :math:`N(0, \sigma_w^2)`.

    .. math:: \frac2\pi \arcsin \frac{k_{xz}}
              {\sqrt{(\tfrac{1}{2\sigma_w^2} + k_{xx})(\tfrac{1}{2\sigma_w^2} + k_{zz})}}

    References
    ----------
    C. K. I. Williams, "Computation with infinite neural networks", 1998.

    Examples
    --------
    >>> Linear(offset=1.0).then(ArcSineLayer()).gram([[1.0]], [[1.0]]).round(4)
    array([[0.5903]])
    """

    weight_scale: float = 1.0  #: :math:`\sigma_w`

    def __post_init__(self) -> None:
        _checks.positive(self.weight_scale, "weight_scale")

    def of(self, k_xz: NDArray, k_xx: NDArray, k_zz: NDArray) -> NDArray:
        """Divide by the widened lengths and take the arcsine."""
        k_xz /= self._length(k_xx)[:, None]
        k_xz /= self._length(k_zz)
        return _arcsine(k_xz)

    def diag_of(self, k_xx: NDArray) -> NDArray:
        """Return the same with z = x."""
        _checks.non_negative_diag(k_xx, repr(self))
        return _arcsine((k_xx / self._length(k_xx)) / self._length(k_xx))

    def _length(self, k: NDArray) -> NDArray:
        return np.sqrt(k + 0.5 / float(self.weight_scale) / float(self.weight_scale))


def _arcsine(block: NDArray) -> NDArray:
    np.clip(block, -1, 1, out=block)
    np.arcsin(block, out=block)
    block *= 2 / math.pi
    return block


@final
@dataclass(frozen=True)
class AsymptoticELM(Named):
    r"""Kernel of an extreme learning machine with infinitely many erf units.

    .. math:: k(x, z) = \frac2\pi \arcsin \frac{1 + x \cdot z}
              {\sqrt{(c + 1 + x \cdot x)(c + 1 + z \cdot z)}}, \qquad c = \frac{1}{2\sigma_w^2}

    for weights and biases :math:`N(0, \sigma_w^2)`. It has a limit as :math:`\sigma_w` grows, so
    there is little to tune: 1 or 10 will do, normalised (``AsymptoticELM().normalized()``).

    References
    ----------
    B. Frénay and M. Verleysen, "Parameter-insensitive kernel in extreme learning for
    non-linear support vector regression", Neurocomputing 74, 2011.

    Examples
    --------
    >>> AsymptoticELM(weight_scale=10.0).gram([[1.0, 0.0]], [[0.0, 2.0]]).round(4)
    array([[0.2045]])
    """

    weight_scale: float = 1.0  #: :math:`\sigma_w`

    def __post_init__(self) -> None:
        ArcSineLayer(self.weight_scale)

    @property
    def tree(self) -> Kernel:
        """The arcsine layer on the dot product plus one, which is the bias."""
        return Linear(offset=1.0).then(ArcSineLayer(self.weight_scale))


@final
@dataclass(frozen=True)
class ELMKernel(Kernel):
    r"""Kernel of an extreme learning machine with p random units.

    .. math:: k(x, z) = \tfrac1p\, \varphi(x) \cdot \varphi(z), \qquad
              \varphi_j(x) = g(x \cdot w_j + b_j)

    With erf units it tends to :class:`AsymptoticELM` as :math:`1/\sqrt p`.

    Parameters
    ----------
    n_units : int
        Number of units p.
    activation : str
        Name of g, one of ``kernelm.units.ACTIVATIONS``.
    weight_scale : float
        Standard deviation of weights and biases.
    seed : int
        The units are drawn again from the seed whenever they are needed, never stored.

    Examples
    --------
    >>> ELMKernel(n_units=20000).gram([[1.0]], [[1.0]]).round(2)
    array([[0.59]])
    """

    n_units: int = 1000
    activation: str = "erf"
    weight_scale: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        _checks.integer(self.n_units, "n_units")
        _checks.one_of(self.activation, "activation", ACTIVATIONS)
        _checks.positive(self.weight_scale, "weight_scale")
        _checks.integer(self.seed, "seed", low=0)

    def _gram(self, X: Rows, Z: Rows | None) -> NDArray:
        H = self._features(X)
        K = dot(H, H if Z is None else self._features(Z))
        K *= 1 / self.n_units
        return K

    def _pairs(self, X: Rows, Z: Rows) -> NDArray:
        return row_dots(self._features(X), self._features(Z)) / self.n_units

    def _diag(self, X: Rows) -> NDArray:
        return row_sq_norms(self._features(X)) / self.n_units

    def _features(self, X: Rows) -> NDArray:
        W, b = draw(
            X.shape[1],
            self.n_units,
            scale=float(self.weight_scale),
            paired=self.activation == "fourier",
            seed=self.seed,
            dtype=X.dtype,
        )
        A = np.asarray(X @ W)
        A += b
        return activate(A, self.activation)
