"""ff_counters: no strobe of either domain is lost, snapshots have two banks, and the values at freeze stand apart.

A counter of a snapshot is exact in some cycle between its time and its end (limits of the header), so it is compared
with the strobes that had come by then; the values at freeze of a card that is held are exact.
"""

from __future__ import annotations

import itertools
import random
from bisect import bisect_right
from pathlib import Path
from typing import Any, Self

import cocotb
import pytest
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, with_timeout
from cocotb.utils import get_sim_time

from tests.rtl.clocks import Clock
from tests.rtl.simulation import simulate

BUS_PS, LINK_PS = 10_000, 12_800


@pytest.mark.parametrize(("count", "width", "link_mask"), [(2, 32, 0), (32, 64, 0xFFFFFFFF)])
def test_counters(tmp_path: Path, count: int, width: int, link_mask: int) -> None:
    simulate("ff_counters", __name__, tmp_path, {
        "COUNT": count, "COUNTER_W": width, "LINK_MASK": f"32'd{link_mask}",
    })  # fmt: skip


class Strobes:
    """Random strobes of one domain and how many of each there had been at any time."""

    def __init__(self, clk: Any, port: Any, mask: int, seed: int) -> None:
        self.clk, self.port, self.mask = clk, port, mask
        self.draw = random.Random(seed)
        self.on = True
        self.always = False  # every strobe in every cycle
        self.times: list[int] = []
        self.sums: list[list[int]] = []

    async def run(self) -> None:
        sums = [0] * 32
        while True:
            await FallingEdge(self.clk)
            drawn = self.mask if self.always else self.mask & self.draw.getrandbits(32)
            value = drawn if self.on else 0
            self.port.value = value & (1 << len(self.port)) - 1
            await RisingEdge(self.clk)
            sums = [n + (value >> i & 1) for i, n in enumerate(sums)]
            self.times.append(round(get_sim_time("ps")))
            self.sums.append(sums)

    def by(self, time_ps: int, counter: int) -> int:
        """Return the strobes up to a time."""
        at = bisect_right(self.times, time_ps)
        return self.sums[at - 1][counter] if at else 0


