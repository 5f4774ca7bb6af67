"""The directory of a guard: whose it is, how captures are numbered, what stays, what goes and when; a full disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from freezeframe.capture.custody.guard_log import GuardLog
from freezeframe.capture.custody.store import Keep
from freezeframe.capture.errors import InputError
from freezeframe.capture.recorder import guard as guard_module
from freezeframe.capture.recorder.guard import Extras, guard
from freezeframe.capture.recorder.pull import PullReport, pull
from tests.capture.recorder.fake_recorder import FROZEN, FakeRecorder
from tests.capture.recorder.guarded_card import NONCE, Card, folders, logged, run, until


class SlowExplainer:
    """Explains what was caught when it is told to, and not before; each third capture has a finding of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.waiting: list[str] = []
        self.log: GuardLog | None = None

    def begin(self, log: GuardLog) -> None:
        self.log = log

    def on_capture(self, report: PullReport) -> None:
        self.waiting.append(report.path.name)
        assert set(self.waiting) <= set(folders(self.directory)), "removed before it was explained"

    def explain(self, most: int = 1000) -> None:
        while self.waiting and most:
            name = self.waiting[0]
            assert (self.directory / name).is_dir(), "removed before it was explained"
            which = "stuck" if name.startswith("0003") else "flip"
            assert self.log is not None
            self.log.explained({"capture": name, "findings": [{"diagnosis": which}]})
            del self.waiting[0]
            most -= 1


def test_only_the_newest_are_kept(card: Card, tmp_path: Path) -> None:
    run(card, tmp_path, 5, keep=2)
    assert folders(tmp_path) == [f"0004-{NONCE}-4-hdr-crc.ff", f"0005-{NONCE}-5-hdr-crc.ff"]


def numbers(directory: Path) -> list[int]:
    return [int(name[:4]) for name in folders(directory)]


def test_nothing_is_removed_before_it_is_explained_and_then_the_rule_holds(
    card: Card, tmp_path: Path
) -> None:
    slow = SlowExplainer(tmp_path)
    there: list[int] = []

    def ended() -> None:
        there[:] = numbers(tmp_path)
        slow.explain()

    guard(
        "card:", Keep(2, first=1, kinds=True), tmp_path, slow.on_capture, until(6, tmp_path),
        poll_s=0, begun=slow.begin, extras=Extras(unexplained=lambda: slow.waiting, ended=ended),
    )  # fmt: skip
    assert there == [1, 2, 3, 4, 5, 6]
    # The first, which is also the first of "flip"; the one of "stuck"; the newest two.
    assert numbers(tmp_path) == [1, 3, 5, 6]
    assert "0002-0b000000-2-hdr-crc.ff: removed; the newest 2, the first 1, one of" in logged(
        tmp_path
    )


def test_the_directory_comes_down_as_the_explaining_catches_up(card: Card, tmp_path: Path) -> None:
    slow = SlowExplainer(tmp_path)
    most: list[int] = []

    def lines() -> list[str]:
        most.append(len(folders(tmp_path)))
        if len(slow.waiting) > 3:
            slow.explain(3)
        return []

    guard(
        "card:", 1, tmp_path, slow.on_capture, until(9, tmp_path), poll_s=0, begun=slow.begin,
        extras=Extras(unexplained=lambda: slow.waiting, lines=lines, ended=slow.explain),
    )  # fmt: skip
    assert max(most) == 4
    assert numbers(tmp_path) == [9]


def test_what_a_killed_guard_left_unexplained_is_not_removed_at_the_next_start(
    card: Card, tmp_path: Path
) -> None:
    run(card, tmp_path, 4)
    slow = SlowExplainer(tmp_path)
    there: list[int] = []

    def begun(log: GuardLog) -> None:
        slow.log, slow.waiting = log, folders(tmp_path)[:3]

    def lines() -> list[str]:
        there[:] = there or numbers(tmp_path)
        return []

    guard(
        "card:", 1, tmp_path, stop=until(4, tmp_path), poll_s=0, begun=begun,
        extras=Extras(unexplained=lambda: slow.waiting, lines=lines, ended=slow.explain),
    )  # fmt: skip
    assert there == [1, 2, 3, 4]
    assert numbers(tmp_path) == [4]


