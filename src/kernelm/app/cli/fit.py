"""``kernelm fit``: a table becomes a model in a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from kernelm.app.cli import console
from kernelm.app.cli.about import about, shown
from kernelm.app.cli.errors import INTERRUPTED
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
    Weight,
    Where,
    typer,
)
from kernelm.app.cli.outputs import place
from kernelm.app.cli.reading import Request, Stream, Table, split_names, stream, table
from kernelm.app.cli.settings import fittable, machine, made, slug
from kernelm.app.machines import Machine, Shape
from kernelm.app.report.table import seconds
from kernelm.ridge import Status
from kernelm.store import save

__all__ = ["PYTHON", "fit"]

PYTHON = """In Python:

\b
    import kernelm, pandas
    frame = pandas.read_csv("train.csv")
    model = kernelm.KernelELMClassifier(random_state=0)
    model.fit(frame.drop(columns="species"), frame["species"])
    kernelm.save(model, "model.kelm")

\b
    # files larger than memory
    source = kernelm.data.scan("train-*.parquet", target="species", missing="fill")
    model.fit_source(source)
"""

_NAMES = ", ".join(slug(m) for m in fittable())


def fit(
    data: Data = None,
    target: Target = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", help="File for the model, such as model.kelm.", metavar="FILE"
        ),
    ] = None,
    task: TaskOption = Task.AUTO,
    machine_name: Annotated[
        str, typer.Option("--machine", help=f"One of {_NAMES}.", metavar="NAME")
    ] = "kernel-elm",
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of the machine.", metavar="NAME=VALUE"),
    ] = None,
    features: Features = None,
    drop: Drop = None,
    weight: Weight = None,
    where: Where = None,
    on_error: Errors = OnError.RAISE,
    seed: Seed = 0,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Folder to keep sums in: the same command goes on from there."),
    ] = None,
    format: FileFormat = None,
    delimiter: Delimiter = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> int | None:
    """Fit a machine to a table; by default a kernel machine that tunes itself.

    Missing numbers become medians with a column that says so, names become levels, and rows
    without a target are left out.
    """
    chosen = machine(machine_name, "--machine", fittable())
    request = Request(
        data,
        target,
        split_names(features),
        split_names(drop) or (),
        weight,
        where,
        on_error.value,
        None if format is None else format.value,
        delimiter,
    )
    path = None if output is None else place(output, "--output", [".kelm"], data=data)
    begin = time.perf_counter()
    job = _Job(request, task.value, chosen, assignments or [], seed, quiet or json)
    streams = checkpoint is not None or request.is_large
    model, told = _streamed(job, checkpoint) if streams else _held(job)
    told["seconds"] = time.perf_counter() - begin
    if path is not None:
        save(model, path)
        told |= {"file": str(path), "bytes": path.stat().st_size}
    _tell(told | about(model), json=json)
    return INTERRUPTED if _asked_to_stop(model) else None


class _Job(NamedTuple):
    """What is fitted to what."""

    request: Request
    task: str
    machine: Machine
    assignments: list[str]
    seed: int
    quiet: bool

    def model(self, rows: Table | Stream, n_rows: int, n_columns: int) -> Any:
        """Return an unfitted model for these rows, after the notes about them."""
        is_sparse = isinstance(rows, Table) and hasattr(rows.X, "indptr")
        shape = Shape(rows.task, n_rows, n_columns, is_sparse, self.seed)
        model = made(self.machine, shape, self.assignments)
        for note in () if self.quiet else rows.notes:
            console.warn(f"note: {note}")
        return model

    def found(self, rows: Table | Stream, n_rows: int) -> dict[str, Any]:
        """Return what is told about the rows."""
        return {
            "data": self.request.name,
            "rows": n_rows,
            "task": rows.task,
            "task_reason": rows.reason,
            "notes": list(rows.notes),
        }


def _held(job: _Job) -> tuple[Any, dict[str, Any]]:
    """Fit to rows in memory."""
    rows = table(job.request, job.task)
    n_rows, n_columns = rows.X.shape
    model = job.model(rows, n_rows, n_columns)
    with console.busy(f"fitting {type(model).__name__} to {n_rows:,} rows", quiet=job.quiet):
        model.fit(rows.X, rows.y, sample_weight=rows.weight)
    return model, job.found(rows, n_rows)


def _streamed(job: _Job, checkpoint: Path | None) -> tuple[Any, dict[str, Any]]:
    """Fit to rows that are read block by block."""
    rows = stream(job.request, job.task)
    n_rows = rows.source.n_rows or 0
    model = job.model(rows, n_rows, rows.source.n_features)
    model.set_params(verbose=0 if job.quiet else 1)
    try:
        model.fit_source(rows.source, checkpoint=checkpoint)
    except KeyboardInterrupt:
        if checkpoint is not None:
            console.warn(f"sums are kept in {checkpoint}: the same command goes on from there")
        raise
    return model.set_params(verbose=0), job.found(rows, n_rows)


def _tell(found: dict[str, Any], *, json: bool) -> None:
    if json:
        console.document(found)
        return
    words = found | {
        "task": f"{found['task']} ({found['task_reason']})",
        "seconds": None,
        "time": seconds(found["seconds"]),
    }
    hidden = ("task_reason", "notes", "file")
    console.pairs(shown({name: value for name, value in words.items() if name not in hidden}))
    if "file" in found:
        console.say(f"wrote {found['file']}; next: kernelm predict {found['file']} NEW_DATA")
    else:
        console.say("the model was not kept; add -o model.kelm")


def _asked_to_stop(model: Any) -> bool:
    return getattr(model, "status_", None) is Status.INTERRUPTED
