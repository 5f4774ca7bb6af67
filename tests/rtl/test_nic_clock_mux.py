"""ff_nic_clock_mux: the clock that is chosen and no other, edge by edge; while the choice stands no pulse is cut."""

from __future__ import annotations

import itertools
from typing import Any

import cocotb
from cocotb.triggers import Timer, ValueChange
from cocotb.utils import get_sim_time

from tests.rtl.clocks import Clock
from tests.rtl.simulation import in_icarus

PERIODS_PS = (12_800, 17_002)


test_a_clock_mux = in_icarus("ff_nic_clock_mux", __name__)


async def _edges(signal: Any, seen: list[tuple[int, int]]) -> None:
    while True:
        await ValueChange(signal)
        seen.append((int(get_sim_time("ps")), int(signal.value)))


@cocotb.test()
@cocotb.parametrize(sel=[0, 1])
async def every_edge_of_the_chosen_clock_and_none_of_the_other_comes_out(
    dut: Any, sel: int
) -> None:
    dut.sel.value = sel
    clocks = [
        Clock(clk, period, "ps").start()
        for clk, period in zip((dut.clk0, dut.clk1), PERIODS_PS, strict=True)
    ]
    await Timer(50_000, "ps")
    out: list[tuple[int, int]] = []
    chosen: list[tuple[int, int]] = []
    tasks = [
        cocotb.start_soon(_edges(dut.clk, out)),
        cocotb.start_soon(_edges((dut.clk0, dut.clk1)[sel], chosen)),
    ]
    await Timer(100 * PERIODS_PS[sel], "ps")
    for task in (*tasks, *clocks):
        task.cancel()
    assert out == chosen
    assert len(out) == 200
    assert {b - a for (a, _), (b, _) in itertools.pairwise(out)} == {PERIODS_PS[sel] // 2}


@cocotb.test()
async def a_clock_that_stands_still_does_not_stop_the_other(dut: Any) -> None:
    """The far end may be off: its recovered clock does not come, the own one does."""
    for sel, running, still in ((0, dut.clk0, dut.clk1), (1, dut.clk1, dut.clk0)):
        still.value = 1 - sel
        dut.sel.value = sel
        clock = Clock(running, PERIODS_PS[sel], "ps").start()
        out: list[tuple[int, int]] = []
        await Timer(PERIODS_PS[sel], "ps")
        watch = cocotb.start_soon(_edges(dut.clk, out))
        await Timer(20 * PERIODS_PS[sel], "ps")
        watch.cancel()
        clock.cancel()
        assert len(out) == 40
