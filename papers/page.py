"""The page ``docs/papers.md``: every table, ours beside the paper's, and a verdict per claim."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from papers import beside, catalog, figures, words
from papers.beside import Beside
from papers.experiment import Mode, Paper, Table
from papers.verdicts import Standing

INTRODUCTION = """\
# Papers

| | paper | line of code |
|---|---|---|
| [AKELM](papers/akelm.md) | Iosifidis, Tefas and Pitas: approximate kernel ELM | \
`KernelELMClassifier(Gaussian("mean"), approximation="landmarks", n_landmarks=300, alpha=0)` |
| [ELM kernel](papers/elm_kernel.md) | Frénay and Verleysen: ELM kernel for SVR | \
`KernelSVR(AsymptoticELM(weight_scale=10).normalized())` |
| [NKELM](papers/nkelm.md) | Deng, Zheng and Chen: Nyström kernel ELM | \
`KernelELMClassifier(Gaussian("mean"), approximation="nystrom", n_landmarks=300)` |
| [Deep kernels](papers/deep_kernels.md) | Afzal: deep learning in kernel machines | \
`KernelELMClassifier(ArcCosine([1, 0]), approximation="exact")` |
| [Boosting](papers/boosting.md) | Andrecut: ELM ridge regression boosting | \
`BoostedELMClassifier(350, bias_scale=0, preprocess="sqrt-center-norm")` |

The papers write C (or λ) for the weight of the errors; here `alpha` is the weight of the penalty, \
`alpha = 1/C`. The boosting paper's λ is `alpha` itself. [Notation](notation.md) has the other \
symbols.

Every published table of these papers, run again by one command: `kernelm reproduce --all` \
(`--quick` for minutes instead of hours; `kernelm reproduce` lists the experiments). This page is \
written by that command. The printed numbers are in `papers/<key>/expected.toml`, ours in \
`papers/<key>/results`.

Whatever has to be chosen is chosen on training rows. Where a paper picked a setting by its \
accuracy on the test rows, *best on test* is what we get when we do that too, so that the two can \
be told apart; it never counts. In each cell: **ours** (paper, difference). \
<span class="better">At least as good as printed</span>, \
<span class="reproduced">within a point or within the printed interval</span>, \
<span class="worse">worse</span>. A *q* marks a number of a quick run. Times are of two different \
machines: their ratio is shown, and does not count.
"""


def write(docs: Path, results: Path = catalog.FOLDER) -> Path:
    """Write the page and its pictures into a folder; returns the page."""
    for key in catalog.KEYS:
        figures.draw(catalog.paper(key), results, docs / "figures" / "papers")
        _write_views(catalog.paper(key), results)
    path = docs / "papers.md"
    path.write_text(text(results), encoding="utf-8")
    return path


def text(results: Path = catalog.FOLDER) -> str:
    """Return the page."""
    papers = [catalog.paper(key) for key in catalog.KEYS]
    parts = [INTRODUCTION, _summary(papers, results), *_recount(papers, results)]
    parts += [_paper(paper, results) for paper in papers]
    return "\n".join(parts).rstrip() + "\n"


def _write_views(paper: Paper, results: Path) -> None:
    """Write the file of each table that shows numbers of another table's cells."""
    for table in paper.tables:
        if not table.source:
            continue
        cells = {
            f"{b.row}/{b.column.name}": b.ours
            for b in beside.cells(paper, table, results)
            if b.ours is not None
        }
        content = {"table": table.name, "from": table.source, "values": cells}
        path = results / paper.key / "results" / f"{table.name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")


_COUNTED = (
    "| paper | as good or better | within a point or the interval | worse | picked | not run "
    "| good |",
    "|---|--:|--:|--:|--:|--:|--:|",
)


def _summary(papers: Sequence[Paper], results: Path) -> str:
    lines = [
        "## Summary",
        "",
        "A number that a paper prints in several tables counts once. *Picked* are those that are "
        "worse only because ours are not picked on test rows.",
        "",
        *_COUNTED,
    ]
    total: list[Beside] = []
    for paper in papers:
        found = list(beside.every(paper, results))
        own, copied = beside.once(found), beside.once(found, copied=True)
        total += own
        lines.append(_counted(f"[{paper.title}](#{_anchor(paper.title)})", own))
        if copied:
            lines.append(_counted(f"numbers that {paper.key} copied from other papers", copied))
    lines.append(_counted("**all**, copied numbers aside", total))
    lines += [f"\n{paper.caveat}" for paper in papers if paper.caveat]
    return "\n".join(lines) + "\n"


def _recount(papers: Sequence[Paper], results: Path) -> Iterable[str]:
    """Yield the count with other seeds, beside that of the same numbers above."""
    again = catalog.recount(results)
    lines: list[str] = []
    rerun: list[Beside] = []
    above: list[Beside] = []
    others: list[Beside] = []
    for paper in papers:
        found = {_place(b): b for b in beside.once(beside.every(paper, again))}
        found = {place: b for place, b in found.items() if b.ours is not None}
        for b in beside.once(beside.every(paper, results)):
            (above if _place(b) in found else others).append(b)
        rerun += found.values()
        if found:
            lines.append(_counted(paper.title, list(found.values())))
    if not lines:
        return
    lines += [
        _counted("**all** of these", rerun),
        _counted("the same numbers above", above),
        _counted("**all**, with numbers from above that were not run again", rerun + others),
    ]
    yield "\n".join(
        [
            "### Counted once more",
            "",
            "The protocols were settled while the count above was in view. As they stand they were "
            "run again with seeds that nobody had looked at, from 1000 on: "
            "`kernelm reproduce NAME --first-seed 1000`. This is the count to go by.",
            "",
            *_COUNTED,
            *lines,
            "",
        ]
    )


