"""What was computed: one JSON file a table, written after every cell."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from papers.experiment import Mode, Result, Table


class Results:
    """The results of one paper, by table, row and machine.

    Examples
    --------
    >>> Results(Path("nowhere")).get("table4", "satimage", "NKELM") is None
    True
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[str, dict[str, Any]] = {}

    def get(self, table: str, row: str, machine: str) -> Result | None:
        """Return the result of a cell, or None where it has not been computed."""
        cell = self.cell(table, row, machine)
        return None if cell is None else cell["result"]

    def number(self, table: str, row: str, machine: str, field: str = "score") -> float | None:
        """Return one number of a cell, or None."""
        return (self.get(table, row, machine) or {}).get(field)

    def cell(self, table: str, row: str, machine: str) -> dict[str, Any] | None:
        """Return a result with its mode, seconds and date, or None."""
        return self.file(table)["cells"].get(f"{row}/{machine}")

    def is_done(self, table: Table, row: str, machine: str, mode: Mode) -> bool:
        """Whether a cell needs no work: what a full run found is not replaced by a quick one."""
        cell = self.cell(table.name, row, machine)
        return cell is not None and cell["mode"] in (mode, Mode.FULL)

    def file(self, table: str) -> dict[str, Any]:
        """Return what the file of a table holds."""
        if table not in self._files:
            path = self.folder / f"{table}.json"
            known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
            self._files[table] = {"table": table, "cells": {}} | known
        return self._files[table]

    def put(self, table: str, cells: dict[str, dict[str, Any]], about: dict[str, Any]) -> None:
        """Add cells to the file of a table: it is there whole, as it was or as it will be."""
        content = self.file(table)
        content["cells"] |= cells
        content |= about
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{table}.json"
        beside = path.with_suffix(".json.part")
        beside.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
        os.replace(beside, path)

    def drop(self, table: str) -> None:
        """Forget the results of a table, here; the file stays until the first new cell."""
        self._files[table] = {"table": table, "cells": {}}

    def values(self, table: Table, field: str = "score") -> Iterator[tuple[str, str, float]]:
        """Yield row, machine and number of every computed cell of a table."""
        for row, machine in table.cells():
            number = self.number(table.source or table.name, row, machine, field)
            if number is not None:
                yield row, machine, number
