"""ff_sampler: cumulative words out and in at equal distances of time (formats.md section 1, samples)."""

from __future__ import annotations

import itertools
import random
from typing import Any, Self

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from cocotb.utils import get_sim_time

from tests.rtl.clocks import Clock
from tests.rtl.simulation import in_icarus

BUS_PS, LINK_PS = 10_000, 12_800


test_a_sampler = in_icarus("ff_sampler", __name__, {"DEPTH": 16}, {"DEPTH": 4096})


class Sampler:
    """The block on two clocks, with words that pass at random and a count of them at every link edge."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut, self.draw = dut, random.Random(seed)
        self.depth = int(dut.DEPTH.value)
        self.cycle = 0
        self.counts: list[tuple[int, int, int]] = []  # time in ps, words out, words in from then on
        self.taken: list[int] = []  # cycles of samples
        self.times: list[int] = []  # of samples, ps

    async def start(self, period: int) -> Self:
        dut = self.dut
        for name in (
            "word_out",
            "word_in",
            "cycle",
            "cfg_written",
            "armed",
            "arm",
            "sel_samples",
            "sel_sampler",
            "win_word",
        ):
            getattr(dut, name).value = 0
        dut.cfg_period.value = period
        Clock(dut.clk_bus, BUS_PS, "ps").start()
        Clock(dut.clk_link, LINK_PS, "ps").start()
        dut.rst_bus.value = dut.rst_link.value = 1
        await ClockCycles(dut.clk_bus, 12)
        await FallingEdge(dut.clk_link)
        dut.rst_link.value = 0
        await FallingEdge(dut.clk_bus)
        dut.rst_bus.value = 0
        cocotb.start_soon(self._words())
        cocotb.start_soon(self._cycles())
        return self

    async def _cycles(self) -> None:
        """Number the bus cycles from 1 on, the first behind the reset, and note those of a sample."""
        while True:
            await RisingEdge(self.dut.clk_bus)
            if int(self.dut.m_sampled.value):
                self.taken.append(self.cycle)
                self.times.append(round(get_sim_time("ps")))
            self.cycle += 1
            self.dut.cycle.value = self.cycle

    async def _words(self) -> None:
        out = into = 0
        while True:
            await FallingEdge(self.dut.clk_link)
            word_out, word_in = self.draw.randrange(2), self.draw.randrange(2)
            self.dut.word_out.value, self.dut.word_in.value = word_out, word_in
            await RisingEdge(self.dut.clk_link)
            out, into = out + word_out, into + word_in
            self.counts.append((round(get_sim_time("ps")), out, into))

    async def read(self, select: str, word: int) -> tuple[int, int]:
        await FallingEdge(self.dut.clk_bus)
        getattr(self.dut, select).value = 1
        self.dut.win_word.value = word
        for _ in range(4):
            await RisingEdge(self.dut.clk_bus)
            if int(self.dut.win_ack.value):
                break
        else:
            raise AssertionError(f"word {word}: no answer")
        answer = int(self.dut.win_err.value), int(self.dut.win_rdata.value)
        await FallingEdge(self.dut.clk_bus)
        getattr(self.dut, select).value = 0
        await FallingEdge(self.dut.clk_bus)
        assert (
            int(self.dut.win_ack.value),
            int(self.dut.win_rdata.value),
            int(self.dut.win_err.value),
        ) == (0, 0, 0)
        return answer

    async def status(self) -> tuple[int, int, int]:
        """Return ``(write_ptr, wrapped, last cycle)``."""
        words = [(await self.read("sel_sampler", word))[1] for word in range(4)]
        return words[0], words[1], words[2] | words[3] << 32

    async def sample(self, slot: int) -> tuple[int, int]:
        """Return the words out and in of a slot."""
        return (await self.read("sel_samples", 2 * slot))[1], (
            await self.read("sel_samples", 2 * slot + 1)
        )[1]

    def at(self, time_ps: int) -> list[tuple[int, int]]:
        """Return the words out and in up to the second link edge behind a sample's cycle; two where edges coincide."""
        edges = [c for c in self.counts if c[0] >= time_ps][:3]
        return [
            (out, into) for _, out, into in (edges[1:] if edges[0][0] == time_ps else edges[1:2])
        ]


