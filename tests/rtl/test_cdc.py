"""ff_cdc_sync, ff_cdc_edge, ff_cdc_held: what comes from another clock domain (docs/formats.md section 6)."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

test_levels_are_seen_behind_two_edges = in_icarus("ff_cdc_sync", __name__, {"W": 1}, {"W": 256})


test_changes_of_a_line_are_pulses = in_icarus("ff_cdc_edge", __name__)


test_held_data_come_with_their_level = in_icarus("ff_cdc_held", __name__, {"W": 1}, {"W": 256})


@cocotb.test()
async def the_block_follows_its_inputs(dut: Any) -> None:
    await {"ff_cdc_sync": _sync, "ff_cdc_edge": _edge, "ff_cdc_held": _held}[dut._name](dut)


async def _sync(dut: Any) -> None:
    block = await Block(dut, ("d",), ("q",), reset=None).start()
    draw = random.Random(1)
    given = [draw.getrandbits(len(dut.d)) for _ in range(200)]
    seen = [(await block.step(d=value))["q"] for value in given]
    assert seen[2:] == given[:-2]


async def _edge(dut: Any) -> None:
    block = await Block(dut, ("d",), ("pulse",)).start(d=1)  # high in reset is no change
    pulses = [cycle for cycle in range(60) if (await block.step(d=_line(cycle)))["pulse"]]
    assert pulses == [12, 22, 25]


def _line(cycle: int) -> int:
    return 1 if cycle < 10 or 20 <= cycle < 23 else 0


async def _held(dut: Any) -> None:
    block = await Block(dut, ("s_level", "s_data"), ("m_level", "m_data"), reset=None).start()
    full = (1 << len(dut.s_data)) - 1
    for cycle in range(40):
        told = await block.step(
            s_level=int(10 <= cycle < 20), s_data=full if 10 <= cycle < 25 else 0
        )
        assert told["m_level"] == (12 <= cycle < 22)
        assert told["m_data"] == (full if 12 <= cycle < 22 else 0)
