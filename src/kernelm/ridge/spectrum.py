"""Eigenvalues of sums over rows, and how small an alpha they resolve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError
from scipy.linalg import eigh as other_eigh

from kernelm.ridge.status import Status

EPS = float(np.finfo(np.float64).eps)


def eigh(A: NDArray) -> tuple[NDArray, NDArray]:
    """Return rising eigenvalues (rounding below zero cut off) and eigenvectors of A."""
    try:
        values, V = np.linalg.eigh(A)
    except LinAlgError:  # divide and conquer may fail to converge where plain QR does not
        values, V = other_eigh(A, driver="ev", check_finite=False)
    return np.maximum(values, 0.0), V


def noise_floor(values: NDArray, precision: float, centred: float = 0.0) -> float:
    """Return the noise level of the spectrum, the smallest alpha worth solving for.

    Two sources: LAPACK's backward error, L·eps·λ_max, and the rounding inside the blocks: an
    L×L matrix of independent errors of relative size ``precision`` has a norm of about
    precision·√L times the mean of the diagonal. ``centred`` is how much of the trace was
    subtracted to centre it: rounding does not go away with it.
    """
    if not values.size:
        return 0.0
    lapack = len(values) * EPS * values[-1]
    blocks = precision * (values.sum() + centred) / np.sqrt(len(values))
    return float(max(lapack, blocks))


def inverse(values: NDArray, alpha: float, floor: float) -> NDArray:
    """Return 1/(λ + alpha) with alpha at least at the floor.

    For alpha = 0 this is the pseudo-inverse: directions below the floor get 0.
    """
    if alpha == 0:
        return np.divide(1.0, values, out=np.zeros_like(values), where=values > floor)
    shifted = values + max(alpha, floor)
    return np.divide(1.0, shifted, out=np.zeros_like(shifted), where=shifted > 0)


def resolve(values: NDArray, alpha: float, floor: float, *, full: bool) -> tuple[float, Status]:
    """Return the alpha that can be used instead of ``alpha``, and why.

    ``full`` says whether every direction can be resolved at alpha = 0.
    """
    if not values.size or values[-1] <= 0:
        return alpha, Status.NO_SIGNAL
    if alpha == 0:
        return 0.0, Status.OK if full else Status.RANK_DEFICIENT
    if alpha < floor:
        return floor, Status.FLOORED
    return alpha, Status.OK