def test_above_the_bytes_to_be_kept_the_recorder_stays_frozen_until_the_explaining_catches_up(
    card: Card, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard_module, "_ROOM_S", 0.01)
    slow = SlowExplainer(tmp_path)
    held: list[tuple[int, list[int]]] = []
    trouble: list[str] = []

    def wait(_: float) -> None:
        held.append((card.recorder.get(0, "ctl.state") & 3, numbers(tmp_path)))
        slow.explain()

    pulled = guard(
        "card:", Keep(50, bytes=1), tmp_path, slow.on_capture, until(4, tmp_path), poll_s=0,
        begun=slow.begin,
        extras=Extras(
            unexplained=lambda: slow.waiting,
            wait=wait,
            trouble=lambda what, _: trouble.append(what),
            ended=slow.explain,
        ),
    )  # fmt: skip
    assert pulled == 4
    assert held[0] == (FROZEN, [1, 2])
    assert {state for state, _ in held} == {FROZEN}
    assert max(len(there) for _, there in held) == 2
    assert trouble[:2] == ["no-room", "room"]
    assert "B above --keep-bytes, and what is not explained yet is not removed" in logged(tmp_path)
    assert numbers(tmp_path) == [4]


def test_what_a_guard_did_not_make_is_never_removed(card: Card, tmp_path: Path) -> None:
    pull(FakeRecorder(depth=300), tmp_path / "mine.ff")
    # Has a guard's name and is another recording: somebody renamed it.
    pull(FakeRecorder(depth=300), tmp_path / "0001-12345678-9-pay-crc.ff")
    (tmp_path / "0002-12345678-9-pay-crc.ff").mkdir()
    (tmp_path / "0003-notes.ff").mkdir()
    run(card, tmp_path, 4 + 3, keep=1)
    left = folders(tmp_path)
    assert left[:2] == ["0001-12345678-9-pay-crc.ff", "0002-12345678-9-pay-crc.ff"]
    assert {"mine.ff", "0003-notes.ff"} <= set(left)
    assert len([name for name in left if NONCE in name]) == 1


def test_a_full_disk_is_waited_for_and_the_recorder_stays_frozen(
    card: Card, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[int] = []
    states: list[int] = []
    real = os.write

    def full(descriptor: int, data: bytes) -> int:
        writes.append(len(data))
        states.append(card.recorder.get(0, "ctl.state") & 3)
        if len(writes) <= 3:
            raise OSError(28, "No space left on device")
        return real(descriptor, data)

    monkeypatch.setattr("os.write", full)
    monkeypatch.setattr(guard_module, "_ROOM_S", 0.01)
    assert run(card, tmp_path, 1) == 1
    assert states[:4] == [FROZEN] * 4
    log = logged(tmp_path)
    assert log.count("no space left") == 1
    assert "the recorder stays frozen until there is room" in log
    assert folders(tmp_path) == [f"0001-{NONCE}-1-pay-crc.ff"]


def test_what_a_killed_guard_left_half_written_is_removed(card: Card, tmp_path: Path) -> None:
    mine = tmp_path / f".0007-{NONCE}-1-pay-crc.ff.partial-4711-0123abcd"
    other = tmp_path / ".mine.ff.partial-4711-0123abcd"
    for left in (mine, other):
        (left / "raw").mkdir(parents=True)
    run(card, tmp_path, 1)
    assert not mine.exists()
    assert other.exists()


def test_two_guards_never_share_a_directory(card: Card, tmp_path: Path) -> None:
    def second(report: PullReport) -> None:
        guard("card:", 9, tmp_path, stop=lambda: True, home=tmp_path / "of-another-user")

    said: list[str] = []
    stop = until(1, tmp_path)
    guard("card:", 9, tmp_path, second, stop, poll_s=0, log=said.append)
    assert any("another guard works in this directory" in line for line in said)


def test_a_guard_that_is_refused_leaves_no_directory_behind(card: Card, tmp_path: Path) -> None:
    def second(report: PullReport) -> None:
        guard("card:", 9, tmp_path / "mine", stop=lambda: True)

    said: list[str] = []
    guard(
        "card:",
        9,
        tmp_path / "theirs",
        second,
        until(1, tmp_path / "theirs"),
        poll_s=0,
        log=said.append,
    )
    assert any("is guarded already: process" in line for line in said)
    assert not (tmp_path / "mine").exists()


def test_numbers_go_on_after_those_that_are_there(card: Card, tmp_path: Path) -> None:
    run(card, tmp_path, 1)
    run(card, tmp_path, 2)
    assert [name[:4] for name in folders(tmp_path)] == ["0001", "0002"]


def test_a_directory_that_cannot_be_used_is_refused(card: Card, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none/out: cannot be used as a directory"):
        guard("card:", 9, tmp_path / "none/out")
    with pytest.raises(InputError, match="keep 0: at least one"):
        guard("card:", 0, tmp_path)
