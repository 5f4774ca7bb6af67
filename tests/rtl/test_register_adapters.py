"""Register access from AXI4-Lite, Wishbone and a serial line: each access once, every error answer told as one.

The register port behind an adapter is a model here: a dictionary that answers after a random while, with an error where
it has no such address.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, Timer, with_timeout

from tests.rtl.clocks import Clock
from tests.rtl.simulation import simulate

CYCLES = 8  # of a bit on the serial line
BIT_NS = 10 * CYCLES
OKAY, SLVERR = 0, 2


@pytest.mark.parametrize("top", ["ff_axi_lite", "ff_wishbone", "ff_uartbone"])
def test_an_adapter(tmp_path: Path, top: str) -> None:
    simulate(
        top,
        __name__,
        tmp_path,
        {"CYCLES": CYCLES, "TIMEOUT": 300} if top == "ff_uartbone" else None,
    )


class Registers:
    """The register port of a device, slow at random; ``log`` holds every access that reached it."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut, self.draw = dut, random.Random(seed)
        self.words: dict[int, int] = dict.fromkeys(range(0, 64, 4), 0)
        self.log: list[tuple[str, int, int]] = []
        dut.m_ack.value = 0
        dut.m_err.value = 0
        dut.m_rdata.value = 0
        cocotb.start_soon(self._run())

    async def _run(self) -> None:
        dut = self.dut
        while True:
            await FallingEdge(dut.clk)
            dut.m_ack.value = 0
            if not int(dut.m_req.value):
                continue
            await ClockCycles(dut.clk, self.draw.randrange(4))
            await FallingEdge(dut.clk)
            address, write = int(dut.m_addr.value), int(dut.m_we.value)
            known = address in self.words
            if write and known:
                self.words[address] = int(dut.m_wdata.value)
            self.log.append(
                ("w" if write else "r", address, int(dut.m_wdata.value) if write else 0)
            )
            dut.m_rdata.value = self.words[address] if known else 0xFFFFFFFF
            dut.m_err.value = int(not known)
            dut.m_ack.value = 1
            await FallingEdge(dut.clk)
            dut.m_ack.value = 0


async def start(dut: Any, idle: dict[str, int], seed: int) -> Registers:
    Clock(dut.clk, 10, "ns").start()
    for name, value in idle.items():
        getattr(dut, name).value = value
    dut.rst.value = 1
    await ClockCycles(dut.clk, 2)  # the first edge comes before the reset
    registers = Registers(dut, seed)
    await ClockCycles(dut.clk, 4)
    await FallingEdge(dut.clk)
    dut.rst.value = 0
    await ClockCycles(dut.clk, 4)
    return registers


async def until(dut: Any, *signals: str) -> None:
    """Wait for an edge at which all the signals are up, at most 5 us."""

    pins = [getattr(dut, name) for name in signals]

    async def wait() -> None:
        await RisingEdge(dut.clk)
        while down := [pin for pin in pins if not int(pin.value)]:
            await RisingEdge(down[0])  # a look a change, not a look a cycle
            await RisingEdge(dut.clk)

    await with_timeout(wait(), 5, "us")


def only(dut: Any, top: str) -> bool:
    """Tell whether this test is for the top that is simulated."""
    return bool(dut._name == top)


async def axi_write(dut: Any, address: int, data: int, strobes: int, stall: int, skew: int) -> int:
    """Write by AXI4-Lite, address ``skew`` cycles before the data; take the answer after ``stall`` cycles."""
    await FallingEdge(dut.clk)
    dut.s_axi_awvalid.value = 1
    dut.s_axi_awaddr.value = address
    await ClockCycles(dut.clk, skew)
    await FallingEdge(dut.clk)
    dut.s_axi_wvalid.value = 1
    dut.s_axi_wdata.value = data
    dut.s_axi_wstrb.value = strobes
    await until(dut, "s_axi_awready", "s_axi_wready")
    await FallingEdge(dut.clk)
    dut.s_axi_awvalid.value = 0
    dut.s_axi_wvalid.value = 0
    await ClockCycles(dut.clk, stall)
    await FallingEdge(dut.clk)
    dut.s_axi_bready.value = 1
    await until(dut, "s_axi_bvalid")
    answer = int(dut.s_axi_bresp.value)
    await FallingEdge(dut.clk)
    dut.s_axi_bready.value = 0
    return answer


async def axi_read(dut: Any, address: int, stall: int) -> tuple[int, int]:
    await FallingEdge(dut.clk)
    dut.s_axi_arvalid.value = 1
    dut.s_axi_araddr.value = address
    await until(dut, "s_axi_arready")
    await FallingEdge(dut.clk)
    dut.s_axi_arvalid.value = 0
    await ClockCycles(dut.clk, stall)
    await FallingEdge(dut.clk)
    dut.s_axi_rready.value = 1
    await until(dut, "s_axi_rvalid")
    answer = int(dut.s_axi_rresp.value), int(dut.s_axi_rdata.value)
    await FallingEdge(dut.clk)
    dut.s_axi_rready.value = 0
    return answer


