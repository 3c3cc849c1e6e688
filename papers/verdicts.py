"""How our number stands to the paper's, and what that says of a claim."""

from __future__ import annotations

from enum import StrEnum

from papers.expected import Printed
from papers.experiment import Column

CONFIRMED, NOT_CONFIRMED, NOT_TESTABLE = "confirmed", "not confirmed", "not testable"


class Standing(StrEnum):
    """Ours beside the paper's."""

    BETTER = "better"  # at least as good as printed
    REPRODUCED = "reproduced"  # within the tolerance, or within the printed interval
    WORSE = "worse"
    NOT_RUN = "not run"
    NOT_COMPARED = "not compared"  # no number is printed, or it depends on the machine


def standing(printed: Printed | None, ours: float | None, column: Column) -> Standing:
    """Return how a number stands to the printed one.

    Examples
    --------
    >>> standing(Printed(91.25), 90.6, Column("NKELM")).value
    'reproduced'
    >>> standing(Printed(4.4, low=4.1, high=4.7), 4.8, Column("Gaussian", better="lower")).value
    'worse'
    """
    if printed is None or not column.better:
        return Standing.NOT_COMPARED
    if ours is None:
        return Standing.NOT_RUN
    gain = ours - printed.value if column.better == "higher" else printed.value - ours
    if gain >= 0:
        return Standing.BETTER
    if printed.low is not None and printed.high is not None:
        within = printed.low <= ours <= printed.high
    else:
        within = -gain <= column.tolerance
    return Standing.REPRODUCED if within else Standing.WORSE
