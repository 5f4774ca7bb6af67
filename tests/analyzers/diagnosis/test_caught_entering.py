"""B.rx_enq is lost from the capture: when B froze tells whether its packet was bad as it came in, or as it left.

Checks at rx_enq and rx_deq have the same causes and counters (docs/formats.md section 3); the cycle of the cause and
those of rx_deq are of one clock.
"""

from __future__ import annotations

from freezeframe.analyzers.contract import Finding
from tests.analyzers.bench_pair import BUS_PS, Crossing, Pair
from tests.analyzers.conftest import Explain
from tests.analyzers.damage import alter
from tests.analyzers.diagnosis.test_word_faults import PAY, only

LINK_CANDIDATES = {"payload-bit-flip", "sync-fifo-empty", "lane-misaligned", "clock-drift"}


def bad_packet(lag_ps: int = 4_000_000) -> tuple[Pair, Crossing, int]:
    """Return a pair whose last packet was altered on the link into B, and the time at which B.rx_deq has its head."""
    pair = Pair(causes=PAY)
    pair.traffic(6)
    hit = pair.send()
    hit.lag_ps = lag_ps
    alter(hit, "rx_enq", 9, 1 << 20)
    pair.write_times()
    return pair, hit, pair.times[6, "rx_deq"]


def lost(pair: Pair, explained: Explain) -> Finding:
    pair.gaps["B", "rx_enq"] = [(0, 2048)]
    return only(explained(pair).findings)


def test_a_cause_before_the_packet_leaves_is_of_the_check_on_its_way_in(explained: Explain) -> None:
    pair, hit, leaves_ps = bad_packet()
    pair.cause_cycle["B"] = leaves_ps // BUS_PS - 50
    pair.counter("B", "payload_errors", 1)
    finding = lost(pair, explained)
    assert (finding.diagnosis, finding.device, finding.tap) == ("undetermined", "B", "rx_enq")
    assert (finding.packet, finding.direction) == (hit.seq, "A->B")
    assert set(finding.candidates) == LINK_CANDIDATES
    assert "B counted it as bad and froze for it before it left the incoming FIFO" in finding.text
    first_word = finding.evidence[0].rows[0]
    assert finding.t_ps is not None
    assert first_word.t_ps is not None
    assert finding.t_ps == first_word.t_ps - 50 * BUS_PS


def test_a_cause_as_its_tail_leaves_may_be_of_either_check(explained: Explain) -> None:
    pair, hit, leaves_ps = bad_packet()
    pair.cause_cycle["B"] = leaves_ps // BUS_PS + len(hit.rx_deq)
    pair.counter("B", "payload_errors", 1)
    finding = lost(pair, explained)
    assert (finding.diagnosis, finding.tap) == ("undetermined", "rx_deq")
    assert "before it left" not in finding.text


def test_without_a_count_of_the_receiver_nothing_is_told_of_the_way_in(explained: Explain) -> None:
    pair, _, leaves_ps = bad_packet()
    pair.cause_cycle["B"] = leaves_ps // BUS_PS - 50
    pair.counter("B", "payload_errors", 0)
    assert "before it left" not in lost(pair, explained).text


def test_a_packet_that_never_left_was_bad_on_the_link_where_its_sender_sent_all_well(
    explained: Explain,
) -> None:
    pair, hit, leaves_ps = bad_packet()
    hit.rx_deq.clear()
    pair.cause_cycle["B"] = leaves_ps // BUS_PS - 50
    pair.counter("B", "payload_errors", 1)
    finding = lost(pair, explained)
    assert (finding.device, finding.tap, finding.direction) == ("B", "rx_enq", "A->B")
    assert set(finding.candidates) == LINK_CANDIDATES
    assert "It came in bad: nothing that left B's incoming FIFO in that cycle is." in finding.text
    assert "No packet that A sent was bad at A.tx_deq." in finding.text
