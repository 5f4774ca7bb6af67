"""What a host remembers of recordings, and who guards a card."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from freezeframe.capture.custody.lease import Leases, lease_of
from freezeframe.capture.custody.ledger import ARMED, GIVEN_UP, KEPT, Ledger, RecordingKey
from freezeframe.capture.errors import InputError

KEY = RecordingKey(0x0B000000, 3, 5000)


def test_acts_come_back_in_their_order_with_who_when_and_where(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    assert ledger.note(ARMED, [RecordingKey(KEY.nonce, 3)], by="arm") == ""
    assert ledger.note(KEPT, [KEY], path="/x.ff", digest="d", whole=True) == ""
    armed, kept = ledger.acts(KEY.nonce)
    assert (armed["what"], armed["by"], kept["path"]) == ("armed", "arm", "/x.ff")
    assert all(armed[known] for known in ("when", "who", "where", "pid"))
    assert ledger.of(KEPT, [KEY])[0]["digest"] == "d"
    found = ledger.armed([KEY])
    assert found is not None
    assert found["by"] == "arm"


def test_another_cycle_of_the_same_nonce_and_generation_is_another_recording(
    tmp_path: Path,
) -> None:
    ledger = Ledger(tmp_path)
    ledger.note(KEPT, [KEY], path="/x.ff")
    assert ledger.of(KEPT, [RecordingKey(KEY.nonce, 3, 5001)]) == []


def test_a_line_that_a_crash_has_torn_is_passed_over_and_the_next_stands_alone(
    tmp_path: Path,
) -> None:
    ledger = Ledger(tmp_path)
    ledger.note(KEPT, [KEY], path="/x.ff")
    file = tmp_path / "cards" / "0b000000.jsonl"
    file.write_bytes(file.read_bytes() + b'{"what": "kept", "recor')
    ledger.note(GIVEN_UP, [KEY], by="arm")
    assert [entry["what"] for entry in ledger.acts(KEY.nonce)] == [KEPT, GIVEN_UP]


def test_a_place_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "cards").write_text("no folder")
    said = Ledger(tmp_path).note(KEPT, [KEY], path="/x.ff")
    assert said.endswith("this host will not know of it")


def test_a_card_has_one_guard_and_a_second_one_is_told_who_it_is(tmp_path: Path) -> None:
    first, second = Leases(tmp_path), Leases(tmp_path)
    assert first.take([1, 2], tmp_path / "night") == ""
    with pytest.raises(
        InputError, match=f"is guarded already: process {os.getpid()} on .*/night; one"
    ):
        second.take([2], tmp_path / "other")
    first.take([3], tmp_path / "night")  # the card was powered up again
    assert second.take([2], tmp_path / "other") == ""
    first.release()
    assert lease_of(3, tmp_path) is None


def test_the_lease_of_a_killed_guard_is_stale_and_says_whose_it_was(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path; from freezeframe.capture.custody.lease import Leases; "
        "Leases(Path(sys.argv[1])).take([7], Path('/night')); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    left = lease_of(7, tmp_path)
    assert left is not None
    assert (left.live, left.directory) == (False, "/night")
    assert "until it ended" in left.text
    assert Leases(tmp_path).take([7], tmp_path) == ""
