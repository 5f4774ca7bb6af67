"""capture: from sigrok's demo device, a simulated instrument, and a scope on a socket that misbehaves."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.files.edges import join
from freezeframe.capture.files.open import read_edges, read_header
from freezeframe.capture.files.source import ReadSettings
from freezeframe.capture.files.threshold import Threshold
from freezeframe.capture.instruments.sigrok import SigrokRequest
from tests.capture.files.test_sample_folder import steps
from tests.capture.instruments.scope import Scope, served
from tests.gui.cli import Outcome, refusal, run_inside, run_process, started

NEEDS_SIGROK = pytest.mark.skipif(
    shutil.which("sigrok-cli") is None, reason="sigrok-cli is not installed"
)
DEMO = ("--driver", "demo")
WAVE = [0.0] * 20 + [1.8] * 30 + [1.0] * 10 + [0.2] * 40
PODS = [0b01] * 25 + [0b11] * 50 + [0b10] * 25


@pytest.fixture
def scope() -> Scope:
    return Scope({"CHANnel1": WAVE}, PODS)


def capture(name: str, place: Path, *more: str) -> Outcome:
    return run_inside("capture", "--instrument", name, "-o", str(place), *more)


@NEEDS_SIGROK
def test_the_demo_device_gives_a_folder_that_decode_takes(tmp_path: Path) -> None:
    place = tmp_path / "demo.ff"
    wish = ("--samples", "20000", "--config", "samplerate=1m", "--channels", "D0,D1,D2")
    done = run_inside("capture", *DEMO, *wish, "-o", str(place))
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{place}: 3 channels, ")
    assert done.out.endswith(
        " edges, 20,000 samples of 1,000,000 Hz, a test pattern that sigrok made up\n"
    )
    origin = json.loads((place / "manifest.json").read_text())["origin"]
    assert (origin["kind"], origin["driver"], origin["samples"]) == ("sigrok", "demo", 20000)
    assert origin["config"] == {"samplerate": "1m"}
    assert origin["test_pattern"] is True
    decoded = run_inside("decode", str(place), "-d", "uart:rx=D0,baud=100000", "--json")
    assert decoded.code == 0
    assert len(json.loads(decoded.out)["tables"][0]["rows"]) > 100


LIVE = (*DEMO, "--config", "samplerate=100k", "--channels", "D0,D1", "-d", "uart:rx=D0,baud=10000")


@NEEDS_SIGROK
def test_rows_come_while_samples_are_captured_and_are_those_of_the_folder(tmp_path: Path) -> None:
    place = tmp_path / "live.ff"
    done = run_inside("capture", *LIVE, "--samples", "30000", "-o", str(place))
    assert (done.code, done.err) == (0, "")
    *rows, said = done.out.splitlines()
    assert said.startswith(f"{place}: 2 channels, ")
    assert said.endswith(" 30,000 samples of 100,000 Hz, a test pattern that sigrok made up")
    later = run_inside("decode", str(place), "-d", "uart:rx=D0,baud=10000").out.splitlines()
    assert len(rows) > 100
    assert [row.split(maxsplit=2)[2] for row in rows] == [r.split(maxsplit=2)[2] for r in later]


@NEEDS_SIGROK
def test_an_interrupt_ends_a_capture_with_what_there_is(tmp_path: Path) -> None:
    place = tmp_path / "live.ff"
    with started("capture", *LIVE, "--time", "600s", "-o", str(place)) as process:
        assert process.stdout is not None and process.stderr is not None
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.stdout.read(), process.stderr.read()
    # On a busy machine it may say that decoding does not keep up.
    notes = [line for line in err.splitlines() if not line.startswith("decoding is behind by ")]
    assert (process.returncode, notes) == (0, [])
    *rows, said = [first, *out.splitlines()]
    assert said.startswith(f"{place}: 2 channels, ")
    later = run_inside("decode", str(place), "-d", "uart:rx=D0,baud=10000").out
    assert len(rows) == later.count("\n")


@NEEDS_SIGROK
def test_where_decoding_fails_the_samples_are_stored_all_the_same(tmp_path: Path) -> None:
    place = tmp_path / "live.ff"
    wish = (*LIVE[:-1], "uart:rx=D0,baud=90000", "--samples", "30000")
    done = run_inside("capture", *wish, "-o", str(place))
    assert done.code == 2
    assert "1.11 a bit; at least 2 are needed" in done.err
    assert " 30,000 samples of 100,000 Hz" in done.out
    assert run_inside("decode", str(place), "-d", "uart:rx=D0,baud=10000").code == 0


@NEEDS_SIGROK
@pytest.mark.parametrize(
    ("wish", "code", "message"),
    [
        (["--driver", "nosuch", "--samples", "10"], 3, "Driver nosuch not found"),
        ([*DEMO, "--samples", "10", "--config", "nosuch=3"], 3, "Unknown device option 'nosuch'"),
        ([*DEMO, "--samples", "10", "--channels", "D99"], 3, "unknown channel 'D99'"),
        ([*DEMO, "--samples", "10", "-d", "uart"], 2, "say how fast"),
        ([*LIVE[:4], "--samples", "10", "-d", "uart"], 2, "-d: name the channels"),
        ([*LIVE[:-1], "trace", "--samples", "10"], 2, "trace takes"),
        ([*LIVE[:-1], "uart:rx=D7", "--samples", "10"], 2, "D7"),
        ([*LIVE, "--samples", "10", "--channels", "A0"], 3, "name logic channels alone"),
        (["--samples", "10"], 2, "`sigrok-cli --scan` finds the devices that are connected"),
        ([*DEMO], 2, "say how much, by --samples N or by --time TIME"),
        ([*DEMO, "--samples", "10", "--time", "1s"], 2, "one of them"),
        ([*DEMO, "--time", "1us"], 2, "a whole number of milliseconds is needed"),
        ([*DEMO, "--samples", "10", "--config", "samplerate"], 2, "not KEY=VALUE"),
        (["--samples", "10", "--driver", "--list"], 2, "is no driver"),
        (["--samples", "10", "--single"], 2, "--single needs --instrument"),
        (
            [*DEMO, "--samples", "99999999999999", "--config", "samplerate=1m"],
            2,
            "99,999,999,999,999 samples, 99,999,999 s at 1,000,000 Hz, more than the",
        ),
    ],
)
def test_what_cannot_be_captured_is_one_line_and_leaves_nothing(
    wish: list[str], code: int, message: str, tmp_path: Path
) -> None:
    done = run_inside("capture", *wish, "-o", str(tmp_path / "x.ff"))
    assert done.code == code
    assert message in done.err
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@NEEDS_SIGROK
def test_an_analyzer_without_an_end_is_stopped_and_does_not_run_on(tmp_path: Path) -> None:
    # A billion samples at 1 kHz last twelve days.
    wish = (*DEMO, "--samples", "1000000000", "--config", "samplerate=1k", "--wait", "0.5")
    said = refusal("capture", *wish, "-o", str(tmp_path / "x.ff"), code=3)
    assert "no end after 0.5 s; --wait SECONDS gives it longer" in said
    assert list(tmp_path.iterdir()) == []
    ours = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    names = [Path(f"/proc/{pid}/comm").read_text().strip() for pid in ours]
    assert "sigrok-cli" not in names


@NEEDS_SIGROK
@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_what_an_analyzer_said_that_does_not_end_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a tmpfs needs the mount capability")
    try:
        # It goes on when the disk is full, on which it writes first.
        monkeypatch.setattr(tempfile, "tempdir", str(disk))
        wish = (*DEMO, "--samples", "1000000000", "--config", "samplerate=1m", "--wait", "5")
        done = run_inside("capture", *wish, "-o", str(tmp_path / "x.ff"))
        left = list(disk.iterdir())
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    assert (done.code, left) == (3, [])
    assert "so far it says: " in done.err
    assert "No space left on device" in done.err


def test_a_text_that_would_be_an_option_of_sigrok_is_refused() -> None:
    for request in (
        SigrokRequest("--scan", samples=1),
        SigrokRequest("demo", channels=["-l"], samples=1),
    ):
        with pytest.raises(Exception, match="is no driver, setting or channel"):
            request.arguments(Path("x"))


def test_a_scope_gives_its_bytes_and_preambles_and_decode_takes_them(
    scope: Scope, tmp_path: Path
) -> None:
    place = tmp_path / "s.ff"
    with served(scope) as name:
        done = capture(name, place, "--channels", "CHAN1,D1", "--threshold", "CHAN1=1.4/0.5")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"{place}: 9 channels, 5 edges, 100 samples of 10,000,000 Hz\n"
    raw = place / "raw/1/scope"
    assert (raw / "CHAN1.bin").read_bytes() == bytes(round(v / 0.02) + 128 for v in WAVE)
    assert (raw / "POD1.bin").read_bytes() == bytes(PODS)
    said = json.loads((raw / "waveform.json").read_text())
    assert said["traces"][0]["preamble"] == ("+0,+0,100,+1,+1.0E-07,-2.0E-06,0,+2.0E-02,0.0,128")
    assert json.loads((place / "manifest.json").read_text())["origin"]["identity"] == scope.idn
    # High from 1.4 V up at sample 20; 1.0 V at 50 is between; low from 0.5 V down at 60.
    found = join(list(read_edges(place, ["CHAN1", "D0", "D1"])))
    assert steps(found) == [(0, 2), (20, 3), (25, 7), (60, 6), (75, 4)]
    assert found.samplerate_hz == 10_000_000
    assert scope.log[:3] == ["*IDN?", ":SYSTem:ERRor?", ":STOP"]
    assert run_inside("decode", str(place), "-d", "uart:rx=D0,baud=1000000").code == 0


def test_nothing_but_the_result_is_printed(scope: Scope, tmp_path: Path) -> None:
    wish = ("--channels", "D0", "-o", str(tmp_path / "s.ff"))
    with served(scope) as name:
        done = run_process("capture", "--instrument", name, *wish)
    assert (done.code, done.err) == (0, "")
    assert done.out.count("\n") == 1


def test_analog_channels_wait_for_a_threshold(scope: Scope, tmp_path: Path) -> None:
    with served(scope) as name:
        done = capture(name, tmp_path / "s.ff", "--channels", "CHAN1")
    assert done.code == 0
    assert "give --threshold CHAN1=HIGH/LOW in volts" in done.err
    header = read_header(tmp_path / "s.ff", ReadSettings(thresholds={"": Threshold(1.5, 1.5)}))
    assert header.channels == ("CHAN1",)
    wish = ("-d", "uart:rx=CHAN1,baud=1000000", "--threshold", "CHAN1=1.4/0.5")
    assert run_inside("decode", str(tmp_path / "s.ff"), *wish).code == 0


def test_single_records_anew_and_waits_for_it(scope: Scope, tmp_path: Path) -> None:
    with served(scope) as name:
        assert capture(name, tmp_path / "s.ff", "--channels", "D0,D1", "--single").code == 0
    assert scope.log[2:4] == [":DIGitize POD1", "*OPC?"]
    assert ":STOP" not in scope.log


def test_a_block_of_indefinite_length_is_taken(scope: Scope, tmp_path: Path) -> None:
    scope.indefinite = True
    scope.pod = [10, 35, 48, 10, 255]  # newlines and # inside
    with served(scope) as name:
        assert capture(name, tmp_path / "s.ff", "--channels", "D0").code == 0
    assert (tmp_path / "s.ff/raw/1/scope/POD1.bin").read_bytes() == bytes(scope.pod)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"idn": "MAKER,OTHER 1,1,1"}, "which no dialect is for"),
        ({"answers": {"*IDN?": b"\xff\xfe\n"}}, "no text"),
        ({"answers": {":WAVeform:PREamble?": b"what?\n"}}, "'what?' is not 10 numbers"),
        ({"answers": {":WAVeform:PREamble?": b"0,0,1e999,1,1e-7,0,0,1,0,0\n"}}, "is not 10 numb"),
        ({"answers": {":WAVeform:PREamble?": b"0,0,0,1,1e-7,0,0,1,0,0\n"}}, "says 0 points"),
        ({"answers": {":WAVeform:PREamble?": b"4,0,9,1,1e-7,0,0,1,0,0\n"}}, "says format 4"),
        ({"answers": {":WAVeform:PREamble?": b"0,0,9,1,-1,0,0,1,0,0\n"}}, "a point each -1 s"),
        ({"points": 1 << 40}, "more than the 134217728 allowed"),
        ({"points": 99}, "the block says 100 B, and the preamble promises 99 B"),
        ({"answers": {":WAVeform:DATA?": b"#9999999999"}}, "the block says 999999999 B"),
        ({"answers": {":WAVeform:DATA?": b"garbage\n"}}, "begins with b'ga', not with a block"),
        ({"answers": {":SYSTem:ERRor?": b'-113,"Undefined header"\n'}}, "-113,"),
        ({"answers": {":SYSTem:ERRor?": b"oh\n"}}, "answers 'oh', not a number and a text"),
        ({"answers": {"*IDN?": b"x" * 5000}}, "more than 4096 B without an end"),
    ],
)
def test_an_instrument_that_answers_nonsense_is_told_and_leaves_nothing(
    scope: Scope, change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    for name, value in change.items():
        setattr(scope, name, value)
    with served(scope) as name:
        done = capture(name, tmp_path / "s.ff", "--channels", "D0", "--wait", "5")
    assert done.code in (2, 3)
    assert message in done.err
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("hang_up", [False, True], ids=["silent", "hangs up"])
@pytest.mark.parametrize("stop_after_B", [0, 1, 6, 60], ids=["0", "1", "6", "60"])
def test_an_instrument_that_stops_in_mid_transfer_ends_by_the_wait_and_leaves_nothing(
    scope: Scope, stop_after_B: int, hang_up: bool, tmp_path: Path
) -> None:
    scope.stop_after_B, scope.hang_up = stop_after_B, hang_up
    threads = threading.active_count()
    with served(scope) as name:
        done = capture(name, tmp_path / "s.ff", "--channels", "D0", "--wait", "1")
    assert done.code == 3
    assert "POD1, block of 100 B: nothing more after " in done.err
    assert "nothing is kept" in done.err
    assert list(tmp_path.iterdir()) == []
    assert threading.active_count() == threads


def test_an_instrument_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    done = capture("TCPIP::127.0.0.1::9::SOCKET", tmp_path / "s.ff", "--channels", "D0")
    assert done.code == 3
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        (["--channels", "X9"], "there is no channel X9; there is CHAN1"),
        ([], "name the channels, for instance --channels CHAN1,D0"),
        (["--channels", "D0", "--samples", "5"], "--samples is not for --instrument"),
        (["--channels", "D0", "--dialect", "none"], "there is no dialect 'none'"),
        (["--channels", "D0", "--max-samples", "50"], "100 points, more than the 50 allowed"),
    ],
)
def test_a_wish_that_an_instrument_cannot_fulfil_is_one_line(
    scope: Scope, wish: list[str], message: str, tmp_path: Path
) -> None:
    with served(scope) as name:
        done = capture(name, tmp_path / "s.ff", *wish)
    assert done.code in (2, 3)
    assert message in done.err
    assert list(tmp_path.iterdir()) == []


SIMULATED = """
spec: "1.1"
devices:
  scope:
    eom:
      TCPIP INSTR: {q: "\\n", r: "\\n"}
    error: ERROR
    dialogues:
      - {q: "*IDN?", r: "MAKER,MSO-X 3054A,MY1,1.0"}
      - {q: "*OPC?", r: "1"}
      - {q: ":STOP"}
      - {q: ":SYSTem:ERRor?", r: '+0,"No error"'}
      - {q: ":WAVeform:SOURce POD1"}
      - {q: ":WAVeform:FORMat BYTE"}
      - {q: ":WAVeform:UNSigned 1"}
      - {q: ":WAVeform:POINts:MODE RAW"}
      - {q: ":WAVeform:POINts MAXimum"}
      - {q: ":WAVeform:PREamble?", r: "0,0,12,1,1.0E-06,0,0,1.0,0.0,0"}
      - {q: ":WAVeform:DATA?", r: "#21200112233AABB"}
resources:
  TCPIP::192.0.2.9::INSTR:
    device: scope
"""


def test_a_simulated_instrument_gives_a_folder(tmp_path: Path) -> None:
    pytest.importorskip("pyvisa_sim", reason="pyvisa-sim is not installed")
    library = tmp_path / "sim.yaml"
    library.write_text(SIMULATED)
    place = tmp_path / "sim.ff"
    wish = ("--visa", f"{library}@sim", "--channels", "D0,D1,D4", "--wait", "5")
    done = capture("TCPIP::192.0.2.9::INSTR", place, *wish)
    assert (done.code, done.err) == (0, "")
    # '0' 0x30, '1' 0x31, '2' 0x32, '3' 0x33, 'A' 0x41, 'B' 0x42: bits 0, 1 and 4.
    found = join(list(read_edges(place, ["D0", "D1", "D4"])))
    assert steps(found) == [(0, 4), (2, 5), (4, 6), (6, 7), (8, 1), (10, 2)]
    assert found.samplerate_hz == 1_000_000
