"""ff_check_length and ff_check_sequence, over ff_stream_field: what a header says, against the bytes that are given."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.packet_stream import STREAM, packets_that_are_bad
from tests.rtl.simulation import in_icarus

_LENGTH = {"AT": 16, "WIDTH": 16, "WITH_FIELD": 1, "PLUS": 4, "SHORTEST": 20, "LONGEST": 120}
test_lengths = in_icarus(
    "ff_check_length", __name__,
    *({"BITS": bits, **_LENGTH} for bits in (8, 32, 64, 512)), {"BITS": 64, **_LENGTH, "LITTLE": 1},
)  # fmt: skip
test_numbers = in_icarus(
    "ff_check_sequence", __name__,
    {"BITS": 8, "AT": 33, "WIDTH": 7}, {"BITS": 64, "AT": 33, "WIDTH": 7}, {"BITS": 64, "AT": 56, "WIDTH": 16},
    {"BITS": 128, "AT": 24, "WIDTH": 32, "LITTLE": 1},
)  # fmt: skip


@cocotb.test()
async def a_packet_of_another_length_than_its_header_says_or_beyond_the_limits_is_bad(
    dut: Any,
) -> None:
    if not hasattr(dut, "SHORTEST"):
        return
    draw, bytes_ = random.Random(1), len(dut.tdata) // 8
    step = -1 if int(dut.LITTLE.value) else 1
    block = await Block(dut, STREAM, ("bad",)).start()
    packets, wrong = [], []
    for number in range(60):
        length = draw.choice((19, 20, 21, 64, 119, 120, 121, 300, 3))
        says = length - 4 + draw.choice((0, 0, 0, 1, -1))
        packets.append(
            (
                draw.randbytes(2)
                + (says % 65536).to_bytes(2, "big")[::step]
                + draw.randbytes(length)
            )[:length]
        )
        if not 20 <= length <= 120 or says != length - 4:
            wrong.append(number)
    assert (
        await packets_that_are_bad(block, packets, bytes_, draw, lambda: draw.choice((0, 0, 1)))
        == wrong
    )


@cocotb.test()
async def a_number_that_does_not_follow_is_bad_once(dut: Any) -> None:
    if hasattr(dut, "SHORTEST"):
        return
    draw, bytes_ = random.Random(2), len(dut.tdata) // 8
    at, width = int(dut.AT.value), int(dut.WIDTH.value)
    little = int(dut.LITTLE.value)
    block = await Block(dut, STREAM, ("bad",)).start()
    packets, wrong, number = [], [], (1 << width) - 20  # over the end of the numbers
    for place in range(60):
        jump = place > 0 and draw.random() < 0.2
        number = (number + (draw.randrange(2, 5) if jump else 1)) % (1 << width)
        bits = draw.getrandbits(8 * 24)
        field = int.from_bytes(number.to_bytes(width // 8, "little"), "big") if little else number
        shift = 8 * 24 - at - width
        bits = bits & ~(((1 << width) - 1) << shift) | field << shift
        packets.append(bits.to_bytes(24, "big") + draw.randbytes(draw.randrange(40)))
        if jump:
            wrong.append(place)
    packets.insert(30, b"\x00")  # too short to have a number
    wrong = [place + (place >= 30) for place in wrong]
    assert await packets_that_are_bad(block, packets, bytes_, draw) == wrong
