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


# --- regression ----------------------------------------------------------------------------------


def ridge(H, Y, alpha, *, intercept=True, weight=None):
    """Weighted ridge regression by its normal equations; the intercept is a column of ones."""
    w = np.ones(len(H)) if weight is None else np.asarray(weight, float)
    G = np.column_stack([H, np.ones(len(H))]) if intercept else H
    penalty = alpha * np.eye(G.shape[1])
    if intercept:
        penalty[-1, -1] = 0
    W = np.linalg.solve(G.T @ (w[:, None] * G) + penalty, G.T @ (w[:, None] * Y))
    return (W[:-1], W[-1]) if intercept else (W, np.zeros(Y.shape[1]))


def kernel_ridge(K, y, alpha):
    """Fitted values of kernel ridge regression."""
    return K @ np.linalg.solve(K + alpha * np.eye(len(K)), y)


def least_squares(H, Y, *, intercept=True, weight=None):
    """Minimum-norm weighted least squares by the singular value decomposition."""
    w = np.ones(len(H)) if weight is None else np.asarray(weight, float)
    zero = np.zeros(len(H))
    h, y = (w / w.sum() if intercept else zero) @ H, (w / w.sum() if intercept else zero) @ Y
    root = np.sqrt(w)[:, None]
    W = np.linalg.lstsq(root * (H - h), root * (Y - y), rcond=1e-10)[0]
    return W, y - h @ W


def generalised_ridge(H, Y, alpha, P, *, intercept=True, weight=None):
    """Minimise Σ w (y - φW - b)² + α tr(WᵀPW) by its normal equations."""
    w = np.ones(len(H)) if weight is None else np.asarray(weight, float)
    G = np.column_stack([H, np.ones(len(H))]) if intercept else H
    penalty = np.zeros((G.shape[1], G.shape[1]))
    penalty[: len(P), : len(P)] = alpha * P
    W = np.linalg.solve(G.T @ (w[:, None] * G) + penalty, G.T @ (w[:, None] * Y))
    return (W[:-1], W[-1]) if intercept else (W, np.zeros(Y.shape[1]))


def hat_matrix(fit, H, weight=None):
    """The matrix that makes fitted values of targets: the fits to one unit target at a time."""
    W, b = fit(H, np.eye(len(H)), weight=weight)
    return H @ W + b


def gcv(fit, H, Y, weight=None, n=None):
    """N·RSS/(N - trace of the hat matrix)²."""
    w = np.ones(len(H)) if weight is None else np.asarray(weight, float)
    n, hat = n or len(H), hat_matrix(fit, H, weight)
    return n * (w @ (Y - hat @ Y) ** 2).sum() / (n - np.trace(hat)) ** 2


def leave_one_out(fit, H, Y, weight=None, left_out=None):
    """Residuals of models that were fitted again with (a part of) one row's weight left out."""
    w = np.ones(len(H)) if weight is None else np.asarray(weight, float)
    residuals = np.empty_like(Y, dtype=float)
    for i in range(len(H)):
        rest = w.copy()
        rest[i] -= w[i] if left_out is None else left_out[i]
        used = rest > 0
        W, b = fit(H[used], Y[used], weight=rest[used])
        residuals[i] = Y[i] - H[i] @ W - b
    return residuals


def kfold(fit, H, Y, fold, weight=None):
    """Mean squared error over folds, each predicted by a model of the others."""
    w = np.ones(len(H)) if weight is None else np.asarray(weight, float)
    total = 0.0
    for k in np.unique(fold):
        train, test = fold != k, fold == k
        W, b = fit(H[train], Y[train], weight=w[train])
        total += (w[test] @ (Y[test] - H[test] @ W - b) ** 2).sum()
    return total / w.sum()


def bordered_kernel_ridge(K, Y, alpha, weight=None):
    """Kernel ridge regression with a free intercept, as one bordered linear system."""
    n = len(K)
    w = np.ones(n) if weight is None else np.asarray(weight, float)
    border = np.ones((n, 1))
    A = np.block([[K + alpha * np.diag(1 / w), border], [border.T, np.zeros((1, 1))]])
    solution = np.linalg.solve(A, np.vstack([Y, np.zeros((1, Y.shape[1]))]))
    return solution[:-1], solution[-1]


def ridge_boosting(X, Y, projections, alpha, shrinkage, activation):
    """Levels of steps, literally: W = (HᵀH + λI)⁻¹Hᵀ(what the level has left of its target).

    ``projections[level][step]`` is R; returns the sum of the levels' outputs on the rows of X.
    """
    total = np.zeros_like(Y)
    for level in projections:
        target = Y - total
        output = np.zeros_like(Y)
        for R in level:
            H = activation(X @ R.T)
            residual = target - output
            W = np.linalg.inv(H.T @ H + alpha * np.eye(H.shape[1])) @ H.T @ residual
            output = output + shrinkage * H @ W
        total = total + output
    return total


def boosting_operator(X, projections, alpha, shrinkage, activation):
    """Π(I - ηS): what a sequence of steps leaves of any targets."""
    left = np.eye(len(X))
    for R in projections:
        H = activation(X @ R.T)
        S = H @ np.linalg.inv(H.T @ H + alpha * np.eye(H.shape[1])) @ H.T
        left = (np.eye(len(X)) - shrinkage * S) @ left
    return left


def normalised_row(x):
    """Square roots less their mean, divided by their length."""
    root = [math.copysign(math.sqrt(abs(v)), v) for v in x]
    mean = sum(root) / len(root)
    length = math.sqrt(sum((v - mean) ** 2 for v in root))
    return [(v - mean) / length for v in root]


# --- hidden units --------------------------------------------------------------------------------

ACTIVATIONS = {
    "tanh": math.tanh,
    "sigmoid": lambda a: 1 / (1 + math.exp(-a)),
    "erf": math.erf,
    "relu": lambda a: max(a, 0.0),
    "sign": lambda a: float((a > 0) - (a < 0)),
    "hardlim": lambda a: float(a >= 0),
    "sine": math.sin,
    "fourier": math.sin,
    "identity": lambda a: a,
}


def standardised(X, weight=None):
    """Columns of zero mean and unit variance, then divided by √D: rows of unit length (rms)."""
    w = np.ones(len(X)) if weight is None else np.asarray(weight, float)
    mean = np.average(X, axis=0, weights=w)
    std = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=w))
    return (X - mean) / std / math.sqrt(X.shape[1])
