"""The six faults that damage words, from both ends and from one: what is said, and what is not.

Source: the table of faults, and its last paragraph on look-alikes (docs/diagnosis.md).
"""

from __future__ import annotations

import pytest

from freezeframe.analyzers.contract import Finding
from tests.analyzers.bench_pair import Crossing, Pair
from tests.analyzers.conftest import Explain
from tests.analyzers.damage import after, alter, duplicate, lag, misalign, omit, slip

PAY = {"A": ["cross"], "B": ["pay-crc"]}
LEN = {"A": ["cross"], "B": ["pay-crc", "length"]}
HDR = {"A": ["cross"], "B": ["hdr-crc"]}


def busy(
    length: int = 40, seed: int = 1, causes: dict[str, list[str]] | None = None
) -> tuple[Pair, Crossing]:
    """Return a pair with traffic both ways, and a packet in the middle of it: number 112, flow 3."""
    pair = Pair(seed=seed, causes=causes or {})
    pair.traffic(12)
    pair.traffic(6, "B")
    hit = pair.send(flow=3, length=length)
    pair.traffic(8)
    return pair, hit


def likeliest(finding: Finding) -> str:
    """Return the name, or the first candidate where only the place is what one end cannot tell."""
    if "where it was is not known" in finding.text:
        return finding.candidates[0]
    return finding.diagnosis


def said(finding: Finding) -> tuple[object, ...]:
    return (
        likeliest(finding),
        finding.device,
        finding.tap,
        finding.direction,
        finding.flow,
        finding.packet,
        finding.word,
    )


OPEN = ("undetermined", "none-of-the-known")


def only(findings: list[Finding]) -> Finding:
    """Return the one finding; the registers of a made capture need not add up."""
    named = [finding for finding in findings if finding.diagnosis != "law-broken"]
    assert len(named) == 1, [said(finding) for finding in findings]
    return named[0]


def candidates(findings: list[Finding]) -> tuple[str, ...]:
    finding = only(findings)
    assert finding.diagnosis in OPEN
    assert finding.confidence == 0
    return finding.candidates


# -- clean ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("devices", ["AB", "A", "B"])
def test_a_clean_capture_that_the_host_froze_has_no_finding(
    explained: Explain, devices: str
) -> None:
    pair, _ = busy(causes={"A": ["host"], "B": ["host"]})
    assert explained(pair, devices).findings == []


def test_a_clean_capture_of_an_idle_pair_has_no_finding(explained: Explain) -> None:
    assert explained(Pair()).findings == []


def test_a_capture_of_one_device_names_the_other_end_all_the_same(explained: Explain) -> None:
    pair, hit = busy(causes=LEN)
    omit(hit, "tx_deq", 7)
    finding = only(explained(pair, "A", captured="A").findings)
    assert said(finding) == ("word-omitted", "A", "tx_deq", "A->B", 3, 112, 7)


# -- word-omitted --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tap", "device"), [("tx_deq", "A"), ("rx_deq", "B")], ids=["outgoing", "incoming"]
)
@pytest.mark.parametrize("word", [0, 7, 39], ids=["first", "middle", "last"])
def test_a_word_that_went_into_a_fifo_and_did_not_come_out_is_omitted(
    explained: Explain, tap: str, device: str, word: int
) -> None:
    pair, hit = busy(causes=LEN)
    omit(hit, tap, word)
    finding = only(explained(pair).findings)
    assert said(finding) == ("word-omitted", device, tap, "A->B", 3, 112, word)
    assert finding.ground in ("compared", "confirmed")


def test_an_omitted_word_among_equal_ones_has_no_index(explained: Explain) -> None:
    pair = Pair(causes=LEN)
    pair.traffic(3)
    hit = pair.send(payload=[5, 5, 5, 5, 9, 9, 1])
    pair.traffic(3)
    omit(hit, "tx_deq", 2)
    finding = only(explained(pair).findings)
    assert said(finding)[-2:] == (hit.seq, None)
    assert "ne of the equal payload words 0 to 3 of packet" in finding.text


def test_an_omitted_word_shows_what_was_lost_and_what_stands_in_its_place(
    explained: Explain,
) -> None:
    pair, hit = busy(causes=LEN)
    lost = hit.tx_enq[2 + 7][1]
    omit(hit, "tx_deq", 7)
    rows = only(explained(pair).findings).evidence[0].rows
    (row,) = [row for row in rows if "only here" in row.label]
    assert (row.source, row.label, row.value) == ("A.tx_enq", "payload word 7 (only here)", lost)
    assert row.slot is not None
    assert row.cycle is not None
    assert row.t_ps is not None


def test_from_the_receiver_alone_an_omitted_word_fits_at_every_place(explained: Explain) -> None:
    pair, hit = busy(causes=LEN)
    omit(hit, "tx_deq", 7)
    finding = only(explained(pair, "B").findings)
    assert said(finding) == ("word-omitted", "A", "tx_deq", "A->B", 3, 112, None)


