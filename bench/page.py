"""Write docs/benchmarks.md: every claim with what was measured, when and on what.

Results are what ``--json`` wrote: a list of flat dicts becomes a table, a dict of them several.
Some scripts have renderings of their own, found by a part of their names (``RENDERERS``). Those
with "peers" in it write dicts with "set", "machine", one of "accuracy", "r2" and "score", and where
they have them "fit_s", "predict_s", "extra_mb"; "over_s" or "error" for runs that did not end well;
in a list, or as "results" beside "ranks" (of machines, or of machines for several choices of sets).
"""

import math
from statistics import median

import figures
from claims import ROOT, Kept, scripts

MOST_ROWS = 60
FIRST = ["peers", "fits_cost", "growth", "import_costs"]  # parts of names: these at the top
MANY_SETS = 8  # from here on sets are lines of a table, not columns
SCORES = {"accuracy": 100.0, "r2": 1.0, "score": 1.0}  # and what they are multiplied with

_UNITS = {"_s": ", s", "_mb": ", MB", "_ms": ", ms"}
_HEADS = {"mb": "MB", "r2": "R²", "loo": "leave-one-out", "mse": "MSE", "cpu_s": "CPU, s"}

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
    render = next((r for part, r in RENDERERS.items() if part in script.name), generic)
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


# -- tables ---------------------------------------------------------------------------------------


def table(head, rows):
    """A Markdown table; all columns but the first on the right where they hold numbers."""
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    right = [all(is_number(row[i]) for row in cells if row[i]) for i in range(len(head))]
    rule = ["---:" if r and i else "---" for i, r in enumerate(right)]
    lines = ["| " + " | ".join(line) + " |" for line in [head, rule, *cells]]
    return "\n".join(lines) + "\n"


def is_number(text):
    return text.strip("*−-+%× ").replace(",", "").replace(".", "").replace("e", "").isdigit()


def shown(value):
    """A number with three digits, or thousands in groups; words as they are."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if not math.isfinite(value):
            return str(value)
        if abs(value) >= 100:
            return f"{value:,.0f}"
        return f"{value:.3g}"
    return str(value)


def heading(key):
    if key in _HEADS:
        return _HEADS[key]
    for ending, unit in _UNITS.items():
        if key.endswith(ending):
            return key.removesuffix(ending).replace("_", " ") + unit
    return key.replace("_", " ")


def rows_table(rows):
    """Flat dicts as a table; lists and dicts in them are left to the JSON file."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    keys = [k for k in keys if not any(isinstance(row.get(k), (list, dict)) for row in rows)]
    keys = [k for k in keys if any(row.get(k) not in (None, "") for row in rows)]
    cells = [[shown(row.get(key)) for key in keys] for row in rows[:MOST_ROWS]]
    text = table([heading(key) for key in keys], cells)
    if len(rows) > MOST_ROWS:
        text += f"\n… and {len(rows) - MOST_ROWS} more rows in `bench/results`.\n"
    return text


def generic(script, results, folder):
    """Any results: a list of dicts, a dict of lists and numbers, or printed lines."""
    if isinstance(results, dict) and set(results) == {"printed"}:
        return "```text\n" + "\n".join(results["printed"]) + "\n```\n"
    if isinstance(results, list):
        rows = [row for row in results if isinstance(row, dict)]
        return rows_table(rows) if rows else ""
    tables, single = [], {}
    for key, value in results.items():
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            tables.append(f"{heading(key).capitalize()}:\n\n{rows_table(value)}")
        elif isinstance(value, dict):
            single |= {f"{heading(key)} {k}": v for k, v in value.items()}
        elif not isinstance(value, list) and key != "json":
            single[heading(key)] = value
    if single:
        tables.insert(0, table(["", ""], [[key, shown(value)] for key, value in single.items()]))
    return "\n".join(tables)


def anchor(title):
    """The anchor that the site gives a title."""
    kept = "".join(c for c in title.lower() if c.isascii() and (c.isalnum() or c in " -_"))
    return "-".join(kept.split())


def figure(path, alt):
    return f"![{alt}](figures/bench/{path.name})\n"


