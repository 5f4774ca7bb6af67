"""The four faults of flow control, their look-alikes, and the stalls that are healthy.

Source: the table of faults, and its last paragraph on look-alikes (docs/diagnosis.md).
"""

from __future__ import annotations

import pytest

from freezeframe.analyzers.credits.flow_history import flow_history
from freezeframe.analyzers.credits.ledger import credit_accounts, departures
from tests.analyzers.bench_pair import BUS_PS, Crossing, Pair
from tests.analyzers.conftest import Explain, View
from tests.analyzers.diagnosis.test_word_faults import candidates, only, said

PARITY = {"A": ["credit-parity"], "B": ["cross"]}
STALL = {"A": ["credit-stall"], "B": ["cross"]}
OVERFLOW = {"A": ["cross"], "B": ["rx-ovf"]}
MODULUS = 8192  # of a FIFO of 2048 words
US = 1_000_000
T0 = 60 * US


# -- credit-corrupted ----------------------------------------------------------------------------


def with_refused_credit(flip: int) -> Pair:
    pair = Pair(causes=PARITY)
    pair.traffic(10, flow=3)
    pair.credit(T0, 1024, flow=3)
    pair.credit(T0 + US, 1088, flow=3, flip=flip)
    pair.account(
        "A", 3, sent=1200, credited=1024, limit=1024, received=1200, freed=1100, reported=1088
    )
    pair.counter("A", "parity_errors", 1)
    pair.counter("A", "credits_refused", 1)
    return pair


@pytest.mark.parametrize(
    "bit", [9, 15, 16, 22, 39], ids=["flow", "parity", "freed", "freed", "top"]
)
def test_a_credit_refused_for_its_parity_was_corrupted_at_the_receiver(
    explained: Explain, bit: int
) -> None:
    finding = only(explained(with_refused_credit(1 << bit)).findings)
    assert said(finding) == ("credit-corrupted", "B", None, "A->B", 3, None, None)
    assert f"differs in bit {bit} " in finding.text


@pytest.mark.parametrize("bit", [22, 9], ids=["freed", "flow: the one in use is meant"])
def test_from_the_sender_alone_the_refusal_is_enough(explained: Explain, bit: int) -> None:
    finding = only(explained(with_refused_credit(1 << bit), "A").findings)
    assert said(finding) == ("credit-corrupted", "B", None, "A->B", 3, None, None)


def test_from_the_sender_alone_two_flows_one_bit_apart_are_not_told_apart(
    explained: Explain,
) -> None:
    pair = with_refused_credit(1 << 9)
    pair.traffic(3, flow=1)
    pair.account("A", 1, sent=90, credited=0, limit=1024)
    finding = only(explained(pair, "A").findings)
    assert said(finding) == ("credit-corrupted", "B", None, "A->B", None, None, None)
    assert only(explained(pair).findings).flow == 3


def test_from_the_receiver_alone_a_corrupted_credit_cannot_be_told(explained: Explain) -> None:
    fitting = candidates(explained(with_refused_credit(1 << 22), "B").findings)
    assert {"credit-corrupted", "credit-lost", "none"} <= set(fitting)


def test_a_refusal_that_the_event_log_lost_has_no_flow(explained: Explain) -> None:
    pair = with_refused_credit(1 << 22)
    pair.keep["A", "event_log"] = slice(0, 1)
    finding = only(explained(pair).findings)
    assert said(finding) == ("credit-corrupted", "B", None, "A->B", None, None, None)


# -- credit-lost and healthy stalls --------------------------------------------------------------


def waiting(credits: int, arrived: int, **account: int) -> Pair:
    """Return a pair in which A waits for credit on flow 2; B sent some credits, and some arrived."""
    pair = Pair(post_ps=400 * US, causes=STALL)
    pair.traffic(10, flow=2)
    for n in range(credits):
        pair.credit(T0 + n * US, 64 * (n + 1), flow=2, arrives=n < arrived)
    pair.event("A", T0 + credits * US, "PRESSURE", "begin", 17, 2)
    pair.set("A", "frozen.stalled_flows", value=1 << 2)
    books = {"sent": 1600, "credited": 64 * arrived, "limit": 1024}
    books |= {"received": 1600, "freed": 1600, "reported": 64 * credits}
    pair.account("A", 2, **{**books, **account})
    pair.cause_cycle["A"] = (T0 + 300 * US) // BUS_PS
    return pair


