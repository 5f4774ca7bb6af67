"""ff_trigger_table: a word agrees where all of its fourteen tables say so."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

INPUTS = ("shift", "agrees", "word_kind", "word_data")


test_the_tables_of_a_tap = in_icarus("ff_trigger_table", __name__)


@cocotb.test()
async def a_word_agrees_where_each_table_does_at_its_address(dut: Any) -> None:
    """Table i < 13 is addressed by places 5 i to 5 i + 4 of the data as _word has it; table 13 by the kind."""
    block, draw = Block(dut, INPUTS, (), reset=None), random.Random(2)
    await block.start()
    # mostly ones, so that a word agrees more often than never; two zeros at least, one in each half
    tables = [
        (draw.getrandbits(32) | draw.getrandbits(32) | draw.getrandbits(32)) & ~(1 << 3 | 1 << 22)
        for _ in range(14)
    ]
    for number, table in enumerate(tables):
        for entry in reversed(range(32)):
            await block.step(shift=1 << number, agrees=table >> entry & 1)
    block.outputs = ("agree",)
    seen = set()
    for _ in range(600):
        kind, data = draw.getrandbits(4), draw.getrandbits(64)
        wide = data | (data & 1) << 64
        addresses = [*(wide >> 5 * number & 31 for number in range(13)), kind]
        agrees = all(table >> at & 1 for table, at in zip(tables, addresses, strict=True))
        told = await block.step(word_kind=kind, word_data=_word(data), agrees=draw.getrandbits(1))
        assert told["agree"] == agrees
        seen.add(agrees)
    assert seen == {False, True}
    missed = [number for number in range(14) if await _only(block, tables, number)]
    assert not missed


def _word(places: int) -> int:
    """Return the word whose bit 32 - i, modulo 64, is place i: from 32 down to 0, then from 63 down."""
    return sum((places >> i & 1) << (32 - i) % 64 for i in range(64))


async def _only(block: Block, tables: list[int], number: int) -> bool:
    """Tell whether a word that one table alone refuses agrees all the same."""
    draw = random.Random(number)
    while True:
        kind, data = draw.getrandbits(4), draw.getrandbits(64)
        for table in range(13):
            while not tables[table] >> (data >> 5 * table & 31) & 1:
                data ^= draw.getrandbits(5 if table < 12 else 4) << 5 * table
        wide = data | (data & 1) << 64
        addresses = [*(wide >> 5 * table & 31 for table in range(13)), kind]
        if number == 13:
            addresses[13] = kind = next(k for k in range(16) if not tables[13] >> k & 1)
        elif number < 12:
            wrong = next(e for e in range(32) if not tables[number] >> e & 1)
            data = data & ~(31 << 5 * number) | wrong << 5 * number
        else:
            wrong = next(e for e in range(32) if not tables[12] >> e & 1 and e >> 4 == data & 1)
            data = data & ~(15 << 60) | (wrong & 15) << 60
        wide = data | (data & 1) << 64
        addresses = [*(wide >> 5 * table & 31 for table in range(13)), kind]
        refused = [t for t, at in enumerate(addresses) if not tables[t] >> at & 1]
        if refused == [number]:
            return bool((await block.step(word_kind=kind, word_data=_word(data)))["agree"])
