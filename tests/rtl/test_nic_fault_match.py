"""ff_nic_fault_match: the one word on which an injected fault strikes (docs/faults.md)."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

CREDIT, WRITE = 4, 1


test_the_choice_of_a_word = in_icarus("ff_nic_fault_match", __name__)


def header(kind: int, flow: int, length: int, seq: int) -> int:
    return kind | flow << 8 | length << 16 | seq << 32


@cocotb.test()
@cocotb.parametrize(count=[0, 3], word=[0, 1, 2, 6])
async def it_strikes_once_on_the_word_asked_for_of_the_packet_behind_count_long_ones(
    dut: Any, count: int, word: int
) -> None:
    """Credits and packets shorter than the least length do not count; seq and flow of the packet are kept."""
    block, draw = Block(
        dut, ("en", "s_valid", "s_first", "s_data", "cfg_count", "cfg_min_length", "cfg_word"),
        ("hit", "stat_done", "stat_seq", "stat_flow"),
    ), random.Random(word)  # fmt: skip
    await block.start(cfg_count=count, cfg_min_length=4, cfg_word=word)
    passed, struck = 0, None
    for seq in range(24):
        kind, flow = draw.choice((CREDIT, WRITE, WRITE)), draw.randrange(128)
        length = draw.choice((0, 3, 4, 5, 512))
        enabled = int(seq >= 3)  # packets before it is switched on do not count
        eligible = bool(enabled and kind != CREDIT and length >= 4)
        chosen = eligible and struck is None and passed == count
        words = 1 if kind == CREDIT else min(length, 6) + 3
        for place in range(words):
            for _ in range(draw.randrange(2)):
                assert (await block.step(en=enabled, s_data=draw.getrandbits(64)))["hit"] == 0
            data = header(kind, flow, length, seq) if place == 0 else draw.getrandbits(64)
            seen = await block.step(en=enabled, s_valid=1, s_first=int(place == 0), s_data=data)
            assert seen["hit"] == (chosen and place == word), (seq, place)
            if seen["hit"]:
                struck = seq, flow
        passed += int(eligible and not chosen and struck is None)
    seen = await block.step(en=1)
    assert struck is not None
    assert (seen["stat_done"], seen["stat_seq"], seen["stat_flow"]) == (1, *struck)


@cocotb.test()
async def switched_off_it_never_strikes(dut: Any) -> None:
    block = Block(
        dut, ("en", "s_valid", "s_first", "s_data", "cfg_count", "cfg_min_length", "cfg_word"), ("hit", "stat_done")
    )  # fmt: skip
    await block.start()
    for _ in range(20):
        seen = await block.step(s_valid=1, s_first=1, s_data=header(WRITE, 1, 100, 5))
        assert (seen["hit"], seen["stat_done"]) == (0, 0)
