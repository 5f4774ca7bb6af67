"""ff_status_window: pointers, counts and time pairs of both domains, whole, at the addresses of the map."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, with_timeout

from tests.rtl.clocks import Clock
from tests.rtl.register_port import at
from tests.rtl.simulation import in_icarus

LINK_MEMORIES = (1, 2)
FIELDS = ("first_number", "first_lo", "first_hi", "last_number", "last_lo", "last_hi")


test_the_status_window = in_icarus("ff_status_window", __name__)


class Status:
    """The window with drawn values at all of its inputs."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut = dut
        draw = random.Random(seed)
        self.write_ptr = [draw.getrandbits(14) for _ in range(5)]
        self.wrapped = [draw.getrandbits(1) for _ in range(5)]
        self.stored = [draw.getrandbits(32) for _ in range(5)]
        self.offered = [draw.getrandbits(32) for _ in range(5)]
        self.lost = draw.getrandbits(32)
        self.chunks = [draw.getrandbits(7) for _ in range(5)]
        self.pairs = [[draw.getrandbits(32) for _ in FIELDS] for _ in range(2)]
        self.valid = [(draw.getrandbits(1), draw.getrandbits(1)) for _ in range(2)]
        self.far = draw.getrandbits(32)

    async def start(self) -> Any:
        """Return the clock of the link."""
        dut = self.dut
        for name in ("sel_memory", "sel_pair", "sel_far", "win_word"):
            getattr(dut, name).value = 0
        dut.far_bank.value = self.far
        for name, width, numbers in (
            ("stat_write_ptr", 14, self.write_ptr), ("stat_wrapped", 1, self.wrapped), ("stat_stored", 32, self.stored),
            ("stat_offered", 32, self.offered), ("stat_chunks_done", 7, self.chunks), ("stat_lost", 32, [self.lost]),
            ("stat_pair", 32, self.pairs[0] + self.pairs[1]),
            ("stat_first_valid", 1, [first for first, _ in self.valid]),
            ("stat_last_valid", 1, [last for _, last in self.valid]),
        ):  # fmt: skip
            getattr(dut, name).value = sum(number << width * i for i, number in enumerate(numbers))
        Clock(dut.clk_bus, 10_000, "ps").start()
        link = Clock(dut.clk_link, 12_800, "ps")
        link.start()
        dut.rst_bus.value = dut.rst_link.value = 1
        await ClockCycles(dut.clk_bus, 12)
        dut.rst_bus.value = dut.rst_link.value = 0
        await ClockCycles(dut.clk_bus, 12)
        return link

    async def read(self, select: str, word: int) -> tuple[int, int]:
        dut = self.dut

        async def answered() -> None:
            while True:
                await RisingEdge(dut.clk_bus)
                if int(dut.win_ack.value):
                    return

        await FallingEdge(dut.clk_bus)
        assert (int(dut.win_ack.value), int(dut.win_rdata.value), int(dut.win_err.value)) == (
            0,
            0,
            0,
        )
        getattr(dut, select).value = 1
        dut.win_word.value = word
        await with_timeout(answered(), 30, "us")
        answer = int(dut.win_err.value), int(dut.win_rdata.value)
        await FallingEdge(dut.clk_bus)
        getattr(dut, select).value = 0
        await FallingEdge(dut.clk_bus)
        return answer

    def words(self, near: bool = True, far: bool = True) -> list[tuple[str, int, int]]:
        """Return ``(select, word, value)`` for every register of the domains asked for, by its place in the map."""
        found = []
        for m in range(5):
            if far if m in LINK_MEMORIES else near:
                for name, value in (
                    ("write_ptr", self.write_ptr[m]), ("status", self.wrapped[m] | self.chunks[m] << 16),
                    ("stored", self.stored[m]), ("offered", self.offered[m]), ("lost", self.lost if m == 4 else 0),
                ):  # fmt: skip
                    word = (at(f"memory.{name}", m) - at("memory.write_ptr", 0)) // 4
                    found.append(("sel_memory", word, value))
        for d in range(2):
            if far if d else near:
                first, last = self.valid[d]
                values = [*zip(FIELDS, self.pairs[d], strict=True), ("status", first | last << 1)]
                for name, value in values:
                    found.append(("sel_pair", at(f"pair.{name}", d) // 4 & 511, value))
        return found


@cocotb.test()
@cocotb.parametrize(seed=[1, 2, 3])
async def every_register_has_its_place_and_its_value(dut: Any, seed: int) -> None:
    status = Status(dut, seed)
    link = await status.start()
    for select, word, value in status.words():
        assert await status.read(select, word) == (0, value), (select, word)
    assert await status.read("sel_far", 0x100) == (0, status.far)
    link.stop()


@cocotb.test()
async def a_link_clock_that_stands_still_is_an_error_and_the_bus_domain_answers_on(
    dut: Any,
) -> None:
    status = Status(dut, 4)
    link = await status.start()
    link.stop()
    assert (await status.read("sel_far", 0x100))[0] == 1
    for select, word, value in status.words(far=False):
        assert await status.read(select, word) == (0, value), (select, word)
    for select, word, _ in status.words(near=False)[:2]:
        assert (await status.read(select, word))[0] == 1, (select, word)
    link.start()
    await ClockCycles(dut.clk_link, 20)
    for select, word, value in status.words(near=False):
        assert await status.read(select, word) == (0, value), (select, word)