def test_credits_that_were_sent_and_never_taken_are_lost(explained: Explain) -> None:
    finding = only(explained(waiting(25, 9)).findings)
    assert said(finding) == ("credit-lost", "B", None, "A->B", 2, None, None)
    assert finding.t_ps is not None


@pytest.mark.parametrize(("lost", "found"), [(False, []), (True, ["undetermined"])])
def test_a_wait_that_a_credit_ended_after_the_freeze_is_no_finding_unless_one_before_is_missing(
    explained: Explain, lost: bool, found: list[str]
) -> None:
    pair = waiting(9, 9, credited=1600, reported=1600)
    cause_ps = T0 + 300 * US
    pair.set("A", "frozen.stalled_flows", value=0)
    pair.credit(cause_ps - 2 * US, 1400, flow=2, arrives=not lost)
    pair.credit(cause_ps + 5 * US, 1600, flow=2)
    pair.event("A", cause_ps + 6 * US, "PRESSURE", "end", 1024, 2)
    findings = explained(pair).findings
    assert [finding.diagnosis for finding in findings] == found


def test_one_lost_credit_that_the_next_makes_up_for_is_no_finding(explained: Explain) -> None:
    pair = waiting(0, 0, sent=640, credited=640, received=640, freed=640, reported=640)
    for n in range(10):
        pair.credit(T0 + n * US, 64 * (n + 1), flow=2, arrives=n != 5)
    pair.events["A"] = [event for event in pair.events["A"] if event.kind != "PRESSURE"]
    pair.set("A", "frozen.stalled_flows", value=0)
    pair.causes = {"A": ["host"], "B": ["cross"]}
    assert explained(pair).findings == []


def test_a_credit_on_its_way_at_the_freeze_is_not_lost(explained: Explain) -> None:
    pair = Pair(post_ps=1 * US, causes={"A": ["host"], "B": ["host"]})
    pair.traffic(10, flow=2)
    for n in range(10):
        pair.credit(T0 + n * US, 64 * (n + 1), flow=2, arrives=n < 9)
    pair.account("A", 2, sent=640, credited=576, limit=1024, received=640, freed=640, reported=640)
    assert explained(pair).findings == []


def test_the_freeze_banks_remember_lost_credits_when_the_logs_do_not(explained: Explain) -> None:
    pair = waiting(25, 9)
    for device in "AB":
        pair.events[device] = [event for event in pair.events[device] if event.kind == "PRESSURE"]
    pair.credit(T0, 64, flow=5)  # how long a credit takes
    finding = only(explained(pair).findings)
    assert said(finding) == ("credit-lost", "B", None, "A->B", 2, None, None)


def test_banks_that_tell_of_words_which_left_after_the_last_memory_closed_remember_no_lost_credit(
    explained: Explain,
) -> None:
    pair = waiting(25, 9)
    for device in "AB":
        pair.events[device] = [event for event in pair.events[device] if event.kind == "PRESSURE"]
        pair.set(device, "ctl.generation", value=1)
    pair.credit(T0, 64, flow=5)
    for crossing in pair.crossings:
        crossing.rx_deq.clear()
    pair.set("B", "memory.offered", 3, value=0)
    pair.counter("B", "rx_deq_words", 1600)
    assert "credit-lost" not in [finding.diagnosis for finding in explained(pair).findings]


def test_a_wait_that_the_receiver_ended_after_both_logs_had_closed_is_healthy(
    explained: Explain,
) -> None:
    pair = waiting(0, 0, credited=1600, reported=1600)
    pair.credit(T0, 64, flow=5)  # how long a credit takes
    assert explained(pair).findings != []  # it waits still, and was credited all
    pair.set("A", "frozen.stalled_flows", value=0)
    result = explained(pair)
    assert result.findings == []
    assert "B freed nothing for that long, and all of it before the freeze" in " ".join(
        result.stalls
    )


