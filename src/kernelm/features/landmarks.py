"""Which rows shall stand for all? Choosing landmarks from a sample of rows.

Every choice returns rows in an order whose beginnings are choices too (k-means excepted), so
that a path over the number of landmarks is nested.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import solve_triangular

from kernelm import _checks
from kernelm.kernels import Kernel


@final
@dataclass(frozen=True, eq=False)
class Landmarks:
    """Chosen rows, and what is known about the choice."""

    Z: Any  #: (n, D) rows
    indices: NDArray | None = None  #: their positions in the sample, where they are rows of it
    residual: NDArray | None = None  #: share of the trace of K left after each landmark


Choose = Callable[[Any, int, Kernel, Generator], Landmarks]


def uniform(X: Any, n: int, kernel: Kernel, rng: Generator) -> Landmarks:
    """Choose rows at random, all alike (the baseline of both papers)."""
    return _rows(X, rng.permutation(X.shape[0])[:n])


def kmeans(X: Any, n: int, kernel: Kernel, rng: Generator) -> Landmarks:
    """Choose the centres of clusters."""
    from sklearn.cluster import MiniBatchKMeans

    options: dict[str, Any] = {"init": "random", "n_init": 1, "max_iter": 20}
    clusters: Any = MiniBatchKMeans(
        n,
        batch_size=max(1024, 2 * n),
        random_state=int(rng.integers(2**31)),
        reassignment_ratio=0.0,
        **options,
    )
    centres = clusters.fit(X).cluster_centers_
    return Landmarks(centres.astype(X.dtype))


def leverage(X: Any, n: int, kernel: Kernel, rng: Generator) -> Landmarks:
    r"""Choose rows with probabilities proportional to approximate ridge leverage scores.

    .. math:: \ell_i = \bigl(K (K + \lambda I)^{-1}\bigr)_{ii}

    with K replaced by its Nyström approximation on uniform rows, and λ such that the scores add
    up to about half of the landmarks (Rudi et al., 2018; Musco and Musco, 2017).
    """
    pilot = X[rng.permutation(X.shape[0])[: max(1, min(n, X.shape[0]))]]
    K_zz = kernel.gram(pilot).astype(np.float64)
    values, U = np.linalg.eigh(K_zz)
    kept = values > len(K_zz) * np.finfo(np.float64).eps * values[-1]
    F = kernel.gram(X, pilot).astype(np.float64) @ (U[:, kept] / np.sqrt(values[kept]))
    spectrum, V = np.linalg.eigh(F.T @ F)
    spectrum = np.maximum(spectrum, 0)
    lam = _ridge_of_df(spectrum, n / 2)
    P = F @ V
    scores = (P * P) @ (1 / (spectrum + lam))
    scores += np.maximum(kernel.diag(X) - np.einsum("ij,ij->i", F, F), 0) / lam
    scores = np.minimum(scores, 1.0)
    # Exponential races: a weighted sample without replacement whose beginnings are samples too.
    race = rng.exponential(size=len(scores)) / np.maximum(scores, 1e-300)
    return _rows(X, np.argsort(race)[:n])


def rpcholesky(X: Any, n: int, kernel: Kernel, rng: Generator, *, tol: float = 1e-6) -> Landmarks:
    r"""Choose pivots of a randomly pivoted Cholesky factorisation of K, in blocks.

    The next pivot is drawn with probability proportional to the diagonal of the residual
    :math:`K - F F^\top`. Blocks of proposals are drawn at once and thinned by rejection, which
    gives the same distribution as one pivot at a time (Epperly, Tropp and Webber, 2024). It
    stops when the residual trace falls below ``tol`` times the trace.
    """
    N = X.shape[0]
    d = kernel.diag(X).astype(np.float64)
    total = d.sum()
    F = np.empty((N, n), dtype=X.dtype)
    pivots, residual = np.empty(0, np.intp), []
    block = max(1, min(128, -(-n // 8)))
    while len(pivots) < n and d.sum() > tol * total:
        k = len(pivots)
        proposals = rng.choice(N, size=block, p=d / d.sum())
        G_pp = kernel.gram(X[proposals]).astype(np.float64)
        old = F[proposals, :k].astype(np.float64)
        accepted, L = _thin(G_pp - old @ old.T, d[proposals], rng)
        accepted = accepted[: n - k]
        L = L[: len(accepted), : len(accepted)]
        new = proposals[accepted]
        G = kernel.gram(X, X[new])
        G -= F[:, :k] @ F[new, :k].T
        added = solve_triangular(L, G.T.astype(np.float64), lower=True).T
        F[:, k : k + len(new)] = added
        left = np.cumsum(added * added, axis=1)
        residual.extend(np.maximum(d.sum() - left.sum(axis=0), 0) / total)
        d = np.maximum(d - left[:, -1], 0)
        pivots = np.append(pivots, new)
        d[pivots] = 0
    return Landmarks(X[pivots], pivots, np.array(residual))


#: Choices by name.
CHOICES: dict[str, Choose] = {
    "uniform": uniform,
    "kmeans": kmeans,
    "leverage": leverage,
    "rpcholesky": rpcholesky,
}


def choose(
    X: Any, n: int, method: Any, kernel: Kernel, seed: int, groups: NDArray | None = None
) -> Landmarks:
    """Choose at most ``n`` landmarks among rows (already in the units of the kernel).

    Parameters
    ----------
    X : array or CSR matrix
        Candidates.
    n : int
        How many.
    method : str, array or callable
        A name in ``CHOICES``, the landmarks themselves, or a function
        ``(X, n, kernel, rng) -> rows``.
    kernel : Kernel
        Resolved kernel, for choices that look at it.
    seed : int
        Of the random choice.
    groups : ndarray, optional
        Labels; each gets its share of landmarks (at least one).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelm.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> choose(X, 10, "rpcholesky", Gaussian(), seed=0).Z.shape
    (10, 2)
    """
    rng = np.random.default_rng([seed, 3])
    n = min(n, X.shape[0])
    if isinstance(method, str):
        choice = CHOICES[_checks.one_of(method, "landmarks", CHOICES)]
        if groups is None:
            return choice(X, n, kernel, rng)
        return _stratified(X, n, choice, kernel, rng, groups)
    Z = method(X, n, kernel, rng) if callable(method) else method
    Z = _checks.rows(Z, "landmarks")
    _checks.same_columns(X, Z)
    return Landmarks(Z.astype(X.dtype))


def distinct(X: Any, weight: NDArray | None = None) -> NDArray:
    """Return positions of one row of each kind, among those with a weight.

    They come in an order of their contents, so that a seeded choice among them depends neither
    on the order of the rows nor on how often a row is repeated.
    """
    counts = range(X.shape[0]) if weight is None else np.flatnonzero(weight > 0)
    if sparse.issparse(X):
        X = X.tocsr()
        X.sort_indices()
        ends = X.indptr
        contents = {
            X.indices[ends[i] : ends[i + 1]].tobytes() + X.data[ends[i] : ends[i + 1]].tobytes(): i
            for i in counts
        }
    else:
        contents = {row.tobytes(): i for i, row in zip(counts, X[counts], strict=True)}
    return np.array([contents[key] for key in sorted(contents)], dtype=np.intp)


def _stratified(
    X: Any, n: int, choice: Choose, kernel: Kernel, rng: Generator, groups: NDArray
) -> Landmarks:
    labels, index, counts = np.unique(groups, return_inverse=True, return_counts=True)
    shares = np.maximum(1, np.round(n * counts / counts.sum())).astype(int)
    parts = [
        choice(X[index == g], min(int(shares[g]), int(counts[g])), kernel, rng).Z
        for g in range(len(labels))
    ]
    Z: Any = sparse.vstack(parts, format="csr") if sparse.issparse(X) else np.concatenate(parts)
    # Mixed, so that beginnings are stratified too.
    return Landmarks(Z[rng.permutation(Z.shape[0])])


def _thin(H: NDArray, d: NDArray, rng: Generator) -> tuple[NDArray, NDArray]:
    """Accept proposals one by one with the probability that their residual still has.

    Returns the accepted positions and the Cholesky factor of their residual matrix.
    """
    b = len(H)
    L = np.zeros((b, b))
    accepted: list[int] = []
    u = rng.random(b) * d
    left = np.diag(H).copy()
    for i in range(b):
        if not u[i] < left[i] or left[i] <= 1e-12 * d[i]:
            continue
        k = len(accepted)
        column = (H[:, i] - L[:, :k] @ L[i, :k]) / np.sqrt(left[i])
        L[:, k] = column
        left = left - column**2
        accepted.append(i)
    rows = np.array(accepted, dtype=np.intp)
    return rows, L[rows][:, : len(rows)]


def _ridge_of_df(spectrum: NDArray, df: float) -> float:
    """Return λ with Σ s/(s + λ) = df, by bisection on a log scale."""
    low, high = np.log(max(spectrum[-1], 1e-300)) - 40, np.log(max(spectrum.sum(), 1e-300)) + 5
    for _ in range(60):
        middle = (low + high) / 2
        if np.sum(spectrum / (spectrum + np.exp(middle))) > df:
            low = middle
        else:
            high = middle
    return float(np.exp(high))


def _rows(X: Any, indices: NDArray) -> Landmarks:
    return Landmarks(X[indices], indices)
