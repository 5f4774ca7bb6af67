"""ff_cause_latch: the first causes of a clock domain and the cycles since (docs/formats.md section 2, rule 4)."""

from __future__ import annotations

from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

INPUTS = ("arm_next", "arm", "causes_in")
OUTPUTS = ("hit", "level", "triggered", "causes", "since", "drain")


test_the_first_causes_of_a_domain = in_icarus(
    "ff_cause_latch",
    __name__,
    {"POST_DRAIN": 2, "SINCE_W": 2},
    {"POST_DRAIN": 16, "SINCE_W": 8},
    {"POST_DRAIN": 1 << 20, "SINCE_W": 32},
)


async def _armed(dut: Any) -> Block:
    block = await Block(dut, INPUTS, OUTPUTS).start()
    await block.step(arm_next=1)
    await block.step(arm=1)
    return block


@cocotb.test()
async def nothing_is_a_cause_before_the_first_arm(dut: Any) -> None:
    block = await Block(dut, INPUTS, OUTPUTS).start()
    for _ in range(4):
        told = await block.step(causes_in=0xFFF)
        assert told == {"hit": 0, "level": 0, "triggered": 0, "causes": 0, "since": 0, "drain": 0}


@cocotb.test()
async def the_first_cycle_with_a_cause_latches_all_its_causes_and_later_ones_nothing(
    dut: Any,
) -> None:
    block = await _armed(dut)
    await block.step(
        causes_in=0b0110
    )  # cycle c is the next: there the cause stands in the register
    told = await block.step(causes_in=0b1000)
    assert (told["hit"], told["level"], told["triggered"], told["causes"]) == (1, 1, 0, 0b0110)
    told = await block.step(causes_in=0b1000)
    assert (told["hit"], told["triggered"], told["causes"], told["since"]) == (1, 1, 0b0110, 1)


@cocotb.test()
async def cycles_since_the_cause_are_counted_up_to_the_largest_and_drain_goes_on(dut: Any) -> None:
    drain, largest = int(dut.POST_DRAIN.value), (1 << int(dut.SINCE_W.value)) - 1
    block = await _armed(dut)
    await block.step(causes_in=1)
    await block.step()
    for cycle in range(1, 600):
        told = await block.step()
        assert told["since"] == min(cycle, largest)
        assert told["drain"] == (cycle % drain == 0)


@cocotb.test()
async def an_arm_forgets_and_the_level_falls_a_cycle_earlier(dut: Any) -> None:
    block = await _armed(dut)
    await block.step(causes_in=2)
    await block.step()
    told = await block.step(arm_next=1)
    assert (told["hit"], told["level"]) == (1, 1)
    told = await block.step(arm=1)
    assert (told["hit"], told["level"]) == (1, 0)
    told = await block.step()
    assert told == {"hit": 0, "level": 0, "triggered": 0, "causes": 0, "since": 0, "drain": 0}


@cocotb.test()
async def a_cause_that_arises_in_the_cycle_of_the_arm_counts_from_the_next(dut: Any) -> None:
    block = await Block(dut, INPUTS, OUTPUTS).start()
    await block.step(arm_next=1)
    await block.step(arm=1, causes_in=4)
    told = await block.step()
    assert (told["hit"], told["level"], told["triggered"], told["causes"]) == (1, 1, 0, 4)
