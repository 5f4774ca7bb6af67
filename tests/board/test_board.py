"""The simulated board from outside: every verb's way works on it, and it ends as it should."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from freezeframe.analyzers.bringup.ladder import climb
from freezeframe.analyzers.explain import explain
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.control import freeze, wait_for
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.registers import names
from freezeframe.capture.registers.access import open_devices
from freezeframe.capture.registers.layouts import Cause
from freezeframe.capture.targets.base import open_target
from freezeframe.capture.targets.conformance import CHECKS, Check, Subject
from freezeframe.emulator.faults.registry import FAULTS
from freezeframe.emulator.open_world.in_verilog import IN_VERILOG
from freezeframe.emulator.open_world.table import ENTRIES
from freezeframe.emulator.target import EmulatorTarget
from tests.board.boards import Board, program, running
from tests.campaign.open_world.board import Job, run_on_board
from tests.gui.cli import process_environment, run_inside
from tests.processes import run_program

OUTSIDE = 0x00FF_FFFC
WRITABLE = names.offset("provoke.traffic_seed")
DEVICE_B = 1 << 24


def one_word(port: int, address: int) -> int:
    """Read a word with nothing of ours: docs/formats.md section 9, the golden packet with another address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.settimeout(20)
        udp.sendto(
            struct.pack(">IIIII", 0x4E6F1044, 0, 0x000F0001, 9, address), ("127.0.0.1", port)
        )
        reply = udp.recv(2048)
    head = struct.unpack(">IIII", reply[:16])
    assert head == (0x4E6F1044, 0, 0x000F0100, 9)
    return int(struct.unpack(">I", reply[16:])[0])


@pytest.fixture(scope="module")
def frozen() -> Iterator[Board]:
    with running("--seed", "5") as board:
        target = open_target(board.url)
        devices = open_devices(target)
        freeze(devices[0])
        for device in devices:
            wait_for(device, "frozen", 60)
        # The CRC engine works for a while; what the conformance suite looks at must stand still.
        while any(device.field("memory.status", "chunks_done", 4) < 1 for device in devices):
            time.sleep(0.05)
        target.close()
        yield board


@pytest.fixture(scope="module")
def known(frozen: Board) -> dict[int, int]:
    window = names.window("trace_tx_enq").address
    addresses = [window + 4 * i for i in range(300)] + [
        DEVICE_B + window + 4 * i for i in range(300)
    ]
    return {address: one_word(frozen.port, address) for address in addresses}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_board_conforms_as_every_target(
    check: Check, frozen: Board, known: dict[int, int]
) -> None:
    check(
        Subject(
            open=lambda: open_target(frozen.url), words=known, outside=OUTSIDE, writable=WRITABLE
        )
    )


def test_the_board_says_of_itself_what_the_emulated_card_says(frozen: Board) -> None:
    """One device to the host: the same shape, but for what names the build."""
    target = open_target(frozen.url)
    emulated = open_devices(EmulatorTarget())
    for ours, theirs in zip(open_devices(target), emulated, strict=True):
        own = {**ours.identity.to_json(), "boot_nonce": 0, "build_hash": 0}
        assert own == {**theirs.identity.to_json(), "boot_nonce": 0, "build_hash": 0}
    target.close()


def test_a_fault_on_the_board_is_pulled_and_explained_and_the_truth_agrees(tmp_path: Path) -> None:
    truth_file = tmp_path / "truth.json"
    with running("--seed", "3", "--fault", "word-omitted", "--truth", str(truth_file)) as board:
        target = open_target(board.url)
        for device in open_devices(target):
            wait_for(device, "frozen", 60)
        report = pull(target, tmp_path / "x.ff")
        target.close()
        truth = json.loads(truth_file.read_text())
    assert report.complete
    found = explain(CaptureFolder.open(tmp_path / "x.ff")).findings
    (injected,) = truth["injections"]
    assert found[0].diagnosis == truth["fault"] == "word-omitted"
    for key in ("device", "tap", "direction", "flow", "packet", "word"):
        assert getattr(found[0], key) == injected[key], key


def test_a_fault_that_no_check_finds_is_frozen_once_it_has_shown_itself(tmp_path: Path) -> None:
    truth_file = tmp_path / "truth.json"
    asked = ("--seed", "2", "--fault", "credit-too-coarse", "--truth", str(truth_file))
    with running(*asked, "--freeze-when-evident") as board:
        target = open_target(board.url)
        a, b = open_devices(target)
        wait_for(b, "frozen", 60)
        assert (a.read("ctl.causes"), b.read("ctl.causes")) == (1 << Cause.HOST, 1 << Cause.CROSS)
        pull(target, tmp_path / "x.ff")
        target.close()
        truth = json.loads(truth_file.read_text())
    assert truth["evident"] is True
    (injected,) = truth["injections"]
    finding = explain(CaptureFolder.open(tmp_path / "x.ff")).findings[0]
    assert (finding.diagnosis, finding.device, finding.flow) == (
        "credit-too-coarse", "B", injected["flow"],
    )  # fmt: skip


def test_the_board_has_the_faults_of_the_emulated_pair_in_their_order_and_some_of_the_open_world() -> (
    None
):
    done = run_program([str(program()), "--fault", "gremlins"])
    assert done.stderr.rstrip().rpartition("there is ")[2] == ", ".join((*FAULTS, *IN_VERILOG))
    assert len(IN_VERILOG) >= 20 and set(IN_VERILOG) < ENTRIES.keys()


