"""ff_mux4: the word that is selected, bit for bit, whatever the three others hold."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import Timer
from cocotb.types import LogicArray

from tests.rtl.simulation import in_icarus

test_the_multiplexer = in_icarus("ff_mux4", __name__, {"W": 1}, {"W": 256})


@cocotb.test()
async def the_selected_word_and_no_other_comes_out(dut: Any) -> None:
    width, draw = int(dut.W.value), random.Random(1)
    for _ in range(100):
        words = [draw.getrandbits(width) for _ in range(4)]
        for port, word in zip((dut.d0, dut.d1, dut.d2, dut.d3), words, strict=True):
            port.value = word
        for sel in (3, 0, 2, 1):
            dut.sel.value = sel
            await Timer(1, "ns")
            assert int(dut.q.value) == words[sel]


@cocotb.test()
async def words_that_are_not_known_do_not_reach_the_output_unless_selected(dut: Any) -> None:
    width = int(dut.W.value)
    ports = (dut.d0, dut.d1, dut.d2, dut.d3)
    for sel, chosen in enumerate(ports):
        for port in ports:
            port.value = LogicArray("X" * width)
        chosen.value = (1 << width) - 1
        dut.sel.value = sel
        await Timer(1, "ns")
        assert int(dut.q.value) == (1 << width) - 1
