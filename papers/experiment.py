"""What an experiment is: a table or a figure of a paper, computed cell by cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from papers.results import Results

#: What a cell comes to: numbers, words and lists that JSON can hold.
Result = dict[str, Any]


class Mode(StrEnum):
    """How much work a cell may be: minutes for all tables, or hours."""

    QUICK = "quick"
    FULL = "full"


@dataclass(frozen=True)
class Column:
    """A column of a table: which number of which machine, and how it compares.

    ``name`` is the column of expected.toml, ``of`` the machine that is run for it (by default the
    one of that name), ``field`` the number of its result, ``optimistic`` the field of the number
    that was picked on test rows, where the paper did that. ``better`` is "higher", "lower", or ""
    for a number that does not compare between machines, like a time. ``copied`` marks numbers that
    the paper took from elsewhere.
    """

    name: str
    of: str = ""
    field: str = "score"
    optimistic: str = ""
    unit: str = "%"
    better: str = "higher"
    tolerance: float = 1.0
    copied: bool = False

    @property
    def machine(self) -> str:
        """The name that ``run`` is called with."""
        return self.of or self.name


@dataclass(frozen=True)
class Table:
    """A table of a paper; ``run(row, machine, mode)`` computes the result of a cell.

    ``run`` is a function of a module, so that cells may run in other processes. Cells that are
    timed run ``alone``, one at a time with all cores; others share the cores. ``source`` names the
    table whose cells these are, where two tables show numbers of the same fits. ``not_run`` says
    why a row ("news20"), a column ("*/DCNN") or a cell ("shuttle/KELM") is not computed.
    """

    name: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[Column, ...]
    run: Callable[[str, str, Mode], Result]
    note: str = ""
    alone: bool = False
    source: str = ""
    not_run: Mapping[str, str] = field(default_factory=dict)

    @property
    def machines(self) -> tuple[str, ...]:
        """The machines that are run for a row, each once."""
        return tuple(dict.fromkeys(c.machine for c in self.columns))

    def why_not(self, row: str, machine: str) -> str:
        """Return why a cell is not computed, or nothing."""
        keys = (f"{row}/{machine}", row, f"*/{machine}")
        return next((self.not_run[k] for k in keys if k in self.not_run), "")

    def cells(self) -> list[tuple[str, str]]:
        """Return the row and the machine of every cell that is computed."""
        every = [(row, machine) for row in self.rows for machine in self.machines]
        return [cell for cell in every if not self.why_not(*cell)]


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, and the function that judges it by our results.

    ``judge(results)`` returns a verdict of ``papers.verdicts`` and a paragraph with the numbers
    that led to it.
    """

    text: str
    judge: Callable[[Results], tuple[str, str]]


@dataclass(frozen=True)
class Figure:
    """A picture of a paper, drawn from our results on a canvas of matplotlib."""

    name: str
    title: str
    draw: Callable[[Results, Canvas], None]
    size: tuple[float, float] = (7.0, 4.0)


@dataclass(frozen=True)
class Paper:
    """What is reproduced of a paper; ``caveat`` is what a reader of its count should know."""

    key: str
    title: str
    page: str
    tables: tuple[Table, ...]
    claims: tuple[Claim, ...] = ()
    figures: tuple[Figure, ...] = ()
    caveat: str = ""
