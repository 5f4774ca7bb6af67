"""ff_node: a wire, whatever synthesis makes of what is before it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.triggers import Timer

from tests.rtl.simulation import simulate


@pytest.mark.parametrize("width", [1, 256])
def test_the_node(tmp_path: Path, width: int) -> None:
    simulate("ff_node", __name__, tmp_path, {"W": width})


@cocotb.test()
async def what_goes_in_comes_out(dut: Any) -> None:
    width, draw = int(dut.W.value), random.Random(1)
    for word in (0, (1 << width) - 1, *(draw.getrandbits(width) for _ in range(50))):
        dut.d.value = word
        await Timer(1, "ns")
        assert int(dut.q.value) == word
