"""``kernelm reproduce``: the published tables of the five papers, run again."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import kernelm
from kernelm.app.cli import console
from kernelm.app.cli.errors import FAILED, INTERRUPTED, Usage, among
from kernelm.app.cli.options import Debug, Json, Quiet, typer

__all__ = ["PYTHON", "reproduce"]

PYTHON = """In Python, in a clone of the repository:

\b
    from papers.experiment import Mode
    from papers.nkelm import PAPER
    table = next(t for t in PAPER.tables if t.name == "table4")
    print(table.run("satimage", "NKELM", Mode.QUICK))
"""


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Tables (nkelm.table4) or papers (nkelm). Without any: what there is.",
            metavar="[NAME]...",
            show_default=False,
        ),
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="Every table of every paper.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Less of everything: minutes.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Also what is there already.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Processes for cells not timed.")] = 2,
    first_seed: Annotated[
        int, typer.Option(min=0, help="Seeds from there on; results are kept apart.", metavar="N")
    ] = 0,
    papers: Annotated[
        str | None,
        typer.Option(help="The folder of the experiments.", metavar="DIR", show_default=False),
    ] = None,
    results: Annotated[
        str | None,
        typer.Option(
            help="Keep results and the page there, not in papers and docs.",
            metavar="DIR",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> int | None:
    """Run tables of the papers again and print their numbers beside ours.

    Results are kept cell by cell: what is there is not computed again, and Ctrl-C loses only the
    cells that were being computed. In the end docs/papers.md is written.
    """
    home = _folder(papers)
    wanted = _Experiments(home, None if results is None else Path(results))
    kept = wanted.catalog.recount(wanted.kept) if first_seed else wanted.kept
    if not names and not all:
        return wanted.list(json=json)
    tables = wanted.tables(list(wanted.known) if all else names or [])
    mode = wanted.mode("quick" if quick else "full")
    cells = wanted.runner.missing(tables, mode, kept, again=again)
    told = _tell(quiet=quiet or json, words=wanted.words)
    try:
        failed = wanted.runner.run(cells, kept, told, jobs=jobs, first_seed=first_seed)
    except KeyboardInterrupt:
        console.warn("interrupted; finished cells are kept, the same command goes on from there")
        return INTERRUPTED
    for done in failed:
        console.warn(f"failed: {done.cell.name}: {done.error.strip().splitlines()[-1]}")
        if debug:
            console.warn(done.error)
    wanted.show(tables, kept, json=json)
    page = wanted.page.write(wanted.docs, wanted.kept)
    if not json and not quiet:
        console.say(f"written: {page}")
    return FAILED if failed else None


class _Experiments:
    """The package of the experiments, found in a clone of the repository."""

    def __init__(self, folder: Path, results: Path | None) -> None:
        if str(folder.parent) not in sys.path:
            sys.path.insert(0, str(folder.parent))

        def part(name: str) -> Any:
            return importlib.import_module(f"papers.{name}")

        self.catalog, self.runner, self.page = part("catalog"), part("runner"), part("page")
        self.beside, self.words, self.mode = part("beside"), part("words"), part("experiment").Mode
        self.known: dict[str, Any] = self.catalog.experiments()
        self.kept = folder if results is None else results
        self.docs = folder.parent / "docs" if results is None else results

    def tables(self, names: list[str]) -> list[str]:
        """Return the tables that names stand for; the name of a paper stands for all it has."""
        found: list[str] = []
        for name in names:
            matching = [t for t in self.known if t == name or t.partition(".")[0] == name]
            if not matching:
                raise among("the experiment", name, [*self.known, *self.catalog.KEYS])
            found += matching
        return list(dict.fromkeys(found))

    def list(self, *, json: bool) -> None:
        """Print every experiment and how much of it there is."""
        rows = []
        for name, (paper, table) in self.known.items():
            modes = Counter(
                str(b.mode) for b in self.beside.cells(paper, table, self.kept) if b.mode
            )
            rows.append((name, table.title, len(table.cells()), modes["full"], modes["quick"]))
        titles = ("name", "title", "cells", "full", "quick")
        if json:
            console.document([dict(zip(titles, row, strict=True)) for row in rows])
            return
        console.table(titles, rows, left=2)
        console.say("Run one with: kernelm reproduce NAME [--quick]")

    def show(self, tables: list[str], kept: Path, *, json: bool) -> None:
        """Print ours beside the paper's."""
        found = [
            (name, b)
            for name in tables
            for b in self.beside.cells(*self.known[name], kept)
            if b.ours is not None or b.printed is not None
        ]
        if json:
            console.document(
                [asdict(b) | {"table": name, "column": b.column.name} for name, b in found]
            )
            return
        rows = []
        for name, b in found:
            unit = b.column.unit
            mode = "" if b.mode is None else str(b.mode)
            paper, ours = self.words.printed(b.printed, unit), self.words.number(b.ours, unit)
            best = "" if b.optimistic is None else self.words.number(b.optimistic, unit)
            gap = self.words.difference(b)
            label = f"{b.row} {b.column.name}"
            rows.append((name, label, mode, paper, ours, gap, best, str(b.standing)))
        titles = ("table", "cell", "mode", "paper", "ours", "", "best on test", "")
        console.table(titles, rows, left=3)


def _folder(given: str | None) -> Path:
    """Return the folder of the experiments: given, around here, or of the clone we run from."""
    here = Path.cwd()
    around = [folder / "papers" for folder in (here, *here.parents)]
    around.append(Path(kernelm.__file__).parents[2] / "papers")
    places = around if given is None else [Path(given).resolve()]
    for place in places:
        if (place / "catalog.py").is_file() and (place / "experiment.py").is_file():
            return place
    where = "here" if given is None else repr(given)
    raise Usage(
        f"the experiments are not {where}: they are in the repository, not in the package; "
        "clone it and run the command there, or name its folder papers with --papers"
    )


def _tell(*, quiet: bool, words: Any) -> Any:
    def tell(progress: Any) -> None:
        if quiet:
            return
        done = progress.done
        left = progress.seconds_left
        rest = "" if left is None else f", about {words.duration(left)} left"
        what = "failed" if done.result is None else f"{done.seconds:.1f} s"
        count = f"{progress.n_done}/{progress.n_cells}"
        console.warn(f"{count} {done.cell.name}: {what}{rest}")

    return tell
