"""A PCI bus: an initiator and a target, each a machine that sees the bus at a clock and drives the next.

Written from the PCI Local Bus Specification 3.0, chapter 3. What a transaction comes to follows from what the two are
told to do, not from the lines.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

from tests.decoders.bus.lines import Lines, parities

# 3.1.1
READS = {0b0000, 0b0010, 0b0110, 0b1010, 0b1100, 0b1110}
MEMORY = {0b0110, 0b0111, 0b1100, 0b1110, 0b1111}
SPECIAL_CYCLE, DUAL_ADDRESS, WRITE_INVALIDATE = 0b0001, 0b1101, 0b1111
NAMES = {
    0b0000: "interrupt-acknowledge",
    0b0001: "special-cycle",
    0b0010: "io-read",
    0b0011: "io-write",
    0b0110: "memory-read",
    0b0111: "memory-write",
    0b1010: "config-read",
    0b1011: "config-write",
    0b1100: "memory-read-multiple",
    0b1110: "memory-read-line",
    0b1111: "memory-write-invalidate",
}


@dataclass(frozen=True)
class Request:
    """What an initiator wants: ``data`` are values with the bytes that are enabled."""

    command: int
    address: int
    data: Sequence[tuple[int, int]]
    waits: Sequence[int]  # clocks before IRDY#, of each data phase
    dual: bool = False
    wide: bool = False
    lock: bool = False
    idsel: int = 0
    gnt_gone: bool = False  # GNT# is taken away during the transaction


@dataclass(frozen=True)
class Answer:
    """What a target does: DEVSEL# at clock 1 to 4 after the address phase, or never."""

    devsel: int | None
    waits: Sequence[int]  # clocks before TRDY# or STOP#, of each data phase
    stop: str = ""  # "with" data, "without" data (a retry in the first phase), "abort"
    stop_at: int = 0  # data phase
    ack64: bool = False


@dataclass
class Truth:
    """What the transaction came to; clocks are counted from the first of the bus."""

    command: str
    address: int
    dual: bool
    wide: bool
    data: list[int]
    enables: list[int]
    termination: str
    devsel: str
    initiator_waits: int
    target_waits: int
    first: int
    data_clock: int = -1
    end: int = -1
    locked: bool = False
    idsel: bool = False
    preempted: bool = False
    retries: int = 0
    first_try: int = -1
    phases: list[tuple[int, int]] = field(default_factory=list)  # clocks at which data went over


@dataclass(frozen=True)
class _Drive:
    """What one side puts on the bus; None is not driven."""

    frame: bool = False
    irdy: bool = False
    trdy: bool = False
    devsel: bool = False
    stop: bool = False
    req64: bool = False
    ack64: bool = False
    lock: bool = False
    ad: int | None = None
    cbe: int | None = None


_Machine = Generator[_Drive, Lines, None]


def _initiator(request: Request) -> _Machine:
    writes = request.command not in READS
    low, high = request.address & 0xFFFF_FFFF, request.address >> 32
    asks64 = {"req64": request.wide}
    if request.dual:  # 3.9
        yield _Drive(frame=True, ad=low, cbe=0xF0 | DUAL_ADDRESS, **asks64)
        yield _Drive(frame=True, ad=high, cbe=0xF0 | request.command, lock=False, **asks64)
    else:
        yield _Drive(frame=True, ad=low, cbe=0xF0 | request.command, **asks64)
    clock = 0
    selected = stopped = False
    for number, (value, enables) in enumerate(request.data):
        final = number == len(request.data) - 1
        waits = request.waits[number]
        put = value if writes else None
        cbe = ~enables & 0xFF
        while True:
            clock += 1
            # A master that nobody selects within four clocks gives up (3.3.3.1).
            gives_up = not selected and clock > 4
            irdy = waits <= 0 or gives_up
            # FRAME# goes only together with IRDY# (3.3.1 rule 3); stays while a data phase is open.
            last_one = final or stopped or gives_up
            frame = not (irdy and last_one) if not gives_up else False
            seen = yield _Drive(
                frame=frame,
                irdy=irdy,
                ad=put,
                cbe=cbe,
                lock=request.lock,
                req64=request.wide and frame,
            )
            waits -= 1
            selected |= seen.devsel
            stopped |= seen.stop
            if gives_up or (not frame and not selected and clock >= 5):
                return
            if irdy and (seen.trdy or seen.stop):
                break
            if not selected and clock >= 4 and not frame:
                # FRAME# is gone already; IRDY# is all that is left.
                return
        if not frame:
            return
        if seen.stop:
            # FRAME# goes in the next clock, while the target holds STOP# (3.3.3.2.1).
            yield _Drive(irdy=True, ad=put, cbe=cbe)
            return


