"""``kernelm predict``: a model and new rows become a table of predictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Annotated, Any, final

import numpy as np

from kernelm.app.cli import console
from kernelm.app.cli.errors import Usage
from kernelm.app.cli.options import Data, Debug, Delimiter, FileFormat, Json, Quiet, typer
from kernelm.app.cli.outputs import place
from kernelm.app.cli.reading import Request, new_rows
from kernelm.data.files.write import Table, write
from kernelm.store import load
from kernelm.tasks import Estimator
from kernelm.tasks.predicting import predictions

__all__ = ["PYTHON", "predict"]

PYTHON = """In Python:

\b
    import kernelm
    model = kernelm.load("model.kelm")
    source = kernelm.data.scan("new.csv", missing="fill")
    model.predict_source(source, "out.parquet", outputs=("predict", "predict_proba"))
"""

ENDINGS = [".csv", ".parquet", ".pq", ".arrow", ".feather"]
SHOWN_ROWS = 10


def predict(
    model: Annotated[
        str,
        typer.Argument(help="A file that kernelm fit wrote.", metavar="MODEL", show_default=False),
    ],
    data: Data = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="A .parquet, .arrow or .csv file.", metavar="FILE"),
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Add a column for each class.")
    ] = False,
    intervals: Annotated[
        float | None,
        typer.Option(
            help="Add low and high, between which this share of targets is, such as 0.9.",
            metavar="SHARE",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", help="A column of DATA to copy, such as a key.", metavar="COLUMN"),
    ] = None,
    format: FileFormat = None,
    delimiter: Delimiter = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Predict the rows of a table; its columns are found by name.

    Without --output the first rows are shown, or with --json all of them, one a line.
    """
    path = None if output is None else place(output, "--output", ENDINGS, data=data)
    if intervals is not None and not 0 < intervals < 1:
        raise Usage(f"--intervals must be between 0 and 1, such as 0.9; got {intervals:g}")
    kind = None if format is None else format.value
    request = Request(data, format=kind, delimiter=delimiter)
    fitted = load(model)
    outputs = _outputs(fitted, probabilities, intervals)
    if data is None and not quiet:
        console.warn(f"note: no DATA was given: these are {request.name}")
    source = new_rows(request, fitted)
    asked = fitted if intervals is None else _WithCoverage(fitted, intervals)
    tables = predictions(asked, source, outputs, fitted.n_jobs)
    if keep:
        tables = _with_kept(tables, request, keep)
    if path is not None:
        _report(write(path, tables), str(path), json=json)
    elif json:
        for row in _rows(tables):
            console.line(row)
    else:
        _preview(tables, source.n_rows)


def _outputs(model: Any, probabilities: bool, intervals: float | None) -> tuple[str, ...]:
    """Return what is asked of the model; refuses what it does not have."""
    name = type(model).__name__
    if not isinstance(model, Estimator):
        raise ValueError(f"{name} does not predict tables; load it in Python with kernelm.load")
    if not model.__sklearn_is_fitted__():
        raise ValueError(f"this {name} was saved before it was fitted; fit it first")
    if probabilities and not hasattr(model, "predict_proba"):
        raise Usage(f"--probabilities is for classifiers, the model is {name}; try --intervals")
    if intervals is not None and not hasattr(model, "predict_interval"):
        raise Usage(f"--intervals is for regressors, the model is {name}; try --probabilities")
    asked = {"predict_proba": probabilities, "predict_interval": intervals is not None}
    return ("predict", *(output for output, wanted in asked.items() if wanted))


@final
class _WithCoverage:
    """A model whose intervals hold another share of the targets than usual."""

    def __init__(self, model: Any, coverage: float) -> None:
        self._model = model
        self.predict_interval = partial(model.predict_interval, coverage=coverage)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


def _with_kept(tables: Iterator[Table], request: Request, names: Sequence[str]) -> Iterator[Table]:
    """Put columns of the files before the predictions, block by block."""
    if request.data is None or request.kind in ("npy", "libsvm"):
        raise Usage(f"--keep is for files with names of columns, which {request.name} has not")
    from kernelm.app.cli.frames import kept

    pieces, left = kept(request, names), None
    for predicted in tables:
        n = len(predicted["prediction"])
        taken = []
        while n:
            left = next(pieces) if left is None or not left.num_rows else left
            taken.append(left.slice(0, n))
            left, n = left.slice(n), n - taken[-1].num_rows
        yield _joined(taken, names, predicted)


def _joined(parts: Sequence[Any], names: Sequence[str], predicted: Table) -> Table:
    clash = [name for name in names if name in predicted]
    if clash:
        raise Usage(f"--keep {clash[0]}: predictions have a column of that name; rename it in DATA")
    columns = {name: np.concatenate([_values(part[name]) for part in parts]) for name in names}
    return columns | predicted


def _values(column: Any) -> Any:
    return column.to_pandas().to_numpy()


def _rows(tables: Iterator[Table]) -> Iterator[dict[str, Any]]:
    for columns in tables:
        lists = {name: values.tolist() for name, values in columns.items()}
        for row in zip(*lists.values(), strict=True):
            yield dict(zip(lists, row, strict=True))


def _preview(tables: Iterator[Table], n_rows: int | None) -> None:
    rows = list(islice(_rows(tables), SHOWN_ROWS))
    console.table(list(rows[0]), ([_short(v) for v in row.values()] for row in rows), left=0)
    if n_rows is None or n_rows > len(rows):
        of = "" if n_rows is None else f" of {n_rows:,}"
        console.say(f"the first {len(rows)}{of} rows; add -o out.csv for all of them")


def _short(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def _report(n_rows: int, path: str, *, json: bool) -> None:
    if json:
        console.document({"rows": n_rows, "file": path})
    else:
        console.say(f"wrote {n_rows:,} rows to {path}")
