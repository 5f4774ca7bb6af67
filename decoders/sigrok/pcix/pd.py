"""PCI-X for libsigrokdecode: a state machine over the rising edges of the clock.

Source: PCI-X Addendum to the PCI Local Bus Specification 1.0b, chapter 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sigrokdecode as srd  # type: ignore[import-not-found]  # exists inside sigrok only

COMMANDS = (
    "interrupt-acknowledge",
    "special-cycle",
    "io-read",
    "io-write",
    "reserved-4",
    "reserved-5",
    "memory-read-dword",
    "memory-write",
    "alias-memory-read-block",
    "alias-memory-write-block",
    "config-read",
    "config-write",
    "split-completion",
    "dual-address",
    "memory-read-block",
    "memory-write-block",
)
SPECIAL_CYCLE, SPLIT_COMPLETION, DUAL_ADDRESS = 1, 12, 13
BURSTS = (7, 8, 9, 12, 14, 15)
MESSAGES = {
    (0, 0): "write completed",
    (1, 0): "bridge: master abort",
    (1, 1): "bridge: target abort",
    (1, 2): "bridge: write data parity error",
    (2, 0): "completer: byte count out of range",
    (2, 1): "completer: write data parity error",
}
# What a target says with DEVSEL#, STOP# and TRDY# when no data goes over.
WITHOUT_DATA = {
    (False, False, True): "split",
    (False, True, False): "target-abort",
    (True, True, False): "retry",
}
CONTROLS = ("clk", "frame", "irdy", "trdy", "devsel", "stop")
FIRST_CBE, FIRST_AD, PAR = 6, 10, 42
WIDTH = 4  # bytes of a data phase
ADDRESS, ATTRIBUTE, DATA, TRANSACTION, SPLIT, ERROR = range(6)


def channel(name: str) -> dict[str, str]:
    """Return the declaration of a channel."""
    return {"id": name, "name": name.upper(), "desc": name.upper()}


class Clock:
    """What the bus says at one rising edge of the clock."""

    def __init__(self, sample: int, pins: Sequence[int]) -> None:
        self.sample = sample
        self.frame, self.irdy, self.trdy, self.devsel, self.stop = (
            not pin for pin in pins[1:FIRST_CBE]
        )
        self.cbe = sum(pin << bit for bit, pin in enumerate(pins[FIRST_CBE:FIRST_AD]))
        self.ad = sum(pin << bit for bit, pin in enumerate(pins[FIRST_AD:PAR]))
        self.par = pins[PAR]

    def fits(self, after: Clock) -> bool:
        """Return whether the parity that comes a clock later is even."""
        return (self.ad.bit_count() + self.cbe.bit_count() + after.par) % 2 == 0


class Transaction:
    """What is known of a transaction so far."""

    def __init__(self, clock: Clock) -> None:
        self.begin = clock.sample
        self.command = clock.cbe
        self.address = clock.ad
        self.digits = 8
        self.message = self.selected = False
        self.first: int | None = None  # data
        self.data_phases = 0
        self.ends: str | None = None
        self.requester = ""
        self.tag = self.count = self.needed = 0

    def attributes(self, clock: Clock) -> None:
        word = clock.ad
        if self.command == SPLIT_COMPLETION:
            self.message = bool(word >> 29 & 1)
            who, self.tag = self.address >> 8 & 0xFFFF, self.address >> 24 & 0x1F
            self.address &= 0x7F
        else:
            who, self.tag = word >> 8 & 0xFFFF, word >> 24 & 0x1F
        self.requester = f"{who >> 8:02x}:{who >> 3 & 0x1F:02x}.{who & 7}"
        if self.command in BURSTS:
            self.count = clock.cbe << 8 | word & 0xFF or 4096
            self.needed = -(-(self.address % WIDTH + self.count) // WIDTH)
        else:
            self.count = 4 - clock.cbe.bit_count()
            self.needed = 1

    def size(self) -> int:
        if self.command not in BURSTS:
            return self.count if self.data_phases else 0
        if not self.data_phases:
            return 0
        return min(self.count, self.data_phases * WIDTH - self.address % WIDTH)

    def about(self) -> str:
        address = f"{self.address:0{self.digits}x}"
        return f"{COMMANDS[self.command]} {address} of {self.requester} tag {self.tag}"

    def termination(self) -> str | None:
        if not self.selected:
            return "completion" if self.command == SPECIAL_CYCLE else "master-abort"
        if self.ends in WITHOUT_DATA.values():
            return self.ends
        if self.data_phases >= self.needed:
            return "completion"
        if not self.data_phases:
            return None
        return self.ends or "initiator-disconnect"

    def status(self) -> str:
        if not self.message or self.first is None:
            return ""
        kind, index = self.first >> 28, self.first >> 20 & 0xFF
        if kind == 2 and index & 0x80:
            return f"completer: device specific error {index:#x}"
        return MESSAGES.get((kind, index), f"class {kind} index {index:#x}")


class Decoder(srd.Decoder):  # type: ignore[misc]  # a class of sigrok, which has no types
    """Takes the bus clock by clock and says phases and transactions."""

    api_version = 3
    id = "pcix"
    name = "PCI-X"
    longname = "Peripheral Component Interconnect eXtended"
    desc = "PCI-X bus of 32 bits: phases, transactions, splits."
    license = "gplv3+"
    inputs = ["logic"]  # noqa: RUF012 - sigrok reads plain class attributes
    outputs: list[str] = []  # noqa: RUF012
    tags = ["PC"]  # noqa: RUF012
    channels = tuple(
        channel(name)
        for name in (
            *CONTROLS,
            *(f"cbe{bit}" for bit in range(4)),
            *(f"ad{bit}" for bit in range(32)),
        )
    )
    optional_channels = (channel("par"),)
    annotations = (
        ("address", "Address phase"),
        ("attribute", "Attribute phase"),
        ("data", "Data phase"),
        ("transaction", "Transaction"),
        ("split", "Split transaction"),
        ("error", "Error"),
    )
    annotation_rows = (
        ("phases", "Phases", (ADDRESS, ATTRIBUTE, DATA)),
        ("transactions", "Transactions", (TRANSACTION,)),
        ("splits", "Split transactions", (SPLIT,)),
        ("errors", "Errors", (ERROR,)),
    )

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.idle = False  # the bus was seen idle, so that a transaction can begin
        self.open: Any = None
        self.expect = ADDRESS
        # Requester and tag -> begin, text, bytes to come, bytes so far, completions.
        self.splits: dict[tuple[str, int], list[Any]] = {}

    def start(self) -> None:
        self.out_ann = self.register(srd.OUTPUT_ANN)

    def decode(self) -> None:
        self.has_par = self.has_channel(PAR)
        last: Clock | None = None
        while True:
            pins = self.wait({0: "r"})
            clock = Clock(self.samplenum, pins)
            # A clock is judged when the next one is there, which ends it and has its parity.
            if last is not None:
                self.take(last, clock)
            last = clock

    def say(self, begin: int, end: int, what: int, text: str) -> None:
        self.put(begin, end, self.out_ann, [what, [text]])

    def check(self, now: Clock, after: Clock, what: str) -> None:
        if self.has_par and not now.fits(after):
            self.say(now.sample, after.sample, ERROR, what)

    def take(self, now: Clock, after: Clock) -> None:
        if not now.frame and not now.irdy:
            if self.open is not None and self.expect == DATA:
                self.end(now.sample)
            self.idle, self.open = True, None
        elif self.open is None:
            if self.idle and now.frame:
                self.open, self.expect = Transaction(now), ADDRESS
                self.header(now, after)
            self.idle = False
        elif self.expect == DATA:
            self.data(now, after)
        else:
            self.header(now, after)

    def header(self, now: Clock, after: Clock) -> None:
        if self.expect == ATTRIBUTE:
            self.check(now, after, "attribute-parity")
            self.say(now.sample, after.sample, ATTRIBUTE, f"attribute {now.ad:08x}")
            self.open.attributes(now)
            self.expect = DATA
            return
        self.check(now, after, "address-parity")
        self.say(now.sample, after.sample, ADDRESS, f"{COMMANDS[now.cbe]} {now.ad:08x}")
        if self.open.begin != now.sample:
            self.open.command = now.cbe
            self.open.address |= now.ad << 32
            self.open.digits = 16
        elif now.cbe == DUAL_ADDRESS:
            return
        self.expect = ATTRIBUTE

    def data(self, now: Clock, after: Clock) -> None:
        open_ = self.open
        if open_.command == SPECIAL_CYCLE and now.irdy and not open_.data_phases:
            self.put_data(now, after)
        if not open_.selected:
            # The clock of DEVSEL# is the target response phase.
            open_.selected = now.devsel
            return
        over = open_.ends not in (None, "disconnect-at-adb") or open_.data_phases >= open_.needed
        if open_.ends == "disconnect-at-adb" and (open_.address + open_.size()) % 128 == 0:
            over = True
        if over:
            return
        said = (now.devsel, now.stop, now.trdy)
        if said in WITHOUT_DATA:
            open_.ends = WITHOUT_DATA[said]
        elif now.trdy and now.irdy:
            if now.stop:
                open_.ends = "disconnect-at-adb" if now.devsel else "single-data-disconnect"
            self.put_data(now, after)

    def put_data(self, now: Clock, after: Clock) -> None:
        self.check(now, after, "data-parity")
        self.say(now.sample, after.sample, DATA, f"data {now.ad:08x}")
        if self.open.first is None:
            self.open.first = now.ad
        self.open.data_phases += 1

    def end(self, sample: int) -> None:
        open_ = self.open
        termination = open_.termination()
        if termination is None:
            self.say(open_.begin, sample, ERROR, "broken-transaction")
            return
        status = open_.status()
        text = f"{open_.about()}: {open_.size()} of {open_.count} B, {termination}"
        self.say(open_.begin, sample, TRANSACTION, ", ".join(filter(None, (text, status))))
        key = open_.requester, open_.tag
        if termination == "split":
            reads = open_.command in (0, 2, 6, 8, 10, 14)
            wanted = (open_.count if open_.command in BURSTS else 4) if reads else 0
            self.splits[key] = [open_.begin, open_.about(), wanted, 0, 0]
        elif open_.command == SPLIT_COMPLETION and open_.data_phases:
            if key not in self.splits:
                self.say(open_.begin, sample, ERROR, "unexpected-completion")
                return
            split = self.splits[key]
            split[4] += 1
            if not open_.message:
                split[3] += open_.size()
            if open_.message or split[3] >= split[2]:
                text = f"{split[1]}: {split[3]} B in {split[4]}"
                self.say(split[0], sample, SPLIT, ", ".join(filter(None, (text, status))))
                del self.splits[key]
