"""Kernels that can be asked for by name."""

from __future__ import annotations

from typing import Any

from kernelm import _checks
from kernelm.kernels.arc_cosine import ArcCosine
from kernelm.kernels.base import Kernel
from kernelm.kernels.dot import Linear
from kernelm.kernels.elm import AsymptoticELM
from kernelm.kernels.radial import Gaussian, Laplacian, Matern32, Matern52

#: Kernels by name, with scales that are taken from data.
NAMED: dict[str, Kernel] = {
    "linear": Linear(),
    "gaussian": Gaussian("median"),
    "laplacian": Laplacian("median"),
    "matern32": Matern32("median"),
    "matern52": Matern52("median"),
    "arccosine": ArcCosine([1], normalize=True),
    "elm": AsymptoticELM(),
}


def named(kernel: Any) -> Kernel:
    """Return a kernel that is given as itself or by its name.

    Examples
    --------
    >>> named("gaussian")
    Gaussian(scale='median')
    """
    if isinstance(kernel, str):
        return NAMED[_checks.one_of(kernel, "kernel (or a kernel object)", NAMED)]
    return _checks.instance(kernel, "kernel", Kernel)
