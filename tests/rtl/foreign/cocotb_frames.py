"""The cocotb side of test_cocotb_sources.py: frames of cocotbext-eth through cocotbext-axi's source and sink.

The registers are served from the start until ``stop`` exists in the working folder. Once ``go`` exists traffic passes,
and ``done`` tells what was sent, what came out, and which frames were spoilt, in hexadecimal.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource
from cocotbext.eth import GmiiFrame

from freezeframe.capture.simulation import WishbonePins, serve

BEGIN = bytes.fromhex("020000000001 020000000002 88b5")  # a local type
MOST_B = 180  # with FCS three beats: what the path's memory always has room for


class Names(AxiStreamBus):  # type: ignore[misc]
    """A stream's pins as LiteX names them."""

    _signals = {"tdata": "payload_data"}  # noqa: RUF012
    _optional_signals = {  # noqa: RUF012
        "tvalid": "valid", "tready": "ready", "tlast": "last", "tkeep": "payload_keep", "tuser": "param_user",
    }  # fmt: skip


class Traffic:
    """What is sent into the path, and what comes out."""

    def __init__(self, dut: Any) -> None:
        self.dut, self.chance = dut, random.Random(14)
        self.source = AxiStreamSource(Names(dut, "gen_in"), dut.line_clk, dut.line_rst)
        self.sink = AxiStreamSink(Names(dut, "rx"), dut.sys_clk, dut.sys_rst)
        self.source.set_pause_generator(self._now_and_then())
        self.sent: list[bytes] = []

    async def send(self, bad_bits: int = 0) -> bytes:
        """Send a frame of cocotbext-eth, with its FCS; of a bad one that many bits change after it was made."""
        payload = BEGIN + self.chance.randbytes(self.chance.randint(46, MOST_B - len(BEGIN)))
        data = GmiiFrame.from_payload(payload).get_payload(strip_fcs=False)
        for place in self.chance.sample(range(8 * len(data)), bad_bits):
            data[place // 8] ^= 1 << place % 8
        user = [0] * (len(data) - 1) + [int(bad_bits > 0)]  # what a MAC says at the last beat
        self.sent.append(bytes(data))
        await self.source.send(AxiStreamFrame(data, tuser=user))
        await self.source.wait()
        return self.sent[-1]

    async def pass_by(self) -> dict[str, list[bytes]]:
        """Let frames pass: one finds no room, then bits of one change in the path, then one comes with a bad FCS."""
        spoilt = [await self._without_room()]
        self.sink.set_pause_generator(self._now_and_then())
        for _ in range(2):
            await self.send()
        await ClockCycles(self.dut.line_clk, 50)
        self.dut.flip.value = 5 << 77
        spoilt.append(await self.send())
        await ClockCycles(self.dut.line_clk, 50)
        self.dut.flip.value = 0
        for _ in range(2):
            await self.send()
        spoilt.append(await self.send(3))
        for _ in range(3):
            await self.send()
        await ClockCycles(self.dut.line_clk, 100)
        received = [bytes(self.sink.recv_nowait().tdata) for _ in range(self.sink.count())]
        return {"sent": self.sent, "received": received, "spoilt": spoilt}

    async def _without_room(self) -> bytes:
        """Let the receiver wait until the path drops a frame, then until the rest is out; return that frame."""
        self.sink.pause = True
        dropped = cocotb.start_soon(self._drop())
        while not dropped.done():
            last = await self.send()
        self.sink.pause = False
        await ClockCycles(self.dut.line_clk, 50)
        return last

    async def _drop(self) -> None:
        while self.dut.drop.value != 1:
            await RisingEdge(self.dut.line_clk)

    def _now_and_then(self) -> Iterator[bool]:
        return (self.chance.random() < 0.2 for _ in itertools.count())


def tell(name: str, text: str) -> None:
    """Write a file that is there whole, or not."""
    Path(f"{name}.part").write_text(text)
    Path(f"{name}.part").rename(name)


@cocotb.test()
async def the_registers_are_served_while_frames_pass(dut: Any) -> None:
    Clock(dut.sys_clk, 4000, "ps").start()
    Clock(dut.line_clk, 6400, "ps").start()
    traffic = Traffic(dut)
    pins = WishbonePins(dut, "bus", dut.sys_clk)
    dut.flip.value = 0
    dut.sys_rst.value = dut.line_rst.value = 1
    await ClockCycles(dut.sys_clk, 20)
    dut.sys_rst.value = dut.line_rst.value = 0
    cocotb.start_soon(serve(pins, every_clocks=16, listening=lambda url: tell("url", url)))
    for file in ("go", "stop"):
        while not Path(file).exists():
            await ClockCycles(dut.sys_clk, 256)
        if file == "go":
            told = await traffic.pass_by()
            tell("done", json.dumps({key: [f.hex() for f in told[key]] for key in told}))
