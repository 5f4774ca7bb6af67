"""ff_nic_pattern: the payload of pattern packets (formats.md section 3), against splitmix64 as published."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.link_packets import splitmix64
from tests.rtl.simulation import in_icarus

LATENCY = 3  # cycles from start to the first word
WORD = (1 << 64) - 1


test_the_pattern = in_icarus("ff_nic_pattern", __name__)


async def packet(dut: Any, block: Block, seed: int, number: int, length: int) -> list[int]:
    """Return the words of a packet; they come one a cycle, the first LATENCY + 1 steps behind the start."""
    await block.step(start=1, seed=seed, number=number, length=length)
    words = []
    for cycle in range(1, length + LATENCY + 4):
        seen = await block.step()
        assert seen["m_valid"] == (LATENCY < cycle <= LATENCY + length), cycle
        if seen["m_valid"]:
            words.append(int(dut.m_data.value))
    return words


@cocotb.test()
async def word_i_of_packet_n_issplitmix64_of_seed_packet_and_word(dut: Any) -> None:
    assert (
        splitmix64(0) == 0xE220A8397B1DCDAF
    )  # the first number of the published sequence of seed 0
    block, draw = Block(dut, ("start", "seed", "number", "length"), ("m_valid",)), random.Random(1)
    await block.start()
    ends = (0, 1, 0xFFFFFFFF)
    places = [(seed, number) for seed in ends for number in (*ends, 1 << 22)]
    places += [(draw.getrandbits(32), draw.getrandbits(32)) for _ in range(5)]
    for seed, number in places:
        length = draw.choice((0, 1, 2, 12))
        expected = [splitmix64((seed << 32 ^ number << 10 ^ i) & WORD) for i in range(length)]
        assert await packet(dut, block, seed, number, length) == expected
    longest = [splitmix64(7 << 32 ^ 3 << 10 ^ i) for i in range(1023)]
    assert await packet(dut, block, 7, 3, 1023) == longest


@cocotb.test()
async def a_reset_ends_a_packet(dut: Any) -> None:
    block = await Block(
        dut, ("start", "seed", "number", "length", "rst"), ("m_valid",), reset=None
    ).start(rst=1)
    await block.step(start=1, length=20)
    for _ in range(8):
        await block.step()
    await block.step(rst=1)
    for _ in range(30):
        assert (await block.step())["m_valid"] == 0