# -- renderings of their own ----------------------------------------------------------------------


def roofline(script, results, folder):
    """Ratios to bare BLAS, machine by machine."""
    path = figures.roofline(results, folder / f"{script.name}.png")
    sizes = sorted({row["features"] for row in results})
    cells = {}
    for row in results:
        cells.setdefault((row["machine"], row["step"]), {})[row["features"]] = row
    rows = []
    for (machine, step), found in cells.items():
        line = [machine, step]
        for size in sizes:
            line += ratio_cells(found.get(size))
        rows.append(line)
    head = ["", ""]
    for size in sizes:
        head += [f"D = {size}: s", "× BLAS", "× BLAS + pass"]
    first = results[0]
    return "\n".join(
        [
            f"{first['rows']:,} rows, {first['units']:,} units or landmarks. Ratios in bold are "
            "within their target; the second adds a bare pass of tanh or exp over the entries.\n",
            figure(path, "Times over those of bare BLAS"),
            table(head, rows),
        ]
    )


def ratio_cells(row):
    if row is None:
        return ["", "", ""]
    ratios = []
    for key, met in (("ratio", "met"), ("ratio_with_pass", "met_with_pass")):
        text = f"{row[key]:.2f}"
        ratios.append(f"**{text}**" if row.get(met) else text)
    return [f"{row['seconds']:.2f}", *ratios]


def growth(script, results, folder):
    """Exponents, and a panel for each direction."""
    path = figures.growth(results["points"], folder / f"{script.name}.png")
    rows = []
    for e in results["exponents"]:
        limits = [e["allowed_time"], e["allowed_memory"]]
        allowed = " / ".join("–" if limit is None else f"{limit:g}" for limit in limits)
        sizes = f"{e['from']:,} to {e['to']:,}"
        values = [f"{e[key]:.2f}" for key in ("time", "time_last", "memory", "memory_last")]
        met = "yes" if e["met"] else "no"
        rows.append([e["machine"], e["direction"], sizes, *values, allowed, met])
    head = ["", "direction", "sizes", "time", "last two", "memory", "last two", "allowed", "met"]
    return "\n".join(
        [
            figure(path, "Seconds and megabytes against sizes"),
            "Exponents of time and memory against size, allowed ones for time / memory:\n",
            table(head, rows),
        ]
    )


def imports(script, results, folder):
    """The ratio, what the time goes to, and first calls."""
    verdict = "met" if results["met"] else "missed"
    calls = [dict(row) for row in results["first_calls"]]
    return "\n".join(
        [
            f"kernelm over its parts: **{results['ratio']:.2f}** (at most {results['allowed']}: "
            f"{verdict}); in seconds of the processor {results['ratio_cpu']:.2f}.\n",
            rows_table(results["imports"]),
            "Where the time of `import kernelm` goes, by the package of the module:\n",
            rows_table(results["packages"][:10]),
            "First fit and predict of a process on 300 rows, loops still to be compiled or on "
            "disk from an earlier process, and the second:\n",
            rows_table(calls),
        ]
    )


def peers(script, results, folder):
    """Machines against sets: scores, and seconds of the fit."""
    ranks = results.get("ranks") if isinstance(results, dict) else None
    rows = results["results"] if isinstance(results, dict) else results
    key = next((k for k in SCORES if any(k in row for row in rows)), None)
    if key is None:
        return generic(script, results, folder)
    name = {"accuracy": "Test accuracy, %", "r2": "R²"}.get(key, "Accuracy, or R² for numbers")
    digits, parts = 1 if key == "accuracy" else 3, []
    path = folder / f"{script.name}.png"
    if ranks:
        if any("fit_s" in row for row in rows):
            figures.ranks(rows, first_ranks(ranks), path)
            parts.append(figure(path, "Mean rank against seconds of the fit"))
        parts += ["Mean rank, the best first:\n", ranks_table(ranks), told_apart(results)]
        parts += costs(rows, first_ranks(ranks))
    elif any("fit_s" in row for row in rows):
        figures.peers(rows, key, SCORES[key], path)
        parts.append(figure(path, f"{name} against seconds of the fit"))
    parts += [
        f"{name} (the best of each set in bold):\n",
        pivot(rows, lambda row: score_text(row, key, digits), best=lambda row: row.get(key)),
    ]
    for cost, title in (("fit_s", "Seconds of the fit"), ("predict_s", "Seconds to predict")):
        if any(cost in row for row in rows):
            parts += [f"{title}:\n", pivot(rows, lambda row, k=cost: shown(row.get(k)))]
    memory = next((k for k in ("extra_mb", "mb") if any(k in row for row in rows)), None)
    if memory:
        parts += ["Megabytes beside the data:\n", pivot(rows, lambda r: shown(rounded(r, memory)))]
    return "\n".join(parts)


