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

from kernelm import _checks
from kernelm._lapack import trsm
from kernelm.kernels import Kernel

_WIDE = 256  # columns from which on a compiled loop pays for its import


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

    with K replaced by its Nyström approximation on uniform rows plus the diagonal that it
    misses, and λ such that the scores add up to half of the landmarks (Rudi et al., 2018;
    Musco and Musco, 2017).
    """
    pilot = X[rng.permutation(X.shape[0])[: max(1, min(n, X.shape[0]))]]
    K_zz = kernel.gram(pilot)
    eps = float(np.finfo(K_zz.dtype).eps)
    values, U = np.linalg.eigh(K_zz.astype(np.float64))
    kept = values > len(K_zz) * eps * max(values[-1], 0)
    if not kept.any():
        return uniform(X, n, kernel, rng)
    F = kernel.gram(X, pilot).astype(np.float64) @ (U[:, kept] / np.sqrt(values[kept]))
    spectrum, V = np.linalg.eigh(F.T @ F)
    spectrum = np.maximum(spectrum, 0)
    missed = np.maximum(kernel.diag(X) - np.einsum("ij,ij->i", F, F), 0)
    # A kernel of low rank has no λ for so many scores: below its rounding they are noise.
    lam = max(_ridge_of_df(spectrum, missed.sum(), n / 2), eps * spectrum.sum())
    P = F @ V
    scores = np.minimum((P * P) @ (1 / (spectrum + lam)) + missed / lam, 1.0)
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
    d = np.maximum(kernel.diag(X).astype(np.float64), 0)
    total = d.sum()
    F = np.empty((N, n), dtype=X.dtype)
    pivots, residual = np.empty(0, np.intp), []
    block = max(1, min(128, -(-n // 8)))
    while len(pivots) < n and d.sum() > tol * total:
        k = len(pivots)
        proposals = rng.choice(N, size=block, p=d / d.sum())
        G_pp = kernel.gram(X[proposals]).astype(np.float64)
        old = F[proposals, :k].astype(np.float64)
        H = G_pp - old @ old.T
        accepted, L = _thin(H, d[proposals], rng)
        if not len(accepted):  # what the diagonal promises was rounding: believe H
            d[proposals] = np.clip(np.diagonal(H), 0, d[proposals])
            continue
        accepted = accepted[: n - k]
        L = L[: len(accepted), : len(accepted)]
        new = proposals[accepted]
        G = kernel.gram(X, X[new])
        G -= F[:, :k] @ F[new, :k].T
        added = G.T.astype(np.float64, order="F")
        trsm(np.asfortranarray(L.T), added, transposed=True)
        added = added.T
        F[:, k : k + len(new)] = added
        left = np.cumsum(added * added, axis=1)
        residual.extend(np.maximum(d.sum() - left.sum(axis=0), 0) / total)
        d = np.maximum(d - left[:, -1], 0)
        pivots = np.append(pivots, new)
        d[pivots] = 0
    if not len(pivots):  # k(x, x) = 0 for every row: they are all alike
        return uniform(X, 1, kernel, rng)
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
        Labels (a row of them for several outputs); each gets its share of landmarks, and at
        least one if there are enough.

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
    if isinstance(Z, Landmarks):
        return Z
    Z = _checks.rows(Z, "landmarks")
    _checks.same_columns(X, Z)
    _checks.usable_landmarks(Z)
    return Landmarks(Z.astype(X.dtype))


def distinct(X: Any, weight: NDArray | None = None) -> NDArray:
    """Return positions of one row of each kind, among those with a weight.

    They come in an order of their contents, so that a seeded choice among them depends neither
    on the order of the rows, nor on how often a row is repeated, nor on dense or sparse storage.
    """
    counts = np.arange(X.shape[0]) if weight is None else np.flatnonzero(weight > 0)
    keys = np.concatenate([digests(X[counts[rows]]) for rows in _slices(len(counts), 1024)])
    # Single precision decides the order, so that float32 rows come in that of float64.
    _, first = np.unique(keys, axis=0, return_index=True)
    return counts[first]


def digests(X: Any) -> NDArray:
    """Return two numbers of 64 bits that stand for the contents of each row, (n, 2).

    Sums over the entries that are not zero of a hash of column and value: the first of values
    in single precision, the second as they are.
    """
    if not sparse.issparse(X) and X.shape[1] >= _WIDE:
        return _dense_digests(X)
    R: Any = sparse.csr_array(X)
    R.sum_duplicates()
    R.eliminate_zeros()
    column = _mixed(R.indices.astype(np.uint64))
    digests = np.zeros((R.shape[0], 2), np.uint64)
    for k, values in enumerate(_precisions(R.data)):
        sums = np.concatenate([[np.uint64(0)], np.cumsum(_mixed(values.view(np.uint64) ^ column))])
        digests[:, k] = sums[R.indptr[1:]] - sums[R.indptr[:-1]]
    return digests


def _dense_digests(X: NDArray) -> NDArray:
    """Return the same for wide rows, without lists of their columns."""
    from kernelm.features._digest_loops import summed_hashes

    column = _mixed(np.arange(X.shape[1], dtype=np.uint64))
    digests = np.empty((2, X.shape[0]), np.uint64)
    single, double = _precisions(np.ascontiguousarray(X))
    for values, out in zip((single, double), digests, strict=True):
        summed_hashes(double, values.view(np.uint64), column, out)
    return digests.T


def _precisions(values: NDArray) -> tuple[NDArray, NDArray]:
    """Return values as single precision has them, and as they are, both in double."""
    double = values.astype(np.float64)
    with np.errstate(over="ignore", under="ignore"):
        return double.astype(np.float32).astype(np.float64), double


def _mixed(x: NDArray) -> NDArray:
    """Return 64 bits that depend on all bits of x (the finaliser of SplitMix64)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _slices(n: int, size: int) -> list[slice]:
    return [slice(i, i + size) for i in range(0, max(n, 1), size)]


