"""What the register files of the small devices take from the map: which words exist, constants, reset values.

A small register file (select.py, quad.py) says what it has; the rest of the map reads its reset value, or 0 where it is
a status, and a write there is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from exporters.model import Map, Register
from exporters.verilog import inside

UPPER = 32  # place of the first constant in the RAM
PAGE_WORDS = 512  # registers that are no banks and no windows stand below
# Identity that no small device can be asked for otherwise, as Verilog.
FIXED = {
    "id.build_hash": "BUILD_HASH",
    "id.devices": "{7'd0, TIME_MASTER[0], 8'd24, INDEX[7:0], DEVICES[7:0]}",
    "id.tap_depth": "TAP_DEPTH",
    "id.event_depth": "32'd0",
    "id.chunk": "32'd256",
    "id.max_burst": "MAX_BURST",
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


def parts(
    device: Map,
    named: Iterable[str],
    written: Iterable[tuple[str, int]],
    identity: Mapping[str, str],
) -> dict[str, str]:
    """Return the text for each place of a small register file's template.

    Args:
        device: the elaborated map.
        named: registers whose word number the template wants as a localparam.
        written: registers a write of changes something, and of an array how many of its places.
        identity: what a register of ``id.*`` holds in this form, as Verilog; the rest is a constant of the map.
    Raises:
        KeyError: the map lacks a register that this form has.
    """
    by_name = {register.name: register for register in device.registers}
    readable, writable, lacking = word_sets(device, written)
    words = [
        f"    localparam [8:0] {name.replace('.', '_').upper()} = 9'h{_words(by_name[name])[0]:03X};"
        for name in named
    ]
    return {
        "words": "\n".join(words),
        "rows": _rows(readable, writable),
        "lacking": inside(lacking),
        "constants": "\n".join(_constants(device, identity)),
        "snapshot": str(by_name["ctl.snapshot_log2"].reset),
        "period": str(by_name["ctl.sample_period"].reset),
    }


def word_sets(
    device: Map, written: Iterable[tuple[str, int]]
) -> tuple[set[int], set[int], set[int]]:
    """Return the words that can be read and that can be written below PAGE_WORDS, and those behind that read 0.

    Args:
        device: the elaborated map.
        written: as for ``parts``.
    Raises:
        KeyError: the map lacks a register that this form has.
    """
    by_name = {register.name: register for register in device.registers}
    readable = {
        word for register in device.registers if "r" in register.access and not register.frozen_only
        for word in _words(register) if word < PAGE_WORDS
    }  # fmt: skip
    writable = {word for name, places in written for word in _words(by_name[name])[:places]}
    lacking = {
        word for register in device.registers if register.access == "r"
        for word in _words(register) if word >= PAGE_WORDS
    }  # fmt: skip
    return readable, writable, lacking


def _rows(readable: set[int], writable: set[int]) -> str:
    """Return a table of 32 words a row of the low registers, and ``exists``, which looks into the row's."""
    lines, rows = [], []
    for row in range(PAGE_WORDS // 32):
        table = sum(1 << word % 32 for word in readable if word // 32 == row)
        table |= sum(1 << 32 + word % 32 for word in writable if word // 32 == row)
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


def _constants(device: Map, identity: Mapping[str, str]) -> list[str]:
    lines = []
    for register in device.registers:
        if register.name in identity:
            what = identity[register.name]
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
