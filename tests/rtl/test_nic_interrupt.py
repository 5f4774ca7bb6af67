"""ff_nic_interrupt: completions that wait, the line and its mask (formats.md section 4, events of the interrupt).

Its faults (docs/faults.md): interrupt-storm (the mask is not kept), interrupt-lost (no look at the enabling).
"""

from __future__ import annotations

import random
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

INPUTS = (
    "complete", "host_mask", "host_enable", "host_take", "complete_seq", "complete_flow", "fault_unmasked",
    "fault_edge",
)  # fmt: skip
OUTPUTS = (
    "irq", "stat_masked", "stat_waiting", "ev_raised", "ev_masked", "ev_enabled", "fault_struck",
)  # fmt: skip


test_the_interrupt = in_icarus("ff_nic_interrupt", __name__)


async def interrupt(dut: Any) -> Block:
    block = await Block(dut, INPUTS, OUTPUTS).start()
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


def struck(dut: Any) -> tuple[int, int]:
    """Return the sequence number and flow of the completion that waits."""
    return int(dut.fault_seq.value), int(dut.fault_struck_flow.value)


@cocotb.test()
async def unmasked_every_completion_interrupts_the_handler_once_more(dut: Any) -> None:
    """The handler's write lowers the line and is no event: the mask it should have set is not there."""
    block = await interrupt(dut)

    async def step(**given: int) -> dict[str, int]:
        return await block.step(fault_unmasked=1, **given)

    await step(complete=1)
    seen = await step()
    assert (seen["irq"], seen["ev_raised"], seen["fault_struck"]) == (1, 1, 0)
    await step(host_mask=1)
    for waiting in (2, 3, 4):  # the handler runs, and takes nothing as it is interrupted
        seen = await step(complete=1)
        assert (seen["irq"], seen["stat_masked"], seen["ev_masked"]) == (0, 0, 0)
        seen = await step()
        assert (seen["irq"], seen["ev_raised"], seen["stat_waiting"]) == (1, 1, waiting)
        assert int(dut.ev_value.value) == waiting
        assert seen["fault_struck"] == 1  # for a cycle, each time
        assert (await step(host_mask=1))["fault_struck"] == 0
    for _ in range(4):
        await step(host_take=1)
    await step(host_enable=1)
    seen = await step()
    assert (seen["irq"], seen["ev_enabled"], seen["stat_waiting"]) == (0, 1, 0)


@cocotb.test()
async def unmasked_a_single_completion_or_one_before_the_handler_is_not_called_a_strike(
    dut: Any,
) -> None:
    block = await interrupt(dut)
    for given in (
        {"complete": 1}, {"complete": 1}, {}, {"host_mask": 1}, {"host_take": 1}, {"host_take": 1},
        {"complete": 1}, {}, {"host_mask": 1}, {"host_take": 1}, {"host_enable": 1}, {}, {},
    ):  # fmt: skip
        assert (await block.step(fault_unmasked=1, **given))["fault_struck"] == 0


@cocotb.test()
async def unmasked_two_that_wait_when_the_handler_ends_interrupt_anew_and_that_is_no_strike(
    dut: Any,
) -> None:
    block = await interrupt(dut)
    for given in ({"complete": 1}, {"complete": 1}, {"host_mask": 1}, {"host_enable": 1}, {}):
        assert (await block.step(fault_unmasked=1, **given))["fault_struck"] == 0
    seen = await block.step(fault_unmasked=1)
    assert (seen["ev_raised"], seen["stat_waiting"], seen["fault_struck"]) == (1, 2, 0)


@cocotb.test()
async def on_an_edge_alone_what_came_before_the_enabling_waits_for_the_next_completion_once(
    dut: Any,
) -> None:
    block = await interrupt(dut)

    async def step(**given: int) -> dict[str, int]:
        return await block.step(fault_edge=1, **given)

    await step(complete=1, complete_seq=6, complete_flow=1)
    assert (await step())["irq"] == 1
    await step(host_mask=1)
    await step(host_take=1)  # the handler's last look
    await step(complete=1, complete_seq=7, complete_flow=2)
    await step(complete=1, complete_seq=8, complete_flow=3)
    await step(host_enable=1)
    seen = await step()
    assert (seen["ev_enabled"], seen["stat_waiting"]) == (1, 2)
    assert int(dut.ev_host_value.value) == 2
    for _ in range(40):
        seen = await step()
        assert (seen["irq"], seen["ev_raised"]) == (0, 0)
    assert seen["fault_struck"] == 1
    assert struck(dut) == (7, 2)
    await step(complete=1, complete_seq=9, complete_flow=4)
    seen = await step()
    assert (seen["irq"], seen["ev_raised"], seen["stat_waiting"]) == (1, 1, 3)
    # It strikes once: the next time the handler enables, what waits raises the line.
    await step(host_mask=1)
    await step(host_enable=1)
    assert (await step())["irq"] == 0
    assert (await step())["irq"] == 1
    assert struck(dut) == (7, 2)


@cocotb.test()
async def on_an_edge_alone_a_completion_with_the_enabling_or_after_it_raises_the_line(
    dut: Any,
) -> None:
    for cycle in (0, 1, 2):  # of the enabling, of its event, after it
        block = await interrupt(dut)
        await block.step(fault_edge=1, host_mask=1)
        for at in range(3):
            await block.step(fault_edge=1, host_enable=int(at == 0), complete=int(at == cycle))
        seen = await block.step(fault_edge=1)
        assert (seen["irq"], seen["stat_waiting"], seen["fault_struck"]) == (1, 1, 0)
