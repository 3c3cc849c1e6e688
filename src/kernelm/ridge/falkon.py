r"""Kernel ridge regression on many landmarks, by passes over the rows instead of a Gram matrix.

.. math:: \min_{W, b} \sum_i w_i \lVert y_i - k(x_i, Z) W - b \rVert^2
   + \alpha\, \mathrm{tr}(W^\top K_{ZZ} W)

With n landmarks the sums :math:`K^\top D K` cost :math:`N n^2`, the product
:math:`K^\top D (K V)` only :math:`N n` for each column of V. Conjugate gradients need nothing
else, and few of them if the problem is first brought close to the identity. Landmarks that are
a sample of the rows have :math:`K^\top D K \approx (\omega/n) K_{ZZ}^2` with
:math:`\omega = \sum w`, hence with two triangles

.. math:: T^\top T = K_{ZZ}, \qquad A^\top A = \tfrac{\omega}{n} T T^\top + \alpha I, \qquad
   W = T^{-1} A^{-1} \beta

the matrix of the normal equations becomes, in the unknown :math:`\beta`,

.. math:: A^{-\top} \bigl( T^{-\top} (K^\top D K - \omega \mu \mu^\top)\, T^{-1} + \alpha I \bigr)
   A^{-1} \approx I .

The subtracted mean column :math:`\mu = \sum w\, k(x) / \omega` is the unpenalised intercept:
:math:`b = \bar y - \mu W`.

References
----------
Rudi, Carratino, Rosasco (2017). FALKON: an optimal large scale kernel method. NeurIPS 30,
section 3 (eq. 13 for the preconditioner).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kernelm import _checks
from kernelm.ridge.factor import Weights
from kernelm.ridge.spectrum import EPS
from kernelm.ridge.triangles import factor_in_place, fortran, inner_factor, solve_upper

_ROUNDING = 64  # rounding errors of a sum over rows, in units of eps


@final
@dataclass(frozen=True, eq=False)
class CrossSums:
    """What the first pass over the rows adds up; blocks of rows are joined by ``+``.

    Attributes
    ----------
    weight : float
        Sum of the weights, ω.
    phi, y : ndarray of shape (n,), (C,)
        Weighted sums of the kernel columns k(x, Z) and of the targets.
    cross : ndarray of shape (n, C)
        Kᵀ D Y.

    Examples
    --------
    >>> import numpy as np
    >>> K, Y = np.array([[1.0, 0.5], [0.5, 1.0], [0.2, 0.4]]), np.array([[1.0], [2.0], [3.0]])
    >>> sums = CrossSums.of(K[:2], Y[:2]) + CrossSums.of(K[2:], Y[2:])
    >>> sums.weight, sums.cross.ravel().round(2).tolist()
    (3.0, [2.6, 3.7])
    """

    weight: float
    phi: NDArray
    y: NDArray
    cross: NDArray

    @classmethod
    def of(cls, Phi: NDArray, Y: NDArray, weight: NDArray | None = None) -> Self:
        """Return the sums of one block of kernel columns, targets (rows, C) and weights."""
        w = np.ones(len(Phi)) if weight is None else np.asarray(weight, np.float64)
        D = np.column_stack([w, w[:, None] * Y])
        both = Phi.T @ D  # float64, also for float32 columns
        return cls(float(w.sum()), both[:, 0], D[:, 1:].sum(axis=0), both[:, 1:])

    def __add__(self, other: Self) -> Self:
        _checks.same_shape(other.cross, self.cross, "the second set of sums")
        return replace(
            self,
            weight=self.weight + other.weight,
            phi=self.phi + other.phi,
            y=self.y + other.y,
            cross=self.cross + other.cross,
        )


@final
@dataclass(frozen=True, eq=False)
class Preconditioner:
    """Two triangles that bring kernel ridge regression on landmarks close to the identity.

    Factors may be stored in float32 (two n×n arrays: 0.54 GB for n = 8192); solves run in the
    precision of the right-hand side, so that both halves of a step use the very same triangle.

    Attributes
    ----------
    T, A : ndarray of shape (n, n)
        Upper triangles; what is below their diagonals has no meaning.
    alpha, weight : float
        Ridge strength and sum of the weights ω of the rows to come.
    jitter : float
        Added to the diagonal of K_ZZ, in the penalty too: TᵀT = K_ZZ + jitter·I.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelm.kernels import Gaussian
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> Z = X[::20]
    >>> pre = Preconditioner.of(Gaussian().gram(Z, Z), alpha=0.1, weight=200)
    >>> hats = pre.leverage(Gaussian().gram(X, Z))
    >>> print(f"{hats.sum():.1f} degrees of freedom")
    4.6 degrees of freedom
    """

    T: NDArray
    A: NDArray
    alpha: float
    weight: float
    jitter: float

    @classmethod
    def of(
        cls,
        K_zz: NDArray,
        alpha: float,
        weight: float,
        *,
        dtype: DTypeLike = np.float64,
        precision: float = 0.0,
        overwrite: bool = False,
    ) -> Self:
        """Factor the kernel matrix of the landmarks.

        Parameters
        ----------
        K_zz : ndarray of shape (n, n)
            Symmetric and, but for rounding, positive semidefinite.
        alpha : float
            Ridge strength, at least 0.
        weight : float
            Sum of the weights of all rows (their number without weights).
        dtype : float64 or float32
            Precision in which both factors are computed and stored.
        precision : float
            Relative rounding of the kernel columns in the passes, if coarser than ``dtype``:
            ``np.finfo(np.float32).eps`` for float32 blocks. Directions of K_ZZ below the
            rounding of the columns hold noise only, and the jitter must cover it.
        overwrite : bool
            Build T in the memory of K_zz if it has the right dtype and is contiguous.

        Raises
        ------
        ValueError
            If K_zz is not finite or clearly indefinite.
        """
        _checks.non_negative(alpha, "alpha")
        _checks.positive(weight, "weight")
        dtype = np.dtype(_checks.one_of(np.dtype(dtype).name, "dtype", ["float64", "float32"]))
        T = fortran(K_zz, dtype, overwrite=overwrite)
        # A jitter of c·eps·trace leaves noise of about 1/c of the signal in whitened sums: in
        # float64 there is room for it, in float32 the many rows have to average it away.
        rounding = max(float(np.finfo(dtype).eps), precision, _ROUNDING * EPS)
        jitter = factor_in_place(T, rounding)
        A = inner_factor(T, float(alpha), float(weight))
        return cls(T, A, float(alpha), float(weight), jitter)

    def at(self, alpha: float) -> Self:
        """Return the preconditioner for another alpha; it shares T, the larger half of the work."""
        _checks.non_negative(alpha, "alpha")
        return replace(self, A=inner_factor(self.T, float(alpha), self.weight), alpha=float(alpha))

    def whiten(self, B: NDArray) -> NDArray:
        """Return A⁻ᵀ T⁻ᵀ B: a residual in the coordinates in which the problem is the identity."""
        return solve_upper(self.A, solve_upper(self.T, B, transposed=True), transposed=True)

    def solve(self, B: NDArray) -> NDArray:
        """Return T⁻¹ A⁻¹ A⁻ᵀ T⁻ᵀ B: the weights that the landmarks alone would suggest."""
        return solve_upper(self.T, solve_upper(self.A, self.whiten(B)))

    def leverage(self, Phi: NDArray) -> NDArray:
        r"""Return approximate hat values of rows of weight one from their kernel columns.

        .. math:: h(x) \approx k(x, Z) \bigl( \tfrac{\omega}{n} K_{ZZ}^2 + \alpha K_{ZZ}
           \bigr)^{-1} k(Z, x)

        The share of an intercept is in it as far as a constant is in the span of the columns.
        Computed in the precision of Phi; float32 columns want the jitter of float32.

        Good while n is several times the degrees of freedom. Rows far from every landmark may
        come out above 1, which no hat value is: divide by 1 - h / (1 + h) to leave one out.
        """
        return np.square(self.whiten(Phi.T)).sum(axis=0)


@final
@dataclass(frozen=True, eq=False)
class FalkonResult:
    """Weights after the last complete iteration, and how far they got.

    Attributes
    ----------
    weights : Weights
        ``coef`` (n, C) and ``intercept`` (C,).
    residuals : list of float
        The largest relative preconditioned residual of all outputs, after 0, 1, 2, … iterations.
    iterations : int
        Number of iterations, which is the number of passes after the first.
    converged : bool
        Whether every output came below ``tol``.
    interrupted : bool
        Whether a KeyboardInterrupt ended it.
    """

    weights: Weights
    residuals: list[float]
    iterations: int
    converged: bool
    interrupted: bool = False

    @property
    def residual(self) -> float:
        """The last residual."""
        return self.residuals[-1]

    @property
    def advice(self) -> str:
        """What happened and what to change; empty if it converged."""
        if self.converged:
            return ""
        why = "was interrupted" if self.interrupted else "did not converge"
        return (
            f"conjugate gradients {why} after {self.iterations} iterations at a relative residual "
            f"of {self.residual:.2g}; allow more iterations, use a larger alpha, or landmarks "
            f"drawn from the rows"
        )


def falkon(
    apply: Callable[[NDArray], NDArray],
    sums: CrossSums,
    preconditioner: Preconditioner,
    *,
    intercept: bool = True,
    iterations: int = 30,
    tol: float = 1e-4,
    callback: Callable[[int, float], Any] | None = None,
) -> FalkonResult:
    """Fit kernel ridge regression on landmarks by preconditioned conjugate gradients.

    All outputs share the passes; each has its own step sizes, and rests once it has converged.
    A KeyboardInterrupt during a pass (or from the callback) is not raised again: the weights of
    the last complete iteration are returned with ``converged=False, interrupted=True``.

    Parameters
    ----------
    apply : callable
        ``apply(V)`` makes one pass: the sum over blocks of K_bᵀ (w_b ∘ (K_b V)), in float64.
    sums : CrossSums
        Of the same rows, from one pass before.
    preconditioner : Preconditioner
        Of the landmarks; it knows alpha.
    intercept : bool
        Whether to fit an unpenalised intercept.
    iterations : int
        At most so many passes.
    tol : float
        Stop when the preconditioned residual of every output is below this share of its start.
        It is the residual of the recurrence: no extra pass verifies it.
    callback : callable, optional
        Called as ``callback(iteration, residual)`` after every iteration.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelm.kernels import Gaussian
    >>> X = np.linspace(-3, 3, 1000)[:, None]
    >>> Y, Z = np.sin(X), X[::50]
    >>> k = Gaussian()
    >>> blocks = np.array_split(X, 4)
    >>> def apply(V):
    ...     return sum(k.gram(Z, b) @ (k.gram(b, Z) @ V) for b in blocks)
    >>> pre = Preconditioner.of(k.gram(Z, Z), alpha=1e-3, weight=1000)
    >>> fit = falkon(apply, CrossSums.of(k.gram(X, Z), Y), pre)
    >>> W, b = fit.weights
    >>> print(f"{fit.converged} {(k.gram([[0.5]], Z) @ W + b).item():.3f}")
    True 0.479
    """
    _checks.integer(iterations, "iterations")
    _checks.positive(tol, "tol")
    mean, y_mean = _means(sums, intercept)
    matrix = _matrix(apply, preconditioner, mean, sums.weight)
    B = _right_hand_side(sums, mean, y_mean)
    # Squares of targets of any unit neither overflow nor vanish.
    unit = _units(B)
    R = preconditioner.whiten(B / unit)
    P, W = R, np.zeros_like(R)
    square = start = _squares(R)
    residuals, interrupted = [_worst(square, start)], False
    try:
        while len(residuals) <= iterations and residuals[-1] > tol:
            V, Q = matrix(P)
            active = square > tol**2 * start
            step = _ratio(square, _dots(P, Q), active)
            if not step.any():  # rounding has left no direction of descent
                break
            R = R - step * Q
            before, square = square, _squares(R)
            P = R + _ratio(square, before, active) * P
            # The step is taken with the weights that the pass has seen.
            W = W + step * V
            residuals.append(_worst(square, start))
            if callback is not None:
                callback(len(residuals) - 1, residuals[-1])
    except KeyboardInterrupt:
        interrupted = True
    W = unit * W
    return FalkonResult(
        weights=Weights(W, y_mean - mean @ W),
        residuals=residuals,
        iterations=len(residuals) - 1,
        converged=residuals[-1] <= tol,
        interrupted=interrupted,
    )


def _matrix(
    apply: Callable[[NDArray], NDArray], pre: Preconditioner, mean: NDArray, weight: float
) -> Callable[[NDArray], tuple[NDArray, NDArray]]:
    """Return β ↦ the weights V of β, and the preconditioned normal matrix times β."""

    def matrix(beta: NDArray) -> tuple[NDArray, NDArray]:
        U = solve_upper(pre.A, beta)
        V = solve_upper(pre.T, U)
        S = np.asarray(apply(V), np.float64)
        _checks.same_shape(S, V, "what apply(V) returns")
        _checks.finite_sums(S)
        S = S - weight * np.outer(mean, mean @ V)
        S = solve_upper(pre.T, S, transposed=True)
        return V, solve_upper(pre.A, S + pre.alpha * U, transposed=True)

    return matrix


def _means(sums: CrossSums, intercept: bool) -> tuple[NDArray, NDArray]:
    if not intercept:
        return np.zeros_like(sums.phi), np.zeros_like(sums.y)
    return sums.phi / sums.weight, sums.y / sums.weight


def _right_hand_side(sums: CrossSums, mean: NDArray, y_mean: NDArray) -> NDArray:
    """Return Kᵀ D (Y - ȳ), with exact zeros where the difference is only rounding."""
    _checks.finite_sums(sums.phi, sums.y, sums.cross)
    constant = sums.weight * np.outer(mean, y_mean)
    B = sums.cross - constant
    B[np.abs(B) <= _ROUNDING * EPS * np.abs(constant)] = 0.0
    return B


def _units(B: NDArray) -> NDArray:
    size = np.abs(B).max(axis=0, initial=0.0)
    return np.where(size > 0, size, 1.0)


def _dots(P: NDArray, Q: NDArray) -> NDArray:
    return np.einsum("ij,ij->j", P, Q)


def _squares(R: NDArray) -> NDArray:
    return _dots(R, R)


def _worst(square: NDArray, start: NDArray) -> float:
    return float(np.sqrt(_ratio(square, start, start > 0).max(initial=0.0)))


def _ratio(a: NDArray, b: NDArray, where: NDArray) -> NDArray:
    """Return a/b, and 0 outside ``where`` and for b that is not a positive number."""
    return np.divide(a, b, out=np.zeros_like(a), where=where & (b > 0) & np.isfinite(b))
