"""One picture for each question that people ask about a comparison."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kernelm.app.comparison import Comparison, Result
from kernelm.app.insight import (
    AlphaPath,
    Calibration,
    Confusion,
    GrowthCurve,
    Importance,
    KernelRanking,
    Residuals,
)
from kernelm.app.machines import BASELINE
from kernelm.app.report.markup import Markup, join
from kernelm.app.report.plot import (
    Board,
    Scale,
    box,
    clipped,
    curve,
    dot,
    label,
    length,
    line,
    short,
)

WIDTH, HEIGHT = 460, 300


def score_against_time(c: Comparison) -> Markup:
    """Draw every machine by fit time and score, twice: for a wide page and for a phone."""
    return join(_trade_off(c, Board(920, 420), "wide"), _trade_off(c, Board(400, 440), "narrow"))


def _trade_off(c: Comparison, board: Board, class_: str) -> Markup:
    shown = [r for r in c.ranking if r.family != BASELINE] or c.ranking
    where = {r.name: _place(c, r) for r in shown}
    x = board.across([t for t, _ in where.values()], log=True, room=0.1)
    y = board.up([s for _, s in where.values()], room=0.08)
    front = [r for r in c.front if r.name in where]
    at = {name: (x(t), y(s)) for name, (t, s) in where.items()}
    steps = _steps([at[r.name] for r in front], board.width - board.right)
    marks = [curve(steps, "front")] if steps else []
    for r in reversed(shown):
        kind = "ours" if r.is_ours else "other"
        ring = " on-front" if r in front else ""
        marks.append(dot(*at[r.name], 6, f"mark {kind}{ring}", _tip(c, r)))
    names = [(r.name, at[r.name], "name ours" if r.is_ours else "name") for r in shown]
    name = f"{c.score_name} against fit time of {len(shown)} machines"
    axes = board.axes(x, y, "fit time in seconds (log)", c.score_name)
    return board.draw(name, axes, *marks, _labels(names, board), class_=class_)


def _place(c: Comparison, r: Result) -> tuple[float, float]:
    assert r.fit_seconds is not None
    return max(r.fit_seconds.mean, 1e-4), c.level(r)


def _tip(c: Comparison, r: Result) -> str:
    seconds, score = _place(c, r)
    return f"{r.name}: {c.score_name} {score:.4f}, fit {seconds:.3g} s"


def _steps(points: Sequence[tuple[float, float]], end: float) -> list[tuple[float, float]]:
    """Return stairs: more score only comes with more time."""
    steps: list[tuple[float, float]] = []
    for x, y in points:
        if steps:
            steps.append((x, steps[-1][1]))
        steps.append((x, y))
    return [*steps, (end, steps[-1][1])] if steps else []


def _labels(names: Sequence[tuple[str, tuple[float, float], str]], board: Board) -> Markup:
    """Return names beside their points, each where it covers no other; else only as a tip."""
    taken = [(x - 7, y - 7, x + 7, y + 7) for _, (x, y), _ in names]
    marks: list[Markup] = []
    for i, (name, (x, y), class_) in enumerate(names):
        w = length(name)
        others = taken[:i] + taken[i + 1 :]
        for left, base in (
            (x + 10, y + 4),
            (x - 10 - w, y + 4),
            (x - w / 2, y - 11),
            (x - w / 2, y + 20),
        ):
            area = (left, base - 11, left + w, base + 3)
            inside = board.left < left and left + w < board.width and area[1] > 2
            if inside and base < board.height - board.bottom and not _hits(area, others):
                marks.append(label(left, base, name, class_))
                taken.append(area)
                break
    return join(*marks)


def _hits(
    a: tuple[float, float, float, float], others: Sequence[tuple[float, float, float, float]]
) -> bool:
    return any(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for b in others)


def alpha_path(p: AlphaPath) -> Markup:
    """Draw the closed-form error of every ridge strength, the chosen one marked."""
    board = Board(WIDTH, HEIGHT)
    x = board.across([*p.alphas, p.chosen], log=True)
    y = board.up(p.errors, log=min(p.errors) > 0)
    points = [(x(a), y(e)) for a, e in zip(p.alphas, p.errors, strict=True)]
    dots = [
        dot(px, py, 2.5, "mark ours", f"alpha {a:.3g}: error {e:.4g}")
        for (px, py), a, e in zip(points, p.alphas, p.errors, strict=True)
    ]
    chosen = x(p.chosen)
    side = "end" if chosen > board.width / 2 else "start"
    words = label(
        chosen + (-8 if side == "end" else 8), 30, f"chosen {short(p.chosen)}", f"name ours {side}"
    )
    rule = line(chosen, board.top, chosen, board.height - board.bottom, "chosen")
    axes = board.axes(x, y, "ridge strength alpha (log)", "closed-form error")
    name = f"{p.criterion} error of {len(p.alphas)} ridge strengths; chosen {p.chosen:.3g}"
    return board.draw(name, axes, rule, curve(points, "curve"), *dots, words)


def kernel_ranking(k: KernelRanking) -> Markup:
    """Draw kernels as bars, the best first."""
    tips = [f"{n}: leave-one-out error {e:.4g}" for n, e in zip(k.kernels, k.errors, strict=True)]
    values = [f"{e:.3g}" for e in k.errors]
    names = [_brief(name) for name in k.kernels]
    return _bars("Leave-one-out error of kernels", names, k.errors, values, tips, first=True)


def _brief(kernel: str) -> str:
    """Return the name of a kernel without what goes without saying.

    Examples
    --------
    >>> _brief("ArcCosine(degrees=(1, 1), normalize=True)"), _brief("Matern32(scale='2*median')")
    ('ArcCosine(1, 1)', 'Matern32(2*median)')
    """
    words = kernel.replace(", normalize=True", "").replace("'", "")
    return re.sub(r"degrees=\(([^)]*?),?\)", r"\1", words).replace("scale=", "")


def importance(m: Importance) -> Markup:
    """Draw the columns that count most as bars."""
    values = [f"{100 * s:.1f} %" for s in m.shares]
    tips = [f"{n}: {v}" for n, v in zip(m.columns, values, strict=True)]
    return _bars("Importance of columns", m.columns, m.shares, values, tips)


def _bars(
    name: str,
    names: Sequence[str],
    sizes: Sequence[float],
    values: Sequence[str],
    tips: Sequence[str],
    *,
    first: bool = False,
) -> Markup:
    row, top, most = 24, 6, 26
    short_names = [clipped(n, most) for n in names]
    left = 14 + min(max(map(length, short_names)), 210)
    board = Board(WIDTH, top * 2 + row * len(names))
    x = Scale(0.0, max(sizes) or 1.0, left, board.width - 58)
    marks: list[Markup] = []
    for i, (words, size, value, tip) in enumerate(
        zip(short_names, sizes, values, tips, strict=True)
    ):
        y = top + i * row
        kind = "bar quiet" if first and i else "bar"
        marks.append(label(left - 8, y + 16, words, "tick end", tip))
        marks.append(box(left, y + 4, x(size) - left, row - 8, kind, tip, rx=2))
        marks.append(label(x(size) + 6, y + 16, value, "tick"))
    return board.draw(name, *marks)


def growth(curves: Sequence[GrowthCurve]) -> Markup:
    """Draw the closed-form error for numbers of units and landmarks."""
    board = Board(WIDTH, HEIGHT, right=84)
    x = board.across([n for c in curves for n in c.sizes], log=True)
    errors = [e for c in curves for e in c.errors]
    y = board.up(errors, log=min(errors) > 0)
    marks: list[Markup] = []
    ends: list[float] = []
    for i, c in enumerate(curves):
        points = [(x(n), y(e)) for n, e in zip(c.sizes, c.errors, strict=True)]
        marks.append(curve(points, f"curve line-{i % 3}"))
        for (px, py), n, e in zip(points, c.sizes, c.errors, strict=True):
            marks.append(
                dot(px, py, 3.5, f"mark line-{i % 3}", f"{c.machine}: {n} {c.unit}, error {e:.4g}")
            )
        base = points[-1][1] + 4
        while any(abs(base - other) < 13 for other in ends):
            base += 13
        ends.append(base)
        marks.append(label(points[-1][0] + 8, base, clipped(c.machine, 12), "name"))
    units = " or ".join(dict.fromkeys(c.unit for c in curves))
    axes = board.axes(x, y, f"number of {units} (log)", "closed-form error")
    return board.draw(f"Closed-form error for numbers of {units}", axes, *marks)


def confusion(c: Confusion) -> Markup:
    """Draw how often each class is taken for each other one."""
    n = len(c.labels)
    names = [clipped(str(label_), 10) for label_ in c.labels]
    left = 34 + min(max(map(length, names)), 70)
    cell = (WIDTH - left - 10) / n
    bottom = 34 if n <= 12 and max(map(length, names)) < cell else 84
    board = Board(WIDTH, int(14 + cell * n + bottom))
    marks: list[Markup] = []
    for i, row in enumerate(c.counts):
        total = sum(row) or 1
        y = 14 + i * cell
        marks.append(label(left - 8, y + cell / 2 + 4, names[i], "tick end", c.labels[i]))
        marks.append(
            _class_below(left + (i + 0.5) * cell, 14 + n * cell + 16, names[i], bottom > 34)
        )
        for j, count in enumerate(row):
            tip = f"true {c.labels[i]}, predicted {c.labels[j]}: {count}"
            kind = "none" if not count else "right" if i == j else "wrong"
            at = (left + j * cell + 1, y + 1, cell - 2, cell - 2)
            strength = _strength(count, total, i == j)
            marks.append(box(*at, f"cell {kind}", tip, rx=2, fill_opacity=strength))
            if count and cell > 20:
                middle = (left + (j + 0.5) * cell, y + cell / 2 + 4)
                marks.append(label(*middle, str(count), "count middle"))
    marks.append(label(left + n * cell / 2, board.height - 4, "predicted", "title middle"))
    turn = f"rotate(-90 12 {14 + n * cell / 2:.0f})"
    marks.append(label(12.0, 14 + n * cell / 2, "true", "title middle", transform=turn))
    right = sum(c.counts[i][i] for i in range(n))
    total = sum(map(sum, c.counts))
    return board.draw(f"Confusion matrix: {right} of {total} test rows are right", *marks)


def _class_below(x: float, y: float, name: str, turned: bool) -> Markup:
    if not turned:
        return label(x, y, name, "tick middle")
    return label(x + 4, y - 6, name, "tick end", transform=f"rotate(-60 {x + 4:.1f} {y - 6:.1f})")


def _strength(count: int, total: int, right: bool) -> float:
    """Return how strong a cell is; single mistakes can be seen too."""
    if not count:
        return 0.06
    share = count / total
    return 0.15 + 0.4 * share if right else min(0.25 + share, 0.7)


def calibration(c: Calibration) -> Markup:
    """Draw how often predictions of some confidence are right, beside the diagonal."""
    board = Board(WIDTH, HEIGHT)
    low = min([*c.confidence, *c.right])
    x, y = board.across([low, 1.0]), board.up([low, 1.0])
    points = [(x(p), y(r)) for p, r in zip(c.confidence, c.right, strict=True)]
    most = max(c.counts)
    dots = [
        dot(
            px,
            py,
            3 + 7 * (k / most) ** 0.5,
            "mark ours",
            f"confidence {p:.2f}: {r:.0%} of {k} rows right",
        )
        for (px, py), p, r, k in zip(points, c.confidence, c.right, c.counts, strict=True)
    ]
    diagonal = line(x(low), y(low), x(1.0), y(1.0), "ideal")
    axes = board.axes(x, y, "confidence of the prediction", "share that is right")
    name = f"Reliability of probabilities: mean gap {c.gap:.3f}"
    return board.draw(name, axes, diagonal, curve(points, "curve"), *dots)


def residuals(r: Residuals) -> Markup:
    """Draw residuals of test rows with their intervals, over what was predicted."""
    board = Board(WIDTH, HEIGHT)
    errors = [t - p for t, p in zip(r.truth, r.predicted, strict=True)]
    low = [b - p for b, p in zip(r.low, r.predicted, strict=True)]
    high = [b - p for b, p in zip(r.high, r.predicted, strict=True)]
    x, y = board.across(r.predicted), board.up([*errors, *low, *high])
    order = sorted(range(len(errors)), key=lambda i: r.predicted[i])
    edge = [(x(r.predicted[i]), y(high[i])) for i in order]
    edge += [(x(r.predicted[i]), y(low[i])) for i in reversed(order)]
    dots = [
        dot(
            x(p),
            y(e),
            3,
            f"mark {'ours' if a <= e <= b else 'outside'}",
            f"predicted {p:.4g}, true {p + e:.4g}",
        )
        for p, e, a, b in zip(r.predicted, errors, low, high, strict=True)
    ]
    zero = line(board.left, y(0.0), board.width - board.right, y(0.0), "ideal")
    axes = board.axes(x, y, "predicted", "true − predicted")
    name = f"Residuals: {r.covered:.0%} of test rows within their {r.coverage:.0%} interval"
    return board.draw(name, curve(edge, "band"), axes, zero, *dots)
