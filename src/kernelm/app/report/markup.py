"""Elements of a page; every text that is not markup already is escaped, here and only here."""

from __future__ import annotations

from html import escape
from typing import Any, final

_EMPTY = frozenset({"meta", "br", "circle", "line", "path", "rect"})  # without an end tag
_BREAKS = {ord(c): " " for c in map(chr, range(32)) if c not in "\t\n"}  # not allowed in XML


@final
class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def text(value: Any) -> Markup:
    """Return any value as text that cannot be taken for markup.

    Examples
    --------
    >>> text("<b>")
    '&lt;b&gt;'
    """
    if isinstance(value, Markup):
        return value
    return Markup(escape(str(value).translate(_BREAKS), quote=True))


def join(*parts: Any) -> Markup:
    """Return parts one after the other."""
    return Markup("".join(text(part) for part in parts))


def tag(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """Return an element; ``class_`` is class, other underscores are hyphens.

    Examples
    --------
    >>> tag("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    pairs = ((k.rstrip("_").replace("_", "-"), v) for k, v in attributes.items() if v is not None)
    start = "".join([f"<{name}", *(f' {k}="{_number(v)}"' for k, v in pairs)])
    if name in _EMPTY and not children:
        return Markup(f"{start}/>")
    return Markup(f"{start}>{join(*children)}</{name}>")


def _number(value: Any) -> Markup:
    """Return an attribute; a hundredth of a pixel is enough."""
    return text(f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value)
