r"""Boosting by ridge regression: each step fits the residual of all steps before it.

.. math::
    W_t = (H_t^\top D H_t + \alpha I)^{-1} H_t^\top D\, r_t, \qquad
    r_{t+1} = r_t - \eta H_t W_t = (I - \eta S_t)\, r_t

One pass over the rows a step: while a block is here, the previous step is taken off its residual
and the sums of the next one are added up. What is kept for all rows are the residuals, N × C
numbers.

How much a model of many steps has fitted is the trace of a product of operators,
:math:`\mathrm{df} = N - \mathrm{tr} \prod_t (I - \eta S_t)`. Steps overlap in what they fit, so
the product of their traces would be far too small. Here a few random signs z for each row travel
along as further targets: :math:`z^\top \prod_t (I - \eta S_t)\, z` estimates the trace
(Hutchinson, 1990) and costs a few columns more. At most 64 rows get a unit vector each, and the
trace is exact.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from kernelm import _checks
from kernelm._config import working_bytes
from kernelm.data import (
    Progress,
    Rows,
    Sample,
    Source,
    block_rows,
    effective_jobs,
    here,
    reduce,
    stream,
    width,
)
from kernelm.data.checkpoint import Checkpoint
from kernelm.data.sample import priorities
from kernelm.data.targets import Targets
from kernelm.estimators.steps import BoostedModel, Layer, Layers
from kernelm.ridge import Status, observations
from kernelm.ridge.moments import gram
from kernelm.ridge.triangles import cholesky, solve_upper
from kernelm.tasks import Coded, HeldOut

KEPT = 2  # times the working memory: features and scaled rows that are kept between steps
LEFT_OUT_ROWS = 1024  # rows whose approximate left-out scores calibrate
_PROBES, _FEWEST, _MOST = 16_384, 4, 64  # probes × rows; one 64-bit hash a row holds 64 signs
_BETTER = 1e-4  # share by which the criterion must fall to count as an improvement
_LEAST = 1e-3  # the smallest share of freedom left that a criterion divides by
_ESCALATIONS = 12
_STATE = ("weights", "path", "status", "best", "_residuals", "_rest", "_at_best")


class _Sums(NamedTuple):
    """HᵀH (upper half) and HᵀR of weighted rows; blocks add up in double precision."""

    gram: NDArray
    cross: NDArray

    def in_double(self) -> _Sums:
        """Return the same in double precision."""
        return _Sums(*(np.asarray(part, np.float64, order="K") for part in self))


class _Step(NamedTuple):
    """A step that is solved, but not yet taken off the residuals."""

    layer: Layer
    weights: NDArray  #: (J, C + P)
    scores: NDArray  #: what it adds to the scores of the kept rows
    hats: NDArray  #: φᵀ(HᵀH + αI)⁻¹φ of the kept rows


class _Left(NamedTuple):
    """The kept rows after some steps."""

    residuals: NDArray  #: (n, C)
    log_rest: NDArray  #: Σ log(1 − η hᵢ), step by step
    freedom: float  #: 1 − df/n of all rows


@final
@dataclass(eq=False)
class Boosting(Coded):
    """A run of steps over the rows of a source, which can be made longer."""

    layers: Layers
    targets: Targets
    sample: Sample
    source: Source
    alpha: float
    shrinkage: float
    centered: bool
    patience: int | None  #: stop after so many steps without improvement
    class_weight: NDArray | None = None
    n_jobs: int | None = None
    weights: list[NDArray] = field(default_factory=list)
    path: list[float] = field(default_factory=list)
    status: Status = Status.OK
    best: int = 0  #: number of steps with the least criterion

    # -- the run ------------------------------------------------------------------------

    def __post_init__(self) -> None:
        self._checkpoint: Checkpoint | None = getattr(self.source, "checkpoint", None)
        self.source = here(self.source)  # residuals are here, so rows must come
        blocks = list(stream(self.source, self._targets_of, rows=65_536, n_jobs=1))
        _checks.has_rows(len(blocks))
        Y, root, unit = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        weight = root**2
        self._weight, self._n = float(weight.sum()), observations(weight, unit)
        dtype = self.source.dtype
        n, C = Y.shape
        self.intercept = weight @ Y / self._weight if self.centered else np.zeros(C)
        self._signs = _probes(n, self.layers.seed)
        self._residuals = np.empty((n, C + self._signs.shape[1]), dtype)
        self._residuals[:, :C] = root[:, None] * (Y - self.intercept)
        probes = self._residuals[:, C:]
        probes[:] = self._signs
        if self.centered:  # the constant is what the mean of weighted rows fits
            probes -= np.outer(root, root @ self._signs / self._weight).astype(dtype)
        self._rest = self._first()
        self._pending: _Step | None = None
        self._go_on()

    def _targets_of(self, rows: Rows) -> tuple[NDArray, NDArray, NDArray]:
        weight, unit = self._weights(rows)
        ones = np.ones(rows.n)
        Y = self._encode(rows)
        return Y, ones if weight is None else np.sqrt(weight), ones if unit is None else unit

    def _first(self) -> _Left:
        """Return the kept rows before the first step."""
        Y, (_, unit) = self._encode(self.sample), self._weights(self.sample)
        self._unit = np.ones(len(Y)) if unit is None else unit
        share = self._unit / self._weight if self.centered else np.zeros(len(Y))
        rest = _Left(Y - self.intercept, np.log(np.maximum(1 - share, _LEAST)), 1.0)
        self._at_best = rest
        self._sample_rows = self.layers.scaler.transform(self.sample.X)
        return rest

    def _prepare(self, n_steps: int) -> None:
        """Decide what is kept between steps: features of all rows, and scaled rows."""
        n, itemsize = len(self._residuals), self.source.dtype.itemsize
        J, jobs = self.layers.n_units, effective_jobs(self.n_jobs)
        left = KEPT * working_bytes() - (jobs + 1) * 16 * J * J
        size = n * J * itemsize
        # Features that are kept save a product a step: the next pass still has them.
        self._features = np.empty((n, J), self.source.dtype) if size <= left else None
        self._kept = False
        left -= size if self._features is not None else left / 2
        self._scaled = self.layers.scaled(self.source, left, n_steps)

    def extend(self, n_steps: int, progress: Progress | None = None) -> None:
        """Make steps until there are ``n_steps``; an interrupt leaves those that are complete."""
        self.status = Status.OK if self.status is Status.INTERRUPTED else self.status
        self._prepare(n_steps - len(self.weights))
        try:
            self._extend(n_steps, progress)
        except KeyboardInterrupt:
            self._pending = None
            if not self.weights:
                raise
            self.status = Status.INTERRUPTED
            warnings.warn(
                f"interrupted after {len(self.weights)} of {n_steps} steps, which make the model",
                stacklevel=4,
            )
        finally:
            self._features = self._scaled = None

    def _extend(self, n_steps: int, progress: Progress | None) -> None:
        label = "" if progress is None else progress.label
        while not self._stops and len(self.weights) < n_steps:
            t = len(self.weights) + (self._pending is not None)
            if progress is not None:
                progress.label = f"{label} step {min(t + 1, n_steps)}/{n_steps}"
            layer = self._layer(t) if t < n_steps else None
            sums = self._pass(layer, progress)
            if layer is not None and sums is not None and not self._stops:
                self._pending = self._solve(layer, sums.in_double())

    def model(self) -> BoostedModel:
        """Return the model of the steps so far, or of the best of them with early stopping."""
        early = self.patience is not None
        n_steps = self.best if early else len(self.weights)
        return BoostedModel(
            self.layers,
            self.targets,
            self.shrinkage,
            self.intercept,
            self.weights[:n_steps],
            list(self.path),
            self.n_jobs,
            self._held_out(self._at_best if early else self._rest),
            self.status,
        )

    @property
    def _stops(self) -> bool:
        return self.patience is not None and len(self.path) - self.best >= self.patience

    def _layer(self, step: int) -> Layer:
        return self.layers.at(step, self.source.dtype, scaled=self._scaled is not None)

    # -- checkpoints --------------------------------------------------------------------

    def _save(self) -> None:
        if self._checkpoint is not None and self._checkpoint.is_due:
            self._checkpoint.save("steps", {name: getattr(self, name) for name in _STATE})

    def _go_on(self) -> None:
        """Begin where an earlier try of the same fit was ended."""
        state = None if self._checkpoint is None else self._checkpoint.load("steps")
        for name, value in (state or {}).items():
            setattr(self, name, value)

    # -- one pass -----------------------------------------------------------------------

    def _pass(self, layer: Layer | None, progress: Progress | None) -> _Sums | None:
        """Take the pending step off the residuals; return the sums for another layer."""
        source, before, pending = self._scaled or self.source, self._residuals, self._pending
        # A second array: an interrupt finds the residuals as they were.
        after = before if pending is None else np.empty_like(before)
        kept, self._kept = self._kept, False
        step = None
        if pending is not None:
            step = (self.shrinkage * pending.weights).astype(before.dtype)

        def work(rows: Rows) -> _Sums | None:
            at = slice(rows.start, rows.start + rows.n)
            H = self._room(at)
            if pending is not None and step is not None:
                if not kept:
                    self._write(pending.layer, rows, H)
                np.subtract(before[at], H @ step, out=after[at])
            if layer is None:
                return None
            self._write(layer, rows, H)
            return _sums(H, after[at])

        sums = reduce(
            source,
            work,
            _added,
            rows=self._block_rows(),
            n_jobs=self.n_jobs,
            progress=progress,
        )
        self._residuals, self._pending = after, None
        self._kept = self._features is not None and layer is not None
        if pending is not None:
            self._commit(pending)
            self._save()
        return sums

    def _room(self, at: slice) -> NDArray:
        """Return memory for the features of a block: a part of those of all rows, or new."""
        if self._features is not None:
            return self._features[at]
        return np.empty((at.stop - at.start, self.layers.n_units), self.source.dtype)

    def _write(self, layer: Layer, rows: Rows, H: NDArray) -> None:
        """Write features times the roots of the weights: sums of them are weighted sums."""
        layer.write(rows.X, H)
        weight, _ = self._weights(rows)
        if weight is not None:
            H *= np.sqrt(weight).astype(H.dtype)[:, None]

    def _block_rows(self) -> int:
        itemsize, J = self.source.dtype.itemsize, self.layers.n_units
        per_row = itemsize * (J if self._features is None else 0) + 2 * 8 * width(self.source)
        return block_rows(per_row, len(self._residuals), self.n_jobs)

    # -- one step -----------------------------------------------------------------------

    def _solve(self, layer: Layer, sums: _Sums) -> _Step:
        U = self._factor(sums.gram)
        W = solve_upper(U, solve_upper(U, sums.cross, transposed=True))
        H = np.empty((len(self._unit), self.layers.n_units), layer.W.dtype)
        layer._replace(scaler=None).write(self._sample_rows, H)
        # Hat values need few digits: the precision of the rows does.
        P = solve_upper(np.asfortranarray(U, H.dtype), H.T, transposed=True)
        hats = np.einsum("ij,ij->j", P, P, dtype=np.float64)
        C = len(self.intercept)
        scores = self.shrinkage * (H @ W[:, :C].astype(H.dtype)).astype(np.float64)
        return _Step(layer, W, scores, hats)

    def _factor(self, gram: NDArray) -> NDArray:
        """Return the upper Cholesky factor of HᵀH + αI."""
        diagonal = np.diagonal(gram).copy()
        _checks.finite_sums(diagonal)
        # Below this, eigenvalues of the sums are rounding.
        eps = float(np.finfo(self.source.dtype).eps)
        floor = eps * np.sqrt(len(diagonal)) * (float(diagonal.max()) or 1.0)
        if self.alpha < floor:
            self.status = Status.FLOORED
        ridge = max(self.alpha, floor)
        for _ in range(_ESCALATIONS):
            U = gram.copy(order="F")
            np.fill_diagonal(U, diagonal + ridge)
            if cholesky(U):
                return U
            ridge, self.status = 10 * ridge, Status.FLOORED
        raise _checks.not_semidefinite("the penalised sums", ridge)

    def _commit(self, step: _Step) -> None:
        """Count a step whose residuals are known."""
        C = len(self.intercept)
        self.weights.append(step.weights[:, :C].astype(self.source.dtype))
        R = self._residuals
        error = float(np.einsum("ij,ij->", R[:, :C], R[:, :C], dtype=np.float64)) / self._weight
        trace = float(np.einsum("ij,ij->", self._signs, R[:, C:], dtype=np.float64))
        trace /= 1 if self._signs.shape[1] == len(R) else self._signs.shape[1]
        freedom = max(1 - (len(R) - trace) / self._n, _LEAST)
        rest = np.maximum(1 - self.shrinkage * self._unit * step.hats, _LEAST)
        self._rest = _Left(
            self._rest.residuals - step.scores, self._rest.log_rest + np.log(rest), freedom
        )
        self.path.append(error / freedom**2)
        if not self.best or self.path[-1] < (1 - _BETTER) * self.path[self.best - 1]:
            self.best, self._at_best = len(self.path), self._rest

    # -- left-out rows ------------------------------------------------------------------

    def _held_out(self, left: _Left) -> HeldOut:
        self._shown = left
        vars(self).pop("held_out", None)
        return self.held_out

    def _sample_residuals(self) -> NDArray:
        r"""Return approximate leave-one-out residuals :math:`e_i / (1 - h_i)`.

        The factors :math:`\prod_t (1 - \eta h_i^t)` tell rows apart, but make too much of steps
        that overlap; a common power of them has the mean that the trace says.
        """
        weight, _ = self._weights(self.sample)
        unit = self._unit
        w = np.ones(len(unit)) if weight is None else weight
        counts = np.divide(w, unit, out=np.zeros(len(unit)), where=unit > 0)
        power = _power(self._shown.log_rest, counts, self._shown.freedom)
        return self._shown.residuals / np.exp(power * self._shown.log_rest)[:, None]


def _added(total: _Sums | None, part: _Sums | None) -> _Sums | None:
    if total is None or part is None:
        return None
    total = total.in_double()
    np.add(total.gram, part.gram, out=total.gram)
    np.add(total.cross, part.cross, out=total.cross)
    return total


def _sums(H: NDArray, R: NDArray) -> _Sums:
    sums = _Sums(gram(H), H.T @ R)
    # A block that overflows must not get into the sums of the others.
    _checks.finite_sums(np.diagonal(sums.gram), sums.cross)
    return sums


def _probes(n_rows: int, seed: int) -> NDArray:
    """Return random signs, some for each row, or the identity for few rows."""
    if n_rows <= _MOST:
        return np.eye(n_rows, dtype=np.int8)
    n_probes = min(max(_PROBES // n_rows, _FEWEST), _MOST)
    bits = priorities(0, n_rows, seed)[:, None] >> np.arange(n_probes, dtype=np.uint64)
    return (2 * (bits & np.uint64(1)).astype(np.int8) - 1).astype(np.int8)


def _power(log_rest: NDArray, counts: NDArray, freedom: float) -> float:
    """Return c such that the weighted mean of exp(c · log_rest) is the freedom left."""
    share = counts / counts.sum()

    def excess(c: float) -> float:
        return float(share @ np.exp(c * log_rest)) - freedom

    top = 1.0
    while excess(top) > 0 and top < 1e3:
        top *= 2
    if excess(0.0) <= 0 or excess(top) > 0:  # nothing was fitted, or no row of these
        return 0.0
    root: Any = brentq(excess, 0.0, top)
    return float(root)