def test_the_receivers_own_taps_place_a_word_its_fifo_omitted(explained: Explain) -> None:
    pair, hit = busy(causes=LEN)
    omit(hit, "rx_deq", 7)
    finding = only(explained(pair, "B").findings)
    assert said(finding) == ("word-omitted", "B", "rx_deq", "A->B", 3, 112, 7)


def test_a_packet_that_left_the_fifo_after_rx_enq_forgot_it_was_good_at_rx_enq(
    explained: Explain,
) -> None:
    pair, hit = busy(causes=LEN)
    omit(hit, "rx_deq", 7)
    # The memory of rx_enq begins after the packet; rx_enq would have frozen on it, had it been bad.
    later = sum(len(crossing.rx_enq) for crossing in after(pair, hit)[2:])
    pair.keep["B", "rx_enq"] = slice(-later, None)
    pair.keep["A", "tx_deq"] = slice(-later, None)
    pair.write_times()
    end_ps = pair.times[pair.crossings.index(hit), "rx_deq"] + 10_000 * len(hit.rx_deq)
    pair.cause_cycle["B"] = end_ps // 10_000
    finding = only(explained(pair).findings)
    assert said(finding) == ("word-omitted", "B", "rx_deq", "A->B", 3, 112, None)


def test_two_words_lost_are_no_single_omission(explained: Explain) -> None:
    pair, hit = busy(causes=LEN)
    omit(hit, "tx_deq", 30)
    omit(hit, "tx_deq", 7)
    assert candidates(explained(pair).findings) == ("word-omitted",)


# -- word-duplicated -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tap", "device"), [("tx_deq", "A"), ("rx_deq", "B")], ids=["outgoing", "incoming"]
)
@pytest.mark.parametrize("word", [1, 8, 40], ids=["first", "middle", "last"])
def test_a_word_that_came_out_of_a_fifo_twice_is_duplicated_and_its_second_copy_named(
    explained: Explain, tap: str, device: str, word: int
) -> None:
    pair, hit = busy(causes=LEN)
    duplicate(hit, tap, word)
    finding = only(explained(pair).findings)
    assert said(finding) == ("word-duplicated", device, tap, "A->B", 3, 112, word)


def test_from_the_receiver_alone_a_repeat_is_placed_by_the_crc(explained: Explain) -> None:
    pair, hit = busy(causes=LEN)
    duplicate(hit, "tx_deq", 8)
    finding = only(explained(pair, "B").findings)
    assert said(finding) == ("word-duplicated", "A", "tx_deq", "A->B", 3, 112, 8)


def test_a_word_too_many_that_repeats_nothing_is_not_named(explained: Explain) -> None:
    pair, hit = busy(causes=LEN)
    for words in hit.from_tap("tx_deq"):
        words.insert(9, (2, 0x1234))
    assert candidates(explained(pair).findings) == ()
    assert candidates(explained(pair, "B").findings) == ("word-duplicated",)


# -- sync-fifo-empty -----------------------------------------------------------------------------


@pytest.mark.parametrize("lane", [0, 1])
@pytest.mark.parametrize("end", [13, 30, 43], ids=["one word", "a while", "to the tail"])
def test_a_half_that_repeats_and_lags_is_a_sync_fifo_read_while_empty(
    explained: Explain, lane: int, end: int
) -> None:
    pair, hit = busy(causes=PAY)
    lag(hit, lane, 12, end)
    pair.set("B", "frozen.lane.underflows", lane, value=1)
    finding = only(explained(pair).findings)
    assert said(finding) == ("sync-fifo-empty", "B", "rx_enq", "A->B", 3, 112, 10)


def test_a_lag_that_begins_in_the_header_has_a_packet_and_no_word(explained: Explain) -> None:
    pair, hit = busy(causes=HDR)
    lag(hit, 0, 1, 43)
    pair.set("B", "frozen.lane.underflows", 0, value=1)
    finding = only(explained(pair).findings)
    assert said(finding) == ("sync-fifo-empty", "B", "rx_enq", "A->B", 3, 112, None)


def test_from_the_receiver_alone_a_lag_is_told_by_the_repeated_half_and_the_lanes_count(
    explained: Explain,
) -> None:
    pair, hit = busy(causes=PAY)
    lag(hit, 1, 12, 43)
    pair.set("B", "frozen.lane.underflows", 1, value=1)
    finding = only(explained(pair, "B").findings)
    assert said(finding) == ("sync-fifo-empty", "B", "rx_enq", "A->B", 3, 112, 10)


def test_both_lanes_that_slip_are_no_sync_fifo_but_clock_drift(explained: Explain) -> None:
    pair, hit = busy(causes=PAY)
    lag(hit, 0, 12, 43)
    lag(hit, 1, 12, 43)
    for lane in (0, 1):
        pair.set("B", "frozen.lane.underflows", lane, value=1)
    finding = only(explained(pair).findings)
    assert (finding.diagnosis, finding.device, finding.tap) == ("clock-drift", "B", "rx_enq")
    assert (finding.packet, finding.word) == (hit.seq, 10)


# -- lane-misaligned -----------------------------------------------------------------------------