def let_go_late(lag_us: int, stalled_flows: int, credited: int) -> Pair:
    """Ten packets of which the last reaches the receiver so much later, and a sender that freezes while it waits."""
    pair = Pair(post_ps=400 * US, causes=STALL)
    for _ in range(10):
        pair.send(flow=2, length=10)  # 13 words each
    pair.crossings[-1].lag_ps = lag_us * US
    pair.credit(T0, 117, flow=2)
    pair.event("A", T0 + 5 * US, "PRESSURE", "begin", 0, 2)
    pair.set("A", "frozen.stalled_flows", value=stalled_flows)
    books = {"sent": 130, "credited": credited, "limit": 1024}
    pair.account("A", 2, **books, received=130, freed=130, reported=130)
    pair.cause_cycle["A"] = (T0 + 300 * US) // BUS_PS
    return pair


@pytest.mark.parametrize(("lag_us", "healthy"), [(500, True), (1, False)])
def test_words_that_the_receiver_let_go_only_after_the_sender_had_frozen_were_not_to_be_credited(
    explained: Explain, lag_us: int, healthy: bool
) -> None:
    result = explained(let_go_late(lag_us, 1 << 2, credited=117))
    assert (result.findings == []) is healthy
    assert ("freed nothing for that long" in " ".join(result.notes)) is healthy


@pytest.mark.parametrize(("lag_us", "healthy"), [(500, True), (1, False)])
def test_a_wait_is_the_receivers_where_the_sender_was_told_of_all_that_had_left_whatever_came_after(
    explained: Explain, lag_us: int, healthy: bool
) -> None:
    pair = let_go_late(lag_us, 0, credited=120)  # it went on after its log had closed
    assert (explained(pair).findings == []) is healthy


def test_a_host_that_stopped_receiving_is_healthy(explained: Explain) -> None:
    pair = waiting(9, 9, freed=576, reported=576)
    pair.set("B", "frozen.rx_level", value=1024)
    result = explained(pair)
    assert result.findings == []
    assert any(
        "had not taken 1024 words out of its incoming FIFO" in n and "healthy" in n
        for n in result.notes
    )


def test_a_host_that_went_on_receiving_right_after_the_freeze_is_healthy(
    explained: Explain,
) -> None:
    pair = waiting(9, 9, freed=1600, reported=1600, credited=576)
    pair.event("B", T0, "STATE", "rx_dma", 6 | 3 << 8, 0, 4)
    pair.credit(T0 + 300 * US + 500_000, 640, flow=2)
    pair.credit(T0 + 302 * US, 704, flow=2, arrives=False)
    assert explained(pair).findings == []


def waited_before_the_log(stalled_flows: int) -> Pair:
    """Return a pair whose A waited beyond its limit, sent again, and whose logs begin after that."""
    pair = Pair(post_ps=400 * US, causes=STALL)
    pair.traffic(20, flow=2)
    pair.account("A", 2, sent=640, credited=640, limit=1024, received=640, freed=640, reported=640)
    pair.set("A", "frozen.stalled_flows", value=stalled_flows)
    pair.cause_cycle["A"] = 51 * US // BUS_PS
    pair.event("A", T0, "STATE", "tx_link", 5)
    return pair


def test_a_wait_that_no_log_holds_and_that_is_over_at_the_freeze_is_no_finding(
    explained: Explain,
) -> None:
    found = explained(waited_before_the_log(stalled_flows=0))
    assert found.findings == []
    assert found.answer == "nothing found, and not all could be looked at"


def test_a_sender_that_still_waits_is_undetermined_where_no_log_says_more(
    explained: Explain,
) -> None:
    assert "credit-lost" in candidates(explained(waited_before_the_log(1 << 3)).findings)


def test_a_wait_that_a_log_holds_the_end_of_alone_began_before_it(explained: Explain) -> None:
    pair = waiting(9, 9, freed=576, reported=576)
    pair.set("A", "frozen.stalled_flows", value=0)
    pair.set("B", "frozen.rx_level", value=1024)
    pair.events["A"] = [event for event in pair.events["A"] if event.kind != "PRESSURE"]
    pair.event("A", T0 + 350 * US, "PRESSURE", "end", 600, 2)
    found = explained(pair)
    assert found.findings == []
    assert found.stopped == "B"


def test_an_empty_fifo_and_no_credit_lost_is_not_explained(explained: Explain) -> None:
    pair = waiting(9, 9, received=576, freed=576, reported=576)
    assert candidates(explained(pair).findings) == ("header-miscounted", "credit-lost")


