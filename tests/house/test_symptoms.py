"""docs/symptoms.md leads from every cause of a freeze and to every fault that has a name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from freezeframe.capture.registers.layouts import CAUSE_NAMES
from freezeframe.gui.cli.verbs import VERBS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "symptoms.md").read_text("utf-8")
FAULTS = re.findall(r"^### (\S+)$", (DOCS / "diagnosis.md").read_text("utf-8"), re.M)


@pytest.mark.parametrize("cause", CAUSE_NAMES)
def test_every_cause_of_a_freeze_has_its_row(cause: str) -> None:
    assert f"\n| `{cause}` |" in PAGE


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_reached(fault: str) -> None:
    assert f"(diagnosis.md#{fault})" in PAGE


def test_it_names_only_verbs_that_exist() -> None:
    assert set(re.findall(r"`freezeframe ([a-z-]+)", PAGE)) <= {verb.name for verb in VERBS}
