"""ff_cdc_sync, ff_cdc_edge, ff_cdc_held: what comes from another clock domain (docs/formats.md section 6)."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import cocotb
import pytest

from tests.rtl.cycles import Block
from tests.rtl.simulation import simulate


@pytest.mark.parametrize("width", [1, 256])
def test_levels_are_seen_behind_two_edges(tmp_path: Path, width: int) -> None:
    simulate("ff_cdc_sync", __name__, tmp_path, {"W": width})


def test_changes_of_a_line_are_pulses(tmp_path: Path) -> None:
    simulate("ff_cdc_edge", __name__, tmp_path)


@pytest.mark.parametrize("width", [1, 256])
def test_held_data_come_with_their_level(tmp_path: Path, width: int) -> None:
    simulate("ff_cdc_held", __name__, tmp_path, {"W": width})


@cocotb.test()
async def the_block_follows_its_inputs(dut: Any) -> None:
    await {"ff_cdc_sync": _sync, "ff_cdc_edge": _edge, "ff_cdc_held": _held}[dut._name](dut)


async def _sync(dut: Any) -> None:
    block = Block(dut, ("d",), ("q",), reset=None)
    await block.start()
    draw = random.Random(1)
    given = [draw.getrandbits(len(dut.d)) for _ in range(200)]
    seen = [(await block.step(d=value))["q"] for value in given]
    assert seen[2:] == given[:-2]


async def _edge(dut: Any) -> None:
    block = Block(dut, ("d",), ("pulse",))
    await block.start(d=1)  # a line that stands high in reset is no change
    pulses = [cycle for cycle in range(60) if (await block.step(d=_line(cycle)))["pulse"]]
    assert pulses == [12, 22, 25]


def _line(cycle: int) -> int:
    return 1 if cycle < 10 or 20 <= cycle < 23 else 0


async def _held(dut: Any) -> None:
    block = Block(dut, ("s_level", "s_data"), ("m_level", "m_data"), reset=None)
    await block.start()
    full = (1 << len(dut.s_data)) - 1
    for cycle in range(40):
        told = await block.step(
            s_level=int(10 <= cycle < 20), s_data=full if 10 <= cycle < 25 else 0
        )
        assert told["m_level"] == (12 <= cycle < 22)
        assert told["m_data"] == (full if 12 <= cycle < 22 else 0)
