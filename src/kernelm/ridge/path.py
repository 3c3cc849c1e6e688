"""A criterion for every alpha, and which one is best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from kernelm.ridge.status import Status

_MOST_STEPS = 8
_DECADE, _HALF_DECADE = 10.0, 10**0.5
_FLAT = 0.02  # a decade that changes the error less says that no other alpha is much better

#: Scores this close (relative) are equal: no data set tells them apart, and a larger alpha is
#: the more stable model.
EQUAL = 1e-3


@final
@dataclass(frozen=True, eq=False)
class Path:
    """A criterion for every alpha, the smaller the better.

    Attributes
    ----------
    criterion : str
        "gcv", "loo", "kfold" or "given".
    alphas, scores : ndarray of shape (A,)
        Ridge strengths in rising order and their mean squared error on rows not seen.

    Examples
    --------
    >>> import numpy as np
    >>> path = Path("loo", np.array([0.1, 1.0, 10.0]), np.array([3.0, 1.0, 2.0]))
    >>> path.best, path.status
    (1.0, <Status.OK: ''>)
    """

    criterion: str
    alphas: NDArray
    scores: NDArray
    walked: bool = False  #: the edges were chosen, not given

    @property
    def index(self) -> int:
        """Position of the best score; of equals (to a tenth of a percent) the largest alpha."""
        low = np.fmin.reduce(self.scores)
        if not np.isfinite(low):
            return len(self.scores) - 1
        return int(np.flatnonzero(self.scores <= low + EQUAL * abs(low))[-1])

    @property
    def best(self) -> float:
        """The chosen alpha."""
        return float(self.alphas[self.index])

    @property
    def score(self) -> float:
        """The best score."""
        return float(self.scores[self.index])

    @property
    def status(self) -> Status:
        """OK, or on which edge of the candidates the best one lies."""
        if self.walked or len(self.alphas) < 3 or 0 < self.index < len(self.alphas) - 1:
            return Status.OK
        return Status.EDGE_LOW if self.index == 0 else Status.EDGE_HIGH


def walk(error: Callable[[float], float], start: float, *, closely: bool = False) -> Path:
    """Try alphas in decades, downhill in a leave-one-out error that is expensive.

    A valley that is flat is low enough; ``closely`` goes by half decades until there is a slope on
    both sides, which suits a start that is a good guess.

    Examples
    --------
    >>> import math
    >>> path = walk(lambda alpha: 1 + (math.log10(alpha) + 2) ** 2, start=1.0)
    >>> path.alphas.round(4).tolist(), round(path.best, 4)
    ([0.001, 0.01, 0.1, 1.0], 0.01)
    """
    tried = {start: error(start)}
    step, flat = (_HALF_DECADE, 0.0) if closely else (_DECADE, _FLAT)

    def descend(factor: float) -> bool:
        """Go on while it pays; return whether the other side need not be tried."""
        here = start
        while len(tried) < _MOST_STEPS:
            there = factor * here
            tried[there] = error(there)
            if not tried[there] < (1 - flat) * tried[here]:
                return here != start or tried[there] < (1 + flat) * tried[here]
            here = there
        return True

    if not descend(1 / step):  # more rows or landmarks want less ridge, as a rule
        descend(step)
    alphas = np.sort(list(tried))
    return Path("loo", alphas, np.array([tried[a] for a in alphas]), walked=True)
