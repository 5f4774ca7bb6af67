"""ff_nic_interrupt: completions that wait, the line and its mask (formats.md section 4, events of the interrupt)."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import simulate

INPUTS = ("complete", "host_mask", "host_enable", "host_take")
OUTPUTS = ("irq", "stat_masked", "stat_waiting", "ev_raised", "ev_masked", "ev_enabled")


def test_the_interrupt(tmp_path: Path) -> None:
    simulate("ff_nic_interrupt", __name__, tmp_path)


async def interrupt(dut: Any) -> Block:
    block = Block(dut, INPUTS, OUTPUTS)
    await block.start()
    return block


@cocotb.test()
async def the_handlers_round_masks_takes_all_and_enables(dut: Any) -> None:
    """Every completion is taken once, the line rises once a round, and each step is an event."""
    block = await interrupt(dut)
    assert (await block.step(complete=1))["irq"] == 0
    seen = await block.step(complete=1)
    assert (seen["irq"], seen["ev_raised"], seen["stat_waiting"]) == (1, 1, 1)
    assert int(dut.ev_value.value) == 1
    seen = await block.step(host_mask=1)
    assert (seen["irq"], seen["ev_raised"], seen["stat_waiting"]) == (1, 0, 2)  # raised once
    seen = await block.step(host_take=1, complete=1)
    assert (seen["irq"], seen["stat_masked"], seen["ev_masked"]) == (0, 1, 1)
    assert int(dut.ev_host_value.value) == 2
    for left in (2, 1, 0):
        assert (await block.step(host_take=1))["stat_waiting"] == left
    await block.step(host_enable=1)
    seen = await block.step()
    assert (seen["stat_masked"], seen["ev_enabled"], seen["irq"]) == (0, 1, 0)
    for _ in range(4):
        assert (await block.step())["irq"] == 0  # nothing waits


@cocotb.test()
async def what_came_while_masked_raises_the_line_when_it_is_enabled(dut: Any) -> None:
    block = await interrupt(dut)
    await block.step(host_mask=1)
    for _ in range(3):
        assert (await block.step(complete=1))["irq"] == 0
    await block.step(host_enable=1)
    assert (await block.step())["irq"] == 0
    seen = await block.step()
    assert (seen["irq"], seen["ev_raised"], seen["stat_waiting"]) == (1, 1, 3)


@cocotb.test()
async def for_any_handler_the_count_is_right_and_the_line_low_while_masked(dut: Any) -> None:
    block, draw = await interrupt(dut), random.Random(1)
    waiting = masked = line = raised = lowered = 0
    for _ in range(600):
        given = {"complete": int(draw.random() < 0.3), "host_take": int(draw.random() < 0.3)}
        which = draw.choice(("host_mask", "host_enable", "", "", ""))
        seen = await block.step(**given, **({which: 1} if which else {}))
        assert (seen["stat_waiting"], seen["stat_masked"]) == (waiting, masked)
        assert not (seen["irq"] and masked)
        assert seen["ev_raised"] == int(seen["irq"] and not line)
        raised += seen["ev_raised"]
        lowered += int(line and not seen["irq"])
        line = seen["irq"]
        waiting += given["complete"] - int(given["host_take"] and waiting + given["complete"] > 0)
        masked = {"host_mask": 1, "host_enable": 0}.get(which, masked)
    assert raised > 20
    assert raised - lowered == line
