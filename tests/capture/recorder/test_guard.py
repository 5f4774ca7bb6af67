"""The guard: every freeze is pulled once; the recorder is armed when it stands on the disk."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from freezeframe.capture.errors import InputError, NoRoomError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder import guard as guard_module
from freezeframe.capture.recorder import guard_posts
from freezeframe.capture.recorder.case import pull_case
from freezeframe.capture.recorder.guard import Extras, guard
from freezeframe.capture.recorder.pull import PullReport, pull
from freezeframe.capture.targets.base import Target
from tests.capture.recorder.fake_recorder import ARMED, BadWay
from tests.capture.recorder.guarded_card import NONCE, Card, folders, logged, looks, run, until


def test_each_freeze_becomes_a_folder_named_by_nonce_generation_and_cause(
    card: Card, tmp_path: Path
) -> None:
    assert run(card, tmp_path / "out", 3) == 3
    # Generation 1 was frozen when the guard began: A by pay-crc; later B is first, A by cross.
    assert folders(tmp_path / "out") == [
        f"0001-{NONCE}-1-pay-crc.ff",
        f"0002-{NONCE}-2-hdr-crc.ff",
        f"0003-{NONCE}-3-hdr-crc.ff",
    ]
    capture = CaptureFolder.open(tmp_path / f"out/0002-{NONCE}-2-hdr-crc.ff")
    memory = capture.devices[1].memories["rx_enq"]
    assert memory.records.tobytes() == card.recorder.records(1, "rx_enq")


def test_the_recorder_is_armed_once_the_capture_stands_on_the_disk_and_explained_after(
    card: Card, tmp_path: Path
) -> None:
    order: list[str] = []

    def on_capture(report: PullReport) -> None:
        generation = CaptureFolder.open(report.path).devices[0].registers.value("ctl.generation")
        order.append(f"explained {generation}")

    def armed() -> None:
        order.append(
            f"{len(folders(tmp_path))} on the disk, armed {card.recorder.get(0, 'ctl.generation')}"
        )

    card.armed_when = armed
    guard("card:", 9, tmp_path, on_capture, until(2, tmp_path), poll_s=0)
    assert order[:3] == ["1 on the disk, armed 2", "explained 1", "2 on the disk, armed 3"]


def after_the_pull(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], None]) -> None:
    """Let something happen between the first pull and the arm."""

    def pulled(targets: list[Target], path: Path, **_: object) -> PullReport:
        report = pull_case(targets, path)
        monkeypatch.setattr(guard_module, "pull_case", pull_case)
        happens()
        return report

    monkeypatch.setattr(guard_module, "pull_case", pulled)


def rearmed(card: Card, generations: int) -> None:
    """Let another program arm the card so often, over whatever it holds."""
    for index in range(2):
        card.recorder.set(
            index, "ctl.generation", card.recorder.get(index, "ctl.generation") + generations
        )
        card.recorder.set(index, "ctl.state", ARMED)


def test_what_another_program_armed_in_between_is_not_given_up(
    card: Card, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between pull and arm somebody arms, and it freezes anew: that freeze is pulled too, as its own."""

    def armed_by_another() -> None:
        rearmed(card, 1)
        card.freeze()

    after_the_pull(monkeypatch, armed_by_another)
    card.refreeze = False
    card.freeze()
    assert run(card, tmp_path, 2) == 2
    assert folders(tmp_path) == [f"0001-{NONCE}-1-hdr-crc.ff", f"0002-{NONCE}-2-hdr-crc.ff"]
    log = logged(tmp_path)
    assert (
        "stands on the disk; not armed: bad:: device A holds generation 2 of boot 0x0b000000, not 1 of 0x0b000000, "
        "which is to be given up" in log
    )


