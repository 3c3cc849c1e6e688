r"""Hidden layers of several kinds of units: inputs, sigmoids and Gaussians, as in OP-ELM.

- linear: :math:`\phi(x) = x_d`, an input;
- sigmoid: :math:`1 / (1 + e^{-(x \cdot w + b)})`, w and b uniform in [-5, 5];
- Gaussian: :math:`e^{-\lVert x - z \rVert^2 / (2 s^2)}` with a training row z and a width s drawn
  between the 20th and the 80th percentile of the distances between training rows.

Weights suit rows of unit length, which is what scaled inputs are. Unlike a
:class:`~kernelm.features.RandomLayer` the units are stored: few are left after pruning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelm import _checks
from kernelm.features.base import fingerprint
from kernelm.features.landmarks import distinct
from kernelm.features.scaling import InputScaler, counted
from kernelm.kernels.distances import squared_distances
from kernelm.units import activate, draw

#: Kinds of units by name, in the order in which a layer holds them.
KINDS: tuple[str, ...] = ("linear", "sigmoid", "gaussian")

_WEIGHT_SCALE = 5.0
_INPUTS, _ROWS, _WIDTHS = 2, 3, 4  # streams of the seed, beside those of weights and biases
_WIDTH_ROWS, _WIDTH_CENTRES = 1000, 100  # enough for percentiles of the distances between them


@final
@dataclass(frozen=True, eq=False)
class MixedUnits:
    """A frozen layer of inputs, sigmoid and Gaussian units, any of them, in any order.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> phi = MixedUnits.draw(X, 10, seed=0)
    >>> phi.kinds()
    {'linear': 2, 'sigmoid': 4, 'gaussian': 4}
    >>> phi.take([0, 5]).map(X).shape
    (50, 2)
    """

    scaler: InputScaler
    inputs: NDArray  #: (l,) columns
    W: NDArray  #: (D, s) weights
    b: NDArray  #: (s,) biases
    Z: NDArray  #: (g, D) centres
    widths: NDArray  #: (g,)
    order: NDArray  #: (L,) features, as positions among all units: inputs, sigmoids, Gaussians

    @classmethod
    def draw(
        cls,
        X: Any,
        n_units: int,
        kinds: Sequence[str] = KINDS,
        *,
        weight: NDArray | None = None,
        scale_inputs: bool = True,
        seed: int = 0,
    ) -> Self:
        """Draw units for these rows; the same for rows repeated or in another order.

        Kinds have equal shares, but there are no more linear units than inputs, which are drawn
        where there are more of them than their share.
        """
        D = X.shape[1]
        X, weight = counted(X, weight)
        scaler = InputScaler.fit(X, weight) if scale_inputs else InputScaler.identity(D)
        shares = _shares(n_units, kinds, D)
        inputs = np.random.default_rng([seed, _INPUTS]).permutation(D)[: shares["linear"]]
        W, b = draw(D, shares["sigmoid"], weights="uniform", scale=_WEIGHT_SCALE, seed=seed)
        Z, widths = _gaussians(X, scaler, shares["gaussian"], seed)
        return cls(scaler, np.sort(inputs), W, b, Z, widths, np.arange(sum(shares.values())))

    @property
    def n_features_in(self) -> int:
        """Number of inputs."""
        return len(self.scaler.mean)

    @property
    def n_features_out(self) -> int:
        """Number of units."""
        return len(self.order)

    @property
    def penalty(self) -> None:
        """The plain ridge."""
        return None

    @property
    def needs_double(self) -> bool:
        """Least squares on units that are nearly dependent needs all digits."""
        return True

    @property
    def fingerprint(self) -> str:
        """Digest of everything that determines the map."""
        s = self.scaler
        parts = (self.inputs, self.W, self.b, self.Z, self.widths, self.order)
        return fingerprint([s.mean, s.scale, s.root, *parts])

    def kinds(self) -> dict[str, int]:
        """Return the number of units of each kind."""
        ends = np.cumsum([len(self.inputs), len(self.b), len(self.Z)])
        counts = Counter(np.searchsorted(ends, self.order, side="right").tolist())
        return {kind: counts[k] for k, kind in enumerate(KINDS)}

    def take(self, units: Sequence[int] | NDArray) -> Self:
        """Return the layer of chosen features in the given order; the others are dropped."""
        chosen = self.order[np.asarray(units, np.intp)]
        kept, order = np.unique(chosen, return_inverse=True)
        first, second = len(self.inputs), len(self.inputs) + len(self.b)
        linear = kept[kept < first]
        sigmoid = kept[(kept >= first) & (kept < second)] - first
        gaussian = kept[kept >= second] - second
        return replace(
            self,
            inputs=self.inputs[linear],
            W=np.ascontiguousarray(self.W[:, sigmoid]),
            b=self.b[sigmoid],
            Z=self.Z[gaussian],
            widths=self.widths[gaussian],
            order=order,
        )

    def leading(self, n_features: int) -> Self:
        """Return the layer of the first features."""
        return self.take(np.arange(n_features))

    def map(self, X: Any) -> NDArray:
        """Return the features of a block of rows."""
        S = self.scaler.transform(X)
        linear = S[:, self.inputs]
        linear = linear.toarray() if sparse.issparse(linear) else linear
        sigmoid = activate(
            np.asarray(S @ self.W.astype(S.dtype) + self.b.astype(S.dtype)), "sigmoid"
        )
        units = [linear, sigmoid]
        if len(self.Z):
            d2 = squared_distances(S, self.Z.astype(S.dtype), scale=float(np.sqrt(2)), sign=-1)
            d2 /= np.square(self.widths).astype(S.dtype)
            units.append(np.exp(d2, out=d2))
        return np.hstack(units)[:, self.order]


def _shares(n_units: int, kinds: Sequence[str], n_inputs: int) -> dict[str, int]:
    """Return how many units of each kind there are."""
    _checks.some_units(kinds, KINDS)
    shares = dict.fromkeys(KINDS, 0)
    left = [kind for kind in KINDS if kind in kinds]
    while left:
        kind = left.pop(0)
        shares[kind] = -(-n_units // (len(left) + 1))
        shares[kind] = min(shares[kind], n_inputs) if kind == "linear" else shares[kind]
        n_units -= shares[kind]
    return shares


def _gaussians(X: Any, scaler: InputScaler, n: int, seed: int) -> tuple[NDArray, NDArray]:
    """Return centres among the rows, each row once before any comes again, and their widths."""
    if not n:
        return np.empty((0, X.shape[1])), np.empty(0)
    rows = distinct(X)
    rng = np.random.default_rng([seed, _ROWS])
    order = np.concatenate([rng.permutation(rows) for _ in range(-(-n // len(rows)))])
    some = order[: max(n, min(_WIDTH_ROWS, len(rows)))]
    S = scaler.transform(X[some].astype(np.float64))
    S = S.toarray() if sparse.issparse(S) else S
    distances = np.sqrt(squared_distances(S, S[:_WIDTH_CENTRES], snap=True))
    low, high = np.percentile(distances[distances > 0], [20, 80]) if distances.any() else (1.0, 1.0)
    return S[:n], np.random.default_rng([seed, _WIDTHS]).uniform(low, high, n)
