"""ff_trace_memory_half: whole records go in, halves come out, in two domains (formats.md section 2, rule 7)."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

from tests.rtl.clocks import Clock
from tests.rtl.simulation import in_icarus

HALVES = ((64, 0), (68, 32))  # of a record: where kind or dt, and the data, stand


test_a_trace_memory_read_by_halves = in_icarus(
    "ff_trace_memory_half", __name__, {"DEPTH": 16}, {"DEPTH": 16384}
)


def half(record: int, high: int) -> int:
    """Return what is read of a record: 0 its kind above data 0-31, 1 its dt above data 32-63."""
    nibble, data = HALVES[high]
    return (record >> nibble & 0xF) << 32 | record >> data & 0xFFFFFFFF


class Memory:
    """The block on its two clocks."""

    def __init__(self, dut: Any, periods_ps: tuple[int, int]) -> None:
        self.dut = dut
        self.depth = 1 << len(dut.wr_slot)
        for name in ("wr_en", "wr_slot", "wr_record", "rd_en", "rd_slot", "rd_high", "rd_clear"):
            getattr(dut, name).value = 0
        for clk, period in zip((dut.wr_clk, dut.rd_clk), periods_ps, strict=True):
            Clock(clk, period, "ps").start()

    async def write(self, slot: int, record: int, enable: int = 1) -> None:
        dut = self.dut
        await FallingEdge(dut.wr_clk)
        dut.wr_en.value, dut.wr_slot.value, dut.wr_record.value = enable, slot, record
        await FallingEdge(dut.wr_clk)
        dut.wr_en.value = 0

    async def read(self, slot: int, high: int, **given: int) -> int:
        dut = self.dut
        await FallingEdge(dut.rd_clk)
        dut.rd_en.value, dut.rd_slot.value, dut.rd_high.value = given.get("enable", 1), slot, high
        dut.rd_clear.value = given.get("clear", 0)
        await FallingEdge(dut.rd_clk)
        dut.rd_en.value = dut.rd_clear.value = 0
        return int(dut.rd_half.value)


@cocotb.test()
@cocotb.parametrize(periods_ps=[(12_800, 10_000), (4_000, 17_002), (17_002, 4_000)])
async def both_halves_of_every_record_come_back_and_slots_never_written_read_zero(
    dut: Any, periods_ps: tuple[int, int]
) -> None:
    memory, draw = Memory(dut, periods_ps), random.Random(periods_ps[0])
    slots = {0, 1, memory.depth // 2, memory.depth - 1} | {
        draw.randrange(memory.depth) for _ in range(12)
    }
    written = {slot: draw.getrandbits(72) for slot in slots}
    for slot, record in written.items():
        await memory.write(slot, ~record & (1 << 72) - 1)
        await memory.write(slot, record)  # the later one stands
    for slot in sorted(slots | {(slot + 1) % memory.depth for slot in slots}):
        for high in (1, 0):
            got = await memory.read(slot, high)
            if slot in written:
                assert got == half(written[slot], high)
            elif (
                periods_ps[0] == 12_800
            ):  # the first run of the three, on a memory fresh from its configuration
                assert got == 0


@cocotb.test()
async def without_its_enable_a_port_does_nothing_and_a_write_beside_a_read_elsewhere_is_no_matter(
    dut: Any,
) -> None:
    memory, record = Memory(dut, (12_800, 10_000)), 0xC3_0123456789ABCDEF
    await memory.write(5, record)
    await memory.write(5, 0, enable=0)
    assert await memory.read(5, 0) == half(record, 0)
    assert await memory.read(6, 1, enable=0) == half(record, 0)  # what was read last stays
    writing = cocotb.start_soon(memory.write(7, 1))
    assert await memory.read(5, 1) == half(record, 1)
    await writing


@cocotb.test()
async def a_cleared_read_register_is_zero_whatever_is_asked_and_the_memory_keeps_its_records(
    dut: Any,
) -> None:
    memory, record = Memory(dut, (12_800, 10_000)), 0x5A_FEDCBA9876543210
    await memory.write(9, record)
    assert await memory.read(9, 1) == half(record, 1)
    for enable in (0, 1):
        assert await memory.read(9, 1, enable=enable, clear=1) == 0
        assert await memory.read(9, 1) == half(record, 1)
