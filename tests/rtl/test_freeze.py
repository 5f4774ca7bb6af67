"""ff_freeze and ff_freeze_remote: keys, generation, causes, cross-freeze, hold (docs/formats.md sections 1.1 and 2)."""

from __future__ import annotations

from typing import Any, Self

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

INPUTS = (
    "now", "wr_arm", "wr_freeze", "wr_data", "cfg_cause_mask", "cfg_hold", "causes_in", "far_level", "far_causes",
    "far_armed", "cross_in", "peer_frozen", "closed",
)  # fmt: skip
OUTPUTS = (
    "arm_toggle", "level", "cross_out", "frozen_level", "arm", "triggered", "causes", "since", "drain", "frozen",
    "hold", "stat_generation", "stat_state", "stat_closed", "stat_cause_cycle",
)  # fmt: skip
ARM, FREEZE = 0x41520000, 0x465A0000
IDLE, ARMED, TRIGGERED, FROZEN = 0, 1, 2, 3
HOST, TRIGGER, CROSS = 1 << 0, 1 << 1, 1 << 11
EVERY_CAUSE = 0xFFF


test_the_freeze_controller = in_icarus(
    "ff_freeze",
    __name__,
    {"MEMORIES": 0b10001, "FAR": 0, "CROSS_LATENCY": 1, "POST_DRAIN": 2, "SINCE_W": 2},
    {"MEMORIES": 0b11111, "FAR": 0b00110, "CROSS_LATENCY": 5},
)


class Control:
    """ff_freeze, its far domain answering as an ff_freeze_remote would."""

    def __init__(self, dut: Any) -> None:
        self.block = Block(dut, INPUTS, OUTPUTS)
        self.far = int(dut.FAR.value)
        self.memories = int(dut.MEMORIES.value)
        self.cycle = 0
        self.state: dict[str, int] = {
            "closed": 0,
            "cross_in": 0,
            "peer_frozen": 0,
            "far_level": 0,
            "far_causes": 0,
        }
        self.toggles: list[int] = [0] * 6

    async def start(self, mask: int = EVERY_CAUSE, hold: int = 0) -> Self:
        await self.block.start(cfg_cause_mask=mask, cfg_hold=hold)
        for _ in range(4):
            await self.step()
        return self

    async def step(self, **values: int) -> dict[str, int]:
        self.cycle += 1
        answer = self.toggles[-6]
        told = await self.block.step(now=self.cycle, far_armed=answer, **{**self.state, **values})
        self.toggles.append(told["arm_toggle"])
        return told

    async def arm(self, generation: int) -> dict[str, int]:
        await self.step(wr_arm=1, wr_data=ARM | generation)
        told = await self.step()
        for _ in range(12):
            await self.step()
        return told


@cocotb.test()
async def an_arm_acts_on_key_and_next_generation_and_on_nothing_else(dut: Any) -> None:
    control = await Control(dut).start()
    for wrong in (ARM | 0, ARM | 2, FREEZE | 1, 0x41530001, 0):
        await control.step(wr_arm=1, wr_data=wrong)
        told = await control.step()
        assert (told["arm"], told["stat_generation"], told["stat_state"]) == (0, 0, IDLE)
    told = await control.arm(1)
    assert (told["arm"], told["stat_generation"]) == (1, 1)
    told = await control.step(wr_arm=1, wr_data=ARM | 1)  # the doubled write of a lossy transport
    assert (told["stat_generation"], told["stat_state"]) == (1, ARMED)
    told = await control.step()
    assert (told["arm"], told["stat_generation"]) == (0, 1)


@cocotb.test()
async def a_freeze_acts_on_key_and_generation_when_armed(dut: Any) -> None:
    control = await Control(dut).start()
    await control.step(wr_freeze=1, wr_data=FREEZE | 0)
    assert (await control.step())["stat_state"] == IDLE
    await control.arm(1)
    for wrong in (FREEZE | 0, FREEZE | 2, ARM | 1):
        await control.step(wr_freeze=1, wr_data=wrong)
        assert (await control.step())["stat_state"] == ARMED
    await control.step(wr_freeze=1, wr_data=FREEZE | 1)
    told = await control.step()  # cycle c: the cause stands in the register
    cause_cycle = control.cycle
    assert (told["stat_state"], told["causes"], told["triggered"]) == (TRIGGERED, HOST, 0)
    told = await control.step(causes_in=TRIGGER)
    assert (told["triggered"], told["causes"], told["since"]) == (1, HOST, 1)
    assert told["stat_cause_cycle"] == cause_cycle