@pytest.mark.parametrize("lane", [0, 1])
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("how", [misalign, slip], ids=["rotated", "slipped"])
def test_bytes_that_stay_shifted_on_one_lane_are_a_lost_byte_phase(
    explained: Explain, lane: int, k: int, how: object
) -> None:
    pair, hit = busy(causes=PAY)
    assert callable(how)
    how(after(pair, hit), lane, 12, k)
    finding = only(explained(pair).findings)
    assert said(finding) == ("lane-misaligned", "B", "rx_enq", "A->B", 3, 112, 10)


def test_a_phase_lost_in_the_header_has_a_packet_and_no_word(explained: Explain) -> None:
    pair, hit = busy(causes=HDR)
    slip(after(pair, hit), 0, 0, 1)
    finding = only(explained(pair).findings)
    assert said(finding) == ("lane-misaligned", "B", "rx_enq", "A->B", 3, 112, None)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_from_the_receiver_alone_a_slip_is_told_by_the_payloads_it_explains(
    explained: Explain, k: int
) -> None:
    pair, hit = busy(causes=PAY)
    slip(after(pair, hit), 1, 12, k)
    finding = only(explained(pair, "B").findings)
    assert said(finding) == ("lane-misaligned", "B", "rx_enq", "A->B", 3, 112, None)


def test_from_the_receiver_alone_a_slip_without_a_whole_packet_after_it_is_not_named(
    explained: Explain,
) -> None:
    pair, hit = busy(causes=HDR)
    slip(after(pair, hit), 1, 0, 2)
    pair.crossings = [c for c in pair.crossings if c.sender == "B" or c.seq <= hit.seq]
    for words in hit.from_tap("rx_enq"):
        del words[30:]
    assert "lane-misaligned" in candidates(explained(pair, "B").findings)


# -- payload-bit-flip ----------------------------------------------------------------------------


@pytest.mark.parametrize("mask", [1, 1 << 63, 1 << 5 | 1 << 44], ids=["bit 0", "bit 63", "two"])
@pytest.mark.parametrize("devices", ["AB", "B"])
def test_one_or_two_bits_of_one_payload_word_are_a_bit_flip(
    explained: Explain, mask: int, devices: str
) -> None:
    pair, hit = busy(causes=PAY)
    alter(hit, "rx_enq", 2 + 9, mask)
    finding = only(explained(pair, devices).findings)
    assert said(finding) == ("payload-bit-flip", "B", "rx_enq", "A->B", 3, 112, 9)
    (row,) = [
        r for r in finding.evidence[0].rows if r.expected is not None and r.value != r.expected
    ]
    assert (row.value or 0) ^ (row.expected or 0) == mask


def test_three_bits_are_more_than_a_bit_flip(explained: Explain) -> None:
    pair, hit = busy(causes=PAY)
    alter(hit, "rx_enq", 2 + 9, 0x0101_0001)
    assert candidates(explained(pair).findings) == ("payload-bit-flip",)


def test_flips_in_two_words_are_not_one_flip(explained: Explain) -> None:
    pair, hit = busy(causes=PAY)
    alter(hit, "rx_enq", 2 + 9, 1)
    alter(hit, "rx_enq", 2 + 19, 1)
    assert only(explained(pair).findings).diagnosis in OPEN
    assert only(explained(pair, "B").findings).diagnosis in OPEN


def test_a_flipped_bit_of_the_tail_is_not_one_of_the_payload(explained: Explain) -> None:
    pair, hit = busy(causes=PAY)
    alter(hit, "rx_enq", -1, 1 << 7)
    assert only(explained(pair).findings).diagnosis in OPEN
    assert only(explained(pair, "B").findings).diagnosis in OPEN


# -- header-corrupted ----------------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 1], ids=["header", "address"])
@pytest.mark.parametrize(
    "mask", [1 << 40, 0x0810_0000_2000_4101], ids=["one bit", "six bits, length too"]
)
def test_a_few_bits_of_one_header_word_are_a_corrupted_header(
    explained: Explain, place: int, mask: int
) -> None:
    pair, hit = busy(causes=HDR)
    alter(hit, "rx_enq", place, mask)
    finding = only(explained(pair).findings)
    assert said(finding) == ("header-corrupted", "B", "rx_enq", "A->B", 3, 112, None)


def test_from_the_receiver_alone_the_number_follows_from_the_neighbours(
    explained: Explain,
) -> None:
    pair, hit = busy(causes=HDR)
    alter(hit, "rx_enq", 0, 0x7 << 32)
    finding = only(explained(pair, "B").findings)
    assert said(finding) == ("header-corrupted", "B", "rx_enq", "A->B", None, 112, None)


def test_nine_bits_are_more_than_a_corrupted_header(explained: Explain) -> None:
    pair, hit = busy(causes=HDR)
    alter(hit, "rx_enq", 1, 0x1_0101_0101_0F01)
    assert candidates(explained(pair).findings) == ("header-corrupted",)


def test_a_packet_dropped_for_its_header_is_not_missing_after_the_fifo(explained: Explain) -> None:
    pair, hit = busy(causes=HDR)
    alter(hit, "rx_enq", 0, 1 << 40)
    hit.rx_deq.clear()
    assert only(explained(pair).findings).diagnosis == "header-corrupted"
