"""Every dependency carries its reason and is pinned with a hash."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def name(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found, requirement
    return found[0].lower().replace("_", "-")


def required(*extras: str) -> list[str]:
    lists = [PROJECT["dependencies"], *(PROJECT["optional-dependencies"][e] for e in extras)]
    return [requirement for group in lists for requirement in group]


@pytest.mark.parametrize("requirement", required(*PROJECT["optional-dependencies"]))
def test_a_dependency_has_a_reason_beside_it(requirement: str) -> None:
    line = next(
        text for text in (ROOT / "pyproject.toml").read_text().splitlines() if requirement in text
    )
    assert re.search(r",\s*# .{10,}", line), f"no reason: {line.strip()}"


@pytest.mark.parametrize(
    ("lock", "requirements"),
    [("run.txt", required()), ("dev.txt", required("dev", "peers"))],
    ids=["run", "dev"],
)
def test_the_lock_file_pins_every_dependency_with_a_hash(
    lock: str, requirements: list[str]
) -> None:
    text = (ROOT / "lock" / lock).read_text()
    pinned = dict(re.findall(r"^([a-z0-9._-]+)==(\S+).*\\\n\s+--hash=sha256:", text, re.M))
    assert [r for r in requirements if name(r) not in pinned] == []


def test_lock_files_name_no_registry() -> None:
    for lock in (ROOT / "lock").glob("*.txt"):
        assert "://" not in lock.read_text(), lock.name
