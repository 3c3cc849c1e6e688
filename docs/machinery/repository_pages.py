"""Pages of the site that live at the top of the repository: each text is kept once."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

#: Files at the top of the repository, and the pages that they become.
PAGES = {
    "README.md": "project/readme.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
}

_LINK = re.compile(r"\]\(([^)#:\s]+)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages of the repository to those of the site."""
    from mkdocs.structure.files import File

    root = Path(config.config_file_path).parent
    for name, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(root / name)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links between files of the repository into links between pages."""
    return relinked(markdown, page.file.src_uri)


def relinked(markdown: str, uri: str) -> str:
    """Return a page with its links as the site needs them.

    Examples
    --------
    >>> relinked("[notation](docs/notation.md)", "project/readme.md")
    '[notation](../notation.md)'
    >>> relinked("[measured](../README.md)", "local_machines.md")
    '[measured](project/readme.md)'
    """
    names = {page: name for name, page in PAGES.items()}
    here = posixpath.dirname(names.get(uri, f"docs/{uri}"))

    def link(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(here, match[1]))
        inside = PAGES.get(target, target.removeprefix("docs/"))
        return f"]({posixpath.relpath(inside, posixpath.dirname(uri) or '.')}"

    return _LINK.sub(link, markdown)
