"""ff_nic_pattern_posts: pattern packets by the clock, numbered from 0 whenever they are switched on."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

INPUTS, OUTPUTS = ("cfg_enable", "cfg_gap", "m_taken"), ("m_valid", "m_number")


test_the_posts = in_icarus("ff_nic_pattern_posts", __name__)


async def _started(dut: Any, gap: int) -> Block:
    block = await Block(dut, INPUTS, OUTPUTS).start(cfg_gap=gap)
    assert (await block.step())["m_valid"] == 0
    return block


@cocotb.test()
@cocotb.parametrize(gap=[0, 1, 7, 300])
async def a_ring_that_always_has_room_gets_a_packet_every_gap_and_one_cycles(
    dut: Any, gap: int
) -> None:
    block = await _started(dut, gap)
    assert (await block.step(cfg_enable=1))["m_valid"] == 1  # the first at once
    for cycle in range(max(60, 2 * gap + 4)):
        due = int(cycle % (gap + 1) == 0)
        seen = await block.step(m_taken=due)
        assert (seen["m_valid"], seen["m_number"]) == (due, -(-cycle // (gap + 1)))


@cocotb.test()
async def a_packet_waits_for_the_ring_and_the_gap_counts_from_the_taking_on(dut: Any) -> None:
    draw, gap = random.Random(3), 5
    block = await _started(dut, gap)
    number, due = 0, 0  # of the next packet; cycles before it stands there
    await block.step(cfg_enable=1)
    for _ in range(500):
        taken = int(due == 0 and draw.random() < 0.2)
        seen = await block.step(cfg_enable=1, m_taken=taken)
        assert (seen["m_valid"], seen["m_number"]) == (int(due == 0), number)
        if taken:
            number, due = number + 1, gap
        elif due:
            due -= 1
    assert number > 30


@cocotb.test()
async def switched_off_nothing_is_posted_and_the_numbers_begin_anew(dut: Any) -> None:
    block = await _started(dut, 3)
    for _ in range(3):
        numbers = []
        for _ in range(20):
            seen = await block.step(cfg_enable=1)
            if seen["m_valid"]:
                numbers.append(seen["m_number"])
                await block.step(cfg_enable=1, m_taken=1)
        assert numbers == list(range(len(numbers)))
        assert len(numbers) > 4
        for cycle in range(6):  # also in the middle of a gap
            seen = await block.step(cfg_enable=0)
            assert seen["m_valid"] == 0
            assert cycle == 0 or seen["m_number"] == 0


@cocotb.test()
async def the_longest_gap_is_no_short_one(dut: Any) -> None:
    block = await _started(dut, 0xFFFFFFFF)
    assert (await block.step(cfg_enable=1))["m_valid"] == 1
    await block.step(cfg_enable=1, m_taken=1)
    for _ in range(300):
        seen = await block.step(cfg_enable=1)
        assert (seen["m_valid"], seen["m_number"]) == (0, 1)