@pytest.mark.parametrize("devices", ["A", "B"])
def test_from_one_end_lost_credits_and_a_slow_host_look_alike(
    explained: Explain, devices: str
) -> None:
    lost = candidates(explained(waiting(25, 9), devices).findings)
    slow = waiting(9, 9, freed=576, reported=576)
    slow.set("B", "frozen.rx_level", value=1024)
    assert "credit-lost" in lost
    assert "none" in lost
    assert candidates(explained(slow, devices).findings) == lost


def test_credits_that_arrived_and_were_refused_are_not_lost(explained: Explain) -> None:
    pair = waiting(9, 9)
    pair.credit(T0 + 20 * US, 640, flow=2, flip=3)
    log = pair.events["A"]
    log[-1].data = log[-1].data & ~(0xFF << 56) | 4 << 56  # refused for its CRC
    pair.counter("A", "credits_refused", 1)
    assert all(f.diagnosis != "credit-lost" for f in explained(pair).findings)


# -- the four that end in rx-ovf -----------------------------------------------------------------


def sending(first_sent: int, sizes: list[int], free: list[int | None], **kwargs: int) -> Pair:
    """Return a pair whose A sent packets of ``sizes`` words on flow 1, from a count of sent words.

    ``free``: for each packet the free space when it started after a wait, None when A did not wait.
    With limit 1024 that fixes the credits, which are logged just before each of those starts. B's FIFO is as full as
    it can be: of all that came only the first packet left it.
    """
    pair = Pair(causes=OVERFLOW)
    sent = [pair.send(flow=1, length=size - 3) for size in sizes]
    pair.write_times()
    count = first_sent
    credited = 0
    for number, (crossing, room) in enumerate(zip(sent, free, strict=True)):
        start_ps = pair.times[number, "tx_deq"]
        if room is not None:
            credited = (count + room - 1024) % MODULUS
            waits_from = max(room - kwargs.get("step", 64), 1)
            pair.event("A", start_ps - 900_000, "PRESSURE", "begin", waits_from, 1)
            earlier = (credited - (room - waits_from)) % MODULUS
            pair.event("A", start_ps - 1_000_000, "CREDIT", "taken", word_of(earlier), 1, 3)
            pair.event("A", start_ps, "PRESSURE", "end", room, 1)
            pair.event("A", start_ps, "CREDIT", "taken", word_of(credited), 1, 3)
        count += len(crossing.tx_deq)
    pair.account("A", 1, sent=count % MODULUS, credited=credited, limit=1024)
    pair.account("A", 1, received=0, freed=0, reported=0)
    pair.counter("B", "rx_fifo_overflows", 12)
    for crossing in sent[1:]:
        crossing.rx_deq.clear()
    return pair


def word_of(freed: int) -> int:
    word = 4 | 1 << 8 | freed << 16
    return word | (1 - word.bit_count() % 2) << 15


def across_the_wrap() -> Pair:
    """Return a pair that keeps to its limit until its count wraps at 8192, and then does not."""
    sizes = [300, 300, 300, 300, 300, 300, 300, 300]
    return sending(7000, sizes, [310, 310, 310, 320, None, None, None, None])


@pytest.mark.parametrize("ends", ["AB", "A"])
def test_an_excess_only_across_the_wrap_is_a_wrap_not_handled(
    explained: Explain, ends: str
) -> None:
    finding = only(explained(across_the_wrap(), ends).findings)
    assert said(finding) == ("wrap-unhandled", "A", None, "A->B", 1, None, None)


def test_from_the_receiver_alone_an_overflow_has_four_candidates(explained: Explain) -> None:
    assert candidates(explained(across_the_wrap(), "B").findings) == (
        "wrap-unhandled",
        "credit-start-too-large",
        "credit-too-optimistic",
        "header-miscounted",
    )


def test_the_same_excess_away_from_the_wrap_is_too_much_optimism(explained: Explain) -> None:
    sizes = [300, 300, 300, 300, 300, 300, 300, 300]
    pair = sending(3000, sizes, [310, 310, 310, 320, None, None, None, None])
    finding = only(explained(pair).findings)
    assert said(finding) == ("credit-too-optimistic", "A", None, "A->B", 1, None, None)


