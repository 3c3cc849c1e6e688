"""What a kernel is: a similarity of two rows that can be added, multiplied and stacked."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm.kernels._params import Params
from kernelm.kernels.domain import Domain

if TYPE_CHECKING:
    from kernelm.kernels.layers import Layer

Rows = Any  #: a 2-D float array or a CSR matrix or array


class Kernel(Params, ABC):
    r"""A similarity :math:`k(x, z)` of two rows.

    A kernel is a frozen value: its fields are its parameters, equal parameters make equal
    kernels, and its ``repr`` is its formula. Write a new one as a frozen dataclass with the two
    methods ``_gram`` and ``_diag``; everything else comes from here.

    Kernels build kernels:

    ======================  =====================================================
    ``k1 + k2``, ``k + c``  sum, with a kernel or a number :math:`c \ge 0`
    ``k1 * k2``, ``c * k``  entrywise product, or a multiple :math:`c \ge 0`
    ``k.normalized()``      :math:`k(x, z) / \sqrt{k(x, x)\,k(z, z)}`
    ``k.exp(scale)``        :math:`\exp(k / \text{scale}^2)`
    ``k.power(p)``          :math:`k^p`
    ``k.then(*layers)``     composition: each layer reads the kernel below it
    ======================  =====================================================

    Examples
    --------
    >>> from kernelm.kernels import Gaussian, Linear
    >>> k = 0.5 * Gaussian(scale=2.0) + Linear().power(2)
    >>> k
    0.5 * Gaussian(scale=2.0) + Linear(offset=0.0).power(2)
    >>> k.gram([[1.0, 2.0]], [[3.0, 2.0]]).round(4)
    array([[49.3033]])
    """

    __array_ufunc__ = None  # so that np.float64(2) * kernel comes to __rmul__
    _binds: ClassVar[int] = 3  # how tightly the repr binds: 1 sum, 2 product, 3 atom

    # --- values ---------------------------------------------------------------------------------

    def gram(self, X: Rows, Z: Rows | None = None) -> NDArray:
        """Return the matrix of ``k(x, z)``, with one row for each row of X.

        Parameters
        ----------
        X, Z : array or sparse matrix of shape (n, d) and (m, d)
            ``Z=None`` means ``Z = X`` and makes the diagonal exact.

        Returns
        -------
        ndarray of shape (n, m)
            A new array: float32 if the rows are float32, float64 otherwise.
        """
        X, Z = self._enter(X, None if Z is X else Z)
        return self._gram(X, Z).astype(X.dtype, copy=False)

    __call__ = gram  # a kernel is a callable kernel of scikit-learn: SVC(kernel=Gaussian())

    def diag(self, X: Rows) -> NDArray:
        """Return ``k(x, x)`` for each row of X."""
        X, _ = self._enter(X, None)
        return self._diag(X).astype(X.dtype, copy=False)

    def pairs(self, X: Rows, Z: Rows) -> NDArray:
        """Return ``k(x, z)`` for each row of X with the row of Z at the same place.

        What a neighbourhood graph needs: n values cost n rows, not a matrix.

        Examples
        --------
        >>> from kernelm.kernels import Gaussian
        >>> Gaussian().pairs([[0.0], [1.0]], [[1.0], [1.0]]).round(4)
        array([0.6065, 1.    ])
        """
        X, other = self._enter(X, Z)
        _checks.same_rows(X, other)
        return self._pairs(X, other).astype(X.dtype, copy=False)

    @abstractmethod
    def _gram(self, X: Rows, Z: Rows | None) -> NDArray:
        """Return a new matrix of ``k(x, z)`` for checked rows of one dtype."""

    @abstractmethod
    def _diag(self, X: Rows) -> NDArray:
        """Return ``k(x, x)`` for checked rows."""

    def _pairs(self, X: Rows, Z: Rows) -> NDArray:
        """Return a new array of ``k(x, z)`` for checked rows at the same places."""
        rows = range(X.shape[0])
        values = [self._gram(X[i : i + 1], Z[i : i + 1])[0, 0] for i in rows]
        return np.array(values, X.dtype)

    def _enter(self, X: Rows, Z: Rows | None) -> tuple[Rows, Rows | None]:
        """Check rows at the door and bring both to one dtype."""
        if not self.is_resolved:
            raise _checks.unresolved(repr(self))
        X = self._checked(X, "X")
        if Z is None:
            return X, None
        other = self._checked(Z, "Z")
        _checks.same_columns(X, other)
        dtype = X.dtype if X.dtype == other.dtype else "float64"
        return X.astype(dtype, copy=False), other.astype(dtype, copy=False)

    def _checked(self, X: Rows, name: str) -> Any:
        X = _checks.rows(X, name)
        if self._domain.non_negative:
            _checks.non_negative_rows(X, name, repr(self))
        return X

    # --- what is known about it -----------------------------------------------------------------

    @property
    def is_psd(self) -> bool:
        """Whether every Gram matrix of rows in :attr:`domain` is positive semidefinite."""
        return all(part.is_psd for part in self._parts().values())

    @property
    def domain(self) -> str:
        """The rows for which the kernel is defined and :attr:`is_psd` is meant."""
        return str(self._domain)

    @property
    def has_constant_diag(self) -> bool:
        """Whether ``k(x, x)`` is known to be the same number for every row."""
        return False

    @property
    def _domain(self) -> Domain:
        domain = Domain()
        for part in self._parts().values():
            domain &= part._domain
        return domain

    def is_psd_in(self, n_features: int) -> bool:
        """Return whether Gram matrices of rows with ``n_features`` are positive semidefinite.

        Examples
        --------
        >>> from kernelm.kernels import Spherical
        >>> Spherical().is_psd_in(3), Spherical().is_psd_in(4)
        (True, False)
        """
        cap = self._domain.max_features
        return self.is_psd and (cap is None or n_features <= cap)

    # --- scales taken from data -----------------------------------------------------------------

    @property
    def is_resolved(self) -> bool:
        """Whether every scale is a number."""
        return all(part.is_resolved for part in self._parts().values())

    def resolve(self, X: Rows, sample_weight: Any = None, random_state: Any = 0) -> Self:
        """Return the kernel with scales such as ``"median"`` replaced by numbers.

        Parameters
        ----------
        X : array or sparse matrix
            Rows to look at; at most 1000 of them, drawn at random, are used.
        sample_weight : array, optional
            A weight acts like that many copies of the row.
        random_state : int or numpy Generator
            Draws the rows when there are more than 1000.

        Examples
        --------
        >>> from kernelm.kernels import Gaussian
        >>> Gaussian(scale="mean").resolve([[0.0], [1.0], [3.0]])
        Gaussian(scale=2.0)
        """
        if self.is_resolved:
            return self
        parts = self._parts().items()
        return self.with_params(
            **{name: part.resolve(X, sample_weight, random_state) for name, part in parts}
        )

    def _parts(self) -> dict[str, Kernel]:
        """Return the fields that are kernels themselves."""
        own = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        return {name: part for name, part in own.items() if isinstance(part, Kernel)}

    # --- algebra: the nodes import this module, so this one imports them when it needs them ------

    def __add__(self, other: Any) -> Kernel:
        from kernelm.kernels.algebra import Constant, Sum

        if isinstance(other, Kernel):
            return Sum(self, other)
        if isinstance(other, numbers.Real):
            # Zero is where Python's sum() of several kernels starts.
            return Sum(self, Constant(other)) if other != 0 else self  # pyright: ignore
        return NotImplemented

    __radd__ = __add__

    def __mul__(self, other: Any) -> Kernel:
        from kernelm.kernels.algebra import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        if isinstance(other, numbers.Real):
            return Scaled(other, self)  # pyright: ignore
        return NotImplemented

    __rmul__ = __mul__

    def then(self, *layers: Layer) -> Kernel:
        """Return the kernel that applies ``layers`` on top of this one, first one first."""
        from kernelm.kernels.stack import Stacked

        return Stacked(self, layers) if layers else self

    def normalized(self) -> Kernel:
        r"""Return :math:`k(x, z) / \sqrt{k(x, x)\,k(z, z)}`."""
        from kernelm.kernels.layers import Normalize

        return self.then(Normalize())

    def exp(self, scale: float = 1.0) -> Kernel:
        r"""Return :math:`\exp(k / \text{scale}^2)`."""
        from kernelm.kernels.layers import Exp

        return self.then(Exp(scale))

    def power(self, degree: int) -> Kernel:
        r"""Return :math:`k^{\text{degree}}`."""
        from kernelm.kernels.layers import Power

        return self.then(Power(degree))

    def _inside(self, binds: int) -> str:
        """Return the repr, in brackets if the place it goes to binds more tightly."""
        return f"({self!r})" if self._binds < binds else repr(self)
