"""No verb that reads writes to a card: counted at the card, and where the card is mapped it cannot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.errors import TargetError
from freezeframe.capture.targets import pci
from freezeframe.capture.targets.base import Words
from freezeframe.capture.targets.pci import PciTarget, open_pci
from tests.capture.recorder.fake_recorder import FakeRecorder
from tests.capture.serving import serving
from tests.capture.targets.fake_device import FakeTarget
from tests.capture.targets.places import pci_tree
from tests.gui.cli import run_inside

Arguments = Callable[[str, Path], Sequence[str]]

READING: dict[str, Arguments] = {
    "status": lambda url, _: ("status", url),
    "status --json": lambda url, _: ("status", url, "--json"),
    "counters": lambda url, _: ("counters", url),
    "targets": lambda url, _: ("targets", url),
    "reg": lambda url, _: ("reg", url),
    "reg NAME": lambda url, _: ("reg", url, "ctl.state"),
    "trigger": lambda url, _: ("trigger", url),
    "pull": lambda url, folder: ("pull", url, "-o", str(folder / "x.ff")),
}


class Counted(FakeRecorder):
    """A card that counts the words it is asked for."""

    asked = 0

    def read(self, addresses: Words | Sequence[int]) -> Words:
        self.asked += len(addresses)
        return super().read(addresses)


@pytest.mark.parametrize("verb", READING)
def test_a_verb_that_reads_makes_no_write(verb: str, tmp_path: Path) -> None:
    card = Counted()
    with serving(card) as url:
        done = run_inside(*READING[verb](url, tmp_path))
    assert done.code == 0, done.err
    assert card.writes == []
    assert card.asked >= 10


@pytest.mark.parametrize("verb", READING)
def test_a_verb_that_reads_has_the_bar_mapped_for_reading_alone(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FREEZEFRAME_SYSFS", str(tmp_path))
    bar = pci_tree(tmp_path, FakeRecorder(devices=1)) / "resource0"
    before = bar.read_bytes()
    opened: list[PciTarget] = []

    class Kept(PciTarget):
        def __init__(self, *arguments: Any, **more: Any) -> None:
            super().__init__(*arguments, **more)
            opened.append(self)

    monkeypatch.setattr(pci, "PciTarget", Kept)
    done = run_inside(*READING[verb]("pci:0000:03:00.0", tmp_path))
    assert done.code == 0, done.err
    assert bar.read_bytes() == before
    assert opened
    assert not any(target.is_writable for target in opened)


def test_what_is_mapped_for_reading_cannot_be_written_by_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FREEZEFRAME_SYSFS", str(tmp_path))
    bar = pci_tree(tmp_path, FakeTarget(devices=1, depth=64)) / "resource0"
    target = open_pci("pci:0000:03:00.0")
    target.read([0])
    with pytest.raises(TypeError, match="read-only"):
        target._opened()[2] = 5
    assert not target.is_writable
    target.write(8, [0xAABBCCDD])
    assert target.is_writable
    target.close()
    assert bar.read_bytes()[8:12] == bytes.fromhex("ddccbbaa")
    with pytest.raises(TargetError, match="closed"):
        target.write(8, [1])
