"""What is named where another fault froze the cards first, from the little that it left; and what is not.

Source: docs/diagnosis.md, "Two faults in one recording".
"""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.analyzers.credits.flow_history import counted_history, flow_history
from freezeframe.analyzers.credits.ledger import credit_accounts
from freezeframe.analyzers.explain import explain
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.target import EmulatorTarget
from tests.analyzers.bench_pair import BUS_PS, Pair, words_of
from tests.analyzers.conftest import Explain, View
from tests.analyzers.damage import alter, lag, omit
from tests.analyzers.diagnosis.test_credit_faults import T0, US, across_the_wrap, sending
from tests.analyzers.diagnosis.test_further_faults import HOST, interrupted, miscounted, write_all
from tests.analyzers.diagnosis.test_word_faults import PAY, only, said
from tests.campaign.open_world.runs import Job, take

IDLE, DATA = 0, 3
TX_LINK = 2


# -- a FIFO's level --------------------------------------------------------------------------------


def with_level(level: int, *, hold: int = 1, generation: int = 1, numbers: int = 10) -> Pair:
    """Return a pair whose B let 500 words into its incoming FIFO and 440 out; 10 packets went each way."""
    pair = Pair(causes=HOST)
    pair.traffic(10)
    pair.traffic(10, "B")
    for end in "AB":
        pair.set(end, "ctl.options", value=hold)
        pair.set(end, "ctl.generation", value=generation)
        for tap in ("tx_enq", "rx_enq"):
            pair.counter(end, f"{tap}_packets", 10)
        pair.set(end, "frozen.next_seq_out", value=numbers)
        pair.set(end, "frozen.next_seq_in", value=numbers)
    pair.counter("B", "rx_enq_words", 500)
    pair.counter("B", "rx_deq_words", 440)
    pair.set("B", "frozen.rx_level", value=level)
    return pair


@pytest.mark.parametrize(("level", "name"), [(59, "word-omitted"), (61, "word-duplicated")])
def test_a_level_one_off_is_a_lost_or_repeated_word_or_a_wrong_register(
    explained: Explain, level: int, name: str
) -> None:
    for ends in ("AB", "B"):
        finding = only(explained(with_level(level), ends).findings)
        assert said(finding) == (name, "B", "rx_deq", "A->B", None, None, None)
        assert finding.diagnosis == "undetermined"
        assert finding.candidates[:2] == (name, "recorder-suspect")
        assert f"so 60 should be in it. It held {level}" in finding.text


@pytest.mark.parametrize(
    "changed",
    [{"level": 60}, {"level": 57}, {"hold": 0}, {"generation": 2}, {"numbers": 4}],
    ids=["it fits", "three words", "words moved on", "armed again", "the link came up again"],
)
def test_a_level_that_need_not_fit_its_counters_names_nothing(
    explained: Explain, changed: dict[str, int]
) -> None:
    pair = with_level(**{"level": 59} | changed)
    names = {finding.diagnosis for finding in explained(pair).findings}
    assert names <= ({"law-broken"} if changed == {"level": 57} else set())


def test_an_omission_that_both_taps_show_is_one_finding(explained: Explain) -> None:
    pair = with_level(59)
    omit(pair.crossings[4], "rx_deq", 2)
    pair.causes = PAY
    finding = only(explained(pair).findings)
    assert (finding.diagnosis, finding.packet, finding.ground) == ("word-omitted", 104, "compared")


def test_a_word_omitted_behind_a_fifo_that_overflowed_is_a_fault_of_its_own(
    explained: Explain,
) -> None:
    pair = across_the_wrap()
    for crossing in pair.crossings[1:4]:
        crossing.rx_deq.extend(crossing.rx_enq)
    omit(pair.crossings[3], "rx_deq", 17)
    names = [(f.diagnosis, f.packet, f.word) for f in explained(pair).findings]
    assert sorted(names, key=str) == [("word-omitted", 103, 17), ("wrap-unhandled", None, None)]


# -- short-transfers -------------------------------------------------------------------------------


def first_messages(addresses: list[int], long: int = 2) -> Pair:
    """Return a pair whose A sent some words to addresses, after long messages, and froze soon."""
    pair = Pair(causes=HOST)
    for _ in range(long):
        pair.send(flow=1, length=60)
    for n, address in enumerate(addresses):
        crossing = pair.send(flow=2, length=1)
        write_all(crossing, words_of(2, crossing.seq, [n], address))
    return pair


