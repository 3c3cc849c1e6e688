r"""Slopes of kernels along the inputs, all of them for the price of two matrix products.

Most kernels see a row only through its dot products and its length, so that their gradient lies
in a plane:

.. math:: \nabla_x k(x, z) = p\, z + q\, x, \qquad \nabla_x k(x, x) = r\, x .

Sums, products and layers carry p, q and r along by the rules of calculus. Functions of one number
(of a distance, of a dot product) are differentiated by central differences in that number. Kernels
that single inputs out (:class:`LaplacianL1`, chi-square, random units) have no such plane.
"""

from __future__ import annotations

from functools import reduce, singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelm.kernels.algebra import Constant, Product, Scaled, Sum
from kernelm.kernels.base import Kernel
from kernelm.kernels.distances import squared_distances
from kernelm.kernels.dot import Linear
from kernelm.kernels.layers import Layer
from kernelm.kernels.radial import LaplacianL1, Radial
from kernelm.kernels.stack import Named, Stacked

#: Relative width of a difference: its square is the error of truncation, eps / step of rounding.
STEP = 1e-5


class Plane(NamedTuple):
    """A kernel and the coefficients of its gradient; one number where all are the same."""

    k: Any  #: k(x, z), (n, m)
    p: Any  #: along z, (n, m)
    q: Any  #: along x, (n, m)
    k_xx: Any  #: k(x, x), (n,)
    k_zz: Any  #: k(z, z), (m,)
    r: Any  #: of k(x, x) along x, (n,)


def squared_slopes(kernel: Kernel, X: NDArray, Z: Any, W: NDArray) -> NDArray:
    r"""Return :math:`\sum_c (\partial f_c / \partial x_j)^2` at rows X, (n, D).

    Of the functions :math:`f_c(x) = \sum_i k(x, z_i) W_{ic}`. Where a kernel has a kink, at
    equal rows, the slope to that row is 0: the mean of both sides.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelm.kernels import Gaussian
    >>> X, Z, W = np.array([[1.0, 0.0]]), np.array([[0.0, 0.0]]), np.ones((1, 1))
    >>> squared_slopes(Gaussian(), X, Z, W).round(4)
    array([[0.3679, 0.    ]])
    """
    plane = _plane(kernel, X, Z)
    assert plane is not None
    p, q = (np.broadcast_to(part, plane.k.shape) for part in (plane.p, plane.q))
    total = np.zeros(X.shape)
    for w, along_x in zip(W.T, (q @ W).T, strict=True):
        total += ((p * w) @ Z + along_x[:, None] * X) ** 2
    return total


def has_plane(kernel: Kernel) -> bool:
    """Whether gradients of the kernel lie in the plane of both rows."""
    row = np.ones((1, 1))
    return _plane(kernel, row, row) is not None


@singledispatch
def _plane(kernel: Kernel, X: NDArray, Z: Any) -> Plane | None:
    return None


@_plane.register
def _(kernel: Named, X: NDArray, Z: Any) -> Plane | None:
    return _plane(kernel.tree, X, Z)


@_plane.register
def _(kernel: Constant, X: NDArray, Z: Any) -> Plane:
    return Plane(kernel._gram(X, Z), 0.0, 0.0, kernel._diag(X), kernel._diag(Z), 0.0)


@_plane.register
def _(kernel: Linear, X: NDArray, Z: Any) -> Plane:
    return Plane(kernel._gram(X, Z), 1.0, 0.0, kernel._diag(X), kernel._diag(Z), 2.0)


@_plane.register
def _(kernel: Radial, X: NDArray, Z: Any) -> Plane | None:
    if isinstance(kernel, LaplacianL1):
        return None
    squares = squared_distances(X, Z, float(kernel.scale), snap=True)
    up, down = ((1 + s * STEP) * kernel._factor * squares for s in (1, -1))
    kernel._of(up)
    kernel._of(down)
    # By the square of the distance; at distance 0 there is no direction.
    slope = _ratio(up - down, 2 * STEP * squares) / float(kernel.scale) ** 2
    return Plane(kernel._gram(X, Z), -2 * slope, 2 * slope, kernel._diag(X), kernel._diag(Z), 0.0)


@_plane.register
def _(kernel: Scaled, X: NDArray, Z: Any) -> Plane | None:
    plane = _plane(kernel.kernel, X, Z)
    return None if plane is None else Plane(*(float(kernel.factor) * part for part in plane))


@_plane.register
def _(kernel: Sum, X: NDArray, Z: Any) -> Plane | None:
    a, b = _plane(kernel.left, X, Z), _plane(kernel.right, X, Z)
    if a is None or b is None:
        return None
    return Plane(*(left + right for left, right in zip(a, b, strict=True)))


@_plane.register
def _(kernel: Product, X: NDArray, Z: Any) -> Plane | None:
    a, b = _plane(kernel.left, X, Z), _plane(kernel.right, X, Z)
    if a is None or b is None:
        return None
    return Plane(
        a.k * b.k,
        a.k * b.p + b.k * a.p,
        a.k * b.q + b.k * a.q,
        a.k_xx * b.k_xx,
        a.k_zz * b.k_zz,
        a.k_xx * b.r + b.k_xx * a.r,
    )


@_plane.register
def _(kernel: Stacked, X: NDArray, Z: Any) -> Plane | None:
    plane = _plane(kernel.base, X, Z)
    return None if plane is None else reduce(_above, kernel.layers, plane)


def _above(plane: Plane, layer: Layer) -> Plane:
    """Return the plane of a layer on a kernel: the chain rule in k(x, z) and k(x, x)."""
    k, p, q, k_xx, k_zz, r = plane
    # Steps in proportion to the lengths: both move a cosine by as much.
    step = STEP * np.sqrt(k_xx[:, None] * k_zz)
    by_k = _ratio(layer.of(k + step, k_xx, k_zz) - layer.of(k - step, k_xx, k_zz), 2 * step)
    longer, shorter = (1 + 2 * STEP) * k_xx, (1 - 2 * STEP) * k_xx
    by_xx = _ratio(
        layer.of(k.copy(), longer, k_zz) - layer.of(k.copy(), shorter, k_zz),
        4 * STEP * k_xx[:, None],
    )
    on_diagonal = _ratio(layer.diag_of(longer) - layer.diag_of(shorter), 4 * STEP * k_xx)
    return Plane(
        layer.of(k.copy(), k_xx, k_zz),
        by_k * p,
        by_k * q + by_xx * np.broadcast_to(r, k_xx.shape)[:, None],
        layer.diag_of(k_xx),
        layer.diag_of(k_zz),
        on_diagonal * r,
    )


def _ratio(a: NDArray, b: Any) -> NDArray:
    """Return a / b, and 0 where b is 0."""
    return np.divide(a, b, out=np.zeros_like(a), where=np.broadcast_to(b, a.shape) != 0)
