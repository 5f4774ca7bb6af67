"""A cocotb test of the wiring of a card's device, beside the device: a file that a user's bench runs."""

from __future__ import annotations

from freezeframe.capture.card.build.ports import module_name
from freezeframe.capture.card.elaborated import ElaboratedCard


def wiring_test(card: ElaboratedCard) -> str:
    """Return the text of the module; run by itself it builds and tries the device alone in Icarus."""
    name = module_name(card)
    return f'''"""The wiring of card {card.name}, tried under cocotb 2; made by 'freezeframe card build'.

The device alone, in Icarus:  python {name}_wiring.py
In a design of your own, as a cocotb test module: docs/card-file.md says how its pins are found.
"""

from pathlib import Path

import cocotb
from cocotb_tools.runner import get_runner
from freezeframe.capture.card.wiring import Wiring

HERE = Path(__file__).resolve().parent


@cocotb.test()
async def the_registers_are_this_cards(dut):
    wiring = Wiring(dut, HERE / "card.json")
    await wiring.start()
    await wiring.identity()


@cocotb.test()
async def each_tap_counter_and_bank_wire_arrives_where_it_belongs(dut):
    wiring = Wiring(dut, HERE / "card.json")
    await wiring.start()
    await wiring.taps_counters_and_bank()


@cocotb.test()
async def each_cause_freezes_by_its_own_bit(dut):
    wiring = Wiring(dut, HERE / "card.json")
    await wiring.start()
    for name in await wiring.causes():
        dut._log.warning("cause %s waits too long to be tried", name)


if __name__ == "__main__":
    runner = get_runner("icarus")
    sources = [HERE / line for line in (HERE / "{name}.f").read_text().split()]
    top, icarus = "{name}", ["-g2005"]
    runner.build(sources=sources, hdl_toplevel=top, build_args=icarus, build_dir="sim", timescale=("1ns", "1ps"))
    runner.test(hdl_toplevel=top, test_module=f"{{top}}_wiring", build_dir="sim")
'''
