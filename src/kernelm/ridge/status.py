"""What happened in a solve, as a value with advice."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """The outcome of a solve; the text says what was done and what to change.

    Examples
    --------
    >>> print(Status.FLOORED.split(";")[1].strip())
    scale the inputs, use fewer units or a larger alpha
    """

    OK = ""
    FLOORED = (
        "alpha was raised to the smallest value that the sums resolve; "
        "scale the inputs, use fewer units or a larger alpha"
    )
    RANK_DEFICIENT = (
        "alpha is 0 and some directions of the features carry no information, so the "
        "minimum-norm least-squares solution was taken; use a small alpha or fewer units"
    )
    NO_SIGNAL = (
        "every feature is constant over the rows, so the model predicts the mean; "
        "check the inputs, their scaling and the number of rows"
    )
    EDGE_LOW = (
        "the smallest alpha of the candidates was the best; offer smaller ones, or more units"
    )
    EDGE_HIGH = (
        "the largest alpha of the candidates was the best: the features explain little; "
        "offer larger ones, or check that the inputs say something about the target"
    )
    NOT_CONVERGED = (
        "conjugate gradients stopped before they converged; the model is usable, and a larger "
        "alpha or fewer landmarks would bring it closer to its optimum"
    )
    INTERRUPTED = (
        "the fit was interrupted, and the steps that were complete make the model; "
        "fit again with warm_start=True to add the others"
    )
    CORE_BUDGET = (
        "the core set reached its limit (size, time, rounding) before all rows were in the ball; "
        "the model is usable, gap_ says how far it is from its optimum: raise max_core or "
        "max_seconds, take a larger eps, or a smaller C, for rows that overlap need many core "
        "vectors"
    )
