"""The cocotb side of test_own_simulation.py: packets at the tap, the registers over UDP, until it is told to stop."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge

from freezeframe.capture.simulation import AxiLitePins, WishbonePins, serve
from tests.rtl.clocks import Clock


def listening(url: str) -> None:
    Path("url").write_text(url)


@cocotb.test()
async def registers_are_served_while_packets_pass(dut: Any) -> None:
    Clock(dut.clk_sys, 10, "ns").start()
    dut.rst.value = dut.bus_rst.value = 1
    dut.boot_nonce.value = 7
    for name in ("trigger_in", "cross_in", "time_in", "rx_tvalid", "rx_tlast", "rx_tdata"):
        getattr(dut, name).value = 0
    wishbone = os.environ["FF_BUS"] == "wishbone"
    pins = (
        WishbonePins(dut, "wb", dut.clk_sys) if wishbone else AxiLitePins(dut, "s_axi", dut.clk_sys)
    )
    await ClockCycles(dut.clk_sys, 40)
    dut.rst.value = dut.bus_rst.value = 0
    cocotb.start_soon(serve(pins, listening=listening))
    cocotb.start_soon(time_line(dut))
    word = 0
    while not Path("stop").exists():
        for _ in range(64):
            word += 1
            dut.rx_tvalid.value = int(word % 3 != 0)
            dut.rx_tdata.value = word * 0x01010101 & 0xFFFFFFFF
            dut.rx_tlast.value = int(word % 8 == 1)
            await RisingEdge(dut.clk_sys)
        dut.rx_tvalid.value = 0
        await ClockCycles(
            dut.clk_sys, 128
        )  # Python that drives every cycle is what would take long


async def time_line(dut: Any) -> None:
    while True:
        await RisingEdge(dut.clk_sys)
        dut.time_in.value = dut.time_out.value
        await dut.time_out.value_change
