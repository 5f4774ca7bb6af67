"""ff_freeze_single: arm, causes, state and cross-freeze of one memory, cycle by cycle (formats.md section 2, rule 4).

The reference is written from the rules: what arises in a cycle stands in the next, c; only the first since an arm
counts, with all that came in its cycle; the recorder is triggered from c + 1 on; other devices are told in cycle
c + CROSS_LATENCY.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any, Self

import cocotb
from cocotb.triggers import Timer

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

HOST, HDR_CRC, CROSS = 1 << 0, 1 << 2, 1 << 11
IDLE, ARMED, TRIGGERED, FROZEN = 0, 1, 2, 3
INPUTS = ("rst", "pulse_arm", "pulse_freeze", "cfg_cause_mask", "causes_in", "cross_in", "closed")
OUTPUTS = (
    "cross_out", "arm", "triggered_next", "triggered", "causes", "since", "drain", "frozen", "stat_state",
)  # fmt: skip


test_the_freeze_controller_of_one_memory = in_icarus(
    "ff_freeze_single",
    __name__,
    {"WITH_CROSS": 0, "CROSS_LATENCY": 1, "POST_DRAIN": 2, "SINCE_W": 2, "DRAIN_ON": 0},
    {"WITH_CROSS": 1, "CROSS_LATENCY": 3, "POST_DRAIN": 2, "SINCE_W": 2, "DRAIN_ON": 1},
    {"WITH_CROSS": 1, "CROSS_LATENCY": 100000, "POST_DRAIN": 1048576, "SINCE_W": 32, "DRAIN_ON": 1},
)


@dataclass
class Reference:
    """What the rules say of the present cycle, and ``step`` to the next by this one's inputs."""

    with_cross: bool
    latency: int
    arm: bool = False
    armed: bool = False
    causes: int = 0
    elapsed: int = 0  # cycles since c
    triggered: bool = False
    told: int = 0
    line: list[int] = field(
        default_factory=lambda: [0] * 4
    )  # cross_in of this cycle and those before

    def step(self, given: dict[str, int]) -> None:
        mask = given.get("cfg_cause_mask", 0)
        arises = given.get("causes_in", 0) & mask & ~(HOST | CROSS)
        if self.with_cross and self.line[2] != self.line[3]:
            arises |= CROSS & mask
        arises |= HOST * given.get("pulse_freeze", 0)
        if (
            self.causes
            and not self.arm
            and self.elapsed == self.latency - 1
            and self.causes != CROSS
        ):
            self.told ^= int(self.with_cross)
        self.triggered = bool(self.causes) and not self.arm
        if self.arm or (self.armed and not self.causes):
            self.causes, self.elapsed = arises, 0
        else:
            self.elapsed += 1
        self.armed = self.armed or self.arm
        self.arm = bool(given.get("pulse_arm", 0))
        if given.get("rst", 0):
            self.armed = self.arm = self.triggered = False
            self.causes = self.told = 0


