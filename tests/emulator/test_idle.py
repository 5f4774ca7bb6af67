"""Idle stretches are skipped exactly: a seed gives the same bits with and without, and an hour costs few events."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from freezeframe.analyzers.explain import explain
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.registers.layouts import Kind
from freezeframe.capture.registers.map_table import MAP_SIZE, REGISTERS
from freezeframe.capture.time_text import format_lasted
from freezeframe.emulator import idle
from freezeframe.emulator.beat import Calendar
from freezeframe.emulator.clocks import Clock
from freezeframe.emulator.eventlog import EventLog
from freezeframe.emulator.faults.registry import FAULTS, make_fault
from freezeframe.emulator.open_world.table import ENTRIES
from freezeframe.emulator.target import EmulatorTarget
from freezeframe.gui.cli.explanation_text import explanation_text
from freezeframe.gui.moments import first_freeze, since_arm
from freezeframe.gui.report.write import render_report
from tests.emulator.reading import Card

MS, S = 10**9, 10**12
HOUR = 3600 * S
UNLISTED = (
    "log-event-dropped", "log-event-doubled", "retrain-told", "noise-packet", "interrupt-spurious", "host-stops",
    "trace-record-dropped",
)  # fmt: skip


def whole_state(target: EmulatorTarget) -> list[Any]:
    """Return every register of both cards, and what no register shows while a card records."""
    registers = [
        int(info.address + card * MAP_SIZE + sum(offset))
        for card in (0, 1)
        for info in REGISTERS
        for offset in _offsets(info.dims)
    ]
    shown = target.read(registers).tolist()
    hidden = [
        (
            nic.counters(nic.now_ps), nic.snapshots.banks.copy(), nic.sampler.slots.tolist(),
            [None if image is None else image.tobytes() for image in nic.recording.images()],
        )
        for nic in target.pair.nics
    ]  # fmt: skip
    return [target.now_ps, shown, hidden, target.pair.truth.to_json()]


def _offsets(dims: tuple[tuple[int, int], ...]) -> list[tuple[int, ...]]:
    offsets: list[tuple[int, ...]] = [()]
    for count, stride in dims:
        offsets = [(*before, n * stride) for before in offsets for n in range(count)]
    return offsets


def states(skips: bool, way: dict[str, Any]) -> list[Any]:
    """Run a pair in pieces, with registers written between them, and return its whole state after each."""
    target = EmulatorTarget(
        way["card"][0], way["fault"], way["seed"], access_ps=0, nonce=1, load=way["load"],
        apart=way["apart"], through=way["card"][1],
    )  # fmt: skip
    target.pair.skips_idle = skips
    cards = Card(target, 0), Card(target, 1)
    for card in cards:
        card.write("ctl.options", int(way["hold"]))
    seen = []
    for number, piece_ps in enumerate(way["pieces_ps"]):
        target.run_until_evident(piece_ps) if way["until"] else target.advance(piece_ps)
        seen.append(whole_state(target))
        if number == 0:
            cards[1].write("ctl.sample_period", way["period"])
            cards[0].write("ctl.snapshot_log2", way["log2"])
            cards[0].write("ctl.kinds", 4, way["kinds"])
        if way["again"] and target.frozen:
            for card in cards:
                card.write("ctl.arm", 0x4152 << 16 | card.read("ctl.generation") + 1)
    return seen


WAYS = st.fixed_dictionaries(
    {
        "card": st.sampled_from(
            (("forth", None), ("forth-x4", None), ("forth-combining", None), ("forth", "switch-pair"))
        ),
        "fault": st.one_of(
            st.sampled_from(list(FAULTS)),
            st.sampled_from([f"{f}:after=9ms" for f in FAULTS if f not in ("none", "credit-start-too-large")]),
            st.sampled_from([f"{f}:after=7ms" for f in UNLISTED]),
            st.just("clock-drift:after=5ms+payload-bit-flip:after=8ms"),
        ),
        "load": st.sampled_from(("300us", "1ms", "4ms", "20ms")),
        "seed": st.integers(0, 10**6),
        "hold": st.booleans(),
        "apart": st.booleans(),
        "until": st.booleans(),
        "again": st.booleans(),
        "pieces_ps": st.lists(st.integers(1, 14 * MS), min_size=2, max_size=4),
        "period": st.sampled_from((0, 77, 1024, 5000)),
        "log2": st.sampled_from((6, 10, 14, 20)),
        "worth": st.sampled_from((1, 32)),
        "kinds": st.sampled_from((0xFFFF, 0xFFFF, 0xFFFF & ~(1 << Kind.LINK))),
    }
)  # fmt: skip


@settings(max_examples=60, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(WAYS)
def test_skipping_idle_time_changes_no_bit_of_any_register_memory_or_truth(
    way: dict[str, Any],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(idle, "_WORTH_LOGGED", way["worth"])
        assert states(True, way) == states(False, way)


def counted(target: EmulatorTarget, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list whose only element counts the events that are simulated from now on."""
    steps, step = [0], Calendar.step

    def counting(calendar: Calendar) -> None:
        steps[0] += 1
        step(calendar)

    monkeypatch.setattr(Calendar, "step", counting)
    return steps


