"""What a card file may say: one structure a table, each key with its type, its range and its default.

The JSON Schema for editors, the checks of `reading` and docs/card-file.md are made from these.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

NAME_PATTERN = r"^[a-z][a-z0-9_]{0,31}$"  # it becomes a name in Verilog, C and SystemRDL

CARD_NAME_PATTERN = r"^[a-z][a-z0-9_-]{0,31}$"
WIRE = r"^[A-Za-z_][A-Za-z0-9_]{0,63}$"
WIRE_OR_NONE = r"^([A-Za-z_][A-Za-z0-9_]{0,63})?$"

Name = Annotated[str, Meta(pattern=NAME_PATTERN)]
Doc = Annotated[str, Meta(max_length=200, description="one line for people")]
Wire = Annotated[str, Meta(pattern=WIRE, description="a port of the device's top")]
Ppm = Annotated[int, Meta(ge=0, le=100_000, description="tolerance of the crystal")]


class _Table(Struct, forbid_unknown_fields=True):
    """A table in which a key that is not declared is an error."""


class Header(_Table):
    """``[card]``."""

    name: Annotated[str, Meta(pattern=CARD_NAME_PATTERN, description="name of the card")]
    version: Annotated[str, Meta(max_length=32)] = "0.1"
    doc: Doc = ""
    rom: Annotated[
        bool, Meta(description="the compressed text stands in a block RAM of the device")
    ] = True
    map: Annotated[
        Literal[1, 2],
        Meta(description="2: docs/card-map.md; 1: the registers of docs/formats.md, section 1"),
    ] = 2
    map_hash: Annotated[
        int, Meta(ge=0, le=0xFFFF_FFFF, description="map 1: by what its devices are known")
    ] = 0


class Clock(_Table):
    """``[clock.NAME]``: a clock domain."""

    hz: Annotated[int, Meta(ge=1_000, le=2_000_000_000, description="nominal frequency")]
    ppm: Ppm = 100
    registers: Annotated[bool, Meta(description="the register bus runs on it")] = False
    doc: Doc = ""


class FormatField(_Table):
    """``[format.NAME.field.NAME]``: bits of an own header, counted from the packet's beginning."""

    at_bit: Annotated[
        int, Meta(ge=0, le=65_535, description="first bit; bytes in the order of the stream")
    ]
    bits: Annotated[int, Meta(ge=1, le=64)]
    order: Annotated[
        Literal["big", "little"], Meta(description="byte order of a field of several bytes")
    ] = "big"
    constant: Annotated[int, Meta(ge=0, description="any other value is a bad header")] | None = (
        None
    )
    names: Annotated[dict[str, int], Meta(description="words for values")] = {}
    doc: Doc = ""


class CrcCheck(_Table):
    """``[format.NAME.check.NAME]``: a CRC by its name in the catalogue, or by its parameters."""

    at: Annotated[int, Meta(description="byte of the CRC; negative counts from the packet's end")]
    first: Annotated[int, Meta(ge=0, description="first byte it covers")] = 0
    end: (
        Annotated[int, Meta(description="byte after the last one it covers; negative from the end")]
        | None
    ) = None
    crc: Annotated[
        str, Meta(max_length=40, description="name in the catalogue, CRC-32/ISO-HDLC")
    ] = ""
    width: Annotated[int, Meta(ge=0, le=64)] = 0
    poly: Annotated[int, Meta(ge=0)] = 0
    init: Annotated[int, Meta(ge=0)] = 0
    xorout: Annotated[int, Meta(ge=0)] = 0
    refin: bool = False
    refout: bool = False
    order: Literal["big", "little"] = "big"