def _place(b: Beside) -> tuple[str, str, str]:
    return b.table, b.row, b.column.name


def _counted(name: str, found: Sequence[Beside]) -> str:
    count = beside.counts(found)
    shown = [count[s] for s in (Standing.BETTER, Standing.REPRODUCED, Standing.WORSE)]
    shown += [sum(b.is_a_matter_of_picking for b in found), count[Standing.NOT_RUN]]
    part = beside.share(count)
    good = "–" if part is None else f"{part:.1%}"
    return f"| {name} | " + " | ".join(map(str, shown)) + f" | {good} |"


def _paper(paper: Paper, results: Path) -> str:
    parts = [f"## {paper.title}", "", f"[What it says, and how to use it]({paper.page}).", ""]
    known = catalog.results(paper.key, results)
    if paper.claims:
        parts += ["### Claims", ""]
        for claim in paper.claims:
            verdict, why = claim.judge(known)
            shown = f'<span class="{verdict.replace(" ", "-")}">{verdict}</span>'
            parts.append(f"- {claim.text} — **{shown}**. {why}")
        parts.append("")
    for figure in paper.figures:
        file = f"figures/papers/{paper.key}_{figure.name}.png"
        parts += [f"![{figure.title}]({file})", "", f"*{figure.title}*", ""]
    for table in paper.tables:
        if any(c.better or c.field != "score" for c in table.columns) or table.note:
            parts.append(_table(paper, table, results))
    worse = [b for b in beside.every(paper, results) if b.standing is Standing.WORSE]
    if worse:
        parts.append(_worse(worse))
    return "\n".join(parts)


def _table(paper: Paper, table: Table, results: Path) -> str:
    found = beside.cells(paper, table, results)
    lines = [f"### {_readable(table.name)}: {table.title}", ""]
    if table.note:
        lines += [table.note, ""]
    heads = [_head(c.name, c.unit) + (" *copied*" if c.copied else "") for c in table.columns]
    lines += ["| | " + " | ".join(heads) + " |", "|---" + "|--:" * len(heads) + "|"]
    width = len(table.columns)
    for k, row in enumerate(table.rows):
        shown = [_cell(b) for b in found[k * width : (k + 1) * width]]
        lines.append(f"| {row} | " + " | ".join(shown) + " |")
    lines += ["", *_why_not(table), *_thinned(paper, table, results)]
    return "\n".join(lines) + "\n"


def _head(name: str, unit: str) -> str:
    return f"{name.replace('_', ' ')}, {unit}" if unit and unit not in name else name


def _cell(b: Beside) -> str:
    unit = b.column.unit
    if b.ours is None:
        return "–" if b.printed is None else f"– ({words.printed(b.printed, unit)})"
    text = f"**{words.number(b.ours, unit)}**" + ("*q*" if b.mode is Mode.QUICK else "")
    if b.printed is not None:
        gap = words.difference(b)
        colour = b.standing.value
        marked = gap if b.standing is Standing.NOT_COMPARED else _coloured(gap, colour)
        text += f" ({words.printed(b.printed, unit)}, {marked})"
    if b.optimistic is not None:
        text += f"<br>*best on test {words.number(b.optimistic, unit)}*"
    return text


def _coloured(text: str, name: str) -> str:
    return f'<span class="{name}">{text}</span>'


def _why_not(table: Table) -> Iterable[str]:
    for what, why in table.not_run.items():
        yield f"- Not run: {what.removeprefix('*/')}: {why}"
    if table.not_run:
        yield ""


def _thinned(paper: Paper, table: Table, results: Path) -> Iterable[str]:
    """Yield what was done less of than in the paper, once for all cells that say the same."""
    known = catalog.results(paper.key, results)
    said: dict[str, list[str]] = {}
    for row, machine in table.cells():
        kept = known.get(table.source or table.name, row, machine) or {}
        if kept.get("thinned") and not table.source:
            said.setdefault(kept["thinned"], []).append(f"{row} {machine}")
    for text, where in said.items():
        shown = ", ".join(where[:4]) + (f" and {len(where) - 4} more" if len(where) > 4 else "")
        yield f"- Done less of ({shown}): {text}"
    if said:
        yield ""


def _worse(cells: Sequence[Beside]) -> str:
    lines = [
        "### Where ours is worse",
        "",
        "| cell | paper | ours | best on test | why |",
        "|---|--:|--:|--:|---|",
    ]
    for b in cells:
        unit = b.column.unit
        numbers = [words.printed(b.printed, unit), words.number(b.ours, unit)]
        numbers.append(words.number(b.optimistic, unit))
        name = f"{_readable(b.table)}, {b.row}, {b.column.name.replace('_', ' ')}"
        lines.append(f"| {name} | " + " | ".join(numbers) + f" | {b.reason or '–'} |")
    return "\n".join(lines) + "\n"


def _readable(name: str) -> str:
    """Return "Table 4" for "table4"."""
    for word in ("table", "figure"):
        if name.startswith(word):
            return f"{word.capitalize()} {name.removeprefix(word)}"
    return name.capitalize()


def _anchor(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title.lower()).encode("ascii", "ignore").decode()
    return "-".join("".join(c for c in plain if c.isalnum() or c in " -_").split())
