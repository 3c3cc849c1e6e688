"""Numbers as people read them."""

from __future__ import annotations

from typing import Any

from papers.beside import Beside
from papers.expected import Printed


def number(value: Any, unit: str) -> str:
    """Return a value in the precision that its unit has in the papers.

    Examples
    --------
    >>> number(91.254, "%"), number(0.0213, "MSE"), number([0, 1], ""), number(None, "%")
    ('91.25', '0.0213', '[0, 1]', '–')
    """
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if unit == "%":
        return f"{value:.2f}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def printed(value: Printed | None, unit: str) -> str:
    """Return a number of a paper, with its interval or its sign.

    Examples
    --------
    >>> printed(Printed(4.4, 4.1, 4.7), "MSE"), printed(Printed(98.9, sign=">"), "%")
    ('4.4 [4.1, 4.7]', '>98.90')
    """
    if value is None:
        return "–"
    text = value.sign + number(value.value, unit)
    if value.low is None or value.high is None:
        return text
    return f"{text} [{number(value.low, unit)}, {number(value.high, unit)}]"


def difference(cell: Beside) -> str:
    """Return ours minus the paper's, or the ratio where machines differ."""
    if cell.difference is None or cell.printed is None:
        return ""
    if cell.column.unit == "%" and cell.column.better:
        return f"{cell.difference:+.2f}"
    ratio = cell.ours / cell.printed.value if cell.printed.value else float("inf")
    return f"×{ratio:.2g}"


def duration(seconds: float) -> str:
    """Return seconds in the unit that suits them.

    Examples
    --------
    >>> duration(42), duration(400), duration(8000)
    ('42 s', '6 min 40 s', '2 h 13 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
