"""A card as a source: its snapshot, its recorder's state, nothing written, nothing read twice."""

from __future__ import annotations

import time

import pytest

from freezeframe.capture.counters.card import CardSource
from freezeframe.capture.counters.reader import SourceReader
from freezeframe.capture.counters.sources import open_source
from freezeframe.capture.errors import TargetError
from freezeframe.capture.registers import names
from freezeframe.capture.registers.map_table import COUNTER_DOCS, COUNTERS
from tests.capture.recorder.fake_recorder import BadWay, FakeRecorder
from tests.capture.serving import serving


def with_counters(recorder: FakeRecorder, seq: int, first: int) -> None:
    """Make the bank of ``seq`` hold first, first + 1, ... with bit 40 set, and then current."""
    for device in range(2):
        for number, name in enumerate(COUNTERS):
            recorder.set(device, f"snapshot.{name}.lo", first + number, seq & 1)
            recorder.set(device, f"snapshot.{name}.hi", 1 << 8, seq & 1)
        recorder.set(device, "ctl.snapshot_seq", seq)


def test_a_sample_holds_every_counter_of_the_map_for_every_device() -> None:
    recorder = FakeRecorder(frozen=False)
    with_counters(recorder, 6, 1000)
    with serving(recorder) as url:
        source = open_source(url)
        sample = source.read()
        source.close()
    for device in "AB":
        for number, name in enumerate(COUNTERS):
            assert sample.values[f"{device}.{name}"] == 1000 + number + (1 << 40)
            described = source.counters[f"{device}.{name}"]
            assert described.help == COUNTER_DOCS[name]
            assert described.labels == (("device", device),)
    assert source.counters["A.tx_enq_words"].unit == "words"
    assert sample.values["A.memory.tx_enq.stored"] == recorder.get(0, "memory.stored", 0)
    assert [state.state for state in sample.recorders] == ["armed", "armed"]
    assert sample.facts == {}


def test_reading_writes_nothing() -> None:
    recorder = FakeRecorder()
    with serving(recorder) as url:
        source = open_source(url)
        for _ in range(3):
            source.read()
        source.close()
    assert recorder.writes == []


def test_a_bank_is_read_again_only_when_the_card_has_made_a_new_snapshot() -> None:
    recorder = FakeRecorder(frozen=False)
    with_counters(recorder, 6, 1000)
    at = names.offset("snapshot.tx_enq_words.lo", 0)
    with serving(recorder) as url:
        source = open_source(url)
        source.read()
        recorder.keep_reads = True
        source.read()
        assert not [
            address for call in recorder.reads for address in call if address & 0xFFFFFF == at
        ]
        with_counters(recorder, 8, 2000)
        assert source.read().values["A.tx_enq_words"] == 2000 + (1 << 40)
        assert [address for call in recorder.reads for address in call if address & 0xFFFFFF == at]
        source.close()


def test_a_card_that_was_powered_up_anew_is_read_anew_even_with_the_same_snapshot_number() -> None:
    recorder = FakeRecorder(frozen=False)
    with_counters(recorder, 6, 1000)
    with serving(recorder) as url:
        source = open_source(url)
        source.read()
        with_counters(recorder, 6, 1)
        recorder.set(0, "id.boot_nonce", 0x77)
        assert source.read().values["A.tx_enq_words"] == 1 + (1 << 40)
        source.close()


def test_counts_are_dated_by_the_cards_clock_of_which_it_takes_a_snapshot_every_so_many_cycles() -> (
    None
):
    """4,096 cycles of 100 MHz between snapshots (ctl.snapshot_log2), of which this host sees only some."""
    recorder = FakeRecorder(frozen=False)
    for device in range(2):
        recorder.set(device, "ctl.snapshot_log2", 12)
        recorder.set(device, "id.clk_bus", 100_000_000)
    taken_ns = []
    with serving(recorder) as url:
        source = open_source(url)
        for seq in (0xFFFF_FFFE, 0xFFFF_FFFF, 4):  # its number has 32 bits
            with_counters(recorder, seq, seq & 0xFF)
            taken_ns.append(source.read().own_ns["B.rx_enq_words"])
        recorder.set(1, "ctl.snapshot_log2", 13)  # since when is not known
        with_counters(recorder, 6, 500)
        taken_ns.append(source.read().own_ns["B.rx_enq_words"])
        source.close()
    assert taken_ns == [0, 40_960, 40_960 + 5 * 40_960, 40_960 + 5 * 40_960]


def test_a_frozen_card_tells_its_state_machines_fifos_and_flows_without_credit() -> None:
    recorder = FakeRecorder()
    for index, state in enumerate((0, 5, 6, 99)):
        recorder.set(0, "frozen.machine", state, index)
    recorder.set(0, "frozen.tx_level", 40)
    for flow in range(8):
        recorder.set(0, "frozen_flow.limit", 512, flow)
        recorder.set(0, "frozen_flow.sent", 100, flow)
        recorder.set(0, "frozen_flow.credited", 90, flow)
    recorder.set(
        0, "frozen_flow.sent", 5, 3
    )  # counters of 14 bits: 5 - 15,877 is 512 words further on
    recorder.set(0, "frozen_flow.credited", (1 << 14) - 507, 3)
    with serving(recorder) as url:
        source = open_source(url)
        sample = source.read()
        source.close()
    assert (
        sample.facts["A froze in"] == "tx_dma idle, rx_dma wait_credit, tx_link stopped, rx_link 99"
    )
    assert sample.facts["A out of credit"] == "flow 3 (512 of 512 words outstanding)"
    assert sample.values["A.frozen.tx_level"] == 40
    assert sample.recorders[0].causes == ("pay-crc",)


def test_the_laws_of_a_card_take_the_depths_it_tells() -> None:
    with serving(FakeRecorder()) as url:
        source = CardSource(url)
        source.close()
    assert {law.name: law.most for law in source.laws if law.name.endswith("words")} == {
        "A outgoing FIFO, words": 1024,
        "A incoming FIFO, words": 4096,
        "B outgoing FIFO, words": 1024,
        "B incoming FIFO, words": 4096,
    }


def test_a_card_that_loses_its_power_is_gone_and_comes_back_by_itself() -> None:
    way = BadWay(FakeRecorder(frozen=False))
    with serving(way) as url:
        reader = SourceReader(open_source(url), lambda: open_source(url), 0.02)
        reader.start()
        for dark in (False, True, False):
            way.all_ones = dark
            end = time.monotonic() + 20
            while (reader.trouble is not None) != dark or not reader.last:
                assert time.monotonic() < end
                time.sleep(0.01)
            if dark:
                assert "all ones" in str(reader.trouble)
                assert reader.last.recorders[0].state == "armed"
        reader.stop()


def test_a_card_that_does_not_answer_is_a_target_error() -> None:
    with pytest.raises(TargetError):
        open_source("etherbone://127.0.0.1:1?timeout=0.2")