class Pair:
    """The block and its reference, in step."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.block = Block(dut, INPUTS, OUTPUTS, reset=None)
        self.cross, self.width = int(dut.WITH_CROSS.value), int(dut.SINCE_W.value)
        self.drain = int(dut.POST_DRAIN.value)
        self.drain_on = int(dut.DRAIN_ON.value)
        self.model = Reference(bool(self.cross), int(dut.CROSS_LATENCY.value))
        self.level = 0  # of cross_in

    async def start(self, mask: int = 0xFFF) -> Self:
        self.mask = mask
        await self.block.start(rst=1, cfg_cause_mask=mask)
        await self.step(rst=1)
        return self

    async def step(self, **given: int) -> dict[str, int]:
        model = self.model
        given = {"cfg_cause_mask": self.mask, "cross_in": self.level, **given}
        seen = await self.block.step(**given)
        model.line = [self.level, *model.line[:3]]
        resets = given.get("rst", 0)
        closed = given.get("closed", 0)
        expected = {
            "cross_out": model.told, "arm": int(model.arm), "triggered": int(model.triggered),
            "triggered_next": int(bool(model.causes) and not model.arm and not resets), "causes": model.causes,
            "frozen": closed,
            "stat_state": FROZEN if closed else TRIGGERED if model.causes else ARMED if model.armed else IDLE,
        }  # fmt: skip
        full = (1 << self.width) - 1
        if not model.causes:
            expected["since"] = 0
        elif (
            model.elapsed <= full or self.drain_on
        ):  # beyond, one without cross-freeze need not count
            expected["since"] = min(model.elapsed, full)
            expected["drain"] = int(model.triggered and model.elapsed % self.drain == 0)
        assert {name: seen[name] for name in expected} == expected
        model.step(given)
        return seen


async def pair(dut: Any, mask: int = 0xFFF) -> Pair:
    return await Pair(dut).start(mask)


@cocotb.test()
@cocotb.parametrize(seed=[1, 2])
async def every_output_in_every_cycle_is_what_the_rules_say(dut: Any, seed: int) -> None:
    """Arms, causes, the other device's freezes and the memory's end at random, a reset now and then."""
    made, draw = await pair(dut), random.Random(seed)
    seen = set()
    for _ in range(1500):
        if draw.random() < 0.02:
            made.mask = draw.getrandbits(12)
        given = {
            "pulse_arm": int(draw.random() < 0.04), "pulse_freeze": int(draw.random() < 0.02),
            "causes_in": draw.getrandbits(12) if draw.random() < 0.05 else 0, "closed": int(draw.random() < 0.1),
        }  # fmt: skip
        if draw.random() < 0.05:
            made.level ^= 1
        told = await made.step(**given)
        seen.add((told["stat_state"], told["arm"]))
        if draw.random() < 0.005:
            for _ in range(5):  # a change of the line meanwhile is not told
                await made.step(
                    rst=1, pulse_arm=draw.getrandbits(1), pulse_freeze=1, causes_in=HDR_CRC
                )
    assert seen >= {(state, arm) for state in (ARMED, TRIGGERED) for arm in (0, 1)}


@cocotb.test()
async def host_and_cross_at_the_port_are_ignored_and_host_cannot_be_masked(dut: Any) -> None:
    made = await pair(dut, mask=0xFFF & ~HOST)
    await made.step(pulse_arm=1)
    await made.step(causes_in=HOST | CROSS)
    for _ in range(3):
        assert (await made.step())["stat_state"] == ARMED
    await made.step(pulse_freeze=1, causes_in=HDR_CRC)
    told = await made.step()
    assert (told["stat_state"], told["causes"], told["triggered"]) == (TRIGGERED, HOST | HDR_CRC, 0)
    assert (await made.step())["triggered"] == 1


@cocotb.test()
async def the_other_device_is_told_after_the_latency_once_and_not_of_its_own_freeze(
    dut: Any,
) -> None:
    made, latency = await pair(dut), int(dut.CROSS_LATENCY.value)
    await made.step(pulse_arm=1)
    await made.step()
    await made.step(causes_in=HDR_CRC)
    if latency > 10:  # the long wait is not looked at cycle by cycle
        await made.step()
        await Timer((latency - 3) * 10, "ns")
        made.model.elapsed += latency - 3
        made.model.triggered = True
        assert made.model.elapsed == latency - 2
    outs = [(await made.step())["cross_out"] for _ in range(min(latency, 2) + 6)]
    before = latency if latency < 10 else 2
    assert outs == [0] * before + [made.cross] * (len(outs) - before)
    await made.step(pulse_arm=1)
    await made.step()
    made.level ^= 1
    for _ in range(6):
        told = await made.step()
    assert told["causes"] == (CROSS if made.cross else 0)
    for _ in range(8):
        assert (await made.step())["cross_out"] == made.cross
