"""docs/command-line.md and docs/quickstart.md name what there is: every verb, every option, every exit code."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from freezeframe.gui.cli.verbs import VERBS
from tests.gui.cli import run_inside

OF_ALL_THAT_READ = "--max-unpacked"
DOCS = Path(__file__).parents[2] / "docs"


def sections() -> dict[str, str]:
    parts = re.split(r"^## ", (DOCS / "command-line.md").read_text(), flags=re.M)[1:]
    return {part.partition("\n")[0].strip(): part for part in parts}


def _verb_of_its_own(verb: str, rest: str) -> list[str]:
    """Return the verb within a verb that a command line names."""
    module = import_module(next(v.module for v in VERBS if v.name == verb))
    return [word for word in rest.split()[:1] if word in getattr(module, "COMMANDS", {})]


def test_the_option_of_all_verbs_that_read_files_is_explained_once() -> None:
    text = (DOCS / "command-line.md").read_text()
    assert text.count(f"**`{OF_ALL_THAT_READ} SIZE`**") == 1
    having = [v.name for v in VERBS if v.unpacks]
    assert all(OF_ALL_THAT_READ in run_inside(verb, "--help").out for verb in having)


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_every_verb_has_a_section_with_an_example_and_all_its_options(verb: str) -> None:
    section = sections()[verb]
    assert f"$ freezeframe {verb}" in section
    help_text = run_inside(verb, "--help").out
    options = set(re.findall(r"--[a-z][a-z-]+", help_text.partition("Options:")[2]))
    options -= {"--help", OF_ALL_THAT_READ}
    missing = {option for option in options if f"`{option}" not in section}
    assert missing == set()


def test_every_exit_code_is_explained() -> None:
    codes = re.findall(r"^\| (\d+) \|", sections()["Exit codes"], re.M)
    assert codes == ["0", "1", "2", "3", "130", "141"]


@pytest.mark.parametrize("page", ["command-line.md", "quickstart.md"])
def test_every_verb_and_option_in_the_pages_exists(page: str) -> None:
    known = {verb.name for verb in VERBS}
    text = (DOCS / page).read_text()
    commands = re.findall(r"^\$ freezeframe (\S+)(.*)$", text, re.M)
    assert len(commands) >= 5
    for verb, rest in commands:
        if verb.startswith("-"):
            continue
        assert verb in known
        helped = run_inside(verb, *_verb_of_its_own(verb, rest), "--help").out
        for option in re.findall(r" (--?[a-z][a-z-]*)", rest):
            assert option in helped, f"{page}: freezeframe {verb} has no {option}"


@pytest.mark.parametrize("page", ["command-line.md", "quickstart.md"])
def test_links_in_the_pages_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)", (DOCS / page).read_text()):
        if "://" not in target:
            assert (DOCS / target).exists(), target
