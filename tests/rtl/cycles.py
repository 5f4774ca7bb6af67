"""Driving a block cycle by cycle in cocotb, and looking at all of its outputs in every cycle.

Inputs change just behind the rising edge with which a cycle begins, as those from flip-flops do; outputs are read in
the middle of the cycle, as numbers: an x or z has none and fails the test.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

from tests.rtl.clocks import Clock

_clocks: dict[str, Any] = {}


class Block:
    """A block with one clock, ``clk``."""

    def __init__(
        self, dut: Any, inputs: Iterable[str], outputs: Iterable[str], reset: str | None = "rst"
    ) -> None:
        self.dut = dut
        self.inputs, self.outputs, self.reset = tuple(inputs), tuple(outputs), reset
        self._in_reset = False
        self._pins: dict[str, Any] = {}
        self._stands: dict[
            str, int
        ] = {}  # at each input; writing it again costs and changes nothing

    async def start(self, **given: int) -> Self:
        """Start the clock with every input 0 or as given, reset for 12 cycles, and end in the last of them."""
        self._stands.clear()
        self._give({name: given.get(name, 0) for name in self.inputs})
        if self.reset:
            getattr(self.dut, self.reset).value = 1
            self._in_reset = True
        clk = self.dut.clk
        running = _clocks.get(clk._path)
        if running is None or running.done():  # a test may start a block again; its clock goes on
            _clocks[clk._path] = Clock(clk, 10_000, "ps").start()
        await ClockCycles(clk, 12)
        return self

    async def step(self, **values: int) -> dict[str, int]:
        """Let a cycle begin, give its inputs (those not named are 0, ``cfg_*`` stay) and return its outputs."""
        await RisingEdge(self.dut.clk)
        if self.reset and self._in_reset:
            getattr(self.dut, self.reset).value = 0
            self._in_reset = False
        self._give({
            name: values.get(name, 0) for name in self.inputs
            if name in values or not name.startswith("cfg_")
        })  # fmt: skip
        await FallingEdge(self.dut.clk)
        return self.see()

    def see(self) -> dict[str, int]:
        """Return every output as a number."""
        return {name: int(self._pin(name).value) for name in self.outputs}

    def _give(self, values: Mapping[str, int]) -> None:
        for name, value in values.items():
            if self._stands.get(name) != value:
                self._pin(name).value = self._stands[name] = value

    def _pin(self, name: str) -> Any:
        if name not in self._pins:
            self._pins[name] = getattr(self.dut, name)
        return self._pins[name]