class Format(_Table):
    """``[format.NAME]``: how packets stand on a stream."""

    is_: Annotated[
        Literal["raw", "ethernet", "link", "fields"],
        Meta(description="raw: words and times, nothing is believed; pcie-tlp is reserved"),
    ] = field(name="is")
    fcs: Annotated[
        Literal["present", "stripped", "user-bit"],
        Meta(description="ethernet: where the verdict is"),
    ] = "present"
    preamble: Annotated[bool, Meta(description="ethernet: 55..d5 stand before the frame")] = False
    shortest_B: Annotated[
        int, Meta(ge=0, le=65_535, description="shorter ones are runts; 0: the format's own")
    ] = 0
    longest_B: Annotated[
        int, Meta(ge=0, le=65_535, description="longer ones are giants; 0: the format's own")
    ] = 0
    length: Annotated[str, Meta(description="fields: the field that holds the length")] = ""
    length_plus_B: Annotated[
        int, Meta(description="fields: bytes of the packet beyond that length")
    ] = 0
    field: Annotated[dict[Name, FormatField], Meta(description="fields: own headers")] = {}
    check: Annotated[dict[Name, CrcCheck], Meta(description="fields: CRCs")] = {}
    doc: Doc = ""


class User(_Table):
    """``user`` of a tap."""

    bits: Annotated[int, Meta(ge=1, le=8)]
    bad_frame: (
        Annotated[int, Meta(ge=0, le=7, description="the bit that marks a bad frame at its end")]
        | None
    ) = None


class FirstBytes(_Table):
    """``store = { first_bytes = N }``."""

    first_bytes: Annotated[int, Meta(ge=8, le=65_528, multiple_of=8)]


class Tap(_Table):
    """``[tap.NAME]``: a place where the recorder listens."""

    kind: Annotated[Literal["axi-stream", "fifo", "words"], Meta(description="signals is reserved")]
    clock: Annotated[Name, Meta(description="a clock of this file")]
    bits: Annotated[int, Meta(ge=8, le=1024, description="8, 16, 32 or a multiple of 64")] = 64
    keep: Annotated[
        Literal["none", "tail", "any"],
        Meta(description="tail: bytes are off at a packet's end alone"),
    ] = "none"
    user: User | None = None
    ready: Annotated[bool, Meta(description="false: every word that is valid is taken")] = False
    interleaved: Annotated[
        bool, Meta(description="packets of several ids may mix; false is checked")
    ] = False
    time: Annotated[
        Literal["exact", "loose"], Meta(description="loose: narrow streams are packed across gaps")
    ] = "exact"
    recorder: Annotated[
        Literal["plain", "fast"], Meta(description="fast: two registers, for clocks above 150 MHz")
    ] = "plain"
    format: Annotated[str, Meta(description="a format of this file; raw without one")] = ""
    depth: Annotated[int, Meta(ge=16, le=65_536, description="records; a power of two")] = 2048
    store: Literal["all", "summary"] | FirstBytes = "all"
    doc: Doc = ""


Means = Annotated[
    Literal[
        "", "bad-header", "bad-payload", "bad-length", "bad-credit", "out-of-sequence", "dropped",
        "overflow", "underflow", "lane-underflow", "no-credit", "blocked-cycles", "peer",
        "credits-sent", "credits-taken", "credits-refused", "idles-inserted", "idles-removed",
        "work-posted", "work-told", "host-called", "bus-cycles", "bus-data-cycles",
        "bus-wait-cycles", "bus-retries", "bus-disconnects", "events-lost", "access-refused",
    ],
    Meta(description="what a wire of the card tells, for the analyses that ask for it"),
]  # fmt: skip
"""Words by which an analysis asks for a counter or a cause that the card makes itself (docs/card-file.md)."""


class Drops(_Table):
    """``drops`` of a stretch."""

    counter: Annotated[str, Meta(description="the counter that counts them; none: nobody does")] = (
        ""
    )
    whole: Annotated[bool, Meta(description="whole packets only")] = True


class Stretch(_Table):
    """``[[path.NAME.stretch]]``: what may happen to a packet between two taps; nothing unless it is said."""

    drops: Drops | None = None
    fcs: Annotated[
        Literal["kept", "added", "stripped"], Meta(description="what becomes of the FCS")
    ] = "kept"
    rewrites: Annotated[list[str], Meta(description="fields that may change")] = []
    reorders: bool = False
    forwarding: Annotated[Literal["cut-through", "store-and-forward"], Meta()] = "cut-through"
    capacity_words: Annotated[
        int, Meta(ge=0, description="words that may stand in it; 0: not said")
    ] = 0
    level: Annotated[
        str, Meta(description="register of the bank that tells how many stand in it")
    ] = ""
    capacity: Annotated[
        str, Meta(description="map 1: what the device states of itself in place of capacity_words")
    ] = ""


