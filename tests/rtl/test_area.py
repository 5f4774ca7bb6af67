"""What the recorder costs on 7 Series, so that no change makes it dearer unseen, and that ECP5 takes every top.

The limits of ff_select are those that were set for it; Yosys 0.23 stays a dozen LUTs
below (docs/rtl-area.md), which is room for another version's luck.
"""

from __future__ import annotations

import pytest

from tests.rtl.area import QUAD, SELECT, TABLES, Area, synthesize

LIMITS = {
    "ff_select": ("ff_select", SELECT, Area(luts=375, flops=440, half_brams=8)),
    "ff_select-tables": ("ff_select", TABLES, Area(luts=375, flops=310, half_brams=8)),
    "ff_quad_lean": ("ff_quad_lean", QUAD, Area(luts=785, flops=905, half_brams=32)),
}


@pytest.mark.slow
@pytest.mark.parametrize("build", LIMITS)
def test_a_build_on_xc7_stays_within_its_limits(build: str) -> None:
    top, parameters, limit = LIMITS[build]
    area = synthesize(top, parameters)
    assert area.luts <= limit.luts
    assert area.flops <= limit.flops
    assert area.half_brams == limit.half_brams  # 72 x 2048 records are four RAMB36 each


@pytest.mark.slow
def test_the_small_device_goes_through_synthesis_for_ecp5() -> None:
    area = synthesize("ff_select", SELECT, family="ecp5")
    assert area.luts > 0
    assert area.half_brams >= 8
