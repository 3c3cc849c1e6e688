"""Tables of Markdown from the dicts that benchmarks write."""

import math

MOST_ROWS = 60

_UNITS = {"_s": ", s", "_mb": ", MB", "_ms": ", ms"}
_HEADS = {"mb": "MB", "r2": "R²", "loo": "leave-one-out", "mse": "MSE", "cpu_s": "CPU, s"}


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