class Path(_Table):
    """``[path.NAME]``: taps in the order in which the same packet passes them."""

    taps: Annotated[list[str], Meta(min_length=1)]
    stretch: list[Stretch] = []
    far_end: Annotated[str, Meta(description="CARD:PATH on which it goes on, on another card")] = ""
    doc: Doc = ""


class Identity(_Table):
    """``[identity]``: what tells two packets apart."""

    by: Annotated[Literal["content", "fields"], Meta()] = "content"
    fields: Annotated[list[str], Meta(description="FORMAT.FIELD; for ethernet also eth.ip.id")] = []


class Cause(_Table):
    """``[cause.NAME]``: what freezes the card: a checker that is generated, or a wire of the card."""

    check: Annotated[
        Literal["", "fcs", "length", "user", "no-ready", "gap", "sequence", "watchdog"], Meta()
    ] = ""
    tap: str = ""
    cycles: Annotated[
        int, Meta(ge=0, le=0xFFFF_FFFF, description="no-ready, watchdog: so long")
    ] = 0
    field: Annotated[str, Meta(description="sequence: the field that counts up")] = ""
    wire: Annotated[str, Meta(pattern=WIRE_OR_NONE)] = ""
    clock: Annotated[str, Meta(description="of the wire")] = ""
    means: Means = ""
    enabled: Annotated[bool, Meta(description="freezes without being asked for")] = True
    doc: Doc = ""


class Counter(_Table):
    """``[counter.NAME]``: what it counts, at a tap or on a wire."""

    counts: Annotated[
        Literal["", "packets", "words", "bytes", "bad", "waits"], Meta(description="at the tap")
    ] = ""
    tap: str = ""
    wire: Annotated[str, Meta(pattern=WIRE_OR_NONE)] = ""
    clock: Annotated[str, Meta(description="of the wire; the register bus unless said")] = ""
    means: Means = ""
    unit: Annotated[str, Meta(max_length=16)] = ""
    bits: Annotated[int, Meta(ge=8, le=32)] = 32
    doc: Doc = ""

    @property
    def what(self) -> str:
        """What it counts."""
        if self.counts:
            return f"{self.counts} at {self.tap}"
        return f"{self.unit or 'pulses'} of wire {self.wire}"


class Bank(_Table):
    """``[bank.NAME]``: a wire whose value is kept at the freeze."""

    wire: Wire
    bits: Annotated[int, Meta(ge=1, le=32)] = 32
    clock: str = ""
    unit: Annotated[str, Meta(max_length=16)] = ""
    doc: Doc = ""

    @property
    def what(self) -> str:
        """The unit of its value, or the wire."""
        return self.unit or f"wire {self.wire}"


class Event(_Table):
    """``[event.NAME]``: a wire whose rise is logged with a value; on a card of C hooks, what the program logs."""

    wire: Annotated[str, Meta(pattern=WIRE_OR_NONE, description="none on a card of C hooks")] = ""
    value: Annotated[
        str,
        Meta(
            pattern=WIRE_OR_NONE,
            description="a wire that is logged with it, C hooks: its name; none: the event alone",
        ),
    ] = ""
    bits: Annotated[int, Meta(ge=1, le=40, description="of the value")] = 32
    clock: Annotated[str, Meta(description="of both wires; the register bus unless said")] = ""
    doc: Doc = ""


