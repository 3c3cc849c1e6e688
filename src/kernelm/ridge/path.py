"""A criterion for every alpha, and which one is best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from kernelm.ridge.status import Status

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
        if len(self.alphas) < 3 or 0 < self.index < len(self.alphas) - 1:
            return Status.OK
        return Status.EDGE_LOW if self.index == 0 else Status.EDGE_HIGH
