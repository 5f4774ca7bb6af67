"""All rooms make their dataclasses by `freezeframe.capture.dataclass`: those of the library are a tenth of a start."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_LIBRARYS = re.compile(
    r"^\s*from dataclasses import .*\bdataclass\b|\bdataclasses\.dataclass\b", re.M
)
_OURS = "freezeframe.capture.dataclass"


@pytest.mark.parametrize("room", ["capture", "decoders", "analyzers", "emulator", "gui"])
def test_no_file_takes_the_librarys(room: str) -> None:
    files = {path: path.read_text("utf-8") for path in (ROOT / room).rglob("*.py")}
    ours = {path for path, text in files.items() if _OURS in text}
    wrong = {path for path, text in files.items() if _LIBRARYS.search(text)}
    assert len(ours) > 20
    assert wrong - {ROOT / "capture" / "dataclass.py"} == set()
