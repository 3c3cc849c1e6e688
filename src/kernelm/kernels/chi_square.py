"""Chi-square kernels, for counts and histograms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from kernelm import _checks
from kernelm.kernels._blocks import row_sums
from kernelm.kernels.base import Kernel, Rows
from kernelm.kernels.domain import Domain


class _ChiSquareFamily(Kernel):
    """A function of the chi-square distance of non-negative rows, 1 at distance 0."""

    def _diag(self, X: Rows) -> NDArray:
        return np.ones(X.shape[0], X.dtype)

    @property
    def has_constant_diag(self) -> bool:
        """Always true."""
        return True

    @property
    def _domain(self) -> Domain:
        return Domain(non_negative=True)


@final
@dataclass(frozen=True)
class ChiSquare(_ChiSquareFamily):
    r"""Exponential chi-square kernel.

    .. math:: k(x, z) = \exp\left(-\gamma \sum_i \frac{(x_i - z_i)^2}{x_i + z_i}\right)

    Examples
    --------
    >>> ChiSquare(gamma=0.5).gram([[1.0, 0.0]], [[0.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        _checks.positive(self.gamma, "gamma")

    def _gram(self, X: Rows, Z: Rows | None) -> NDArray:
        K = chi_square_distances(X, Z)
        K *= -float(self.gamma)
        return np.exp(K, out=K)


@final
@dataclass(frozen=True)
class AdditiveChiSquare(_ChiSquareFamily):
    r"""Additive chi-square kernel.

    .. math:: k(x, z) = 1 - \sum_i \frac{(x_i - z_i)^2}{\tfrac12 (x_i + z_i)}

    Only *conditionally* positive definite (on coefficients that sum to zero): its Gram matrix
    can have one negative eigenvalue, so :attr:`is_psd` is false. :class:`ChiSquare`, its
    exponential, is positive definite.

    Examples
    --------
    >>> AdditiveChiSquare().gram([[1.0, 0.0]], [[1.0, 1.0]])
    array([[-1.]])
    """

    def _gram(self, X: Rows, Z: Rows | None) -> NDArray:
        K = chi_square_distances(X, Z)
        K *= -2
        K += 1
        return K

    @property
    def is_psd(self) -> bool:
        """Always false: positive definite on coefficients that sum to zero only."""
        return False


def chi_square_distances(X: Any, Z: Any | None = None) -> NDArray:
    """Return the sum of ``(x - z)² / (x + z)`` for all pairs of rows.

    Examples
    --------
    >>> import numpy as np
    >>> chi_square_distances(np.array([[1.0, 3.0]]), np.array([[3.0, 0.0]]))
    array([[4.]])
    """
    from kernelm.kernels import _chi_square_loops as loops

    other = X if Z is None else Z
    K = np.empty((X.shape[0], other.shape[0]), X.dtype)
    if not (issparse(X) or issparse(other)):
        loops.dense(X, other, K)
        return K
    X, other = _csr(X), _csr(other)
    loops.csr(
        X.data, X.indices, X.indptr, other.data, other.indices, other.indptr,
        X.shape[1], row_sums(X), row_sums(other), K,
    )  # fmt: skip
    if Z is None:
        np.fill_diagonal(K, 0)
    return K


def _csr(X: Any) -> Any:
    """Return CSR rows without duplicate entries, leaving the caller's matrix as it is."""
    X = csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X
