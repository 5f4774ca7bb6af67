"""ff_regs.v: the register file as flat Verilog-2005, small and without the map's large read-only parts.

What the file holds: identity (parameters), configuration, pulses, and the count of error answers. Status
comes in through ports. Windows (memories) and banks (``ff_bank``) are answered by other blocks through one
shared port. Configuration is stored twice, in flops for the hardware and in LUT RAM for the host to read
back, because a multiplexer over all those flops costs several times the RAM; a flop output that a build
does not use disappears, and reading back goes on working.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from exporters.cubes import cover
from exporters.model import Field, Map, Register

__all__ = ["MODULE", "register_file"]

MODULE = "ff_regs"
DEVICE_BITS = 24  # of a byte address; above them stands the number of the device
WORD_BITS = DEVICE_BITS - 2
OWN = ("id.bus_errors", "id.bus_error_addr")  # kept by the register file itself
FROZEN = 3  # enum state


@dataclass(frozen=True)
class _Element:
    """One register of an array, or a register that is no array (``count`` 1)."""

    register: Register
    number: int
    count: int
    word: int

    def signal(self, field: Field) -> str:
        """Return the expression for this element's field in its port."""
        name = _port(self.register, field)
        return name if self.count == 1 else f"{name}[{self.number * field.width} +: {field.width}]"


def register_file(device: Map) -> str:
    """Return the text of ff_regs.v.

    Raises:
        ValueError: the map cannot be decoded as this module does it; the message names the culprit.
    """
    return _Writer(device).text()


