"""ff_nic_sync_fifo: 32-bit halves across two clocks of near the same rate; read while empty it repeats the last half
and tells, written while full it counts what is lost (docs/faults.md, sync-fifo-empty).
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge, Timer

from tests.rtl.clocks import Clock
from tests.rtl.simulation import in_icarus

test_the_synchronization_fifo_of_a_lane = in_icarus(
    "ff_nic_sync_fifo", __name__, {"DEPTH_LOG2": 3}, {"DEPTH_LOG2": 6}
)


async def _start(dut: Any) -> int:
    """Return the number of halves it holds."""
    Clock(dut.s_clk, 12_800, "ps").start()
    Clock(dut.m_clk, 12_802, "ps").start()
    for name in ("s_valid", "s_idle", "s_halt", "s_data", "m_read", "m_pop", "m_stale"):
        getattr(dut, name).value = 0
    dut.s_rst.value = dut.m_rst.value = 1
    for _ in range(4):
        await FallingEdge(dut.m_clk)
    dut.s_rst.value = dut.m_rst.value = 0
    for _ in range(4):
        await FallingEdge(dut.m_clk)
    return 1 << int(dut.DEPTH_LOG2.value)


async def _write(dut: Any, halves: list[int]) -> None:
    await FallingEdge(dut.s_clk)
    for half in halves:
        dut.s_valid.value, dut.s_data.value = 1, half
        await FallingEdge(dut.s_clk)
    dut.s_valid.value = 0


async def _watch(clk: Any, signal: Any, seen: list[int]) -> None:
    """Note a signal with every edge of its clock."""
    while True:
        await RisingEdge(clk)
        seen.append(int(signal.value))


@cocotb.test()
async def every_half_comes_out_once_and_in_order(dut: Any) -> None:
    depth = await _start(dut)
    draw = random.Random(5)
    sent = [draw.getrandbits(32) for _ in range(400)]
    cocotb.start_soon(_write(dut, sent))
    got: list[int] = []
    while len(got) < len(sent):
        await FallingEdge(dut.m_clk)
        level = int(dut.m_level.value)
        assert level <= depth
        take = int(level > 1 or (level and len(got) == len(sent) - 1))
        if take:
            got.append(int(dut.m_data.value))
        dut.m_read.value, dut.m_pop.value = take, 1
    await FallingEdge(dut.m_clk)
    dut.m_read.value = 0
    assert got == sent
    assert int(dut.stat_overflows.value) == 0


@cocotb.test()
async def read_while_empty_it_repeats_the_last_half_and_tells_each_time(dut: Any) -> None:
    await _start(dut)
    await _write(dut, [0x11, 0x22])
    for _ in range(5):
        await FallingEdge(dut.m_clk)
    dut.m_read.value, dut.m_pop.value = 1, 1
    seen = []
    for _ in range(5):
        await Timer(1, "ns")
        seen.append((int(dut.m_data.value), int(dut.m_underflow.value)))
        await FallingEdge(dut.m_clk)
    dut.m_read.value = 0
    assert seen == [(0x11, 0), (0x22, 0), (0x22, 1), (0x22, 1), (0x22, 1)]


@cocotb.test()
async def while_the_write_pointer_does_not_cross_it_runs_empty_though_halves_arrive(
    dut: Any,
) -> None:
    await _start(dut)
    await _write(dut, [1, 2, 3])
    for _ in range(5):
        await FallingEdge(dut.m_clk)
    dut.m_stale.value = 1
    await _write(dut, [4, 5])
    for _ in range(5):
        await FallingEdge(dut.m_clk)
    assert int(dut.m_level.value) == 3
    dut.m_read.value, dut.m_pop.value = 1, 1
    seen = []
    for place in range(6):
        await Timer(1, "ns")
        seen.append((int(dut.m_data.value), int(dut.m_underflow.value)))
        await FallingEdge(dut.m_clk)
        if place == 3:  # as in the card: it crosses again once the FIFO has been read empty
            dut.m_stale.value = 0
    dut.m_read.value = 0
    # The third half again, and then what had come meanwhile: nothing is lost, all is one later.
    assert seen == [(1, 0), (2, 0), (3, 0), (3, 1), (4, 0), (5, 0)]


@cocotb.test()
async def a_reader_may_stay_or_skip_a_half(dut: Any) -> None:
    await _start(dut)
    await _write(dut, [1, 2, 3, 4])
    for _ in range(5):
        await FallingEdge(dut.m_clk)
    seen = []
    for pop in (0, 1, 2, 1):
        dut.m_read.value, dut.m_pop.value = 1, pop
        await Timer(1, "ns")
        seen.append(int(dut.m_data.value))
        await FallingEdge(dut.m_clk)
    dut.m_read.value = 0
    assert seen == [1, 1, 2, 4]


@cocotb.test()
async def what_does_not_fit_is_lost_and_counted(dut: Any) -> None:
    """The writer's side knows at once; the reader's learns of it later, of several perhaps in one cycle."""
    depth = await _start(dut)
    lost: list[int] = []
    known: list[int] = []
    tasks = [
        cocotb.start_soon(_watch(dut.s_clk, dut.s_lost, lost)),
        cocotb.start_soon(_watch(dut.m_clk, dut.m_overflow, known)),
    ]
    await _write(dut, list(range(1, depth + 6)))
    for _ in range(6):
        await FallingEdge(dut.m_clk)
    for task in tasks:
        task.cancel()
    assert sum(lost) == 5
    assert 1 <= sum(known) <= 5
    assert int(dut.m_level.value) == depth
    assert int(dut.stat_overflows.value) == 5
    assert int(dut.m_data.value) == 1
