"""targets, status, arm, freeze, counters, pull: against fake recorders behind UDP Etherbone."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from freezeframe.capture.card.shipped import shipped_cards
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.state import RecorderState
from freezeframe.capture.registers.names import counter_unit
from freezeframe.capture.targets.base import Target
from freezeframe.gui.cli.work.session import first_cause, overall_state
from tests.capture.recorder.fake_recorder import FakeRecorder
from tests.capture.serving import serving
from tests.gui.cli import process_environment, refusal, run_inside, started


def state(name: str, state: str, *causes: str) -> RecorderState:
    return RecorderState(name, state, causes, 1, 0, 0, False, {}, peer_cause="cross")


@pytest.mark.parametrize(
    ("states", "overall"),
    [
        (("frozen", "frozen"), "frozen"),
        (("frozen", "triggered"), "triggered"),
        (("frozen", "armed"), "triggered"),
        (("triggered", "armed"), "triggered"),
        (("armed", "armed"), "armed"),
        (("armed", "idle"), "armed"),
        (("idle", "idle"), "idle"),
    ],
)
def test_a_target_is_frozen_only_when_all_its_devices_are(
    states: tuple[str, str], overall: str
) -> None:
    assert overall_state([state("AB"[i], name) for i, name in enumerate(states)]) == overall


def test_the_cause_is_that_of_the_device_that_froze_first_not_cross() -> None:
    assert (
        first_cause([state("A", "frozen", "cross"), state("B", "frozen", "pay-crc")]) == "pay-crc"
    )
    assert first_cause([state("A", "frozen", "rx-ovf"), state("B", "frozen", "cross")]) == "rx-ovf"
    assert first_cause([state("A", "frozen", "cross"), state("B", "frozen", "cross")]) == "cross"
    assert first_cause([state("A", "armed"), state("B", "armed")]) is None


def test_status_says_state_and_cause_for_a_machine() -> None:
    with serving(FakeRecorder()) as url:
        done = run_inside("status", url, "--json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert document["target"] == url
    assert (document["state"], document["cause"]) == ("frozen", "pay-crc")
    assert document["causes"] == ["cross", "pay-crc"]
    a, b = document["devices"]
    assert (a["device"], a["state"], a["cause"], a["generation"]) == ("A", "frozen", "pay-crc", 1)
    assert (b["device"], b["cause"]) == ("B", "cross")
    assert a["boot_nonce"] == "0x0b000000"
    assert a["cause_cycle"] == (1 << 32) + 5000
    assert set(a["memories"]) == {"tx_enq", "tx_deq", "rx_enq", "rx_deq", "event_log"}
    assert (a["card"]["name"], a["card"]["map"]) == ("forth", 1)


def test_a_card_file_with_the_target_names_what_a_device_of_map_1_has(tmp_path: Path) -> None:
    card = tmp_path / "mine.toml"
    text = shipped_cards()["forth"].read_text("utf-8")
    card.write_text(text.replace('name = "forth"', 'name = "mine"', 1).replace("tx_deq", "outward"))
    with serving(FakeRecorder()) as url:
        target = f"{url}?card={card}"
        assert f"{target}: frozen, cause pay-crc, card mine 1.0" in run_inside("status", target).out
        assert "A.outward " in run_inside("status", target).out
        assert "outward_words" in run_inside("counters", target, "--all").out
        done = run_inside("trigger", target, "--on", "tx_deq", "--term", "flow=3")
        assert "tap 'tx_deq': there is tx_enq, outward, rx_enq, rx_deq" in done.err


def test_status_says_what_to_do_next() -> None:
    with serving(FakeRecorder()) as url:
        done = run_inside("status", url)
    assert done.out.splitlines()[0] == f"{url}: frozen, cause pay-crc, card forth 1.0"
    assert done.out.splitlines()[-1] == f"Next: freezeframe pull {url} -o NAME.ff"


def test_status_writes_nothing_to_the_device() -> None:
    recorder = FakeRecorder()
    with serving(recorder) as url:
        run_inside("status", url)
        run_inside("counters", url)
        run_inside("targets", url)
    assert recorder.writes == []


@pytest.mark.parametrize(
    ("register", "value", "says"),
    [
        ("id.magic", 0x12345678, "not a Freezeframe device"),
        ("id.magic", 0xFFFFFFFF, "all ones"),
        ("id.format", 3 << 16, "format version 3.0"),
        ("id.map_hash", 0x0BAD0BAD, "0bad0bad"),
    ],
    ids=["not ours", "nothing there", "newer format", "unknown map"],
)
def test_what_is_not_our_device_is_a_device_failure(register: str, value: int, says: str) -> None:
    recorder = FakeRecorder()
    recorder.set(0, register, value)
    with serving(recorder) as url:
        said = refusal("status", url, code=3)
    assert says in said


def test_ctrl_c_while_waiting_ends_with_130_and_without_a_traceback(tmp_path: Path) -> None:
    with serving(FakeRecorder(frozen=False)) as url:
        command = ["pull", url, "-o", str(tmp_path / "x.ff"), "--wait", "60"]
        log = tmp_path / "log"
        process = started(*command, "--log-accesses", str(log))
        end = time.monotonic() + 30
        while not (log.exists() and log.stat().st_size > 10_000) and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=30)
    assert (process.returncode, out, errors) == (130, "", "")
    assert not (tmp_path / "x.ff").exists()


def test_the_progress_bar_is_drawn_on_a_terminal_and_nowhere_else(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    with serving(FakeRecorder()) as url:
        done = subprocess.run(
            [sys.executable, "-m", "freezeframe", "pull", url, "-o", str(tmp_path / "x.ff")],
            stdout=subprocess.PIPE,
            stderr=theirs,
            text=True,
            check=True,
            env={**process_environment(), "TERM": "xterm"},
        )
    os.close(theirs)
    drawn = os.read(ours, 65536).decode()
    os.close(ours)
    assert "words" in drawn
    assert "\x1b" not in done.stdout
    assert len(done.stdout.splitlines()) == 1


def test_arm_raises_the_generation_of_every_device_and_says_what_it_gave_up() -> None:
    recorder = FakeRecorder()
    with serving(recorder) as url:
        done = run_inside("arm", url, "--discard", "--json")
    assert done.code == 0
    document = json.loads(done.out)
    rows = document["devices"]
    assert [(row["name"], row["generation"]) for row in rows] == [("A", 2), ("B", 2)]
    assert [(row["boot_nonce"], row["generation"]) for row in document["given_up"]] == [
        ("0x0b000000", 1),
        ("0x0b000001", 1),
    ]
    assert document["lost"] == (
        "A generation 1 (pay-crc) and B generation 1 (cross) are frozen, and this host has not kept it"
    )


@pytest.mark.parametrize(
    "verb",
    [
        ("arm",),
        ("trigger", "--on", "rx_enq", "--term", "flow=3", "--arm"),
        ("selftest",),
        ("qualify",),
    ],
    ids=lambda verb: verb[0],
)
def test_a_frozen_recording_that_this_host_has_not_kept_is_refused_by_every_verb_that_arms(
    verb: tuple[str, ...],
) -> None:
    recorder = FakeRecorder()
    with serving(recorder) as url:
        done = run_inside(verb[0], url, *verb[1:])
    assert (done.code, recorder.writes) == (3, [])
    assert done.err.count("\n") == 1
    assert (
        f"it would be lost. Keep it: freezeframe pull {url} -o NAME.ff; or give it up: --discard"
        in done.err
    )


def test_what_was_pulled_may_go_as_long_as_its_capture_stands(tmp_path: Path) -> None:
    recorder = FakeRecorder()
    kept = tmp_path / "kept.ff"
    with serving(recorder) as url:
        assert run_inside("pull", url, "-o", str(kept)).code == 0
        kept.rename(tmp_path / "moved.ff")
        done = run_inside("arm", url)
        assert (done.code, recorder.writes) == (3, [])
        assert f"{kept}, into which it was pulled, is not there any more as it was" in done.err
        (tmp_path / "moved.ff").rename(kept)
        assert json.loads(run_inside("arm", url, "--json").out)["kept"] == str(kept)
    assert recorder.get(1, "ctl.generation") == 2


def test_a_running_recording_goes_and_what_cannot_be_excluded_is_said() -> None:
    recorder = FakeRecorder(frozen=False)
    for index in range(2):
        recorder.set(index, "ctl.causes", 0)
    with serving(recorder) as url:
        done = run_inside("arm", url)
    assert re.fullmatch(
        r"A: armed, generation 2\nB: armed, generation 2\n"
        r"it was recording; that it froze in the [\d.]+ ms up to the arm is not excluded\n",
        done.out,
    )


def test_freeze_stops_a_running_recorder() -> None:
    recorder = FakeRecorder(frozen=False)
    for index in range(2):
        recorder.set(index, "ctl.causes", 0)
    with serving(recorder) as url:
        done = run_inside("freeze", url)
    assert (done.code, done.out) == (0, "A: frozen, cause host\nB: frozen, cause host\n")


def test_targets_without_a_url_lists_every_kind_with_its_form() -> None:
    done = run_inside("targets")
    assert done.code == 0
    for form in ("emu:", "etherbone://HOST", "litex://HOST", "uart:/dev", "pci:0000", "file:"):
        assert form in done.out
    kinds = json.loads(run_inside("targets", "--json").out)["kinds"]
    assert {kind["scheme"] for kind in kinds} >= {
        "emu",
        "etherbone",
        "litex",
        "uart",
        "pci",
        "file",
    }


def test_targets_with_a_url_lists_the_devices_behind_it() -> None:
    with serving(FakeRecorder()) as url:
        devices = json.loads(run_inside("targets", url, "--json").out)["devices"]
        text = run_inside("targets", url).out
    assert [device["name"] for device in devices] == ["A", "B"]
    assert devices[0]["identity"]["clk_bus"] == 100_000_000
    assert "100,000,000 Hz" in text
    assert "forth 1.0" in text


def test_counters_have_names_units_and_meanings() -> None:
    recorder = FakeRecorder()
    bank = recorder.get(0, "ctl.snapshot_seq") & 1
    recorder.set(0, "snapshot.header_errors.lo", 7, bank)
    recorder.set(0, "snapshot.header_errors.hi", 1, bank)
    with serving(recorder) as url:
        document = json.loads(run_inside("counters", url, "--json").out)
        text = run_inside("counters", url, "--all").out
    assert document["devices"][0]["values"]["header_errors"] == (1 << 32) + 7
    assert document["counters"]["header_errors"]["help"] == "Headers with a bad CRC-16"
    assert document["counters"]["tx_deq_words"]["unit"] == "words"
    row = next(line for line in text.splitlines() if line.startswith("header_errors"))
    assert row.split()[1] == "4,294,967,303"
    assert row.endswith("Headers with a bad CRC-16")


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("tx_enq_words", "words"),
        ("rx_deq_packets", "packets"),
        ("split_wait_cycles", "cycles"),
        ("rx_fifo_overflows", "words"),
        ("bus_retries", "events"),
    ],
)
def test_the_unit_of_a_counter_follows_from_its_name(name: str, unit: str) -> None:
    assert counter_unit(name) == unit


def test_counters_over_a_time_show_the_growth() -> None:
    with serving(FakeRecorder()) as url:
        document = json.loads(run_inside("counters", url, "--over", "0", "--json").out)
    growth = document["devices"][0]["growth"]
    assert set(growth) == set(document["counters"])
    assert not any(growth.values())


def test_pull_writes_a_capture_and_says_what_was_verified(tmp_path: Path) -> None:
    recorder = FakeRecorder()
    path = tmp_path / "fault.ff"
    with serving(recorder) as url:
        done = run_inside("pull", url, "-o", str(path), "--json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert document["complete"] is True
    assert document["lost"] == []
    assert document["words"] == document["words_total"] > 20_000
    folder = CaptureFolder.open(path)
    assert folder.devices[1].memories["rx_deq"].records.tobytes() == recorder.records(1, "rx_deq")


def test_pull_refuses_a_recorder_that_still_runs_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "fault.ff"
    with serving(FakeRecorder(frozen=False)) as url:
        said = refusal("pull", url, "-o", str(path), code=3)
    assert "--freeze" in said
    assert list(tmp_path.iterdir()) == []


def test_pull_with_freeze_stops_it_first(tmp_path: Path) -> None:
    path = tmp_path / "now.ff"
    recorder = FakeRecorder(frozen=False)
    with serving(recorder) as url:
        done = run_inside("pull", url, "-o", str(path), "--freeze")
    assert done.code == 0
    assert done.out.startswith(f"{path}: 2 devices, ")
    assert recorder.writes


def test_pull_waits_for_a_freeze_no_longer_than_it_was_told(tmp_path: Path) -> None:
    with serving(FakeRecorder(frozen=False)) as url:
        said = refusal("pull", url, "-o", str(tmp_path / "x.ff"), "--wait", "0.05", code=3)
    assert "not frozen" in said


def test_pull_does_not_replace_a_capture_unless_told(tmp_path: Path) -> None:
    path = tmp_path / "fault.ff"
    with serving(FakeRecorder()) as url:
        assert run_inside("pull", url, "-o", str(path)).code == 0
        again = run_inside("pull", url, "-o", str(path))
        forced = run_inside("pull", url, "-o", str(path), "--force")
    assert (again.code, forced.code) == (2, 0)
    assert str(path) in again.err


def test_an_incomplete_pull_keeps_what_it_has_and_exits_with_3(tmp_path: Path) -> None:
    recorder = FakeRecorder()
    recorder.window(0, "rx_enq")[300, 0] ^= 1  # a bit of the memory flipped after the CRC was made
    path = tmp_path / "x.ff"
    with serving(recorder) as url:
        done = run_inside("pull", url, "-o", str(path))
        document = json.loads(run_inside("pull", url, "-o", str(path), "--force", "--json").out)
    assert done.code == 3
    assert "not in the capture: A.rx_enq" in done.out
    assert done.err == (
        f"freezeframe: {path}: holds only a part of the recording; the card keeps it until it is "
        f"armed, so pull again: freezeframe pull {url} -o {path} --force\n"
    )
    assert document["complete"] is False
    assert CaptureFolder.open(path).lost


def test_a_recording_is_not_pulled_and_has_no_live_counters(tmp_path: Path) -> None:
    path = tmp_path / "fault.ff"
    with serving(FakeRecorder()) as url:
        assert run_inside("pull", url, "-o", str(path)).code == 0
    target = f"file:{path}"
    said = refusal("pull", target, "-o", str(tmp_path / "again.ff"))
    assert "is a recording already, so there is nothing to pull; copy the folder" in said
    assert f"freezeframe report {path} -o report.html" in refusal("counters", target)
    last = run_inside("status", target).out.splitlines()[-1]
    assert last == f"This is a recording. Next: freezeframe explain {path}"
    assert [entry.name for entry in tmp_path.iterdir()] == ["fault.ff"]


def test_a_pull_waits_on_the_target_that_it_pulls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An emulated pair begins anew with every target: what froze must be what is pulled."""
    from freezeframe.capture.targets.base import open_target

    opened: list[str] = []

    def counted(url: str) -> Target:
        opened.append(url)
        return open_target(url)

    monkeypatch.setattr("freezeframe.gui.cli.work.session.open_target", counted)
    url = "emu:?fault=word-omitted&seed=2"
    done = run_inside("pull", url, "-o", str(tmp_path / "x.ff"), "--wait", "60")
    assert (done.code, done.err) == (0, "")
    assert opened == [url]


def test_the_time_that_was_waited_is_said_as_it_was_given(tmp_path: Path) -> None:
    with serving(FakeRecorder(frozen=False)) as url:
        said = refusal("pull", url, "-o", str(tmp_path / "x.ff"), "--wait", "0.1", code=3)
    assert "device A is armed, not frozen, after 0.1 s; wait longer, or give --freeze" in said


def test_a_wait_in_vain_with_freeze_ends_in_a_freeze(tmp_path: Path) -> None:
    with serving(FakeRecorder(frozen=False)) as url:
        done = run_inside("pull", url, "-o", str(tmp_path / "x.ff"), "--wait", "0.1", "--freeze")
    assert done.code == 0
