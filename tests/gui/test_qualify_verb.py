"""qualify: what it prints and writes; explain: which qualification it takes, and that a wrong one claims nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import freezeframe as ff
from freezeframe.analyzers.bringup.failure import Failure
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.qualification import (
    Check,
    ClockRate,
    Qualification,
    QualifiedDevice,
    place_of_qualification,
    read_qualification,
    write_qualification,
)
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.registers.access import Device
from freezeframe.emulator.target import EmulatorTarget
from freezeframe.gui.cli.work import qualify as work
from tests.gui.cli import refusal, run_inside

CHECKS = (
    Check("taps", "A", "tx_deq", True, 4, "A.tx_enq and A.tx_deq: 65 packets, 4,753 words, all equal", 0),
    Check("law", "A", "packets received", True, 4, "A: packets received: held 4 of 4 times"),
    Check("checker", "B", "bad-length", False, 1, "B: a packet with bad-length sent on purpose: length_errors counted 0", 0),  # noqa: E501
)  # fmt: skip
CLOCKS = (
    ClockRate("A", "bus", "host", 37_250, 400),
    ClockRate("A", "link", "A.bus", -4_500_000, 20),
)


def qualification_of(folder: CaptureFolder) -> Qualification:
    """Return one of the card of a capture, with nothing about its clocks."""
    devices = tuple(
        QualifiedDevice.of(d.name, d.found.card.hash, d.identity.to_json()) for d in folder.devices
    )
    made = {"what": "qualified", "when": "2026-11-26T17:20:00+00:00", "who": "ada", "where": "lab"}
    return Qualification(made, "emu:", devices, (), CHECKS)


@pytest.fixture
def capture(tmp_path: Path) -> CaptureFolder:
    """Return what a pair recorded, pulled on this host."""
    target = EmulatorTarget(seed=2)
    target.advance(300_000_000)
    pull(target, tmp_path / "c.ff", freeze=True)
    return CaptureFolder.open(tmp_path / "c.ff")


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, capture: CaptureFolder) -> list[dict[str, Any]]:
    """Let a measurement take no time; return what it is asked for."""
    asked: list[dict[str, Any]] = []
    found = replace(qualification_of(capture), clocks=CLOCKS, not_measured=("B.bus was not read",))

    def instead(sessions: Sequence[Sequence[Device]], **how: Any) -> Qualification:
        asked.append({**how, "devices": [[device.name for device in each] for each in sessions]})
        return found

    monkeypatch.setattr(work, "qualify", instead)
    return asked


def test_it_prints_what_holds_and_what_does_not_and_remembers_it(
    measured: list[dict[str, Any]], capture: CaptureFolder, tmp_path: Path
) -> None:
    path = tmp_path / "card.json"
    done = run_inside("qualify", "emu:?seed=2", "-o", str(path), "--seconds", "3")
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines() == [
        f"emu: A, B: 2 of 3 hold; written to {path}",
        "taps: two taps that are neighbours hold the same words",
        "  holds  A.tx_enq and A.tx_deq: 65 packets, 4,753 words, all equal",
        "checker: an error that was sent on purpose is counted",
        "  NOT  B: a packet with bad-length sent on purpose: length_errors counted 0",
        "law: a law of the card holds: 1 hold",
        "clocks",
        "  A.bus +37.25 ± 0.40 ppm by host",
        "  A.link -4500.00 ± 0.02 ppm by A.bus",
        "not measured",
        "  B.bus was not read",
    ]
    assert [(asked["devices"], asked["seconds"], asked["discard"]) for asked in measured] == [
        ([["A", "B"]], 3.0, False)
    ]
    kept = read_qualification(path)
    assert read_qualification(place_of_qualification("emu:", kept.devices)) == kept


def test_a_file_that_stands_there_is_refused_before_anything_is_measured(
    measured: list[dict[str, Any]], tmp_path: Path
) -> None:
    path = tmp_path / "card.json"
    path.write_text("mine")
    assert refusal("qualify", "emu:", "-o", str(path)) == (
        f"freezeframe: {path}: exists already; choose another name, or ask for it to be replaced (--force)\n"
    )
    assert (measured, path.read_text()) == ([], "mine")
    assert run_inside("qualify", "emu:", "-o", str(path), "--force").code == 1
    assert read_qualification(path).source == "emu:"


def test_json_is_the_file_and_where_it_stands(
    measured: list[dict[str, Any]], tmp_path: Path
) -> None:
    path = tmp_path / "card.json"
    document = json.loads(run_inside("qualify", "emu:", "--json", "-o", str(path)).out)
    assert document.pop("file") == str(path)
    assert document == json.loads(path.read_text())


def test_a_card_that_is_not_in_order_is_told_and_nothing_is_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refused(*_: Any, **__: Any) -> Qualification:
        raise Failure("a card is not in order: payload-bit-flip (B.rx_enq)")

    monkeypatch.setattr(work, "qualify", refused)
    path = tmp_path / "card.json"
    done = run_inside("qualify", "emu:", "-o", str(path))
    assert (done.code, done.out) == (
        1,
        "NOT QUALIFIED, nothing was written: a card is not in order: payload-bit-flip (B.rx_enq)\n",
    )
    assert not path.exists()


def test_what_a_qualification_failed_by_is_said_to_stand_in_the_cards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: Any, **__: Any) -> Qualification:
        failure = Failure("a card is not in order: payload-bit-flip (B.rx_enq)")
        failure.standing = ["B generation 5 (bad-payload)"]
        raise failure

    monkeypatch.setattr(work, "qualify", refused)
    monkeypatch.setattr(work, "open_session", lambda *_: nullcontext([]))
    done = run_inside("qualify", "udp://127.0.0.1:1234")
    assert done.out.splitlines()[1] == (
        "its recording stands in B generation 5 (bad-payload); nothing was armed over it: "
        "freezeframe pull udp://127.0.0.1:1234 -o NAME.ff keeps it"
    )


def qualified_lines(*arguments: str) -> list[str]:
    said: list[str] = json.loads(run_inside("explain", *arguments, "--json").out)["qualified"]
    return said


def test_explain_takes_what_this_host_remembers_of_the_card_and_says_so(
    capture: CaptureFolder,
) -> None:
    assert qualified_lines(str(capture.path)) == []
    found = qualification_of(capture)
    place = place_of_qualification("emu:", found.devices)
    write_qualification(found, place, overwrite=False)
    assert qualified_lines(str(capture.path)) == [
        f"The qualification of 2026-11-26T17:20:00+00:00 ({place}) was used: 2 of 3 assumptions hold on this card.",
        "Does not hold: an error that was sent on purpose is counted. B: a packet with bad-length sent on purpose: "
        "length_errors counted 0; that count is no witness.",
    ]
    assert "Qualification of this card\n" in run_inside("explain", str(capture.path)).out


def test_a_capture_that_was_pulled_elsewhere_takes_none_but_that_which_is_named(
    capture: CaptureFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = qualification_of(capture)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    write_qualification(found, place_of_qualification("emu:", found.devices), overwrite=False)
    assert qualified_lines(str(capture.path)) == []
    path = tmp_path / "card.json"
    write_qualification(found, path, overwrite=False)
    assert f"({path}) was used" in qualified_lines(str(capture.path), "--qualified", str(path))[0]


def test_one_that_is_remembered_and_cannot_be_used_is_told_and_the_answer_stands(
    capture: CaptureFolder,
) -> None:
    found = replace(qualification_of(capture), clocks=CLOCKS)
    place = place_of_qualification("emu:", found.devices)
    write_qualification(found, place, overwrite=False)
    (line,) = qualified_lines(str(capture.path))
    assert line.startswith(
        f"Not used: the qualification of 2026-11-26T17:20:00+00:00 ({place}): A.link runs "
    )
    assert line.endswith("and was qualified at -4500.00 ± 0.02 ppm: another card")
    place.write_text(place.read_text()[:-30])
    (line,) = qualified_lines(str(capture.path))
    assert line.startswith(f"Not used: {place}: is no qualification that can be used: ")


def test_one_that_is_named_and_cannot_be_used_is_refused_in_one_line(
    capture: CaptureFolder, tmp_path: Path
) -> None:
    path = tmp_path / "card.json"
    write_qualification(
        replace(qualification_of(capture), source="etherbone://x"), path, overwrite=False
    )
    assert refusal("explain", str(capture.path), "--qualified", str(path)) == (
        f"freezeframe: {path}: says nothing of {capture.path}: the capture is from emu:, it is of the card at "
        "etherbone://x\n"
    )
    with pytest.raises(ff.InputError, match="it is of the card at etherbone://x"):
        ff.explain(capture, qualified=path)
    packets = path.with_suffix(".pcap")
    packets.write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
    with pytest.raises(ff.InputError, match=r"qualified: .*card\.pcap holds packets"):
        ff.explain(packets, qualified=path)
