"""ff_nic_crc32: CRC-32/ISO-HDLC of payload words (formats.md section 3), against the library's CRC."""

from __future__ import annotations

import random
import zlib
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

test_the_crc_of_a_payload = in_icarus("ff_nic_crc32", __name__)


async def payload(block: Block, words: list[int], draw: random.Random) -> int:
    """Give a payload with idle cycles between its words; return the CRC behind it."""
    apart = not words or draw.random() < 0.5  # its begin is told before its first word, or with it
    if apart:
        await block.step(s_first=1)
    for number, word in enumerate(words):
        for _ in range(draw.randrange(3)):
            if apart or number:
                await block.step(s_data=draw.getrandbits(64))
        await block.step(s_valid=1, s_first=int(number == 0 and not apart), s_data=word)
    return (await block.step())["crc"]


@cocotb.test()
async def it_is_the_librarys_over_all_words_least_significant_byte_first(dut: Any) -> None:
    block, draw = Block(dut, ("s_first", "s_valid", "s_data"), (), reset=None), random.Random(1)
    await block.start()
    await block.step(s_first=1)
    block.outputs = ("crc",)  # a number from the first payload's begin on
    golden = int.from_bytes(bytes.fromhex("b9ddf600"), "little")  # section 3: payload 1, 2
    assert await payload(block, [1, 2], draw) == golden
    assert await payload(block, [], draw) == 0
    for _ in range(40):
        words = [draw.getrandbits(64) for _ in range(draw.choice((0, 1, 2, 3, 9)))]
        octets = b"".join(word.to_bytes(8, "little") for word in words)
        assert await payload(block, words, draw) == zlib.crc32(octets)
