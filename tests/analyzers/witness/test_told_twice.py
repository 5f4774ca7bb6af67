"""A register that another register, or what was recorded, tells otherwise is suspect, with its bit."""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.analyzers.witness.told_twice import apart_finding, told_apart
from tests.analyzers.bench_pair import Pair
from tests.analyzers.conftest import Explain, View
from tests.analyzers.witness.test_witnesses import QUIET, balanced, quiet


def suspected(explained: Explain, pair: Pair, device: str, said: str) -> None:
    first = explained(pair).findings[0]
    assert (first.diagnosis, first.device) == ("recorder-suspect", device)
    assert said in first.text


def test_a_cycle_of_the_freeze_that_the_memories_contradict(
    explained: Explain, tmp_path: Path
) -> None:
    pair, _ = quiet()
    frozen = pair.write(tmp_path / "right.ff").device("B").registers.value("frozen.freeze_cycle_lo")
    assert frozen is not None
    pair.set("B", "frozen.freeze_cycle_lo", value=frozen ^ 1 << 17)
    suspected(explained, pair, "B", "cycles before that. Were bit 17 of it another")


@pytest.mark.parametrize(("later", "other"), [(1, "the closing record of B.rx_deq"), (2, "")])
def test_a_cycle_of_the_freeze_against_one_closing_record_is_a_set_of_both(
    viewed: View, later: int, other: str
) -> None:
    """Of a memory with one burst nothing but its closing record says when that was; two memories say it together."""
    pair = Pair(causes=QUIET)
    pair.set("B", "ctl.generation", value=1)
    pair.send(flow=2, length=20)
    pair.set("B", "frozen.freeze_cycle_lo", value=6202 ^ 1 << 11)
    view = viewed(pair)
    last = [f"B.{name}" for name in ("rx_deq", "event_log")[:later]]
    # All closed with the freeze; move what is not to have closed last back by 3,000 bus cycles.
    view.__dict__["last_times"] = {
        source: (cycle, t_ps, unc_ps)
        if source in last
        else (cycle - 3000, t_ps - 30_000_000, unc_ps)
        for source, (cycle, t_ps, unc_ps) in view.last_times.items()
    }
    (apart,) = [each for each in told_apart(view) if each.register[1] == "frozen.freeze_cycle_lo"]
    assert (apart.device, apart.bits, apart.other) == ("B", (11,), other)
    finding = apart_finding(view, apart)
    assert finding.diagnosis == "recorder-suspect"
    assert ("Or the closing record of B.rx_deq is wrong by as much" in finding.text) is bool(other)


def test_a_cause_whose_counter_stands_at_0(explained: Explain) -> None:
    pair, _ = quiet()
    pair.causes = {"A": ["host"], "B": ["pay-crc"]}
    suspected(
        explained, pair, "B", "ctl.causes is 8, and its payload_errors is 0: pay-crc never came"
    )


def test_a_cause_that_came_when_every_packet_was_right(explained: Explain) -> None:
    pair, hit = quiet(errors=1)
    pair.causes = {"A": ["host"], "B": ["pay-crc"]}
    pair.write_times()
    number = pair.crossings.index(hit)
    end_ps = pair.times[number, "rx_enq"] + len(hit.rx_enq) * 12_800
    pair.cause_cycle["B"] = end_ps // 10_000 + 2
    suspected(explained, pair, "B", "every packet that crossed when pay-crc came is right")


def test_a_cause_that_may_be_of_a_packet_that_left_the_fifo_long_after_it_came_is_no_upset(
    explained: Explain,
) -> None:
    pair, hit = quiet(errors=1)
    pair.causes = {"A": ["host"], "B": ["pay-crc"]}
    hit.lag_ps += 3_000_000
    pair.write_times()
    number = pair.crossings.index(hit)
    del hit.rx_deq[:-1]  # of it only the last word is recorded there
    end_ps = pair.times[number, "rx_enq"] + len(hit.rx_enq) * 12_800
    pair.cause_cycle["B"] = end_ps // 10_000 + 2
    said = " ".join(finding.text for finding in explained(pair).findings)
    assert "every packet that crossed when pay-crc came" not in said


def test_a_count_of_damaged_packets_without_any_and_without_the_cause(explained: Explain) -> None:
    pair, _ = quiet(errors=4)
    pair.set("B", "ctl.cause_mask", value=0xFFFF)
    count_words(pair)
    suspected(
        explained, pair, "B", "payload_errors is 4, and no packet that was recorded is damaged"
    )


