"""ff_regs_select.v: the register file of the small device, from the same map as ff_regs.v.

The template says what that build has; from the map come the addresses, which of them exist, and the reset values of
what is lacking.
"""

from __future__ import annotations

from exporters.fill import fill
from exporters.model import Map
from exporters.small import FIXED, parts

__all__ = ["MODULE", "small_register_file"]

MODULE = "ff_regs_select"

# Registers the template answers from a signal, or takes a write of.
NAMED = (
    "id.boot_nonce", "id.bus_errors", "id.bus_error_addr", "ctl.generation", "ctl.state", "ctl.arm", "ctl.freeze",
    "ctl.causes", "ctl.cause_mask", "ctl.options", "ctl.kinds", "ctl.post", "ctl.snapshot_log2", "ctl.sample_period",
    "trigger.term.value_lo", "trigger.term.value_hi", "trigger.term.mask_lo", "trigger.term.mask_hi",
    "trigger.term.kinds", "memory.write_ptr", "pair.first_number",
)  # fmt: skip
# Those a write of changes something, and in how many places of the array.
WRITTEN = (
    ("ctl.arm", 1), ("ctl.freeze", 1), ("ctl.cause_mask", 1), ("ctl.options", 1), ("ctl.post", 5),
    ("trigger.config", 1), ("trigger.term.value_lo", 1), ("trigger.term.value_hi", 1), ("trigger.term.mask_lo", 1),
    ("trigger.term.mask_hi", 1), ("trigger.term.kinds", 1),
)  # fmt: skip
ROWS = (0, 2, 3)  # rows of 32 words whose places in the RAM are their own: id, ctl, trigger
# Identity that is fixed for this form, as Verilog; the rest of id.* is a constant of the map.
IDENTITY = {
    **FIXED,
    "id.trace": "32'h00444040",
    "id.clk_bus": "CLK_HZ",
    "id.clk_link": "CLK_HZ",
}


def small_register_file(device: Map) -> str:
    """Return the text of ff_regs_select.v.

    Raises:
        KeyError: the map lacks a register that this form has.
    """
    text = parts(device, NAMED, WRITTEN, IDENTITY)
    tables = [line for line in text["rows"].splitlines() if "localparam" in line]
    rows = [int(line.split("ROW_")[1].split()[0]) for line in tables]
    tables += [f"    wire {', '.join(f'in_row_{row}' for row in rows)};"]
    tables += [
        f"    ff_node i_row_{row} (.d(ROW_{row}[{{s_we, page[4:0]}}]), .q(in_row_{row}));"
        for row in rows
    ]
    rest = " || ".join(
        f"(page[8:5] == 4'd{row} && in_row_{row})" for row in rows if row not in ROWS
    )
    return fill(f"{MODULE}.v.in", {**text, "rows": "\n".join(tables), "rest": rest})
