"""docs/sigrok-decoders.md says what there is: every command parses, every column, every variable."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from freezeframe.decoders.registry import load_decoders
from freezeframe.decoders.spec import parse_spec
from freezeframe.decoders.srd.annotations import annotation_schema
from freezeframe.decoders.srd.location import LIBRARY_VARIABLE
from freezeframe.decoders.srd.process import TIMEOUT_VARIABLE, default_timeout_s

PAGE = (Path(__file__).parents[3] / "docs" / "sigrok-decoders.md").read_text()


@pytest.mark.parametrize("spec", re.findall(r" -d (\S+)", PAGE))
def test_every_stack_of_the_page_can_be_asked_for(spec: str) -> None:
    assert parse_spec(spec, load_decoders()).steps


def test_every_column_stands_in_the_page_in_its_words() -> None:
    section = PAGE.partition("## The table")[2].partition("## Stacks")[0]
    columns = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", section, re.M)))
    assert sorted(columns) == sorted(annotation_schema().names)


def test_the_variables_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| .*?(\d*) \|$", PAGE, re.M)
    assert dict(rows).keys() == {"SIGROKDECODE_DIR", LIBRARY_VARIABLE, TIMEOUT_VARIABLE}
    assert float(dict(rows)[TIMEOUT_VARIABLE]) == default_timeout_s()
