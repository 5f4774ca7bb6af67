"""ff_nic_rx_link: two lanes of bytes at phases of their own and a clock of their own become checked words and credits
(docs/formats.md section 3; faults.md, lane-misaligned, payload-bit-flip, header-corrupted, sync-fifo-empty).

The far end is written here from the format: words cut into lanes, commas in the gaps, longer ones now and then.
"""

from __future__ import annotations

import binascii
import random
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

from tests.rtl.link_packets import BODY, HEAD, INJECTED, TAIL, credit, kinds, packet
from tests.rtl.simulation import simulate

Byte = tuple[int, int]  # octet, control symbol
IDLE: list[Byte] = [(0xBC, 1)] * 8
HALT: list[Byte] = [(0xFE, 1)] * 8
TRAIN: list[Byte] = [(0xBC, 1), (0xBC, 1), *[(0x4A, 0)] * 6]
TAKEN, REFUSED_PARITY, REFUSED_CRC = 2, 3, 4
HEADER, PAYLOAD, LENGTH = 1, 2, 4
FAULTS = (
    "fault_slip", "fault_flip", "fault_empty", "fault_lane", "fault_bytes", "fault_mask", "fault_count",
    "fault_min_length", "fault_word",
)  # fmt: skip
STATUS = (
    "m_valid", "taken_valid", "stat_up", "stat_state", "stat_level", "stat_underflows", "stat_overflows",
    "stat_next_seq", "cause_header", "cause_payload", "cause_length", "cause_sequence", "cause_underflow",
    "cause_parity", "ev_credit", "ev_trained", "ev_inserted", "ev_removed", "raw_struck", "empty_struck",
)  # fmt: skip


@pytest.mark.parametrize(("credit_w", "fill"), [(10, 3), (24, 12)])
def test_the_receiver(tmp_path: Path, credit_w: int, fill: int) -> None:
    simulate("ff_nic_rx_link", __name__, tmp_path, {"CREDIT_W": credit_w, "FILL": fill})


def word(data: int) -> list[Byte]:
    return [(octet, 0) for octet in data.to_bytes(8, "little")]