def first_ranks(ranks):
    """Ranks of machines: those of the first choice of sets where there are several."""
    first = next(iter(ranks.values()))
    return first if isinstance(first, dict) else ranks


def ranks_table(ranks):
    choices = ranks if isinstance(next(iter(ranks.values())), dict) else {"rank": ranks}
    machines = sorted(first_ranks(ranks), key=first_ranks(ranks).get)
    rows = [[m, *(shown(found.get(m)) for found in choices.values())] for m in machines]
    return table(["", *choices], rows)


def told_apart(results):
    """From which difference on mean ranks are told apart."""
    distance = results.get("critical_difference")
    if distance is None:
        return ""
    return f"Ranks that differ by less than {distance:.2f} are not told apart (Nemenyi, 5 %).\n"


def costs(rows, machines):
    """What a machine costs: medians over the sets that it finished, the best rank first."""
    kinds = {
        "fit, s": ("fit_s", 1),
        "predict 1,000 rows, ms": ("predict_s", 1e6),  # by the rows that were predicted
        "predict one row, ms": ("row_s", 1e3),
        "fit, MB beside the data": ("extra_mb", 1),
        "model, kB": ("model_bytes", 1e-3),
    }
    if not any("row_s" in row for row in rows):
        return []
    lines = []
    for machine in sorted(machines, key=machines.get):
        line = [machine]
        for key, factor in kinds.values():
            found = [
                factor * row[key] / (row["tested"] if key == "predict_s" else 1)
                for row in rows
                if row["machine"] == machine and row.get(key) is not None
            ]
            line.append(shown(float(median(found))) if found else "")
        lines.append(line)
    return ["Medians over the sets that each has finished:\n", table(["", *kinds], lines)]


def rounded(row, key):
    return None if row.get(key) is None else round(row[key])


def score_text(row, key, digits):
    if row.get("over_s"):
        return f"over {row['over_s']:.0f} s"
    if row.get("error"):
        return "failed"
    return "" if row.get(key) is None else f"{SCORES[key] * row[key]:.{digits}f}"


def pivot(rows, text, best=None):
    """Machines in lines, sets in columns, or the other way round where sets are many."""
    sets = list(dict.fromkeys(row["set"] for row in rows))
    machines = list(dict.fromkeys(row["machine"] for row in rows))
    cells = {(row["machine"], row["set"]): row for row in rows}
    top = {}
    for name in sets if best else ():
        values = [best(cells[m, name]) for m in machines if (m, name) in cells]
        top[name] = max((v for v in values if v is not None), default=None)
    lines = []
    for m in machines:
        line = [str(m)]
        for name in sets:
            cell = cells.get((m, name))
            shown_text = "" if cell is None else text(cell)
            is_best = best and cell and best(cell) is not None and best(cell) == top[name]
            line.append(f"**{shown_text}**" if is_best else shown_text)
        lines.append(line)
    lines = [["", *sets], *lines]
    if len(sets) > MANY_SETS:
        lines = [list(column) for column in zip(*lines, strict=True)]
    return table(lines[0], lines[1:])


RENDERERS = {
    "fits_cost_their_blas": roofline,
    "growth_in_every_direction": growth,
    "import_costs": imports,
    "peers": peers,
    "default_machines_on_real_sets": peers,
    "regression_beside_lightgbm": peers,
}