class States(_Table, kw_only=True):
    """``[states.NAME]``: a state machine whose changes are logged."""

    wire: Annotated[
        str,
        Meta(
            pattern=WIRE_OR_NONE,
            description="as many bits as the names need; none on a card of C hooks",
        ),
    ] = ""
    names: Annotated[
        list[Name], Meta(min_length=2, max_length=256, description="of the states 0, 1, ...")
    ]
    clock: Annotated[str, Meta(description="of the wire; the register bus unless said")] = ""
    doc: Doc = ""
    after: Annotated[
        dict[Name, list[Name]],
        Meta(
            description="of a state, those it may follow; a state that is not named may follow any"
        ),
    ] = {}


class Histogram(_Table):
    """``[histogram.NAME]``: lengths or gaps of the packets at a tap, by powers of two."""

    of: Annotated[
        Literal["lengths", "gaps", "levels"],
        Meta(description="levels: map 1, how full the FIFO before the tap was"),
    ]
    tap: str


class Trigger(_Table):
    """``[trigger]``: what is built of the trigger; each part costs room (docs/rtl-area.md)."""

    terms: Annotated[int, Meta(ge=1, le=4, description="comparisons of a word")] = 1
    steps: Annotated[
        int, Meta(ge=0, le=3, description="0: the one term fires; else steps of combined terms")
    ] = 0
    count_bits: Annotated[int, Meta(ge=0, le=32, description="of a step's count; 0: none")] = 16
    timer_bits: Annotated[int, Meta(ge=0, le=32, description="of the timer; 0: none")] = 24
    pin: Annotated[bool, Meta(description="a pin of the device freezes: trigger_pin")] = False


class FlowControl(_Table):
    """``[flow_control]``: how a receiver holds back a sender."""

    scheme: Literal["none", "ready-valid", "pause", "cumulative-credits", "pcie-credits"] = "none"
    unit_words: Annotated[int, Meta(ge=1, le=4096, description="credits: words a credit")] = 1
    flows: Annotated[int, Meta(ge=1, le=128)] = 1
    fifo_words: Annotated[int, Meta(ge=0, description="credits: the receiver's FIFO")] = 0


class Law(_Table):
    """``[law.NAME]``: a sum of counters and bank registers that must stand between two bounds.

    A bound of ``""`` is none. On map 1 a term may also be ``KIND.NAME`` (docs/card-file.md, "Laws of map 1"), and a
    bound such a term.
    """

    plus: Annotated[list[str], Meta(min_length=1)]
    minus: list[str] = []
    least: int | str | None = 0
    most: int | str | None = 0
    title: Annotated[str, Meta(max_length=60, description="its name for people")] = ""
    scope: Annotated[
        Literal["device", "flow", "tap", "event-log", "link", "link-flow"],
        Meta(description="map 1: what it holds for, each by itself"),
    ] = "device"
    modulus: Annotated[
        Literal["", "word", "credit", "sequence"],
        Meta(
            description="map 1: counts wrap at 2^32, as credit counters do, or as numbers of packets"
        ),
    ] = ""
    needs: Annotated[
        list[Literal["first-up", "first-arm", "all-kinds", "unwrapped"]],
        Meta(description="map 1: when it can be held against a capture"),
    ] = []
    doc: Doc = ""


class Transactions(_Table, rename={"in_": "in"}):
    """``[transactions.NAME]``: requests and answers that an ID ties together, at the taps where they leave and come.

    ``id``, ``kind`` and ``status`` are fields of both taps' format; ``taken``, ``returned``, ``timed_out``,
    ``refused`` and ``busy`` are events of this file, in whose value the ID has the lowest bits.
    """

    out: Annotated[str, Meta(description="tap where the card's own packets leave")]
    in_: Annotated[str, Meta(description="tap where packets come")]
    id: Annotated[str, Meta(description="field that holds the ID")]
    ids: Annotated[int, Meta(ge=1, le=65_536, description="how many there are")]
    kind: Annotated[str, Meta(description="field that tells requests from answers, by its names")]
    requests: Annotated[list[str], Meta(min_length=1, description="kinds that are answered")]
    answers: Annotated[list[str], Meta(min_length=1)]
    posted: Annotated[list[str], Meta(description="kinds with an ID and no answer")] = []
    status: Annotated[str, Meta(description="field of an answer that says how it went")] = ""
    good: Annotated[list[str], Meta(description="names of status for one that went well")] = []
    apart: Annotated[
        dict[str, list[str]], Meta(description="field: names; such packets have IDs of their own")
    ] = {}
    taken: Annotated[str, Meta(description="event: an ID is in use from here on")] = ""
    returned: Annotated[str, Meta(description="event: it is free again")] = ""
    timed_out: Annotated[str, Meta(description="event: a request is given up")] = ""
    refused: Annotated[list[str], Meta(description="events: access was not allowed")] = []
    busy: Annotated[str, Meta(description="event: a packet found no room and comes again")] = ""
    doc: Doc = ""