class _Writer:
    def __init__(self, device: Map) -> None:
        if device.size_B != 1 << DEVICE_BITS:
            raise ValueError(
                f"a device has {device.size_B:#x} B; the decoder takes {DEVICE_BITS} bits"
            )
        self.device = device
        own = [register for register in device.registers if not register.bank]
        self.elements = sorted(
            (element for register in own for element in _elements(register)), key=lambda e: e.word
        )
        self.page_bits = max(element.word for element in self.elements).bit_length()
        self.parameters = [register for register in own if register.parameter]
        self.stored = [e for e in self.elements if e.register.access == "rw"]
        self.pulses = [e for e in self.elements if e.register.pulse]
        self.status = [
            e
            for e in self.elements
            if e.register.access == "r" and not e.register.parameter and e.register.name not in OWN
        ]
        # whole words are read back from RAM; a word with reserved bits from its flops, which have none
        self.in_ram = [e for e in self.stored if e.register.mask == 0xFFFFFFFF]
        self.in_flops = [e for e in self.stored if e.register.mask != 0xFFFFFFFF]
        self.ram_bits = _slots([element.word for element in self.in_ram])
        self.windows = self._windows()
        self._check()

    def _check(self) -> None:
        for element in self.elements:
            kind = element.register
            told = [kind.parameter, kind.pulse, element in self.stored, element in self.status]
            if kind.name not in OWN and told.count(True) != 1:
                raise ValueError(f"{kind.name}: neither parameter, pulse, configuration nor status")
        for name in OWN:
            if name not in (register.name for register in self.device.registers):
                raise ValueError(f"the map has no {name}, which {MODULE} keeps")

    def _windows(self) -> list[tuple[str, list[int], bool, bool]]:
        """Return (name, words, writable, frozen only) of all that other blocks answer for."""
        found = []
        for name, address, _ in self.device.banks:
            held = [register for register in self.device.registers if register.bank == name]
            if any(register.access != "r" for register in held):
                raise ValueError(f"{name}: a bank is read-only")
            words = [address_B // 4 for register in held for address_B in register.addresses()]
            found.append((name, address // 4, words, False, False))
        for window in self.device.windows:
            first = window.address // 4
            words = list(range(first, first + window.words))
            found.append((window.name, first, words, "w" in window.access, window.frozen_only))
        for name, first, words, _, _ in found:
            if first % (1 << (max(words) - first).bit_length()):
                raise ValueError(f"{name}: must stand at a multiple of its size rounded up to 2^n")
        found.sort(key=lambda item: item[1])
        return [(name, words, writes, frozen) for name, _, words, writes, frozen in found]

    def text(self) -> str:
        sections = (
            _HEADER,
            self._parameter_list(),
            self._ports(),
            self._checks(),
            self._decode(),
            self._configuration(),
            self._read(),
            self._answers(),
            _FOOTER,
        )
        return "\n".join(line for section in sections for line in section) + "\n"

    def _parameter_list(self) -> list[str]:
        lines = [f"module {MODULE} #("]
        free = [(r, f) for r in self.parameters for f in r.fields if not _fixed(r, f)]
        for register, field in free:
            unit = f", {field.unit}" if field.unit else ""
            name = _parameter(register, field)
            comma = "," if (register, field) != free[-1] else " "
            lines.append(
                f"    parameter [31:0] {name} = {field.minimum}{comma} "
                f"// {_about(register, field)}{unit}, {field.minimum}..{field.maximum}"
            )
        return lines

    def _ports(self) -> list[str]:
        lines = [*_BUS_PORTS]
        lines.append("    // status, in the domain of clk")
        lines += [
            _declare("input  wire", register, field) for register, field in _ports_of(self.status)
        ]
        lines.append("    // configuration; element i of an array stands at [i*WIDTH +: WIDTH]")
        lines += [
            _declare("output reg ", register, field) for register, field in _ports_of(self.stored)
        ]
        lines.append("    // pulses: high for one cycle, in which wr_data holds the value written")
        lines += [
            f"    output reg          {_pulse(element)}, // {element.register.doc}"
            for element in self.pulses
        ]
        lines += [
            "    // the write just taken, for blocks that keep a configuration in a form of their own",
            "    output reg          wr_strobe, // a register of this file was written",
            f"    output wire [{self.page_bits - 1}:0]   wr_word, // its word address",
            "    output wire [31:0]  wr_data,",
        ]
        lines += _WINDOW_PORTS
        lines += [f"    output reg          sel_{_flat(name)}," for name, *_ in self.windows]
        lines[-1] = lines[-1].rstrip(",")
        lines.append(");")
        return lines

    def _checks(self) -> list[str]:
        """Elaboration ends with a sentence when a parameter is out of its range."""
        lines = ["    generate"]
        for register in self.parameters:
            for field in register.fields:
                if _fixed(register, field):
                    continue
                name = _parameter(register, field)
                low, high = field.minimum, field.maximum
                bad = [f"{name} < {low}"] if low else []
                bad += [f"{name} > {high}"] if high != (1 << 32) - 1 else []
                bad = [f"{name} != {low}"] if low == high else bad
                if bad:
                    lines.append(
                        f"        if ({' || '.join(bad)}) begin : g_check_{name}\n"
                        f"            ff_error_{name}_must_be_{low}_to_{high} stop ();"
                        " // no such module\n        end"
                    )
        return [*lines, "    endgenerate", ""]

    def _decode(self) -> list[str]:
        page = self.page_bits
        readable = [e.word for e in self.elements if "r" in e.register.access]
        writable = [e.word for e in self.elements if "w" in e.register.access]
        lines = [
            "    // Decode. The address stands still from request to answer, so nothing here is registered twice.",
            f"    wire [{WORD_BITS - 1}:0] word = s_addr[{DEVICE_BITS - 1}:2];",
            f"    wire [{page - 1}:0]  page = s_addr[{page + 1}:2];",
            f"    wire        mine = s_addr[31:{DEVICE_BITS}] == ID_DEVICES_INDEX[7:0]"
            " && s_addr[1:0] == 2'd0;",
            "    reg         busy_q;                     // a window is selected and has not answered",
            "    reg  [31:0] bus_errors_q, bus_error_addr_q;",
            f"    reg  [{len(self.in_ram) - 1}:0] valid_q;",
            "    reg         in_ram, valid;",
            "    reg  [31:0] constant, status;",
            "    wire        go = s_req && !s_ack && !busy_q && !bus_rst;",
            f"    wire        frozen = stat_ctl_state_state == 2'd{FROZEN};",
            f"    wire        readable = {_inside(readable)};",
            f"    wire        writable = {_inside(writable)};",
        ]
        for name, words, writes, frozen_only in self.windows:
            terms = ["mine"] + ([] if writes else ["!s_we"]) + (["frozen"] if frozen_only else [])
            hit = _inside(words)
            lines.append(f"    wire        hit_{_flat(name)} = {' && '.join(terms)} && ({hit});")
        joined = " || ".join(f"hit_{_flat(name)}" for name, *_ in self.windows)
        lines += [
            f"    wire        hit = {joined};",
            "    wire        good = mine && (s_we ? writable : readable);",
            "    wire        write = go && s_we && mine && writable;",
            "    assign win_we = s_we;",
            "    assign win_word = word;",
            "    assign win_wdata = s_wdata;",
            "    assign wr_word = page;",
            "    assign wr_data = s_wdata;",
            "",
        ]
        return lines

    def _configuration(self) -> list[str]:
        lines = ["    // Configuration and pulses.", "    always @(posedge clk) begin"]
        lines += [f"        {_pulse(element)} <= 1'b0;" for element in self.pulses]
        lines += [
            "        wr_strobe <= write;",
            "        if (write) begin",
            "            case (page)",
        ]
        for element in sorted([*self.stored, *self.pulses], key=lambda e: e.word):
            what = [f"{_pulse(element)} <= 1'b1;"]
            if not element.register.pulse:
                what = [
                    f"{element.signal(field)} <= s_wdata{_slice(field)};"
                    for field in element.register.fields
                ]
            if element in self.in_ram:
                what.append(f"valid_q[{self.in_ram.index(element)}] <= 1'b1;")
            lines.append(f"                {self._label(element)} begin // {_where(element)}")
            lines += [f"                    {statement}" for statement in what]
            lines.append("                end")
        lines += ["                default: ;", "            endcase", "        end"]
        lines.append("        if (rst) begin")
        lines += [f"            {_pulse(element)} <= 1'b0;" for element in self.pulses]
        lines += [
            "            wr_strobe <= 1'b0;",
            f"            valid_q <= {len(self.in_ram)}'d0;",
        ]
        lines += [_reset(register, field) for register, field in _ports_of(self.stored)]
        lines += ["        end", "        if (bus_rst) begin"]
        lines += [
            _reset(register, field)
            for register, field in _ports_of(self.stored)
            if register.bus_reset
        ]
        return [*lines, "        end", "    end", ""]

    def _read(self) -> list[str]:
        slot = f"page[{self.ram_bits - 1}:0]"
        lines = [
            "    // Read-back: the RAM holds what was written since reset, valid_q tells whether anything was.",
            f"    reg  [31:0] ram [0:{(1 << self.ram_bits) - 1}];",
            f"    always @(posedge clk) if (write && in_ram) ram[{slot}] <= s_wdata;",
            "    always @* begin",
            "        in_ram = 1'b0;",
            "        valid = 1'b0;",
            "        constant = 32'd0;",
            "        status = 32'd0;",
            "        case (page)",
        ]
        for element in self.elements:
            register = element.register
            where = f"            {self._label(element)}"
            if register.parameter:
                lines.append(f"{where} constant = {self._constant(register)};")
            elif element in self.in_ram:
                start = f" constant = 32'd{register.reset};" if register.reset else ""
                valid = f"valid = valid_q[{self.in_ram.index(element)}];"
                lines.append(f"{where} begin in_ram = 1'b1; {valid}{start} end")
            elif register.name in OWN:
                lines.append(f"{where} status = {register.name.split('.')[1]}_q;")
            elif not register.pulse:
                lines.append(f"{where} status = {_gather(register, element.signal)};")
        lines += [
            "            default: ;",
            "        endcase",
            "    end",
            f"    wire [31:0] data = in_ram ? (valid ? ram[{slot}] : constant) : constant | status;",
            "",
        ]
        return lines

    def _constant(self, register: Register) -> str:
        def value(field: Field) -> str:
            if register.name == "id.map_hash":
                return f"32'h{self.device.map_hash():08X}"
            if field.fixed:
                return f"{field.width}'h{field.reset:X}"
            name = _parameter(register, field)
            return name if field.width == 32 else f"{name}[{field.width - 1}:0]"

        return _gather(register, value)

    def _label(self, element: _Element) -> str:
        return f"{self.page_bits}'h{element.word:0{(self.page_bits + 3) // 4}X}:"

    def _answers(self) -> list[str]:
        names = [name for name, *_ in self.windows]
        return [
            *_ANSWER,
            *(f"            sel_{_flat(name)} <= hit_{_flat(name)};" for name in names),
            "        end",
            "        if (rst || bus_rst || (busy_q && win_ack)) begin",
            *(f"            sel_{_flat(name)} <= 1'b0;" for name in names),
            "            busy_q <= 1'b0;",
            "        end",
            "        if (rst || bus_rst) s_ack <= 1'b0;",
            "        if (rst) begin",
            "            bus_errors_q <= 32'd0;",
            "            bus_error_addr_q <= 32'd0;",
            "        end",
            "    end",
        ]


def _elements(register: Register) -> list[_Element]:
    addresses = register.addresses()
    return [
        _Element(register, number, len(addresses), address // 4)
        for number, address in enumerate(addresses)
    ]


def _ports_of(elements: Iterable[_Element]) -> list[tuple[Register, Field]]:
    return [(e.register, field) for e in elements if e.number == 0 for field in e.register.fields]


def _count(register: Register) -> int:
    return len(register.addresses())


def _flat(name: str) -> str:
    return name.replace(".", "_")


def _slots(words: list[int]) -> int:
    """Return how many low address bits tell these words apart, so that the RAM needs no table."""
    bits = 1
    while len({word & ((1 << bits) - 1) for word in words}) < len(words):
        bits += 1
    return bits


def _inside(words: Iterable[int]) -> str:
    everything = (1 << WORD_BITS) - 1
    terms = [
        f"word == {WORD_BITS}'h{value:06X}"
        if mask == everything
        else f"(word & {WORD_BITS}'h{mask:06X}) == {WORD_BITS}'h{value:06X}"
        for mask, value in cover(words, WORD_BITS)
    ]
    return "\n            || ".join(terms)


def _stem(register: Register, field: Field) -> str:
    name = register.name.replace(".", "_")
    return name if field.name == "value" else f"{name}_{field.name}"


def _parameter(register: Register, field: Field) -> str:
    return _stem(register, field).upper()


def _fixed(register: Register, field: Field) -> bool:
    return field.fixed or register.name == "id.map_hash"


def _port(register: Register, field: Field) -> str:
    return ("cfg_" if "w" in register.access else "stat_") + _stem(register, field)


def _pulse(element: _Element) -> str:
    return "pulse_" + element.register.name.replace(".", "_")


def _where(element: _Element) -> str:
    suffix = f"[{element.number}]" if element.count > 1 else ""
    return element.register.name + suffix


def _about(register: Register, field: Field) -> str:
    return register.doc if field.name == "value" else f"{register.doc}: {field.doc}".rstrip(".")


def _declare(direction: str, register: Register, field: Field) -> str:
    width = _count(register) * field.width
    bits = f"[{width - 1}:0]" if width > 1 else ""
    unit = f", {field.unit}" if field.unit else ""
    return f"    {direction} {bits:<7} {_port(register, field)}, // {_about(register, field)}{unit}"


def _slice(field: Field) -> str:
    if field.width == 32:
        return ""
    if field.width == 1:
        return f"[{field.lsb}]"
    return f"[{field.lsb + field.width - 1}:{field.lsb}]"


def _gather(register: Register, value: Callable[[Field], str]) -> str:
    """Return the 32-bit word with each field's expression at its place and 0 in the reserved bits."""
    parts: list[str] = []
    top = 32
    for field in reversed(register.fields):
        gap = top - field.lsb - field.width
        parts += [f"{gap}'d0"] if gap else []
        parts.append(value(field))
        top = field.lsb
    parts += [f"{top}'d0"] if top else []
    return parts[0] if len(parts) == 1 else "{" + ", ".join(parts) + "}"


def _reset(register: Register, field: Field) -> str:
    value = f"{field.width}'d{field.reset}"
    count = _count(register)
    return f"            {_port(register, field)} <= {value if count == 1 else f'{{{count}{{{value}}}}}'};"


_HEADER = [
    "// SPDX-License-Identifier: Apache-2.0",
    "// ff_regs: the register file of one Freezeframe device.",
    "// Generated by firmware-hooks/registers/generate.py from freezeframe.rdl; change the source and run that.",
    "//",
    "// Port: hold s_req, s_we, s_addr, s_wdata until s_ack, which is high for one cycle; s_rdata and s_err count in that",
    "// cycle, and s_req in the next one is a new access. What stands here answers in the next cycle; a window when its",
    "// block does. An error answer changes nothing, is counted, and reads as all ones. No read has a side effect.",
    "// s_addr is the byte address from the start of the target; device 0 also gets the accesses that fall into no device.",
    "//",
    "// Windows: sel_NAME is high until win_ack; the block takes the low bits of win_word (a window begins at a multiple of",
    "// its size rounded up to 2^n), acts and answers win_ack for one cycle with win_rdata and win_err. Join the blocks'",
    "// answers with OR. A window that a build does not have answers win_ack and win_err; no select may stay unanswered.",
    "//",
    "// Clock domain: clk, the bus domain. Status must stand in it. rst is the recorder's own reset, bus_rst the bus's:",
    "// it ends an access and clears INDEX, and nothing else. Both are synchronous, active high.",
    "`default_nettype none",
]
_BUS_PORTS = [
    ") (",
    "    input  wire         clk, rst, bus_rst,",
    "    // register port",
    "    input  wire         s_req, s_we,",
    "    input  wire [31:0]  s_addr, s_wdata,",
    "    output reg          s_ack, s_err,",
    "    output reg  [31:0]  s_rdata,",
]
_WINDOW_PORTS = [
    "    // windows and banks",
    "    output wire         win_we,",
    f"    output wire [{WORD_BITS - 1}:0]  win_word, // word address from the start of the device",
    "    output wire [31:0]  win_wdata,",
    "    input  wire         win_ack, win_err,",
    "    input  wire [31:0]  win_rdata,",
]
_ANSWER = [
    "    // Answers.",
    "    always @(posedge clk) begin",
    "        s_ack <= 1'b0;",
    "        s_err <= busy_q ? win_err : !good;",
    "        s_rdata <= busy_q ? win_rdata : data;",
    "        if (busy_q ? win_err : !good) s_rdata <= 32'hFFFFFFFF;",
    "        if (busy_q ? win_ack : go && !hit) s_ack <= 1'b1;",
    "        if (s_ack && s_err) begin",
    "            bus_errors_q <= bus_errors_q + 32'd1;",
    "            bus_error_addr_q <= s_addr;",
    "        end",
    "        if (go && hit) begin",
    "            busy_q <= 1'b1;",
]
_FOOTER = ["endmodule", "`default_nettype wire"]