class Counters:
    """The block on two clocks."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut = dut
        self.count = int(dut.COUNT.value)
        self.link_mask = int(dut.LINK_MASK.value)
        mask = (1 << self.count) - 1
        self.bus = Strobes(dut.clk_bus, dut.count_bus, mask, seed)
        self.link = Strobes(dut.clk_link, dut.count_link, mask & self.link_mask, seed + 1)
        self.link_clock: Any = None

    async def start(self, log2: int, cycle: int = 1) -> Self:
        dut = self.dut
        for name in ("count_bus", "count_link", "frozen", "sel_snapshot", "sel_frozen", "win_word"):
            getattr(dut, name).value = 0
        dut.cycle.value, dut.cfg_snapshot_log2.value = cycle, log2
        self.link_clock = Clock(dut.clk_link, LINK_PS, "ps")
        Clock(dut.clk_bus, BUS_PS, "ps").start()
        self.link_clock.start()
        dut.rst_bus.value = dut.rst_link.value = 1
        await ClockCycles(dut.clk_bus, 12)
        await FallingEdge(dut.clk_link)
        dut.rst_link.value = 0
        await FallingEdge(dut.clk_bus)
        dut.rst_bus.value = 0
        for work in (self.bus.run(), self.link.run(), self._cycles(cycle)):
            cocotb.start_soon(work)
        return self

    async def _cycles(self, cycle: int) -> None:
        while True:
            await FallingEdge(self.dut.clk_bus)
            cycle += 1
            self.dut.cycle.value = cycle & (1 << 40) - 1

    async def read(self, select: str, counter: int, bank: int = 0) -> int:
        """Return both halves of a counter."""
        halves = []
        for half in range(2):
            await FallingEdge(self.dut.clk_bus)
            getattr(self.dut, select).value = 1
            self.dut.win_word.value = bank << 8 | counter << 1 | half
            await with_timeout(self._answered(), 60, "us")
            halves.append(int(self.dut.win_rdata.value))
            await FallingEdge(self.dut.clk_bus)
            getattr(self.dut, select).value = 0
            await FallingEdge(self.dut.clk_bus)
            assert (int(self.dut.win_ack.value), int(self.dut.win_rdata.value)) == (0, 0)
        return halves[0] | halves[1] << 32

    async def _answered(self) -> None:
        while True:
            await RisingEdge(self.dut.clk_bus)
            if int(self.dut.win_ack.value):
                return

    async def snapshot(self) -> tuple[int, int]:
        """Wait until another snapshot is complete; return its number and that time in ps."""
        before = int(self.dut.stat_snapshot_seq.value)
        for _ in range(2000):
            await FallingEdge(self.dut.clk_bus)
            if int(self.dut.stat_snapshot_seq.value) != before:
                assert int(self.dut.stat_snapshot_seq.value) == before + 1
                return before + 1, round(get_sim_time("ps"))
        raise AssertionError("no snapshot")

    async def freeze(self) -> None:
        """Freeze a few cycles after the last strobe; whoever reads knows of it a cycle later at the earliest."""
        await ClockCycles(self.dut.clk_bus, 4)
        await FallingEdge(self.dut.clk_bus)
        self.dut.frozen.value = 1
        await FallingEdge(self.dut.clk_bus)

    def total(self, counter: int) -> int:
        return self.bus.sums[-1][counter] + self.link.sums[-1][counter]


async def counters(dut: Any, seed: int, log2: int, cycle: int = 1) -> Counters:
    return await Counters(dut, seed).start(log2, cycle)


@cocotb.test()
async def before_the_first_snapshot_and_freeze_all_read_zero(dut: Any) -> None:
    made = await counters(dut, 1, 40)
    await ClockCycles(dut.clk_bus, 60)
    for counter in (0, made.count - 1, 31):
        assert await made.read("sel_snapshot", counter, 0) == 0
        assert await made.read("sel_snapshot", counter, 1) == 0
        assert await made.read("sel_frozen", counter) == 0
    assert int(dut.stat_snapshot_seq.value) == 0


@cocotb.test()
@cocotb.parametrize(log2=[0, 7])  # below 6 counts as 6
async def snapshots_come_at_their_times_into_two_banks_by_turns(dut: Any, log2: int) -> None:
    made = await counters(dut, 2, log2)
    period_ps = BUS_PS << max(log2, 6)
    late_ps = (made.count + made.count // 4 + 4) * BUS_PS
    crossing_ps = 40 * made.count * LINK_PS
    ends = []
    for number in range(1, 4):
        seq, end_ps = await made.snapshot()
        assert seq == number
        ends.append(end_ps)
        begin_ps = end_ps - late_ps - made.count * BUS_PS
        for counter in {0, made.count // 2, made.count - 1}:
            found = await made.read("sel_snapshot", counter, seq & 1)
            low = made.bus.by(begin_ps, counter) + made.link.by(begin_ps - crossing_ps, counter)
            high = made.bus.by(end_ps, counter) + made.link.by(end_ps, counter)
            assert low <= found <= high, (seq, counter)
    for before, after in itertools.pairwise(ends):
        assert abs(after - before - period_ps) <= late_ps


@cocotb.test()
async def a_snapshot_stands_while_the_next_one_is_made(dut: Any) -> None:
    made = await counters(dut, 3, 7)
    await made.snapshot()
    seq, _ = await made.snapshot()
    first = await made.read("sel_snapshot", 1, seq & 1)
    await made.snapshot()
    assert await made.read("sel_snapshot", 1, seq & 1) == first


@cocotb.test()
async def at_freeze_every_strobe_that_came_is_counted_and_later_ones_are_not(dut: Any) -> None:
    made = await counters(dut, 4, 40)
    for turn in range(2):
        made.bus.on = made.link.on = True
        await ClockCycles(dut.clk_bus, 400)
        made.bus.on = made.link.on = False  # the card is held
        await made.freeze()
        assert await made.read("sel_frozen", 0) == made.total(0)
        totals = [made.total(counter) for counter in range(made.count)]
        made.bus.on = made.link.on = True
        await ClockCycles(dut.clk_bus, 100)
        assert [
            await made.read("sel_frozen", counter) for counter in range(made.count)
        ] == totals, turn
        for counter in range(made.count, 32):
            assert await made.read("sel_frozen", counter) == 0
        dut.frozen.value = 0
        await ClockCycles(dut.clk_bus, 10)


@cocotb.test()
async def no_strobe_is_lost_when_every_counter_counts_in_every_cycle(dut: Any) -> None:
    made = await counters(dut, 5, 6)  # snapshots go on as well
    made.bus.always = made.link.always = True
    await ClockCycles(dut.clk_bus, 1000)
    made.bus.on = made.link.on = False
    await made.freeze()
    for counter in (0, 1, made.count - 1):
        assert await made.read("sel_frozen", counter) == made.total(counter)


@cocotb.test()
async def a_link_clock_that_stands_still_does_not_keep_the_copy_away(dut: Any) -> None:
    made = await counters(dut, 6, 40)
    made.link.on = False
    await ClockCycles(dut.clk_bus, 200)
    made.link_clock.stop()
    made.bus.on = False
    await made.freeze()
    for counter in (0, made.count - 1):
        assert await made.read("sel_frozen", counter) == made.bus.sums[-1][counter]
