"""ff_nic_lane_events: the LINK events of one lane, none lost and one a cycle (docs/formats.md section 4)."""

from __future__ import annotations

from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

INSERTED, REMOVED, TRAINED, UNDERFLOW, OVERFLOW = 1, 2, 5, 6, 7


test_the_link_events_of_a_lane = in_icarus("ff_nic_lane_events", __name__)


async def told(dut: Any, *cycles: tuple[str, ...]) -> list[int]:
    """Return the event of each cycle and of the four that follow, 0 for none."""
    block = Block(
        dut, ("trained", "inserted", "removed", "underflow", "overflow"), ("ev_valid", "ev_code")
    )
    await block.start()
    seen = [await block.step(**dict.fromkeys(names, 1)) for names in (*cycles, (), (), (), ())]
    return [one["ev_code"] if one["ev_valid"] else 0 for one in seen]


@cocotb.test()
async def each_is_told_by_its_code_in_its_cycle(dut: Any) -> None:
    cycles = [("trained",), ("inserted",), (), ("removed",), ("underflow",), ("overflow",)]
    assert await told(dut, *cycles) == [
        TRAINED, INSERTED, 0, REMOVED, UNDERFLOW, OVERFLOW, 0, 0, 0, 0,
    ]  # fmt: skip


@cocotb.test()
async def what_comes_in_one_cycle_is_told_one_after_the_other(dut: Any) -> None:
    assert await told(dut, ("inserted", "underflow", "overflow")) == [
        INSERTED, UNDERFLOW, OVERFLOW, 0, 0,
    ]  # fmt: skip
    assert await told(dut, ("removed", "overflow"), ("inserted",)) == [
        REMOVED, INSERTED, OVERFLOW, 0, 0, 0,
    ]  # fmt: skip


@cocotb.test()
async def one_that_waits_is_followed_by_the_next_of_its_kind(dut: Any) -> None:
    cycles = [("inserted", "underflow"), ("underflow",), ("overflow", "underflow"), ()]
    assert await told(dut, *cycles) == [
        INSERTED, UNDERFLOW, UNDERFLOW, UNDERFLOW, OVERFLOW, 0, 0, 0,
    ]  # fmt: skip
