"""dma: reads, interrupts and transfers from event logs, literal by literal, and of the emulated pair."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.declarations import DMA
from freezeframe.analyzers.dma.analysis_code import dma
from freezeframe.analyzers.dma.interrupts import Interrupts, LogRow, device_rows, interrupts_in
from freezeframe.analyzers.dma.rates import longest_burst
from freezeframe.analyzers.dma.reads import reads_in
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.code import Code
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.target import EmulatorTarget
from tests.analyzers.bench_pair import Pair

IDLE, FETCH, SPLIT_WAIT, DATA = 0, 1, 2, 3  # formats.toml, machine_state
LENGTH = 16


def row(cycle: int, kind: str, code: str, value: int = 0) -> LogRow:
    return LogRow(cycle, cycle * 10_000, cycle, kind, code, 0, value)


def state(cycle: int, new: int) -> LogRow:
    return row(cycle, "STATE", "tx_dma", new)


def desc(cycle: int, code: str, seq: int = 7, length: int = LENGTH, flags: int = 0) -> LogRow:
    return row(cycle, "DESC", code, length | 1 << 10 | flags << 16 | seq << 20)


def one_read(begin: int, seq: int = 7) -> list[LogRow]:
    """A read of 16 words: taken at ``begin``, accepted 8 later, split 50, completion 4, data."""
    return [
        state(begin, FETCH),
        state(begin + 8, SPLIT_WAIT),
        state(begin + 58, DATA),
        desc(begin + 60, "started", seq),
        desc(begin + 79, "done", seq),
    ]


def test_a_read_is_split_into_arbitration_first_word_and_data() -> None:
    read = reads_in([desc(90, "done", 6), *one_read(100)])[0]
    assert (read.seq, read.length_words, read.split_cycles) == (7, LENGTH, (50,))
    assert (read.fetch, read.request, read.data, read.done) == (100, 108, 162, 179)
    assert (read.arbitration_cycles, read.first_word_cycles, read.start_cycles) == (8, 54, 62)
    assert (read.is_smooth, read.cycles) == (True, 62 + LENGTH)


def test_a_retry_and_a_disconnect_are_counted_and_such_a_read_is_not_smooth() -> None:
    rows = [
        desc(90, "done", 6),
        state(100, FETCH),
        desc(108, "retried", length=16),
        state(120, SPLIT_WAIT),
        state(170, DATA),
        desc(172, "started"),
        desc(180, "disconnected", length=10),
        state(180, FETCH),
        state(188, SPLIT_WAIT),
        state(240, DATA),
        desc(255, "done"),
    ]
    read = reads_in(rows)[0]
    assert (read.retries, read.disconnects, read.split_cycles) == (1, 1, (50, 52))
    assert (read.is_smooth, read.cycles) == (False, None)


def test_a_read_of_which_events_were_lost_is_not_measured() -> None:
    rows = [desc(90, "done", 6), *one_read(100)]
    rows.insert(3, row(120, "LOSS", "", 4))
    read = reads_in(rows)[0]
    assert (read.certain, read.cycles) == (False, None)


def test_what_the_card_makes_itself_is_no_read_of_host_memory() -> None:
    pattern = [
        state(100, FETCH),
        state(101, DATA),
        desc(102, "started"),
        desc(110, "done", flags=4),
    ]
    assert [read.from_host for read in reads_in([desc(90, "done", 6), *pattern])] == [False]


def test_reads_that_overlap_are_counted_but_their_waits_are_not_told_apart() -> None:
    """The second is asked for while the first waits: which request a completion answers is not recorded."""
    rows = [
        desc(90, "done", 6), state(100, FETCH), state(108, SPLIT_WAIT), state(110, FETCH),
        state(118, SPLIT_WAIT), state(158, DATA), desc(160, "started", 7), state(179, SPLIT_WAIT),
        desc(179, "done", 7), state(190, DATA), desc(192, "started", 8), desc(211, "done", 8),
    ]  # fmt: skip
    found = reads_in(rows)
    assert [(r.seq, r.overlapped, r.split_cycles, r.cycles) for r in found] == [
        (7, True, (), None), (8, True, (), None),
    ]  # fmt: skip
    assert all(read.from_host for read in found)


def test_reads_that_the_recording_cuts_are_left_out() -> None:
    assert reads_in(one_read(100)) == ()
    assert len(reads_in([*one_read(100), *one_read(300, 8), state(500, FETCH)])) == 1


# -- interrupts ------------------------------------------------------------------------------------


def note(cycle: int) -> LogRow:
    return row(cycle, "NOTE", "remote")


def irq(cycle: int, code: str, waiting: int = 0) -> LogRow:
    return row(cycle, "IRQ", code, waiting)


def told(rows: Sequence[LogRow], end: int = 100_000) -> Interrupts:
    return interrupts_in([*rows, state(end, IDLE)])


HEALTHY = [
    irq(0, "enabled"), note(100), irq(100, "raised", 1), note(150), irq(300, "masked", 2),
    note(310), irq(400, "enabled"), note(500), irq(500, "raised", 1), irq(700, "masked", 1),
    irq(800, "enabled"),
]  # fmt: skip


def test_a_healthy_handler_takes_several_completions_with_one_interrupt() -> None:
    found = told(HEALTHY)
    assert (found.completions, found.raised, found.per_completion) == (4, 2, 0.5)
    assert (found.again, found.lost, found.response_cycles) == ((), (), (200, 200))


def test_an_interrupt_on_top_of_one_that_was_not_masked_while_two_wait_is_a_storm() -> None:
    rows = [
        irq(0, "enabled"), note(100), irq(100, "raised", 1), note(120), irq(120, "raised", 2),
        note(140), irq(140, "raised", 3), irq(400, "enabled"),
    ]  # fmt: skip
    assert [r.cycle for r in told(rows).again] == [120, 140]


def test_a_completion_present_at_the_enabling_without_an_interrupt_is_lost_until_the_next() -> None:
    rows = [
        irq(0, "enabled", 1), note(900), irq(900, "raised", 2), irq(1100, "masked", 2),
        irq(1200, "enabled"),
    ]  # fmt: skip
    lost = told(rows).lost
    assert [(one.cause.cycle, one.raised and one.raised.cycle) for one in lost] == [(0, 900)]


@pytest.mark.parametrize("delay", [0, 1])  # of the line behind the completion that raises it
def test_a_lost_interrupt_is_seen_when_the_next_completion_comes_two_cycles_later(
    delay: int,
) -> None:
    rows = [irq(0, "enabled", 1), note(2), irq(2 + delay, "raised", 2)]
    assert [one.cause.cycle for one in told(rows).lost] == [0]
    # From its enabling the line may take a cycle longer; without a completion of its own the interrupt may come later.
    assert told([irq(0, "enabled", 1), note(1), irq(1 + delay, "raised", 2)]).lost == ()
    assert told([irq(0, "enabled", 1), irq(3 + delay, "raised", 1)]).lost == ()


LOST: dict[str, tuple[list[LogRow], list[int]]] = {
    "interrupted for at once as it comes with the enabling": (
        [irq(0, "enabled", 1), irq(0, "raised", 1), irq(200, "masked", 1), irq(300, "enabled")], []
    ),
    "counted at the enabling it came with": (
        [irq(0, "enabled", 1), note(0), note(900), irq(900, "raised", 2)], [0]
    ),
    "waited at the enabling and not at the next interrupt: never so many": (
        [irq(0, "enabled", 128), note(900), irq(900, "raised", 1)], []
    ),
    "waited at the enabling and not at the next interrupt: one bit": (
        [irq(0, "enabled", 1), note(900), irq(900, "raised", 1)], []
    ),
    "nothing, raised late for the completion that was due": (
        [irq(0, "enabled"), note(100), irq(108, "raised", 1), irq(300, "masked", 1)], []
    ),
    "due, and raised for with the next one": (
        [irq(0, "enabled"), note(100), note(900), irq(900, "raised", 2)], [100]
    ),
    "unknown where events were lost": (
        [irq(0, "enabled", 1), row(5, "LOSS", "", 2), note(900), irq(900, "raised", 2)], []
    ),
    "nothing is missed before the first enabling": (
        [note(10), note(900), irq(901, "raised", 5), irq(1000, "enabled")], []
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", LOST)
def test_a_completion_is_lost_when_it_waited_and_no_interrupt_came_for_it(what: str) -> None:
    rows, lost = LOST[what]
    assert [one.cause.cycle for one in told(rows).lost] == lost


def test_a_lost_interrupt_that_nothing_follows_is_told_only_when_the_recording_goes_on() -> None:
    rows = [irq(0, "enabled", 1)]
    assert [one.raised for one in told(rows, 1000).lost] == [None]
    assert told(rows, 4).lost == ()


def test_a_card_that_interrupts_for_local_notifications_has_them_as_completions_too() -> None:
    rows = [
        irq(0, "enabled"), row(100, "NOTE", "local"), irq(101, "raised", 1), irq(300, "masked", 1),
        irq(400, "enabled"), note(500), irq(501, "raised", 1), irq(700, "masked", 1),
        irq(800, "enabled"),
    ]  # fmt: skip
    found = told(rows)
    assert (found.with_local, found.completions, found.per_completion) == (True, 2, 1.0)
    without = told([*HEALTHY, row(900, "NOTE", "local")])
    assert (without.with_local, without.completions) == (False, 4)


def test_a_completion_that_the_card_counts_and_the_host_never_takes_makes_fruitless_handlers() -> (
    None
):
    rows = []
    for begin in (0, 218, 436):
        rows += [
            irq(begin, "enabled", 1),
            irq(begin + 1, "raised", 1),
            irq(begin + 203, "masked", 1),
        ]
    found = told([*rows, irq(654, "enabled", 1)])
    assert (found.fruitless, found.raised, found.completions) == (3, 3, 0)
    assert told(HEALTHY).fruitless == 0


# -- rates -----------------------------------------------------------------------------------------


def test_the_longest_burst_is_the_longest_run_of_consecutive_cycles() -> None:
    cycles = np.array([1, 2, 3, 9, 10, 11, 12, 20, 22], np.int64)
    assert longest_burst(cycles) == (3, 7)
    assert longest_burst(cycles[:0]) == (0, 0)


# -- captures --------------------------------------------------------------------------------------


def analysed(pair: Pair, tmp_path: Path) -> AnalysisResult:
    return dma(CaptureView(pair.write(tmp_path / "pair.ff")))


def transfers(pair: Pair, lost: set[int] = frozenset(), untold: set[int] = frozenset()) -> None:  # type: ignore[assignment]
    """Post, finish and tell 8 transfers of A, 50 us apart, but for those that are left out."""
    for seq in range(8):
        begin_ps = 70_000_000 + 50_000_000 * seq
        value = 4 | 1 << 10 | 1 << 16 | seq << 20  # NOTIFY_LOCAL
        pair.event("A", begin_ps, "DESC", "posted", value, 1, 0)
        if seq in lost:
            continue
        pair.event("A", begin_ps + 600_000, "DESC", "started", value, 1, 1)
        pair.event("A", begin_ps + 700_000, "DESC", "done", value, 1, 1)
        if seq not in untold:
            pair.event("A", begin_ps + 800_000, "NOTE", "local", seq, 1, 1)


def test_transfers_are_followed_from_posting_to_notification(tmp_path: Path) -> None:
    pair = Pair()
    transfers(pair)
    result = analysed(pair, tmp_path)
    assert result.figure("A.ring_wait.mean").value == 600.0
    assert result.figure("A.transfer.mean").value == 100.0
    assert result.figure("A.notification.local.mean").value == 100.0
    for name in ("never_done", "never_told", "waiting"):
        assert result.figure(f"A.handles.{name}").value == 0
    table = result.tables["transfers"]
    assert table[table["side"] == "sent"]["seq"].tolist() == list(range(8))


@pytest.mark.parametrize(
    ("left_out", "never_done", "never_told", "waiting"),
    [({"lost": {3}}, 1, 0, 0), ({"untold": {4}}, 0, 1, 0), ({"lost": {6, 7}}, 0, 0, 2)],
    ids=["later ones overtook it", "done and not told", "the last ones wait"],
)
def test_a_handle_that_is_not_given_back_is_told_by_how_far_it_came(
    tmp_path: Path, left_out: dict[str, set[int]], never_done: int, never_told: int, waiting: int
) -> None:
    pair = Pair()
    transfers(pair, **left_out)
    result = analysed(pair, tmp_path)
    (numbers,) = left_out.values()
    wanted = {"never_done": never_done, "never_told": never_told, "waiting": waiting}
    for name, count in wanted.items():
        found = result.figure(f"A.handles.{name}")
        assert found.value == count
        if count == 1:
            assert found.note == f"packets {min(numbers)}"


def test_nothing_is_said_to_be_missing_from_a_log_that_lost_events(tmp_path: Path) -> None:
    pair = Pair()
    transfers(pair, lost={3})
    pair.event("A", 200_000_000, "LOSS", "", 3)
    assert analysed(pair, tmp_path).figure("A.handles.never_done").value is None


def test_bus_efficiency_is_data_cycles_of_owned_cycles(tmp_path: Path) -> None:
    pair = Pair()
    pair.traffic(2)
    pair.counter("A", "bus_cycles", 1154)
    pair.counter("A", "bus_data_cycles", 1024)
    result = analysed(pair, tmp_path)
    assert result.figure("A.bus.efficiency").value == pytest.approx(100 * 512 / 577)
    assert result.figure("B.bus.efficiency").value is None
    assert "was not read" in result.figure("B.bus.owned").note


def test_a_kind_that_was_switched_off_is_told(tmp_path: Path) -> None:
    pair = Pair()
    pair.traffic(2)
    pair.set("A", "ctl.kinds", 4, value=0xFFFF & ~(1 << 7))
    assert any("A: its event log did not record IRQ" in n for n in analysed(pair, tmp_path).notes)


def emulated(
    tmp_path: Path, fault: str, seed: int, run_ps: int | None = None
) -> tuple[EmulatorTarget, AnalysisResult]:
    target = EmulatorTarget("forth", fault, seed, None, nonce=1)
    if run_ps is None:
        target.run_until_evident(40_000_000_000)
    else:
        target.advance(run_ps)
    pull(target, tmp_path / "emu.ff", freeze=True)
    return target, dma(CaptureView(CaptureFolder.open(tmp_path / "emu.ff")))


@pytest.mark.parametrize("seed", range(6))
def test_a_clean_pair_has_no_finding_and_gives_every_handle_back(tmp_path: Path, seed: int) -> None:
    _, result = emulated(tmp_path, "none", seed, 600_000_000)
    assert result.findings == ()
    for device in "AB":
        for name in ("handles.never_done", "handles.never_told", "received.never_told"):
            assert result.figure(f"{device}.{name}").value == 0


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_an_interrupt_storm_of_the_pair_is_found_at_the_receiver(tmp_path: Path, seed: int) -> None:
    _, result = emulated(tmp_path, "interrupt-storm", seed)
    assert {(f.diagnosis, f.device) for f in result.findings} == {("interrupt-storm", "B")}
    rows = result.findings[0].evidence[0].rows
    assert all(row.value is not None and row.value >= 2 for row in rows)


def test_reads_of_the_pair_take_what_its_profile_says_a_bus_takes(tmp_path: Path) -> None:
    """An oracle of its own: split waits of 45 to 60 cycles, 8 before, 4 behind, a word a cycle."""
    target, result = emulated(tmp_path, "none", 5, 900_000_000)
    profile = target.pair.nics[0].profile
    reads = result.tables["reads"]
    smooth = reads[reads["cycles"].notna()]
    assert len(smooth) > 10
    least = (
        profile.bus_overhead_cycles + profile.bus_split_min_cycles + profile.bus_completion_cycles
    )  # fmt: skip
    assert (smooth["cycles"] >= smooth["length_words"] + least).all()
    assert (smooth["first_split_cycles"] >= profile.bus_split_min_cycles).all()
    assert ((smooth["done_cycle"] - smooth["data_cycle"]) == smooth["length_words"] + 1).all()


def test_the_peaks_are_a_word_a_cycle_of_each_clock(tmp_path: Path) -> None:
    """FORTH section 2.6: 762.9 and 596 MB/s; clocks deviate by up to 100 ppm and are measured."""
    _, result = emulated(tmp_path, "none", 5, 900_000_000)
    assert result.figure("A.tx_enq.peak").value == pytest.approx(762.9, rel=3e-4)
    link = result.figure("A.tx_deq.peak")
    assert link.value == pytest.approx(596.0, rel=5e-4)
    assert link.uncertainty is not None


def test_the_analysis_is_what_the_entry_point_says() -> None:
    assert isinstance(DMA.run, Code)
    assert (DMA.id, DMA.run.loaded) == ("dma", dma)


@pytest.mark.parametrize("seed", [1, 6])
def test_cutting_a_clean_log_anywhere_never_makes_a_finding(tmp_path: Path, seed: int) -> None:
    """A recording may begin and end anywhere; what is not in it is not missing."""
    target = EmulatorTarget("forth", "none", seed, None, nonce=1)
    target.advance(600_000_000)
    pull(target, tmp_path / "emu.ff", freeze=True)
    view = CaptureView(CaptureFolder.open(tmp_path / "emu.ff"))
    draw = random.Random(seed)
    for device in "AB":
        rows = device_rows(view.trace, device)
        for _ in range(150):
            begin, end = sorted((draw.randrange(len(rows)), draw.randrange(len(rows) + 1)))
            cut = rows[begin:end]
            found = interrupts_in(cut)
            assert (found.again, found.lost, found.fruitless) == ((), (), 0)
