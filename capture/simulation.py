"""The register bus of a design under cocotb, served over UDP: every verb of the host works on the running simulation.

In a test of your own, with the device's AXI4-Lite pins ``s_axi_...``::

    pins = AxiLitePins(dut, "s_axi", dut.clk_bus)
    cocotb.start_soon(serve(pins, port=1234))  # then: freezeframe status etherbone://127.0.0.1:1234

The simulation goes on while an access lasts; it is the accesses that wait for it. For a bench in C++ there is
``firmware-hooks/simulation/pins.h``. cocotb is the test's own, 2.0 or newer.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import cocotb
import numpy as np
from cocotb.task import bridge, resume
from cocotb.triggers import ClockCycles, RisingEdge

from freezeframe.capture.errors import BusError, TargetTimeout
from freezeframe.capture.targets.base import Words
from freezeframe.capture.targets.server import EtherboneServer

_SLOWLY = "window=1&burst=16&timeout=60"  # a few hundred accesses a second: nothing is asked twice
_MOST_CLOCKS = 20_000  # that one answer may take
_AXI_LITE = (
    *("awvalid", "awready", "awaddr", "wvalid", "wready", "wdata", "wstrb", "bvalid", "bready", "bresp"),
    *("arvalid", "arready", "araddr", "rvalid", "rready", "rdata", "rresp"),
)  # fmt: skip
_AVALON = ("read", "write", "address", "writedata", "waitrequest", "readdata", "response")
_WISHBONE = ("cyc", "stb", "we", "adr", "dat_w", "sel", "ack", "err", "dat_r")


class Pins(Protocol):
    """The pins of a register bus."""

    clock: Any

    async def read(self, address: int) -> int:
        """Return the word at a byte address.

        Raises:
            BusError: the design answers with an error.
            TargetTimeout: it does not answer.
        """

    async def write(self, address: int, word: int) -> None:
        """Write a word to a byte address; raises as `read` does."""


class AxiLitePins:
    """An AXI4-Lite subordinate of 32 bits (AMBA IHI 0022, chapter B1): the pins ``PREFIX_awvalid`` and so on."""

    def __init__(self, design: Any, prefix: str, clock: Any) -> None:
        self.clock = clock
        self._pins = {name: getattr(design, f"{prefix}_{name}") for name in _AXI_LITE}
        self._set(awvalid=0, wvalid=0, bready=0, arvalid=0, rready=0)

    async def read(self, address: int) -> int:
        """Return the word at a byte address; raises as `Pins.read` does."""
        self._set(araddr=address, arvalid=1, rready=1)
        return await self._answer(address, {"arready": "arvalid"}, "r")

    async def write(self, address: int, word: int) -> None:
        """Write a word to a byte address; raises as `Pins.read` does."""
        self._set(awaddr=address, awvalid=1, wdata=word, wstrb=0xF, wvalid=1, bready=1)
        await self._answer(address, {"awready": "awvalid", "wready": "wvalid"}, "b")

    async def _answer(self, address: int, offers: dict[str, str], channel: str) -> int:
        pins = self._pins
        try:
            for _ in range(_MOST_CLOCKS):
                await RisingEdge(self.clock)  # what is read here stood right before the edge
                taken = [ready for ready in offers if pins[ready].value == 1]
                self._set(**{offers.pop(ready): 0 for ready in taken})
                if pins[f"{channel}valid"].value == 1:
                    _check(int(pins[f"{channel}resp"].value) == 0, address)
                    return int(pins["rdata"].value) if channel == "r" else 0
        finally:
            self._set(awvalid=0, wvalid=0, bready=0, arvalid=0, rready=0)
        raise _silent("AXI4-Lite", address)

    def _set(self, **values: int) -> None:
        for name, value in values.items():
            self._pins[name].value = value


class WishbonePins:
    """A Wishbone B4 subordinate of 32 bits, classic cycles: the design's pins ``PREFIX_cyc`` and so on.

    ``adr`` counts words, as in LiteX and at the device's own port, or bytes (``words=False``).
    """

    def __init__(self, design: Any, prefix: str, clock: Any, *, words: bool = True) -> None:
        self.clock = clock
        self._pins = {name: getattr(design, f"{prefix}_{name}") for name in _WISHBONE}
        self._shift = 2 if words else 0
        self._pins["cyc"].value = self._pins["stb"].value = 0

    async def read(self, address: int) -> int:
        """Return the word at a byte address; raises as `Pins.read` does."""
        return await self._access(address, None)

    async def write(self, address: int, word: int) -> None:
        """Write a word to a byte address; raises as `Pins.read` does."""
        await self._access(address, word)

    async def _access(self, address: int, word: int | None) -> int:
        pins = self._pins
        pins["adr"].value, pins["we"].value = address >> self._shift, int(word is not None)
        pins["dat_w"].value, pins["sel"].value = word or 0, 0xF
        pins["cyc"].value = pins["stb"].value = 1
        try:
            for _ in range(_MOST_CLOCKS):
                await RisingEdge(self.clock)
                if pins["ack"].value == 1:
                    return int(pins["dat_r"].value)
                _check(pins["err"].value != 1, address)
        finally:
            pins["cyc"].value = pins["stb"].value = 0
        raise _silent("Wishbone", address)


class AvalonPins:
    """An Avalon-MM agent of 32 bits with waitrequest, addresses in bytes: the pins ``PREFIX_read`` and so on."""

    def __init__(self, design: Any, prefix: str, clock: Any) -> None:
        self.clock = clock
        self._pins = {name: getattr(design, f"{prefix}_{name}") for name in _AVALON}
        self._pins["read"].value = self._pins["write"].value = 0

    async def read(self, address: int) -> int:
        """Return the word at a byte address; raises as `Pins.read` does."""
        return await self._access(address, "read", 0)

    async def write(self, address: int, word: int) -> None:
        """Write a word to a byte address; raises as `Pins.read` does."""
        await self._access(address, "write", word)

    async def _access(self, address: int, what: str, word: int) -> int:
        pins = self._pins
        pins["address"].value, pins["writedata"].value, pins[what].value = address, word, 1
        try:
            for _ in range(_MOST_CLOCKS):
                await RisingEdge(self.clock)
                if pins["waitrequest"].value == 0:
                    _check(int(pins["response"].value) == 0, address)
                    return int(pins["readdata"].value)
        finally:
            pins[what].value = 0
        raise _silent("Avalon-MM", address)


class UartPins:
    """UARTBone at the pins ``rx`` and ``tx`` (docs/formats.md section 9): 8 data bits, so many clocks a bit."""

    def __init__(self, design: Any, clock: Any, cycles: int) -> None:
        self.clock, self._cycles = clock, cycles
        self._rx, self._tx = design.rx, design.tx
        self._rx.value = 1

    async def read(self, address: int) -> int:
        """Return the word at a byte address; raises as `Pins.read` does."""
        await self._send(bytes([2, 1]) + (address >> 2).to_bytes(4, "big"))
        return int.from_bytes([await self._octet(address) for _ in range(4)], "big")

    async def write(self, address: int, word: int) -> None:
        """Write a word to a byte address; raises as `Pins.read` does."""
        await self._send(
            bytes([1, 1]) + (address >> 2).to_bytes(4, "big") + word.to_bytes(4, "big")
        )
        await ClockCycles(self.clock, 200)  # the access itself: no answer tells of it

    async def _send(self, octets: bytes) -> None:
        for octet in octets:
            for bit in (0, *(octet >> n & 1 for n in range(8)), 1):
                self._rx.value = bit
                await ClockCycles(self.clock, self._cycles)

    async def _octet(self, address: int) -> int:
        for _ in range(_MOST_CLOCKS):
            await RisingEdge(self.clock)
            if self._tx.value == 0:
                break
        else:
            raise _silent("UARTBone", address)
        await ClockCycles(self.clock, self._cycles // 2)
        octet = 0
        for n in range(8):
            await ClockCycles(self.clock, self._cycles)
            octet |= int(self._tx.value) << n
        await ClockCycles(self.clock, self._cycles)  # into the stop bit
        return octet


async def serve(
    pins: Pins,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    every_clocks: int = 64,
    listening: Callable[[str], None] = print,
) -> None:
    """Answer Etherbone requests until the test ends.

    Args:
        pins: of the design's register bus.
        port: of UDP; 0 takes a free one.
        every_clocks: clocks between two looks at the network.
        listening: is given the URL of the target, with the options that fit a slow one.

    Raises:
        TargetError: the address is unknown or in use.
    """
    server = EtherboneServer(_SimulatedBus(pins), host, port)
    answer_waiting = bridge(
        server.answer_waiting
    )  # in a thread, whose accesses run in the simulation
    listening(f"etherbone://{host}:{server.port}?{_SLOWLY}")
    try:
        while True:
            await ClockCycles(pins.clock, every_clocks)
            if select.select([server], [], [], 0)[0]:
                await answer_waiting()
    finally:
        server.close()


class _SimulatedBus:
    """The pins as a target; its calls come from the thread that `bridge` runs, while the simulation waits for it."""

    url = "cocotb:"

    def __init__(self, pins: Pins) -> None:
        self._pins = pins

    def read(self, addresses: Words | Sequence[int]) -> Words:
        return np.array(resume(self._read_all)(list(map(int, addresses))), np.uint32)

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        resume(self._write_all)(address, list(map(int, words)))

    def close(self) -> None:
        """There is nothing to free."""

    async def _read_all(self, addresses: list[int]) -> list[int]:
        return [await self._pins.read(address) for address in addresses]

    async def _write_all(self, address: int, words: list[int]) -> None:
        for place, word in enumerate(words):
            await self._pins.write(address + 4 * place, word)


def _check(good: bool, address: int) -> None:
    if not good:
        raise BusError(f"the design answers an error at 0x{address:08x}")


def _silent(bus: str, address: int) -> TargetTimeout:
    cocotb.log.warning(
        "%s: no answer at 0x%08x in %d clocks; is the bus in reset?", bus, address, _MOST_CLOCKS
    )
    return TargetTimeout(f"no answer at 0x{address:08x}")
