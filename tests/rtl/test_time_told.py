"""ff_time_told: which toggles of the time line another domain hears of, with which cycle, of which recording."""

from __future__ import annotations

from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

INPUTS = ("arm", "closed", "seen", "now")
OUTPUTS = ("told", "parity", "at")


test_what_is_told_of_the_toggles = in_icarus(
    "ff_time_told", __name__, {"TIME_W": 40}, {"TIME_W": 64}
)


async def toggle(block: Block, now: int, closed: int = 0) -> tuple[int, int, int]:
    """Let a toggle be seen in cycle ``now`` and return what stands behind it."""
    outputs, block.outputs = block.outputs, ()
    await block.step(seen=1, now=now, closed=closed)
    block.outputs = outputs
    told: dict[str, int] = {}
    for _ in range(3):
        told = await block.step(now=now ^ 1, closed=closed)  # stands still
    return told["told"], told["parity"], told["at"]


@cocotb.test()
async def toggles_from_arm_to_closed_are_told_and_no_others(dut: Any) -> None:
    block = Block(dut, INPUTS, ())  # before the first toggle, at says nothing
    last = (1 << int(dut.TIME_W.value)) - 1
    await block.start()
    await block.step()
    await block.step(arm=1, seen=1, now=5)  # in the arm's own cycle: not after it
    told = int(dut.told.value)
    assert told == 0
    block.outputs = OUTPUTS
    assert await toggle(block, 7) == (1, 1, 7)
    assert await toggle(block, last) == (0, 1, last)
    assert await toggle(block, 99, closed=1) == (0, 1, last)
    await block.step(arm=1, closed=1)
    assert await toggle(block, 100) == (1, 0, 100)


@cocotb.test()
async def nothing_is_told_before_the_first_arm_and_behind_a_reset(dut: Any) -> None:
    block = Block(dut, ("arm", "closed", "seen", "now"), ("told",))
    for _ in range(2):
        await block.start()
        for now in range(5):
            assert (await block.step(seen=1, now=now))["told"] == 0
        await block.step(arm=1)
        await block.step(seen=1, now=9)
        assert (await block.step())["told"] == 1
