"""ff_check_fcs: IEEE 802.3 3.2.9 on streams of every width, against the library's CRC-32."""

from __future__ import annotations

import random
import zlib
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.packet_stream import STREAM, beats, packets_that_are_bad
from tests.rtl.simulation import in_icarus

test_frames_with_a_bad_fcs = in_icarus(
    "ff_check_fcs", __name__,
    {"BITS": 8}, {"BITS": 16}, {"BITS": 64}, {"BITS": 64, "PREAMBLE": 1}, {"BITS": 192}, {"BITS": 512, "PREAMBLE": 1},
)  # fmt: skip

PREAMBLE = bytes.fromhex("55555555555555d5")


def frame(length: int, draw: random.Random) -> bytes:
    """Return a frame of that many bytes with its FCS, least significant byte first."""
    body = draw.randbytes(length - 4)
    return body + zlib.crc32(body).to_bytes(4, "little")


@cocotb.test()
async def each_bad_frame_is_told_once_and_no_good_one(dut: Any) -> None:
    draw, bytes_ = random.Random(3), len(dut.tdata) // 8
    before = PREAMBLE if int(dut.PREAMBLE.value) else b""
    block = await Block(dut, STREAM, ("bad", "checked")).start()
    packets, wrong = [], []
    for number in range(60):
        packet = bytearray(before + frame(draw.choice((*range(64, 80), 5, 300)), draw))
        if draw.random() < 0.3:
            at = draw.randrange(len(packet))
            packet[at] ^= 1 << draw.randrange(8)
            wrong.append(number)
        packets.append(bytes(packet))
    packets[7] = b""  # a last beat without a byte is no frame
    wrong = sorted({*wrong, 7})
    assert (
        await packets_that_are_bad(block, packets, bytes_, draw, lambda: draw.choice((0, 0, 0, 2)))
        == wrong
    )


@cocotb.test()
async def frames_without_a_cycle_between_them_are_each_checked(dut: Any) -> None:
    draw, bytes_ = random.Random(4), len(dut.tdata) // 8
    before = PREAMBLE if int(dut.PREAMBLE.value) else b""
    block = await Block(dut, STREAM, ("bad", "checked")).start()
    checked = bad = 0
    for number in range(30):
        packet = before + frame(64 + number % 9, draw)
        if number % 5 == 4:
            packet = packet[:-1] + bytes([packet[-1] ^ 0x80])
        for beat in beats(packet, bytes_, draw):
            seen = await block.step(**beat)
            checked, bad = checked + seen["checked"], bad + seen["bad"]
    for _ in range(4):
        seen = await block.step()
        checked, bad = checked + seen["checked"], bad + seen["bad"]
    assert (checked, bad) == (30, 6)


@cocotb.test()
async def a_frame_that_a_last_beat_without_bytes_ends_is_judged_by_its_bytes(dut: Any) -> None:
    draw, bytes_ = random.Random(5), len(dut.tdata) // 8
    before = PREAMBLE if int(dut.PREAMBLE.value) else b""
    block = await Block(dut, STREAM, ("bad", "checked")).start()
    bad = []
    for number in range(6):
        packet = bytearray(before + frame(70 + number, draw))
        packet[30] ^= number % 2
        told = 0
        for beat in beats(bytes(packet), bytes_, draw):
            told += (await block.step(**{**beat, "tlast": 0}))["bad"]
        for values in (
            {"tvalid": 1, "tready": 1, "tlast": 1, "tdata": draw.getrandbits(8 * bytes_)},
            {}, {}, {},
        ):  # fmt: skip
            told += (await block.step(**values))["bad"]
        bad.append(told)
    assert bad == [0, 1, 0, 1, 0, 1]
