"""Ours beside the paper's, cell by cell, and how often we are better or worse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from papers import catalog
from papers.expected import Printed
from papers.experiment import Column, Mode, Paper, Table
from papers.verdicts import Standing, standing


@dataclass(frozen=True)
class Beside:
    """One cell of a printed table: the paper's number, ours, and ours picked on test rows."""

    table: str
    home: str  #: the table whose cells these are
    row: str
    column: Column
    printed: Printed | None
    ours: Any
    optimistic: float | None
    mode: Mode | None
    standing: Standing
    reason: str

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        if self.printed is None or not isinstance(self.ours, int | float):
            return None
        return self.ours - self.printed.value


def cells(paper: Paper, table: Table, folder: Path = catalog.FOLDER) -> list[Beside]:
    """Return every cell of a printed table with what we have for it."""
    known, expected = catalog.results(paper.key, folder), catalog.expected(paper.key)
    home = table.source or table.name
    found = []
    for row in table.rows:
        for column in table.columns:
            kept = known.cell(home, row, column.machine)
            result = {} if kept is None else kept["result"]
            printed, ours = expected.get(table.name, row, column.name), result.get(column.field)
            why = table.why_not(row, column.machine)
            number = ours if isinstance(ours, int | float) else None
            mode = None if kept is None else Mode(kept["mode"])
            thinned = f"A quick run: {result.get('thinned', '')}" if mode is Mode.QUICK else ""
            found.append(
                Beside(
                    table.name,
                    home,
                    row,
                    column,
                    printed,
                    ours,
                    result.get(column.optimistic) if column.optimistic else None,
                    mode,
                    standing(printed, number, column),
                    why or thinned or expected.reason(table.name, row, column.name),
                )
            )
    return found


def every(paper: Paper, folder: Path = catalog.FOLDER) -> Iterator[Beside]:
    """Yield the cells of all tables of a paper."""
    for table in paper.tables:
        yield from cells(paper, table, folder)


def counts(found: Iterable[Beside], *, copied: bool = False) -> Counter[Standing]:
    """Return how many cells stand how.

    A number that a paper prints in several tables counts once; those that it copied from elsewhere
    are counted on their own.
    """
    once = {
        (b.home, b.row, b.column.machine, b.column.field, b.printed): b.standing
        for b in found
        if b.column.copied is copied
    }
    return Counter(once.values())


def share(count: Counter[Standing]) -> float | None:
    """Return the share of cells we ran that are as good as printed, or nearly so."""
    good = count[Standing.BETTER] + count[Standing.REPRODUCED]
    ran = good + count[Standing.WORSE]
    return good / ran if ran else None
