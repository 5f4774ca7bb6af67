"""ff_regs.v: the register file as flat Verilog-2005, without the map's large read-only parts.

What the file holds: identity (parameters), configuration, pulses, and the count of error answers.
Status comes in through ports. Memories and banks (``ff_bank``) are answered by other blocks through
one shared window port.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from exporters.cubes import cover
from exporters.fill import fill
from exporters.model import Field, Map, Register

MODULE = "ff_regs"
DEVICE_BITS = 24  # of a byte address; above them stands the number of the device
WORD_BITS = DEVICE_BITS - 2
OWN = ("id.bus_errors", "id.bus_error_addr")  # kept by the register file itself
FROZEN = 3  # enum state
ALL_ONES = 0xFFFFFFFF


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
        if self.count == 1:
            return name
        return f"{name}[{self.number * field.width} +: {field.width}]"

    @property
    def label(self) -> str:
        suffix = f"[{self.number}]" if self.count > 1 else ""
        return self.register.name + suffix


@dataclass(frozen=True)
class _Window:
    """A part of the map that another block answers for."""

    name: str
    words: tuple[int, ...]
    writable: bool
    frozen_only: bool


def register_file(device: Map) -> str:
    """Return the text of ff_regs.v.

    Raises:
        ValueError: the map cannot be decoded as this module does it; the message names the culprit.
    """
    if device.size_B != 1 << DEVICE_BITS:
        raise ValueError(f"a device has {device.size_B:#x} B; the decoder takes {DEVICE_BITS} bits")
    return fill(f"{MODULE}.v.in", _Parts(device).parts())


class _Parts:
    """The generated parts of the template, from the map."""

    def __init__(self, device: Map) -> None:
        own = [register for register in device.registers if not register.bank]
        for register in own:
            _check(register)
        self.map_hash = device.map_hash()
        self.elements = sorted((e for r in own for e in _elements(r)), key=lambda e: e.word)
        self.page_bits = self.elements[-1].word.bit_length()
        self.parameters = [register for register in own if register.parameter]
        self.stored = [e for e in self.elements if e.register.access == "rw"]
        self.pulses = [e for e in self.elements if e.register.pulse]
        self.status = [e for e in self.elements if _is_status(e.register)]
        # A word with reserved bits is read back from its flops, which have none: RAM would return
        # whatever was written there.
        self.in_ram = [e for e in self.stored if e.register.mask == ALL_ONES]
        self.ram_bits = _distinct_bits([element.word for element in self.in_ram])
        shown = [e for e in self.elements if e in self.status or e.register.name in OWN]
        self.whole = [e for e in shown if e.register.mask == ALL_ONES]
        self.masked = sorted(
            [e for e in (*shown, *self.stored) if e.register.mask != ALL_ONES], key=lambda e: e.word
        )
        self.pick_bits = max(3, len(self.whole).bit_length())  # one number is left for "none"
        self.windows = _windows(device)

    def parts(self) -> dict[str, str]:
        valids = len(self.in_ram)
        configured = _ports_of(self.stored)
        pulses = [_pulse(element) for element in self.pulses]
        names = [_flat(window.name) for window in self.windows]
        lists = {
            "parameters": self._parameters(),
            "status": [_declare("input  wire", *port) for port in _ports_of(self.status)],
            "configuration": [_declare("output reg ", *port) for port in configured],
            "pulses": [
                f"    output reg          {_pulse(element)}, // {element.register.doc}"
                for element in self.pulses
            ],
            "selects": [f"    output reg          sel_{name}," for name in names],
            "checks": self._checks(),
            "hits": [_hit(window) for window in self.windows],
            "idle": [f"        {pulse} <= 1'b0;" for pulse in pulses],
            "writes": self._writes(),
            "resets": [f"            {pulse} <= 1'b0;" for pulse in pulses]
            + [_reset(*port) for port in configured],
            "busresets": [_reset(*port) for port in configured if port[0].bus_reset],
            "reads": self._reads(),
            "shows": [f"    reg         {_show(element)};" for element in self.masked],
            "picks": self._picks(),
            "parts": [
                f"        {_show(element)} <= page == {self._case(element)[:-1]};"
                for element in self.masked
            ],
            "groups": self._groups(),
            "groupsof": [
                f"            {self.pick_bits - 2}'d{group}: status = group{group};"
                for group in range((len(self.whole) + 3) // 4)
            ],
            "select": [f"            sel_{name} <= hit_{name};" for name in names],
            "deselect": [f"            sel_{name} <= 1'b0;" for name in names],
        }
        lists["selects"][-1] = lists["selects"][-1].rstrip(",")
        parts = {name: "\n".join(lines) for name, lines in lists.items()}
        readable = [e.word for e in self.elements if "r" in e.register.access]
        writable = [e.word for e in self.elements if "w" in e.register.access]
        return parts | {
            "page": f"[{self.page_bits - 1}:0]",
            "word": f"[{WORD_BITS - 1}:0]",
            "top": str(DEVICE_BITS - 1),
            "pagetop": str(self.page_bits + 1),
            "bits": str(DEVICE_BITS),
            "frozen": str(FROZEN),
            "readable": inside(readable),
            "writable": inside(writable),
            "anyhit": "\n        || ".join(f"hit_{name}" for name in names),
            "valids": f"[{valids - 1}:0]",
            "none": f"{valids}'d0",
            "pick": f"[{self.pick_bits - 1}:0]",
            "pickhigh": str(self.pick_bits - 1),
            "nothing": f"{self.pick_bits}'d{(1 << self.pick_bits) - 1}",
            "masked": "".join(
                f"\n        | ({_gather(e.register, e.signal)} & {{32{{{_show(e)}}}}})"
                for e in self.masked
            ),
            "slots": str((1 << self.ram_bits) - 1),
            "slot": f"page[{self.ram_bits - 1}:0]",
        }

    def _free_parameters(self) -> list[tuple[Register, Field]]:
        return [(r, f) for r in self.parameters for f in r.fields if not _fixed(r, f)]

    def _parameters(self) -> list[str]:
        free = self._free_parameters()
        lines = []
        for register, field in free:
            comma = "," if (register, field) != free[-1] else " "
            unit = f", {field.unit}" if field.unit else ""
            lines.append(
                f"    parameter [31:0] {_parameter(register, field)} = {field.minimum}{comma} "
                f"// {_about(register, field)}{unit}: {field.minimum}..{field.maximum}"
            )
        return lines

    def _checks(self) -> list[str]:
        """A parameter out of its range ends elaboration with a sentence."""
        lines = []
        for register, field in self._free_parameters():
            name, low, high = _parameter(register, field), field.minimum, field.maximum
            bad = [f"{name} < {low}"] if low else []
            bad += [f"{name} > {high}"] if high != ALL_ONES else []
            if low == high:
                bad = [f"{name} != {low}"]
            if bad:
                lines += [
                    f"        if ({' || '.join(bad)}) begin : g_check_{name}",
                    f"            ff_error_{name}_must_be_{low}_to_{high} stop (); // none such",
                    "        end",
                ]
        return lines

    def _case(self, element: _Element) -> str:
        return f"{self.page_bits}'h{element.word:0{(self.page_bits + 3) // 4}X}:"

    def _writes(self) -> list[str]:
        lines = []
        for element in sorted([*self.stored, *self.pulses], key=lambda e: e.word):
            register = element.register
            if register.pulse:
                what = [f"{_pulse(element)} <= 1'b1;"]
            else:
                what = [f"{element.signal(f)} <= s_wdata{_slice(f)};" for f in register.fields]
            if element in self.in_ram:
                what.append(f"valid_q[{self.in_ram.index(element)}] <= 1'b1;")
            lines.append(f"                {self._case(element)} begin // {element.label}")
            lines += [f"                    {statement}" for statement in what]
            lines.append("                end")
        return lines

    def _reads(self) -> list[str]:
        lines = []
        for element in self.elements:
            register = element.register
            if register.parameter:
                what = f"constant = {self._constant(register)};"
            elif element in self.in_ram:
                what = f"begin in_ram = 1'b1; valid = valid_q[{self.in_ram.index(element)}];"
                what += f" constant = 32'd{register.reset}; end" if register.reset else " end"
            else:
                continue
            lines.append(f"            {self._case(element)} {what} // {element.label}")
        return lines

    def _picks(self) -> list[str]:
        return [
            f"            {self._case(e)} pick_q <= {self.pick_bits}'d{number}; // {e.label}"
            for number, e in enumerate(self.whole)
        ]

    def _groups(self) -> list[str]:
        """Four words to a group: that many, with their two selects, are one six-input LUT a bit."""
        lines = []
        for first in range(0, len(self.whole), 4):
            name = f"group{first // 4}"
            lines += [
                f"    reg  [31:0] {name};",
                "    always @* begin",
                "        case (pick_q[1:0])",
            ]
            for number, element in enumerate(self.whole[first : first + 4]):
                lines.append(f"            2'd{number}: {name} = {_source(element)};")
            lines += [f"            default: {name} = 32'd0;", "        endcase", "    end"]
        return lines

    def _constant(self, register: Register) -> str:
        def value(field: Field) -> str:
            if register.name == "id.map_hash":
                return f"32'h{self.map_hash:08X}"
            if field.fixed:
                return f"{field.width}'h{field.reset:X}"
            name = _parameter(register, field)
            return name if field.width == 32 else f"{name}[{field.width - 1}:0]"

        return _gather(register, value)


def _check(register: Register) -> None:
    kinds = (register.parameter, register.pulse, register.access == "rw", _is_status(register))
    if register.frozen_only or (register.name not in OWN and kinds.count(True) != 1):
        raise ValueError(
            f"{register.name}: must be one of parameter, pulse, configuration, "
            "status, and only a bank can be frozen-only"
        )


def _is_status(register: Register) -> bool:
    return register.access == "r" and not register.parameter and register.name not in OWN


def _elements(register: Register) -> list[_Element]:
    addresses = register.addresses()
    return [
        _Element(register, number, len(addresses), address // 4)
        for number, address in enumerate(addresses)
    ]


def _windows(device: Map) -> list[_Window]:
    """Return everything other blocks answer for, in address order."""
    found: list[tuple[int, _Window]] = []
    for name, address, _ in device.banks:
        held = [register for register in device.registers if register.bank == name]
        if any(register.access != "r" for register in held):
            raise ValueError(f"{name}: a bank is read-only")
        words = tuple(address_B // 4 for register in held for address_B in register.addresses())
        frozen_only = any(register.frozen_only for register in held)
        found.append((address // 4, _Window(name, words, False, frozen_only)))
    for window in device.windows:
        first = window.address // 4
        words = tuple(range(first, first + window.words))
        found.append((first, _Window(window.name, words, "w" in window.access, window.frozen_only)))
    for first, item in found:
        if first % (1 << (max(item.words) - first).bit_length()):
            raise ValueError(f"{item.name}: must begin at a multiple of its size rounded up to 2^n")
    return [item for _, item in sorted(found, key=lambda pair: pair[0])]


def _hit(window: _Window) -> str:
    terms = ["mine"]
    terms += [] if window.writable else ["!s_we"]
    terms += ["frozen"] if window.frozen_only else []
    return f"    wire hit_{_flat(window.name)} = {' && '.join(terms)} && ({inside(window.words)});"


def inside(words: Iterable[int], bits: int = WORD_BITS, name: str = "word") -> str:
    """Return the condition that a signal of so many bits is one of the given words."""
    everything, digits = (1 << bits) - 1, (bits + 3) // 4
    terms = [
        f"{name} == {bits}'h{value:0{digits}X}"
        if mask == everything
        else f"({name} & {bits}'h{mask:0{digits}X}) == {bits}'h{value:0{digits}X}"
        for mask, value in cover(words, bits)
    ]
    return "\n        || ".join(terms)


def _distinct_bits(words: list[int]) -> int:
    """Return how many low bits tell these words apart, so that the RAM needs no table of slots."""
    bits = 1
    while len({word & ((1 << bits) - 1) for word in words}) < len(words):
        bits += 1
    return bits


def _ports_of(elements: Iterable[_Element]) -> list[tuple[Register, Field]]:
    return [(e.register, field) for e in elements if e.number == 0 for field in e.register.fields]


def _flat(name: str) -> str:
    return name.replace(".", "_")


def _stem(register: Register, field: Field) -> str:
    name = _flat(register.name)
    return name if field.name == "value" else f"{name}_{field.name}"


def _parameter(register: Register, field: Field) -> str:
    return _stem(register, field).upper()


def _fixed(register: Register, field: Field) -> bool:
    return field.fixed or register.name == "id.map_hash"


def _port(register: Register, field: Field) -> str:
    return ("cfg_" if "w" in register.access else "stat_") + _stem(register, field)


def _pulse(element: _Element) -> str:
    return "pulse_" + _flat(element.register.name)


def _show(element: _Element) -> str:
    return "show_" + _flat(element.register.name) + "_q"


def _source(element: _Element) -> str:
    """Return the expression for a whole status word."""
    name = element.register.name
    if name in OWN:
        return name.removeprefix("id.") + "_q"
    return element.signal(element.register.fields[0])


def _about(register: Register, field: Field) -> str:
    doc = field.doc.rstrip(".")
    return register.doc if field.name == "value" else f"{register.doc}: {doc}"


def _declare(direction: str, register: Register, field: Field) -> str:
    width = len(register.addresses()) * field.width
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
    """Return the 32-bit word with each field's expression at its place, reserved bits 0."""
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
    count = len(register.addresses())
    whole = value if count == 1 else f"{{{count}{{{value}}}}}"
    return f"            {_port(register, field)} <= {whole};"
