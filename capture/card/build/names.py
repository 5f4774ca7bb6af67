"""Names of wires that a card's device cannot have for ports: words of SystemVerilog, and nets of the generated top."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from freezeframe.capture.card.build.ports import top_ports
from freezeframe.capture.card.elaborated import ElaboratedCard
from freezeframe.capture.card.wires import wires_of
from freezeframe.capture.errors import InputError

# IEEE 1800-2017, annex B, which has those of IEEE 1364-2005: Verilator and most tools read both as one language.
_RESERVED_WORDS = """
accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before begin bind bins
binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos config const
constraint context continue cover covergroup coverpoint cross deassign default defparam design disable dist do edge
else end endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup endinterface endmodule
endpackage endprimitive endprogram endproperty endsequence endspecify endtable endtask enum event eventually expect
export extends extern final first_match for force foreach forever fork forkjoin function generate genvar global
highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies import incdir include initial inout input
inside instance int integer interconnect interface intersect join join_any join_none large let liblist library local
localparam logic longint macromodule matches medium modport module nand negedge nettype new nexttime nmos nor
noshowcancelled not notif0 notif1 null or output package packed parameter pmos posedge primitive priority program
property protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase
randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0
rtranif1 s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled
signed small soft solve specify specparam static string strong strong0 strong1 struct super supply0 supply1
sync_accept_on sync_reject_on table tagged task this throughout time timeprecision timeunit tran tranif0 tranif1 tri
tri0 tri1 triand trior trireg type typedef union unique unique0 unsigned until until_with untyped use uwire var
vectored virtual void wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor
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
            taken = "is a word of SystemVerilog"
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
