"""Names of a card's wires that its device cannot have for ports: Verilog's own words, and nets of the generated top."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from freezeframe.capture.card.build.ports import top_ports
from freezeframe.capture.card.elaborated import ElaboratedCard
from freezeframe.capture.card.wires import wires_of
from freezeframe.capture.errors import InputError

# IEEE 1364-2005, annex B.
_RESERVED_WORDS = """
always and assign automatic begin buf bufif0 bufif1 case casex casez cell cmos config deassign default defparam
design disable edge else end endcase endconfig endfunction endgenerate endmodule endprimitive endspecify endtable
endtask event for force forever fork function generate genvar highz0 highz1 if ifnone incdir include initial inout
input instance integer join large liblist library localparam macromodule medium module nand negedge nmos nor
noshowcancelled not notif0 notif1 or output parameter pmos posedge primitive pull0 pull1 pulldown pullup
pulsestyle_ondetect pulsestyle_onevent rcmos real realtime reg release repeat rnmos rpmos rtran rtranif0 rtranif1
scalared showcancelled signed small specify specparam strong0 strong1 supply0 supply1 table task time tran tranif0
tranif1 tri tri0 tri1 triand trior trireg unsigned use uwire vectored wait wand weak0 weak1 while wire wor xnor xor
"""
_RESERVED = frozenset(_RESERVED_WORDS.split())
_DECLARED = re.compile(r"^ +(?:wire|localparam)\s+(?:\[[^\]]*\]\s*)?([^;]*);", re.MULTILINE)
_PARAMETER = re.compile(r"\b([A-Z_]+) = \w+(?=[,\n ])")
_INSTANCE = re.compile(r"\b(i_\w+) \(")
_INSIDE = re.compile(r"\{[^{}]*\}|\([^()]*\)|\[[^\[\]]*\]")


def refuse_taken(card: ElaboratedCard, top: str) -> None:
    """Refuse a wire whose name the device's top has already.

    Raises:
        InputError: the first such wire, where it is named, and what has its name.
    """
    ports = Counter(port.split()[-1] for port in top_ports(card))
    nets = set(_nets(top))
    for named in wires_of(card.said):
        name = named.wire
        if name in _RESERVED:
            taken = "is a word of Verilog"
        elif ports[name] > 1:
            taken = "is another port of the device"
        elif name in nets:
            taken = "is a net inside the device"
        else:
            continue
        raise InputError(
            f"card {card.name}: [{named.table}.{named.name}]: wire {name} {taken}; give the port another name, "
            f"for instance my_{name}"
        )


def _nets(top: str) -> Iterator[str]:
    """Yield the names that stand inside the generated top: nets, parameters, instances."""
    head, _, body = top.partition("\n);")
    yield from _PARAMETER.findall(head)
    yield from _INSTANCE.findall(body)
    for declared in _DECLARED.findall(body):
        plain = declared
        while (outside := _INSIDE.sub("", plain)) != plain:
            plain = outside
        for part in plain.split(","):
            yield part.partition("=")[0].strip()
