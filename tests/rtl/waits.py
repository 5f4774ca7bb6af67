"""Waits with a limit, thousands in a test: one task watches over them all."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge, Timer


class Waits:
    """Fails the test when a wait lasts for twice the limit, and none that is shorter than it.

    cocotb's ``with_timeout`` starts two tasks for each wait, which costs more than the rest of a register's access.
    """

    def __init__(self, limit_us: int) -> None:
        self._limit_us = limit_us
        self._begun = 0
        self._going_on: set[int] = set()
        cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        while True:
            before = set(self._going_on)
            await Timer(self._limit_us, "us")
            assert not before & self._going_on, f"no answer within {self._limit_us} us"

    async def until(self, clk: Any, *signals: Any) -> None:
        """Wait for an edge of the clock at which all the signals are up."""
        self._begun += 1
        wait = self._begun
        self._going_on.add(wait)
        try:
            await RisingEdge(clk)
            # A look a change, not a look a cycle: Python is slower than the device.
            while down := [signal for signal in signals if not int(signal.value)]:
                await RisingEdge(down[0])
                await RisingEdge(clk)
        finally:  # of one that is cut off as well
            self._going_on.discard(wait)