def _target(request: Request, answer: Answer, is_wide: bool) -> _Machine:
    if answer.devsel is None:
        while True:
            yield _Drive()
    reads = request.command in READS
    clock = 0
    number = 0
    while True:
        value = request.data[min(number, len(request.data) - 1)][0]
        waits = answer.waits[number]
        stops = bool(answer.stop) and answer.stop_at == number
        while True:
            clock += 1
            ready = waits <= 0
            aborts = stops and ready and answer.stop == "abort"
            devsel = clock >= answer.devsel and not aborts
            trdy = ready and (not stops or answer.stop == "with")
            seen = yield _Drive(
                devsel=devsel,
                ack64=devsel and is_wide,
                trdy=trdy,
                stop=ready and stops,
                # AD of a read turns around first (3.3.1).
                ad=value if reads and devsel and clock > 1 else None,
            )
            waits -= 1
            if seen.irdy and ready:
                break
        if not seen.frame:
            return
        if stops:
            yield _Drive(devsel=not aborts, stop=True, ack64=is_wide and not aborts)
            return
        number += 1


class PciBus:
    """Runs transactions one after the other and keeps the lines of every clock."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self.clocks: list[Lines] = []
        self.truth: list[Truth] = []
        self.idle(3)

    def idle(self, clocks: int) -> None:
        for _ in range(clocks):
            last = self.clocks[-1] if self.clocks else Lines(ad=self._rng.getrandbits(64))
            self.clocks.append(Lines(ad=last.ad, cbe=last.cbe))

    def run(self, request: Request, answer: Answer) -> Truth:
        """Let the initiator and the target do a transaction; no idle clock follows."""
        is_wide = request.wide and answer.ack64
        first = len(self.clocks)
        initiator = _initiator(request)
        target: _Machine | None = None
        drive = next(initiator)
        answered = _Drive()
        addresses = 1 + request.dual
        while True:
            self.clocks.append(self._lines(request, drive, answered, len(self.clocks) - first))
            seen = self.clocks[-1]
            try:
                drive = initiator.send(seen)
            except StopIteration:
                break
            addresses -= 1
            if addresses == 0:
                target = _target(request, answer, is_wide)
                answered = next(target)
            elif target is not None:
                try:
                    answered = target.send(seen)
                except StopIteration:
                    answered = _Drive()
        truth = self._came_to(request, answer, is_wide, first)
        self.truth.append(truth)
        return truth

    def drawn(self) -> list[Lines]:
        """Return the lines of all clocks, with their parity."""
        return parities(self.clocks)

    def _lines(self, request: Request, drive: _Drive, answered: _Drive, clock: int) -> Lines:
        last = self.clocks[-1]
        ad = drive.ad if drive.ad is not None else answered.ad
        return Lines(
            frame=drive.frame,
            irdy=drive.irdy,
            trdy=answered.trdy,
            devsel=answered.devsel,
            stop=answered.stop,
            ad=last.ad if ad is None else last.ad & ~0xFFFF_FFFF | ad if ad < 1 << 32 else ad,
            cbe=last.cbe if drive.cbe is None else drive.cbe,
            req64=drive.req64,
            ack64=answered.ack64,
            lock=drive.lock,
            gnt=not (request.gnt_gone and clock > 0),
            idsel=request.idsel if clock == 0 else 0,
        )

    def _came_to(self, request: Request, answer: Answer, is_wide: bool, first: int) -> Truth:
        bytes_ = 0xFF if is_wide else 0x0F
        mask = (1 << 64) - 1 if is_wide else 0xFFFF_FFFF
        end = len(self.clocks)
        if answer.devsel is None:
            passed = 0
            ended = "master-abort"
        elif not answer.stop or answer.stop_at >= len(request.data):
            passed = len(request.data)
            ended = "completion"
        else:
            passed = answer.stop_at + (answer.stop == "with")
            ended = {"with": "disconnect-with-data", "abort": "target-abort"}.get(
                answer.stop, "disconnect-without-data" if passed else "retry"
            )
        done = request.data[:passed]
        truth = Truth(
            command=NAMES[request.command],
            address=request.address,
            dual=request.dual,
            wide=is_wide and answer.devsel is not None,
            data=[value & mask for value, _ in done],
            enables=[enables & bytes_ for _, enables in done],
            termination=ended,
            devsel=["", "fast", "medium", "slow", "subtractive"][answer.devsel or 0],
            initiator_waits=0,
            target_waits=0,
            first=first,
            end=end,
            locked=request.lock,
            idsel=bool(request.idsel),
        )
        # Each data phase lasts until both are ready (3.3.1).
        clock = first + 1 + request.dual
        stops = answer.stop != "" and answer.stop_at < len(request.data)
        tried = passed + (stops and answer.stop != "with") if answer.devsel else 0
        for number in range(tried):
            ours, theirs = request.waits[number], answer.waits[number]
            truth.initiator_waits += ours
            truth.target_waits += theirs
            begin, clock = clock, clock + max(ours, theirs) + 1
            if number < passed:
                truth.phases.append((begin, clock - 1))
        if truth.phases:
            truth.data_clock = truth.phases[0][1]
        if request.command == SPECIAL_CYCLE:
            value, enables = request.data[0]
            at = clock + min(4, request.waits[0])
            truth.termination = "completion"
            truth.data, truth.enables = [value & mask], [enables & bytes_]
            truth.phases, truth.data_clock = [(clock, at)], at
        if answer.devsel is None:
            # All of its clocks are waits for a target; IRDY# comes by the fifth (3.3.3.1).
            truth.initiator_waits = min(4, request.waits[0])
            truth.target_waits = end - clock
        elif ended == "completion":
            # GNT# goes after the address phase; seen gone in the clock before FRAME# goes.
            frame_goes = truth.phases[-1][0] + request.waits[passed - 1]
            truth.preempted = request.gnt_gone and frame_goes - 1 > first
        return truth


def random_request(rng: random.Random, *, wide: bool = False) -> Request:
    """Return a legal request."""
    command = rng.choice(sorted(NAMES))
    memory = command in MEMORY
    size = rng.choice([1, 1, 2, 3, 8]) if memory else 1
    wide = wide and memory and rng.random() < 0.7
    bits = 64 if wide else 32
    address = rng.getrandbits(32) & ~3
    if command in (0b0010, 0b0011):
        address |= rng.randrange(4)  # I/O addresses are of bytes (3.2.2.1)
    dual = memory and rng.random() < 0.2
    if dual:
        address |= rng.randrange(1, 1 << 32) << 32
    full = 0xFF
    enables = [
        full if command == WRITE_INVALIDATE else rng.choice([full, rng.randrange(256)])
        for _ in range(size)
    ]
    return Request(
        command,
        address,
        [(rng.getrandbits(bits), enable) for enable in enables],
        [rng.choice([0, 0, 0, 1, 2, 5]) for _ in range(size)],
        dual=dual,
        wide=wide,
        lock=rng.random() < 0.1,
        idsel=int(command in (0b1010, 0b1011)),
        gnt_gone=rng.random() < 0.2,
    )


def random_answer(rng: random.Random, request: Request) -> Answer:
    """Return a legal answer to a request."""
    size = len(request.data)
    if request.command == SPECIAL_CYCLE or rng.random() < 0.1:
        return Answer(None, [])
    devsel = rng.randint(1, 4)
    waits = [rng.choice([0, 0, 1, 3, 6]) for _ in range(size)]
    turnaround = int(request.command in READS)
    waits[0] = max(waits[0], devsel - 1, turnaround)
    stop = rng.choice(["", "", "", "with", "without", "abort"])
    stop_at = rng.randrange(size)
    if stop == "abort" and stop_at == 0:
        waits[0] = max(waits[0], devsel)  # DEVSEL# was asserted for a clock at least
    return Answer(devsel, waits, stop, stop_at, ack64=rng.random() < 0.7)


def random_traffic(seed: int, count: int, *, wide: bool = False) -> PciBus:
    """Return a bus after legal traffic, in which what was retried is repeated among the rest."""
    rng = random.Random(seed)
    bus = PciBus(seed)
    again: list[tuple[Request, int, int]] = []  # with its first try, and how often it was retried
    while count or again:
        if again and (not count or rng.random() < 0.4):
            request, first_try, retries = again.pop(rng.randrange(len(again)))
        else:
            request, first_try, retries = random_request(rng, wide=wide), len(bus.truth), 0
            count -= 1
        answer = random_answer(rng, request)
        if not count and answer.stop == "without":
            answer = replace(answer, stop="")
        truth = bus.run(request, answer)
        truth.retries, truth.first_try = retries, first_try
        if truth.termination == "retry":
            again.append((request, first_try, retries + 1))
        # 3.4.2: without an idle clock between them is legal too, when the same side writes.
        quick = answer.devsel is not None and truth.termination == "completion"
        bus.idle(rng.choice([0, 1, 1, 2, 5]) if quick else 2)
    bus.idle(3)
    return bus