def test_a_clean_board_has_no_finding_and_passes_the_ladder(tmp_path: Path) -> None:
    with running("--seed", "1") as board:
        target = open_target(board.url)
        results = climb(open_devices(target), discard=True)
        assert [(result.stage, result.outcome) for result in results] == [
            ("interface", "passed"),
            ("host-dma", "passed"),
            ("loopback", "passed"),
            ("pair", "passed"),
            ("switch", "not run"),  # none is named
        ], [result.seen for result in results]
        report = pull(target, tmp_path / "x.ff", freeze=True)
        target.close()
    assert report.complete
    assert explain(CaptureFolder.open(tmp_path / "x.ff")).findings == []


def test_an_error_answer_changes_nothing_and_is_counted(frozen: Board) -> None:
    before = one_word(frozen.port, names.offset("id.bus_errors"))
    assert one_word(frozen.port, OUTSIDE) == 0xFFFFFFFF
    assert one_word(frozen.port, names.offset("id.bus_errors")) == before + 1
    assert one_word(frozen.port, names.offset("id.bus_error_addr")) == OUTSIDE


def test_writes_while_frozen_alter_no_evidence(frozen: Board, known: dict[int, int]) -> None:
    target = open_target(frozen.url)
    for name in ("trace_tx_enq", "trace_event_log", "crc_table", "samples"):
        target.write(names.window(name).address, [0xDEADBEEF] * 4)
    target.close()
    some = sorted(known)[:20]
    assert [one_word(frozen.port, address) for address in some] == [known[a] for a in some]


def test_a_client_that_is_killed_in_a_pull_leaves_the_board_answering(
    frozen: Board, tmp_path: Path
) -> None:
    command = [
        sys.executable,
        "-m",
        "freezeframe",
        "pull",
        frozen.url,
        "-o",
        str(tmp_path / "x.ff"),
    ]
    with subprocess.Popen(command, env=process_environment(), stdout=subprocess.DEVNULL) as client:
        time.sleep(1.0)
        client.kill()
    assert one_word(frozen.port, 0) == 0x46525A46


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_a_signal_ends_the_board_with_0(number: signal.Signals) -> None:
    with running() as board:
        board.process.send_signal(number)
        assert board.process.wait(20) == 0


def test_the_board_ends_with_its_parent_when_it_is_told_to() -> None:
    command = [str(program()), "--listen", "127.0.0.1:0", "--until-stdin-ends"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline().startswith("ready")
        process.stdin.close()
        assert process.wait(20) == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ("--fault", "gremlins"),
            2,
            "fault 'gremlins' does not exist; there is none, word-omitted",
        ),
        (("--listen", "nowhere"), 2, "listen address 'nowhere': write HOST:PORT"),
        (("--truth", "/nonexistent/t.json"), 2, "truth file /nonexistent/t.json cannot be written"),
    ],
    ids=["fault", "address", "truth"],
)
def test_a_wrong_argument_is_one_line(arguments: tuple[str, ...], code: int, message: str) -> None:
    arguments = arguments if "--listen" in arguments else ("--listen", "127.0.0.1:0", *arguments)
    done = run_program([str(program()), *arguments])
    assert done.returncode == code
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("fault", "device", "tap", "name"),
    [
        ("in-bytes-swapped", "B", "rx_deq", "none-of-the-known"),
        ("out-words-swapped", "A", "tx_deq", "none-of-the-known"),
        ("link-burst", "B", "rx_enq", "none-of-the-known"),
        ("trace-bit-upset", "A", "rx_enq", "recorder-suspect"),
    ],
)
def test_a_cell_that_changes_in_the_running_verilog_is_found_where_it_lies(
    fault: str, device: str, tap: str, name: str
) -> None:
    first = next(r for r in run_on_board(Job(fault, 3)) if r["ends"] == "both")
    assert first["truth"]["device"] == first["said"]["device"] == device
    assert first["truth"]["tap"] == first["said"]["tap"] == tap
    assert first["name"] == name


def test_a_lane_that_died_loses_packets_and_no_credits_alone() -> None:
    answers = [r for r in run_on_board(Job("lane-idle", 500_000)) if r["ends"] == "both"]
    assert answers[0]["name"] == "packet-dropped"
    assert (answers[0]["said"]["device"], answers[0]["said"]["tap"]) == ("B", "rx_enq")
    assert "the last that was sent before them did not arrive either" in answers[1]["text"]


def test_a_port_that_is_taken_is_one_line() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        done = run_program([str(program()), "--listen", listen])
    assert done.returncode == 3
    assert done.stderr.startswith(f"freezeframe: cannot serve at {listen}: Address already in use")


@pytest.mark.parametrize("listen", ["nowhere", ":1", "127.0.0.1:65536", "127.0.0.1:x"])
def test_the_verb_says_what_is_wrong_with_an_address_before_it_builds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listen: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # nothing is built there
    done = run_inside("sim-board", "--listen", listen)
    assert done.code == 2
    assert f"listen address '{listen}': write HOST:PORT" in done.err
    assert not os.path.lexists(tmp_path / "cache")


def test_the_verb_says_that_a_port_is_taken_before_it_builds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        done = run_inside("sim-board", "--listen", listen)
    assert done.code == 3
    assert f"cannot serve at {listen}: Address already in use" in done.err
    assert not os.path.lexists(tmp_path / "cache")


def test_without_verilator_the_verb_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    done = run_inside("sim-board", "--build-only")
    assert done.code == 2
    assert "needs verilator, make, g++ to be built: apt-get install verilator make g++" in done.err
    assert not os.path.lexists(tmp_path / "cache")
