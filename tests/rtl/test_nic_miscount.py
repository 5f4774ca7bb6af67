"""ff_nic_miscount: which words a miscounting counter leaves out (docs/faults.md, header-miscounted)."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

HEADER, ADDRESS, CRC = 1, 2, 4


test_a_counter_that_leaves_words_out = in_icarus("ff_nic_miscount", __name__)


def counter(dut: Any) -> Block:
    return Block(
        dut, ("en", "cfg_all", "cfg_flow", "cfg_every", "cfg_words", "s_valid", "s_first", "s_last", "s_flow"),
        ("skip", "stat_done"),
    )  # fmt: skip


@cocotb.test()
@cocotb.parametrize(
    every=[1, 2, 3],
    words=[HEADER, CRC, HEADER | ADDRESS, HEADER | ADDRESS | CRC],
    every_flow=[0, 1],
)
async def of_one_packet_in_so_many_the_words_asked_for_are_not_counted(
    dut: Any, every: int, words: int, every_flow: int
) -> None:
    """Packets of other flows do not count, unless all do; a packet may have a header and nothing else."""
    block, draw = counter(dut), random.Random(every << 4 | words)
    await block.start(cfg_every=every, cfg_words=words, cfg_flow=5, cfg_all=every_flow)
    mine, seen_any = 0, False
    for _ in range(30):
        flow, count = draw.choice((5, 5, 6)), draw.choice((1, 2, 3, 9))
        counts = bool(every_flow) or flow == 5
        mine += counts
        chosen = counts and mine % every == 0
        for place in range(count):
            for _ in range(draw.randrange(2)):
                assert (await block.step(en=1, s_first=draw.randrange(2), s_last=1))["skip"] == 0
            last = place == count - 1
            seen = await block.step(
                en=1, s_valid=1, s_first=int(place == 0), s_last=int(last), s_flow=flow
            )
            asked = (
                (place == 0 and words & HEADER)
                or (place == 1 and words & ADDRESS)
                or (last and words & CRC)
            )
            assert seen["skip"] == int(chosen and bool(asked)), (flow, place, count)
            assert seen["stat_done"] == int(seen_any)
            seen_any |= bool(seen["skip"])
    assert seen_any


@cocotb.test()
async def switched_off_every_word_is_counted(dut: Any) -> None:
    block = counter(dut)
    await block.start(cfg_every=1, cfg_words=7, cfg_all=1)
    for _ in range(8):
        seen = await block.step(s_valid=1, s_first=1, s_last=1)
        assert (seen["skip"], seen["stat_done"]) == (0, 0)
