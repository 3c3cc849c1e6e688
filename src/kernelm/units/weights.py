"""Random weights and biases of hidden units, regenerated from a seed.

Units are *nested*: the first units of a large layer are the units of a small one with the
same seed. That is what makes a path over the number of units one accumulation instead of many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from kernelm import _checks

_WEIGHTS, _BIASES = 0, 1  # streams of one seed


def _normal(rng: Generator, n_units: int, n_features: int) -> NDArray:
    return rng.standard_normal((n_units, n_features))


def _uniform(rng: Generator, n_units: int, n_features: int) -> NDArray:
    return rng.uniform(-1.0, 1.0, (n_units, n_features))


def _orthogonal(rng: Generator, n_units: int, n_features: int) -> NDArray:
    """Directions orthogonal in groups of ``n_features``, with the lengths of normal vectors."""
    groups = []
    for _ in range(-(-n_units // n_features)):
        Q, R = np.linalg.qr(rng.standard_normal((n_features, n_features)))
        # The signs of R's diagonal make Q uniform over rotations (Mezzadri, 2007).
        lengths = np.sqrt(rng.chisquare(n_features, n_features))
        groups.append(lengths[:, None] * (Q * np.sign(np.diag(R))).T)
    return np.concatenate(groups)[:n_units]


def _sparse(rng: Generator, n_units: int, n_features: int) -> NDArray:
    """About sqrt(n_features) random inputs a unit."""
    kept = max(1, round(n_features**0.5))
    W = np.zeros((n_units, n_features))
    for w in W:
        w[rng.choice(n_features, kept, replace=False)] = rng.standard_normal(kept)
    # Equal variance of x·w whatever the number of inputs a unit sees.
    return W * np.sqrt(n_features / kept)


def _patches(rng: Generator, n_units: int, n_features: int) -> NDArray:
    """Receptive fields: each unit sees one random rectangle of a square image."""
    side = round(n_features**0.5)
    if side * side != n_features:
        raise ValueError(
            f'weights="patches" needs square images (a square number of features), got '
            f'{n_features} features; use weights="sparse" for other data'
        )
    W = np.zeros((n_units, side, side))
    for w in W:
        rows, columns = (np.sort(rng.choice(side + 1, 2, replace=False)) for _ in range(2))
        field = w[slice(*rows), slice(*columns)]
        field[:] = rng.standard_normal(field.shape) * (side / np.sqrt(field.size))
    return W.reshape(n_units, n_features)


def _hashed(rng: Generator, n_units: int, n_features: int) -> NDArray:
    """Signs that are bits of a hash of input and unit: :class:`Hashed` never stores them."""
    from kernelm.units._hashed_loops import signs

    W = np.empty((n_units, n_features))
    signs(W, _hash_seed(rng))
    return W


#: Distributions of the input weights by name; each draws row after row, so layers are nested.
WEIGHTS: dict[str, Callable[[Generator, int, int], NDArray]] = {
    "normal": _normal,
    "uniform": _uniform,
    "orthogonal": _orthogonal,
    "sparse": _sparse,
    "patches": _patches,
    "hashed": _hashed,
}


def _hash_seed(rng: Generator) -> int:
    return int(rng.integers(2**62))


@final
@dataclass(frozen=True)
class Hashed:
    """The weights of ``weights="hashed"`` as something to multiply CSR rows with.

    A layer on millions of inputs would take gigabytes; the signs of the few inputs that a row
    has are made when they are needed.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> X = sparse.csr_matrix([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]])
    >>> out = np.empty((2, 5))
    >>> Hashed(5, scale=0.5, seed=0).write(X, out)
    >>> bool((out == X @ draw(3, 5, weights="hashed", scale=0.5)[0]).all())
    True
    """

    n_units: int
    scale: float = 1.0
    paired: bool = False
    seed: int = 0

    def write(self, X: Any, out: NDArray) -> None:
        """Write the products of CSR rows with all weights."""
        from kernelm.units._hashed_loops import project

        seed = _hash_seed(np.random.default_rng([self.seed, _WEIGHTS]))
        n_drawn = -(-self.n_units // 2) if self.paired else self.n_units
        drawn = np.empty((len(out), n_drawn), out.dtype) if self.paired else out
        data = (X.data * self.scale).astype(out.dtype, copy=False)
        project(X.indptr, X.indices, data, seed, drawn)
        if self.paired:
            out[:] = np.repeat(drawn, 2, axis=1)[:, : self.n_units]


def draw(
    n_features: int,
    n_units: int,
    *,
    weights: str = "normal",
    scale: float = 1.0,
    bias_scale: float | None = None,
    paired: bool = False,
    seed: int = 0,
    dtype: Any = np.float64,
) -> tuple[NDArray, NDArray]:
    """Draw the weights ``W`` (n_features × n_units) and biases ``b`` of a hidden layer.

    Parameters
    ----------
    n_features, n_units : int
        Inputs and units.
    weights : str
        A name in ``WEIGHTS``.
    scale, bias_scale : float
        Factors of the weights and of the biases (``bias_scale`` defaults to ``scale``).
        Biases are uniform for uniform weights, normal otherwise.
    paired : bool
        Give two neighbouring units the same weights and the phases π/2 and 0, so that a sine
        makes cosine/sine pairs of them (random Fourier features).
    seed : int
        The same seed gives the same units, and the first units of a larger layer.
    dtype : dtype
        Of the result; the draw itself is in double precision.

    Examples
    --------
    >>> W, b = draw(3, 5, seed=0)
    >>> W.shape, b.shape
    ((3, 5), (5,))
    >>> bool((draw(3, 9, seed=0)[0][:, :5] == W).all())
    True
    """
    _checks.one_of(weights, "weights", WEIGHTS)
    rng = np.random.default_rng([seed, _WEIGHTS])
    n_drawn = -(-n_units // 2) if paired else n_units
    W = WEIGHTS[weights](rng, n_drawn, n_features)
    W = np.repeat(W, 2, axis=0)[:n_units] if paired else W
    bias_scale = scale if bias_scale is None else bias_scale
    b = draw_biases(
        n_units, uniform=weights == "uniform", scale=bias_scale, paired=paired, seed=seed
    )
    return np.ascontiguousarray((scale * W).T, dtype=dtype), b.astype(dtype)


def draw_biases(
    n_units: int, *, uniform: bool = False, scale: float = 1.0, paired: bool = False, seed: int = 0
) -> NDArray:
    """Draw the biases alone, as :func:`draw` does; those of pairs are their phases."""
    if paired:
        return np.where(np.arange(n_units) % 2, 0.0, np.pi / 2)
    distribution = _uniform if uniform else _normal
    return distribution(np.random.default_rng([seed, _BIASES]), n_units, 1)[:, 0] * scale
