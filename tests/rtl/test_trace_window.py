"""ff_trace_window: the host and the CRC engine share the memories' one read port, and both get their records."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import cocotb
import pytest

from tests.rtl.cycles import Block
from tests.rtl.simulation import simulate

DEPTHS = {1: (16384,), 5: (256, 16384, 0, 2048, 512)}


@pytest.mark.parametrize("memories", [1, 5])
def test_a_window_on_the_memories(tmp_path: Path, memories: int) -> None:
    packed = sum(depth << 15 * i for i, depth in enumerate(DEPTHS[memories]))
    simulate(
        "ff_trace_window", __name__, tmp_path, {"MEMORIES": memories, "DEPTHS": f"75'd{packed}"}
    )


class Memories:
    """The block between a host and the memories; a record is made from its place, so no two are alike."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.count = len(dut.sel_trace)
        self.depths = DEPTHS[self.count]
        self.block = Block(
            dut, ("frozen", "sel_trace", "sel_index", "win_word", "cfg_index_record", "cfg_index_memory", "crc_en",
                  "crc_memory", "crc_slot", "rd_record"),
            ("win_ack", "win_err", "win_rdata", "crc_grant", "rd_en", "rd_slot"),
        )  # fmt: skip
        self.outputs = [0] * self.count
        self.due: int | None = None  # record the CRC engine is owed
        self.generation = 0

    def record(self, memory: int, slot: int) -> int:
        return random.Random(f"{self.generation} {memory} {slot}").getrandbits(72)

    async def step(self, **given: int) -> dict[str, int]:
        """Let a cycle pass; check what the CRC engine gets."""
        port = sum(record << 72 * i for i, record in enumerate(self.outputs))
        seen = await self.block.step(rd_record=port, **{"frozen": 1, **given})
        if not given.get("sel_trace", 0) and not given.get("sel_index", 0):
            assert (seen["win_ack"], seen["win_rdata"], seen["win_err"]) == (
                0,
                0,
                0,
            )  # windows are joined by OR
        if self.due is not None:
            assert int(self.dut.crc_record.value) == self.due
        self.due = None
        granted = given.get("crc_en", 0) and seen["crc_grant"]
        if granted:
            memory, slot = given["crc_memory"], given["crc_slot"]
            assert (seen["rd_en"], seen["rd_slot"]) == (1 << memory, slot)
            self.due = self.record(memory, slot)
        assert seen["rd_en"].bit_count() <= 1
        for memory in range(self.count):
            if seen["rd_en"] >> memory & 1:
                self.outputs[memory] = self.record(memory, seen["rd_slot"])
        return seen

    async def read(self, crc: random.Random | None = None, **access: int) -> tuple[int, int, int]:
        """Return ``(error, data, cycles)`` of an access, with the CRC engine at work or without."""
        for cycles in range(1, 3):
            seen = await self.step(**access, **(self.crc(crc) if crc else {}))
            if seen["win_ack"]:
                return seen["win_err"], seen["win_rdata"], cycles
        raise AssertionError(f"{access}: no answer in the second cycle")

    def crc(self, draw: random.Random) -> dict[str, int]:
        memory = draw.choice([m for m in range(self.count) if self.depths[m]])
        return {
            "crc_en": int(draw.random() < 0.8),
            "crc_memory": memory,
            "crc_slot": draw.randrange(self.depths[memory]),
        }

    def expected(self, memory: int, slot: int, part: int) -> tuple[int, int]:
        """Return ``(error, data)``: data 0-31, data 32-63, kind | dt << 4, 0 (formats.md section 1, windows)."""
        if memory >= self.count or slot >= self.depths[memory]:
            return 1, 0
        octets = self.record(memory, slot).to_bytes(9, "little") + bytes(7)
        return 0, int.from_bytes(octets[4 * part : 4 * part + 4], "little")


async def memories(dut: Any) -> Memories:
    made = Memories(dut)
    await made.block.start()
    return made


@cocotb.test()
@cocotb.parametrize(busy=[False, True])
async def every_word_of_every_record_is_that_of_its_place(dut: Any, busy: bool) -> None:
    made, draw = await memories(dut), random.Random(int(busy))
    crc = random.Random(9) if busy else None
    for _ in range(200):
        memory = draw.randrange(made.count)
        slot = draw.choice((0, made.depths[memory] - 1, made.depths[memory], draw.randrange(16384)))
        slot = min(max(slot, 0), 16383)
        for part in draw.choice(((0, 1, 2, 3), (2,), (3, 0))):
            error, data, _ = await made.read(crc, sel_trace=1 << memory, win_word=4 * slot + part)
            assert (error, data) == made.expected(memory, slot, part), (memory, slot, part)
        if draw.random() < 0.5:
            await made.step(**(made.crc(crc) if crc else {}))


@cocotb.test()
async def the_index_reaches_the_same_records_and_no_others(dut: Any) -> None:
    made, draw = await memories(dut), random.Random(2)
    for _ in range(100):
        memory = draw.randrange(8)
        depth = made.depths[memory] if memory < made.count else 0
        slot = draw.choice((0, max(depth - 1, 0), depth, depth + 16384, (1 << 24) - 1))
        for part in range(3):
            error, data, _ = await made.read(
                sel_index=1, win_word=part, cfg_index_record=slot, cfg_index_memory=memory
            )
            assert (error, data) == made.expected(memory, slot, part), (memory, slot, part)


@cocotb.test()
async def a_record_that_stands_answers_at_once_and_an_old_one_never(dut: Any) -> None:
    made = await memories(dut)
    assert (await made.read(sel_trace=1, win_word=20))[2] == 2
    assert (await made.read(sel_trace=1, win_word=21))[2] == 1
    await made.step(frozen=0)  # an arm: the memory is written anew
    made.generation += 1
    error, data, cycles = await made.read(sel_trace=1, win_word=20)
    assert (error, data) == made.expected(0, 5, 0)
    assert cycles == 2