@cocotb.test()
async def masked_causes_do_nothing_and_host_cannot_be_masked_or_given_at_the_port(dut: Any) -> None:
    control = await Control(dut).start(mask=0xFFF & ~(1 << 9 | HOST))
    await control.arm(1)
    await control.step(causes_in=1 << 9 | HOST | CROSS)
    assert (await control.step())["stat_state"] == ARMED
    await control.step(causes_in=1 << 9 | 1 << 2, wr_freeze=1, wr_data=FREEZE | 1)
    assert (await control.step())["causes"] == HOST | 1 << 2


@cocotb.test()
async def frozen_is_every_memory_closed_and_is_left_only_by_arm_or_reset(dut: Any) -> None:
    control = await Control(dut).start()
    await control.arm(1)
    await control.step(causes_in=TRIGGER)
    control.state["closed"] = control.memories & ~1
    for _ in range(6):
        assert (await control.step())["stat_state"] == TRIGGERED
    control.state["closed"] = control.memories
    told = await control.step()
    assert (told["stat_state"], told["frozen"], told["stat_closed"]) == (
        FROZEN,
        1,
        control.memories,
    )
    for values in (
        {"causes_in": EVERY_CAUSE},
        {"wr_freeze": 1, "wr_data": FREEZE | 1},
        {"wr_arm": 1, "wr_data": ARM | 1},
    ):
        await control.step(**values)
        told = await control.step()
        assert (told["stat_state"], told["causes"]) == (FROZEN, TRIGGER)
    control.state["closed"] = 0  # as the recorders do when armed
    told = await control.arm(2)
    assert (await control.step())["stat_state"] == ARMED


@cocotb.test()
async def a_far_memory_is_seen_closed_three_cycles_later_and_an_old_one_not_at_all(
    dut: Any,
) -> None:
    control = Control(dut)
    if not control.far:
        return
    await control.start()
    await control.arm(1)
    await control.step(causes_in=TRIGGER)
    control.state["closed"] = control.memories
    seen = [(await control.step())["frozen"] for _ in range(5)]
    assert seen == [0, 0, 0, 1, 1]
    await control.step(wr_arm=1, wr_data=ARM | 2)
    control.state["closed"] = control.far  # still those of the recording before
    for _ in range(4):
        assert (await control.step())["stat_closed"] & control.far == 0


@cocotb.test()
async def a_far_cause_counts_three_cycles_after_it_arose_but_not_that_of_the_recording_before(
    dut: Any,
) -> None:
    control = Control(dut)
    if not control.far:
        return
    await control.start()
    await control.arm(1)
    control.state |= {"far_level": 1, "far_causes": 1 << 3}
    states = [(await control.step())["stat_state"] for _ in range(5)]
    assert states == [ARMED, ARMED, ARMED, TRIGGERED, TRIGGERED]
    await control.step(wr_arm=1, wr_data=ARM | 2)
    assert (await control.step())["arm"] == 1
    for cycle in range(12):
        assert (await control.step())["stat_state"] == ARMED
        if cycle == 2:  # by now the far domain has taken the arm
            control.state["far_level"] = 0


@cocotb.test()
async def a_second_arm_before_the_far_domain_has_answered_is_ignored(dut: Any) -> None:
    control = Control(dut)
    if not control.far:
        return
    await control.start()
    await control.step(wr_arm=1, wr_data=ARM | 1)
    await control.step(wr_arm=1, wr_data=ARM | 2)
    assert (await control.step())["stat_generation"] == 1
    for _ in range(12):
        await control.step()
    assert (await control.arm(2))["stat_generation"] == 2


@cocotb.test()
async def a_cross_freeze_leaves_after_its_latency_and_is_not_passed_on(dut: Any) -> None:
    control, latency = Control(dut), int(dut.CROSS_LATENCY.value)
    await control.start()
    await control.arm(1)
    await control.step(causes_in=TRIGGER)
    outs = [(await control.step())["cross_out"] for _ in range(latency + 3)]
    assert outs == [0] * latency + [1] * 3  # the first of them is cycle c
    await control.arm(2)
    control.state["cross_in"] = 1
    states = [(await control.step()) for _ in range(5)]
    assert [told["stat_state"] for told in states] == [ARMED] * 3 + [TRIGGERED] * 2
    assert states[-1]["causes"] == CROSS
    for _ in range(latency + 3):
        assert (await control.step())["cross_out"] == 1


@cocotb.test()
async def a_held_card_stays_held_until_no_card_is_frozen(dut: Any) -> None:
    control = await Control(dut).start(hold=1)
    await control.arm(1)
    await control.step(causes_in=TRIGGER)
    control.state |= {"closed": control.memories, "peer_frozen": 1}
    for _ in range(6):
        told = await control.step()
    assert (told["frozen"], told["hold"], told["frozen_level"]) == (1, 1, 1)
    control.state["closed"] = 0
    await control.arm(2)
    told = await control.step()
    assert (told["frozen"], told["hold"]) == (0, 1)
    control.state["peer_frozen"] = 0
    for _ in range(4):
        told = await control.step()
    assert told["hold"] == 0
