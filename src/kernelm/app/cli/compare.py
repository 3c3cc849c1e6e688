"""``kernelm compare``: which machine suits a table, and an HTML report that shows it."""

from __future__ import annotations

import json as jsonlib
from typing import Annotated, Any

from kernelm.app import compare as engine
from kernelm.app import report as reports
from kernelm.app.cli import console
from kernelm.app.cli.errors import INTERRUPTED, Usage
from kernelm.app.cli.options import (
    Data,
    Debug,
    Delimiter,
    Drop,
    Errors,
    Features,
    FileFormat,
    Json,
    OnError,
    Quiet,
    Seed,
    Target,
    Task,
    TaskOption,
    Where,
    typer,
)
from kernelm.app.cli.outputs import place
from kernelm.app.cli.reading import Request, sampled, split_names
from kernelm.app.cli.settings import machine, slug
from kernelm.app.comparison import Comparison
from kernelm.app.machines import MACHINES
from kernelm.app.report.table import seconds, size

__all__ = ["PYTHON", "compare"]

PYTHON = """In Python:

\b
    import pandas
    from kernelm.app.compare import compare
    from kernelm.app.report import write
    frame = pandas.read_csv("train.csv")
    found = compare(frame.drop(columns="species"), frame["species"], budget=120)
    write(found, "report.html")
"""

_NAMES = ", ".join(slug(m) for m in MACHINES)


def compare(
    data: Data = None,
    target: Target = None,
    report: Annotated[
        str, typer.Option("--report", "-o", help="The HTML file to write.", metavar="FILE")
    ] = "report.html",
    budget: Annotated[float, typer.Option(min=1, help="Seconds for everything.")] = 120.0,
    splits: Annotated[int, typer.Option(min=1, help="Random splits, at most.")] = 5,
    machines: Annotated[
        str | None, typer.Option(help=f"Some of {_NAMES}.", metavar="A,B,...", show_default=False)
    ] = None,
    task: TaskOption = Task.AUTO,
    features: Features = None,
    drop: Drop = None,
    where: Where = None,
    on_error: Errors = OnError.RAISE,
    seed: Seed = 0,
    format: FileFormat = None,
    delimiter: Delimiter = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> int | None:
    """Fit the machines of kernelm and the usual alternatives to the same splits of a table.

    Ctrl-C ends it early: what was measured until then is shown and reported.
    """
    chosen = [machine(name, "--machines", MACHINES) for name in split_names(machines) or ()]
    if machines is not None and not chosen:
        raise Usage(f"--machines names no machine; expected some of {_NAMES}")
    path = place(report, "--report", [".html", ".htm"], data=data)
    request = Request(
        data,
        target,
        split_names(features),
        split_names(drop) or (),
        where=where,
        on_error=on_error.value,
        format=None if format is None else format.value,
        delimiter=delimiter,
    )
    quiet = quiet or json
    rows = sampled(request, task.value, seed)
    for note in () if quiet else rows.notes:
        console.warn(f"note: {note}")
    with console.bar(budget, quiet=quiet) as progress:
        found = engine.compare(
            rows.X,
            rows.y,
            task=rows.task,
            machines=chosen or None,
            budget=budget,
            n_splits=splits,
            random_state=seed,
            progress=progress,
        )
    _some_result(found)
    reports.write(found, path, title=f"Machines on {request.name}")
    if json:
        notes = [*rows.notes, *found.notes]
        extra = {"report": str(path), "notes": notes, "task_reason": rows.reason}
        console.document(jsonlib.loads(found.to_json()) | extra)
    else:
        _tell(found, rows.reason, str(path), quiet=quiet)
    return INTERRUPTED if found.interrupted else None


def _some_result(found: Comparison) -> None:
    if found.ranking or found.interrupted:
        return
    reasons = "; ".join(f"{r.name}: {r.reason}" for r in found.skipped[:3])
    raise ValueError(f"no machine could be measured ({reasons}); raise --budget or use --machines")


def _tell(found: Comparison, reason: str, path: str, *, quiet: bool) -> None:
    data = found.data
    console.say(
        f"{found.task} ({reason}); {data.n_used:,} rows, {data.n_columns} columns, "
        f"{found.seconds:.0f} s"
    )
    for note in () if quiet else found.notes:
        console.warn(f"note: {note}")
    titles = ["machine", found.score_name, "±", "fit", "predict", "model", "splits"]
    console.table(titles, (_row(row, found.score_name) for row in found.table()))
    for result in () if quiet else found.skipped:
        console.warn(f"not measured: {result.name}: {result.reason}")
    if found.interrupted:
        console.warn("interrupted: this is what was measured until then")
    console.say(f"wrote {path}")


def _row(row: dict[str, Any], score: str) -> list[str]:
    shown = (lambda v: f"{100 * v:.2f} %") if score == "accuracy" else (lambda v: f"{v:.4f}")
    spread, model = row["score_std"], row["model_bytes"]
    return [
        row["name"],
        shown(row["score"]),
        "–" if spread is None else shown(spread),
        seconds(row["fit_seconds"]),
        seconds(row["predict_seconds"]),
        "–" if model is None else size(model),
        str(row["splits"]),
    ]
