"""Write docs/benchmarks.md: every claim with what was measured, when and on what.

Results are what ``--json`` wrote: a list of flat dicts becomes a table, a dict of them several;
:mod:`page_sections` has the renderings of those that are shown in another way.
"""

from claims import ROOT, Kept, scripts
from page_sections import render
from page_tables import table

FIRST = ["peers", "fits_cost", "growth", "import_costs"]  # parts of names: these at the top

HEAD = """\
# Benchmarks

Each file in `bench/` is a claim: its name is the sentence, its docstring says what is measured.
`python bench/run.py` runs them all, one after the other, each in a process of its own, and writes
this page; `--only NAME` runs some of them, `--quick` small ones. Times are of the machine that each
section names, and depend on it; ratios within one run depend on it less. Claims that were missed
stay on the page.
"""


def write_page(results, docs):
    """Write the page and its figures from the results there are; return where."""
    folder = docs / "figures" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    found = sorted(scripts(), key=lambda s: (rank(s.name), s.name))
    pairs = [(script, Kept(results, script.name)) for script in found]
    run = [pair for pair in pairs if measured(pair[1]) is not None]
    not_run = [pair for pair in pairs if pair not in run]
    parts = [HEAD, overview(run)]
    parts += [section(script, kept, folder) for script, kept in run]
    parts.append(left_out(not_run))
    text = "\n".join(part for part in parts if part)
    for old in folder.glob("*.png"):
        if f"figures/bench/{old.name}" not in text:
            old.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()
    path = docs / "benchmarks.md"
    path.write_text(text.rstrip() + "\n", encoding="utf-8")
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def measured(kept):
    """Results, or what there is of them."""
    return kept.results if kept.results is not None else kept.unfinished


def rank(name):
    return next((i for i, part in enumerate(FIRST) if part in name), len(FIRST))


def overview(pairs):
    """A line for each benchmark that was run."""
    if not pairs:
        return ""
    rows = []
    for script, kept in pairs:
        record, verdict = kept.record, verdict_of(measured(kept))
        if record.get("outcome") == "claim not met":
            verdict = "claim not met"
        if kept.results is None:
            verdict = "unfinished"
        date, seconds = record.get("date", "")[:10], record.get("seconds")
        how = "quick" if record.get("quick") else "full"
        link = f"[{script.title}](#{anchor(script.title)})"
        rows.append([link, verdict, how, date, "" if seconds is None else f"{seconds:,.0f}"])
    return table(["", "targets", "run", "date", "seconds"], rows)


def verdict_of(results):
    """How many of the entries that judge themselves have met their target."""
    judged = [row["met"] for row in flat_rows(results) if row.get("met") is not None]
    return f"{sum(judged)} of {len(judged)} met" if judged else ""


def flat_rows(results):
    """All dicts that results hold, at any depth."""
    if isinstance(results, dict):
        yield results
        results = results.values()
    if not isinstance(results, str):
        for part in results:
            if isinstance(part, (dict, list)):
                yield from flat_rows(part)


def section(script, kept, folder):
    """The claim, the measurements, and how they were made."""
    path = f"bench/{script.path.name}"
    parts = [
        f"## {script.title}\n",
        script.claim + "\n",
        "" if kept.results is not None else "Unfinished: a part of what will be measured.\n",
        render(script, measured(kept), folder),
        f"`{path}`, {how_run(kept.record)}.\n",
    ]
    return "\n".join(part for part in parts if part)


def how_run(record):
    if not record:
        return "run by hand: nothing is recorded about it"
    names = {"python": "Python", "numpy": "NumPy", "scipy": "SciPy", "numba": "Numba"}
    versions = ", ".join(f"{names.get(k, k)} {v}" for k, v in record["versions"].items())
    how = "a quick run with small sizes, " if record.get("quick") else ""
    load = record.get("load_before", 0.0)
    busy = f", other work beside it (load {load:.1f})" if load > 0.5 else ""
    when = f"{record['date'][:10]}, {record['seconds']:,.0f} s"
    return f"measured {when}, {how}on {record['machine']}{busy}; {versions}"


def left_out(pairs):
    """Benchmarks without results."""
    if not pairs:
        return ""
    lines = ["## Not run\n", "These have no results here.\n"]
    for script, kept in pairs:
        first = script.claim.partition("\n")[0].removeprefix("Claim: ")
        why = kept.record.get("outcome")
        tried = f" (last try, {kept.record['date'][:10]}: {why})" if why else ""
        lines.append(f"- `bench/{script.path.name}`{tried}: {first}")
    return "\n".join(lines) + "\n"


def anchor(title):
    """The anchor that the site gives a title."""
    kept = "".join(c for c in title.lower() if c.isascii() and (c.isalnum() or c in " -_"))
    return "-".join(kept.split())
