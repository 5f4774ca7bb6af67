"""ff_nic_rx_link: two lanes of bytes at phases of their own and a clock of their own become checked words and credits
(docs/formats.md section 3; docs/faults.md, lane-misaligned, payload-bit-flip, header-corrupted, sync-fifo-empty,
clock-drift).

The far end (link_far_end.py) is written from the format.
"""

from __future__ import annotations

import binascii
from itertools import pairwise
from typing import Any

import cocotb

from tests.rtl.link_far_end import framed, link
from tests.rtl.link_packets import BODY, HEAD, INJECTED, TAIL, credit
from tests.rtl.simulation import in_icarus

TAKEN, REFUSED_PARITY, REFUSED_CRC = 2, 3, 4
HEADER, PAYLOAD, LENGTH = 1, 2, 4
IDLE_INSERTED, IDLE_REMOVED, TRAINED, UNDERFLOW, OVERFLOW = 1, 2, 5, 6, 7


test_the_receiver = in_icarus(
    "ff_nic_rx_link", __name__, {"CREDIT_W": 10, "FILL": 3}, {"CREDIT_W": 24, "FILL": 12}
)


@cocotb.test()
@cocotb.parametrize(
    (("clocks", "phase"), [
        ((12_800, 12_800), (0, 3)), ((12_800, 12_864), (2, 1)), ((12_864, 12_800), (1, 0)), ((12_864, 12_800), (3, 2)),
    ])
)  # fmt: skip
async def every_word_and_credit_arrives_whatever_the_phases_and_with_clocks_apart(
    dut: Any, clocks: tuple[int, int], phase: tuple[int, int]
) -> None:
    """5,000 ppm apart, far more than crystals are, so that clocks are corrected often; a sender may be halted."""
    one = await link(dut, 1, phase, *clocks)
    packets, credits = [], []
    for seq in range(50):
        packets.append(one.made(one.draw.choice((0, 1, 2, 7, 40)), seq))
        one.frame(packets[-1], halts=0.05)
        if one.draw.random() < 0.5:
            credits.append((one.draw.getrandbits(7), one.draw.getrandbits(one.width)))
            one.frame([credit(*credits[-1])])
        if seq % 3 == 0:
            one.gap(3)
    await one.sent()
    assert one.words == [entry for words in packets for entry in framed(words)]
    assert one.verdicts == [0] * len(one.words)
    assert one.taken == credits
    assert one.events == [
        (TAKEN, flow, credit(flow, freed) & (1 << 40) - 1) for flow, freed in credits
    ]
    told = {
        name: count for name, count in one.counts.items() if name.startswith("cause_") and count
    }
    assert told == {}
    assert (one.counts["stat_up"], one.counts["stat_next_seq"]) == (1, 50)
    assert (one.counts["stat_underflows"], one.counts["stat_overflows"]) == (0, 0)
    slower, faster = clocks[0] > clocks[1], clocks[0] < clocks[1]  # the far end is
    inserted, removed = one.counts["count_inserted"], one.counts["count_removed"]
    assert (inserted > 0, removed > 0) == (slower, faster)
    corrected = [IDLE_INSERTED] * inserted + [IDLE_REMOVED] * removed
    assert one.line == [[TRAINED, *corrected], [TRAINED, *corrected]]
    assert int(dut.stat_phase.value) == phase[0] | phase[1] << 2


@cocotb.test()
async def what_is_wrong_with_a_packet_is_told_behind_the_word_that_shows_it(dut: Any) -> None:
    one = await link(dut, 2, (1, 0))
    draw, expected, verdicts = one.draw, [], []
    for seq in range(50):
        words = one.made(draw.choice((2, 3, 9)), seq)
        what = draw.choice(("good", "good", "header", "payload", "omitted", "twice"))
        at, told = len(words) - 1, 0
        if what == "header":
            words[draw.randrange(2)] ^= 1 << draw.choice((4, 20, 40, 63))
            at, told = 1, HEADER
        elif what == "payload":
            words[draw.randrange(2, len(words))] ^= 1 << draw.randrange(32)
            told = PAYLOAD
        elif what == "omitted":
            del words[draw.randrange(2, len(words) - 1)]
            at, told = len(words) - 1, PAYLOAD | LENGTH
        elif what == "twice":
            words.insert(2, words[2])
            told = PAYLOAD | LENGTH  # judged where the tail should have been
        one.frame(words)
        expected += framed(words)
        verdicts += [told if place == at else 0 for place in range(len(words))]
    await one.sent()
    assert one.words == expected
    assert one.verdicts == verdicts
    for flag in (HEADER, PAYLOAD, LENGTH):
        assert sum(bool(told & flag) for told in one.verdicts) > 3


