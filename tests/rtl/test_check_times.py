"""ff_check_user, ff_check_no_ready, ff_check_gap, ff_check_watchdog: one pulse, in its cycle, for each case."""

from __future__ import annotations

from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

test_user = in_icarus("ff_check_user", __name__, {"USER_W": 3, "BIT": 1})
test_no_ready = in_icarus("ff_check_no_ready", __name__, {"CYCLES": 3}, {"CYCLES": 1})
test_gap = in_icarus("ff_check_gap", __name__)
test_watchdog = in_icarus("ff_check_watchdog", __name__, {"CYCLES": 3})


async def pulses(dut: Any, names: tuple[str, ...], *rows: str) -> str:
    """Give a cycle a column of the rows, one row an input; return bad of the cycles after each."""
    block = await Block(dut, names, ("bad",)).start()
    await block.step()
    seen = ""
    for column in zip(*rows, strict=True):
        values = {name: int(bit) for name, bit in zip(names, column, strict=True)}
        seen += str((await block.step(**values))["bad"])
    return (seen + str((await block.step())["bad"]))[1:]


@cocotb.test()
async def they_pulse_once_in_the_cycle_after(dut: Any) -> None:
    names = ("tvalid", "tready", "tlast")
    if dut._name == "ff_check_user":
        got = await pulses(dut, (*names, "tuser"), "1111101", "1101111", "0111101", "2222202")
        assert got == "0101101"  # at a last beat that is accepted, by bit 1 alone
    elif dut._name == "ff_check_no_ready" and int(dut.CYCLES.value) == 3:
        assert (
            await pulses(dut, names[:2], "0111111101110111", "0000000100010000")
            == "0001000000000001"
        )
    elif dut._name == "ff_check_no_ready":
        assert await pulses(dut, names[:2], "0110110", "0001010") == "0100100"
    elif dut._name == "ff_check_gap":
        got = await pulses(dut, names, "0101100110011", "1111111111101", "0000010001001")
        assert got == "0010010001000"
    else:
        assert (
            await pulses(dut, names[:2], "00000100000001000", "11111111111111111")
            == "00000000100000001"
        )