@pytest.mark.parametrize(("errors", "told"), [(1, False), (2, True)])
def test_a_packet_whose_end_is_not_recorded_may_be_the_one_that_was_counted(
    explained: Explain, errors: int, told: bool
) -> None:
    pair, _ = quiet(errors=errors)
    last = [crossing for crossing in pair.crossings if crossing.sender == "A"][-1]
    for tap in ("tx_enq", "tx_deq", "rx_enq", "rx_deq"):
        del getattr(last, tap)[1:]
    pair.set("B", "ctl.cause_mask", value=0xFFFF)
    count_words(pair)
    said = " ".join(finding.text for finding in explained(pair).findings)
    assert (f"payload_errors is {errors}, and no packet that was recorded" in said) is told


def test_underflows_that_a_whole_log_has_not(explained: Explain) -> None:
    pair, _ = quiet()
    pair.event("B", 51_000_000, "LINK", "idle_inserted")
    pair.set("B", "frozen.lane.underflows", 1, value=32)
    pair.set("B", "memory.lost", 4, value=0)
    suspected(explained, pair, "B", "0 underflows of lane 1. Were bit 5 of it another")


def test_underflows_of_both_lanes_that_a_whole_log_has_not_came_after_it_had_closed(
    explained: Explain,
) -> None:
    pair, _ = quiet()
    pair.event("B", 51_000_000, "LINK", "idle_inserted")
    for lane in (0, 1):
        pair.set("B", "frozen.lane.underflows", lane, value=5)
    pair.set("B", "memory.lost", 4, value=0)
    assert explained(pair).findings == []


def count_words(pair: Pair) -> None:
    """Count in B what its memory of rx_enq was offered, and no word behind its end."""
    words = sum(len(each.rx_enq) for each in pair.crossings if each.sender == "A")
    packets = sum(each.sender == "A" for each in pair.crossings)
    pair.counter("B", "rx_enq_words", words)
    pair.counter("B", "rx_deq_words", words)
    pair.counter("B", "rx_enq_packets", packets)
    pair.counter("B", "rx_deq_packets", packets)
    pair.counter("B", "rx_fifo_overflows", 0)
    pair.set("B", "memory.offered", 2, value=words)


def test_a_number_that_does_not_follow_the_last_header(explained: Explain) -> None:
    pair, _ = quiet()
    count_words(pair)
    last = max(each.seq for each in pair.crossings if each.sender == "A")
    pair.counter("B", "rx_enq_packets", last + 1)
    pair.counter("B", "rx_deq_packets", last + 1)
    pair.set("B", "frozen.next_seq_in", value=(last + 1) ^ 1 << 12)
    suspected(explained, pair, "B", f"the last header that B.rx_enq recorded has {last}")


# -- counters that are wrong by more than a bit --------------------------------------------------------


def test_a_counter_that_counts_twice_is_named_by_the_laws_it_breaks(explained: Explain) -> None:
    pair = balanced()
    pair.counter("A", "tx_deq_words", 2 * 440)
    suspected(
        explained, pair, "A", "Of A's frozen_counters.tx_deq_words (880), were it 440, every law"
    )


def test_two_counters_in_each_others_place_are_named_together(explained: Explain) -> None:
    pair = balanced()
    for register, value in (("rx_enq_words", 300), ("rx_deq_words", 300), ("rx_fifo_overflows", 0)):
        pair.counter("A", register, value)
    for flow in range(8):
        for name in ("words_received", "received", "freed"):
            pair.set("A", f"frozen_flow.{name}", flow, value=300 if flow == 2 else 0)
    assert explained(pair).findings == []
    pair.counter("A", "rx_enq_words", 440)
    pair.counter("A", "tx_deq_words", 300)
    suspected(explained, pair, "A", "tx_deq_words (300), were it 440")


def test_of_one_broken_law_the_bits_of_its_registers_are_told(explained: Explain) -> None:
    pair = Pair(causes=QUIET)
    pair.traffic(5)
    for device in "AB":
        pair.counter(device, "credits_refused", 0)
        pair.counter(device, "parity_errors", 0)
    pair.counter("A", "parity_errors", 256)
    first = explained(pair).findings[0]
    assert first.diagnosis == "law-broken"
    assert "bit 8 of A's frozen_counters.parity_errors (256)" in first.text
