"""ff_trigger_srl: the trigger's comparison held in tables is that of value, mask and kinds (docs/trigger.md)."""

from __future__ import annotations

import random
from typing import Any, Self

import cocotb
from cocotb.triggers import First

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

INPUTS = ("restart", "load", "cfg_enable", "word_valid", "word_kind", "word_data")
OUTPUTS = ("cfg_place", "stat_busy", "fire")
LOADING = 588  # 14 tables of 42 turns


test_the_trigger_in_tables = in_icarus("ff_trigger_srl", __name__)


class Tables:
    """The block with the registers it asks for."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.block = Block(dut, INPUTS, OUTPUTS)
        dut.cfg_bit.value = 0
        self.registers = [0] * 8  # the RAM has eight places, of which five are asked for

    async def start(self) -> Self:
        await self.block.start(cfg_enable=1)
        cocotb.start_soon(self._answer())
        await self.block.step()
        return self

    async def _answer(self) -> None:
        while True:  # as a LUT RAM does, in the same cycle; else it has another's bit
            place = int(self.dut.cfg_place.value)
            busy = int(self.dut.stat_busy.value)
            self.dut.cfg_bit.value = (
                self.registers[place >> 5] >> (place & 31) & 1 if busy else place & 1
            )
            await First(self.dut.cfg_place.value_change, self.dut.stat_busy.value_change)

    async def load(self, value: int, mask: int, kinds: int) -> None:
        low = (1 << 32) - 1
        self.registers[:5] = [value & low, value >> 32, mask & low, mask >> 32, kinds]
        self.registers[5:] = [0x5A5A_5A5A] * 3
        await self.block.step(load=1)
        for _ in range(LOADING):
            told = await self.block.step(word_valid=1, word_kind=1)
            assert (told["fire"], told["stat_busy"]) == (0, 1)
        assert (await self.block.step())["stat_busy"] == 0
        await self.block.step(restart=1)

    async def fires(self, kind: int, data: int) -> int:
        fire = (await self.block.step(word_valid=1, word_kind=kind, word_data=data))["fire"]
        if fire:
            assert (await self.block.step(word_valid=1, word_kind=kind, word_data=data))[
                "fire"
            ] == 0  # once
            await self.block.step(restart=1)
        return fire


@cocotb.test()
async def it_sees_nothing_before_its_tables_are_filled(dut: Any) -> None:
    tables = await Tables(dut).start()
    for _ in range(5):
        told = await tables.block.step(word_valid=1, word_kind=2, word_data=5)
        assert (told["stat_busy"], told["fire"]) == (0, 0)


@cocotb.test()
async def random_terms_agree_with_value_mask_and_kinds(dut: Any) -> None:
    tables = await Tables(dut).start()
    draw = random.Random(5)
    seen = 0
    for _ in range(12):
        value, kinds = draw.getrandbits(64), draw.getrandbits(16)
        mask = draw.choice(
            [0, (1 << 64) - 1, draw.getrandbits(64) & draw.getrandbits(64) & draw.getrandbits(64)]
        )
        await tables.load(value, mask, kinds)
        for _ in range(40):
            data = (
                value
                ^ (draw.getrandbits(64) & ~mask)
                ^ draw.choice([0, 0, 1 << draw.randrange(64)])
            )
            kind = draw.randrange(16)
            expected = kinds >> kind & 1 == 1 and (data ^ value) & mask == 0
            assert await tables.fires(kind, data) == expected
            seen += expected
    assert seen > 50


@cocotb.test()
async def a_load_in_the_middle_of_a_load_begins_again(dut: Any) -> None:
    tables = await Tables(dut).start()
    await tables.load(0x55, 0xFF, 0xFFFF)
    await tables.block.step(load=1)
    for _ in range(100):
        await tables.block.step()
    await tables.load(0xAA << 56, 0xFF << 56, 1 << 3)
    assert await tables.fires(3, 0xAA << 56) == 1
    assert await tables.fires(2, 0xAA << 56) == 0
    assert await tables.fires(3, 0x55) == 0