@cocotb.test()
async def a_number_out_of_order_is_told_once_and_the_next_counts_from_it(dut: Any) -> None:
    """Not of an injected packet, whose number is whatever it was given, nor of one with a bad header."""
    one = await link(dut, 3)
    for seq, flags in (
        (0, 0),
        (1, 0),
        (3, 0),
        (4, 0),
        (9, INJECTED),
        (5, 0),
        (5, 0),
        (0xFFFF, 0),
        (0, 0),
    ):
        one.frame(one.made(1, seq, flags=flags))
    bad = one.made(1, 77)
    bad[0] ^= 1 << 50
    one.frame(bad)
    one.frame(one.made(1, 1))
    await one.sent()
    assert [place // 4 for place in one.sequence] == [2, 6, 7]
    assert (one.counts["cause_sequence"], one.counts["stat_next_seq"]) == (3, 2)


@cocotb.test()
async def a_credit_with_bad_parity_or_crc_is_refused_and_says_why(dut: Any) -> None:
    """Bad parity under a good CRC is a cause; a bad CRC means the link, and is none."""
    one = await link(dut, 4, (3, 3))
    good, parity, crc, last = credit(5, 100), credit(6, 200), credit(7, 300), credit(8, 400)
    low = parity & (1 << 48) - 1 ^ 1 << 20
    # The CRC is linear: what a word of zeros but for this bit adds to it, by two known words.
    parity = low | (credit(6, 200) >> 48 ^ _crc_of(1 << 20)) << 48
    crc ^= 1 << 33
    for one_word in (good, parity, crc, last):
        one.frame([one_word])
    await one.sent()
    assert one.words == []
    assert one.taken == [(5, 100), (8, 400)]
    mask = (1 << 40) - 1
    assert one.events == [
        (TAKEN, 5, good & mask), (REFUSED_PARITY, 6, parity & mask), (REFUSED_CRC, 7, crc & mask),
        (TAKEN, 8, last & mask),
    ]  # fmt: skip
    assert one.counts["cause_parity"] == 1


def _crc_of(low: int) -> int:
    """Return by how much bits of a credit word change its CRC."""
    zero = binascii.crc_hqx(bytes(6), 0xFFFF)
    return binascii.crc_hqx(low.to_bytes(6, "little"), 0xFFFF) ^ zero


@cocotb.test()
async def the_machine_is_in_data_from_a_packets_first_word_to_its_last(dut: Any) -> None:
    one = await link(dut, 5)
    one.frame(one.made(3, 0))
    one.gap(4)
    one.frame([credit(1, 1)])  # is no packet
    one.frame(one.made(1, 1))
    await one.sent()
    assert one.states == [0, 3, 0, 3, 0]


@cocotb.test()
async def flipped_bits_hit_one_word_of_the_packet_asked_for_and_nothing_else(dut: Any) -> None:
    """docs/faults.md, payload-bit-flip and header-corrupted: after two that are long enough; no credit counts."""
    for place, mask, told in ((4, 1 << 63 | 1 << 5, PAYLOAD), (0, 1 << 36, HEADER)):
        one = await link(
            dut,
            6,
            (0, 2),
            fault_flip=1,
            fault_word=place,
            fault_mask=mask,
            fault_count=2,
            fault_min_length=6,
        )
        packets = [one.made(length, seq) for seq, length in enumerate((6, 2, 9, 8, 7))]
        for words in packets:
            one.frame([credit(0, 1)])
            one.frame(words)
        await one.sent()
        packets[3][place] ^= mask
        assert one.words == [entry for words in packets for entry in framed(words)]
        assert [verdict for verdict in one.verdicts if verdict] == [told]
        assert one.counts["raw_struck"] == 1
        assert (int(dut.raw_seq.value), int(dut.raw_flow.value)) == (3, packets[3][0] >> 8 & 0x7F)
        one.stop()


@cocotb.test()
@cocotb.parametrize(lane=[0, 1], lost=[1, 3])
async def a_slip_turns_the_bytes_of_one_lane_from_the_next_word_on(
    dut: Any, lane: int, lost: int
) -> None:
    """docs/faults.md, lane-misaligned: the words up to the one asked for are right, the other lane's bytes all are."""
    one = await link(dut, 7, (1, 2), fault_slip=1, fault_word=3, fault_lane=lane, fault_bytes=lost)
    words = one.made(12, 0)
    one.frame(words)
    await one.sent()
    seen = [data for _, _, _, data in one.words]
    assert seen[:4] == words[:4]
    right = [octet for data in words for octet in data.to_bytes(8, "little")[lane::2]]
    turned = [octet for data in seen for octet in data.to_bytes(8, "little")[lane::2]]
    assert turned[16:52] == right[16 + lost : 52 + lost]
    for data, sent in zip(seen[4:13], words[4:13], strict=True):
        assert (
            data.to_bytes(8, "little")[1 - lane :: 2] == sent.to_bytes(8, "little")[1 - lane :: 2]
        )
    assert one.counts["raw_struck"] == 1


@cocotb.test()
@cocotb.parametrize(lane=[0, 1])
async def a_synchronization_fifo_run_empty_repeats_a_half_and_lags_until_the_packet_ends(
    dut: Any, lane: int
) -> None:
    """docs/faults.md, sync-fifo-empty: of one lane alone, told where; the next packet is aligned again."""
    one = await link(dut, 8, (0, 1), fault_empty=1, fault_lane=lane, fault_word=4)
    first, second = one.made(40, 0), one.made(5, 1)
    one.frame(first)
    one.gap(3)
    one.frame(second)
    await one.sent()
    seen = [data.to_bytes(8, "little") for _, _, _, data in one.words]
    sent = [data.to_bytes(8, "little") for data in first]
    at = int(dut.empty_word.value)
    assert 4 < at < 40
    assert seen[:at] == sent[:at]
    assert [data[lane::2] for data in seen[at:43]] == [data[lane::2] for data in sent[at - 1 : 42]]
    assert [data[1 - lane :: 2] for data in seen[at:43]] == [
        data[1 - lane :: 2] for data in sent[at:43]
    ]
    assert one.counts["stat_underflows"] == 1 << 32 * lane
    assert one.counts["cause_underflow"] == 1
    assert [codes.count(UNDERFLOW) for codes in one.line] == [1 - lane, lane]
    assert (one.counts["empty_struck"], int(dut.empty_seq.value)) == (1, 0)
    assert one.words[-len(second) :] == framed(second)
    assert [verdict & PAYLOAD for verdict in one.verdicts if verdict] == [PAYLOAD]
    assert {kind for _, _, kind, _ in one.words} == {HEAD, BODY, TAIL}


@cocotb.test()
@cocotb.parametrize(faster=[0, 1])
async def without_correction_both_lanes_slip_together_at_the_interval_of_the_clocks(
    dut: Any, faster: int
) -> None:
    """docs/faults.md, clock-drift: the FIFOs run empty, a word comes twice, or full, one is lost; it says where."""
    period, off = 12_800, 400  # 31,250 ppm: a slip every 32 cycles, so that one frame has several
    clocks = (period - off, period) if faster else (period, period - off)
    one = await link(dut, 9, (2, 2), *clocks, fault_drift=1)
    sent = one.made(1000, 0)
    one.frame(sent)
    await one.sent()
    seen = [data for *_, data in one.words]
    counted = one.counts["stat_overflows" if faster else "stat_underflows"]
    slips = counted & 0xFFFF_FFFF
    assert counted == slips | slips << 32
    assert slips >= 2
    assert one.line == [[TRAINED, *[OVERFLOW if faster else UNDERFLOW] * slips]] * 2
    assert (one.counts["count_inserted"], one.counts["count_removed"]) == (0, 0)
    at = int(dut.drift_word.value)
    assert (one.counts["drift_struck"], int(dut.drift_seq.value)) == (1, 0)
    assert int(dut.drift_flow.value) == sent[0] >> 8 & 0x7F
    assert seen[:at] == sent[:at]
    interval = round(period / off)
    if faster:
        assert seen[at : at + interval - 8] == sent[at + 1 : at + interval - 7]
        missing = [place for place, data in enumerate(sent) if data not in set(seen)]
        assert missing[0] == at
        slipped = missing
    else:
        assert seen[at : at + interval - 8] == sent[at - 1 : at + interval - 9]
        slipped = [place for place, (a, b) in enumerate(pairwise(seen)) if a == b]
        assert slipped[0] == at - 1
    assert len(slipped) >= 2
    assert all(abs(b - a - interval) <= 2 for a, b in pairwise(slipped))
