r"""A ball of fixed radius, moved until it touches every point: no programme to solve.

Where the diagonal of :math:`\tilde K` is :math:`\eta` (see :mod:`kernelm.margin.ball`), a ball of
radius :math:`\sqrt\eta` holds all points if its centre is right. A point at distance
:math:`d > (1 + \varepsilon)\sqrt\eta` pulls the centre towards itself until it touches the ball,

.. math:: \beta = \sqrt\eta / d, \qquad \alpha \leftarrow \beta\alpha, \quad
   \alpha_\ell \leftarrow \alpha_\ell + 1 - \beta,

and :math:`\varepsilon` is halved whenever no point is left outside.

References
----------
Tsang, Kocsor and Kwok (2007), Simpler core vector machines with enclosing balls.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from kernelm.kernels import Kernel
from kernelm.margin.ball import Ball, core_matrix
from kernelm.margin.furthest import Core, Points, Search, chosen
from kernelm.ridge import Status

_ROWS = 1024  # a block in which points pull one after the other


class _Centre:
    """A centre that moves: weights, and the squared length of what they add up to."""

    def __init__(self, kernel: Kernel, bias: float, core: Core) -> None:
        self.kernel, self.bias = kernel, bias
        self.parts, self.evaluations = [core], 0
        self.alpha = np.ones(1)
        self.where = {int(core.key[0]): 0}
        self.rho = self._diag(core)

    @property
    def core(self) -> Core:
        if len(self.parts) > 1:
            whole = self.parts[0]
            for part in self.parts[1:]:
                whole = whole.joined(part)
            self.parts = [whole]
        return self.parts[0]

    def scores(self, points: Points) -> NDArray:
        """Return ⟨c, F⟩ of the points of a block, without their private coordinates."""
        core = self.core
        W = self.alpha[:, None] * core.codes
        self.evaluations += len(points.ridge) * len(core.g)
        K = self.kernel.gram(points.X, core.X.astype(points.X.dtype, copy=False))
        F = K @ W + self.bias * W.sum(axis=0)
        return np.einsum("nm,nm->n", points.codes[:, 0], F)

    def absorb(self, points: Core, added: NDArray, factor: float, rho: float) -> None:
        """Take in points that pulled: all weights shrink by a factor, theirs are added."""
        self.alpha *= factor
        self.rho = rho
        keys = points.key.tolist()
        new = np.array([key not in self.where for key in keys])
        if new.any():
            self.parts.append(points.take(np.flatnonzero(new)))
            for at in np.flatnonzero(new):
                self.where[keys[at]] = len(self.where)
            self.alpha = np.concatenate([self.alpha, np.zeros(int(new.sum()))])
        self.alpha[[self.where[key] for key in keys]] += added

    def weight_of(self, points: Points) -> NDArray:
        return np.array([self._weight(key) for key in points.position.tolist()])

    def _weight(self, key: int) -> float:
        at = self.where.get(key)
        return 0.0 if at is None else float(self.alpha[at])

    def _diag(self, core: Core) -> float:
        k = float(self.kernel.diag(core.X.astype(np.float64))[0])
        return float(core.codes[0] @ core.codes[0]) * (k + self.bias) + float(core.ridge[0])


def touch(
    search: Search,
    kernel: Kernel,
    bias: float,
    *,
    eps: float,
    max_core: int,
    seconds: float = np.inf,
    seed: int = 0,
) -> Ball:
    """Move a ball of fixed radius until every point is within (1 + eps) of it.

    The radius is the root of ``g``, which is the same for all points.
    """
    start = time.monotonic()
    first = search.first(np.random.default_rng(seed), 1)
    eta, centre = float(first.g[0]), _Centre(kernel, bias, first)
    epsilon, rounds, status = 1.0, 0, Status.OK
    while epsilon > eps and status is Status.OK:
        epsilon = max(epsilon / 2, eps)
        pulled = True
        while pulled and status is Status.OK:
            rounds += 1
            pulled = False
            for points in search.all_points(_ROWS):
                pulled |= _sweep(centre, points, eta, epsilon, max_core - len(centre.alpha))
                if len(centre.alpha) >= max_core or time.monotonic() - start > seconds:
                    status = Status.CORE_BUDGET
                    break
    level = eta - centre.rho  # so that the radius is the fixed one
    ball = Ball(centre.core, centre.alpha, centre.rho, level, level, eta, 0, rounds, status)
    _, furthest = search.everything(ball)
    furthest = max(furthest, eta)
    return Ball(
        centre.core,
        centre.alpha,
        centre.rho,
        level,
        level,
        furthest,
        search.evaluations + centre.evaluations,
        rounds,
        status,
    )


def _sweep(centre: _Centre, points: Points, eta: float, epsilon: float, room: int) -> bool:
    """Let the points of a block that are outside pull, the furthest first, until none is."""
    from kernelm.margin._loops import pull

    limit = (1 + epsilon) ** 2 * eta
    score = centre.scores(points)
    score += centre.weight_of(points) * points.ridge
    at = np.flatnonzero(centre.rho - 2 * score + eta > limit)
    if not len(at):
        return False
    at = at[np.argsort(score[at], kind="stable")[:room]]
    outside = chosen(points, at, np.zeros(len(at), np.intp))
    Q = core_matrix(centre.kernel, centre.bias, outside)
    centre.evaluations += Q.size
    added, slope = np.zeros(len(at)), score[at].astype(np.float64)
    factor, rho = pull(Q, slope, added, centre.rho, eta, limit)
    pulled = np.flatnonzero(added)
    centre.absorb(outside.take(pulled), added[pulled], factor, rho)
    return True
