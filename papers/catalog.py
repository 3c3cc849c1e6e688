"""Every experiment there is, by name: ``nkelm.table4``."""

from __future__ import annotations

import importlib
from functools import lru_cache
from pathlib import Path

from papers.expected import Expected
from papers.experiment import Paper, Table
from papers.results import Results

FOLDER = Path(__file__).parent
KEYS = ("akelm", "elm_svr", "nkelm", "deep_kernel", "elm_boost")


@lru_cache
def paper(key: str) -> Paper:
    """Return what is reproduced of a paper."""
    return importlib.import_module(f"papers.{key}").PAPER


@lru_cache
def expected(key: str) -> Expected:
    """Return the printed numbers of a paper."""
    return Expected(FOLDER / key / "expected.toml")


def results(key: str, folder: Path = FOLDER) -> Results:
    """Return what was computed for a paper, in this folder or in another one."""
    return Results(folder / key / "results")


def recount(folder: Path = FOLDER) -> Path:
    """Return where the results with other seeds are, beside those of a folder."""
    return folder / "recount"


def experiments() -> dict[str, tuple[Paper, Table]]:
    """Return every table with its paper, by its full name."""
    return {f"{key}.{t.name}": (paper(key), t) for key in KEYS for t in paper(key).tables}


def table(key: str, name: str) -> Table:
    """Return a table of a paper by its name."""
    return next(t for t in paper(key).tables if t.name == name)
