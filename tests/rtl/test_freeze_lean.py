"""ff_freeze_lean: causes, the other domain, cross-freeze and state (docs/formats.md sections 1.1, 2, 2.1)."""

from __future__ import annotations

from typing import Any, Self

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

INPUTS = (
    "pulse_arm", "pulse_freeze", "cfg_cause_mask", "causes_in", "far_level", "far_causes", "far_armed", "cross_in",
    "closed",
)  # fmt: skip
OUTPUTS = (
    "arm_ready", "arm_toggle", "level", "cross_out", "arm", "triggered_next", "triggered", "causes", "since", "drain",
    "frozen", "stat_state", "stat_closed",
)  # fmt: skip
IDLE, ARMED, TRIGGERED, FROZEN = 0, 1, 2, 3
HOST, TRIGGER, HDR, CROSS = 1 << 0, 1 << 1, 1 << 2, 1 << 11
LATENCY = 5


test_the_small_freeze_controller = in_icarus(
    "ff_freeze_lean", __name__, {"CROSS_LATENCY": LATENCY, "POST_DRAIN": 4, "SINCE_W": 8}
)


class Control:
    """The block, its far domain answering an arm some cycles later, as an ff_freeze_remote does."""

    def __init__(self, dut: Any) -> None:
        self.block = Block(dut, INPUTS, OUTPUTS)
        self.kept = {"closed": 0, "cross_in": 0, "far_level": 0, "far_causes": 0}
        self.toggles = [0] * 6

    async def start(self, mask: int = 0xFFF) -> Self:
        await self.block.start(cfg_cause_mask=mask)
        for _ in range(4):
            await self.step()
        return self

    async def step(self, **values: int) -> dict[str, int]:
        told = await self.block.step(far_armed=self.toggles[-6], **{**self.kept, **values})
        self.toggles.append(told["arm_toggle"])
        return told

    async def arm(self) -> None:
        await self.step(pulse_arm=1)
        told = await self.step()
        assert (told["arm"], told["arm_ready"]) == (1, 0)
        self.kept["closed"] = 0
        for _ in range(12):
            told = await self.step()
        assert (told["arm"], told["arm_ready"], told["stat_state"]) == (0, 1, ARMED)


@cocotb.test()
async def a_cause_counts_from_arm_on_and_the_first_one_is_kept(dut: Any) -> None:
    """Rule 4: c is the cycle in which the cause stands in the register; all causes of that cycle, no later one."""
    control = await Control(dut).start()
    assert (await control.step(causes_in=HDR))["stat_state"] == IDLE
    assert (await control.step())["stat_state"] == IDLE
    await control.arm()
    await control.step(causes_in=TRIGGER | HDR)
    told = await control.step(causes_in=1 << 5)
    assert (told["causes"], told["triggered_next"], told["triggered"], told["stat_state"]) == (
        TRIGGER | HDR,
        1,
        0,
        TRIGGERED,
    )
    for since in range(1, 9):
        told = await control.step(causes_in=1 << 6)
        assert (told["causes"], told["triggered"], told["since"]) == (TRIGGER | HDR, 1, since)
        assert told["drain"] == (since % 4 == 0)


@cocotb.test()
async def a_masked_cause_does_nothing_but_the_hosts_freeze_does(dut: Any) -> None:
    control = await Control(dut).start(mask=HDR)
    await control.arm()
    control.kept["cross_in"] = 1
    for _ in range(8):
        told = await control.step(causes_in=0xFFF & ~HDR)
        assert told["stat_state"] == ARMED
    await control.step(pulse_freeze=1)
    assert (await control.step())["causes"] == HOST


@cocotb.test()
async def host_and_cross_are_not_taken_from_the_port(dut: Any) -> None:
    control = await Control(dut).start()
    await control.arm()
    await control.step(causes_in=HOST | CROSS)
    assert (await control.step())["stat_state"] == ARMED


@cocotb.test()
async def a_far_cause_counts_when_the_far_domain_has_taken_the_arm(dut: Any) -> None:
    """Section 2.1: what the other domain shows before its answer is of the old recording."""
    control = await Control(dut).start()
    control.kept |= {"far_level": 1, "far_causes": 1 << 9}
    await control.step(pulse_arm=1)
    for _ in range(5):
        told = await control.step()
        assert told["stat_state"] == ARMED
    control.kept |= {"far_level": 0, "far_causes": 0}
    for _ in range(8):
        assert (await control.step())["stat_state"] == ARMED
    control.kept |= {"far_level": 1, "far_causes": 1 << 4}
    states = [(await control.step())["stat_state"] for _ in range(4)]
    assert states == [ARMED, ARMED, ARMED, TRIGGERED]
    assert (await control.step())["causes"] == 1 << 4


@cocotb.test()
async def frozen_when_all_four_have_closed_and_left_by_an_arm_alone(dut: Any) -> None:
    control = await Control(dut).start()
    await control.arm()
    await control.step(causes_in=HDR)
    for closed in (0b0001, 0b0011, 0b0111, 0b1110):
        control.kept["closed"] = closed
        for _ in range(5):
            told = await control.step()
            assert told["frozen"] == 0
        assert told["stat_closed"] == closed
    control.kept["closed"] = 0b1111
    for _ in range(5):
        told = await control.step()
    assert (told["frozen"], told["stat_state"], told["causes"]) == (1, FROZEN, HDR)
    for _ in range(20):
        control.kept["cross_in"] ^= 1
        told = await control.step(causes_in=0xFFF, pulse_freeze=1)
        assert (told["frozen"], told["causes"]) == (1, HDR)
    control.kept["cross_in"] = 0
    for _ in range(4):
        await control.step()
    await control.arm()


@cocotb.test()
async def a_freeze_of_ones_own_is_passed_on_after_the_latency_and_a_cross_freeze_is_not(
    dut: Any,
) -> None:
    control = await Control(dut).start()
    for causes, goes_out in ((HDR, True), (CROSS, False)):
        await control.arm()
        before = (await control.step())["cross_out"]
        if causes == CROSS:
            control.kept["cross_in"] ^= 1
            for _ in range(3):
                await control.step()
        else:
            await control.step(causes_in=causes)
        changed = [(await control.step())["cross_out"] != before for _ in range(LATENCY + 6)]
        assert changed == ([False] * LATENCY + [True] * 6 if goes_out else [False] * (LATENCY + 6))
        assert (await control.step())["causes"] == causes


@cocotb.test()
async def the_recorders_reset_makes_it_idle(dut: Any) -> None:
    control = await Control(dut).start()
    await control.arm()
    await control.step(causes_in=HDR)
    await control.start()
    told = await control.step()
    assert (told["stat_state"], told["triggered"], told["level"]) == (IDLE, 0, 0)
