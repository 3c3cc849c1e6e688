"""A small drawing board: scales, axes and marks in SVG, coloured by the style of the page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

from kernelm.app.report.markup import Markup, join, tag, text

_LETTER = 7.0  # width of a letter of 12 pixels, about


@final
@dataclass(frozen=True)
class Scale:
    """From data to pixels, linear or logarithmic.

    Examples
    --------
    >>> scale = Scale(1.0, 1000.0, 0.0, 300.0, log=True)
    >>> scale(10.0), scale.ticks()
    (100.0, [1.0, 10.0, 100.0, 1000.0])
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    @classmethod
    def around(
        cls,
        values: Iterable[float],
        start: float,
        end: float,
        *,
        log: bool = False,
        room: float = 0.06,
    ) -> Scale:
        """Return a scale that holds all values, with some room at both ends."""
        known = [v for v in values if math.isfinite(v) and (v > 0 or not log)] or [1.0]
        low, high = (
            (math.log10(min(known)), math.log10(max(known))) if log else (min(known), max(known))
        )
        span = (high - low) or abs(high) * 0.1 or 1.0
        low, high = low - room * span, high + room * span
        return cls(10**low, 10**high, start, end, True) if log else cls(low, high, start, end)

    def __call__(self, value: float) -> float:
        """Return the pixel of a value."""
        low, high, v = self.low, self.high, value
        if self.log:
            low, high, v = math.log10(low), math.log10(high), math.log10(max(value, self.low))
        return self.start + (v - low) / (high - low) * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[float]:
        """Return round values within the scale."""
        return self._decades(most) if self.log else self._steps(most)

    def _steps(self, most: int) -> list[float]:
        raw = (self.high - self.low) / most
        size = 10 ** math.floor(math.log10(raw))
        step = next(m * size for m in (1, 2, 5, 10) if m * size >= raw * (1 - 1e-9))
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [float(f"{i * step:.12g}") for i in range(first, last + 1)]

    def _decades(self, most: int) -> list[float]:
        low, high = math.log10(self.low), math.log10(self.high)
        steps = (1,) if high - low > 2.5 else (1, 2, 5)
        every = max(1, math.ceil((high - low) / most))
        powers = range(math.floor(low), math.ceil(high) + 1, every)
        values = [m * 10.0**p for p in powers for m in steps]
        inside = [v for v in values if self.low * (1 - 1e-9) <= v <= self.high * (1 + 1e-9)]
        return inside if len(inside) > 1 else self._steps(most)


@final
@dataclass(frozen=True)
class Board:
    """A chart of a size in pixels, with margins around its plot."""

    width: int
    height: int
    left: int = 56
    right: int = 16
    top: int = 16
    bottom: int = 46

    def across(self, values: Iterable[float], *, log: bool = False, room: float = 0.06) -> Scale:
        """Return a horizontal scale."""
        return Scale.around(values, self.left, self.width - self.right, log=log, room=room)

    def up(self, values: Iterable[float], *, log: bool = False, room: float = 0.06) -> Scale:
        """Return a vertical scale."""
        return Scale.around(values, self.height - self.bottom, self.top, log=log, room=room)

    def axes(self, x: Scale, y: Scale, x_label: str, y_label: str) -> Markup:
        """Return grid lines, tick labels and titles of both axes."""
        low, high = self.height - self.bottom, self.top
        parts: list[Any] = []
        for v in y.ticks(5):
            parts.append(line(self.left, y(v), self.width - self.right, y(v), "grid"))
            parts.append(label(self.left - 8, y(v) + 4, short(v), "tick end"))
        for v in x.ticks(max(3, self.width // 90)):
            parts.append(line(x(v), low, x(v), low + 4, "axis"))
            parts.append(label(x(v), low + 18, short(v), "tick middle"))
        parts.append(line(self.left, low, self.width - self.right, low, "axis"))
        middle = (self.left + self.width - self.right) / 2
        parts.append(label(middle, self.height - 6, x_label, "title middle"))
        turn = f"rotate(-90 13 {(low + high) / 2:.0f})"
        parts.append(label(13.0, (low + high) / 2, y_label, "title middle", transform=turn))
        return join(*parts)

    def draw(self, name: str, *marks: Any, class_: str = "") -> Markup:
        """Return the picture; its name is what a screen reader says."""
        return tag(
            "svg",
            *marks,
            viewBox=f"0 0 {self.width} {self.height}",
            role="img",
            aria_label=name,
            class_=f"chart {class_}".strip(),
        )


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """Return a straight line."""
    return tag("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=class_)


def curve(points: Sequence[tuple[float, float]], class_: str) -> Markup:
    """Return straight lines from point to point."""
    steps = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return tag("path", d=f"M{steps}", class_=class_)


def dot(x: float, y: float, radius: float, class_: str, tip: str = "") -> Markup:
    """Return a point; the tip is shown where a mouse rests on it."""
    tips = [tag("title", tip)] if tip else []
    return tag("circle", *tips, cx=float(x), cy=float(y), r=float(radius), class_=class_)


def box(
    x: float, y: float, width: float, height: float, class_: str, tip: str = "", **more: Any
) -> Markup:
    """Return a rectangle."""
    size = {"width": max(float(width), 0.0), "height": float(height)}
    tips = [tag("title", tip)] if tip else []
    return tag("rect", *tips, x=float(x), y=float(y), class_=class_, **size, **more)


def label(x: float, y: float, words: str, class_: str, tip: str = "", **more: Any) -> Markup:
    """Return a text."""
    tips = [tag("title", tip)] if tip else []
    return tag("text", text(words), *tips, x=float(x), y=float(y), class_=class_, **more)


def clipped(words: str, most: int) -> str:
    """Return words with an ellipsis where they are too long."""
    words = " ".join(words.split())
    return words if len(words) <= most else words[: most - 1] + "…"


def length(words: str) -> float:
    """Return about how wide a label is."""
    return _LETTER * len(words)


def short(value: float) -> str:
    """Return a number for a tick.

    Examples
    --------
    >>> short(0.25), short(1500.0), short(2e-7), short(2e6), short(-0.0)
    ('0.25', '1,500', '2e-7', '2e6', '0')
    """
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e5:
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    digits, power = (
        f"{value:.2g}".split("e") if "e" in f"{value:.2g}" else (f"{value:.1e}".split("e"))
    )
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return f"{digits}e{int(power)}"
