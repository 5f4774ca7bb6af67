"""ff_regs_select.v: the register file of the small device, from the same map as ff_regs.v.

The template says what that build has; from the map come the addresses, which of them exist, and the reset values of
what is lacking.
"""

from __future__ import annotations

from exporters.fill import fill
from exporters.model import Map
from exporters.small import FIXED, PAGE_WORDS, parts, word_sets

MODULE = "ff_regs_select"

# Registers the template answers from a signal, or takes a write of.
NAMED = (
    "id.boot_nonce", "id.bus_errors", "id.bus_error_addr", "ctl.generation", "ctl.causes", "ctl.kinds", "ctl.post",
    "trigger.config", "trigger.term.value_lo", "trigger.term.value_hi", "trigger.term.mask_lo", "trigger.term.mask_hi",
    "memory.write_ptr", "pair.first_number",
)  # fmt: skip
# Those a write of changes something, and in how many places of the array.
WRITTEN = (
    ("ctl.arm", 1), ("ctl.freeze", 1), ("ctl.cause_mask", 1), ("ctl.options", 1), ("ctl.post", 5),
    ("trigger.config", 1), ("trigger.term.value_lo", 1), ("trigger.term.value_hi", 1), ("trigger.term.mask_lo", 1),
    ("trigger.term.mask_hi", 1), ("trigger.term.kinds", 1),
)  # fmt: skip
FOUR_ROWS = 128  # words of a table
BLOCK = 64
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
    del text["lacking"]
    return fill(f"{MODULE}.v.in", {**text, "rows": _tables(device)})


def _tables(device: Map) -> str:
    """Return ``exists``, of the low registers, and ``lacking``, of those behind, each from tables."""
    readable, writable, lacking = word_sets(device, WRITTEN)
    kinds = next(register for register in device.registers if register.name == "ctl.kinds")
    if max(writable) >= FOUR_ROWS:
        raise ValueError(
            f"word {max(writable):#x} can be written: it must stand below {FOUR_ROWS:#x}"
        )
    kinds_table = sum(1 << FOUR_ROWS + address // 4 for address in kinds.addresses())
    lines, chosen = [], []
    for four in range(PAGE_WORDS // FOUR_ROWS):
        table = sum(1 << word % FOUR_ROWS for word in readable if word // FOUR_ROWS == four)
        table |= sum(1 << FOUR_ROWS + word for word in writable if four == 0)
        if not table:
            continue
        width, index = (256, "{s_we, page[6:0]}") if four == 0 else (128, "page[6:0]")
        more = f" | (WITH_KINDS != 0 ? 256'h{kinds_table:X} : 256'd0)" if four == 0 else ""
        lines += [
            f"    localparam [{width - 1}:0] WORDS_{four} = {width}'h{table:X}{more};",
            f"    wire in_words_{four};",
            f"    ff_node i_words_{four} (.d(WORDS_{four}[{index}]), .q(in_words_{four}));",
        ]
        chosen.append(f"(page[8:7] == 2'd{four} && in_words_{four})")
    blocks = [set(range(start, start + BLOCK)) for start in range(0, BLOCK * BLOCK, BLOCK)]
    if lacking - set().union(*blocks):
        raise ValueError(
            f"word {max(lacking):#x} is lacking: it must stand below {BLOCK * BLOCK:#x}"
        )
    whole = sum(1 << number for number, block in enumerate(blocks) if block <= lacking)
    partly = [
        number for number, block in enumerate(blocks) if block & lacking and not block <= lacking
    ]
    if len(partly) != 1:
        raise ValueError(
            f"blocks of {BLOCK} words that are lacking in part: {partly}; there must be one"
        )
    part = sum(1 << word % BLOCK for word in lacking & blocks[partly[0]])
    lines += [
        "    wire exists, in_whole, in_part, in_table, lacking;",
        f"    ff_node i_exists (.d(low && ({' || '.join(chosen)})), .q(exists));",
        f"    localparam [63:0] WHOLE = 64'h{whole:016X}, PART = 64'h{part:016X};",
        "    ff_node i_whole (.d(WHOLE[word[11:6]]), .q(in_whole));",
        f"    ff_node i_part (.d(word[11:6] == 6'h{partly[0]:02X}), .q(in_part));",
        "    ff_node i_table (.d(PART[word[5:0]]), .q(in_table));",
        "    ff_node i_lacking (.d(near && !s_we && (in_whole || (in_part && in_table))), .q(lacking));",
    ]
    return "\n".join(lines)
