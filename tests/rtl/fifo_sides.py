"""The two sides of a FIFO of the card: its clocks and reset, and a reader that stalls."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from cocotb.triggers import ClockCycles, FallingEdge, with_timeout

from tests.rtl.clocks import Clock

Word = TypeVar("Word")


async def begin(dut: Any, inputs: Iterable[str], s_ps: int, m_ps: int, stat_ps: int) -> None:
    """Start the clocks, all inputs at 0, and reset both sides."""
    for name in inputs:
        getattr(dut, name).value = 0
    for clk, period_ps in ((dut.s_clk, s_ps), (dut.m_clk, m_ps), (dut.stat_clk, stat_ps)):
        Clock(clk, period_ps, "ps").start()
    dut.s_rst.value = dut.m_rst.value = 1
    await ClockCycles(dut.s_clk, 12)
    await ClockCycles(dut.m_clk, 12)
    await FallingEdge(dut.s_clk)
    dut.s_rst.value = dut.m_rst.value = 0
    await ClockCycles(dut.m_clk, 8)


async def take_words(
    dut: Any, draw: random.Random, words: int, hold: int, word: Callable[[], Word]
) -> list[Word]:
    """Take words with stalls, the pointer held at one of them; ``word`` reads what is shown."""
    found: list[Word] = []

    async def take() -> None:
        while len(found) < words:
            await FallingEdge(dut.m_clk)
            takes = int(draw.random() < 0.7)
            dut.m_take.value, dut.m_hold.value = takes, int(len(found) == hold)
            if takes and int(dut.m_valid.value):
                found.append(word())
        await FallingEdge(dut.m_clk)
        dut.m_take.value = dut.m_hold.value = 0

    await with_timeout(take(), 300, "us")
    return found
