"""ff_nic_gray_binary: the number whose Gray code stands at the input; codes of neighbours differ in one bit."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import Timer

from tests.rtl.simulation import in_icarus

test_the_value_of_a_gray_code = in_icarus("ff_nic_gray_binary", __name__, {"W": 2}, {"W": 32})


def gray_codes(width: int) -> list[int]:
    """Return all codes of so many bits in their order, made as the code is defined: mirrored, with a one in front."""
    codes = [0]
    for bit in range(width):
        codes += [code | 1 << bit for code in reversed(codes)]
    return codes


async def value(dut: Any, gray: int) -> int:
    dut.gray.value = gray
    await Timer(1, "ns")
    return int(dut.binary.value)


@cocotb.test()
async def the_codes_in_their_order_are_the_numbers_from_zero_on(dut: Any) -> None:
    width = min(int(dut.W.value), 10)  # of a wider code the first 1,024 numbers
    for number, code in enumerate(gray_codes(width)):
        assert await value(dut, code) == number


@cocotb.test()
async def one_bit_that_is_seen_late_gives_the_number_before_or_behind(dut: Any) -> None:
    """That is what the code is for: a synchronizer may catch the old or the new level of the one bit that changes."""
    width, draw = int(dut.W.value), random.Random(1)
    top = (1 << width) - 1
    places = {0, top, top >> 1, top - 1} | {draw.randrange(top) for _ in range(200)}
    for number in sorted(places):
        behind = (number + 1) & top
        code, code_behind = number ^ number >> 1, behind ^ behind >> 1
        assert (code ^ code_behind).bit_count() == 1
        assert await value(dut, code) == number
        assert await value(dut, code_behind) == behind