@cocotb.test()
@cocotb.parametrize(period=[37, 64])
async def samples_are_taken_every_period_while_armed_with_the_counts_of_then(
    dut: Any, period: int
) -> None:
    sampler = await Sampler(dut, period).start(period)
    await ClockCycles(dut.clk_bus, 3 * period)
    assert sampler.taken == []
    assert await sampler.status() == (0, 0, 0)
    await FallingEdge(dut.clk_bus)
    dut.armed.value = 1
    await ClockCycles(dut.clk_bus, 10 * period)
    await FallingEdge(dut.clk_bus)
    dut.armed.value = 0
    await ClockCycles(dut.clk_bus, 20)
    taken = sampler.taken
    assert len(taken) == 10
    assert {b - a for a, b in itertools.pairwise(taken)} == {period}
    assert await sampler.status() == (10, 0, taken[-1])
    for slot, time_ps in enumerate(sampler.times):
        assert await sampler.sample(slot) in sampler.at(time_ps), slot


@cocotb.test()
async def the_slots_wrap_and_an_arm_begins_at_slot_zero(dut: Any) -> None:
    sampler = await Sampler(dut, 3).start(16)
    dut.armed.value = 1
    if sampler.depth == 16:
        while len(sampler.taken) < 19:
            await ClockCycles(dut.clk_bus, 16)
        dut.armed.value = 0
        await ClockCycles(dut.clk_bus, 20)
        assert await sampler.status() == (len(sampler.taken) % 16, 1, sampler.taken[-1])
        for place, time_ps in list(enumerate(sampler.times))[-16:]:
            assert await sampler.sample(place % 16) in sampler.at(time_ps), place
    dut.armed.value = 0
    await FallingEdge(dut.clk_bus)
    dut.arm.value = 1
    await FallingEdge(dut.clk_bus)
    dut.arm.value = 0
    assert await sampler.status() == (0, 0, 0)


@cocotb.test()
async def period_zero_takes_no_samples_and_a_write_begins_the_period_anew(dut: Any) -> None:
    sampler = await Sampler(dut, 4).start(0)
    dut.armed.value = 1
    await ClockCycles(dut.clk_bus, 200)
    assert sampler.taken == []
    await FallingEdge(dut.clk_bus)
    dut.cfg_period.value, dut.cfg_written.value = 50, 1
    written = sampler.cycle
    await FallingEdge(dut.clk_bus)
    dut.cfg_written.value = 0
    await ClockCycles(dut.clk_bus, 120)
    assert sampler.taken[:2] == [written + 50, written + 100]


@cocotb.test()
async def a_time_nearer_than_an_answer_of_the_link_is_left_out(dut: Any) -> None:
    sampler = await Sampler(dut, 5).start(1)
    dut.armed.value = 1
    await ClockCycles(dut.clk_bus, 150)
    dut.armed.value = 0
    await ClockCycles(dut.clk_bus, 20)
    gaps = [b - a for a, b in zip(sampler.taken, sampler.taken[1:], strict=False)]
    assert min(gaps) >= 5 and max(gaps) <= 12
    for slot, time_ps in list(enumerate(sampler.times))[-8:]:
        assert await sampler.sample(slot % sampler.depth) in sampler.at(time_ps), slot


@cocotb.test()
async def a_slot_that_no_build_has_is_an_error(dut: Any) -> None:
    sampler = await Sampler(dut, 6).start(0)
    assert (await sampler.read("sel_samples", 2 * sampler.depth - 1))[0] == 0
    if sampler.depth < 4096:
        assert await sampler.read("sel_samples", 2 * sampler.depth) == (1, 0)
        assert await sampler.read("sel_samples", 8191) == (1, 0)
