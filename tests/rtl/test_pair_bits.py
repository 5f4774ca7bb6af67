"""ff_pair_bits: the first and the last toggle since arm, each frame of 64 cycles the bits of one toggle.

Source: docs/formats.md section 2.1 and 6.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, NamedTuple

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge

from tests.rtl.clocks import Clock
from tests.rtl.simulation import simulate

FRAME = 64


class Toggle(NamedTuple):
    cycle: int
    number: int


@pytest.mark.parametrize("master", [1, 0], ids=["master", "follower"])
@pytest.mark.parametrize(("period", "bits"), [(64, 40), (512, 64)], ids=["narrow", "wide"])
def test_the_pair_in_bits(tmp_path: Path, master: int, period: int, bits: int) -> None:
    simulate(
        "ff_pair_bits", __name__, tmp_path, {"MASTER": master, "PERIOD": period, "TIME_W": bits}
    )


class Line:
    """The stimulus: a counter, toggles, arms and closings, and what has counted of it."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut, self.draw = dut, random.Random(seed)
        self.master, self.period = bool(int(dut.MASTER.value)), int(dut.PERIOD.value)
        # a start at which an upper bit changes soon: words of two toggles would show
        self.cycle = (1 << 38) - 3 * self.period - FRAME * 2
        self.armed = self.closed = False
        self.toggles: list[Toggle] = []  # that count since arm
        self.next_toggle = self.cycle + 100  # a follower's

    async def cycles(
        self, count: int, *, arm_at: int = -1, close_at: int = -1
    ) -> list[tuple[int, int, int, int]]:
        """Run; return, of each cycle, ``(cycle, pair_valid, first_bit, last_bit)``."""
        dut, seen_of = self.dut, []
        for step in range(count):
            await FallingEdge(dut.clk)
            arm = step == arm_at
            if arm:
                self.closed = False
            elif step == close_at:
                self.closed = True
            if self.master:
                seen = self.cycle % self.period == 0
                number = self.cycle // self.period & 0xFFFFFFFF
            else:
                seen = self.cycle == self.next_toggle
                number = self.draw.getrandbits(32)
                if seen:
                    self.next_toggle += self.draw.choice((FRAME + 1, FRAME + 7, 3 * FRAME))
            dut.now.value, dut.begins.value = self.cycle, int(self.cycle % FRAME == 0)
            dut.time_seen.value, dut.time_number.value = int(seen), number
            dut.arm.value, dut.armed.value, dut.closed.value = (
                int(arm),
                int(self.armed),
                int(self.closed),
            )
            if arm:
                self.toggles, self.armed = [], True
            elif seen and self.armed and not self.closed:
                self.toggles.append(Toggle(self.cycle, number))
            await RisingEdge(dut.clk)
            seen_of.append(
                (
                    self.cycle,
                    int(dut.pair_valid.value),
                    int(dut.first_bit.value),
                    int(dut.last_bit.value),
                )
            )
            self.cycle += 1
        return seen_of

    def standing(self, frame: int) -> list[Toggle]:
        """Return the toggles that a frame may show: it, or the one before it, began behind them."""
        limit = frame - FRAME if self.master else frame - FRAME - 2
        return [toggle for toggle in self.toggles if toggle.cycle <= limit]

    async def frame(self, *, number: bool = False) -> tuple[bool, int, int]:
        """Return what a frame says: whether the pair stands, and the first's and the last's 64 bits."""
        self.dut.of_number.value = int(number)
        bits = await self.cycles(FRAME)
        assert bits[0][0] % FRAME == 0
        assert len({valid for _, valid, *_ in bits[1:]}) == 1, (
            "the pair came or went within a frame"
        )
        return (
            bool(bits[-1][1]),
            sum(bit << place for place, (_, _, bit, _) in enumerate(bits)),
            sum(bit << place for place, (*_, bit) in enumerate(bits)),
        )


async def line(dut: Any, seed: int) -> Line:
    for name in (
        "begins",
        "arm",
        "armed",
        "closed",
        "now",
        "time_seen",
        "time_number",
        "of_number",
    ):
        getattr(dut, name).value = 0
    dut.rst.value = 1
    Clock(dut.clk, 10, "ns").start()
    for _ in range(3):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    made = Line(dut, seed)
    await made.cycles(2 * FRAME)
    return made


@cocotb.test()
async def each_frame_shows_the_first_and_the_last_toggle_that_counted(dut: Any) -> None:
    build = int(dut.TIME_W.value) + int(dut.MASTER.value)
    for seed in (build, build + 2):  # others in each build
        made = await line(dut, seed)
        for _ in range(3):
            await made.cycles(FRAME, arm_at=made.draw.choice((0, 0, 5, 63)))
            for number in range(16):
                of_number = made.draw.random() < 0.5
                start = made.cycle
                valid, first, last = await made.frame(number=of_number)
                expected = made.standing(start)
                assert valid == bool(expected), (seed, number)
                if not expected:
                    continue
                for got, toggle in ((first, expected[0]), (last, expected[-1])):
                    if of_number:
                        place = made.period.bit_length() - 1
                        assert got >> place & 0xFFFFFFFF == toggle.number
                    else:
                        assert got == toggle.cycle
            await made.cycles(FRAME, close_at=made.draw.choice((0, 1, 40, 63)))
            await made.cycles(2 * FRAME)  # what had been seen stands, and nothing comes any more
            kept = made.toggles[-1]
            for _ in range(8):
                valid, first, last = await made.frame()
                assert (valid, first, last) == (True, made.toggles[0].cycle, kept.cycle)


@cocotb.test()
async def nothing_stands_before_the_first_arm_and_behind_a_reset(dut: Any) -> None:
    made = await line(dut, 9)
    for _ in range(12):
        assert (await made.frame())[0] is False
    await made.cycles(FRAME, arm_at=0)
    for _ in range(30):
        valid, *_ = await made.frame()
    assert valid
    await FallingEdge(dut.clk)
    dut.rst.value = 1
    await FallingEdge(dut.clk)
    assert int(dut.pair_valid.value) == 0
