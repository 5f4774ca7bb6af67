"""ff_count_bank over ff_count: counts of three clocks in 64 bits, exact at the freeze; a stopped clock keeps its own.

The words of the window as in docs/card-map.md section 1: bit 8 the bank, bits 7:1 the counter, bit 0 the half.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge, Timer

from tests.rtl.clocks import Clock
from tests.rtl.simulation import in_icarus

test_counts_of_three_clocks = in_icarus(
    "ff_count_bank", __name__, {"COUNT": 5, "DOMAINS": 3, "DOMAIN": "40'h0201020100"}
)

DOMAIN = (0, 1, 2, 1, 2)
M = 1 << 32


class Card:
    """The counters as their domains hold them, driven beside the bank; a far clock may stand still."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.live, self.held = [0] * 5, [0] * 5

    def show(self) -> None:
        for name, values in (("live", self.live), ("held", self.held)):
            getattr(self.dut, name).value = sum(v % M << 32 * n for n, v in enumerate(values))

    async def start(self, stopped: tuple[int, ...] = ()) -> None:
        dut = self.dut
        for name in ("sel_snapshot", "sel_frozen", "win_word", "frozen", "cycle", "clks"):
            getattr(dut, name).value = 0
        dut.cfg_snapshot_log2.value, dut.rst.value, dut.rsts.value = 12, 1, 7
        self.show()
        Clock(dut.clk, 10_000, "ps").start()
        cocotb.start_soon(self._far(stopped))
        await ClockCycles(dut.clk, 1)
        cocotb.start_soon(self._count_cycles())
        await ClockCycles(dut.clk, 20)
        dut.rst.value, dut.rsts.value = 0, 0

    async def _far(self, stopped: tuple[int, ...]) -> None:
        stood = -1
        for half in range(10**7):
            bits = 0
            for d, period in ((1, 6), (2, 13)):
                if d not in stopped or half < 40:
                    bits |= (half * 2 // period % 2) << d
            if bits != stood:
                self.dut.clks.value = stood = bits
            await Timer(1, "ns")

    async def _count_cycles(self) -> None:
        cycle = 0
        while True:
            await RisingEdge(self.dut.clk)
            cycle = 0 if int(self.dut.rst.value) else cycle + 1
            self.dut.cycle.value = cycle

    async def read(self, frozen: bool, counter: int, bank: int = 0) -> int:
        value = 0
        for half in (0, 1):
            self.dut.win_word.value = bank << 8 | counter << 1 | half
            (self.dut.sel_frozen if frozen else self.dut.sel_snapshot).value = 1
            while True:
                await RisingEdge(self.dut.clk)
                await Timer(1, "ps")
                if int(self.dut.win_ack.value):
                    break
            value |= int(self.dut.win_rdata.value) << 32 * half
            self.dut.sel_frozen.value = self.dut.sel_snapshot.value = 0
            await ClockCycles(self.dut.clk, 2)
        return value


@cocotb.test()
async def counts_beyond_32_bits_come_whole_and_the_freeze_has_what_each_domain_held(
    dut: Any,
) -> None:
    card, draw = Card(dut), random.Random(1)
    await card.start()
    for _ in range(5):  # 2.5 wraps of the narrow counters, a sweep or more between two steps
        card.live = [value + draw.randrange(M // 2) for value in card.live]
        card.held = list(card.live)
        card.show()
        await ClockCycles(dut.clk, 400)
    before = int(dut.stat_snapshot_seq.value)
    while int(dut.stat_snapshot_seq.value) < before + 2:
        await ClockCycles(dut.clk, 10)
    bank = int(dut.stat_snapshot_seq.value) & 1
    assert [await card.read(False, n, bank) for n in range(5)] == card.live
    card.held = list(card.live)
    card.live = [value + 1000 + n for n, value in enumerate(card.live)]  # the card runs on
    card.show()
    await ClockCycles(dut.clk, 400)
    dut.frozen.value = 1
    await ClockCycles(dut.clk, 2)
    assert int(dut.stat_copying.value)
    assert [await card.read(True, n) for n in range(5)] == card.held
    dut.win_word.value, dut.sel_frozen.value = 5 << 1, 1
    await ClockCycles(dut.clk, 3)
    await Timer(1, "ps")
    assert (int(dut.win_ack.value), int(dut.win_err.value)) in ((1, 1), (0, 1))
    dut.sel_frozen.value = 0


@cocotb.test()
async def the_counters_of_a_clock_that_stands_still_stay_and_the_others_go_on(dut: Any) -> None:
    card = Card(dut)
    await card.start(stopped=(2,))
    card.live = [100, 200, 300, 400, 500]
    card.held = list(card.live)
    card.show()
    await ClockCycles(dut.clk, 3000)
    dut.frozen.value = 1
    await ClockCycles(dut.clk, 2)
    assert [await card.read(True, n) for n in range(5)] == [100, 200, 0, 400, 0]
