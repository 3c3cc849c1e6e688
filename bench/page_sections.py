"""How the results of a benchmark are shown on the page: some have renderings of their own.

``RENDERERS`` finds them by a part of their names. Those with "peers" in it write dicts with "set",
"machine", one of "accuracy", "r2" and "score", and where they have them "fit_s", "predict_s",
"extra_mb"; "over_s" or "error" for runs that did not end well; in a list, or as "results" beside
"ranks" (of machines, or of machines for several choices of sets).
"""

from statistics import median

import figures
from page_tables import heading, rows_table, shown, table

MANY_SETS = 8  # from here on sets are lines of a table, not columns
SCORES = {"accuracy": 100.0, "r2": 1.0, "score": 1.0}  # and what they are multiplied with


def render(script, results, folder):
    """Return what was measured as Markdown; pictures go to the folder."""
    of_its_own = (r for part, r in RENDERERS.items() if part in script.name)
    return next(of_its_own, generic)(script, results, folder)


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


def figure(path, alt):
    return f"![{alt}](figures/bench/{path.name})\n"


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
