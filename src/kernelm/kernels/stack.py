"""Depth: layers applied on a kernel, one after the other."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.kernels._blocks import blocks, set_diagonal
from kernelm.kernels.base import Kernel, Rows
from kernelm.kernels.domain import Domain
from kernelm.kernels.layers import Layer


@final
@dataclass(frozen=True)
class Stacked(Kernel):
    r"""A base kernel with layers on top: ``base.then(first, second, ...)``.

    .. math:: k = \ell_L \circ \dots \circ \ell_1 (k_0)

    A stack on a stack is one stack.

    Examples
    --------
    >>> from kernelm.kernels import ArcCosineLayer, Linear
    >>> k = Linear().then(ArcCosineLayer(degree=1)).normalized()
    >>> k
    Linear(offset=0.0).then(ArcCosineLayer(degree=1)).normalized()
    >>> k.gram([[1.0, 0.0]], [[0.0, 2.0]]).round(4)
    array([[0.3183]])
    """

    base: Kernel
    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        base, layers = self.base, tuple(self.layers)
        _checks.instance(base, "the base of a stack", Kernel)
        for layer in layers:
            _checks.instance(layer, "each layer of a stack", Layer)
        if isinstance(base, Stacked):
            base, layers = base.base, base.layers + layers
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "layers", layers)

    def _gram(self, X: Rows, Z: Rows | None) -> NDArray:
        diags_x = self._diags(X)
        diags_z = diags_x if Z is None else self._diags(Z)
        K = self.base._gram(X, Z)
        for rows in blocks(*K.shape):
            block = K[rows]
            for layer, (x, x_after), z in zip(
                self.layers, pairwise(diags_x), diags_z, strict=False
            ):
                block = layer.of(block, x[rows], z)
                if Z is None:
                    set_diagonal(block, rows, x_after[rows])
            if not np.may_share_memory(block, K):
                K[rows] = block
        return K

    def _pairs(self, X: Rows, Z: Rows) -> NDArray:
        # A column of pairs: the lengths of x go with its rows, those of z entry by entry.
        block = self.base._pairs(X, Z)[:, None]
        for layer, x, z in zip(self.layers, self._diags(X), self._diags(Z), strict=False):
            block = layer.of(block, x, z[:, None])
        return block[:, 0]

    def _diag(self, X: Rows) -> NDArray:
        return self._diags(X)[-1]

    def _diags(self, X: Rows) -> list[NDArray]:
        """Return ``k(x, x)`` under the first layer and after each one.

        A finite diagonal bounds the whole matrix (Cauchy-Schwarz), so overflow is found here.
        """
        diags = [self.base._diag(X)]
        for depth, layer in enumerate(self.layers, start=1):
            with np.errstate(over="ignore", invalid="ignore"):
                above = layer.diag_of(diags[-1])
            diags.append(_checks.finite_diag(above, f"layer {depth} of {self!r}, {layer!r},"))
        return diags

    @property
    def has_constant_diag(self) -> bool:
        """Whether the base has a constant diagonal or a layer makes it so."""
        return self.base.has_constant_diag or any(l.makes_constant_diag for l in self.layers)

    def __repr__(self) -> str:
        text, plain = self.base._inside(3), []
        for layer in self.layers:
            if layer.method is None:
                plain.append(repr(layer))
                continue
            text, plain = text + _then(plain) + layer.method, []
        return text + _then(plain)


class Named(Kernel):
    """A kernel that is a name, with parameters of its own, for a tree of other kernels."""

    @property
    @abstractmethod
    def tree(self) -> Kernel:
        """The kernel that this one stands for."""

    def _gram(self, X: Rows, Z: Rows | None) -> NDArray:
        return self.tree._gram(X, Z)

    def _pairs(self, X: Rows, Z: Rows) -> NDArray:
        return self.tree._pairs(X, Z)

    def _diag(self, X: Rows) -> NDArray:
        return self.tree._diag(X)

    @property
    def is_psd(self) -> bool:
        """Whether the tree is positive semidefinite."""
        return self.tree.is_psd

    @property
    def has_constant_diag(self) -> bool:
        """Whether the tree has a constant diagonal."""
        return self.tree.has_constant_diag

    @property
    def _domain(self) -> Domain:
        return self.tree._domain


def _then(layers: list[str]) -> str:
    return f".then({', '.join(layers)})" if layers else ""
