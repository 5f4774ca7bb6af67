"""A stall is answered as a stall: which part of which card stopped, since when, what waits, which register says so.

Source: docs/diagnosis.md, "Stalls".
"""

from __future__ import annotations

import pytest

from tests.analyzers.bench_pair import Pair
from tests.analyzers.conftest import Explain
from tests.analyzers.diagnosis.test_word_faults import only, said

US = 1_000_000
IDLE, FETCH, DATA, WAIT_CREDIT, STOPPED = 0, 1, 3, 5, 6
TX_DMA, RX_DMA, TX_LINK = 0, 1, 2
PACKET = 23  # words of a packet with 20 words of payload


def packets_and_one_more(*gone: str) -> Pair:
    """Return a pair whose last packet, sequence number 110 of flow 2, did not cross the taps ``gone``."""
    pair = Pair(post_ps=400 * US)
    for _ in range(11):
        last = pair.send(flow=2)
    for tap in gone:
        getattr(last, tap).clear()
    return pair


def left_in_b(state: int) -> Pair:
    pair = packets_and_one_more("rx_deq")
    pair.set("B", "frozen.rx_level", value=PACKET)
    pair.set("B", "frozen.machine", RX_DMA, value=state)
    return pair


def left_in_a(state: int, limit: int) -> Pair:
    pair = packets_and_one_more("tx_deq", "rx_enq", "rx_deq")
    pair.set("A", "frozen.tx_level", value=PACKET)
    pair.set("A", "frozen.machine", TX_LINK, value=state)
    pair.account("A", 2, sent=230, credited=230, limit=limit, received=230, freed=230, reported=230)
    return pair


def test_a_receive_engine_that_is_idle_before_a_packet_contradicts_itself(
    explained: Explain,
) -> None:
    finding = only(explained(left_in_b(IDLE)).findings)
    assert said(finding) == ("none-of-the-known", "B", None, "A->B", 2, None, None)
    assert "B's receive DMA engine moved nothing since" in finding.text
    assert "23 words wait for it (frozen.rx_level 23). It is idle" in finding.text


def test_a_receive_engine_that_its_host_stopped_is_no_fault(explained: Explain) -> None:
    found = explained(left_in_b(STOPPED))
    assert (found.findings, found.stopped) == ([], "B")
    assert found.answer == "stalled, and no fault found"
    assert "Its host had stopped it (state stopped)." in found.stalls[0]


def test_a_receive_engine_with_words_and_no_bus_waits_for_the_bus(explained: Explain) -> None:
    found = explained(left_in_b(DATA))
    assert (found.findings, found.stopped) == ([], "B")
    assert found.stalls[0].startswith("A->B: B's bus moved nothing since")


def test_a_packet_of_which_more_is_to_come_stalls_nobody(explained: Explain) -> None:
    pair = left_in_b(IDLE)
    for tap in ("rx_enq", "tx_deq", "tx_enq"):
        del getattr(pair.crossings[-1], tap)[-1]
    found = explained(pair)
    assert (found.findings, found.stopped) == ([], None)


def test_a_state_that_was_not_read_is_no_evidence(explained: Explain) -> None:
    pair = left_in_b(IDLE)
    pair.unread.add(("B", "frozen.machine", RX_DMA))
    found = explained(pair)
    assert (found.findings, found.stopped) == ([], "B")
    assert "Which state it was in was not read." in found.stalls[0]


def test_a_transmitter_with_a_whole_packet_and_credit_for_it_contradicts_itself(
    explained: Explain,
) -> None:
    finding = only(explained(left_in_a(IDLE, limit=PACKET)).findings)
    assert said(finding) == ("none-of-the-known", "A", None, "A->B", 2, None, None)
    assert "its 23 words fit the 23 that it may send" in finding.text


def test_a_transmitter_without_credit_waits_for_it(explained: Explain) -> None:
    found = explained(left_in_a(WAIT_CREDIT, limit=PACKET - 1))
    assert (found.findings, found.stopped) == ([], None)


