r"""A ball of fixed radius, moved until it touches every point: no programme to solve.

Where the diagonal of :math:`\tilde K` is :math:`\eta` (see :mod:`kernelm.margin.ball`), a ball of
radius :math:`\sqrt\eta` holds all points if its centre is right. A point at distance
:math:`d > (1 + \varepsilon)\sqrt\eta` pulls the centre towards itself until it touches the ball,

.. math:: \beta = \sqrt\eta / d, \qquad \alpha \leftarrow \beta\alpha, \quad
   \alpha_\ell \leftarrow \alpha_\ell + 1 - \beta,

and :math:`\varepsilon` is halved whenever no point is left outside. Points pull within the core
set; rows outside the ball join it as they do for a ball that is solved for.

References
----------
Tsang, Kocsor and Kwok (2007), Simpler core vector machines with enclosing balls.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kernelm.kernels import Kernel
from kernelm.margin.ball import Ball, Grown, enclose
from kernelm.margin.furthest import Search
from kernelm.margin.simplex import Vertex
from kernelm.ridge import Status


def touch(search: Search, kernel: Kernel, bias: float, *, eps: float, **limits: Any) -> Ball:
    """Move a ball of fixed radius until every point is within (1 + eps) of it.

    The radius is the root of ``g``, which is the same for all points; ``limits`` are those of
    :func:`~kernelm.margin.ball.enclose`.
    """
    share = (1 + eps) ** 2 - 1
    return enclose(
        search, kernel, bias, tolerance=lambda ball: share * ball.radius**2, solver=Moved, **limits
    )


@final
class Moved(Grown):
    """The core set, and a ball that its points have pulled until it touches them all."""

    def solve(self, tolerance: float = 0.0) -> Ball:
        """Let points of the core set pull, the furthest first, with tolerances that are halved."""
        from kernelm.margin._loops import pull

        g, n_new = self.core.g, len(self.core.g) - len(self.alpha)
        eta = float(g[0])
        alpha = np.concatenate([self.alpha, np.zeros(n_new)])
        score = (self.Q @ alpha.astype(self.Q.dtype)).astype(np.float64)
        rho = float(alpha @ score)
        self.alpha, self.vertex = alpha, Vertex(alpha, g - 2 * score)
        assert self.tolerance is not None
        last = self.tolerance(self.ball(np.nan, 0, 0)) / eta
        epsilon = 1.0
        while epsilon > last:
            epsilon = max(epsilon / 2, last)
            rho = pull(self.Q, score, alpha, rho, eta, (1 + epsilon) * eta)
        self.vertex = Vertex(alpha, g - 2 * score)
        return self.ball(np.nan, 0, 0)

    def ball(
        self, furthest: float, rounds: int, evaluations: int, status: Status = Status.OK
    ) -> Ball:
        """Return the ball, whose radius is the fixed one."""
        score = 0.5 * (self.core.g - self.vertex.slope)
        rho, eta = float(self.alpha @ score), float(self.core.g[0])
        top = float(self.vertex.slope.max())
        return Ball(
            self.core, self.alpha, rho, eta - rho, top, furthest, evaluations, rounds, status
        )
