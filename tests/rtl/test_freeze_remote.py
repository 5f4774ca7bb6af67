"""ff_freeze_remote: arm and causes in the other clock domain (docs/formats.md section 2, rule 4)."""

from __future__ import annotations

from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

INPUTS = ("bus_arm_toggle", "bus_level", "bus_causes", "bus_cfg_cause_mask", "causes_in")
OUTPUTS = ("far_level", "far_armed", "arm", "triggered", "causes", "since", "drain")


test_the_other_domain = in_icarus(
    "ff_freeze_remote",
    __name__,
    {"POST_DRAIN": 2, "SINCE_W": 2},
    {"POST_DRAIN": 1 << 20, "SINCE_W": 32},
)


class Remote:
    def __init__(self, dut: Any) -> None:
        self.block = Block(dut, INPUTS, OUTPUTS)
        self.state = {
            "bus_arm_toggle": 0,
            "bus_level": 0,
            "bus_causes": 0,
            "bus_cfg_cause_mask": 0xFFF,
        }

    async def step(self, causes: int = 0) -> dict[str, int]:
        return await self.block.step(causes_in=causes, **self.state)

    async def arm(self) -> list[dict[str, int]]:
        self.state["bus_arm_toggle"] ^= 1
        return [await self.step() for _ in range(8)]


@cocotb.test()
async def an_arm_comes_three_edges_after_the_toggle_and_is_answered_two_cycles_later(
    dut: Any,
) -> None:
    remote = Remote(dut)
    await remote.block.start()
    for _ in range(4):
        assert (await remote.step(0xFFF))["far_level"] == 0
    told = await remote.arm()
    assert [cycle["arm"] for cycle in told] == [0, 0, 0, 1, 0, 0, 0, 0]
    assert [cycle["far_armed"] for cycle in told] == [0, 0, 0, 0, 0, 1, 1, 1]
    told = await remote.arm()
    assert [cycle["far_armed"] for cycle in told] == [1, 1, 1, 1, 1, 0, 0, 0]


@cocotb.test()
async def a_cause_of_this_domain_is_latched_and_told_and_a_masked_one_or_host_or_cross_is_not(
    dut: Any,
) -> None:
    remote = Remote(dut)
    await remote.block.start()
    remote.state["bus_cfg_cause_mask"] = 0xFFF & ~(1 << 7)
    await remote.arm()
    for _ in range(3):
        assert (await remote.step(1 << 7 | 1 << 0 | 1 << 11))["far_level"] == 0
    assert (await remote.step(1 << 3 | 1 << 7))["far_level"] == 0
    told = await remote.step(1 << 4)
    assert (told["far_level"], told["causes"], told["triggered"]) == (1, 1 << 3, 0)
    told = await remote.step()
    assert (told["triggered"], told["since"], told["causes"]) == (1, 1, 1 << 3)


@cocotb.test()
async def a_cause_of_the_bus_domain_is_one_here_three_edges_later(dut: Any) -> None:
    remote = Remote(dut)
    await remote.block.start()
    await remote.arm()
    remote.state |= {"bus_level": 1, "bus_causes": 1 << 1}
    told = [await remote.step() for _ in range(5)]
    assert [cycle["causes"] for cycle in told] == [0, 0, 0, 2, 2]
    assert [cycle["triggered"] for cycle in told] == [0, 0, 0, 0, 1]


@cocotb.test()
async def a_cause_right_behind_an_arm_is_one_of_the_first_cycle_after_it(dut: Any) -> None:
    remote = Remote(dut)
    await remote.block.start()
    await remote.arm()
    remote.state["bus_arm_toggle"] ^= 1
    await remote.step()
    remote.state |= {"bus_level": 1, "bus_causes": 1}  # a cycle later than the toggle
    told = [await remote.step() for _ in range(6)]
    assert [cycle["arm"] for cycle in told] == [0, 0, 1, 0, 0, 0]
    assert [cycle["causes"] for cycle in told] == [0, 0, 0, 1, 1, 1]
