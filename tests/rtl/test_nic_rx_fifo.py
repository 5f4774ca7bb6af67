"""ff_nic_rx_fifo: words pass with their verdict while their packet still comes; a full FIFO loses (docs/faults.md)."""

from __future__ import annotations

import random
from typing import Any, Self

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

from tests.rtl.fifo_sides import begin, take_words
from tests.rtl.simulation import in_icarus

HEAD, BODY, TAIL = 1, 2, 3
Word = tuple[int, int, int, int]  # start, kind, data, flags
INPUTS = (
    "s_valid", "s_first", "s_last", "s_kind", "s_data", "s_omit", "s_flags", "m_take", "m_hold", "m_done",
)  # fmt: skip


test_the_incoming_fifo = in_icarus(
    "ff_nic_rx_fifo", __name__, {"DEPTH_LOG2": 4}, {"DEPTH_LOG2": 15}
)


class Fifo:
    """The FIFO on two clocks, its writer with the verdict on a word one cycle behind it."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut, self.draw = dut, random.Random(seed)
        self.depth = 1 << int(dut.DEPTH_LOG2.value)
        self.stored: list[Word] = []

    async def start(self, s_ps: int = 12_800, m_ps: int = 10_000) -> Self:
        dut = self.dut
        await begin(dut, INPUTS, s_ps, m_ps, m_ps)
        assert (int(dut.m_valid.value), int(dut.m_complete.value), int(dut.m_level.value)) == (
            0,
            0,
            0,
        )
        return self

    async def write(self, words: int, omit: int = -1, late: int = 0) -> int:
        """Write a packet, with stalls, its last word late; return how many of its words went in."""
        dut, draw, accepted = self.dut, self.draw, 0
        for number in range(words):
            if late and number == words - 1:
                await ClockCycles(dut.s_clk, late)
                await FallingEdge(dut.s_clk)
            kind = HEAD if number < 2 else TAIL if number == words - 1 else BODY
            data, flags = draw.getrandbits(64), draw.getrandbits(3)
            dut.s_valid.value, dut.s_first.value, dut.s_last.value = (
                1,
                int(number == 0),
                int(number == words - 1),
            )
            dut.s_kind.value, dut.s_data.value, dut.s_omit.value = kind, data, int(number == omit)
            await RisingEdge(dut.s_clk)
            if int(dut.s_accept.value) and number != omit:
                self.stored.append((int(accepted == 0), kind, data, flags))
                accepted += 1
            await FallingEdge(dut.s_clk)
            dut.s_valid.value, dut.s_flags.value = 0, flags  # the checks speak one cycle later
            if draw.random() < 0.3:
                await FallingEdge(dut.s_clk)
                await ClockCycles(dut.s_clk, draw.randrange(3))
                await FallingEdge(dut.s_clk)
        return accepted

    async def read(self, words: int, hold: int = -1) -> list[Word]:
        dut = self.dut

        def word() -> Word:
            start, kind = int(dut.m_start.value), int(dut.m_kind.value)
            return start, kind, int(dut.m_data.value), int(dut.m_flags.value)

        return await take_words(dut, self.draw, words, hold, word)

    async def done(self) -> None:
        await FallingEdge(self.dut.m_clk)
        self.dut.m_done.value = 1
        await FallingEdge(self.dut.m_clk)
        self.dut.m_done.value = 0


async def fifo(dut: Any, seed: int, s_ps: int = 12_800, m_ps: int = 10_000) -> Fifo:
    return await Fifo(dut, seed).start(s_ps, m_ps)


@cocotb.test()
@cocotb.parametrize(clocks=[(12_800, 10_000), (4_000, 17_002), (17_002, 4_000)])
async def every_word_that_went_in_comes_out_once_with_its_verdict(
    dut: Any, clocks: tuple[int, int]
) -> None:
    """Also where the reader is slower and words are lost: what is left keeps its order and its first word its mark."""
    made = await fifo(dut, 1, *clocks)

    async def send() -> int:
        lost = 0
        for _ in range(20):
            words = made.draw.choice((2, 3, 5, 9))
            lost += words - await made.write(words)
        return lost

    sending = cocotb.start_soon(send())
    taken: list[Word] = []
    while not sending.done() or len(taken) < len(made.stored):
        if len(made.stored) > len(taken):
            taken += await made.read(len(made.stored) - len(taken))
        await FallingEdge(dut.m_clk)
    lost = await sending
    assert taken == made.stored
    if made.depth > 16:
        assert lost == 0
    elif clocks[0] < clocks[1]:
        assert lost > 0
    await ClockCycles(dut.m_clk, 8)
    assert (int(dut.m_valid.value), int(dut.m_level.value)) == (0, 0)


@cocotb.test()
async def a_word_can_be_read_before_its_packet_ends_and_the_end_is_told(dut: Any) -> None:
    made = await fifo(dut, 2)
    writing = cocotb.start_soon(made.write(12))
    first = await made.read(2)
    assert not writing.done()
    assert int(dut.m_complete.value) == 0
    await writing
    await ClockCycles(dut.m_clk, 10)
    assert int(dut.m_complete.value)
    assert first + await made.read(10) == made.stored
    await made.done()
    assert int(dut.m_complete.value) == 0


@cocotb.test()
@cocotb.parametrize(clocks=[(12_800, 10_000), (4_000, 17_002), (17_002, 4_000)])
async def an_end_is_never_known_before_the_last_word_shows(
    dut: Any, clocks: tuple[int, int]
) -> None:
    """A reader that sees the end and no word may believe that it has read them all, whichever clock is faster."""
    made = await fifo(dut, 5, *clocks)
    told: list[int] = []  # words read when the end was seen and no word

    async def read() -> None:
        taken = 0
        dut.m_take.value = 1
        while len(told) < 30:
            await FallingEdge(dut.m_clk)
            taken += int(dut.m_valid.value)
            dut.m_done.value = 0
            if int(dut.m_complete.value) and not int(dut.m_valid.value):
                told.append(taken)
                dut.m_done.value = 1
        await FallingEdge(dut.m_clk)
        dut.m_done.value = dut.m_take.value = 0

    reading = cocotb.start_soon(read())
    for packet in range(1, 31):
        await made.write(3, late=40 + packet)  # the reader has taken all before it
        while len(told) < packet:
            await FallingEdge(dut.m_clk)
    await reading
    assert told == [3 * packet for packet in range(1, 31)]


@cocotb.test()
async def into_a_full_fifo_no_word_goes_and_a_packet_without_a_word_has_no_end(dut: Any) -> None:
    made = await fifo(dut, 3)
    if made.depth > 16:
        return
    assert await made.write(20) == 16
    await ClockCycles(dut.m_clk, 8)
    assert int(dut.m_level.value) == 16
    assert await made.write(3) == 0
    assert await made.read(16) == made.stored
    await made.done()
    await ClockCycles(dut.m_clk, 10)
    assert (int(dut.m_complete.value), int(dut.m_valid.value)) == (0, 0)


@cocotb.test()
async def a_lost_write_enable_omits_a_word_and_a_held_pointer_repeats_one(dut: Any) -> None:
    """docs/faults.md: word-omitted, word-duplicated; where the first word is lost the next one has its mark."""
    made = await fifo(dut, 4)
    for omit in (0, 2):
        made.stored.clear()
        assert await made.write(5, omit=omit) == 4
        assert await made.read(4) == made.stored
    made.stored.clear()
    await made.write(3)
    first, second, third = made.stored
    assert await made.read(4, hold=1) == [first, second, second, third]
