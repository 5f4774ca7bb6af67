"""ff_time: a domain's cycle counter and its two pairs (docs/formats.md section 6)."""

from __future__ import annotations

from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

INPUTS = ("arm", "closed", "line_in")
PAIRS = tuple(
    f"stat_{which}_{part}" for which in ("first", "last") for part in ("valid", "number", "cycle")
)
OUTPUTS = ("line_out", "now", *PAIRS)


test_time_of_a_domain = in_icarus(
    "ff_time",
    __name__,
    {"MASTER": 0, "PERIOD": 64, "TIME_W": 40},
    {"MASTER": 1, "PERIOD": 64, "TIME_W": 64},
    {"MASTER": 0, "PERIOD": 1 << 24, "TIME_W": 64},
    {"MASTER": 1, "PERIOD": 1 << 24, "TIME_W": 40},
)


@cocotb.test()
async def now_is_the_number_of_the_cycle_and_the_line_is_its_upper_bits(dut: Any) -> None:
    block = Block(dut, INPUTS, OUTPUTS)
    period = int(dut.PERIOD.value)
    await block.start()
    for cycle in range(400):
        told = await block.step()
        assert told["now"] == cycle
        assert told["line_out"] == cycle // period << 1 | cycle // period & 1


@cocotb.test()
async def a_follower_latches_the_first_toggle_after_arm_and_the_last_before_closing(
    dut: Any,
) -> None:
    if int(dut.MASTER.value):
        return
    block = await Block(dut, INPUTS, OUTPUTS).start()

    async def until(cycle: int, line: int, **values: int) -> dict[str, int]:
        while True:
            told = await block.step(line_in=line, **values)
            if told["now"] == cycle:
                return told

    told = await until(10, 0x7 << 1 | 1)  # a toggle before the arm: nothing
    assert told["stat_first_valid"] == 0
    await block.step(line_in=0x7 << 1 | 1, arm=1)
    await until(19, 0x7 << 1 | 1)
    told = await until(
        40, 0x8 << 1
    )  # changes with cycle 20: seen three edges later, latched with cycle 23
    assert [told[name] for name in PAIRS] == [1, 8, 23, 1, 8, 23]
    told = await until(60, 0x9 << 1 | 1)  # changes with cycle 41
    assert [told[name] for name in PAIRS] == [1, 8, 23, 1, 9, 44]
    told = await until(80, 0xA << 1, closed=1)
    assert [told[name] for name in PAIRS] == [1, 8, 23, 1, 9, 44]
    await block.step(line_in=0xA << 1, arm=1)
    told = await block.step(line_in=0xA << 1)
    assert [told[name] for name in PAIRS] == [0] * 6


@cocotb.test()
async def a_toggle_in_the_cycle_of_the_arm_is_not_after_it(dut: Any) -> None:
    if int(dut.MASTER.value):
        return
    block = await Block(dut, INPUTS, OUTPUTS).start()
    for cycle in range(40):
        told = await block.step(line_in=3 if cycle >= 10 else 0, arm=int(cycle == 13))
    assert told["stat_first_valid"] == 0
    for cycle in range(40, 80):
        told = await block.step(line_in=4 if cycle >= 50 else 3, arm=int(cycle == 52))
    assert [told[name] for name in PAIRS] == [1, 2, 53, 1, 2, 53]


@cocotb.test()
async def the_master_latches_its_own_toggles_in_their_cycle(dut: Any) -> None:
    if not int(dut.MASTER.value) or int(dut.PERIOD.value) > 64:
        return
    block = await Block(dut, INPUTS, OUTPUTS).start()
    for cycle in range(400):
        told = await block.step(arm=int(cycle == 64), closed=int(cycle >= 320))
        if cycle == 128:
            assert told["stat_first_valid"] == 0
        if cycle == 129:
            assert [told[name] for name in PAIRS] == [1, 2, 128, 1, 2, 128]
    assert [told[name] for name in PAIRS] == [1, 2, 128, 1, 4, 256]
