"""ff_trigger_fill: the tables are, entry for entry, what value, mask and kinds say (docs/trigger.md)."""

from __future__ import annotations

import random
from typing import Any, Self

import cocotb
from cocotb.triggers import First

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

INPUTS = ("load",)
OUTPUTS = ("cfg_turn", "cfg_word", "cfg_number", "shift", "agrees", "stat_busy", "stat_loaded")
LOADING = 588  # 14 tables of 42 turns


test_the_filler_of_the_tables = in_icarus("ff_trigger_fill", __name__)


class Tables:
    """The registers it asks for, and 14 shift registers of 32 bits behind it."""

    def __init__(self, dut: Any) -> None:
        self.dut, self.block = dut, Block(dut, INPUTS, OUTPUTS)
        self.registers = [0] * 5
        self.tables = [0] * 14

    async def start(self) -> Self:
        self.dut.cfg_bit.value = 0
        await self.block.start()
        cocotb.start_soon(self._answer())
        assert (await self.block.step())["stat_loaded"] == 0
        return self

    async def _answer(self) -> None:
        while True:  # as a LUT RAM does, in the same cycle; else it has another's word
            word, number = int(self.dut.cfg_word.value), int(self.dut.cfg_number.value)
            asked = int(self.dut.cfg_turn.value)
            self.dut.cfg_bit.value = self.registers[word] >> number & 1 if asked else number & 1
            await First(
                self.dut.cfg_word.value_change,
                self.dut.cfg_number.value_change,
                self.dut.cfg_turn.value_change,
            )

    async def step(self, **values: int) -> dict[str, int]:
        told = await self.block.step(**values)
        for number in range(14):
            if told["shift"] >> number & 1:
                self.tables[number] = (self.tables[number] << 1 | told["agrees"]) & 0xFFFF_FFFF
        return told

    async def load(self, value: int, mask: int, kinds: int) -> None:
        low = (1 << 32) - 1
        self.registers = [value & low, value >> 32, mask & low, mask >> 32, kinds]
        await self.step(load=1)
        for _ in range(LOADING):
            told = await self.step()
            assert (told["stat_busy"], told["stat_loaded"]) == (1, 0)
        told = await self.step()
        assert (told["stat_busy"], told["stat_loaded"], told["shift"]) == (0, 1, 0)


@cocotb.test()
async def every_entry_of_every_table_is_right(dut: Any) -> None:
    """Tables 0 to 12 are of five bits each, from bit 32 down to 0, then from 63 to 32; table 13 of the kind."""
    tables, draw = Tables(dut), random.Random(1)
    await tables.start()
    for mask in (0, (1 << 64) - 1, draw.getrandbits(64)):
        value, kinds = draw.getrandbits(64), draw.getrandbits(16)
        await tables.load(value, mask, kinds)
        for number, table in enumerate(tables.tables[:13]):
            bits = [(32 - 5 * number - i) % 64 for i in range(5)]
            for entry in range(32):
                agrees = all(
                    not mask >> bit & 1 or entry >> i & 1 == value >> bit & 1
                    for i, bit in enumerate(bits)
                )
                assert table >> entry & 1 == agrees, (number, entry)
        assert tables.tables[13] & 0xFFFF == kinds


@cocotb.test()
async def a_load_while_filling_begins_anew(dut: Any) -> None:
    tables = await Tables(dut).start()
    await tables.step(load=1)
    for _ in range(100):
        await tables.step()
    await tables.load(0, (1 << 64) - 1, 0b1000)
    assert tables.tables[:13] == [1] * 13
    assert tables.tables[13] == 0b1000


@cocotb.test()
async def nothing_moves_while_another_clock_domain_learns_that_the_tables_do_not_count(
    dut: Any,
) -> None:
    tables = await Tables(dut).start()
    await tables.load(1, 2, 3)
    told = [await tables.step(load=1)] + [await tables.step() for _ in range(11)]
    assert [step["shift"] for step in told] == [0] * 11 + [1]
    assert [step["stat_loaded"] for step in told[1:]] == [0] * 11


@cocotb.test()
async def the_recorders_reset_ends_it_and_nothing_is_loaded(dut: Any) -> None:
    tables = await Tables(dut).start()
    await tables.load(1, 2, 3)
    await tables.step(load=1)
    await tables.block.start()
    told = await tables.step()
    assert (told["stat_busy"], told["stat_loaded"], told["shift"]) == (0, 0, 0)
