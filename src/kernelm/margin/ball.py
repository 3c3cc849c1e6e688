r"""The minimum enclosing ball of rows in the space of a kernel, by core sets.

Every point stands for a row with a code :math:`c` (the sign of its class, say), a private
coordinate that only it has, and an offset:

.. math:: \tilde K_{pq} = \langle c_p, c_q \rangle\,(k(x_p, x_q) + b) + \delta_{pq} r_p, \qquad
   \max_\alpha\; \alpha^\top g - \alpha^\top \tilde K \alpha,\quad \alpha \in \text{simplex}.

With :math:`g_p = \tilde K_{pp}` this is the smallest ball that holds all points; with any larger
:math:`g_p` it is the ball of points with one more private coordinate each
(:math:`\sqrt{g_p - \tilde K_{pp}}`, the centre having zero there), so that kernels whose diagonal
is not constant need no other method, and neither does a linear term. The centre is
:math:`\sum \alpha_p \tilde\varphi_p`, and with :math:`\rho = \alpha^\top \tilde K \alpha`

.. math:: R^2 = \alpha^\top g - \rho, \qquad
   d_p^2 = \rho - 2 (\tilde K \alpha)_p + g_p, \qquad
   (\tilde K \alpha)_p = \langle c_p, F(x_p) \rangle + r_p \alpha_p,\quad
   F(x) = \sum_q \alpha_q c_q\,(k(x, x_q) + b).

Points with :math:`\alpha > 0` are the core set. Those furthest from the centre are added to it,
some at a time, until no point is outside :math:`(1 + \varepsilon) R`: a ball of radius
:math:`\max d_p` holds everything and none smaller than R does, which bounds the error of both.
How many points that takes depends on :math:`\varepsilon` and not on the number of rows.

References
----------
Bădoiu and Clarkson (2008), Optimal core-sets for balls. Tsang, Kwok and Cheung (2005), Core
vector machines. Tsang, Kwok and Zurada (2006), Generalized core vector machines.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from kernelm import _checks
from kernelm._config import working_bytes
from kernelm._lapack import trtri
from kernelm.kernels import Kernel
from kernelm.margin.furthest import Core, Search
from kernelm.margin.simplex import by_pairs, factor, maximise
from kernelm.ridge import Status
from kernelm.ridge.triangles import tiles

ALL_AT_ONCE = 512  # points up to which all of them are the core set to begin with
# Points that are added at a time: as many as there are while they are few, then half of that. More
# would be faster for tight tolerances, and make the core set larger than it need be.
_FEWEST, _FEW = 64, 1024
_EXACT = 200  # points up to which Cholesky factors are the faster solver
_LOOK = 4  # times as many rows are looked at in each round
_CLOSER = 0.1  # share of the tolerance for points outside that is allowed inside


@final
@dataclass(frozen=True, eq=False)
class Ball:
    """A ball that holds every point, to a stated tolerance."""

    core: Core  #: the points that carry weight
    alpha: NDArray  #: their weights, which sum to one
    rho: float  #: squared length of the centre
    level: float  #: λ, the mean of g − 2K̃α under α
    top: float  #: its largest value in the core set
    furthest: float  #: squared distance of the furthest point of all
    evaluations: int  #: kernel values that were computed
    rounds: int
    status: Status

    @property
    def radius(self) -> float:
        """R, the radius of the smallest ball around the core set."""
        return float(np.sqrt(max(self.rho + self.level, 0.0)))

    @property
    def violation(self) -> float:
        """ε that was reached: the furthest point is at (1 + ε) R."""
        return float(np.sqrt(max(self.furthest, 0.0)) / self.radius - 1) if self.radius else 0.0

    @property
    def gap(self) -> float:
        """Upper minus lower bound of the squared radius."""
        return max(self.furthest - self.radius**2, 0.0)

    @property
    def weights(self) -> NDArray:
        """Columns α c of the core rows: F(x) = (k(x, Z) + b) @ weights."""
        return self.alpha[:, None] * self.core.codes

    def with_core(self, core: Core) -> Ball:
        """Return the ball with its core points named otherwise."""
        return replace(self, core=core)

    def carrying(self) -> Ball:
        """Return the ball without the points that carry no weight."""
        at = np.flatnonzero(self.alpha > 0)
        return replace(self, core=self.core.take(at), alpha=self.alpha[at])


def enclose(
    search: Search,
    kernel: Kernel,
    bias: float,
    *,
    tolerance: Callable[[Ball], float],
    max_core: int,
    seconds: float = np.inf,
    seed: int = 0,
    solver: type[Grown] | None = None,
) -> Ball:
    """Grow a core set until its ball holds every point.

    Parameters
    ----------
    search : Search
        Finds the points furthest from a centre.
    kernel : Kernel
        With numbers for its scales.
    bias : float
        b, which is added to the kernel.
    tolerance : callable
        From a ball, how far the squared distance of the furthest point may exceed R².
    max_core, seconds : int, float
        Where to stop in any case, with a status that says so.
    seed : int
        Of the first points and of the samples.
    solver : type, optional
        How the ball of a core set is found: a kind of :class:`Grown`.
    """
    rng, start = np.random.default_rng(seed), time.monotonic()
    few = search.n_points <= min(ALL_AT_ONCE, max_core)
    n_first = int(min(max(min(ALL_AT_ONCE, search.n_points / 16), _FEWEST), max_core))
    first = search.every_point() if few else search.first(rng, n_first)
    grown = (solver or Grown)(kernel, bias, first, tolerance)
    if few:  # nothing is gained by choosing, and the solution is exact
        ball = grown.solve()
        return grown.ball(ball.rho + ball.top, 1, len(ball.alpha) ** 2)
    ball = grown.solve()
    rounds, look = 0, _LOOK * n_first
    while True:
        rounds += 1
        n_core = len(ball.alpha)
        room = max_core - n_core
        n = min(max(n_core if n_core <= _FEW else n_core // 2, _FEWEST), room)
        found, furthest = search.furthest(ball, max(n, 1), rng, tolerance(ball), look)
        look *= _LOOK
        ball = grown.ball(furthest, rounds, search.evaluations)
        if search.is_complete and ball.gap <= tolerance(ball):
            return ball
        if room <= 0 or time.monotonic() - start > seconds:
            if not search.is_complete:
                _, furthest = search.everything(ball)
            return grown.ball(furthest, rounds, search.evaluations, Status.CORE_BUDGET)
        if len(found.g):
            grown.add(found, search)
        if len(found.g) or search.is_complete:
            ball = grown.solve(_CLOSER * tolerance(ball))
        if len(found.g) and search.is_complete and not ball.alpha[-len(found.g) :].any():
            # They are outside by rounding alone: they would be found again for ever.
            return grown.ball(furthest, rounds, search.evaluations, Status.CORE_BUDGET)


class Grown:
    """The core set, the matrix of its points, and its smallest ball."""

    def __init__(
        self,
        kernel: Kernel,
        bias: float,
        core: Core,
        tolerance: Callable[[Ball], float] | None = None,
    ) -> None:
        self.kernel, self.bias, self.core, self.tolerance = kernel, bias, core, tolerance
        self.Q = self._extended(np.empty((0, 0)))
        self.alpha = np.full(len(core.g), 1 / len(core.g))

    def add(self, found: Core, search: Search) -> None:
        """Take in points; those that have lost their weight go."""
        at = np.flatnonzero(self.alpha > 0)
        if len(at) < len(self.alpha):
            self.Q, self.alpha = self.Q[np.ix_(at, at)], self.alpha[at]
            self.core = self.core.take(at)
            search.keep(at)
        self.core = self.core.joined(found)
        self.Q = self._extended(self.Q)

    def solve(self, tolerance: float = 0.0) -> Ball:
        """Solve on the core set, few points exactly, many to a tolerance."""
        n, n_new = len(self.core.g), len(self.core.g) - len(self.alpha)
        if n <= _EXACT or not tolerance:
            support = np.concatenate([self.alpha > 0, np.ones(n_new, bool)])
            self.vertex = maximise(self.Q, self.core.g, support)
        else:
            start = np.concatenate([self.alpha, np.zeros(n_new)])
            self.vertex = by_pairs(self.Q, self.core.g, start, tolerance)
        self.alpha = self.vertex.alpha
        return self.ball(np.nan, 0, 0)

    def ball(
        self, furthest: float, rounds: int, evaluations: int, status: Status = Status.OK
    ) -> Ball:
        """Return the ball of the present weights."""
        alpha, level, top = self.alpha, self.vertex.level, float(self.vertex.slope.max())
        rho = 0.5 * (float(alpha @ self.core.g) - level)  # αᵀ(g − 2K̃α) = λ
        return Ball(self.core, alpha, rho, level, top, furthest, evaluations, rounds, status)

    def _extended(self, Q: NDArray) -> NDArray:
        """Return the matrix with the rows of new points."""
        core, before, n = self.core, len(Q), len(self.core.g)
        whole = np.empty((n, n), core.X.dtype if n > ALL_AT_ONCE else np.float64)
        whole[:before, :before] = Q
        Z, codes = core.X.astype(whole.dtype), core.codes.astype(whole.dtype)
        new = whole[before:]
        new[:] = self.kernel.gram(Z[before:], Z)
        new += self.bias
        new *= codes[before:] @ codes.T
        new[np.arange(n - before), np.arange(before, n)] += core.ridge[before:]
        for rows in tiles(before):
            whole[rows, before:] = new[:, rows].T
        return whole


def left_out_slack(Q: NDArray, alpha: NDArray, ridge: NDArray, share: NDArray) -> NDArray:
    r"""Return :math:`r_i \alpha_i / (1 - s_i h_i)`, :math:`h_i = 1 - r_i (Q^{-1})_{ii}`.

    It is the slack of a core point when a share s of its weight is left out and the others keep
    carrying weight: leave-one-out of the ridge regression on the core set.
    """
    inverse = factor(Q)
    _checks.factored(trtri(inverse))
    inverse = np.triu(inverse)
    hat = 1 - ridge * np.einsum("ij,ij->i", inverse, inverse)
    return ridge * alpha / np.maximum(1 - share * hat, 1e-12)


def core_matrix(kernel: Kernel, bias: float, core: Core) -> NDArray:
    """Return K̃ of a core set."""
    return Grown(kernel, bias, core._replace(X=core.X.astype(np.float64))).Q


def most_core(max_core: int | str) -> int:
    """Return the most core points: as many as given, or as twice the working memory holds."""
    if isinstance(max_core, str):
        _checks.one_of(max_core, "max_core (or a number)", ["auto"])
        return int(np.sqrt(2 * working_bytes() / 8))
    return _checks.integer(max_core, "max_core", low=2)
