r"""A sequence of random layers and their output weights: seeds in, scores out.

.. math:: f(x) = b + \eta \sum_t h(x R_t^\top)\, W_t

Projections :math:`R_t` are regenerated from the seed whenever they are needed, and never stored.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelm._config import working_bytes
from kernelm.data import ArraySource, Rows, Source, block_rows, effective_jobs, pooled, stream
from kernelm.data.targets import Targets
from kernelm.features import InputScaler, RowNormalizer, scaled_chunks
from kernelm.ridge import Status
from kernelm.tasks import HeldOut
from kernelm.units import activate, draw

_CACHE_BYTES = 2**20  # half of a common L2 cache
_FEW_DRAWS = 2**16  # random numbers of a layer, below which threads do not pay
_MANY_STEPS = 8  # from which on scaled rows are worth the memory: new memory costs several sweeps


class Layer(NamedTuple):
    """One hidden layer, drawn."""

    W: NDArray  #: (D, J)
    b: NDArray  #: (J,)
    activation: str | Callable[[NDArray], NDArray]
    scaler: InputScaler | RowNormalizer | None  #: None where rows come scaled

    def write(self, X: Any, H: NDArray) -> None:
        """Write the features of a block of rows into H.

        Signs stay floats: BLAS has no products of int8 or bits.
        """
        # Chunks that stay in the cache between scaling, product and activation.
        step = max(16, _CACHE_BYTES // max(H[:1].nbytes, 1))
        biased = bool(self.b.any())
        for at, S in scaled_chunks(self.scaler, X, step):
            units = H[at]
            if sparse.issparse(S):
                units[:] = S @ self.W
            else:
                np.matmul(S, self.W, out=units)
            if biased:
                units += self.b
            A = activate(units, self.activation)
            if A is not units:
                units[:] = A


@final
@dataclass(frozen=True, eq=False)
class Layers:
    """How to draw the layer of any step.

    Examples
    --------
    >>> import numpy as np
    >>> layers = Layers(InputScaler.identity(3), 3, 5)
    >>> layers.at(7, np.float64).W.shape
    (3, 5)
    >>> bool((layers.at(7, np.float64).W == layers.at(7, np.float64).W).all())
    True
    """

    scaler: InputScaler | RowNormalizer
    n_features: int
    n_units: int
    activation: str | Callable[[NDArray], NDArray] = "tanh"
    weights: str = "normal"
    weight_scale: float = 1.0
    bias_scale: float = 1.0
    seed: int = 0
    _drawn: dict[Any, tuple[NDArray, NDArray]] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "_drawn"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _drawn={})

    def at(self, step: int, dtype: Any, *, scaled: bool = False) -> Layer:
        """Return the layer of a step, for rows that are scaled already or not."""
        key = step, np.dtype(dtype).str
        W, b = self._drawn.get(key) or self._draw(step, dtype)
        # Small layers of many steps are worth keeping while the process lives.
        if len(self._drawn) < self.at_a_time(dtype):
            self._drawn[key] = W, b
        return Layer(W, b, self.activation, None if scaled else self.scaler)

    def at_a_time(self, dtype: Any) -> int:
        """Return how many layers may be in memory together."""
        layer = self.n_features * self.n_units * np.dtype(dtype).itemsize
        return max(1, working_bytes() // (8 * layer))

    def scaled(self, source: Source, budget: float, n_steps: int) -> Source | None:
        """Return rows that are scaled once for all steps, if they fit the budget and it pays."""
        if not self.scaler.changes:
            return source
        few = n_steps < _MANY_STEPS and isinstance(self.scaler, InputScaler)
        if few or not isinstance(source, ArraySource):
            return None
        size = source.n_rows * source.n_features * source.dtype.itemsize
        if sparse.issparse(source.X) and not self.scaler.fills:
            size = 2 * source.X.nnz * source.dtype.itemsize
        if size > budget:
            return None
        (read,) = source.blocks(max(source.n_rows, 1))
        return ArraySource(self.scaler.transform(read().X), source.y, source.weight)

    def _draw(self, step: int, dtype: Any) -> tuple[NDArray, NDArray]:
        seed = np.random.SeedSequence([self.seed, step]).generate_state(1, np.uint64)
        return draw(
            self.n_features,
            self.n_units,
            weights=self.weights,
            scale=self.weight_scale,
            bias_scale=self.bias_scale,
            paired=self.activation == "fourier",
            seed=int(seed[0]),
            dtype=dtype,
        )


@final
@dataclass(frozen=True, eq=False)
class BoostedModel:
    """Everything that a fitted boosted machine keeps."""

    layers: Layers
    targets: Targets
    shrinkage: float
    intercept: NDArray  #: (C,), in codes of the targets
    weights: list[NDArray]  #: (J, C) each
    path: list[float]  #: criterion after each step that was made
    n_jobs: int | None
    held_out: HeldOut
    status: Status

    def predict(self, X: Any) -> NDArray:
        """Return scores of any number of rows."""
        return deque(self._stages(X, None), maxlen=1)[0]

    def staged(self, X: Any) -> Iterator[NDArray]:
        """Yield the scores after each step."""
        for scores in self._stages(X, 1):
            yield scores.copy()

    def _stages(self, X: Any, together: int | None) -> Iterator[NDArray]:
        """Yield the same array after some steps: every block goes through all of these at once.

        Their layers are in memory at the same time; as many as may be, if no number is given.
        """
        source: Source = ArraySource(X)
        scores = np.tile(self.intercept.astype(source.dtype), (X.shape[0], 1))
        n_steps, n_units = len(self.weights), self.layers.n_units
        ready = self.layers.scaled(source, working_bytes() / 4, n_steps)
        per_row = source.dtype.itemsize * (n_units + len(self.intercept))
        rows = block_rows(per_row, X.shape[0], self.n_jobs)
        together = together or self.layers.at_a_time(source.dtype)
        for start in range(0, n_steps, together):
            steps = self._steps(start, start + together, source.dtype, scaled=ready is not None)

            def add(block: Rows, steps: Sequence[tuple[Layer, NDArray]] = steps) -> None:
                H = np.empty((block.n, n_units), scores.dtype)
                part = scores[block.start : block.start + block.n]
                for layer, W in steps:
                    layer.write(block.X, H)
                    part += H @ W

            for _ in stream(ready or source, add, rows=rows, n_jobs=self.n_jobs):
                pass
            yield scores

    def _steps(
        self, start: int, stop: int, dtype: Any, *, scaled: bool
    ) -> list[tuple[Layer, NDArray]]:
        """Return some steps: their layers, drawn on all cores, and what each adds to the scores."""
        weights = self.weights[start:stop]

        def step(at: int) -> tuple[Layer, NDArray]:
            layer = self.layers.at(start + at, dtype, scaled=scaled)
            return layer, (self.shrinkage * weights[at]).astype(dtype)

        if self.layers.n_features * self.layers.n_units < _FEW_DRAWS:
            return [step(at) for at in range(len(weights))]
        return list(pooled(step, iter(range(len(weights))), effective_jobs(self.n_jobs)))
