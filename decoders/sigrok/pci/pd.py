"""PCI for libsigrokdecode: a state machine over the rising edges of the clock.

Source: PCI Local Bus Specification 3.0, 3.1.1 (commands), 3.3 (transactions), 3.6.1 (DEVSEL#), 3.7.1 (parity).
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
    "memory-read",
    "memory-write",
    "reserved-8",
    "reserved-9",
    "config-read",
    "config-write",
    "memory-read-multiple",
    "dual-address",
    "memory-read-line",
    "memory-write-invalidate",
)
SPECIAL_CYCLE, DUAL_ADDRESS = 1, 13
CONTROLS = ("clk", "frame", "irdy", "trdy", "devsel", "stop")
FIRST_CBE, FIRST_AD, PAR = 6, 10, 42
ADDRESS, DATA, TRANSACTION, ERROR = range(4)


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
        self.phase_at = 0
        self.data_phases = self.size = 0
        self.selected = False
        self.stop: str | None = None

    def text(self, termination: str) -> str:
        """Return the transaction in words."""
        about = f"{COMMANDS[self.command]} {self.address:0{self.digits}x}"
        return f"{about}: {self.size} B in {self.data_phases}, {termination}"


class Decoder(srd.Decoder):  # type: ignore[misc]  # a class of sigrok, which has no types
    """Takes the bus clock by clock and says phases and transactions."""

    api_version = 3
    id = "pci"
    name = "PCI"
    longname = "Peripheral Component Interconnect"
    desc = "PCI bus of 32 bits: phases and transactions."
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
        ("data", "Data phase"),
        ("transaction", "Transaction"),
        ("error", "Error"),
    )
    annotation_rows = (
        ("phases", "Phases", (ADDRESS, DATA)),
        ("transactions", "Transactions", (TRANSACTION,)),
        ("errors", "Errors", (ERROR,)),
    )

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.idle = False  # the bus was seen idle, so that a transaction can begin
        self.open: Any = None
        self.second_address = False

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
            if self.open is not None:
                self.go_idle(now)
            self.idle, self.open, self.second_address = True, None, False
        elif self.open is None:
            if self.idle and now.frame:
                self.address(now, after)
            self.idle = False
        elif self.second_address:
            self.address(now, after)
        else:
            self.data(now, after)

    def address(self, now: Clock, after: Clock) -> None:
        self.check(now, after, "address-parity")
        self.say(now.sample, after.sample, ADDRESS, f"{COMMANDS[now.cbe]} {now.ad:08x}")
        if self.open is None:
            self.open = Transaction(now)
            self.second_address = now.cbe == DUAL_ADDRESS
        else:
            self.open.command = now.cbe
            self.open.address |= now.ad << 32
            self.open.digits = 16
            self.second_address = False
        self.open.phase_at = after.sample

    def data(self, now: Clock, after: Clock) -> None:
        open_ = self.open
        open_.selected |= now.devsel
        if now.stop and not now.devsel:
            open_.stop = "target-abort"
        message = open_.command == SPECIAL_CYCLE and now.irdy and not open_.data_phases
        ended = now.irdy and (now.trdy or now.stop)
        if message or (ended and now.trdy):
            self.check(now, after, "data-parity")
            enables = ~now.cbe & 0xF
            self.say(
                open_.phase_at,
                after.sample,
                DATA,
                f"{now.ad:08x} enables {enables:04b}",
            )
            open_.data_phases += 1
            open_.size += enables.bit_count()
        if not ended:
            return
        open_.phase_at = after.sample
        if now.stop and open_.stop is None:
            if now.trdy:
                open_.stop = "disconnect-with-data"
            else:
                open_.stop = "disconnect-without-data" if open_.data_phases else "retry"
        if not now.frame:
            self.say(open_.begin, after.sample, TRANSACTION, open_.text(open_.stop or "completion"))
            self.open = None
            # The next one may begin at once: fast back-to-back.
            self.idle = True

    def go_idle(self, now: Clock) -> None:
        """End a transaction that had no last data phase: nobody was selected, or a rule is broken."""
        if self.open.selected:
            self.say(self.open.begin, now.sample, ERROR, "broken-transaction")
            return
        termination = "completion" if self.open.command == SPECIAL_CYCLE else "master-abort"
        self.say(self.open.begin, now.sample, TRANSACTION, self.open.text(termination))