@cocotb.test()
async def axi_lite_accesses_reach_the_registers_once_and_errors_are_slverr(dut: Any) -> None:
    if not only(dut, "ff_axi_lite"):
        return
    idle = dict.fromkeys(
        ("s_axi_awvalid", "s_axi_awaddr", "s_axi_wvalid", "s_axi_wdata", "s_axi_wstrb", "s_axi_bready",
         "s_axi_arvalid", "s_axi_araddr", "s_axi_rready"), 0)  # fmt: skip
    registers, draw = await start(dut, idle, 1), random.Random(2)
    expected: list[tuple[str, int, int]] = []
    for _ in range(60):
        address, data = 4 * draw.randrange(20), draw.getrandbits(32)
        if draw.random() < 0.5:
            strobes = draw.choice([15, 15, 15, 7])
            answer = await axi_write(
                dut, address, data, strobes, draw.randrange(4), draw.randrange(3)
            )
            assert answer == (OKAY if strobes == 15 and address in registers.words else SLVERR)
            expected += [("w", address, data)] if strobes == 15 else []
        else:
            known = address in registers.words
            word = registers.words.get(address, 0xFFFFFFFF)
            assert await axi_read(dut, address, draw.randrange(4)) == (
                OKAY if known else SLVERR,
                word,
            )
            expected.append(("r", address, 0))
    assert registers.log == expected


@cocotb.test()
async def wishbone_cycles_end_with_ack_or_err_and_reach_the_registers_once(dut: Any) -> None:
    if not only(dut, "ff_wishbone"):
        return
    idle = dict.fromkeys(("wb_cyc", "wb_stb", "wb_we", "wb_adr", "wb_dat_w", "wb_sel"), 0)
    registers, draw = await start(dut, idle, 3), random.Random(4)
    expected: list[tuple[str, int, int]] = []
    for _ in range(60):
        address, data, write = 4 * draw.randrange(20), draw.getrandbits(32), draw.random() < 0.5
        select = draw.choice([15, 15, 15, 1])
        known, word = address in registers.words, registers.words.get(address, 0xFFFFFFFF)
        await FallingEdge(dut.clk)
        cycle = {
            "cyc": 1,
            "stb": 1,
            "we": int(write),
            "adr": address // 4,
            "dat_w": data,
            "sel": select,
        }
        for name, value in cycle.items():
            getattr(dut, f"wb_{name}").value = value
        for _ in range(100):
            await RisingEdge(dut.clk)
            if int(dut.wb_ack.value) or int(dut.wb_err.value):
                break
        good = known and (select == 15 or not write)
        assert (int(dut.wb_ack.value), int(dut.wb_err.value)) == (int(good), int(not good))
        if not write:
            assert int(dut.wb_dat_r.value) == word
        await FallingEdge(dut.clk)
        dut.wb_stb.value = 0
        dut.wb_cyc.value = 0
        if select == 15 or not write:
            expected.append(("w", address, data) if write else ("r", address, 0))
        await ClockCycles(dut.clk, draw.randrange(3))
    assert registers.log == expected


class Line:
    """The far end of the serial line."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.heard: list[int] = []
        cocotb.start_soon(self._listen())

    async def say(self, data: bytes, stop: int = 1) -> None:
        for byte in data:
            for bit in (0, *(byte >> i & 1 for i in range(8)), stop):
                self.dut.rx.value = bit
                await Timer(BIT_NS, "ns")
        self.dut.rx.value = 1
        await Timer(BIT_NS, "ns")

    async def _listen(self) -> None:
        while True:
            await FallingEdge(self.dut.tx)
            await Timer(BIT_NS // 2, "ns")
            assert int(self.dut.tx.value) == 0
            byte = 0
            for i in range(8):
                await Timer(BIT_NS, "ns")
                byte |= int(self.dut.tx.value) << i
            await Timer(BIT_NS, "ns")
            assert int(self.dut.tx.value) == 1
            self.heard.append(byte)

    async def answer(self, count: int) -> bytes:
        for _ in range(400):
            if len(self.heard) >= count:
                break
            await Timer(BIT_NS, "ns")
        heard, self.heard = bytes(self.heard), []
        return heard


def command(code: int, address: int, count: int, *words: int) -> bytes:
    return (
        bytes([code, count])
        + (address // 4).to_bytes(4, "big")
        + b"".join(w.to_bytes(4, "big") for w in words)
    )


@cocotb.test()
async def uartbone_commands_write_and_read_words_big_endian(dut: Any) -> None:
    """docs/formats.md section 9: 1 write, 2 read counting up; 3 write, 4 read one address."""
    if not only(dut, "ff_uartbone"):
        return
    registers = await start(dut, {"rx": 1}, 5)
    line = Line(dut)
    await line.say(command(1, 8, 3, 0x11223344, 0x55667788, 0x99AABBCC))
    await line.say(command(2, 4, 4))
    assert (await line.answer(16)).hex() == "00000000112233445566778899aabbcc"
    await line.say(command(3, 0, 2, 1, 2))
    await line.say(command(4, 0, 2))
    assert (await line.answer(8)).hex() == "0000000200000002"
    await line.say(command(2, 60, 2))
    assert (await line.answer(8)).hex() == "00000000ffffffff"  # outside the map
    assert [entry for entry in registers.log if entry[0] == "w"] == [
        ("w", 8, 0x11223344), ("w", 12, 0x55667788), ("w", 16, 0x99AABBCC), ("w", 0, 1), ("w", 0, 2),
    ]  # fmt: skip


@cocotb.test()
async def noise_a_broken_byte_and_half_a_command_leave_the_bridge_listening(dut: Any) -> None:
    if not only(dut, "ff_uartbone"):
        return
    registers = await start(dut, {"rx": 1}, 6)
    line = Line(dut)
    await line.say(b"\x00\x09\xff\x7f")  # no commands
    await line.say(command(1, 0, 0))  # a count of nothing; its address bytes are 0 and no commands
    await line.say(command(1, 0, 1, 5)[:7])  # not continued
    await ClockCycles(dut.clk, 400)
    await line.say(b"\x02", stop=0)  # a stop bit that is none: no byte
    await line.say(command(2, 0, 1))
    assert (await line.answer(4)).hex() == "00000000"
    assert registers.log == [("r", 0, 0)]
