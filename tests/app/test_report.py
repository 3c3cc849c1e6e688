import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostile import HOSTILE
from kernelm.app.insight import Confusion, Insight
from kernelm.app.report import charts, render, write
from kernelm.app.report.markup import tag
from kernelm.app.report.plot import Scale

ALLOWED = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "main",
    "header",
    "section",
    "footer",
    "h1",
    "h2",
    "h3",
    "p",
    "dl",
    "dt",
    "dd",
    "div",
    "ul",
    "li",
    "figure",
    "figcaption",
    "svg",
    "text",
    "line",
    "path",
    "circle",
    "rect",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "small",
    "details",
    "summary",
    "code",
    "script",
}


class Page(HTMLParser):
    """Every element, its attributes, and all text outside style and script."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data):
        if self._inside not in ("style", "script"):
            self.words.append(data)

    def count(self, name: str) -> int:
        return sum(tag == name for tag, _ in self.elements)


def names_of(page: Page) -> list[str]:
    return [a["aria-label"] or "" for tag, a in page.elements if tag == "svg"]


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_hostile_names_are_text_and_nothing_else(task, request):
    found = request.getfixturevalue(task)
    page = Page(render(found, title=HOSTILE[2]))
    assert {name for name, _ in page.elements} <= ALLOWED
    assert page.count("script") == page.count("style") == 1
    attributes = [pair for _, attrs in page.elements for pair in attrs.items()]
    assert not [name for name, _ in attributes if name.startswith("on") or name in ("src", "href")]
    assert not [a for _, a in page.elements if a.get("id") == "owned"]
    words = " ".join(page.words)
    assert HOSTILE[0] in words
    assert HOSTILE[2] in words


@given(st.text())
def test_any_text_comes_back_as_it_was_and_adds_no_element(words):
    page = Page(str(tag("p", words, title=words)))
    assert [name for name, _ in page.elements] == ["p"]
    visible = "".join(c if c >= " " or c in "\t\n" else " " for c in words)
    assert page.elements[0][1]["title"] == visible
    assert "".join(page.words) == visible


def test_all_charts_of_a_regression_are_there(regression):
    names = " | ".join(names_of(Page(render(regression))))
    wanted = (
        "R² against fit time",
        "Residuals",
        "Importance",
        "ridge strengths",
        "kernels",
        "units",
    )
    assert all(words in names for words in wanted), names


def test_all_charts_of_classes_are_there(classification):
    names = " | ".join(names_of(Page(render(classification))))
    wanted = ("accuracy against", "Confusion", "Reliability", "ridge strengths", "kernels", "units")
    assert all(words in names for words in wanted), names


def test_every_result_setting_version_and_reason_is_on_the_page(regression):
    words = " ".join(Page(render(regression)).words)
    for result in regression.results:
        assert result.name in words
    assert regression.skipped[0].reason in words
    assert all(note in words for note in regression.notes[:1])
    for value in (*regression.versions.values(), *regression.computer.values()):
        assert value in words


def test_numbers_in_the_table_are_those_of_the_comparison(regression):
    best = regression.table()[0]
    words = " ".join(Page(render(regression)).words)
    assert f"{best['score']:.3f}" in words
    assert f"{best['RMSE']:.3f}" in words


def test_the_policy_allows_nothing_but_the_style_and_one_script(regression):
    html = render(regression)
    policy = next(
        a["content"] or "" for tag, a in Page(html).elements if "http-equiv" in a and tag == "meta"
    )
    assert policy.startswith("default-src 'none'")
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]{44}'$", policy)
    assert not re.search(r"https?://(?!e)", html)  # but for the name of a column


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_points_lie_within_their_pictures(task, request):
    width = height = 0.0
    for name, a in Page(render(request.getfixturevalue(task))).elements:
        if name == "svg":
            width, height = map(float, (a["viewbox"] or "").split()[2:])
        elif name == "circle":
            assert 0 <= float(a["cx"] or "nan") <= width
            assert 0 <= float(a["cy"] or "nan") <= height


def test_a_report_of_nothing_says_so(regression):
    empty = replace(regression, results=(), insight=Insight(), interrupted=True)
    words = " ".join(Page(render(empty)).words)
    assert "No machine was measured" in words
    assert "interrupted" in words


def test_many_classes_with_long_names_are_drawn():
    counts = np.eye(20, dtype=int) * 3
    labels = tuple(f"{HOSTILE[0]} number {i}" for i in range(20))
    drawn = charts.confusion(Confusion("m", labels, tuple(map(tuple, counts.tolist()))))
    assert Page(drawn).count("rect") == 400
    assert "60 of 60" in drawn


@given(st.floats(1e-9, 1e9), st.floats(1.001, 1e6), st.booleans(), st.integers(5, 10))
def test_ticks_are_within_the_scale_rising_and_few(low, factor, log, most):
    scale = Scale.around([low, low * factor], 0, 100, log=log)
    ticks = scale.ticks(most)
    assert ticks == sorted(set(ticks))
    assert len(ticks) <= 3 * most
    assert all(-1e-6 <= scale(t) <= 100 + 1e-6 for t in ticks)
    if not log:
        assert len(ticks) >= 2


def test_write_makes_one_file_and_leaves_no_other(regression, tmp_path: Path):
    path = write(regression, tmp_path / "report.html", title="A & B")
    assert list(tmp_path.iterdir()) == [path]
    html = path.read_text(encoding="utf-8")
    assert html.startswith("<!DOCTYPE html>")
    assert "<title>A &amp; B</title>" in html
    assert len(html) < 300_000


def test_write_says_which_folder_is_missing(regression, tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write(regression, tmp_path / "nowhere" / "report.html")
