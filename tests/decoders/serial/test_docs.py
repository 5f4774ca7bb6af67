"""The pages of the serial decoders name every error that they tell, with the words of the program."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("name", ["mdio", "uart", "spi", "i2c", "jtag", "can", "onewire", "swd"])
def test_the_page_has_every_error_with_its_text(name: str) -> None:
    own = DOCS / f"decoders-{name}.md"
    if own.exists():
        section = own.read_text(encoding="utf-8").partition("\n## Errors")[2]
    else:
        page = (DOCS / "decoders-serial.md").read_text(encoding="utf-8")
        section = page.partition(f"## `{name}`")[2]
    section = section.partition("\n## ")[0]
    errors = import_module(f"freezeframe.decoders.serial.{name}_code")._ERROR_TEXTS
    told = {line for line in section.splitlines() if line.startswith("| `")}
    assert told == {f"| `{error}` | {text} |" for error, text in errors.items()}