def test_an_overflow_within_the_limit_is_not_blamed_on_the_wrap(explained: Explain) -> None:
    sizes = [300] * 8
    pair = sending(7000, sizes, [310] * 8)
    fitting = candidates(explained(pair).findings)
    assert fitting == ("header-miscounted", "credit-too-optimistic")


@pytest.mark.parametrize("ends", ["AB", "B"])
def test_a_fifo_that_overflows_far_below_its_depth_is_not_the_senders_fault(
    explained: Explain, ends: str
) -> None:
    pair = sending(3000, [300] * 8, [310] * 8)
    for crossing in pair.crossings[:6]:
        crossing.rx_deq.extend(crossing.rx_enq[len(crossing.rx_deq) :])
    finding = only(explained(pair, ends).findings)
    assert (finding.diagnosis, finding.device) == ("none-of-the-known", "B")
    assert (
        "overflowed with 600 words in it at most, by its two taps, where it holds 2048"
        in finding.text
    )


def test_a_limit_above_the_receivers_fifo_is_a_start_up_credit_too_large(
    explained: Explain,
) -> None:
    pair = sending(3000, [300] * 4, [310] * 4)
    pair.account("A", 1, limit=2600)
    for ends in ("AB", "A"):
        finding = only(explained(pair, ends).findings)
        assert said(finding) == ("credit-start-too-large", "A", None, "A->B", 1, None, None)


def test_a_limit_as_large_as_the_fifo_is_right(explained: Explain) -> None:
    pair = sending(3000, [300] * 4, [310] * 4)
    pair.account("A", 1, limit=2048)
    names = [f.diagnosis for f in explained(pair).findings]
    assert "credit-start-too-large" not in names


def test_words_that_found_the_fifo_full_are_not_called_omitted(explained: Explain) -> None:
    pair = across_the_wrap()
    for words in pair.crossings[-1].from_tap("rx_enq"):
        del words[40:52]
    finding = only(explained(pair).findings)
    assert finding.diagnosis == "wrap-unhandled"
    assert "word-omitted" not in candidates(explained(pair, "B").findings)


# -- what the account of a flow rests on ---------------------------------------------------------


def test_outstanding_words_follow_from_the_free_space_a_waiting_sender_saw(viewed: View) -> None:
    pair = sending(7000, [300] * 6, [310, 310, 310, 320, None, None])
    view = viewed(pair)
    (account,) = [a for a in credit_accounts(view) if a.flow == 1 and a.sender == "A"]
    history = flow_history(view, account)
    assert history is not None
    assert [start.sent for start in history.starts] == [7000, 7300, 7600, 7900, 8, 308]
    assert [start.outstanding for start in history.starts] == [1014, 1014, 1014, 1004, 1304, 1604]
    assert [start.across_wrap for start in history.starts] == [False] * 4 + [True] * 2


def test_a_packet_that_was_cut_off_is_known_from_its_descriptor(viewed: View) -> None:
    pair = Pair()
    sent = [pair.send(flow=1, length=297) for _ in range(3)]
    describe(pair, sent)
    pair.keep["A", "tx_deq"] = slice(120, None)
    found = departures(viewed(pair), "A")
    assert [(d.seq, d.flow, d.words) for d in found] == [(100 + n, 1, 300) for n in range(3)]


def describe(pair: Pair, sent: list[Crossing]) -> None:
    for crossing in sent:
        value = len(crossing.tx_enq) - 3 | 1 << 10 | crossing.seq << 20
        pair.event("A", 40 * US, "DESC", "posted", value, crossing.flow, 0)


def test_a_receiver_that_freed_more_than_it_received_has_no_words_that_wait(
    explained: Explain,
) -> None:
    """Received 1,545 and freed 2,245 is 700 too many, not 7,492 that wait: counts wrap at 8,192."""
    pair = waiting(9, 9, sent=1545, credited=576, received=1545, freed=2245, reported=576)
    pair.set("B", "frozen.rx_level", value=0)
    text = " ".join(finding.text for finding in explained(pair).findings)
    assert "B's books say that it freed 700 words of it more than it received" in text
    assert "7492" not in text
