"""Docstrings as Markdown: formulas become MathML, which browsers draw without a script."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension
from latex2mathml.converter import convert

_BLOCK = re.compile(r"^( *)\.\. math:: *(.*(?:\n\1 +\S.*)*)", re.MULTILINE)
_INLINE = re.compile(r":math:`([^`]+)`")
_ROLE = re.compile(r":[a-z]+:`(~?)([^`]+)`")
_TABLE = re.compile(r"^( *)=+  +=[= ]*\n((?:.*\n)+?)\1=+  +=[= ]*$", re.MULTILINE)

# Prose after the parameters, which would be read as more of them.
_AFTERTHOUGHT = re.compile(
    r"(\bParameters\n-+\n(?:(?!\n\S[^\n]*\n---).)*?\n\n)(?=\S[^\n]*\n(?!---)\S)", re.DOTALL
)


class MarkdownDocstrings(Extension):
    """Rewrite every docstring before its sections are told apart."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """Return a docstring without roles, directives and tables of reStructuredText.

    Examples
    --------
    >>> as_markdown("See :func:`~kernelm.unit_curve` and :class:`Kernel`.")
    'See `unit_curve` and `Kernel`.'
    """
    text = _AFTERTHOUGHT.sub(r"\1Notes\n-----\n", text)
    text = _TABLE.sub(_table, text)
    text = _BLOCK.sub(lambda m: f"{m[1]}<div>{_mathml(m[2], 'block')}</div>", text)
    text = _INLINE.sub(lambda m: _mathml(m[1], "inline"), text)
    return _ROLE.sub(lambda m: f"`{m[2].rpartition('.')[2] if m[1] else m[2]}`", text)


def _mathml(formula: str, display: str) -> str:
    # Markdown would read these as its own.
    return convert(" ".join(formula.split()), display=display).replace("*", "&#42;")


def _table(match: re.Match[str]) -> str:
    """Return a simple table as one of Markdown."""
    indent, rows = match[1], match[2].splitlines()
    cells = [re.split(r"  +", row.strip(), maxsplit=1) for row in rows]
    lines = ["| | |", "|---|---|", *(f"| {' | '.join(row)} |" for row in cells)]
    return "\n".join(indent + line for line in lines)
