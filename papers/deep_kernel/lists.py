"""Which scaling and which list of degrees? All of them, by closed-form leave-one-out.

The thesis tries every scaling with every list of degrees 0 to 3 and prints the best accuracy on
the test rows. Here the leave-one-out error of a kernel ELM on training rows decides; the accuracy
on test rows comes from the same factorisation, and says what a pick on test rows would take.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from kernelm.kernels import ArcCosine, Kernel
from kernelm.learn.multilayer import distinct_lists
from kernelm.ridge import DualFactor
from kernelm.search import ALPHA_SHARES, coding_of
from papers.deep_kernel.sets import Split
from papers.seeds import SEED

#: The 64 lists of degrees 0 to 3 without repeats, the short ones first.
LISTS = [tuple(k.degrees) for k in distinct_lists() if isinstance(k, ArcCosine)]


class Candidate(NamedTuple):
    """A scaling of the inputs and a kernel; a kernel with widths counts by its words."""

    scaler: str
    kernel: Kernel

    def __str__(self) -> str:
        return f"{self.scaler} {words(self.kernel)}"


class Rated(NamedTuple):
    """Leave-one-out error on training rows, and accuracy in % on test rows, which chooses not."""

    error: float
    accuracy: float


@final
@dataclass(frozen=True)
class Effort:
    """Rows for ranking: all candidates on some, the finalists on more."""

    rows: int
    test_rows: int
    final_rows: int
    finalists: int


@final
@dataclass(frozen=True)
class Ranking:
    """Candidates by the leave-one-out error on training rows, the best first."""

    order: Sequence[Candidate]
    rated: Mapping[Candidate, Rated]  #: all of them on the same rows

    @property
    def best(self) -> Candidate:
        """The choice."""
        return self.order[0]


def words(kernel: Kernel) -> str:
    """Return a list as people read it, of unit length unless it says otherwise.

    Examples
    --------
    >>> words(ArcCosine([0, 1], normalize=True)), words(ArcCosine([0, 1]))
    ('[0, 1]', '[0, 1] as it is')
    """
    if not isinstance(kernel, ArcCosine):
        return repr(kernel)
    return f"{list(kernel.degrees)}{'' if kernel.normalize else ' as it is'}"


def deep(scalers: Sequence[str], *, normalize: Sequence[bool]) -> list[Candidate]:
    """Return every scaling with every list, of unit length or as it is."""
    kernels = [ArcCosine(degrees, normalize=n) for n in normalize for degrees in LISTS]
    return [Candidate(scaler, kernel) for scaler in scalers for kernel in kernels]


def rank(split: Split, candidates: Sequence[Candidate], effort: Effort) -> Ranking:
    """Rank candidates on training rows: all on some rows, and then the best few on more."""
    rated = _rated(split, candidates, effort.rows, effort.test_rows)
    order = sorted(candidates, key=lambda c: rated[c].error)
    if len(split.y) > effort.rows:
        finalists = order[: effort.finalists]
        final = _rated(split, finalists, effort.final_rows, 1)
        order[: effort.finalists] = sorted(finalists, key=lambda c: final[c].error)
    return Ranking(order, rated)


def leaders(rankings: Sequence[Ranking], n: int) -> list[Candidate]:
    """Return the candidates with the smallest mean error over several splits."""
    every = rankings[0].order
    return sorted(every, key=lambda c: np.mean([r.rated[c].error for r in rankings]))[:n]


def picked_on_test(rankings: Sequence[Ranking]) -> Candidate:
    """Return the candidate with the highest mean accuracy on test rows, as the thesis picked."""
    every = rankings[0].order
    return max(every, key=lambda c: np.mean([r.rated[c].accuracy for r in rankings]))


def _rated(
    split: Split, candidates: Sequence[Candidate], rows: int, test_rows: int
) -> dict[Candidate, Rated]:
    scaled = {s: split.scaled(s).head(rows, test_rows) for s in {c.scaler for c in candidates}}
    return {c: _rate(c.kernel, scaled[c.scaler]) for c in candidates}


def _rate(kernel: Kernel, split: Split) -> Rated:
    kernel = kernel.resolve(split.X, None, SEED)
    coding = coding_of(split.y)
    dual = DualFactor.of(kernel.gram(split.X), coding.encode(split.y, float), intercept=True)
    path = dual.loo_path(dual.values[-1] * ALPHA_SHARES)
    weights = dual.coef(path.best)
    scores = kernel.gram(split.X_test, split.X) @ weights.coef + weights.intercept
    return Rated(path.score, 100 * float(np.mean(coding.decode(scores) == split.y_test)))