def test_a_card_that_was_power_cycled_after_the_pull_is_not_armed_over_its_first_freeze(
    card: Card, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def restarted() -> None:
        for index in range(2):
            card.recorder.set(index, "id.boot_nonce", 0x77000000 + index)
        card.freeze(cause=3)

    after_the_pull(monkeypatch, restarted)
    card.refreeze = False
    card.freeze()
    run(card, tmp_path, 2)
    assert folders(tmp_path)[1].startswith("0002-77000000-1-")
    assert "not armed: " in logged(tmp_path)


def test_generations_that_another_program_gave_up_are_told(card: Card, tmp_path: Path) -> None:
    card.refreeze = False
    card.armed_when = lambda: rearmed(card, 3)
    card.armed_at = 8
    guard("card:", 9, tmp_path, stop=looks(30), poll_s=0)
    log = logged(tmp_path)
    assert "3 generations, 2 to 4, were given up by another program: not kept here" in log


def test_a_freeze_with_the_nonce_and_generation_of_an_older_one_is_another_where_its_cycle_is(
    card: Card, tmp_path: Path
) -> None:
    """A nonce of few bits comes again after a power cycle."""
    card.refreeze = False
    card.freeze()
    run(card, tmp_path, 1)
    for index in range(2):
        card.recorder.set(index, "ctl.generation", 1)
        card.recorder.set(index, "ctl.cause_cycle_lo", 777)
    card.freeze()
    assert run(card, tmp_path, 2) == 1
    assert [name[:4] for name in folders(tmp_path)] == ["0001", "0002"]


def test_an_explanation_that_fails_does_not_end_the_guard(card: Card, tmp_path: Path) -> None:
    def on_capture(report: PullReport) -> None:
        raise InputError(f"cannot explain {report.path.name}")

    assert guard("card:", 9, tmp_path, on_capture, until(2, tmp_path), poll_s=0) == 2
    assert f"cannot explain 0001-{NONCE}-1-pay-crc.ff" in logged(tmp_path)


def test_a_capture_beside_which_nothing_can_be_written_is_explained_all_the_same(
    card: Card, tmp_path: Path
) -> None:
    explained: list[str] = []

    def beside(path: Path) -> None:
        raise InputError("counters beside it: No space left on device")

    guard(
        "card:", 9, tmp_path, lambda report: explained.append(report.path.name), until(2, tmp_path),
        poll_s=0, extras=Extras(beside=beside),
    )  # fmt: skip
    assert explained == folders(tmp_path)
    assert f"{explained[0]}: counters beside it: No space left on device" in logged(tmp_path)


def test_a_freeze_that_has_its_folder_is_not_pulled_again_after_a_restart(
    card: Card, tmp_path: Path
) -> None:
    card.refreeze = False
    run(card, tmp_path, 1)
    # As if the guard had been killed between the pull and the arm:
    card.recorder.set(0, "ctl.generation", 1)
    card.recorder.set(1, "ctl.generation", 1)
    card.freeze()
    assert guard("card:", 9, tmp_path, stop=looks(3), poll_s=0) == 0
    assert folders(tmp_path) == [f"0001-{NONCE}-1-pay-crc.ff"]
    assert card.recorder.get(0, "ctl.generation") == 2
    log = logged(tmp_path)
    assert "was pulled before; armed: A generation 2, B generation 2" in log


def test_a_recorder_is_not_armed_over_what_was_not_read_until_a_second_pull(
    card: Card, tmp_path: Path
) -> None:
    card.refreeze = False
    card.freeze()
    card.recorder.window(0, "tx_enq")[5, 0] ^= 1  # its chunk can never be verified
    generations: list[int] = []
    pulled = guard(
        "card:",
        9,
        tmp_path,
        lambda _: generations.append(card.recorder.get(0, "ctl.generation")),
        looks(4),
        poll_s=0,
        wait_s=0.2,
    )
    assert (pulled, generations) == (1, [1, 2])  # explained after it was armed
    assert folders(tmp_path) == [f"0001-{NONCE}-1-hdr-crc.ff", f"0002-{NONCE}-1-hdr-crc.ff"]
    assert card.recorder.get(0, "ctl.generation") == 2


def test_after_an_outage_in_a_pull_the_recorder_is_armed_all_the_same(
    card: Card, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(targets: list[Target], path: Path, **_: object) -> PullReport:
        report = pull_case(targets, path)
        targets[0].close()  # as a pull does that went on over a target of its own
        return replace(report, outages=1)

    monkeypatch.setattr(guard_module, "pull_case", interrupted)
    card.refreeze = False
    card.freeze()
    assert run(card, tmp_path, 1) == 1
    assert card.recorder.get(0, "ctl.generation") == 2


def test_a_pull_that_was_cut_off_is_repeated_once_when_the_recording_is_still_there(
    card: Card, tmp_path: Path
) -> None:
    card.refreeze = False
    report = pull(card.recorder, tmp_path / f"0001-{NONCE}-1-pay-crc.ff")
    manifest = json.loads((report.path / "manifest.json").read_text())
    assert manifest["devices"][0]["memories"]["tx_enq"]["gaps"] == []
    card.recorder.window(0, "tx_enq")[5, 0] ^= 1  # now a chunk can never be verified
    pull(card.recorder, report.path, overwrite=True)
    assert guard("card:", 9, tmp_path, stop=looks(4), poll_s=0) == 1
    assert folders(tmp_path) == [f"0001-{NONCE}-1-pay-crc.ff", f"0002-{NONCE}-1-pay-crc.ff"]
    assert card.recorder.get(0, "ctl.generation") == 2


def test_a_target_that_vanishes_between_freezes_is_waited_for(card: Card, tmp_path: Path) -> None:
    cut_s: list[float] = []

    def stop() -> bool:
        if len(folders(tmp_path)) == 1 and not cut_s:
            cut_s.append(time.monotonic())
        card.way.dead = bool(cut_s) and time.monotonic() < cut_s[0] + 0.3
        return len(folders(tmp_path)) >= 3 or bool(cut_s and time.monotonic() > cut_s[0] + 20)

    assert guard("card:", 9, tmp_path, stop=stop, poll_s=0.001, wait_s=0.05) == 3
    log = logged(tmp_path)
    assert 1 <= log.count("; going on") <= 2  # a line for an outage, not for each attempt
    assert card.opened > 1


def test_a_restarted_target_goes_on_under_its_new_nonce(card: Card, tmp_path: Path) -> None:
    def restart() -> None:
        for index in range(2):
            card.recorder.set(index, "id.boot_nonce", 0x77000000 + index)
            card.recorder.set(index, "ctl.generation", 1)
        card.armed_when = lambda: None

    card.armed_when = restart
    card.armed_at = 8  # the arm has been confirmed by then
    run(card, tmp_path, 2)
    assert folders(tmp_path)[1] == "0002-77000000-1-hdr-crc.ff"
    assert "the target was restarted" in logged(tmp_path)


def test_an_idle_recorder_is_armed(card: Card, tmp_path: Path) -> None:
    for index in range(2):
        card.recorder.set(index, "ctl.state", 0)
    run(card, tmp_path, 1)
    assert folders(tmp_path) == [f"0001-{NONCE}-2-hdr-crc.ff"]


def test_a_card_that_is_not_up_yet_is_waited_for(card: Card, tmp_path: Path) -> None:
    card.way.dead = True
    answers = looks(5)

    def stop() -> bool:
        card.way.dead = not answers()
        return bool(folders(tmp_path))

    assert guard("card:", 9, tmp_path, stop=stop, poll_s=0.001) == 1
    log = logged(tmp_path)
    assert log.count("card: cannot be opened; going on") == 1


def test_every_capture_has_a_line_in_the_log(card: Card, tmp_path: Path) -> None:
    said: list[str] = []
    guard("card:", 9, tmp_path, stop=until(2, tmp_path), poll_s=0, log=said.append)
    assert logged(tmp_path).splitlines() == [line[21:] for line in said]
    for name in folders(tmp_path):
        assert sum(f" {name}: " in line and "words in" in line for line in said) == 1


def test_one_card_over_two_ways_is_refused_before_anything_is_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    card = Card()

    monkeypatch.setattr(guard_posts, "open_target", lambda url: BadWay(card.recorder))
    with pytest.raises(InputError, match=r"lead to the same card, boot nonce 0x0b00"):
        guard(["one:", "two:"], 50, tmp_path / "caught", stop=lambda: True)
    assert not (tmp_path / "caught").exists()


def test_a_trace_of_a_card_that_is_not_there_is_refused_before_the_first_freeze(
    card: Card, tmp_path: Path
) -> None:
    extras = Extras(traced=("Z",))
    with pytest.raises(InputError, match=r"--host-trace: no device 'Z'; the targets have A, B"):
        guard("card:", 50, tmp_path / "caught", stop=lambda: True, extras=extras)
    assert not (tmp_path / "caught").exists()
    # A card that is not up yet is asked when it answers.
    card.way.dead = True
    seen = iter(range(100))

    def stop() -> bool:
        card.way.dead = next(seen) < 3
        return False

    with pytest.raises(InputError, match="no device 'Z'"):
        guard("card:", 50, tmp_path / "caught", stop=stop, poll_s=0, extras=extras)


def test_a_guard_that_ends_says_what_is_frozen_and_not_kept(
    card: Card, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object, **__: object) -> PullReport:
        raise NoRoomError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(guard_module, "pull_case", no_room)
        guard("card:", 50, tmp_path, stop=looks(3), poll_s=0)
    lines = logged(tmp_path).splitlines()
    assert lines[-1] == "watching ends; 0 pulled"
    assert lines[-2] == (
        f"card:: generation 1 of boot 0x{NONCE} is frozen, and not kept here: "
        "pull it, or start the guard again"
    )
    run(card, tmp_path, 1)
    assert logged(tmp_path).count("is frozen, and not kept here") == 1
