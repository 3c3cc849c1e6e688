"""The printed numbers: ``papers/<key>/expected.toml``.

[table4.satimage]             # a table and a row
NKELM = 91.25                 # a number
ELM = {value = 89.8, low = 89.1, high = 90.5}    # with its interval
SVM = {value = 98.9, sign = ">"}                 # a bound

[reasons]                     # why ours is worse, or anything a reader should know of a cell
"table4/satimage/ELM" = "..."
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Printed:
    """A number of a paper, with its interval or its sign where it has one."""

    value: float
    low: float | None = None
    high: float | None = None
    sign: str = ""


class Expected:
    """What a paper printed, by table, row and column; and our reasons for what is worse."""

    def __init__(self, file: Path) -> None:
        self._content: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))

    def get(self, table: str, row: str, column: str) -> Printed | None:
        """Return a printed number, or None where the paper has none."""
        value = self._content.get(table, {}).get(row, {}).get(column)
        if isinstance(value, dict):
            return Printed(**value)
        return None if value is None else Printed(float(value))

    def reason(self, table: str, row: str, column: str) -> str:
        """Return what is said about a cell, a row ("table4/satimage") or a table ("table4")."""
        reasons = self._content.get("reasons", {})
        keys = (f"{table}/{row}/{column}", f"{table}/{row}", f"{table}/*/{column}", table)
        return next((reasons[k] for k in keys if k in reasons), "")