@pytest.mark.parametrize("addresses", [[0x1000] * 3, [0x1000, 0x2000, 0x1000]])
def test_three_of_the_first_messages_to_one_address_or_two_are_named_on_little_ground(
    explained: Explain, addresses: list[int]
) -> None:
    finding = only(explained(first_messages(addresses)).findings)
    assert (finding.diagnosis, finding.ground) == ("short-transfers", "little")
    assert "this may be their beginning" in finding.text


@pytest.mark.parametrize(
    ("addresses", "long"),
    [([0x1000] * 2, 2), ([0x1000, 0x2000, 0x3000], 2), ([0x1000] * 3, 4)],
    ids=["two are too few", "no address comes again", "most messages are long"],
)
def test_the_first_messages_of_a_load_are_no_finding(
    explained: Explain, addresses: list[int], long: int
) -> None:
    assert explained(first_messages(addresses, long)).findings == []


# -- credit-too-coarse -----------------------------------------------------------------------------


def two_lumps(state: int, since_ps: int, *, lump: int = 600, extra: int | None = None) -> Pair:
    """Return a pair whose A waited once, while B told ``lump`` words twice, its line in a state since ``since_ps``."""
    pair = Pair(causes=HOST)
    sent = [pair.send(flow=2, length=60) for _ in range(20)]
    assert sent
    pair.write_times()
    arrived_ps = pair.times[19, "rx_enq"] + US
    pair.event("A", arrived_ps + US, "PRESSURE", "begin", 17, 2)
    pair.event("A", arrived_ps + 5 * US, "PRESSURE", "end", 100, 2)
    told = [lump, 2 * lump + 150, 3 * lump + 150]
    if extra is not None:
        told.append(told[-1] + extra)
    for n, freed in enumerate(told, 1):
        at_ps = arrived_ps + 10 * n * US
        pair.event("B", at_ps - since_ps, "STATE", "tx_link", state, 0, TX_LINK)
        pair.credit(at_ps, freed, flow=2)
    pair.account("A", 2, sent=told[-1], credited=told[-1], limit=1024)
    pair.account("A", 2, received=told[-1], freed=told[-1], reported=told[-1])
    return pair


def test_two_lumps_from_a_line_that_was_free_and_one_wait_are_credits_too_coarse(
    explained: Explain,
) -> None:
    finding = only(explained(two_lumps(IDLE, 2 * US)).findings)
    assert said(finding) == ("credit-too-coarse", "B", None, "A->B", 2, None, None)
    text = " ".join(piece.text for piece in finding.evidence)
    assert "left a line that had been free for 64 cycles and more, 600 to 750 words" in text


