"""ff_nic_state_event: each change of a state machine is told once, one cycle later (formats.md section 4, STATE)."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

INPUTS, OUTPUTS = ("state",), ("ev_valid",)


test_the_events_of_a_state_machine = in_icarus("ff_nic_state_event", __name__)


@cocotb.test()
async def every_change_is_told_with_new_and_old_and_staying_is_not(dut: Any) -> None:
    block, draw = Block(dut, INPUTS, OUTPUTS), random.Random(1)
    await block.start()
    before = state = 0
    changes = 0
    for cycle in range(600):
        upcoming = draw.choice((state, state, 0, 255, draw.getrandbits(8)))
        if cycle > 500:
            upcoming = cycle & 255  # a change in every cycle
        seen = await block.step(state=upcoming)
        assert seen["ev_valid"] == int(state != before), cycle
        if seen["ev_valid"]:
            assert int(dut.ev_value.value) == state | before << 8
            changes += 1
        before, state = state, upcoming
    assert changes > 200


@cocotb.test()
async def a_reset_is_no_event_and_the_first_state_behind_it_counts_from_idle(dut: Any) -> None:
    block = await Block(dut, ("state", "rst"), OUTPUTS, reset=None).start(rst=1, state=9)
    for state in (9, 3, 7):
        assert (await block.step(rst=1, state=state))["ev_valid"] == 0
    assert (await block.step(state=7))["ev_valid"] == 0
    assert (await block.step(state=7))["ev_valid"] == 1
    assert int(dut.ev_value.value) == 7
    assert (await block.step(rst=1, state=7))["ev_valid"] == 0
    assert (await block.step(rst=1, state=2))["ev_valid"] == 0
