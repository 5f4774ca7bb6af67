"""ff_crc_table: CRC-32 over each chunk of each frozen memory, whoever else reads them (formats.md section 1)."""

from __future__ import annotations

import random
import zlib
from pathlib import Path
from typing import Any

import cocotb
import pytest

from tests.rtl.cycles import Block
from tests.rtl.simulation import simulate

FORMS = {  # records in a chunk: records in each memory
    16: (32, 0, 80, 16, 48),
    256: (512,),
}


@pytest.mark.parametrize("chunk", list(FORMS))
def test_a_crc_table(tmp_path: Path, chunk: int) -> None:
    depths = FORMS[chunk]
    packed = sum(depth << 15 * i for i, depth in enumerate(depths))
    simulate("ff_crc_table", __name__, tmp_path, {
        "CHUNK": chunk, "MEMORIES": len(depths), "DEPTH_LOG2": 8 if chunk == 16 else 14, "DEPTHS": f"75'd{packed}",
    })  # fmt: skip


class Table:
    """The engine with memories behind it that grant it a read now and then."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.chunk = int(dut.CHUNK.value)
        self.depths = FORMS[self.chunk]
        self.draw = random.Random(seed)
        self.images = [[self.draw.randbytes(9) for _ in range(depth)] for depth in self.depths]
        self.port = 0
        self.grants = 0.8
        self.block = Block(
            dut, ("bus_rst", "frozen", "grant", "rd_record", "sel", "win_word"),
            ("rd_en", "rd_memory", "rd_slot", "stat_chunks_done", "win_ack", "win_err", "win_rdata"),
        )  # fmt: skip

    async def step(self, **given: int) -> dict[str, int]:
        grant = int(self.draw.random() < self.grants)
        seen = await self.block.step(
            **{"frozen": 1, "grant": grant, "rd_record": self.port, **given}
        )
        if seen["rd_en"] and grant:
            self.port = int.from_bytes(self.images[seen["rd_memory"]][seen["rd_slot"]], "little")
        return seen

    async def read(self, memory: int, entry: int) -> tuple[int, int]:
        """Return ``(error, data)`` of an entry."""
        for _ in range(4):
            seen = await self.step(sel=1, win_word=memory << 6 | entry)
            if seen["win_ack"]:
                await self.step()
                return seen["win_err"], seen["win_rdata"]
            assert seen["win_rdata"] == 0
        raise AssertionError(f"entry {entry} of memory {memory}: no answer")

    def done(self, seen: dict[str, int]) -> list[int]:
        return [seen["stat_chunks_done"] >> 7 * memory & 127 for memory in range(len(self.depths))]

    def all(self) -> list[int]:
        return [depth // self.chunk for depth in self.depths]

    def crc(self, memory: int, entry: int) -> int:
        records = self.images[memory][entry * self.chunk : (entry + 1) * self.chunk]
        return zlib.crc32(b"".join(records))

    async def finish(self) -> None:
        for _ in range(2 * 9 * sum(self.depths)):
            if self.done(await self.step()) == self.all():
                return
        raise AssertionError("the table is never ready")

    async def check(self) -> None:
        for memory, entries in enumerate(self.all()):
            for entry in range(entries):
                assert await self.read(memory, entry) == (0, self.crc(memory, entry)), (
                    memory,
                    entry,
                )


async def table(dut: Any, seed: int) -> Table:
    made = Table(dut, seed)
    await made.block.start(grant=1)
    return made


@cocotb.test()
async def before_the_freeze_nothing_is_read_and_no_entry_is_ready(dut: Any) -> None:
    made = await table(dut, 1)
    for _ in range(40):
        seen = await made.step(frozen=0)
        assert (seen["rd_en"], made.done(seen)) == (0, [0] * len(made.depths))


@cocotb.test()
async def every_entry_is_the_crc_of_its_records_and_not_ready_is_zero(dut: Any) -> None:
    """Entries become ready in order, memory after memory, and what was told ready is right at once."""
    made, told = await table(dut, 2), [0] * len(FORMS[int(dut.CHUNK.value)])
    assert await made.read(len(told) - 1, 0) == (0, 0)
    for _ in range(2 * 9 * sum(made.depths)):
        done = made.done(await made.step())
        assert [a >= b for a, b in zip(done, told, strict=True)] == [True] * len(done)
        if done != told:
            assert sum(done) == sum(told) + 1
            memory = next(m for m, (a, b) in enumerate(zip(done, told, strict=True)) if a != b)
            assert done[:memory] == made.all()[:memory]
            assert await made.read(memory, told[memory]) == (0, made.crc(memory, told[memory]))
            told = done
        if told == made.all():
            break
    assert told == made.all()
    await made.check()


@cocotb.test()
async def nine_cycles_a_record_where_nobody_else_reads(dut: Any) -> None:
    made, cycles = await table(dut, 3), 0
    made.grants = 1.0
    while made.done(await made.step()) != made.all():
        cycles += 1
    records = sum(made.depths)
    assert 9 * records <= cycles <= 9 * records + 2 * len(made.depths) + 4


@cocotb.test()
async def an_entry_that_no_memory_has_is_an_error(dut: Any) -> None:
    made = await table(dut, 4)
    for memory, entries in enumerate((*made.all(), *[0] * (8 - len(made.depths)))):
        for entry in {entries, 63}:
            if entry < 64:
                assert await made.read(memory, entry) == (1, 0), (memory, entry)


@cocotb.test()
async def a_bus_reset_or_another_freeze_begins_the_table_again(dut: Any) -> None:
    made = await table(dut, 5)
    for cause in ({"bus_rst": 1}, {"frozen": 0}):
        for _ in range(9 * 16 + 77):
            await made.step()
        await made.step(**cause)
        if "frozen" in cause:
            made.images = [[made.draw.randbytes(9) for _ in range(depth)] for depth in made.depths]
        assert sum(made.done(await made.step())) == 0
    await made.finish()
    await made.check()