@pytest.mark.parametrize(
    "pair",
    [
        two_lumps(DATA, 2 * US),
        two_lumps(IDLE, US // 2),
        two_lumps(IDLE, 2 * US, lump=300),
        two_lumps(IDLE, 2 * US, extra=64),
    ],
    ids=["behind a packet", "right after one", "smaller than half the limit", "also a fine one"],
)
def test_lumps_that_may_have_waited_or_are_no_habit_are_healthy(
    explained: Explain, pair: Pair
) -> None:
    assert explained(pair).findings == []


@pytest.mark.parametrize(("unit", "named"), [(64, True), (400, False)])
def test_the_first_credit_of_a_link_is_enough_where_it_is_far_above_the_unit_of_the_card(
    explained: Explain, unit: int, named: bool
) -> None:
    pair = Pair(credit_unit=unit, causes=HOST)
    for _ in range(20):
        pair.send(flow=2, length=60)
    pair.write_times()
    at_ps = pair.times[19, "rx_enq"] + 10 * US
    pair.event("A", at_ps - 5 * US, "PRESSURE", "begin", 17, 2)
    pair.event("B", at_ps - 2 * US, "STATE", "tx_link", IDLE, 0, TX_LINK)
    pair.credit(at_ps, 600, flow=2)
    pair.account("A", 2, sent=600, credited=600, limit=1024, received=600, freed=600, reported=600)
    pair.set("B", "frozen_flow.words_received", 2, value=600)
    assert [f.diagnosis for f in explained(pair).findings] == ["credit-too-coarse"] * named


def test_a_lump_over_a_loss_of_the_log_says_nothing(explained: Explain) -> None:
    pair = two_lumps(IDLE, 2 * US)
    for n in (1, 2):
        pair.event("B", pair.times[19, "rx_enq"] + US + (10 * n + 5) * US, "LOSS", "", 3)
    assert explained(pair).findings == []


def by_pairs(first: bool, after_ps: int, logged: bool = True) -> Pair:
    """Return a pair whose B, of unit 2, tells both packets of a pair with the second, and the first as well or not.

    ``logged``: its transmitter's state; else only the tap shows that nothing leaves B.
    """
    pair = Pair(credit_unit=2, causes=HOST)
    pair.send(flow=1, length=40)  # longer than what is told at once: that alone says nothing
    for _ in range(8):
        pair.send(flow=2, length=3)
    for number in range(1, 9):
        pair.crossings[number].lag_ps += 5 * number * US
    pair.write_times()
    if logged:
        pair.event("B", pair.times[1, "rx_deq"] - 9 * US, "STATE", "tx_link", IDLE, 0, TX_LINK)
    for number in range(1, 9):
        freed = 6 * number
        if first or not number % 2:
            pair.credit(pair.times[number, "rx_deq"] + 6 * BUS_PS + after_ps, freed, flow=2)
        pair.event("A", pair.times[number, "rx_deq"] + 4 * US, "PRESSURE", "begin", 0, 2)
    pair.account("A", 2, sent=48, credited=48, limit=16, received=48, freed=48, reported=48)
    pair.set("B", "frozen_flow.words_received", 2, value=48)
    return pair


@pytest.mark.parametrize(
    ("first", "after_ps", "logged", "named"),
    [
        (False, 100_000, True, True),
        (False, 100_000, False, True),
        (True, 100_000, True, False),
        (False, 3 * US, True, False),
    ],
    ids=["with the next packet", "by the tap alone", "each at once", "late, with no packet"],
)
def test_credits_due_by_the_unit_of_the_card_that_leave_only_with_the_next_packet_are_too_coarse(
    explained: Explain, first: bool, after_ps: int, logged: bool, named: bool
) -> None:
    findings = explained(by_pairs(first, after_ps, logged)).findings
    assert [finding.diagnosis for finding in findings] == ["credit-too-coarse"] * named
    if named:
        text = " ".join(piece.text for piece in findings[0].evidence)
        assert (
            "3 of them were due before by its unit, and left a free line only with a later" in text
        )


# -- interrupt-storm -------------------------------------------------------------------------------


def runs() -> Pair:
    """Return a pair of which the handler ran three times without masking, the last time interrupted once."""
    return interrupted(
        "100 remote 7, 100 raised 1, 200 enabled 0, 300 remote 8, 300 raised 1, 400 enabled 0, "
        "500 remote 9, 500 raised 1, 550 remote 10, 550 raised 2, 700 enabled 0"
    )


def test_one_interrupt_on_top_of_a_handler_that_never_masks_is_a_storm(explained: Explain) -> None:
    finding = only(explained(runs()).findings)
    assert (finding.diagnosis, finding.device, finding.ground) == (
        "interrupt-storm",
        "B",
        "inferred",
    )
    assert "raised 1 interrupt while" in finding.text


@pytest.mark.parametrize("seen", [(150, "IRQ", "masked", 1), (450, "LOSS", "", 2)])
def test_a_mask_that_was_seen_or_may_be_lost_makes_one_such_interrupt_no_storm(
    explained: Explain, seen: tuple[int, str, str, int]
) -> None:
    pair = runs()
    cycle, kind, code, value = seen
    pair.event("B", T0 + cycle * 10_000, kind, code, value)
    assert explained(pair).findings == []


# -- header-miscounted -----------------------------------------------------------------------------


def beside_a_bad_header(short: int) -> Pair:
    """Return a pair whose B counted ``short`` words too few, one packet of 43 words with a bad header among them."""
    pair = miscounted("B", short)
    hit = pair.send(flow=1, length=40)
    alter(hit, "rx_enq", 0, 1 << 20)
    pair.counter("B", "header_errors", 1)
    pair.causes = {"A": ["cross"], "B": ["hdr-crc"]}
    return pair


@pytest.mark.parametrize(
    ("short", "named"), [(10, True), (44, True), (1, False), (42, False), (43, False)]
)
def test_words_that_a_bad_header_cannot_explain_are_miscounted(
    explained: Explain, short: int, named: bool
) -> None:
    names = [f.diagnosis for f in explained(beside_a_bad_header(short)).findings]
    assert ("header-miscounted" in names) is named
    assert "header-corrupted" in names


# -- a sender that never waited --------------------------------------------------------------------


def never_waited(first_sent: int, after: int = 0) -> Pair:
    """Return a pair whose A sent 8 packets of 300 words over 3 credits; ``after``: words since its memory closed."""
    pair = sending(first_sent, [300] * 8, [None] * 8)
    pair.write_times()
    for n, number in enumerate((1, 3, 4)):
        at_ps = pair.times[number, "tx_deq"] - US
        pair.event("A", at_ps, "CREDIT", "taken", 4 | 1 << 8 | first_sent + 300 * n << 16, 1, 3)
    pair.event("A", pair.times[7, "tx_deq"] + 9 * US, "STATE", "tx_link", IDLE, 0, TX_LINK)
    count = first_sent + 2400
    pair.account("A", 1, sent=(count + after) % 8192, credited=first_sent + 600, limit=1024)
    pair.counter("A", "tx_deq_words", 50_000 + after)
    pair.counter("A", "pressure_cycles", 0)
    pair.set("A", "memory.offered", 1, value=50_000)
    return pair


def test_what_was_outstanding_is_counted_back_from_the_freeze(viewed: View) -> None:
    view = viewed(never_waited(3000))
    (account,) = [a for a in credit_accounts(view) if a.flow == 1 and a.sender == "A"]
    assert flow_history(view, account) is None
    history = counted_history(view, account)
    assert history is not None and history.exact
    # tx_deq holds the last six of the eight whole.
    assert [start.outstanding for start in history.starts] == [900, 900, 900, 1200, 1500, 1800]


def test_words_that_left_later_and_are_not_known_leave_no_count(viewed: View) -> None:
    view = viewed(never_waited(3000, after=200))
    (account,) = [a for a in credit_accounts(view) if a.flow == 1 and a.sender == "A"]
    assert counted_history(view, account) is None


def test_words_that_left_later_are_of_the_one_flow_that_ever_sent(viewed: View) -> None:
    pair = never_waited(3000, after=200)
    for flow in range(8):
        pair.set("A", "frozen_flow.words_sent", flow, value=50_200 * (flow == 1))
    view = viewed(pair)
    (account,) = [a for a in credit_accounts(view) if a.flow == 1 and a.sender == "A"]
    history = counted_history(view, account)
    assert history is not None
    assert [start.outstanding for start in history.starts] == [900, 900, 900, 1200, 1500, 1800]


def test_an_excess_of_a_sender_that_never_waited_is_too_much_optimism(explained: Explain) -> None:
    for ends in ("AB", "A"):
        finding = only(explained(never_waited(3000), ends).findings)
        assert said(finding) == ("credit-too-optimistic", "A", None, "A->B", 1, None, None)


def test_across_a_wrap_the_excess_of_a_sender_that_never_waited_is_not_decided(
    explained: Explain,
) -> None:
    finding = only(explained(never_waited(6900)).findings)
    assert finding.diagnosis == "undetermined"
    assert {"wrap-unhandled", "credit-too-optimistic"} <= set(finding.candidates)


@pytest.mark.parametrize("seed", [3, 4])
def test_both_ways_to_count_agree_on_a_card_that_waits(tmp_path: Path, seed: int) -> None:
    target = EmulatorTarget("forth", "none", seed, load="saturating")
    target.run_until_frozen(400 * US)
    pull(target, tmp_path / "run.ff", freeze=True)
    folder = CaptureFolder.open(tmp_path / "run.ff")
    view = CaptureView(folder)
    compared = 0
    for account in credit_accounts(view):
        waited, back = flow_history(view, account), counted_history(view, account)
        if waited is None or back is None:
            continue
        known = {start.departure.seq: start.outstanding for start in back.starts}
        for start in waited.starts:
            compared += start.departure.seq in known
            assert known.get(start.departure.seq, start.outstanding) == start.outstanding
    assert compared


# -- two things on one link ------------------------------------------------------------------------


def test_a_flipped_bit_and_a_lag_in_a_later_packet_are_both_named(explained: Explain) -> None:
    pair = Pair(causes=PAY)
    pair.traffic(4)
    flipped = pair.send(length=20)
    pair.traffic(3)
    late = pair.send(length=20)
    pair.traffic(4)
    alter(flipped, "rx_enq", 9, 1 << 33)
    lag(late, 0, 2 + 7, 2 + 12)
    for lane in (0, 1):
        pair.set("B", "frozen.lane.underflows", lane, value=1)
    names = [(finding.diagnosis, finding.packet) for finding in explained(pair).findings]
    assert names == [("payload-bit-flip", flipped.seq), ("sync-fifo-empty", late.seq)]


def test_one_bit_that_changes_in_two_packets_is_not_two_flipped_bits(explained: Explain) -> None:
    pair = Pair(causes=PAY)
    hits = [crossing for crossing in pair.traffic(12) if len(crossing.tx_enq) > 12][:2]
    for hit in hits:
        alter(hit, "rx_enq", 9, 1 << 33)
    assert "payload-bit-flip" not in [finding.diagnosis for finding in explained(pair).findings]


@pytest.mark.parametrize(
    ("limit", "name"), [(3400, "credit-start-too-large"), (3968, "undetermined")]
)
def test_a_flow_that_had_more_outstanding_than_its_limit_with_one_bit_otherwise_shows_that_bit_right(
    explained: Explain, limit: int, name: str
) -> None:
    """1,800 words were outstanding: bit 11 of 3,400 would leave 1,352, of 3,968 it would leave 1,920."""
    pair = never_waited(3000)
    pair.set("A", "ctl.generation", value=1)
    # A credit came after the last packet: at the freeze 300 words are outstanding.
    at_ps = pair.times[7, "tx_deq"] + 8 * US
    pair.event("A", at_ps, "CREDIT", "taken", 4 | 1 << 8 | 5100 << 16, 1, 3)
    books = {"credited": 5100, "received": 5400, "freed": 5100, "reported": 5100}
    pair.account("A", 1, limit=limit, **books)
    assert explained(pair).findings[0].diagnosis == name


def test_a_lump_beyond_the_limit_is_a_wrong_count_of_freed_words_not_coarse_credit(
    tmp_path: Path,
) -> None:
    """B's count of freed words jumps by 700: credits give back up to 15 words where 8 may be outstanding."""
    take(Job(3, "freed-jumps", "", 1_002_067, 40_082_719), tmp_path)
    found = {finding.diagnosis for finding in explain(tmp_path / "run.ff").findings}
    assert found
    assert "credit-too-coarse" not in found


def test_more_outstanding_than_allowed_before_the_count_wrapped_is_no_wrap_that_was_not_handled(
    tmp_path: Path,
) -> None:
    """At the freeze 44 words were sent after a wrap at 8,192, and 4,610 credited: 3,582 were outstanding at it."""
    take(Job(1, "credit-too-optimistic", "medium", 43, -1), tmp_path)
    finding = explain(tmp_path / "run.ff").findings[0]
    assert (finding.diagnosis, finding.device) == ("credit-too-optimistic", "A")
    assert "A had 3582 words of flow 0 outstanding where 1024 are allowed" in finding.text


def test_a_refused_credit_is_not_one_that_was_taken_and_of_several_flows_it_is_of_none(
    explained: Explain,
) -> None:
    """Bit 9 of a credit of flow 1 changed, and flow 2's of as many words is one bit from that, too."""
    for also, flow in ((True, 1), (False, None)):
        pair = Pair(causes={"A": ["credit-parity"], "B": ["cross"]})
        pair.traffic(10, flow=1)
        pair.credit(60 * US, 1088, flow=2, arrives=also)
        pair.credit(61 * US, 1088, flow=1, flip=1 << 9)
        for number in (1, 2):
            pair.account("A", number, sent=1200, credited=1024, limit=1024, received=1200)
        pair.counter("A", "parity_errors", 1)
        pair.counter("A", "credits_refused", 1)
        finding = only(explained(pair).findings)
        assert (finding.diagnosis, finding.flow) == ("credit-corrupted", flow)
