"""Arming over a recording: what goes is written down before it goes, whatever others do meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.card.device import open_any
from freezeframe.capture.custody.giving_up import arm_over
from freezeframe.capture.custody.ledger import GIVEN_UP, Ledger, RecordingKey
from freezeframe.capture.errors import RecorderStateError
from tests.capture.recorder.fake_recorder import FROZEN, FakeRecorder

NONCE = 0x0B000000


class Meanwhile(Ledger):
    """A ledger whose lines take a while to reach the disk, in which others arm and the card freezes."""

    def __init__(self, home: Path, happens: Callable[[], None]) -> None:
        super().__init__(home)
        self._happens = happens

    def note(self, what: str, recordings: Sequence[RecordingKey], **known: Any) -> str:
        said = super().note(what, recordings, **known)
        if what == GIVEN_UP:
            self._happens()
        return said


def freezes_again(card: FakeRecorder) -> None:
    """Another program arms the card, and it freezes."""
    generation = card.get(0, "ctl.generation") + 1
    card.set(0, "ctl.generation", generation)
    card.set(0, "ctl.state", FROZEN | 0x1F << 8)
    card.set(0, "ctl.cause_cycle_lo", 100 + generation)


def named(ledger: Ledger) -> list[int]:
    return [
        key.generation
        for entry in ledger.acts(NONCE)
        if entry["what"] == GIVEN_UP
        for key in entry["parsed"]
    ]


def test_a_freeze_that_came_while_the_line_was_written_is_named_before_it_goes(
    tmp_path: Path,
) -> None:
    card = FakeRecorder(devices=1)
    left = [1]

    def once() -> None:
        if left.pop(0) if left else 0:
            freezes_again(card)

    ledger = Meanwhile(tmp_path, once)
    armed = arm_over(open_any(card), by="arm", discard=True, ledger=ledger)
    assert armed.generations == (3,)
    assert named(ledger) == [1, 2]
    assert ledger.acts(NONCE)[1]["loss"].startswith("A generation 2 ")


def test_what_is_another_recording_at_every_look_is_not_armed_over(tmp_path: Path) -> None:
    card = FakeRecorder(devices=1)
    ledger = Meanwhile(tmp_path, lambda: freezes_again(card))
    with pytest.raises(RecorderStateError, match="at each of 8 looks it held another recording"):
        arm_over(open_any(card), by="arm", discard=True, ledger=ledger)
    assert card.get(0, "ctl.state") & 3 == FROZEN


def test_without_discard_such_a_freeze_is_not_armed_over(tmp_path: Path) -> None:
    card = FakeRecorder(devices=1, frozen=False)
    ledger = Meanwhile(tmp_path, lambda: freezes_again(card))
    with pytest.raises(RecorderStateError, match="this host has not kept it"):
        arm_over(open_any(card), by="arm", ledger=ledger)
    assert (card.get(0, "ctl.generation"), named(ledger)) == (2, [1])
