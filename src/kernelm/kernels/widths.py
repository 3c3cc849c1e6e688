"""Scales taken from data: the mean or median distance between rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from kernelm import _checks
from kernelm.kernels._blocks import row_sq_norms
from kernelm.kernels.distances import l1_distances, squared_distances

MAX_ROWS = 1000  #: rows that are enough to know a scale to a few percent

#: Typical distances that are known, and what they are of, while kernels share them.
_known: ContextVar[dict[tuple, tuple] | None] = ContextVar("typical distances", default=None)

_RULE = re.compile(r"\s*(?:(?P<times>[0-9.eE+-]+)\s*\*)?\s*(?P<what>mean|median)\s*")


def parse_rule(rule: Any) -> tuple[float, str] | None:
    """Split ``"0.5*median"`` into its factor and statistic; None if it is not a rule.

    Examples
    --------
    >>> parse_rule("0.5*median"), parse_rule("mean"), parse_rule("mode")
    ((0.5, 'median'), (1.0, 'mean'), None)
    """
    match = _RULE.fullmatch(rule) if isinstance(rule, str) else None
    if match is None:
        return None
    try:
        times = float(match["times"] or 1.0)
    except ValueError:
        return None
    return (times, match["what"]) if 0 < times < np.inf else None


def is_rule(scale: Any) -> bool:
    """Return whether ``scale`` is a rule such as ``"mean"`` or ``"0.5*median"``."""
    return parse_rule(scale) is not None


def width(
    X: Any, rule: Any, metric: str = "euclidean", sample_weight: Any = None, random_state: Any = 0
) -> float:
    """Return the mean or median distance between the rows of X that differ.

    Pairs of equal rows are left out, so a weight acts exactly like copies of the row (as long
    as all rows are used). Rows that are all equal, or a single row, give 1.0.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> width(X, "mean"), width(X, "0.5*median"), width(X, "mean", sample_weight=[1, 1, 0])
    (2.0, 1.0, 1.0)
    """
    parsed = parse_rule(rule)
    if parsed is None:
        raise _checks.bad_scale(rule, "scale")
    times, what = parsed
    known = _known.get()
    key = (id(X), id(sample_weight), what, metric, random_state)
    if known is not None and key in known:
        typical = known[key][0]
    else:
        typical = _typical(X, what, metric, sample_weight, random_state)
        if known is not None:
            known[key] = typical, X, sample_weight  # they live on, so their ids stay theirs
    return float(times * typical) if 0 < times * typical < np.inf else 1.0


@contextmanager
def shared_widths() -> Iterator[None]:
    """Compute the typical distance between the same rows once for all kernels inside.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> with shared_widths():
    ...     [width(X, rule) for rule in ("median", "2*median")]
    [2.0, 4.0]
    """
    token = _known.set({})
    try:
        yield
    finally:
        _known.reset(token)


def _typical(X: Any, what: str, metric: str, sample_weight: Any, random_state: Any) -> float:
    """Return the statistic of the distances between rows that differ; NaN if there are none."""
    X, weights = _sample(X, sample_weight, np.random.default_rng(random_state))
    if X.shape[0] < 2:
        return np.nan
    d = _distances(X, metric)
    i, j = np.triu_indices(X.shape[0], k=1)
    d, w = d[i, j], weights[i] * weights[j]
    differ = d > 0
    if not differ.any():
        return np.nan
    return (_mean if what == "mean" else _median)(d[differ], w[differ])


def _sample(X: Any, sample_weight: Any, rng: np.random.Generator) -> tuple[Any, NDArray]:
    """Return at most ``MAX_ROWS`` rows of weight above zero, in float64, and their weights."""
    weights = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, float)
    _checks.weights(weights, X.shape[0])
    kept = np.flatnonzero(weights > 0)
    if len(kept) > MAX_ROWS:
        kept = np.sort(rng.choice(kept, MAX_ROWS, replace=False))
    return X[kept].astype(np.float64), weights[kept]


def _distances(X: Any, metric: str) -> NDArray:
    """Return distances with exact zeros between equal rows."""
    if metric == "l1":
        return l1_distances(X)
    D = squared_distances(X)
    centred = X if issparse(X) else X - X.mean(axis=0)
    lengths = row_sq_norms(centred)
    # Rounding leaves about 1e-16 of the lengths between equal rows.
    D[np.less_equal(D, 1e-12 * (lengths[:, None] + lengths))] = 0
    return np.sqrt(D, out=D)


def _mean(d: NDArray, w: NDArray) -> float:
    return float(np.average(d, weights=w))


def _median(d: NDArray, w: NDArray) -> float:
    """Return the weighted median, with the average of the two middle values on a tie."""
    if w.min() == w.max():
        return float(np.median(d))
    order = np.argsort(d)
    d, mass = d[order], np.cumsum(w[order])
    half = mass[-1] / 2
    low = np.searchsorted(mass, half, side="left")
    high = np.searchsorted(mass, half, side="right")
    return float(d[low] + d[min(high, len(d) - 1)]) / 2
