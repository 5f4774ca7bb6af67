"""ff_tap_select: mode SELECT leads the tap named at arm to the recorder (docs/formats.md section 2)."""

from __future__ import annotations

from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

INPUTS = ("arm_next", "cfg_tap", "s_valid", "s_kind", "s_data")
OUTPUTS = ("m_valid", "m_kind", "m_data", "stat_tap")
TAPS = {
    "s_valid": 0b1101, "s_kind": 0x4321, "s_data": 0xD << 192 | 0xC << 128 | 0xB << 64 | 0xA,
}  # fmt: skip


test_one_tap_of_four = in_icarus("ff_tap_select", __name__)


@cocotb.test()
async def the_tap_named_at_arm_is_led_through_until_the_next_arm(dut: Any) -> None:
    block = await Block(dut, INPUTS, OUTPUTS).start()
    seen = {
        tap: {"m_valid": 0b1101 >> tap & 1, "m_kind": tap + 1, "m_data": 0xA + tap}
        for tap in range(4)
    }
    for tap in (2, 0, 3, 1):
        await block.step(arm_next=1, cfg_tap=tap, **TAPS)
        # The first is arm's own cycle, whose word is in the tap register behind it.
        for _ in range(2):
            told = await block.step(cfg_tap=tap ^ 1, **TAPS)
            assert told == {**seen[tap], "stat_tap": tap}
