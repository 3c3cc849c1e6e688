"""The page: what was found first, then pictures, the table, and how it was measured."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from kernelm.app.comparison import Comparison, Result
from kernelm.app.report import charts
from kernelm.app.report.markup import Markup, tag
from kernelm.app.report.table import results_table, skipped_table

MOST_CLASSES = 12


def page(c: Comparison, title: str) -> str:
    """Return the report as one HTML document that needs nothing else."""
    style, script = _asset("style.css"), _asset("script.js")
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        f"form-action 'none'; script-src 'sha256-{_digest(script)}'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        tag("style", Markup(style)),
    )
    main = tag("main", _opening(c, title), _trade_off(c), _results(c), _pictures(c), _methods(c))
    body = tag("body", main, tag("script", Markup(script)))
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _opening(c: Comparison, title: str) -> Markup:
    d = c.data
    rows = f"{d.n_used:,}" if d.n_used == d.n_rows else f"{d.n_used:,} of {d.n_rows:,}"
    facts = {"rows": rows, "columns": f"{d.n_columns:,}", "missing cells": f"{d.n_missing:,}"}
    if c.task == "classification":
        facts["classes"] = f"{len(d.target):,}"
    facts |= {"machines": f"{len(c.ranking)} of {len(c.results)}", "time": f"{c.seconds:.0f} s"}
    listed = (tag("div", tag("dt", name), tag("dd", value)) for name, value in facts.items())
    notes = [*c.notes]
    if c.interrupted:
        notes.insert(0, "The comparison was interrupted; what was done until then is shown.")
    return tag(
        "header",
        tag("h1", title),
        tag("p", verdict(c), class_="lead"),
        tag("p", f"{c.task.capitalize()}: {c.task_reason}.", class_="soft"),
        tag("dl", *listed, class_="facts"),
        tag("ul", *(tag("li", note) for note in notes), class_="notes") if notes else "",
    )


def verdict(c: Comparison) -> str:
    """Return what was found in one or two sentences."""
    best, ours = c.best, c.best_of_ours
    if best is None or best.score is None:
        return "No machine was measured; the reasons are below."
    n = len(best.parts)
    rival = (
        ours if ours not in (None, best) else next((r for r in c.ranking if not r.is_ours), None)
    )
    said = f"{best.name} is best: {c.score_name} {_shown(c, best, n)} over {_splits(n)}."
    if rival is None or rival is best:
        return said
    who = "Best of kernelm" if rival.is_ours else "Best alternative"
    n = min(n, len(rival.parts))
    return f"{said} {who} over {_splits(n, same=True)}: {rival.name}, {_shown(c, rival, n)}."


def _shown(c: Comparison, result: Result, n: int) -> str:
    score = sum(p.score for p in result.parts[:n]) / n
    return f"{100 * score:.1f} %" if c.score_name == "accuracy" else f"{score:.3f}"


def _splits(n: int, *, same: bool = False) -> str:
    some = "the same " if same else ""
    return f"{some or 'one '}split" if n == 1 else f"{some}{n} splits"


def _trade_off(c: Comparison) -> Markup:
    if not c.ranking:
        return Markup("")
    key = tag(
        "ul",
        tag("li", "kernelm", class_="ours"),
        tag("li", "alternatives"),
        tag("li", "no machine is both faster and better", class_="front"),
        class_="key",
    )
    caption = "Mean over splits. Up is better, left is faster. The baseline is in the table."
    figure = tag(
        "figure", tag("figcaption", caption), key, charts.score_against_time(c), class_="card"
    )
    return tag("section", tag("h2", "Score against fit time"), figure)


def _results(c: Comparison) -> Markup:
    parts = [tag("h2", "Results")]
    if c.ranking:
        parts.append(results_table(c))
    if c.skipped:
        parts += [tag("h2", "Not measured"), skipped_table(c.skipped)]
    code = [
        tag("tr", tag("th", r.name, scope="row"), tag("td", tag("code", r.code), class_="words"))
        for r in c.ranking
    ]
    listing = tag("div", tag("table", tag("tbody", *code)), class_="scroll")
    parts.append(tag("details", tag("summary", "How each machine is made"), listing))
    return tag("section", *parts)


def _pictures(c: Comparison) -> Markup:
    i = c.insight
    cards: list[Markup] = []

    def card(title: str, caption: str, chart: Markup) -> None:
        cards.append(
            tag("figure", tag("h3", title), tag("figcaption", caption), chart, class_="card")
        )

    if (m := i.confusion) is not None:
        card("Confusion matrix", f"{m.machine}, test rows of its last split.", charts.confusion(m))
    if (m := i.calibration) is not None:
        caption = f"{m.machine}. On the diagonal, 90 % sure means 90 % right; mean gap {m.gap:.3f}."
        card("Calibration", caption, charts.calibration(m))
    if (m := i.residuals) is not None:
        caption = (
            f"{m.machine}: {m.covered:.0%} of test rows within their {m.coverage:.0%} interval."
        )
        card("Residuals and intervals", caption, charts.residuals(m))
    if (m := i.importance) is not None:
        caption = f"{m.machine}: share of each column in the slopes of its scores"
        more = f"; {len(m.columns)} of {m.n_columns}." if m.n_columns > len(m.columns) else "."
        card("Importance of columns", caption + more, charts.importance(m))
    if (m := i.alpha_path) is not None:
        caption = f"{m.machine}: {m.criterion} in closed form, no refits. Lower is better."
        card("Ridge strength", caption, charts.alpha_path(m))
    if (m := i.kernel_ranking) is not None:
        caption = f"{m.machine}: leave-one-out error on a sample of rows. Shorter is better."
        if m.n_tried > len(m.kernels):
            caption += f" The best of {m.n_tried}; a first look ruled the others out."
        card("Kernels", caption, charts.kernel_ranking(m))
    if i.growth:
        caption = "Closed-form error as the machines grow. Lower is better."
        card("Units and landmarks", caption, charts.growth(i.growth))
    if not cards:
        return Markup("")
    return tag("section", tag("h2", "What the models say"), tag("div", *cards, class_="pair"))


def _methods(c: Comparison) -> Markup:
    d = c.data
    target = d.target
    if c.task == "classification":
        common = sorted(target.items(), key=lambda pair: -pair[1])[:MOST_CLASSES]
        rest = len(target) - len(common)
        target = {name: f"{n:,} rows" for name, n in common} | (
            {"others": f"{rest} classes"} if rest else {}
        )
    else:
        target = {name: f"{value:.5g}" for name, value in target.items()}
    kinds = {f"columns of {kind}": n for kind, n in d.kinds.items()}
    how = (
        "All machines see the same splits and the same numbers: names as zeros and ones, gaps as "
        "medians of the training rows with a column more that says where they were. First every "
        "machine runs once, then the fast ones again until the time is up, so slow ones have fewer "
        "splits; places in the list and in the first chart are corrected for how hard the splits "
        "were that a machine has seen, numbers in the table are plain means. ± is the standard "
        "deviation over splits. Alternatives are on their usual settings, not tuned."
    )
    return tag(
        "section",
        tag("h2", "How it was measured"),
        tag("p", how, class_="soft"),
        tag(
            "div",
            _pairs("Target", target),
            _pairs("Data", kinds | {"inputs in all": d.n_inputs}),
            _pairs("Settings", c.settings),
            _pairs("Versions", c.versions),
            _pairs("Computer", c.computer),
            class_="pair",
        ),
        tag("footer", "Made by kernelm. This file is complete: it loads nothing."),
    )


def _pairs(title: str, values: Mapping[str, Any]) -> Markup:
    rows = (
        tag("tr", tag("th", name, scope="row"), tag("td", value, class_="words"))
        for name, value in values.items()
    )
    return tag("div", tag("table", tag("caption", title), tag("tbody", *rows)), class_="scroll")


def _asset(name: str) -> str:
    return files("kernelm.app.report").joinpath(name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
