"""Events, state machines and histograms of a built device: what its simulation drove, pulled over UDP, cycle by cycle.

The bench (bench_log.cpp) writes down what it drives and in which cycle of which clock; it knows nothing of records.
"""

from __future__ import annotations

import json
import subprocess
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.card.recording import CardRecording
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.decoders.tap.tables import packet_tables
from tests.gui.cli import run_inside
from tests.rtl.card.test_card_device import bench_of, frozen, told

HERE = Path(__file__).parent
STATES = ["idle", "head", "body", "wait", "drop", "5", "6", "7"]
SOURCES = ("dma_error", "rx_bad", "tick", "rx_fsm", "power")
PERIOD_PS = {"dma_error": 10_000, "rx_bad": 6_400, "tick": 2_500, "rx_fsm": 6_400, "power": 10_000}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the bench; return the program."""
    folder = tmp_path_factory.mktemp("log")
    return bench_of("logs", "bench_log.cpp", folder, HERE / "bench_log.vlt")


@contextmanager
def running(
    bench: Path, driven: Path, seed: int, entries: int, *, fast: int = 0
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Give the URL of a running bench and its process; when it is over, its file is whole."""
    command = [str(bench), str(driven), str(seed), str(entries), str(fast)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdin is not None
        try:
            yield run.stdout.readline().strip(), run
            run.stdin.close()
            assert run.wait(60) == 0
        finally:
            run.kill()


def recorded(
    bench: Path, folder: Path, seed: int, entries: int, *, fast: int = 0
) -> tuple[dict[str, list[list[int]]], list[dict[str, Any]], CardRecording]:
    """Let a bench run until it has driven what it is to drive, and pull it.

    Returns:
        What was driven by name, ``[cycle, values ...]``; the rows of the log; the recording.
    """
    driven, capture = folder / "driven.txt", folder / "log.ff"
    with running(bench, driven, seed, entries, fast=fast) as (url, run):
        told(run_inside("arm", url, "--discard"))
        assert run.stdout is not None
        assert run.stdout.readline() == "driven\n"
        assert "words verified" in told(run_inside("pull", url, "-o", str(capture), "--freeze"))
    lines = [line.split() for line in driven.read_text().splitlines()]
    by_name: dict[str, list[list[int]]] = {}
    for name, *values in lines:
        by_name.setdefault(name, []).append([int(value) for value in values])
    opened = CardFolder.open(capture)
    tables = {name: table.to_pylist() for name, table in packet_tables(opened)}
    return by_name, tables["A.event_log"], opened.devices[0].recording()


@pytest.mark.parametrize("seed", [1, 2])
def test_the_log_has_every_event_and_change_in_the_cycle_in_which_it_was_driven(
    bench: Path, tmp_path: Path, seed: int
) -> None:
    driven, rows, recording = recorded(bench, tmp_path, seed, 60)
    assert {row["kind"] for row in rows} == {"event", "state"}
    assert [row["t_ps"] for row in rows] == sorted(row["t_ps"] for row in rows)
    told_rows = [row for row in rows if row["kind"] == "event" or row["was"] != row["state"]]
    for name in SOURCES:
        got: list[list[Any]] = [
            [row["cycle"]]
            + ([row["was"], row["state"]] if row["kind"] == "state" else [row["value"]])
            for row in told_rows
            if row["name"] == name
        ]
        want: list[list[Any]] = [list(entry) for entry in driven[name]]
        if name == "tick":
            want = [[cycle, -1] for (cycle,) in want]  # it has no value
        elif name in ("rx_fsm", "power"):
            words = STATES if name == "rx_fsm" else ["down", "up"]
            want = [[cycle, words[was], words[now]] for cycle, was, now in want]
        assert len(want) == 60
        assert got == want
    # A machine says where it stands at the arm and at the cause, once each.
    for name in ("rx_fsm", "power"):
        stands = [row for row in rows if row["name"] == name and row["was"] == row["state"]]
        assert len(stands) == 2
        assert stands[0]["cycle"] < driven[name][0][0]
        assert stands[0]["state"] == ("idle" if name == "rx_fsm" else "down")
        assert stands[1]["cycle"] > driven[name][-1][0]
        words = STATES if name == "rx_fsm" else ["down", "up"]
        assert stands[1]["state"] == words[driven[name][-1][2]]
    assert recording.log is not None
    assert not recording.log.wrapped


def test_times_of_all_clocks_are_on_one_axis(bench: Path, tmp_path: Path) -> None:
    _, rows, _ = recorded(bench, tmp_path, 3, 20)
    # The bench's clocks have no drift: a time is the cycle's but for the start of its counter.
    for name in SOURCES:
        starts = [
            row["t_ps"] - row["cycle"] * PERIOD_PS[name] for row in rows if row["name"] == name
        ]
        unc_ps = max(row["t_unc_ps"] for row in rows if row["name"] == name)
        assert 0 <= unc_ps <= PERIOD_PS[name]
        assert max(starts) - min(starts) <= 2 * unc_ps


def test_what_is_driven_faster_than_it_can_be_recorded_is_counted_where_it_is_missing(
    bench: Path, tmp_path: Path
) -> None:
    driven, rows, recording = recorded(bench, tmp_path, 4, 0, fast=1)
    assert recording.log is not None
    assert recording.log.wrapped
    ticks = [cycle for (cycle,) in driven["tick"]]
    got = [row for row in rows if row["name"] == "tick"]
    lost, before, checked = 0, None, 0
    for row in got:
        if row["kind"] == "lost":
            lost = row["value"]
            continue
        at = bisect_left(ticks, row["cycle"])
        assert ticks[at] == row["cycle"]
        if before is not None:
            assert at - before - 1 == lost
            checked += lost > 0
        before, lost = at, 0
    assert checked > 100
    # The others wait their turn and are all there.
    for name in ("dma_error", "rx_bad"):
        mine = [row for row in rows if row["name"] == name]
        assert {row["kind"] for row in mine} == {"event"}
        first, last = mine[0]["cycle"], mine[-1]["cycle"]
        want = [entry for entry in driven[name] if first <= entry[0] <= last]
        assert [[row["cycle"], row["value"]] for row in mine] == want
        assert len(want) > 5


@pytest.mark.parametrize("seed", [5, 6])
def test_histograms_equal_an_independent_count_of_the_packets_and_the_gaps(
    bench: Path, tmp_path: Path, seed: int
) -> None:
    driven, _, recording = recorded(bench, tmp_path, seed, 300)
    lengths = Counter(min(length.bit_length(), 15) for _, length in driven["packet"])
    gaps: Counter[int] = Counter()
    for (end, last), (begin, _) in zip(driven["beat"], driven["beat"][1:], strict=False):
        if last:
            gaps[(begin - end - 1).bit_length()] += 1
    for name, want in (("rx_lengths", lengths), ("rx_gaps", gaps)):
        assert list(recording.histograms[name]) == [want[n] for n in range(16)]
    assert sum(lengths.values()) == 300
    assert sum(gaps.values()) == 299
    assert {0, 15} <= {*lengths, *gaps}


def test_a_second_recording_holds_nothing_of_the_first(bench: Path, tmp_path: Path) -> None:
    with running(bench, tmp_path / "driven.txt", 7, 40) as (url, run):
        told(run_inside("arm", url, "--discard"))
        assert run.stdout is not None
        assert run.stdout.readline() == "driven\n"
        told(run_inside("pull", url, "-o", str(tmp_path / "one.ff"), "--freeze"))
        told(run_inside("arm", url, "--discard"))
        told(run_inside("pull", url, "-o", str(tmp_path / "two.ff"), "--freeze"))
    (device,) = CardFolder.open(tmp_path / "two.ff").devices
    recording = device.recording()
    # All was driven in the first one: the second has the machines' states at its arm and its cause alone.
    rows = json.loads(told(run_inside("decode", str(tmp_path / "two.ff"), "--json")))["tables"][-1]
    assert [(row["name"], row["was"] == row["state"]) for row in rows["rows"]].count(
        ("power", True)
    ) == 2
    assert len(rows["rows"]) == 4
    assert set(recording.histograms["rx_lengths"]) == {0}


def test_the_trigger_freezes_on_a_change_of_a_state_machine(bench: Path, tmp_path: Path) -> None:
    # source 3, rx_fsm, comes into state 4, drop
    term = "kind=STATE,data=0x0300000000000004/0xff000000000000ff"
    with running(bench, tmp_path / "driven.txt", 8, 0) as (url, _):
        told(run_inside("trigger", url, "--on", "event_log", "--term", term))
        told(run_inside("arm", url, "--discard"))
        frozen(url)
        told(run_inside("pull", url, "-o", str(tmp_path / "drop.ff")))
    (device,) = json.loads(told(run_inside("explain", str(tmp_path / "drop.ff"), "--json")))[
        "devices"
    ]
    (step,) = device["fired"]
    rows = dict(packet_tables(CardFolder.open(tmp_path / "drop.ff")))["A.event_log"].to_pylist()
    first = next(
        row
        for row in rows
        if row["name"] == "rx_fsm" and row["state"] == "drop" and row["was"] != "drop"
    )
    data = int(step["data"], 16)
    assert (step["tap"], step["kind"], data & 0xFF) == ("event_log", "STATE", 4)
    assert first["was"] == STATES[data >> 8 & 0xFF]
    # An entry waits for its turn at most 16 cycles for each of the five sources, and some for its way.
    assert abs(step["t_ps"] - first["t_ps"]) <= 100 * PERIOD_PS["dma_error"]
    # The cause needs some cycles to reach the machine's clock: by then it may stand in another state.
    assert device["logged"][0].startswith("rx_fsm in ")
