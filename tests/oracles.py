"""Textbook versions, a few lines each and as slow as they look. Nothing here imports kernelm."""

from __future__ import annotations

import math

import numpy as np

# --- kernels -------------------------------------------------------------------------------------


def gram(k, X, Z):
    """The matrix of a scalar function of two rows, by two loops."""
    return np.array([[k(x, z) for z in Z] for x in X])


def gaussian(scale):
    return lambda x, z: math.exp(-np.sum((x - z) ** 2) / (2 * scale**2))


def laplacian(scale):
    return lambda x, z: math.exp(-math.dist(x, z) / scale)


def laplacian_l1(scale):
    return lambda x, z: math.exp(-np.sum(np.abs(x - z)) / scale)


def matern32(scale):
    def k(x, z):
        r = math.sqrt(3) * math.dist(x, z) / scale
        return (1 + r) * math.exp(-r)

    return k


def matern52(scale):
    def k(x, z):
        r = math.sqrt(5) * math.dist(x, z) / scale
        return (1 + r + r**2 / 3) * math.exp(-r)

    return k


def circular(scale):
    def k(x, z):
        u = math.dist(x, z) / scale
        return 2 / math.pi * (math.acos(u) - u * math.sqrt(1 - u**2)) if u < 1 else 0.0

    return k


def spherical(scale):
    def k(x, z):
        u = math.dist(x, z) / scale
        return 1 - 1.5 * u + 0.5 * u**3 if u < 1 else 0.0

    return k


def linear(offset):
    return lambda x, z: float(x @ z) + offset


def polynomial(scale, offset, degree):
    return lambda x, z: (scale * float(x @ z) + offset) ** degree


def sigmoid(scale, offset):
    return lambda x, z: math.tanh(scale * float(x @ z) + offset)


def chi_square_distance(x, z):
    return sum((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b > 0)


def chi_square(gamma):
    return lambda x, z: math.exp(-gamma * chi_square_distance(x, z))


def additive_chi_square(x, z):
    return 1 - sum((a - b) ** 2 / ((a + b) / 2) for a, b in zip(x, z, strict=True) if a + b > 0)


def angular(degree, t):
    """J_0 to J_3 as printed by Cho and Saul (2009)."""
    s, c, rest = math.sin(t), math.cos(t), math.pi - t
    return (
        rest,
        s + rest * c,
        3 * s * c + rest * (1 + 2 * c**2),
        15 * s - 11 * s**3 + rest * (9 * c + 6 * c**3),
    )[degree]


def arc_cosine(degrees):
    def k(x, z):
        xz, xx, zz = float(x @ z), float(x @ x), float(z @ z)
        for n in degrees:
            t = math.acos(max(-1.0, min(1.0, xz / math.sqrt(xx * zz))))
            xz = (xx * zz) ** (n / 2) * angular(n, t) / math.pi
            xx, zz = (a**n * angular(n, 0.0) / math.pi for a in (xx, zz))
        return xz

    return k


def asymptotic_elm(weight_scale):
    def k(x, z):
        c = 1 / (2 * weight_scale**2)
        return 2 / math.pi * math.asin((1 + x @ z) / math.sqrt((c + 1 + x @ x) * (c + 1 + z @ z)))

    return k


def arc_cosine_monte_carlo(F, degree, rng, draws):
    """Mean and standard error of 2 E[Θ(u)Θ(v)(uv)ⁿ], u = w·f_i, v = w·f_j, for rows f of F.

    Directions of w are drawn; its length integrates out: E[r²ⁿ] = d (d + 2) ⋯ (d + 2n - 2).
    Without that, tails of high degrees are too heavy for a standard error to mean anything.
    """
    d = F.shape[1]
    W = rng.standard_normal((d, draws))
    U = F @ (W / np.linalg.norm(W, axis=0))
    H = np.where(U > 0, np.abs(U) ** degree, 0.0)
    lengths = 2 * math.prod(range(d, d + 2 * degree, 2))
    mean, square = H @ H.T / draws, (H**2) @ (H**2).T / draws
    return lengths * mean, lengths * np.sqrt((square - mean**2) / draws)
