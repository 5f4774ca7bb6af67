"""ff_nic_crc16: CRC-16/IBM-3740 of a header or a credit word (formats.md section 3), against the library's CRC."""

from __future__ import annotations

import binascii
import random
from typing import Any

import cocotb
from cocotb.triggers import Timer

from tests.rtl.simulation import in_icarus

test_the_crc_of_a_header = in_icarus("ff_nic_crc16", __name__, {"BYTES": 14}, {"BYTES": 6})


async def crc(dut: Any, octets: bytes, en: int = 1) -> int:
    dut.en.value = en
    dut.header.value = int.from_bytes(octets[:6], "little")
    dut.address.value = int.from_bytes(octets[6:], "little")
    await Timer(1, "ns")
    return int(dut.crc.value)


@cocotb.test()
async def it_is_that_of_the_golden_bytes(dut: Any) -> None:
    """Section 3, golden bytes: RDMA_WRITE of flow 3, seq 7, to 0x1000; a credit of flow 3, 100 words freed."""
    if int(dut.BYTES.value) == 14:
        word = bytes.fromhex("010302000700 0010000000000000")
        assert await crc(dut, word) == int.from_bytes(bytes.fromhex("c530"), "little")
    else:
        word = bytes.fromhex("048364000000") + bytes(8)
        assert await crc(dut, word) == int.from_bytes(bytes.fromhex("9057"), "little")


@cocotb.test()
async def it_is_the_librarys_for_any_bytes_and_zero_when_off(dut: Any) -> None:
    draw, count = random.Random(1), int(dut.BYTES.value)
    words = [bytes(14), bytes([255]) * 14, *(draw.randbytes(14) for _ in range(200))]
    words += [(1 << bit).to_bytes(14, "little") for bit in range(112)]
    for word in words:
        assert await crc(dut, word) == binascii.crc_hqx(word[:count], 0xFFFF), word.hex()
    assert await crc(dut, words[2], en=0) == 0
