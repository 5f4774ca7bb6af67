"""ff_nic_restart: when a pair of cards is brought up anew (formats.md section 3, loop-back; section 1, held)."""

from __future__ import annotations

from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

LENGTH = 128  # cycles of a reset
SEEN = 6  # cycles in which a change at an input has its effect, at most


test_the_restart = in_icarus("ff_nic_restart", __name__)


class Restart:
    """The block with inputs that stand until they are changed."""

    def __init__(self, dut: Any) -> None:
        names = ("held_a", "held_b", "frozen_a", "frozen_b", "loop_a", "loop_b")
        self.block = Block(dut, names, ("restart", "loop"))
        self.levels = dict.fromkeys(names, 0)

    async def run(self, cycles: int, **levels: int) -> list[dict[str, int]]:
        self.levels |= levels
        return [await self.block.step(**self.levels) for _ in range(cycles)]

    async def reset_follows(self, **levels: int) -> list[dict[str, int]]:
        """Check that a change causes one reset of LENGTH cycles; return what was seen from the change on."""
        seen = await self.run(SEEN + LENGTH + 20, **levels)
        high = [i for i, outputs in enumerate(seen) if outputs["restart"]]
        assert len(high) == LENGTH
        assert (high[-1] - high[0], high[0] <= SEEN) == (LENGTH - 1, True)
        return seen


async def restart(dut: Any) -> Restart:
    made = Restart(dut)
    await made.block.start()
    power_up = await made.run(LENGTH + 20)
    assert [outputs["restart"] for outputs in power_up] == [1] * LENGTH + [0] * 20
    assert not any(outputs["loop"] for outputs in power_up)
    return made


@cocotb.test()
async def after_power_up_and_after_a_change_of_the_loop_back_there_is_a_reset(dut: Any) -> None:
    """Either card's register is enough, and the loop changes within the reset, not at its ends."""
    made = await restart(dut)
    for levels, loop in (({"loop_a": 1}, 1), ({"loop_a": 0}, 0), ({"loop_b": 1}, 1)):
        seen = await made.reset_follows(**levels)
        assert seen[-1]["loop"] == loop
        change = next(i for i, outputs in enumerate(seen) if outputs["loop"] == loop)
        assert all(outputs["restart"] for outputs in seen[change - 8 : change + 9])
    assert not any(
        outputs["restart"] for outputs in await made.run(30, loop_a=1)
    )  # looped back already


@cocotb.test()
async def a_held_card_is_released_when_no_card_is_frozen_any_more(dut: Any) -> None:
    made = await restart(dut)
    assert not any(outputs["restart"] for outputs in await made.run(30, frozen_a=1, held_a=1))
    assert not any(outputs["restart"] for outputs in await made.run(30, frozen_b=1, held_b=1))
    assert not any(outputs["restart"] for outputs in await made.run(30, frozen_a=0))
    await made.run(3, frozen_b=0)
    seen = await made.run(LENGTH + 20, held_a=0, held_b=0)  # the reset ends the holding
    assert sum(outputs["restart"] for outputs in seen) in range(LENGTH - 3, LENGTH + 1)
    assert not seen[-1]["restart"]


@cocotb.test()
async def frozen_and_held_may_be_seen_a_cycle_apart(dut: Any) -> None:
    made = await restart(dut)
    seen = await made.run(1, held_a=1) + await made.run(40, frozen_a=1)
    assert not any(outputs["restart"] for outputs in seen)
