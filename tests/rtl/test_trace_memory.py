"""ff_trace_memory: written in one domain, read in another, touched by nothing else (formats.md section 2, rule 7)."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

from tests.rtl.clocks import Clock
from tests.rtl.simulation import in_icarus

test_a_trace_memory = in_icarus("ff_trace_memory", __name__, {"DEPTH": 16}, {"DEPTH": 16384})


async def _start(dut: Any) -> int:
    Clock(dut.wr_clk, 12_800, "ps").start()
    Clock(dut.rd_clk, 10_000, "ps").start()
    for name in ("wr_en", "wr_slot", "wr_record", "rd_en", "rd_slot"):
        getattr(dut, name).value = 0
    await FallingEdge(dut.rd_clk)
    return 1 << len(dut.wr_slot)


async def _write(dut: Any, slot: int, record: int, enable: int = 1) -> None:
    await FallingEdge(dut.wr_clk)
    dut.wr_en.value, dut.wr_slot.value, dut.wr_record.value = enable, slot, record
    await FallingEdge(dut.wr_clk)
    dut.wr_en.value = 0


async def _read(dut: Any, slot: int) -> int:
    await FallingEdge(dut.rd_clk)
    dut.rd_en.value, dut.rd_slot.value = 1, slot
    await FallingEdge(dut.rd_clk)
    dut.rd_en.value = 0
    return int(dut.rd_record.value)


@cocotb.test()
async def slots_never_written_read_zero_and_written_ones_what_was_written(dut: Any) -> None:
    depth = await _start(dut)
    draw = random.Random(3)
    written = {slot: draw.getrandbits(72) for slot in (0, 1, depth // 2, depth - 1)}
    for slot, record in written.items():
        await _write(dut, slot, record)
    for slot in (*written, 2, depth - 2):
        assert await _read(dut, slot) == written.get(slot, 0)


@cocotb.test()
async def without_its_enable_a_port_does_nothing_whatever_its_address(dut: Any) -> None:
    await _start(dut)
    await _write(dut, 5, 0xABC)
    await _write(dut, 5, 0xDEF, enable=0)
    assert await _read(dut, 5) == 0xABC
    dut.rd_slot.value = 6
    for _ in range(3):
        await FallingEdge(dut.rd_clk)
        assert int(dut.rd_record.value) == 0xABC
