"""The documentation: the site builds without a warning, and what it mentions exists."""

from __future__ import annotations

import ast
import doctest
import importlib
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

import kernelm

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
PROGRAMS = sorted((DOCS / "machinery").glob("*.py"))
PACKAGES = ("mkdocs", "material", "mkdocstrings", "mkdocstrings_handlers.python", "latex2mathml")

#: Where names that pages mention may come from.
NAMESPACES = ("", ".kernels", ".data", ".features", ".ridge", ".store", ".onnx")

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(DOCS)))


def is_installed(package):
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def need_packages():
    missing = [package for package in PACKAGES if not is_installed(package)]
    if missing:
        pytest.skip(f"the site needs {', '.join(missing)}; pip install kernelm[docs]")


# --- the site ------------------------------------------------------------------------------------


class Links(HTMLParser):
    """What a page links to, what it loads, and the anchors it offers."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors.add(found.get("id"))
        if tag == "a":
            self.links.append(found.get("href", ""))
        else:
            self.loads += [found[name] for name in ("src", "href") if found.get(name)]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    need_packages()
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    # The theme announces its successor, which is no warning about these pages.
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr + done.stdout
    return folder


@pytest.fixture(scope="module")
def built(site):
    pages = {path.resolve(): Links(path) for path in site.rglob("*.html")}
    assert len(pages) > len(PAGES)
    return pages


def test_every_page_is_in_the_site(site):
    for page in PAGES:
        place = page.relative_to(DOCS).with_suffix("")
        folder = place.parent if place.name == "index" else place
        assert (site / folder / "index.html").is_file(), page


def test_links_lead_somewhere(site, built):
    for path, page in built.items():
        if path.name == "404.html":  # its links start at the root of a server
            continue
        for link in filter(None, page.links + page.loads):
            target, anchor = urldefrag(link)
            if urlsplit(target).scheme:
                continue
            file = (path.parent / unquote(target)).resolve() if target else path
            file = file / "index.html" if file.is_dir() else file
            assert file.is_file(), f"{path.relative_to(site)} links to {link}"
            if anchor and not anchor.startswith("__"):
                assert unquote(anchor) in built[file].anchors, f"{path} links to {link}"


def test_nothing_is_loaded_from_elsewhere(site, built):
    for path, page in built.items():
        far = [link for link in page.loads if urlsplit(link).netloc]
        assert not far, f"{path.relative_to(site)} loads {far}"
    for style in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", style.read_text("utf-8"))


def test_formulas_are_drawn_and_roles_are_gone(site):
    text = (site / "reference" / "kernels" / "index.html").read_text("utf-8")
    assert text.count("<math") > 20
    for path in (site / "reference").rglob("*.html"):
        assert not re.search(
            r":(math|class|func|meth|mod|attr):|\.\. math", path.read_text("utf-8")
        )


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_programs_of_the_site_do_what_their_examples_say(program):
    need_packages()
    spec = importlib.util.spec_from_file_location(program.stem, program)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


# --- what pages mention --------------------------------------------------------------------------


def code_of(page):
    """Inline code and examples of a page, as text."""
    text = page.read_text("utf-8")
    fenced = re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    rest = re.sub(r"^```\w*\n.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"`([^`\n]+)`", rest), fenced


def named(name):
    """The thing of this library with a name, or None."""
    for place in NAMESPACES:
        module = importlib.import_module(f"kernelm{place}")
        if hasattr(module, name):
            return getattr(module, name)
    return None


def calls_in(code):
    """Calls of things of this library in a piece of code, with their keywords."""
    try:
        tree = ast.parse(code.replace("…", "..."), mode="eval")
    except SyntaxError:  # a shell command, a formula, a list of values
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            is_ours = name.isidentifier() or name.startswith("kernelm.")
            thing = named(name.rpartition(".")[2]) if is_ours else None
            if thing is not None:
                yield thing, node


@every_page
def test_dotted_names_exist(page):
    inline, fenced = code_of(page)
    for name in re.findall(r"\bkernelm(?:\.[A-Za-z_]\w*)+", "\n".join(inline + fenced)):
        thing = kernelm
        for part in name.split(".")[1:]:
            if not hasattr(thing, part):
                importlib.import_module(f"{thing.__name__}.{part}")
            thing = getattr(thing, part)


@every_page
def test_calls_fit_their_signatures(page):
    for code in code_of(page)[0]:
        for thing, call in calls_in(code):
            parameters = inspect.signature(thing).parameters
            for keyword in call.keywords:
                assert keyword.arg in parameters, f"{code}: no parameter {keyword.arg}"
            positional = [p for p in parameters.values() if p.kind is not p.KEYWORD_ONLY]
            variadic = any(p.kind is p.VAR_POSITIONAL for p in positional)
            assert variadic or len(call.args) <= len(positional), code


@every_page
def test_fitted_attributes_exist(page):
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    for code in code_of(page)[0]:
        for name in re.findall(r"^\w*[a-z]_$", code):
            assert re.search(rf"\b{name}\b", source), f"nothing here has {name}"


@every_page
def test_files_exist(page):
    inline, _ = code_of(page)
    for name in re.findall(r"\b(?:bench|tests|docs|scripts)/[\w/]+\.py\b", "\n".join(inline)):
        assert (ROOT / name).is_file(), name
    for name in re.findall(r"\bkernelm/[\w/]+\.py\b", "\n".join(inline)):
        assert (ROOT / "src" / name).is_file(), name


def test_every_public_name_is_in_the_reference():
    text = "\n".join(p.read_text("utf-8") for p in (DOCS / "reference").glob("*.md"))
    documented = {name.rpartition(".")[2] for name in re.findall(r"^::: (\S+)", text, re.M)}
    public = {name for name in kernelm.__all__ if not inspect.ismodule(getattr(kernelm, name))}
    assert public - {"__version__"} <= documented


@pytest.mark.parametrize("folder", ["guide", "papers"])
def test_every_task_and_every_paper_has_an_example(folder):
    pages = [p for p in (DOCS / folder).glob("*.md") if p.stem != "index"]
    assert len(pages) >= 5
    for page in pages:
        examples = doctest.DocTestParser().get_examples(page.read_text("utf-8"))
        assert any(example.want for example in examples), page
