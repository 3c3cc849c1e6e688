r"""How much of each kernel? Weights on the simplex, with labels or without.

*Without labels*: a row should be rebuilt from its neighbours, weighed by the kernel, and far
neighbours should weigh little. For kernels :math:`k_t`, neighbours :math:`j \in N_i` of each
row, and a factor :math:`d` that is one, or one over the number of neighbours,

.. math::
   \min_\mu\; \tfrac12 \sum_i \Bigl\lVert x_i - \sum_t \mu_t u_i^t \Bigr\rVert^2
   + \gamma \sum_t \mu_t v_t, \qquad
   u_i^t = d \sum_{j \in N_i} k_t(x_i, x_j)\, x_j, \quad
   v_t = d \sum_i \sum_{j \in N_i} k_t(x_i, x_j) \lVert x_i - x_j \rVert^2 .

With :math:`d = 1`, as printed, B similar neighbours add up to about B times the row, and the
kernel with the smallest values wins whatever the rows are; their mean is what can rebuild a row.
It is a quadratic programme in as many variables as there are kernels, with the sums
:math:`A_{st} = \sum_i u_i^s \cdot u_i^t` and :math:`p_t = \sum_i x_i \cdot u_i^t` over rows: only
kernel values between neighbours are needed, never a matrix of all rows.

*With labels*: centred kernels :math:`K_t^c` that are most alike to the labels,

.. math:: \min_{\mu \ge 0}\; \mu^\top M \mu - 2 a^\top \mu, \qquad
   M_{st} = \langle K_s^c, K_t^c \rangle, \quad a_t = \langle K_t^c, Y Y^\top \rangle .

References
----------
Zhuang, Wang, Hoi and Lan (2011), Unsupervised multiple kernel learning. Cortes, Mohri and
Rostamizadeh (2012), Algorithms for learning kernels based on centered alignment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import nnls

from kernelm.data import ArraySource, Rows, reduce, stream
from kernelm.kernels import Kernel
from kernelm.kernels._blocks import row_dots, row_sq_norms
from kernelm.margin.simplex import maximise

_PAIRS = 2**16  # pairs of rows that are looked at a time
_ENTRIES = 2**23  # of gathered rows at a time


@final
class Programme(NamedTuple):
    """½ μᵀAμ − (p − γv)ᵀμ + ½‖X‖², from sums over rows."""

    A: NDArray  #: (m, m)
    p: NDArray  #: (m,)
    v: NDArray  #: (m,)
    xx: float  #: Σ ‖x‖²

    def plus(self, other: Self) -> Self:
        """Return the sums over both sets of rows."""
        A, p, v = self.A + other.A, self.p + other.p, self.v + other.v
        return type(self)(A, p, v, self.xx + other.xx)

    def scaled(self, d: float) -> Self:
        """Return the sums with d times the kernel values."""
        return self._replace(A=d * d * self.A, p=d * self.p, v=d * self.v)

    def value(self, mu: NDArray, gamma: float) -> float:
        """Return the objective."""
        return float(0.5 * mu @ self.A @ mu - (self.p - gamma * self.v) @ mu + 0.5 * self.xx)

    def slope(self, mu: NDArray, gamma: float) -> NDArray:
        """Return the gradient: one number where μ > 0 at the optimum, and larger elsewhere."""
        return self.A @ mu - self.p + gamma * self.v

    def solve(self, gamma: float) -> NDArray:
        """Return the best weights on the simplex."""
        m = len(self.p)
        scale = float(np.abs(self.A).max() + np.abs(self.p - gamma * self.v).max()) or 1.0
        g = (self.p - gamma * self.v) / scale
        # A little ridge, so that kernels that are equal share their weight.
        A = self.A / scale
        A[np.diag_indices(m)] += 1e-12 * (float(np.diagonal(A).max()) or 1.0)
        mu = maximise(0.5 * A, g, np.ones(m, bool)).alpha
        return np.maximum(mu, 0) / np.maximum(mu, 0).sum()


def programme(
    X: Any, index: NDArray, kernels: Sequence[Kernel], *, n_jobs: int | None = None
) -> Programme:
    """Return the sums over rows with the neighbours ``index`` (N, B); −1 is no neighbour."""

    def part(rows: Rows) -> Programme:
        at = index[rows.start : rows.start + rows.n]
        values = neighbour_values(rows.X, X, at, kernels)
        square = _squares(rows.X, X, at)
        U = [_combined(k, at, X) for k in values]
        A = np.array([[_inner(s, t) for t in U] for s in U])
        p = np.array([_inner(u, rows.X) for u in U])
        v = np.array([np.sum(k * square, dtype=np.float64) for k in values])
        return Programme(A, p, v, float(row_sq_norms(rows.X).sum(dtype=np.float64)))

    B, D = max(index.shape[1], 1), X.shape[1] if not sparse.issparse(X) else 64
    rows = max(1, min(_PAIRS // B, _ENTRIES // (B * D)))
    total = reduce(ArraySource(X), part, Programme.plus, rows=rows, n_jobs=n_jobs)
    assert total is not None
    return total


def neighbour_values(rows: Any, X: Any, index: NDArray, kernels: Sequence[Kernel]) -> list[NDArray]:
    """Return each kernel between rows and their neighbours, (n, B); zero where there is none."""
    n, B = index.shape
    left, right = rows[np.repeat(np.arange(n), B)], X[np.maximum(index, 0).ravel()]
    return [k.pairs(left, right).reshape(n, B) * (index >= 0) for k in kernels]


def repicked(
    X: Any,
    index: NDArray,
    pool: NDArray,
    kernel: Kernel,
    gamma: float,
    *,
    d: float = 1.0,
    n_jobs: int | None = None,
) -> NDArray:
    r"""Choose the neighbours of each row anew from a pool, greedily, for a given kernel.

    The next one lowers :math:`\tfrac12\lVert r\rVert^2 + \gamma k v` most, where r is what is left
    of the row; a choice that is no better than the present one is not taken.
    """

    def part(rows: Rows) -> NDArray:
        here = slice(rows.start, rows.start + rows.n)
        return _pick(rows.X, X, index[here], pool[here], d * kernel, gamma)

    M, D = max(pool.shape[1], 1), X.shape[1] if not sparse.issparse(X) else 64
    rows = max(1, min(_PAIRS // M, _ENTRIES // (M * (M + D))))
    return np.concatenate(list(stream(ArraySource(X), part, rows=rows, n_jobs=n_jobs)))


def alignment(grams: Sequence[NDArray], Y: NDArray) -> NDArray:
    """Return weights that align the sum of kernel matrices with target columns, on the simplex."""
    centred = [K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean() for K in grams]
    Y = Y - Y.mean(axis=0)
    M = np.array([[np.vdot(s, t) for t in centred] for s in centred])
    a = np.array([np.vdot(Y, K @ Y) for K in centred])
    values, V = np.linalg.eigh(M)
    kept = values > len(a) * np.finfo(float).eps * max(values[-1], 0)
    if not kept.any() or not np.any(a > 0):
        return np.full(len(a), 1 / len(a))
    # μᵀMμ − 2aᵀμ = ‖Rμ − R⁻ᵀa‖² + …, R = Λ^½ Vᵀ; a little ridge makes equal kernels share.
    R = np.sqrt(values[kept])[:, None] * V[:, kept].T
    target = (V[:, kept].T @ a) / np.sqrt(values[kept])
    tie = np.sqrt(1e-12 * values[-1])
    mu, _ = nnls(np.vstack([R, tie * np.eye(len(a))]), np.concatenate([target, np.zeros(len(a))]))
    return mu / mu.sum() if mu.sum() > 0 else np.full(len(a), 1 / len(a))


def mixture(kernels: Sequence[Kernel], weights: NDArray) -> Kernel:
    """Return the weighted sum; kernels without weight are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelm.kernels import Gaussian, Linear
    >>> mixture([Gaussian(), Linear()], np.array([0.25, 0.75]))
    0.25 * Gaussian(scale=1.0) + 0.75 * Linear(offset=0.0)
    """
    terms = [
        kernel if weight == 1 else float(weight) * kernel
        for kernel, weight in zip(kernels, weights.tolist(), strict=True)
        if weight > 0
    ]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _squares(rows: Any, X: Any, index: NDArray) -> NDArray:
    """Return squared distances to the neighbours."""
    n, B = index.shape
    G = rows[np.repeat(np.arange(n), B)] - X[np.maximum(index, 0).ravel()]
    G = sparse.csr_array(G) if sparse.issparse(G) else np.asarray(G)
    return row_sq_norms(G).reshape(n, B)


def _combined(values: NDArray, index: NDArray, X: Any) -> Any:
    """Return Σ_j k_ij x_j for each row, dense or CSR like X."""
    n, B = index.shape
    at = (values.ravel(), np.maximum(index, 0).ravel(), B * np.arange(n + 1))
    return sparse.csr_array(at, shape=(n, X.shape[0])) @ X


def _inner(S: Any, T: Any) -> float:
    return float(row_dots(S, T).sum(dtype=np.float64))


def _pick(
    rows: Any, X: Any, index: NDArray, pool: NDArray, kernel: Kernel, gamma: float
) -> NDArray:
    (k,), square = neighbour_values(rows, X, pool, [kernel]), _squares(rows, X, pool)
    n, M = pool.shape
    C = X[pool.ravel()]
    C = (C.toarray() if sparse.issparse(C) else C).reshape(n, M, X.shape[1]).astype(np.float64)
    R = (rows.toarray() if sparse.issparse(rows) else rows).astype(np.float64)
    C *= k[:, :, None]  # what each candidate would add
    G = C @ C.transpose(0, 2, 1)
    toward = np.einsum("nmd,nd->nm", C, R)  # c·r, kept up to date as r shrinks
    cost = 0.5 * np.einsum("nmm->nm", G) + gamma * k * square
    every = np.arange(n)
    chosen = np.empty(index.shape, np.intp)
    free = np.zeros((n, M))
    for step in range(index.shape[1]):
        best = np.argmin(cost - toward + free, axis=1)
        chosen[:, step] = best
        free[every, best] = np.inf
        toward -= G[every, :, best]
    picked = np.take_along_axis(pool, chosen, axis=1)
    present = (index[:, :, None] == pool[:, None, :]).argmax(axis=2)
    args = G, np.einsum("nmd,nd->nm", C, R), gamma * k * square
    better = _cost(chosen, *args) < _cost(present, *args) - 1e-12 * np.abs(_cost(present, *args))
    return np.where(better[:, None], picked, index)


def _cost(at: NDArray, G: NDArray, toward: NDArray, far: NDArray) -> NDArray:
    """Return ½‖Σc‖² − r·Σc + γΣkv of the candidates at some places, row by row."""
    rows = np.arange(len(at))[:, None]
    own = G[rows[:, :, None], at[:, :, None], at[:, None, :]].sum(axis=(1, 2))
    return 0.5 * own + (far[rows, at] - toward[rows, at]).sum(axis=1)
