"""Code in docs that names its file is that file's text: ``<!-- from PATH -->`` stands above the block."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
_SNIPPET = re.compile(r"^<!-- from (\S+) -->\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def snippets() -> list[tuple[str, str, str]]:
    """Return (page, file, text) of every block that names its file."""
    return [
        (page.name, file, text)
        for page in sorted((REPOSITORY / "docs").glob("*.md"))
        for file, text in _SNIPPET.findall(page.read_text("utf-8"))
    ]


@pytest.mark.parametrize(("page", "file", "text"), snippets())
def test_a_snippet_is_the_text_of_its_file(page: str, file: str, text: str) -> None:
    assert text in (REPOSITORY / file).read_text("utf-8"), f"docs/{page}: changed in {file}"


def test_every_mark_has_its_block_and_the_worked_examples_are_shown() -> None:
    """A mark that the pattern above misses would check nothing."""
    for page in (REPOSITORY / "docs").glob("*.md"):
        text = page.read_text("utf-8")
        assert text.count("<!-- from ") == len(_SNIPPET.findall(text)), page.name
    shown = {file for page, file, _ in snippets() if page == "add-to-your-nic.md"}
    assert shown == {
        "firmware-hooks/examples/ff_example_axi_stream.v",
        "firmware-hooks/examples/ff_example_fifo_pair.v",
        "firmware-hooks/examples/embedded/main.c",
    }
