"""The pictures of docs/benchmarks.md."""

import math

from matplotlib import use

use("agg")
from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

OURS = ("ELM", "KernelELM", "CoreVector", "BoostedELM", "OPELM")
DIRECTIONS = ["rows", "generated rows", "features", "units", "classes", "outputs", "threads"]


def written(figure, path):
    # No version of the library in the file: the same numbers give the same bytes.
    figure.savefig(path, dpi=100, metadata={"Software": None})
    plt.close(figure)
    return path


def in_powers(axis, values):
    """Make an axis logarithmic, with numbers that can be read: few where they span much."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    values = [value for value in values if value > 0] or [1.0]
    narrow = max(values) < 30 * min(values)
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if narrow else (1,), numticks=6))
    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axis.set_minor_formatter(NullFormatter())


def short(value):
    """A number of an axis: 0.01, 500, 10k, 2M."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def roofline(results, path):
    """Bars of ours over bare BLAS, a panel for each number of features, with the target."""
    sizes = sorted({row["features"] for row in results})
    labels = list(dict.fromkeys((row["machine"], row["step"]) for row in results))
    height = 1 + 0.32 * len(labels)
    figure, axes = plt.subplots(
        1, len(sizes), figsize=(10, height), layout="constrained", sharey=True, squeeze=False
    )
    for ax, size in zip(axes[0], sizes, strict=True):
        rows = {(r["machine"], r["step"]): r for r in results if r["features"] == size}
        for at, label in enumerate(labels):
            r = rows.get(label)
            if r is None:
                continue
            ax.barh(at, r["ratio"], 0.7, color="#9ecae1", label="over BLAS")
            ax.barh(at, r["ratio_with_pass"], 0.35, color="#08519c", label="over BLAS + pass")
        target = next((r["target"] for r in rows.values() if r["target"]), None)
        ax.axvline(1, color="0.5", lw=0.8)
        if target:
            ax.axvline(target, color="#d94801", lw=1.2, ls="--")
        ax.set(title=f"{size} features", xlim=(0, None))
        ax.set_yticks(range(len(labels)), [f"{machine}, {step}" for machine, step in labels])
    axes[0][0].invert_yaxis()
    handles, names = axes[0][0].get_legend_handles_labels()
    unique = dict(zip(names, handles, strict=True))
    figure.legend(
        unique.values(), unique, loc="outside lower center", ncols=len(unique), frameon=False
    )
    return written(figure, path)


def growth(points, path):
    """Seconds above, megabytes below, a column for each direction; both axes in powers."""
    directions = [d for d in DIRECTIONS if any(p["direction"] == d for p in points)]
    machines = list(dict.fromkeys(p["machine"] for p in points))
    figure, axes = plt.subplots(
        2,
        len(directions),
        figsize=(1 + 2 * len(directions), 4.6),
        layout="constrained",
        sharex="col",
        sharey="row",
        squeeze=False,
    )
    for column, direction in zip(axes.T, directions, strict=True):
        for machine, style in zip(machines, ("o-", "s--", "^:", "d-."), strict=False):
            found = [p for p in points if (p["machine"], p["direction"]) == (machine, direction)]
            for ax, key in zip(column, ("seconds", "mb"), strict=True):
                sizes = [p["size"] for p in found]
                ax.plot(sizes, [max(p[key], 1e-3) for p in found], style, ms=4, label=machine)
        here = [p["size"] for p in points if p["direction"] == direction]
        for ax, key in zip(column, ("seconds", "mb"), strict=True):
            in_powers(ax.xaxis, here)
            in_powers(ax.yaxis, [p[key] for p in points])
            ax.grid(True, color="0.9", lw=0.6)
        column[-1].set_xlabel(direction)
    axes[0][0].set_ylabel("fit, s")
    axes[1][0].set_ylabel("beside the data, MB")
    handles, names = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    return written(figure, path)


def ranks(rows, found, path):
    """Mean rank against the median seconds of the fit; ours are filled, the best are on top."""
    figure, ax = plt.subplots(figsize=(7.5, 6), layout="constrained")
    named = []
    for machine, rank in found.items():
        seconds = sorted(r["fit_s"] for r in rows if r["machine"] == machine and r.get("fit_s"))
        if not seconds:
            continue
        ours = machine.startswith(OURS)
        color = "#08519c" if ours else "#d94801"
        x = seconds[len(seconds) // 2]
        ax.plot(x, rank, "o", color=color, mfc=color if ours else "none", ms=7)
        is_near = any(abs(rank - r) < 0.2 and abs(math.log10(x / at)) < 0.25 for at, r in named)
        beside = (6, -10) if is_near else (6, 4)  # below, where a name is beside a near one
        named.append((x, rank))
        ax.annotate(machine, (x, rank), xytext=beside, textcoords="offset points", fontsize=8)
    in_powers(ax.xaxis, [line.get_xdata()[0] for line in ax.lines])
    ax.set(xlabel="median fit, s", ylabel="mean rank")
    ax.invert_yaxis()
    ax.margins(x=0.2)
    ax.grid(True, color="0.92", lw=0.6)
    return written(figure, path)


def peers(rows, key, factor, path, columns=4):
    """Score against seconds of the fit, a panel for each set; ours are filled."""
    sets = list(dict.fromkeys(row["set"] for row in rows))
    machines = list(dict.fromkeys(row["machine"] for row in rows))
    columns = min(columns, len(sets))
    lines = -(-len(sets) // columns)
    figure, axes = plt.subplots(
        lines,
        columns,
        figsize=(2.6 * columns, 2.4 * lines + 0.3 * (1 + len(machines) // columns)),
        layout="constrained",
        squeeze=False,
    )
    colors = plt.get_cmap("tab20").colors
    for ax in axes.flat[len(sets) :]:
        ax.set_axis_off()
    for ax in axes[:, 0]:
        ax.set_ylabel("%" if factor == 100 else "score")
    for ax, name in zip(axes.flat, sets, strict=False):
        for row in rows:
            if row["set"] != name or row.get(key) is None or not row.get("fit_s"):
                continue
            color = colors[machines.index(row["machine"]) % len(colors)]
            ours = str(row["machine"]).startswith(OURS)
            face = color if ours else "none"
            ax.plot(row["fit_s"], factor * row[key], "o", color=color, mfc=face, ms=6)
        in_powers(ax.xaxis, [line.get_xdata()[0] for line in ax.lines])
        ax.set(title=name)
        ax.grid(True, color="0.92", lw=0.6)
    handles = [
        plt.Line2D([], [], marker="o", ls="", color=colors[i % len(colors)], mfc=face, label=m)
        for i, m in enumerate(machines)
        for face in [colors[i % len(colors)] if str(m).startswith(OURS) else "none"]
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False)
    for ax in axes[-1]:
        ax.set_xlabel("fit, s")
    return written(figure, path)
