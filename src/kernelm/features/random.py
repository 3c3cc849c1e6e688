r"""Random hidden layers: :math:`\phi_j(x) = g(x \cdot w_j + b_j)`, drawn once, never trained.

A layer is its seed: weights are regenerated when they are needed and never stored with a
model. What *is* stored is what was frozen from data: the scaling of the inputs, centres taken
from rows, and the offset that keeps features near zero mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelm import _checks
from kernelm.features.base import fingerprint
from kernelm.features.scaling import InputScaler, counted, scaled_chunks
from kernelm.kernels import Gaussian
from kernelm.kernels.distances import squared_distances
from kernelm.units import ACTIVATIONS, WEIGHTS, Hashed, activate, draw, draw_biases

_CENTRES = 2  # stream of the seed, beside those of weights and biases
_WIDTH_ROWS = 1000  # enough for a mean distance
_CACHE_BYTES = 2**20  # half of a common L2 cache


def _rbf(S: Any, Q: NDArray, width: float) -> NDArray:
    return Gaussian(scale=width).gram(S, Q)


def _multiquadric(S: Any, Q: NDArray, width: float) -> NDArray:
    d2 = squared_distances(S, Q, scale=width)
    d2 += 1
    return np.sqrt(d2, out=d2)


#: Units that look at the distance to a centre instead of a projection.
RADIAL: dict[Any, Callable[[Any, NDArray, float], NDArray]] = {
    "rbf": _rbf,
    "multiquadric": _multiquadric,
}


@final
@dataclass(frozen=True)
class RandomLayer:
    """What a hidden layer shall be; :meth:`freeze` makes it a feature map.

    Parameters
    ----------
    n_units : int
        Number of units L.
    activation : str or callable
        A projection unit ("tanh", "sigmoid", "erf", "relu", "sign", "hardlim", "sine",
        "fourier", "identity"), a centre unit ("rbf", "multiquadric"), or a function of the
        block of pre-activations.
    weights : str
        "normal", "uniform", "orthogonal", "sparse" (few inputs a unit), "patches" (receptive
        fields of square images), "hashed" (signs that are never stored, for sparse rows of
        millions of inputs) or "data" (rows of the sample as centres or directions).
    weight_scale : float
        Factor of the weights and biases; for centre units, of the width.
    direct_links : bool
        Pass the inputs on as features too.
    scale_inputs : bool
        Scale inputs by what the sample shows. Off, projections depend on the seed alone
        (centre units and weights="data" still look at the sample).
    center : bool
        Subtract the mean of each feature over the sample. With an intercept the model is the
        same, and sums in float32 keep their digits.
    seed : int
        Determines all weights.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> phi = RandomLayer(n_units=4).freeze(X)
    >>> phi.map(X).shape, phi.n_features_out
    ((50, 4), 4)
    """

    n_units: int = 1000
    activation: str | Callable[[NDArray], NDArray] = "tanh"
    weights: str = "normal"
    weight_scale: float = 1.0
    direct_links: bool = False
    scale_inputs: bool = True
    center: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        _checks.integer(self.n_units, "n_units")
        if not callable(self.activation):
            _checks.one_of(self.activation, "activation", [*ACTIVATIONS, *RADIAL])
        _checks.one_of(self.weights, "weights", [*WEIGHTS, "data"])
        _checks.positive(self.weight_scale, "weight_scale")
        _checks.integer(self.seed, "seed", low=0)

    @property
    def is_radial(self) -> bool:
        """Whether units look at the distance to a centre."""
        return isinstance(self.activation, str) and self.activation in RADIAL

    def freeze(self, X: Any, weight: NDArray | None = None) -> HiddenLayer:
        """Freeze everything that depends on data from a sample of rows."""
        X, weight = counted(X, weight)
        scaler = (
            InputScaler.fit(X, weight) if self.scale_inputs else InputScaler.identity(X.shape[1])
        )
        S = scaler.transform(X)
        centres = self._centres(S, weight)
        layer = HiddenLayer(self, scaler, centres, self._width(S, weight, centres))
        if self.center and self.scale_inputs:
            offset = np.average(layer.map(X).astype(np.float64), axis=0, weights=weight)
            layer = replace(layer, offset=offset)
        return layer

    def _centres(self, S: Any, weight: NDArray | None) -> NDArray | None:
        """Return data rows to be used as weights, or random centres of radial units."""
        if self.weights == "data":
            rng = np.random.default_rng([self.seed, _CENTRES])
            n = S.shape[0]
            order = np.concatenate([rng.permutation(n) for _ in range(-(-self.n_units // n))])
            rows = S[order[: self.n_units]]
            return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, np.float64)
        if self.is_radial:
            # Random centres spread like the data they shall be near to.
            squared = np.average(_squared_lengths(S), weights=weight)
            length = np.sqrt(squared / S.shape[1]) or 1.0
            W, _ = draw(S.shape[1], self.n_units, weights=self.weights, seed=self.seed)
            return W.T * length
        return None

    def _width(self, S: Any, weight: NDArray | None, centres: NDArray | None) -> float:
        """Return the width of radial units: the mean distance of the rows to the centres."""
        if not self.is_radial or centres is None:
            return 1.0
        # Rows from all over the sample: files are often sorted.
        some = slice(None, None, max(1, S.shape[0] // _WIDTH_ROWS))
        distances = np.sqrt(squared_distances(S[some], centres.astype(S.dtype)))
        mean = np.average(
            distances.mean(axis=1, dtype=np.float64),
            weights=None if weight is None else weight[some],
        )
        return float(self.weight_scale * (mean or 1.0))


@final
@dataclass(frozen=True, eq=False)
class HiddenLayer:
    """A frozen random layer: a :class:`~kernelm.features.FeatureMap`."""

    spec: RandomLayer
    scaler: InputScaler
    centres: NDArray | None = None
    width: float = 1.0
    offset: NDArray | None = None
    _cache: dict[str, Any] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "_cache"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _cache={})

    @property
    def n_features_in(self) -> int:
        """Number of inputs."""
        return len(self.scaler.mean)

    @property
    def n_features_out(self) -> int:
        """Number of units, and of inputs where they are linked directly."""
        return self.n_linked + self.spec.n_units

    @property
    def n_linked(self) -> int:
        """Number of features that are inputs."""
        return self.n_features_in if self.spec.direct_links else 0

    @property
    def penalty(self) -> None:
        """The plain ridge."""
        return None

    @property
    def needs_double(self) -> bool:
        """Random units are far from dependent: float32 blocks do."""
        return False

    @property
    def fingerprint(self) -> str:
        """Digest of the parameters and of what was frozen."""
        if "fingerprint" not in self._cache:
            self._cache["fingerprint"] = self._fingerprint()
        return self._cache["fingerprint"]

    def _fingerprint(self) -> str:
        s = self.spec
        return fingerprint(
            [
                _description(s.activation, s.n_units),
                s.weights,
                # As plain numbers: np.int64(3) and 3 make the same layer.
                *(int(s.n_units), int(s.seed), float(s.weight_scale)),
                *(bool(s.direct_links), bool(s.scale_inputs), bool(s.center)),
                *(
                    self.scaler.mean,
                    self.scaler.scale,
                    self.scaler.root,
                    self.centres,
                    self.width,
                    self.offset,
                ),
            ]
        )

    def leading(self, n_features: int) -> Self:
        """Return the layer of the first units (inputs that are linked come before them)."""
        n_units = n_features - self.n_linked
        return replace(
            self,
            spec=replace(self.spec, n_units=n_units),
            centres=None if self.centres is None else self.centres[:n_units],
            offset=None if self.offset is None else self.offset[:n_features],
            _cache={},
        )

    def map(self, X: Any) -> NDArray:
        """Return the features of a block of rows."""
        Phi = np.empty((X.shape[0], self.n_features_out), X.dtype)
        # Chunks that stay in the cache between scaling, product and activation.
        step = max(16, _CACHE_BYTES // max(Phi[:1].nbytes, 1))
        for at, S in scaled_chunks(self.scaler, X, step):
            self._map_chunk(S, Phi[at])
        return Phi

    def _map_chunk(self, S: Any, Phi: NDArray) -> None:
        units = Phi[:, self.n_linked :]
        if self.n_linked:
            Phi[:, : self.n_linked] = S.toarray() if sparse.issparse(S) else S
        if self.spec.is_radial:
            units[:] = RADIAL[self.spec.activation](S, self._weights(S.dtype)[0], self.width)
        else:
            units += self._project(S, units)
            H = activate(units, self.spec.activation)
            if H is not units:
                units[:] = H
        if self.offset is not None:
            Phi -= self.offset.astype(Phi.dtype)

    def _project(self, S: Any, units: NDArray) -> NDArray:
        """Write the products with the weights, and return the biases."""
        spec = self.spec
        if spec.weights == "hashed" and sparse.issparse(S):
            paired = spec.activation == "fourier"
            scale = float(spec.weight_scale)
            Hashed(spec.n_units, scale, paired, spec.seed).write(S, units)
            b = draw_biases(spec.n_units, scale=scale, paired=paired, seed=spec.seed)
            return b.astype(S.dtype)
        W, b = self._weights(S.dtype)
        if sparse.issparse(S):
            units[:] = S @ W
        else:
            np.matmul(S, W, out=units)
        return b

    def _weights(self, dtype: Any) -> tuple[NDArray, NDArray]:
        """Return centres, or weights and biases, in the dtype of the rows; drawn once."""
        key = np.dtype(dtype).str
        if key not in self._cache:
            self._cache[key] = self._draw(dtype)
        return self._cache[key]

    def _draw(self, dtype: Any) -> tuple[NDArray, NDArray]:
        spec = self.spec
        if spec.is_radial and self.centres is not None:
            return self.centres.astype(dtype), np.empty(0)
        W, b = draw(
            self.n_features_in,
            spec.n_units,
            weights="normal" if self.centres is not None else spec.weights,
            scale=spec.weight_scale,
            paired=spec.activation == "fourier",
            seed=spec.seed,
            dtype=dtype,
        )
        if self.centres is not None:
            # Directions of data rows with the length that normal weights have.
            rows = self.centres
            if spec.activation == "fourier":  # a pair shares its direction
                rows = rows[np.arange(spec.n_units) // 2]
            length = np.sqrt(_squared_lengths(rows))[:, None]
            unit = rows / np.where(length > 0, length, 1.0)
            W = np.ascontiguousarray(
                (spec.weight_scale * np.sqrt(self.n_features_in) * unit).T, dtype=dtype
            )
        return W, b


def _description(activation: str | Callable[[NDArray], NDArray], n_units: int) -> Any:
    """Return what names an activation: a function is known by what it does to some numbers.

    Its own name would do for few functions only, and its address changes with the process.
    """
    if isinstance(activation, str):
        return activation
    values = activate(np.linspace(-3.0, 3.0, n_units)[None], activation)
    return values.astype(np.float32)  # so that another machine's last digit does not matter


def _squared_lengths(S: Any) -> NDArray:
    squares = S.multiply(S).sum(axis=1) if sparse.issparse(S) else np.einsum("ij,ij->i", S, S)
    return np.asarray(squares, np.float64).ravel()