def test_an_idle_hour_is_a_few_hundred_events_and_every_count_is_that_of_the_hour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = tmp_path / "nothing.csv"
    nothing.write_text("# no message\n")
    target = EmulatorTarget(workload=str(nothing), seed=4, access_ps=0, nonce=1)
    steps = counted(target, monkeypatch)
    begin_ps = target.now_ps
    target.advance(MS)
    logged = [Card(target, n).read("memory.offered", 4) for n in (0, 1)]
    corrected = [
        nic.counts["idles_inserted"] + nic.counts["idles_removed"] for nic in target.pair.nics
    ]
    target.advance(HOUR - MS)
    assert target.now_ps == begin_ps + HOUR and steps[0] < 1000
    a, b = target.pair.nics
    for number, nic, far in ((0, a, b), (1, b, a)):
        bus, link = nic.clocks
        first, last = bus.cycle_at(begin_ps), bus.cycle_at(target.now_ps)
        assert nic.sampler.stored == (last - first) // 1024
        assert nic.snapshots.seq == last // (1 << 14) - first // (1 << 14)
        # A cycle is corrected whenever the two clocks have drifted apart by one.
        every = far.link.period_fs // abs(link.period_fs - far.link.period_fs)
        idles = (link.cycle_at(target.now_ps - 1) - link.cycle_at(begin_ps)) // every
        name = "idles_inserted" if link.period_fs < far.link.period_fs else "idles_removed"
        assert nic.counters(target.now_ps)[name] == idles
        card = Card(target, number)  # both lanes report each
        assert card.read("memory.offered", 4) - logged[number] == 2 * (idles - corrected[number])
        assert card.read("memory.lost", 4) == 0