def _stratified(
    X: Any, n: int, choice: Choose, kernel: Kernel, rng: Generator, groups: NDArray
) -> Landmarks:
    axis = 0 if groups.ndim > 1 else None
    _, index, counts = np.unique(groups, axis=axis, return_inverse=True, return_counts=True)
    shares, index = _shares(n, counts), index.ravel()
    parts = [choice(X[index == g], k, kernel, rng).Z for g, k in enumerate(shares.tolist())]
    Z: Any = sparse.vstack(parts, format="csr") if sparse.issparse(X) else np.concatenate(parts)
    # Mixed, so that beginnings are stratified too.
    return Landmarks(Z[rng.permutation(Z.shape[0])[:n]])


def _shares(n: int, counts: NDArray) -> NDArray:
    """Divide n in proportion to counts, at least one each (so more than n of very many)."""
    quota = n * counts / counts.sum()
    shares = np.maximum(1, quota.astype(int))
    while shares.sum() < n:
        shares[np.argmax(quota - shares)] += 1
    while shares.sum() > max(n, len(counts)):
        shares[np.argmax(np.where(shares > 1, shares - quota, -np.inf))] -= 1
    return shares


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


def _ridge_of_df(spectrum: NDArray, missed: float, df: float) -> float:
    """Return λ with Σ s/(s + λ) + missed/λ = df, by bisection on a log scale."""
    top, total = max(spectrum[-1], 1e-300), max(spectrum.sum() + missed, 1e-300)
    low, high = np.log(top) - 40, np.log(total) + 5
    for _ in range(60):
        middle = (low + high) / 2
        lam = np.exp(middle)
        if np.sum(spectrum / (spectrum + lam)) + missed / lam > df:
            low = middle
        else:
            high = middle
    return float(np.exp(high))


def _rows(X: Any, indices: NDArray) -> Landmarks:
    return Landmarks(X[indices], indices)
