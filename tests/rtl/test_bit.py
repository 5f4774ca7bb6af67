"""ff_bit: the bit of a word that its number names, and 0 where the word has none."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.triggers import Timer
from cocotb.types import LogicArray

from tests.rtl.simulation import simulate

SHAPES = [(1, 2, 0), (4, 2, 0), (12, 5, 0), (32, 5, 0), (40, 6, 12), (64, 6, 24), (64, 6, 0)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_bit_of_a_word(tmp_path: Path, shape: tuple[int, int, int]) -> None:
    width, index, first = shape
    simulate("ff_bit", __name__, tmp_path, {"W": width, "INDEX_W": index, "FIRST": first})


@cocotb.test()
async def every_bit_comes_by_its_number_and_what_the_word_lacks_is_0(dut: Any) -> None:
    width, first, draw = int(dut.W.value), int(dut.FIRST.value), random.Random(1)
    for _ in range(20):
        word = draw.getrandbits(width)
        dut.d.value = word
        for number in range(1 << int(dut.INDEX_W.value)):
            dut.index.value = number
            await Timer(1, "ns")
            assert int(dut.q.value) == (word >> number & 1 if number >= first else 0), number


@cocotb.test()
async def bits_that_are_not_known_do_not_reach_another(dut: Any) -> None:
    width = int(dut.W.value)
    for number in range(int(dut.FIRST.value), width):
        dut.d.value = LogicArray(
            "".join("1" if bit == number else "X" for bit in reversed(range(width)))
        )
        dut.index.value = number
        await Timer(1, "ns")
        assert int(dut.q.value) == 1, number
