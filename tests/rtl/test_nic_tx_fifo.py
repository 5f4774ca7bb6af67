"""ff_nic_tx_fifo: whole packets from the bus to the link domain, the faults of its two pointers (docs/faults.md)."""

from __future__ import annotations

import random
from typing import Any, Self

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

from tests.rtl.fifo_sides import begin, take_words
from tests.rtl.simulation import in_icarus

HEAD, BODY, TAIL = 1, 2, 3
Word = tuple[int, int, int]  # last, kind, data
INPUTS = ("s_valid", "s_last", "s_kind", "s_data", "s_omit", "m_take", "m_hold")


test_the_outgoing_fifo = in_icarus(
    "ff_nic_tx_fifo",
    __name__,
    {"DEPTH_LOG2": 4, "PACKETS_LOG2": 2},
    {"DEPTH_LOG2": 15, "PACKETS_LOG2": 12},
)


class Fifo:
    """The FIFO on two clocks."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut, self.draw = dut, random.Random(seed)
        self.depth, self.packets = 1 << int(dut.DEPTH_LOG2.value), 1 << int(dut.PACKETS_LOG2.value)

    async def start(self, s_ps: int = 10_000, m_ps: int = 12_800) -> Self:
        dut = self.dut
        await begin(dut, INPUTS, s_ps, m_ps, s_ps)
        assert (int(dut.m_valid.value), int(dut.stat_level.value), int(dut.s_room.value)) == (
            0,
            0,
            self.depth,
        )
        assert (int(dut.s_packet_room.value), int(dut.stat_left.value)) == (1, 0)
        return self

    def packet(self, words: int) -> list[Word]:
        kinds = [*[HEAD, HEAD, *([BODY] * words)][: words - 1], TAIL]
        return [
            (int(i == words - 1), kind, self.draw.getrandbits(64)) for i, kind in enumerate(kinds)
        ]

    async def write(self, words: list[Word], stalls: bool = True, omit: int = -1) -> None:
        dut = self.dut
        for number, (last, kind, data) in enumerate(words):
            await FallingEdge(dut.s_clk)
            if stalls and self.draw.random() < 0.3:
                dut.s_valid.value = 0
                await ClockCycles(dut.s_clk, self.draw.randrange(1, 5))
                await FallingEdge(dut.s_clk)
            dut.s_valid.value, dut.s_last.value, dut.s_kind.value, dut.s_data.value = (
                1,
                last,
                kind,
                data,
            )
            dut.s_omit.value = int(number == omit)
        await FallingEdge(dut.s_clk)
        dut.s_valid.value = dut.s_omit.value = 0

    async def read(self, words: int, hold: int = -1) -> list[tuple[Word, int]]:
        """Take words with stalls; return each with the length told for its packet."""
        dut = self.dut

        def word() -> tuple[Word, int]:
            shown = int(dut.m_last.value), int(dut.m_kind.value), int(dut.m_data.value)
            return shown, int(dut.m_words.value)

        return await take_words(dut, self.draw, words, hold, word)


async def fifo(dut: Any, seed: int, s_ps: int = 10_000, m_ps: int = 12_800) -> Fifo:
    return await Fifo(dut, seed).start(s_ps, m_ps)


@cocotb.test()
@cocotb.parametrize(clocks=[(10_000, 12_800), (4_000, 17_002), (17_002, 4_000)])
async def packets_pass_whole_and_in_order_at_any_ratio_of_the_clocks(
    dut: Any, clocks: tuple[int, int]
) -> None:
    made = await fifo(dut, 1, *clocks)
    packets = [made.packet(made.draw.choice((2, 3, 4, 9, 14))) for _ in range(20)]

    async def send() -> None:
        for packet in packets:
            while int(dut.s_room.value) < len(packet) or not int(dut.s_packet_room.value):
                await FallingEdge(dut.s_clk)
            await made.write(packet)

    sending = cocotb.start_soon(send())
    taken = await made.read(sum(len(packet) for packet in packets))
    await sending
    assert [word for word, _ in taken] == [word for packet in packets for word in packet]
    assert [words for _, words in taken] == [len(packet) for packet in packets for _ in packet]
    await ClockCycles(dut.m_clk, 6)
    await ClockCycles(dut.s_clk, 6)
    left = 20 % (2 * made.packets)  # the count has one bit more than the number of a place
    assert (int(dut.stat_left.value), int(dut.stat_level.value), int(dut.m_valid.value)) == (
        left,
        0,
        0,
    )


@cocotb.test()
async def a_packet_is_not_offered_before_its_last_word_was_written(dut: Any) -> None:
    made = await fifo(dut, 2)
    packet = made.packet(8)
    await made.write(packet[:-1])
    await ClockCycles(dut.m_clk, 20)
    assert (int(dut.m_valid.value), int(dut.stat_level.value)) == (0, 7)
    await made.write(packet[-1:])
    assert [word for word, _ in await made.read(8)] == packet


@cocotb.test()
async def a_word_for_a_full_fifo_is_lost_and_told_and_so_is_room_for_packets(dut: Any) -> None:
    made = await fifo(dut, 3)
    if made.depth > 16:
        return
    for _ in range(made.packets):
        assert int(dut.s_packet_room.value)
        await made.write(made.packet(4), stalls=False)
    assert (int(dut.s_room.value), int(dut.s_packet_room.value), int(dut.stat_level.value)) == (
        0,
        0,
        16,
    )
    dut.s_valid.value = 1
    await RisingEdge(dut.s_clk)
    assert int(dut.stat_overflow.value)
    await FallingEdge(dut.s_clk)
    dut.s_valid.value = 0
    await RisingEdge(dut.s_clk)
    assert (int(dut.stat_overflow.value), int(dut.stat_level.value)) == (0, 16)


@cocotb.test()
async def a_lost_write_enable_omits_a_word_and_a_held_pointer_repeats_one(dut: Any) -> None:
    """docs/faults.md: word-omitted, word-duplicated. Told is the length of the packet as it was meant."""
    made = await fifo(dut, 4)
    packet, behind = made.packet(6), made.packet(3)
    await made.write(packet, omit=2)
    await made.write(behind)
    words = packet[:2] + packet[3:]
    taken = await made.read(8)
    assert [word for word, _ in taken] == words + behind
    assert taken[0][1] == 6
    await made.write(behind)
    assert [word for word, _ in await made.read(4, hold=1)] == [
        behind[0],
        behind[1],
        behind[1],
        behind[2],
    ]
