"""Which rows are wanted, from a line of text."""

from __future__ import annotations

import ast
import re
from typing import Any

from kernelm.app.cli.errors import Usage

Condition = tuple[str, str, Any]

_SHAPE = re.compile(
    r"^\s*(?P<column>.+?)\s*(?P<op>==|!=|<=|>=|=|<|>|\s(?:not\s+)?in\s)\s*(?P<value>.+?)\s*$",
    re.IGNORECASE,
)
_AND = re.compile(r"\s+and\s+", re.IGNORECASE)


def conditions(text: str) -> list[Condition]:
    """Return the conditions of a text, all of which are to hold.

    Examples
    --------
    >>> conditions("age > 30 and `home country` in NZ, IS")
    [('age', '>', 30), ('home country', 'in', ['NZ', 'IS'])]
    """
    return [_condition(part, text) for part in _AND.split(text.strip())]


def value(text: str) -> Any:
    """Return a number, a quoted text, a list or the like; anything else is text as it stands.

    Examples
    --------
    >>> value("1e-3"), value("true"), value("NZ"), value("'1'"), value("[1, 2]")
    (0.001, True, 'NZ', '1', [1, 2])
    """
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _condition(part: str, text: str) -> Condition:
    found = _SHAPE.match(part)
    if found is None:
        raise Usage(
            f"--where {text!r} is not understood at {part!r}; expected COLUMN OP VALUE with OP "
            "among ==, !=, <, <=, >, >=, in, not in, joined by 'and', such as 'age > 30'"
        )
    op = " ".join(found["op"].lower().split())
    column = found["column"]
    if len(column) > 1 and column[0] == column[-1] and column[0] in "`\"'":
        column = column[1:-1]
    if op.endswith("in"):
        return column, op, [value(item.strip()) for item in found["value"].strip("()[]").split(",")]
    return column, "==" if op == "=" else op, value(found["value"])
