"""Code that a declaration names by a string is there: no type checker looks into strings."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("capture", "decoders", "analyzers", "emulator", "gui")
_NAME = re.compile(r'"(freezeframe(?:\.\w+)+:\w+)"')


def names() -> list[str]:
    """Return every string ``package.module:function`` of the rooms and of the entry points."""
    files = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    texts = [path.read_text("utf-8") for path in [*files, ROOT / "pyproject.toml"]]
    return sorted({name for text in texts for name in _NAME.findall(text)})


@pytest.mark.parametrize("name", names())
def test_code_named_by_a_string_is_there(name: str) -> None:
    module, _, function = name.partition(":")
    assert hasattr(import_module(module), function)


def test_the_strings_are_found() -> None:
    assert len(names()) > 100
    assert "freezeframe.decoders.serial.uart_code:decode_uart" in names()
