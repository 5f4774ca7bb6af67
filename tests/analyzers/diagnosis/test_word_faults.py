"""The six faults that damage words, from both ends and from one: what is said, and what is not.

Source: the table of faults, and its last paragraph on look-alikes (docs/diagnosis.md).
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from freezeframe.analyzers.contract import Finding
from tests.analyzers.bench_pair import Crossing, Pair
from tests.analyzers.conftest import Explain
from tests.analyzers.damage import after, alter, duplicate, lag, misalign, omit, slip

PAY = {"A": ["cross"], "B": ["pay-crc"]}
LEN = {"A": ["cross"], "B": ["pay-crc", "length"]}
HDR = {"A": ["cross"], "B": ["hdr-crc"]}
Causes = dict[str, list[str]]
Damage = Callable[[Pair, Crossing], None]


def busy(length: int = 40, seed: int = 1, causes: Causes | None = None) -> tuple[Pair, Crossing]:
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


def omitted(*places: tuple[str, int]) -> Damage:
    def damage(pair: Pair, hit: Crossing) -> None:
        for tap, word in places:
            omit(hit, tap, word)

    return damage


def doubled(tap: str, word: int) -> Damage:
    return lambda pair, hit: duplicate(hit, tap, word)


def lagging(lane: int, first: int, end: int) -> Damage:
    def damage(pair: Pair, hit: Crossing) -> None:
        lag(hit, lane, first, end)
        pair.set("B", "frozen.lane.underflows", lane, value=1)

    return damage


def shifted(how: Callable[..., None], lane: int, first: int, k: int) -> Damage:
    return lambda pair, hit: how(after(pair, hit), lane, first, k)


def altered(*places: tuple[int, int]) -> Damage:
    def damage(pair: Pair, hit: Crossing) -> None:
        for place, mask in places:
            alter(hit, "rx_enq", place, mask)

    return damage


SIX_BITS = 0x0810_0000_2000_4101  # of the header, some of its length
ENDS = (("tx_deq", "A"), ("rx_deq", "B"))


@pytest.mark.parametrize(
    ("causes", "damage", "seen", "fault", "device", "tap", "word"),
    [
        # A word that went into a FIFO did not come out, or came out twice; first, middle, last.
        *((LEN, omitted((tap, word)), "AB", "word-omitted", device, tap, word)
          for tap, device in ENDS for word in (0, 7, 39)),
        *((LEN, doubled(tap, word), "AB", "word-duplicated", device, tap, word)
          for tap, device in ENDS for word in (1, 8, 40)),
        # From the receiver alone an omitted word fits anywhere, but in its own FIFO; a repeat is placed by the CRC.
        (LEN, omitted(("tx_deq", 7)), "B", "word-omitted", "A", "tx_deq", None),
        (LEN, omitted(("rx_deq", 7)), "B", "word-omitted", "B", "rx_deq", 7),
        (LEN, doubled("tx_deq", 8), "B", "word-duplicated", "A", "tx_deq", 8),
        # A half that repeats and lags, a word long, for a while, to the tail; from the header on; from one end.
        *((PAY, lagging(lane, 12, end), "AB", "sync-fifo-empty", "B", "rx_enq", 10)
          for lane in (0, 1) for end in (13, 30, 43)),
        (HDR, lagging(0, 1, 43), "AB", "sync-fifo-empty", "B", "rx_enq", None),
        (PAY, lagging(1, 12, 43), "B", "sync-fifo-empty", "B", "rx_enq", 10),
        # Bytes that stay shifted on one lane; from one end a slip is told by the payloads it explains.
        *((PAY, shifted(how, lane, 12, k), "AB", "lane-misaligned", "B", "rx_enq", 10)
          for how in (misalign, slip) for lane in (0, 1) for k in (1, 2, 3)),
        (HDR, shifted(slip, 0, 0, 1), "AB", "lane-misaligned", "B", "rx_enq", None),
        *((PAY, shifted(slip, 1, 12, k), "B", "lane-misaligned", "B", "rx_enq", None) for k in (1, 2, 3)),
        # A few bits of the header or of the address.
        *((HDR, altered((place, mask)), "AB", "header-corrupted", "B", "rx_enq", None)
          for place in (0, 1) for mask in (1 << 40, SIX_BITS)),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_the_card_the_tap_the_packet_and_the_word(
    explained: Explain, causes: Causes, damage: Damage, seen: str, fault: str, device: str, tap: str,
    word: int | None,
) -> None:  # fmt: skip
    pair, hit = busy(causes=causes)
    damage(pair, hit)
    finding = only(explained(pair, seen).findings)
    assert said(finding) == (fault, device, tap, "A->B", 3, 112, word)
    assert seen != "AB" or finding.ground in ("compared", "confirmed")


@pytest.mark.parametrize(
    ("causes", "damage", "candidates_of_both"),
    [
        (LEN, omitted(("tx_deq", 30), ("tx_deq", 7)), ("word-omitted",)),  # two words, one omission
        (PAY, altered((2 + 9, 0x0101_0001)), ("payload-bit-flip",)),  # three bits
        (HDR, altered((1, 0x1_0101_0101_0F01)), ("header-corrupted",)),  # nine bits
        (PAY, altered((2 + 9, 1), (2 + 19, 1)), None),  # of two words; and the tail is none of the payload
        (PAY, altered((-1, 1 << 7)), None),
    ],
    ids=["two words lost", "three bits", "nine bits of the header", "bits of two words", "a bit of the tail"],
)  # fmt: skip
def test_more_than_one_fault_does_is_not_named_as_that_fault(
    explained: Explain, causes: Causes, damage: Damage, candidates_of_both: tuple[str, ...] | None
) -> None:
    pair, hit = busy(causes=causes)
    damage(pair, hit)
    if candidates_of_both is not None:
        assert candidates(explained(pair).findings) == candidates_of_both
    else:
        assert only(explained(pair).findings).diagnosis in OPEN
        assert only(explained(pair, "B").findings).diagnosis in OPEN


def test_a_capture_of_one_device_names_the_other_end_all_the_same(explained: Explain) -> None:
    pair, hit = busy(causes=LEN)
    omit(hit, "tx_deq", 7)
    finding = only(explained(pair, "A", captured="A").findings)
    assert said(finding) == ("word-omitted", "A", "tx_deq", "A->B", 3, 112, 7)
    pair.apart = True
    finding = only(explained(pair, "B", captured="B").findings)
    assert "one word was lost in the outgoing FIFO of the other end." in finding.text


def test_from_the_receiver_alone_a_packets_number_follows_from_its_neighbours(
    explained: Explain,
) -> None:
    pair, hit = busy(causes=HDR)
    alter(hit, "rx_enq", 0, 0x7 << 32)
    finding = only(explained(pair, "B").findings)
    assert said(finding) == ("header-corrupted", "B", "rx_enq", "A->B", None, 112, None)


# -- word-omitted --------------------------------------------------------------------------------


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


# -- word-duplicated -----------------------------------------------------------------------------


def test_a_word_too_many_that_repeats_nothing_is_not_named(explained: Explain) -> None:
    pair, hit = busy(causes=LEN)
    for words in hit.from_tap("tx_deq"):
        words.insert(9, (2, 0x1234))
    assert candidates(explained(pair).findings) == ()
    assert candidates(explained(pair, "B").findings) == ("word-duplicated",)


# -- sync-fifo-empty -----------------------------------------------------------------------------


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


# -- header-corrupted ----------------------------------------------------------------------------


def test_a_packet_dropped_for_its_header_is_not_missing_after_the_fifo(explained: Explain) -> None:
    pair, hit = busy(causes=HDR)
    alter(hit, "rx_enq", 0, 1 << 40)
    hit.rx_deq.clear()
    assert only(explained(pair).findings).diagnosis == "header-corrupted"
