"""The ROM with a card's text, in Verilog (docs/card-map.md, section 4)."""

from __future__ import annotations

from freezeframe.capture.card.build.ports import rom_module
from freezeframe.capture.card.elaborated import ElaboratedCard
from freezeframe.capture.card.finding import rom_words


def verilog_rom(card: ElaboratedCard) -> str:
    """Return the text of the ROM's module."""
    words = rom_words(card.text)
    address_w = max(1, (len(words) - 1).bit_length())
    lines = [
        f"// {rom_module(card)}: the text of card {card.name}, compressed; made by 'freezeframe card build'.",
        "`default_nettype none",
        f"module {rom_module(card)} (input wire clk, input wire [12:0] word, output reg [31:0] data);",
        f'    (* rom_style = "block" *) reg [31:0] rom [0:{(1 << address_w) - 1}];',
        "    initial begin",
        *(f"        rom[{n}] = 32'h{word:08x};" for n, word in enumerate(words)),
        *(f"        rom[{n}] = 32'h00000000;" for n in range(len(words), 1 << address_w)),
        "    end",
        f"    always @(posedge clk) data <= rom[word[{address_w - 1}:0]];",
        *([f"    wire unused = &{{1'b0, word[12:{address_w}]}};"] if address_w < 13 else []),
        "endmodule",
        "`default_nettype wire",
        "",
    ]
    return "\n".join(lines)