class Load(_Table):
    """``[load.NAME]``: what is offered to a host, what it makes of it, and what that takes of its processor.

    Each names an event that is logged again and again, all at the same moments, with a count since power-up (modulo 2
    to the bits of its value); those of time count cycles of the event's clock.
    """

    came: Annotated[str, Meta(description="event: packets that came")]
    delivered: Annotated[str, Meta(description="event: packets that their receiver got")]
    dropped: Annotated[str, Meta(description="event: packets dropped before the host did any work")]
    wasted: Annotated[str, Meta(description="event: packets dropped after the host worked on them")]
    called: Annotated[str, Meta(description="event: interrupts")] = ""
    handler: Annotated[str, Meta(description="event: cycles of the host in interrupts")] = ""
    occupied: Annotated[str, Meta(description="event: cycles in which the host was not idle")] = ""
    doc: Doc = ""


class WayPhase(_Table):
    """``[[way.NAME.phase]]``: from one event to a later one."""

    name: Annotated[str, Meta(max_length=40)]
    begin: str
    end: str


class Way(_Table):
    """``[way.NAME]``: the phases of what passes through the card, between events that are logged with one value for it.

    Phases stand in the order in which it meets them; their events are those of ``[event.NAME]``.
    """

    phase: Annotated[list[WayPhase], Meta(min_length=1, max_length=15)]
    title: Annotated[str, Meta(max_length=80)] = ""
    doc: Doc = ""


class Transport(_Table):
    """``[transport]``: the bus on which the registers are read."""

    bus: Literal["axi4-lite", "wishbone", "uartbone", "avalon-mm"] = "axi4-lite"
    base: Annotated[
        int, Meta(ge=0, le=(1 << 63) - 1, description="address of the device on it")
    ] = 0


class CardFile(_Table):
    """A whole card file."""

    schema: Annotated[int, Meta(ge=1, le=1, description="version of these tables")]
    card: Header
    clock: Annotated[dict[Name, Clock], Meta(min_length=1, max_length=32)]
    extends: Annotated[
        str,
        Meta(
            description="a card that ships, or FILE.toml: all that is not said here is from there"
        ),
    ] = ""
    tap: Annotated[
        dict[Name, Tap], Meta(max_length=64, description="none: a card of C hooks alone")
    ] = {}
    format: dict[Name, Format] = {}
    path: dict[Name, Path] = {}
    identity: Identity = field(default_factory=Identity)
    cause: Annotated[dict[Name, Cause], Meta(max_length=21)] = {}
    counter: Annotated[dict[Name, Counter], Meta(max_length=128)] = {}
    bank: Annotated[dict[Name, Bank], Meta(max_length=128)] = {}
    event: Annotated[dict[Name, Event], Meta(max_length=64)] = {}
    states: Annotated[dict[Name, States], Meta(max_length=16)] = {}
    histogram: Annotated[dict[Name, Histogram], Meta(max_length=16)] = {}
    trigger: Trigger = field(default_factory=Trigger)
    flow_control: FlowControl = field(default_factory=FlowControl)
    law: dict[Name, Law] = {}
    transactions: Annotated[dict[Name, Transactions], Meta(max_length=8)] = {}
    load: Annotated[dict[Name, Load], Meta(max_length=8)] = {}
    way: Annotated[dict[Name, Way], Meta(max_length=16)] = {}
    transport: Transport = field(default_factory=Transport)