def fetching(received_later: bool) -> Pair:
    pair = Pair(post_ps=400 * US)
    pair.traffic(10)
    if received_later:
        pair.send("B", length=40).gap_ps = 300 * US
    names = {"descriptor_length": 30, "tx_level": 0, "descriptors_waiting": 4, "dma_remaining": 30}
    for name, value in names.items():
        pair.set("A", f"frozen.{name}", value=value)
    pair.set("A", "frozen.machine", TX_DMA, value=FETCH)
    pair.event("A", 40 * US, "DESC", "posted", source=0)
    return pair


def test_an_engine_that_does_not_fetch_while_its_bus_carries_words_contradicts_itself(
    explained: Explain,
) -> None:
    finding = only(explained(fetching(received_later=True)).findings)
    assert said(finding)[:4] == ("none-of-the-known", "A", None, "A->B")
    assert "holds 0, and the bus carried 43 words meanwhile" in finding.text


def test_an_engine_that_does_not_fetch_on_a_silent_bus_waits_for_the_bus(
    explained: Explain,
) -> None:
    found = explained(fetching(received_later=False))
    assert (found.findings, found.stopped) == ([], "A")
    assert "A's bus moved nothing" in found.stalls[0]


@pytest.mark.parametrize(
    ("posts", "answer"), [(8, "stalled, and no fault found"), (2, "no fault found")]
)
def test_a_host_that_stopped_posting_is_told_from_one_that_never_did_much(
    explained: Explain, posts: int, answer: str
) -> None:
    pair = Pair(post_ps=400 * US)
    pair.traffic(10)
    for device in "AB":
        pair.set(device, "frozen.descriptors_waiting", value=0)
        pair.set(device, "frozen.machine", TX_DMA, value=IDLE)
    for n in range(posts):
        pair.event("A", (40 + 2 * n) * US, "DESC", "posted", source=0)
    found = explained(pair)
    assert (found.findings, found.stopped, found.answer) == ([], "A", answer)
    assert "A's host posted nothing since" in found.stalls[0]


# -- credits that are refused, or late ---------------------------------------------------------------


def refusing(count: int) -> Pair:
    """Return a pair in which A refuses credits of flow 1 for their CRC and takes those of flow 2."""
    pair = Pair(post_ps=100 * US)
    pair.traffic(10, flow=1)
    for n in range(8):
        pair.credit((60 + n) * US, 64 * n, flow=2)
    for n in range(count):
        pair.credit((60 + n) * US, 64 * n, flow=1, flip=3)
        refused = pair.events["A"][-1]
        refused.data = refused.data & ~(0xFF << 56) | 4 << 56
    pair.counter("A", "credits_refused", count)
    pair.counter("A", "parity_errors", 0)
    return pair


def test_a_refused_credit_among_good_ones_was_changed_by_the_line(explained: Explain) -> None:
    finding = only(explained(refusing(1)).findings)
    assert said(finding) == ("none-of-the-known", "A", None, "A->B", None, None, None)


def test_where_every_credit_of_one_flow_is_refused_their_maker_is_wrong(explained: Explain) -> None:
    finding = only(explained(refusing(5)).findings)
    assert said(finding) == ("none-of-the-known", "B", None, "A->B", 1, None, None)
    assert "A refused 5 credits from B for a bad CRC: every one of flow 1" in finding.text


def test_credits_that_come_late_from_one_on_are_told_with_the_usual_time(
    explained: Explain,
) -> None:
    pair = Pair(post_ps=100 * US)
    pair.traffic(10, flow=1)
    for n in range(8):
        pair.credit((60 + n) * US, 64 * (n + 1), flow=1)
        if n >= 4:
            pair.events["A"][-1].t_ps += 30 * US
    finding = only(explained(pair).findings)
    assert said(finding) == ("none-of-the-known", "B", None, "A->B", 1, None, None)
    assert "took 30.495 µs or more from B's log to A's since 14.005 µs" in finding.text
    assert "nothing took more than 495 ns" in finding.text
