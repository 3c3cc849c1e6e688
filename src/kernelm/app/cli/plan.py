"""``kernelm plan``: what fits will cost, before any runs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, NamedTuple

import numpy as np

from kernelm.app.cli import console
from kernelm.app.cli.errors import Usage
from kernelm.app.cli.options import (
    Data,
    Debug,
    Delimiter,
    Drop,
    Features,
    FileFormat,
    Json,
    Target,
    Task,
    TaskOption,
    typer,
)
from kernelm.app.cli.reading import Request, split_names, stream, table
from kernelm.app.cli.settings import fittable, slug
from kernelm.app.machines import Shape
from kernelm.app.report.table import size
from kernelm.data.frames import as_numbers
from kernelm.tasks import Plan

__all__ = ["PYTHON", "plan"]

PYTHON = """In Python:

\b
    import kernelm
    print(kernelm.KernelELMClassifier().plan(n_samples=1_000_000, n_features=54, n_outputs=7))
"""


class Sizes(NamedTuple):
    """What the cost of a fit depends on."""

    data: str
    task: str
    rows: int
    columns: int
    outputs: int


def plan(
    data: Data = None,
    target: Target = None,
    rows: Annotated[
        int | None, typer.Option(min=1, help="Instead of DATA.", metavar="N", show_default=False)
    ] = None,
    columns: Annotated[
        int | None, typer.Option(min=1, help="Instead of DATA.", metavar="D", show_default=False)
    ] = None,
    classes: Annotated[
        int, typer.Option(min=1, help="With --rows; 1 for values.", metavar="C")
    ] = 2,
    task: TaskOption = Task.AUTO,
    features: Features = None,
    drop: Drop = None,
    format: FileFormat = None,
    delimiter: Delimiter = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show passes over the rows, arithmetic, memory and size of the model for each machine."""
    if (rows is None) != (columns is None) or (rows is not None and data is not None):
        raise Usage("plan needs DATA with --target, or both --rows and --columns")
    if rows is not None and columns is not None:
        sizes = Sizes(
            "as asked", "classification" if classes > 1 else "regression", rows, columns, classes
        )
    else:
        kind = None if format is None else format.value
        names, others = split_names(features), split_names(drop) or ()
        request = Request(data, target, names, others, format=kind, delimiter=delimiter)
        sizes = _sizes(request, task.value)
    plans = _plans(sizes)
    if json:
        found = {name: asdict(p) for name, p in plans.items()}
        console.document(sizes._asdict() | {"machines": found})
        return
    console.say(
        f"{sizes.data}: {sizes.task}, {sizes.rows:,} rows, {sizes.columns:,} columns of numbers"
    )
    titles = ["machine", "passes", "GFLOP", "memory", "model"]
    console.table(titles, ([name, *_cells(p)] for name, p in plans.items()))


def _sizes(request: Request, task: str) -> Sizes:
    if request.is_large:
        found = stream(request, task)
        source = found.source
        return Sizes(
            request.name, found.task, source.n_rows or 0, source.n_features, max(found.n_classes, 1)
        )
    rows = table(request, task)
    outputs = len(np.unique(rows.y)) if rows.task == "classification" else 1
    return Sizes(request.name, rows.task, len(rows.y), as_numbers(rows.X).shape[1], outputs)


def _plans(sizes: Sizes) -> dict[str, Plan]:
    """Return the plan of every machine that suits and can tell."""
    shape = Shape(sizes.task, sizes.rows, sizes.columns)
    suited = {slug(m): m.make(shape) for m in fittable() if not m.suits(shape)}
    return {
        name: model.plan(sizes.rows, sizes.columns, sizes.outputs)
        for name, model in suited.items()
        if hasattr(model, "plan")
    }


def _cells(found: Plan) -> list[str]:
    memory = found.bytes_sums + found.bytes_blocks
    passes = f"{found.passes:,}"
    return [passes, f"{found.flops / 1e9:,.1f}", size(memory), size(found.bytes_model)]
