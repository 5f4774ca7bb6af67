"""ff_regs_select.v: the register file of the small device, from the same map as ff_regs.v.

The template says what that build has; from the map come the addresses, which of them exist, and the reset values of
what is lacking.
"""

from __future__ import annotations

from exporters.fill import fill
from exporters.model import Map, Register
from exporters.verilog import inside

__all__ = ["MODULE", "small_register_file"]

MODULE = "ff_regs_select"
UPPER = 32  # place of the first constant in the RAM
PAGE_WORDS = 512  # registers that are no banks and no windows stand below

# Registers the template answers from a signal, or takes a write of.
NAMED = (
    "id.boot_nonce", "id.bus_errors", "id.bus_error_addr", "ctl.generation", "ctl.state", "ctl.arm", "ctl.freeze",
    "ctl.causes", "ctl.cause_mask", "ctl.options", "ctl.kinds", "ctl.post",
    "ctl.snapshot_log2", "ctl.sample_period", "trigger.config", "trigger.term.value_lo", "trigger.term.value_hi",
    "trigger.term.mask_lo", "trigger.term.mask_hi", "trigger.term.kinds", "memory.write_ptr", "pair.first_number",
)  # fmt: skip
# Those a write of changes something; of an array with a second place here only the first counts.
WRITTEN = (
    "ctl.arm",
    "ctl.freeze",
    "ctl.cause_mask",
    "ctl.options",
    "ctl.post",
    "trigger.config",
)
TERM = (
    "trigger.term.value_lo", "trigger.term.value_hi", "trigger.term.mask_lo", "trigger.term.mask_hi",
    "trigger.term.kinds",
)  # fmt: skip
# Identity that is fixed for this form, as Verilog; the rest of id.* is a constant of the map.
IDENTITY = {
    "id.build_hash": "BUILD_HASH",
    "id.devices": "{7'd0, TIME_MASTER[0], 8'd24, INDEX[7:0], DEVICES[7:0]}",
    "id.trace": "32'h00444040",
    "id.tap_depth": "TAP_DEPTH",
    "id.event_depth": "32'd0",
    "id.chunk": "32'd256",
    "id.max_burst": "MAX_BURST",
    "id.clk_bus": "CLK_HZ",
    "id.clk_link": "CLK_HZ",
    "id.sampler_depth": "32'd0",
    "id.counters": "32'h00200000",
    "id.flows": "32'h00000101",
    "id.tx_fifo": "32'd0",
    "id.rx_fifo": "32'd0",
    "id.credit_unit": "32'd0",
    "id.cross_latency": "CROSS_LATENCY",
    "id.sync_period": "SYNC_PERIOD",
    "id.event_fifo": "32'd0",
    "id.post_drain": "POST_DRAIN",
}


def small_register_file(device: Map) -> str:
    """Return the text of ff_regs_select.v.

    Raises:
        KeyError: the map lacks a register that this form has.
    """
    by_name = {register.name: register for register in device.registers}
    low = [register for register in device.registers if _words(register)[0] < PAGE_WORDS]
    readable = {
        word for register in low if "r" in register.access and not register.frozen_only
        for word in _words(register) if word < PAGE_WORDS
    }  # fmt: skip
    written = {word for name in WRITTEN for word in _words(by_name[name])}
    written |= {_words(by_name[name])[0] for name in TERM}
    lacking = {
        word for register in device.registers if register.access == "r"
        for word in _words(register) if word >= PAGE_WORDS
    }  # fmt: skip
    words = [
        f"    localparam [8:0] {name.replace('.', '_').upper()} = 9'h{_words(by_name[name])[0]:03X};"
        for name in NAMED
    ]
    return fill(
        f"{MODULE}.v.in",
        {
            "words": "\n".join(words),
            "rows": _rows(readable, written),
            "lacking": inside(lacking),
            "constants": "\n".join(_constants(device)),
            "snapshot": str(by_name["ctl.snapshot_log2"].reset),
            "period": str(by_name["ctl.sample_period"].reset),
        },
    )


def _rows(readable: set[int], written: set[int]) -> str:
    """Return a table of 32 words a row of the low registers, and ``exists``, which looks into the row's."""
    lines, rows = [], []
    for row in range(PAGE_WORDS // 32):
        table = sum(1 << word % 32 for word in readable if word // 32 == row)
        table |= sum(1 << 32 + word % 32 for word in written if word // 32 == row)
        if table:
            rows.append(row)
            lines.append(f"    localparam [63:0] ROW_{row} = 64'h{table:016X};")
    lines.append(f"    (* keep *) wire [{len(rows) - 1}:0] in_row;")
    lines += [
        f"    assign in_row[{place}] = ROW_{row}[{{s_we, page[4:0]}}];"
        for place, row in enumerate(rows)
    ]
    inside_row = " || ".join(
        f"(in_row[{place}] && page[8:5] == 4'd{row})" for place, row in enumerate(rows)
    )
    lines.append(f"    wire exists = {inside_row};")
    return "\n".join(lines)


def _constants(device: Map) -> list[str]:
    lines = []
    for register in device.registers:
        if register.name in IDENTITY:
            what = IDENTITY[register.name]
        elif register.name == "id.map_hash":
            what = f"32'h{device.map_hash():08X}"
        elif register.parameter:
            what = f"32'h{register.reset:08X}"
        else:
            continue
        if what == "32'h00000000":
            continue
        for word in _words(register):
            lines.append(
                f"            32'h{UPPER + word:02X}: constant = {what}; // {register.name}"
            )
    return lines


def _words(register: Register) -> list[int]:
    return [address // 4 for address in register.addresses()]
