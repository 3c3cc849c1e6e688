"""Tables of results, readable for people and for screen readers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kernelm.app.comparison import Comparison, Result
from kernelm.app.report.markup import Markup, join, tag

_ERRORS = ("log-loss", "RMSE", "MAE")


def results_table(c: Comparison) -> Markup:
    """Return all machines with a score, the best first."""
    rows = c.table()
    errors = [name for name in _ERRORS if any(row.get(name) is not None for row in rows)]
    score = _percent if c.score_name == "accuracy" else _number
    columns: list[tuple[str, str, Callable[[float], str]]] = [
        (c.score_name, "score", score),
        *((name, name, _number) for name in errors),
        ("fit", "fit_seconds", seconds),
        ("predict", "predict_seconds", seconds),
        ("one row", "row_seconds", seconds),
        ("model", "model_bytes", size),
        ("memory", "peak_bytes", size),
        ("splits", "splits", lambda n: f"{n:.0f}"),
    ]
    spread = {"score", *errors}
    titles = [tag("th", "machine", scope="col")]
    titles += [tag("th", title, scope="col") for title, _, _ in columns]
    body = [
        tag(
            "tr",
            tag("th", row["name"], scope="row", data_value=row["name"]),
            *(_cell(row, key, shown, key in spread) for _, key, shown in columns),
            class_=_row_class(result, i),
        )
        for i, (row, result) in enumerate(zip(rows, c.ranking, strict=True))
    ]
    words = (
        "Machines of kernelm are in colour. Predict: all test rows in one call; one row: a call "
        "for a single row; model: bytes of its pickle; memory: growth during fit."
    )
    table = tag(
        "table",
        tag("thead", tag("tr", *titles)),
        tag("tbody", *body),
        class_="sortable",
    )
    region = tag("div", table, class_="scroll", role="region", aria_label="Results", tabindex=0)
    return join(tag("p", words, class_="soft"), region)


def skipped_table(skipped: Sequence[Result]) -> Markup:
    """Return machines without a score, and why."""
    rows = (
        tag("tr", tag("th", r.name, scope="row"), tag("td", r.reason or "not run", class_="words"))
        for r in skipped
    )
    titles = tag("tr", tag("th", "machine", scope="col"), tag("th", "reason", scope="col"))
    table = tag("table", tag("thead", titles), tag("tbody", *rows), class_="reasons")
    return tag("div", table, class_="scroll", role="region", aria_label="Not measured", tabindex=0)


def _cell(row: dict[str, Any], key: str, shown: Callable[[float], str], spread: bool) -> Markup:
    value, std = row.get(key), row.get(f"{key}_std")
    if value is None:
        return tag("td", "–", data_value="")
    more = (
        [tag("small", f" ± {shown(std).removesuffix(' %')}")] if spread and std is not None else []
    )
    return tag("td", shown(value), *more, data_value=f"{value:.9g}")


def _row_class(result: Result, place: int) -> str | None:
    return " ".join([*["ours"] * result.is_ours, *["best"] * (place == 0)]) or None


def _percent(value: float) -> str:
    return f"{100 * value:.2f} %"


def _number(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 100 else f"{value:,.4g}"


def seconds(value: float) -> str:
    """Return a time in a unit that suits it.

    Examples
    --------
    >>> seconds(0.00042), seconds(1.5), seconds(75.0)
    ('0.42 ms', '1.50 s', '75.0 s')
    """
    if value < 0.1:
        return f"{1000 * value:.3g} ms"
    return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def size(value: float) -> str:
    """Return bytes in a unit that suits them.

    Examples
    --------
    >>> size(512.0), size(2_500_000.0)
    ('512 B', '2.5 MB')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= factor:
            return f"{value / factor:.1f} {unit}"
    return f"{value:.0f} B"