def test_after_a_hundred_days_idle_time_is_simulated_and_still_right(tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.csv"
    nothing.write_text("")
    target = EmulatorTarget(workload=str(nothing), seed=4, access_ps=0, nonce=1)
    target.advance(2**63 - 2 * HOUR - target.now_ps)
    target.advance(2 * MS)
    for nic in target.pair.nics:
        bus = nic.clocks.bus
        samples = (bus.cycle_at(target.now_ps) - bus.cycle_at(10_000_000)) // 1024
        assert nic.sampler.stored == samples and samples > 2**39


def test_a_bonded_lane_that_slips_after_an_hour_is_explained_at_its_time(tmp_path: Path) -> None:
    target = EmulatorTarget(fault="lane-misaligned:after=1h", load="10s", seed=7, nonce=1)
    assert target.run_until_frozen(2 * HOUR)
    (injection,) = target.pair.truth.injections
    assert HOUR < injection.t_ps < HOUR + 120 * S
    pull(target, tmp_path / "hour.ff")
    capture = CaptureFolder.open(tmp_path / "hour.ff")
    explanation = explain(capture)
    finding = explanation.findings[0]
    found = (finding.diagnosis, finding.device, finding.tap, finding.packet, finding.word)
    assert found == ("lane-misaligned", "B", "rx_enq", injection.packet, injection.word)
    freeze = first_freeze(capture, explanation.trace)
    assert freeze is not None and finding.t_ps is not None
    came = since_arm(capture, explanation.trace, finding.t_ps)
    assert came is not None and came.unc_ps < S and came.clock == "A.bus"
    armed_ps = 10_000_000  # at power-up
    assert abs(came.t_ps - (injection.t_ps - armed_ps)) <= came.unc_ps
    said = re.search(r"\n  after arm   (.*)\n", explanation_text(capture, explanation))
    assert said and said[1] == f"{format_lasted(came.t_ps, came.unc_ps)}, by A.bus (100 ppm)"
    assert re.match(r"(59 min 59|1 h 00 min \d\d)\.\d s ± 0\.4 s, ", said[1])
    assert f"<dd>{format_lasted(came.t_ps, came.unc_ps)}<small>by A.bus" in render_report(
        capture, explanation
    )
    assert freeze.cycle > 3599 * 100_000_000  # 39 bits


@pytest.mark.parametrize(
    "fault", [f for f in FAULTS if f not in ("none", "credit-start-too-large")]
)
def test_a_fault_strikes_after_its_begin_and_never_before(fault: str) -> None:
    without = EmulatorTarget(fault=fault, seed=11, nonce=1)
    assert without.run_until_evident(20 * MS)
    strikes_ps = without.pair.truth.injections[0].t_ps
    target = EmulatorTarget(fault=f"{fault}:after=3ms", seed=11, nonce=1)
    begin_ps = target.now_ps + 3 * MS
    target.advance(begin_ps - target.now_ps)
    assert strikes_ps < begin_ps and not target.pair.truth.injections and not target.frozen
    assert target.run_until_evident(60 * MS)
    assert target.pair.truth.injections[0].t_ps >= begin_ps


def test_no_fault_of_the_open_world_strikes_before_its_begin_and_those_without_one_say_so() -> None:
    refused = set()
    for name in ENTRIES:
        try:
            target = EmulatorTarget(fault=f"{name}:after=1ms", load="300us", seed=5, nonce=1)
        except InputError as error:
            assert re.search(r"cannot begin at a time: it is .*; leave out :after=1ms$", str(error))
            refused.add(name)
            continue
        target.advance(MS)
        assert not target.pair.truth.injections, name
    assert {"trace-bit-upset", "counter-twice", "cause-masked"} <= refused and len(refused) < 40


_NO_TIME = "is not a time with h, min, s, ms, us, ns or ps"
_NO_AFTER = "is not after=TIME, which is when word-omitted begins; for instance after=1h"


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("word-omitted:after=soon", f": after: 'soon' {_NO_TIME}"),
        ("word-omitted:after=1", f": after: '1' {_NO_TIME}"),
        ("word-omitted:after=-1h", f": after: '-1h' {_NO_TIME}"),
        ("word-omitted:after=0.5ps", ": after: '0.5ps' is not a whole number of picoseconds"),
        ("word-omitted:after=1001h", ": after 1001h is more than the 1000h that a run may take"),
        ("word-omitted:", f": '' {_NO_AFTER}"),
        ("word-omitted:at=1h", f": 'at=1h' {_NO_AFTER}"),
        (
            "none:after=1h",
            ": none cannot begin at a time: a clean run has none; leave out :after=1h",
        ),
        (
            "credit-start-too-large:after=1h",
            ": credit-start-too-large cannot begin at a time: it is in the start-up credit; leave out :after=1h",
        ),
    ],
)
def test_what_is_no_begin_is_refused_in_one_line(fault: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        make_fault(fault)
    assert str(refused.value) == f"fault {fault!r}{message}"


@pytest.mark.parametrize("load", ["0s", "2h", "100", "often", "-3ms"])
def test_what_is_no_load_is_refused_in_one_line(load: str) -> None:
    with pytest.raises(InputError) as refused:
        EmulatorTarget(load=load)
    assert str(refused.value) == (
        f"load {load!r} does not exist; there are light, medium, saturating, or a mean gap between two messages, "
        "above 0 and up to 1h, as 100ms"
    )


def test_a_mean_gap_as_load_is_that_of_the_messages() -> None:
    target = EmulatorTarget(load="1ms", seed=2, nonce=1)
    target.advance(S)
    posted = [nic.counts["descriptors"] for nic in target.pair.nics]
    assert all(
        abs(count - 1000) < 5 * 1000**0.5 for count in posted
    )  # Poisson: within five deviations


def test_two_faults_begin_each_at_its_own_time() -> None:
    faults = "payload-bit-flip:after=2ms+header-corrupted:after=1ms"
    target = EmulatorTarget(fault=faults, seed=3, load="300us", nonce=1)
    assert target.run_until_frozen(100 * MS)
    first = target.pair.truth.injections[0]
    assert (first.fault, first.t_ps >= 1010 * 10**6) == ("header-corrupted", True)


def test_what_makes_a_long_run_long_is_said() -> None:
    drift = EmulatorTarget(fault="clock-drift:after=1h", load="100ms", nonce=1)
    assert drift.pair.remarks() == [
        "clock-drift: its slips come between packets too, so idle stretches are simulated from its begin on"
    ]
    (dense,) = EmulatorTarget(fault="word-omitted:after=1h", load="light", nonce=1).pair.remarks()
    assert dense == (
        "fault word-omitted begins after 3,600 s: idle stretches are skipped, messages are not, and one is posted "
        "every 25 µs; --load 100ms is a load for long runs"
    )
    assert EmulatorTarget(fault="word-omitted:after=1h", load="100ms").pair.remarks() == []


def test_some_events_are_simulated_and_no_more() -> None:
    target = EmulatorTarget(load="saturating", seed=1, access_ps=0, nonce=1)
    before_ps = target.now_ps
    target.advance_some(S, 64)
    assert before_ps < target.now_ps < before_ps + MS
    target = EmulatorTarget(load="1h", seed=1, access_ps=0, nonce=1)
    before_ps = target.now_ps
    target.advance_some(S, 200)
    assert target.now_ps == before_ps + S


@given(
    st.integers(0, 400), st.integers(80, 5000), st.integers(3, 700), st.integers(1, 8), st.sampled_from((4, 8, 32)),
    st.sampled_from((0xFFFF, 0xFFFF & ~(1 << Kind.LINK), 0xFFFF & ~(1 << Kind.TIME))),
    st.lists(st.integers(1, 40), max_size=6), st.booleans(),
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_a_log_offered_the_same_again_and_again_holds_what_it_holds_offered_one_by_one(
    first: int,
    every: int,
    times: int,
    lanes: int,
    places: int,
    kinds: int,
    before: list[int],
    armed: bool,
) -> None:
    logs = EventLog(256, places), EventLog(256, places)
    data = list(range(lanes))
    begin = 100 + first

    def at(numbers: Any) -> Any:
        return (
            begin + numbers * every + (numbers * 7) % 2
        )  # a cycle more or less, as between two clocks

    for log in logs:
        log.kinds = kinds
        if armed:
            log.arm(10)
        for cycle in before:
            log.offer(10 + cycle, 2, Kind.IRQ, cycle)
    often, single = logs
    if not often.offer_often(at, times, 5, Kind.LINK, data):
        # Refused: where the log may lose events or has no rest between them, and then nothing has changed.
        assert (
            places < lanes + 3 or every < places + 66 or len(before) > places // 2 - 2 or first < 60
        )
        often = EventLog(256, places)
        return
    for number in range(times):
        for value in data:
            single.offer(int(at(np.int64(number))), 5, Kind.LINK, value)
    for log in (often, single):
        log.advance(int(at(np.int64(times))) - 1)
    assert (often.memory.stored, often.offered, often.lost) == (
        single.memory.stored,
        single.offered,
        single.lost,
    )
    assert often.memory.image().tobytes() == single.memory.image().tobytes()


@given(st.integers(-(10**6), 10**6), st.integers(0, 10**10), st.integers(0, 28 * 10**13))
def test_many_edges_and_cycles_are_those_of_each_alone(ppb: int, phase_fs: int, first: int) -> None:
    clock = Clock("A.link", 78_125_000, ppb, phase_fs)
    numbers = np.array([0, 1, 2, 12_345, 10**9, 5 * 10**11], np.int64)
    edges = clock.edges_ps(first, numbers)
    assert edges.tolist() == [clock.edge_ps(first + int(n)) for n in numbers]
    other = Clock("A.bus", 100_000_000, -ppb, phase_fs // 3)
    assert other.cycles_at(edges).tolist() == [other.cycle_at(int(t)) for t in edges]
    assert all(a < b for a, b in pairwise(edges.tolist()))
