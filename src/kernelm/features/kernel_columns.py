r"""Kernel columns on landmarks: :math:`\varphi(x) = k(x, Z)`.

With the plain ridge this is the approximate kernel ELM (AKELM); with the penalty
:math:`\alpha\, \mathrm{tr}(W^\top K_{ZZ} W)`, the squared norm in the space of the kernel, it is
the Nyström kernel ELM (NKELM): whitening the columns by :math:`U S^{-1/2}` of
:math:`K_{ZZ} = U S U^\top` and taking the plain ridge is the same model. The penalty form never
stores or multiplies whitened rows, so fit and predict are one matrix product cheaper.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelm.features.base import fingerprint
from kernelm.features.scaling import InputScaler
from kernelm.kernels import Kernel


@final
@dataclass(frozen=True, eq=False)
class KernelColumns:
    """A frozen map to kernel columns: a :class:`~kernelm.features.FeatureMap`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelm.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> phi = KernelColumns(Gaussian(), InputScaler.identity(3), X[:5], in_kernel_norm=True)
    >>> phi.map(X).shape, phi.penalty.shape
    ((50, 5), (5, 5))
    """

    kernel: Kernel
    scaler: InputScaler
    Z: Any  #: landmarks in scaled units, (n, D)
    in_kernel_norm: bool  #: penalise the norm in the space of the kernel (Nyström)
    _cache: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_cache": {}}

    @property
    def n_features_in(self) -> int:
        """Number of inputs."""
        return len(self.scaler.mean)

    @property
    def n_features_out(self) -> int:
        """Number of landmarks."""
        return self.Z.shape[0]

    @property
    def penalty(self) -> NDArray | None:
        """K_ZZ, or None for the plain ridge."""
        if not self.in_kernel_norm:
            return None
        if "penalty" not in self._cache:
            self._cache["penalty"] = self.kernel.gram(self.Z.astype(np.float64))
        return self._cache["penalty"]

    @property
    def needs_double(self) -> bool:
        """Columns are nearly dependent: a float32 Gram matrix of them is useless."""
        return True

    @property
    def fingerprint(self) -> str:
        """Digest of the kernel, the scaling and the landmarks."""
        if "fingerprint" not in self._cache:
            Z = self.Z.toarray() if sparse.issparse(self.Z) else self.Z
            parts = (self.scaler.mean, self.scaler.scale, self.scaler.root, Z, self.in_kernel_norm)
            self._cache["fingerprint"] = fingerprint([self.kernel, *parts])
        return self._cache["fingerprint"]

    def leading(self, n_features: int) -> Self:
        """Return the map to the first landmarks only."""
        return type(self)(self.kernel, self.scaler, self.Z[:n_features], self.in_kernel_norm)

    def map(self, X: Any) -> NDArray:
        """Return kernel columns of a block of rows."""
        S = self.scaler.transform(X)
        return self.kernel.gram(S, self.Z.astype(S.dtype, copy=False))
