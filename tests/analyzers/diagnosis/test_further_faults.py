"""The faults of flow control, hosts and DMA: one finding of each, and its look-alike beside it.

Source: the table of faults, and its last paragraph on look-alikes (docs/diagnosis.md).
"""

from __future__ import annotations

import pytest

from tests.analyzers.bench_pair import BODY, BUS_PS, TAIL, Crossing, Pair, tail, words_of
from tests.analyzers.conftest import Explain
from tests.analyzers.diagnosis.test_credit_faults import OVERFLOW, STALL, T0, US, sending
from tests.analyzers.diagnosis.test_word_faults import LEN, busy, candidates, only, said

HOST = {"A": ["host"], "B": ["host"]}
HOST_SOURCE, RX_DMA = 0, 4


# -- credit-too-coarse -----------------------------------------------------------------------------


def in_lumps(lump: int, lag_ps: int) -> Pair:
    """Return a pair in which A waits on flow 2 while 20 packets of 63 words lie ``lag_ps`` in B's FIFO."""
    pair = Pair(causes=HOST)
    sent = [pair.send(flow=2, length=60) for _ in range(20)]
    for crossing in sent[1:]:
        crossing.lag_ps = lag_ps
    pair.write_times()
    arrived_ps = pair.times[19, "rx_enq"] + US
    for n in range(4):
        pair.event("A", arrived_ps + n * US, "PRESSURE", "begin", 17, 2)
        pair.event("A", arrived_ps + n * US + US // 2, "PRESSURE", "end", 100, 2)
    for n in range(1, 7):
        pair.credit(arrived_ps + n * US, lump * n, flow=2)
    freed = 6 * lump
    pair.account("A", 2, sent=freed, credited=freed, limit=1024)
    pair.account("A", 2, received=freed, freed=freed, reported=freed)
    return pair


def test_credits_in_lumps_while_the_fifo_is_empty_are_too_coarse(explained: Explain) -> None:
    finding = only(explained(in_lumps(600, 200_000)).findings)
    assert said(finding) == ("credit-too-coarse", "B", None, "A->B", 2, None, None)
    assert "in lumps of 600 words; its register says 64" in finding.text


def test_the_same_lumps_while_the_fifo_is_full_are_congestion(explained: Explain) -> None:
    assert explained(in_lumps(600, 60 * US)).findings == []


def test_a_fifo_whose_level_was_not_recorded_is_not_an_empty_one(explained: Explain) -> None:
    pair = in_lumps(600, 200_000)
    for crossing in pair.crossings:
        crossing.rx_enq.clear()
        crossing.rx_deq.clear()
    assert [f.diagnosis for f in explained(pair).findings] == []


def test_waits_on_an_empty_fifo_with_fine_credits_are_no_fault(explained: Explain) -> None:
    assert explained(in_lumps(64, 200_000)).findings == []


# -- credit-too-optimistic and wrap-unhandled -------------------------------------------------------


def test_an_excess_across_a_wrap_that_a_constant_explains_too_is_not_decided(
    explained: Explain,
) -> None:
    # 190 words too many in one packet; a sender that waited with 246 free may add up to 268.
    pair = sending(7400, [300, 300, 300, 200], [310, 310, 310, None])
    fitting = candidates(explained(pair).findings)
    assert {"wrap-unhandled", "credit-too-optimistic"} <= set(fitting)


def test_the_freeze_bank_alone_shows_an_excess_before_any_wrap(explained: Explain) -> None:
    pair = Pair(causes=OVERFLOW)
    pair.traffic(8, flow=1)
    pair.account("A", 1, sent=3300, credited=2000, limit=1024, received=3300, freed=2000)
    pair.set("A", "frozen_flow.words_sent", 1, value=3300)
    pair.counter("B", "rx_fifo_overflows", 12)
    finding = only(explained(pair).findings)
    assert said(finding) == ("credit-too-optimistic", "A", None, "A->B", 1, None, None)
    assert "276 more" in finding.text


# -- header-miscounted -----------------------------------------------------------------------------


def miscounted(device: str, short: int, *, packets: int = 40, numbers: int = 40) -> Pair:
    """Return a pair of which one card's flows counted ``short`` words too few; 40 packets went from A to B."""
    pair = Pair()
    pair.traffic(10, flow=1)
    for name in ("words_sent", "words_received"):
        for flow in range(8):
            for end in "AB":
                pair.set(end, f"frozen_flow.{name}", flow, value=0)
    counts = {"A": 6000, "B": 6000}
    counts[device] -= short
    pair.set("A", "frozen_flow.words_sent", 1, value=counts["A"])
    pair.set("B", "frozen_flow.words_received", 1, value=counts["B"])
    pair.counter("A", "tx_deq_words", 6000)
    pair.counter("B", "rx_enq_words", 6000)
    for end, out, into in (("A", packets, 0), ("B", 0, packets)):
        pair.counter(end, "tx_enq_packets", out)
        pair.counter(end, "rx_enq_packets", into)
        pair.counter(end, "header_errors", 0)
        pair.counter(end, "rx_enq_words" if end == "A" else "tx_deq_words", 0)
        pair.set(end, "frozen.next_seq_out", value=numbers if out else 0)
        pair.set(end, "frozen.next_seq_in", value=numbers if into else 0)
    books = {"sent": counts["A"], "credited": counts["B"], "limit": 1024}
    pair.account("A", 1, **books, received=counts["B"], freed=counts["B"], reported=counts["B"])
    pair.causes = OVERFLOW if device == "A" else STALL
    if device == "A":
        pair.counter("B", "rx_fifo_overflows", 3)
    return pair


@pytest.mark.parametrize(("device", "flow"), [("A", None), ("B", 1)])
def test_flows_that_count_fewer_words_than_their_tap_are_miscounted(
    explained: Explain, device: str, flow: int | None
) -> None:
    for ends in ("AB", device):
        finding = only(explained(miscounted(device, 10), ends).findings)
        assert said(finding) == ("header-miscounted", device, None, "A->B", flow, None, None)
        assert "10 words too few stand in its books" in finding.text


def test_one_word_more_at_the_tap_is_enough(explained: Explain) -> None:
    finding = only(explained(miscounted("A", 1)).findings)
    assert finding.diagnosis == "header-miscounted"


@pytest.mark.parametrize("device", ["A", "B"])
def test_flows_that_began_again_after_their_tap_are_not_miscounted(
    explained: Explain, device: str
) -> None:
    fitting = candidates(explained(miscounted(device, 10, numbers=12)).findings)
    assert "header-miscounted" in fitting


# -- interrupts ------------------------------------------------------------------------------------


def interrupted(log: str) -> Pair:
    """Return a pair with events in B's log, written as ``bus cycle, code, value``; a notification is of flow 3."""
    pair = Pair(causes=HOST)
    pair.traffic(4)
    for event in log.split(", "):
        cycle, code, value = event.split()
        kind, source, flow = EVENTS.get(code, ("IRQ", HOST_SOURCE, 0))
        pair.event("B", T0 + int(cycle) * BUS_PS, kind, code, int(value), flow, source)
    return pair


EVENTS = {"remote": ("NOTE", RX_DMA, 3), "tx_dma": ("STATE", RX_DMA, 0)}
HANDLED = "100 remote 7, 100 raised 1, 140 masked 1"
WAITS = f"{HANDLED}, 398 remote 8, 400 enabled 1"


def test_interrupts_on_top_of_one_that_was_not_masked_are_a_storm(explained: Explain) -> None:
    pair = interrupted(
        "0 enabled 0, 100 remote 7, 100 raised 1, 150 remote 8, 150 raised 2, 200 remote 9, 200 raised 3, 400 enabled 0"
    )
    for ends in ("AB", "B"):
        finding = only(explained(pair, ends).findings)
        assert said(finding) == ("interrupt-storm", "B", None, "A->B", None, None, None)
        assert finding.t_ps is not None


def test_a_completion_that_waits_with_the_line_enabled_lost_its_interrupt(
    explained: Explain,
) -> None:
    pair = interrupted(f"0 enabled 0, {WAITS}, 900 remote 9, 900 raised 2")
    for ends in ("AB", "B"):
        finding = only(explained(pair, ends).findings)
        assert said(finding) == ("interrupt-lost", "B", None, "A->B", 3, 8, None)
        assert "the next came 500 bus cycles later" in finding.text


@pytest.mark.parametrize(
    "log",
    [
        pytest.param(
            f"0 enabled 0, {HANDLED}, 150 remote 8, 200 remote 9, 400 enabled 0",
            id="a handler at work while the line is masked",
        ),
        # Nothing was written between the handler's beginning and its enabling of the line.
        pytest.param(f"{HANDLED}, 400 enabled 1, 900 tx_dma 1", id="a bit of the log is wrong"),
        pytest.param(f"{HANDLED}, 400 enabled {1 << 19}, 900 tx_dma 1", id="another bit is wrong"),
        pytest.param(f"{WAITS}, 400 raised 1", id="raised as it is enabled"),
    ],
)
def test_no_interrupt_is_lost(explained: Explain, log: str) -> None:
    assert explained(interrupted(log)).findings == []


@pytest.mark.parametrize(
    ("mask", "waiting", "ground"), [(0, 1, "confirmed"), (0, 0, "eliminated"), (1, 2, "eliminated")]
)
def test_a_lost_interrupt_that_none_followed_is_sure_where_the_line_at_the_freeze_says_so(
    explained: Explain, mask: int, waiting: int, ground: str
) -> None:
    pair = interrupted(f"{WAITS}, 900 tx_dma 1")
    pair.set("B", "frozen.interrupt_mask", value=mask)
    pair.set("B", "frozen.completions_waiting", value=waiting)
    finding = only(explained(pair).findings)
    assert (finding.diagnosis, finding.ground) == ("interrupt-lost", ground)


@pytest.mark.parametrize(("waiting", "name"), [(1, "undetermined"), (2, "interrupt-lost")])
def test_a_line_masked_at_the_freeze_contradicts_a_lost_interrupt_unless_more_came_after_the_log(
    explained: Explain, waiting: int, name: str
) -> None:
    pair = interrupted(f"0 enabled 0, {WAITS}, 900 tx_dma 1")
    pair.set("B", "frozen.interrupt_mask", value=1)
    pair.set("B", "frozen.completions_waiting", value=waiting)
    assert only(explained(pair).findings).diagnosis == name


# -- short-transfers -------------------------------------------------------------------------------


def pointers(addresses: list[int]) -> Pair:
    """Return a pair whose A sends messages of one word to some addresses, and two of 40 words."""
    pair = Pair(causes=HOST)
    for n, address in enumerate(addresses):
        crossing = pair.send(flow=2, length=1)
        write_all(crossing, words_of(2, crossing.seq, [n], address))
    for _ in range(2):
        pair.send(flow=1, length=40)
    return pair


def write_all(crossing: Crossing, words: list[tuple[int, int]]) -> None:
    for tap in crossing.from_tap("tx_enq"):
        tap[:] = words


def test_most_messages_of_one_word_to_two_addresses_are_short_transfers(explained: Explain) -> None:
    pair = pointers([0x1000, 0x2000] * 4)
    for ends in ("AB", "A"):
        finding = only(explained(pair, ends).findings)
        assert said(finding) == ("short-transfers", "A", None, "A->B", None, None, None)
        assert "8 of 10 messages that A sent (80%)" in finding.text
        assert "0x1000 (4 times), 0x2000 (4 times)" in finding.text


def test_as_many_short_messages_to_many_addresses_are_a_load(explained: Explain) -> None:
    assert explained(pointers([0x1000 * n for n in range(1, 9)])).findings == []


# -- split-retry-mishandled ------------------------------------------------------------------------


def resumed_wrongly(events: list[tuple[str, int]]) -> tuple[Pair, Crossing]:
    """Return a pair whose A left payload words 11 and 12 of 40 out; the bus's events and their lengths."""
    pair, _ = busy(causes=LEN)
    short = pair.send(flow=3, length=40)
    body = [data for kind, data in short.tx_enq if kind == BODY]
    del body[11:13]
    for words in short.from_tap("tx_enq"):
        words[2:] = [*((BODY, data) for data in body), (TAIL, tail(body))]
    pair.traffic(4)
    for n, (code, length) in enumerate(events):
        value = length | 1 << 10 | short.seq << 20
        pair.event("A", 45 * US + n * US, "DESC", code, value, 3, 1)
    return pair, short


@pytest.mark.parametrize("code", ["retried", "disconnected"])
def test_words_left_out_where_the_bus_ended_a_read_are_a_retry_gone_wrong(
    explained: Explain, code: str
) -> None:
    pair, short = resumed_wrongly(
        [("posted", 40), ("requested", 40), (code, 29), ("requested", 27)]
    )
    for ends in ("AB", "A"):
        finding = only(explained(pair, ends).findings)
        assert said(finding) == ("split-retry-mishandled", "A", "tx_enq", "A->B", 3, short.seq, 11)
        assert "2 words left out from payload word 11 on" in finding.text


def test_without_an_event_of_the_bus_the_packet_is_known_and_not_the_word(
    explained: Explain,
) -> None:
    pair, short = resumed_wrongly([("posted", 40)])
    finding = only(explained(pair).findings)
    assert said(finding) == ("undetermined", "A", "tx_enq", "A->B", 3, short.seq, None)
    assert finding.candidates == ("split-retry-mishandled", "recorder-suspect")
    assert "no read of this packet was retried" in finding.text
