"""ff_regs_quad.v: the register file of the small device with four memories, from the same map as ff_regs.v.

The template says what that build has; from the map come the addresses, which of them exist, and the reset values of
what is lacking.
"""

from __future__ import annotations

from exporters.fill import fill
from exporters.model import Map
from exporters.small import FIXED, parts

MODULE = "ff_regs_quad"

# Registers the template answers from a signal, or takes a write of.
NAMED = (
    "id.boot_nonce", "id.bus_errors", "ctl.generation", "ctl.state", "ctl.arm", "ctl.freeze",
    "ctl.causes", "ctl.cause_mask", "ctl.options", "ctl.kinds", "ctl.post", "ctl.snapshot_log2", "ctl.sample_period",
    "trigger.config", "trigger.term.value_lo", "trigger.term.kinds", "memory.write_ptr", "pair.first_number",
)  # fmt: skip
# Those a write of changes something, and in how many places of an array.
WRITTEN = (
    ("ctl.arm", 1), ("ctl.freeze", 1), ("ctl.cause_mask", 1), ("ctl.options", 1), ("ctl.post", 4),
    ("trigger.config", 1), ("trigger.term.value_lo", 1), ("trigger.term.value_hi", 1), ("trigger.term.mask_lo", 1),
    ("trigger.term.mask_hi", 1), ("trigger.term.kinds", 1),
)  # fmt: skip
# Identity that is fixed for this form, as Verilog; the rest of id.* is a constant of the map.
IDENTITY = {
    **FIXED,
    "id.trace": "32'h00444041",
    "id.clk_bus": "CLK_BUS_HZ",
    "id.clk_link": "CLK_LINK_HZ",
}


def quad_register_file(device: Map) -> str:
    """Return the text of ff_regs_quad.v.

    Raises:
        KeyError: the map lacks a register that this form has.
    """
    return fill(f"{MODULE}.v.in", parts(device, NAMED, WRITTEN, IDENTITY))