class Link:
    """The block with a far end before it; what it tells is collected cycle by cycle."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut, self.draw = dut, random.Random(seed)
        self.fill, self.width = int(dut.FILL.value), int(dut.CREDIT_W.value)
        self.phase = (0, 0)
        self.slots: list[list[Byte]] = []
        self.words: list[tuple[int, int, int, int]] = []  # first, last, kind, data
        self.verdicts: list[int] = []  # of each word, a cycle behind it
        self.taken: list[tuple[int, int]] = []
        self.events: list[tuple[int, int, int]] = []
        self.sequence: list[int] = []  # the word behind which a wrong number was seen
        self.counts = dict.fromkeys(STATUS, 0)
        self.states: list[int] = []
        self.tasks: list[Any] = []

    async def start(self, phase: tuple[int, int], rx_ps: int, link_ps: int, **faults: int) -> None:
        dut, self.phase = self.dut, phase
        for name in FAULTS:
            getattr(dut, name).value = faults.get(name, 0)
        self._drive(HALT, HALT)
        dut.rst_rx.value = dut.rst.value = 1
        self.tasks = [Clock(dut.clk_rx, rx_ps, "ps").start(), Clock(dut.clk, link_ps, "ps").start()]
        await ClockCycles(dut.clk, 14)
        await FallingEdge(dut.clk)
        dut.rst_rx.value = dut.rst.value = 0
        self.tasks.append(cocotb.start_soon(self._collect()))
        self.slots = [HALT] * 3 + [TRAIN] * 12
        self.gap(2 * self.fill + 8)

    def _drive(self, low: list[Byte], high: list[Byte]) -> None:
        """Give four bytes to each lane: the even ones of the first slot, the odd ones of the second."""
        octets = low[0::2] + high[1::2]
        self.dut.s_data.value = sum(octet << 8 * i for i, (octet, _) in enumerate(octets))
        self.dut.s_k.value = sum(k << i for i, (_, k) in enumerate(octets))

    def gap(self, slots: int = 1) -> None:
        self.slots += [IDLE] * slots

    def frame(self, words: list[int], halts: float = 0.0) -> None:
        for place, data in enumerate(words):
            if place and self.draw.random() < halts:
                self.slots += [HALT] * self.draw.randrange(1, 4)
            self.slots.append(word(data))
        self.gap()

    async def sent(self) -> None:
        """Send all slots, each lane late by its phase, and let the last words come out."""
        self.gap(2 * self.fill + 16)
        lanes = [
            [(0xFE, 1)] * self.phase[lane] + [byte for slot in self.slots for byte in slot[lane::2]]
            for lane in (0, 1)
        ]
        self.slots = []
        for at in range(0, len(lanes[0]) - 8, 4):
            await RisingEdge(self.dut.clk_rx)
            octets = lanes[0][at : at + 4] + lanes[1][at : at + 4]
            octets += [(0, 0)] * (8 - len(octets))
            self.dut.s_data.value = sum(octet << 8 * i for i, (octet, _) in enumerate(octets))
            self.dut.s_k.value = sum(k << i for i, (_, k) in enumerate(octets))

    async def _collect(self) -> None:
        dut, behind = self.dut, False
        while True:
            await FallingEdge(dut.clk)
            seen = {name: int(getattr(dut, name).value) for name in STATUS}
            for name, value in seen.items():
                if name.startswith(("cause_", "ev_")):
                    self.counts[name] += value
                else:
                    self.counts[name] = value
            flags = int(dut.m_flags.value)
            assert (
                flags
                == seen["cause_header"] | seen["cause_payload"] << 1 | seen["cause_length"] << 2
            )
            if behind:
                self.verdicts.append(flags)
            else:
                assert flags == 0, "a verdict without a word"
            if seen["cause_sequence"]:
                assert behind
                self.sequence.append(len(self.words) - 1)
            behind = bool(seen["m_valid"])
            if behind:
                first, last, kind, data = (
                    int(getattr(dut, f"m_{part}").value)
                    for part in ("first", "last", "kind", "data")
                )
                self.words.append((first, last, kind, data))
            if seen["taken_valid"]:
                self.taken.append((int(dut.taken_flow.value), int(dut.taken_freed.value)))
            if seen["ev_credit"]:
                code, flow, value = (
                    int(getattr(dut, f"ev_credit_{part}").value)
                    for part in ("code", "flow", "value")
                )
                self.events.append((code, flow, value))
            if not self.states or self.states[-1] != seen["stat_state"]:
                self.states.append(seen["stat_state"])

    def stop(self) -> None:
        for task in self.tasks:
            task.cancel()

    def made(self, length: int, seq: int, **given: int) -> list[int]:
        draw = self.draw
        fields = {"flow": draw.getrandbits(7), "dest": draw.getrandbits(64)} | given
        return packet([draw.getrandbits(64) for _ in range(length)], seq=seq, **fields)


async def link(
    dut: Any,
    seed: int,
    phase: tuple[int, int] = (0, 0),
    rx_ps: int = 12_800,
    link_ps: int = 12_800,
    **faults: int,
) -> Link:
    made = Link(dut, seed)
    await made.start(phase, rx_ps, link_ps, **faults)
    return made


def framed(words: list[int], kind: list[int] | None = None) -> list[tuple[int, int, int, int]]:
    chosen = kinds(len(words)) if kind is None else kind
    return [
        (int(i == 0), int(i == len(words) - 1), one, data)
        for i, (one, data) in enumerate(zip(chosen, words, strict=True))
    ]


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
    assert (one.counts["ev_trained"], one.counts["stat_up"], one.counts["stat_next_seq"]) == (
        1,
        1,
        50,
    )
    assert (one.counts["stat_underflows"], one.counts["stat_overflows"]) == (0, 0)
    slower, faster = clocks[0] > clocks[1], clocks[0] < clocks[1]  # the far end is
    assert (one.counts["ev_inserted"] > 0, one.counts["ev_removed"] > 0) == (slower, faster)
    assert int(dut.stat_phase.value) == phase[0] | phase[1] << 2
    one.stop()


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
    one.stop()


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
    one.stop()


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
    one.stop()


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
    one.stop()


@cocotb.test()
async def flipped_bits_hit_one_word_of_the_packet_asked_for_and_nothing_else(dut: Any) -> None:
    """faults.md, payload-bit-flip and header-corrupted: behind two that are long enough; a credit does not count."""
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
    """faults.md, lane-misaligned: the words up to the one asked for are right, the other lane's bytes all are."""
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
    one.stop()


@cocotb.test()
@cocotb.parametrize(lane=[0, 1])
async def a_synchronization_fifo_run_empty_repeats_a_half_and_lags_until_the_packet_ends(
    dut: Any, lane: int
) -> None:
    """faults.md, sync-fifo-empty: of one lane alone, told where; the next packet is aligned again."""
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
    assert (one.counts["empty_struck"], int(dut.empty_seq.value)) == (1, 0)
    assert one.words[-len(second) :] == framed(second)
    assert [verdict & PAYLOAD for verdict in one.verdicts if verdict] == [PAYLOAD]
    assert {kind for _, _, kind, _ in one.words} == {HEAD, BODY, TAIL}
    one.stop()
