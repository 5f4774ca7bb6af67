"""ff_node: a wire, whatever synthesis makes of what is before it."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import Timer

from tests.rtl.simulation import in_icarus

test_the_node = in_icarus("ff_node", __name__, {"W": 1}, {"W": 256})


@cocotb.test()
async def what_goes_in_comes_out(dut: Any) -> None:
    width, draw = int(dut.W.value), random.Random(1)
    for word in (0, (1 << width) - 1, *(draw.getrandbits(width) for _ in range(50))):
        dut.d.value = word
        await Timer(1, "ns")
        assert int(dut.q.value) == word
