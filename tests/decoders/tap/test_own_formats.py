"""Own fields and CRCs of a card file against a reading of them bit by bit."""

from __future__ import annotations

import random
from typing import Literal

import pytest

from freezeframe.decoders.tap.checked import BAD, GOOD, Wrong
from tests.decoders.tap.test_checked import checked


def bits_of(data: bytes, refin: bool) -> list[int]:
    """Return a message's bits in the order a CRC takes them."""
    order = range(8) if refin else range(7, -1, -1)
    return [byte >> i & 1 for byte in data for i in order]


def crc_by_division(
    data: bytes, width: int, poly: int, init: int, refin: bool, refout: bool, xorout: int
) -> int:
    """Return a CRC one bit at a time, as R. Williams's guide has it: nothing but shift and exclusive-or."""
    register = init
    for bit in bits_of(data, refin):
        top = register >> (width - 1) & 1 ^ bit
        register = (register << 1) & ((1 << width) - 1)
        register ^= poly if top else 0
    if refout:
        register = int(f"{register:0{width}b}"[::-1], 2)
    return register ^ xorout


@pytest.mark.parametrize("refin", [False, True])
@pytest.mark.parametrize("refout", [False, True])
def test_a_crc_of_any_width_and_reflection_holds_where_a_division_says_so(
    refin: bool, refout: bool
) -> None:
    chance = random.Random(f"{refin} {refout}")
    for width in (3, 4, 5, 7, 8, 10, 12, 15, 16, 17, 24, 31, 32, 33, 40, 48, 63, 64):
        top = (1 << width) - 1
        poly, init, xorout = (
            chance.randint(0, top) | 1,
            chance.randint(0, top),
            chance.choice([0, top]),
        )
        order: Literal["big", "little"] = "big" if chance.random() < 0.5 else "little"
        first, behind = chance.choice([0, 3]), chance.choice([0, 2])
        size = -(-width // 8)
        form = f"""\
is = "fields"
[format.f.field.x]
at_bit = 0
bits = 8
[format.f.check.own]
at = {-size - behind}
first = {first}
end = {-size - behind}
order = "{order}"
width = {width}
poly = {poly:#x}
init = {init:#x}
xorout = {xorout:#x}
refin = {str(refin).lower()}
refout = {str(refout).lower()}
"""
        packets = []
        for _ in range(4):
            body = chance.randbytes(chance.randint(12, 60))
            crc = crc_by_division(body[first:], width, poly, init, refin, refout, xorout)
            packets.append(body + crc.to_bytes(size, order) + bytes(behind))
        place = chance.randrange(first, len(packets[3]) - size - behind)
        packets[3] = packets[3][:place] + bytes([packets[3][place] ^ 1]) + packets[3][place + 1 :]
        found = checked(packets, form)
        assert found.verdict.tolist() == [GOOD, GOOD, GOOD, BAD], (width, form)
        assert found.wrong.tolist() == [0, 0, 0, Wrong.CRC]


def test_a_field_is_the_bits_it_names_wherever_they_stand() -> None:
    chance = random.Random(4)
    data = chance.randbytes(40)
    high = "".join(f"{byte:08b}" for byte in data)  # bit 0 is the first byte's highest
    number = int.from_bytes(data, "little")  # bit 0 is the first byte's lowest
    for _ in range(60):
        bits = chance.choice([1, 3, 8, 12, 16, 31, 63])
        at = chance.randrange(0, 320 - bits)
        order = chance.choice(["big", "little"])
        form = f'is = "fields"\n[format.f.field.x]\nat_bit = {at}\nbits = {bits}\norder = "{order}"'
        little = number >> at & ((1 << bits) - 1)
        wanted = int(high[at : at + bits], 2) if order == "big" else little
        assert checked([data], form).columns["x"].tolist() == [wanted], form


def test_a_packet_is_not_good_while_one_of_its_checks_cannot_be_made() -> None:
    form = """\
is = "fields"
[format.f.field.mark]
at_bit = 0
bits = 8
constant = 7
[format.f.check.sum]
crc = "CRC-32/NONE"
at = -4
"""
    found = checked([bytes([7]) * 9, bytes([8]) * 9], form)
    assert found.verdict.tolist() == [-1, BAD]
