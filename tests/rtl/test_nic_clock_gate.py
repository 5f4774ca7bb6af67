"""ff_nic_clock_gate: a gated clock has whole pulses only, in exactly the cycles behind which its enable stood."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge, Timer, ValueChange
from cocotb.utils import get_sim_time

from tests.rtl.clocks import Clock
from tests.rtl.simulation import in_icarus

HALF_PS = 5_000


test_a_clock_gate = in_icarus("ff_nic_clock_gate", __name__)


async def _edges(dut: Any, seen: list[tuple[int, int]]) -> None:
    """Note every change of the gated clock: time and level, which is a number or the test fails."""
    while True:
        await ValueChange(dut.gated)
        seen.append((int(get_sim_time("ps")), int(dut.gated.value)))


@cocotb.test()
async def a_clock_runs_from_power_up_on_before_its_enable_was_ever_sampled(dut: Any) -> None:
    """A reset needs the clock."""
    dut.en.value = 0
    for level, gated in ((1, 1), (0, 0), (1, 0)):  # the falling edge takes the enable
        dut.clk.value = level
        await Timer(HALF_PS, "ps")
        assert int(dut.gated.value) == gated


@cocotb.test()
async def an_enable_that_changes_behind_any_edge_or_glitches_cuts_no_pulse(dut: Any) -> None:
    """The pulse of a cycle is there, whole, where the enable stood at the falling edge before it."""
    draw = random.Random(2)
    dut.en.value = 1
    clock = Clock(dut.clk, 2 * HALF_PS, "ps").start()
    for _ in range(2):
        await FallingEdge(dut.clk)
    await Timer(1, "ps")
    seen: list[tuple[int, int]] = []
    watch = cocotb.start_soon(_edges(dut, seen))
    pulses: list[int] = []
    enabled = 1
    for _ in range(400):
        await RisingEdge(dut.clk)
        now = int(get_sim_time("ps"))
        if enabled:
            pulses.append(now)
        await Timer(draw.randrange(1, HALF_PS // 2), "ps")
        if draw.random() < 0.3:  # a flip-flop's output as it settles
            dut.en.value = draw.getrandbits(1)
            await Timer(draw.randrange(1, HALF_PS // 2), "ps")
        enabled = draw.getrandbits(1)
        dut.en.value = enabled
    await Timer(HALF_PS, "ps")
    watch.cancel()
    clock.cancel()
    assert seen == [
        (at + level_at, level) for at in pulses for level_at, level in ((0, 1), (HALF_PS, 0))
    ]
    assert 100 < len(pulses) < 300
