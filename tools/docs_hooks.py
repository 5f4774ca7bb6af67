"""What `make docs` adds to mkdocs: files of the repository that a page links to are in the site too.

A page says ``../firmware-hooks/examples/x.v``, which leads there in a checkout. The site gets a copy
of the file and the link to it; a link to a file that does not exist is a warning, and with it the end
of the build (``strict``), as mkdocs does with links between pages.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_LINK = re.compile(r"\]\(\.\./([^)#\s]+)\)")
_ROOT = Path(__file__).resolve().parents[1]
_log = logging.getLogger("mkdocs.plugins.freezeframe")


def on_page_markdown(text: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links that leave ``docs`` at the site's copies of those files."""
    del config, files

    def inside(link: re.Match[str]) -> str:
        path = link[1]
        if (_ROOT / path).is_file():
            return f"](source/{path})"
        _log.warning("docs/%s: dead link: %s is no file of the repository", page.file.src_uri, path)
        return link[0]

    return _LINK.sub(inside, text)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add every file of the repository that a page links to."""
    linked = {
        path
        for page in Path(config.docs_dir).glob("*.md")
        for path in _LINK.findall(page.read_text("utf-8"))
        if (_ROOT / path).is_file()
    }
    for path in sorted(linked):
        content = (_ROOT / path).read_bytes()
        files.append(File.generated(config, f"source/{path}", content=content))
    return files
