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

    @property
    def is_a_matter_of_picking(self) -> bool:
        """Whether ours is worse, but not when it is picked on test rows as well."""
        picked = standing(self.printed, self.optimistic, self.column)
        good = picked in (Standing.BETTER, Standing.REPRODUCED)
        return self.standing is Standing.WORSE and good


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


def once(found: Iterable[Beside], *, copied: bool = False) -> list[Beside]:
    """Return cells without repetition: what a paper prints in several tables counts once.

    Numbers that it copied from elsewhere are on their own.
    """
    different = {
        (b.home, b.row, b.column.machine, b.column.field, b.printed): b
        for b in found
        if b.column.copied is copied
    }
    return list(different.values())


def counts(found: Iterable[Beside]) -> Counter[Standing]:
    """Return how many cells stand how."""
    return Counter(b.standing for b in found)


def share(count: Counter[Standing]) -> float | None:
    """Return the share of cells we ran that are as good as printed, or nearly so."""
    good = count[Standing.BETTER] + count[Standing.REPRODUCED]
    ran = good + count[Standing.WORSE]
    return good / ran if ran else None
