"""A PCI-X bus: what a requester, a completer and their bus put on the lines at each clock, and what that comes to.

Written from the PCI-X Addendum 1.0b, chapter 2: the clocks of a transaction are worked out from its rules (attribute
phase, decode speeds, target signals, waits in pairs, disconnects at boundaries of 128 B), and drawn afterwards.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.decoders.bus.lines import Lines, parities

BOUNDARY_B = 128
DUAL_ADDRESS, SPLIT_COMPLETION = 0b1101, 0b1100
DWORDS = {
    0b0000: "interrupt-acknowledge",
    0b0010: "io-read",
    0b0011: "io-write",
    0b0110: "memory-read-dword",
    0b1010: "config-read",
    0b1011: "config-write",
}
BURSTS = {
    0b0111: "memory-write",
    0b1100: "split-completion",
    0b1110: "memory-read-block",
    0b1111: "memory-write-block",
}
NAMES = DWORDS | BURSTS
BRINGS_DATA = {0b0111, 0b1111, 0b1100, 0b0011, 0b1011}  # the initiator does
DWORD_READS = {0b0000, 0b0010, 0b0110, 0b1010}
# Clock of DEVSEL# after the last address phase -> decode speed.
SPEEDS = {2: "A", 3: "B", 4: "C", 6: "subtractive"}


@dataclass(frozen=True)
class Plan:
    """One transaction. ``ends`` says how: after how many data phases, and by whom."""

    command: int
    address: int  # as driven; of a Split Completion its fields
    attributes: int
    enables: int  # C/BE# of the attribute phase
    data: Sequence[int]  # of the data phases that go over
    devsel: int | None  # clock, None for nobody
    waits: int = 0
    ends: str = "completion"
    announced: int = 0  # data phase in which the target says disconnect at next ADB
    slow_end: int = 0  # clocks more until FRAME# goes after a target's signal
    dual: bool = False
    wide: bool = False
    ack64: bool = False


@dataclass
class Truth:
    command: str
    address: int
    dual: bool
    wide: bool
    requester: str
    tag: int
    completer: str
    byte_count: int
    data: list[int]
    size_B: int
    termination: str
    devsel: str
    target_waits: int
    first: int
    end: int
    data_clock: int
    split_of: int = -1
    status: str = ""
    modified: bool = False


@dataclass
class Split:
    """A request that was split, and what came for it."""

    request: int
    command: str
    address: int
    requester: str
    tag: int
    byte_count: int
    first: int
    split_end: int
    completer: str = ""
    received_B: int = 0
    completions: int = 0
    completion: int = -1
    answer: int = -1
    end: int = -1
    status: str = ""
    error: str = ""
    # What the completer still has to do.
    at: int = field(default=0, repr=False)
    is_burst: bool = field(default=False, repr=False)


def function(bus: int, device: int, number: int) -> tuple[int, str]:
    """Return an ID of 16 bits, and as it is written."""
    return bus << 8 | device << 3 | number, f"{bus:02x}:{device:02x}.{number}"


class PcixBus:
    """Draws transactions one after the other and keeps the lines of every clock."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.clocks: list[Lines] = []
        self.truth: list[Truth] = []
        self.splits: list[Split] = []  # in the order of their end
        self.open: list[Split] = []
        self.idle(3)

    def idle(self, clocks: int) -> None:
        for _ in range(clocks):
            last = self.clocks[-1] if self.clocks else Lines(ad=self.rng.getrandbits(64))
            self.clocks.append(Lines(ad=last.ad, cbe=last.cbe))

    def drawn(self) -> list[Lines]:
        return parities(self.clocks)

    def run(self, plan: Plan) -> tuple[int, int, int]:
        """Draw a transaction; return its first clock, that of its first data (-1) and the idle one after it."""
        first = len(self.clocks)
        addresses = 1 + plan.dual
        wide = plan.wide and plan.ack64
        # Clocks from here on are counted from the last address phase.
        signal = None if plan.devsel is None else plan.devsel + 1 + plan.waits
        in_data = plan.ends in ("completion", "initiator-disconnect", "disconnect-at-adb")
        if signal is None:
            frame_goes, irdy_goes = 7, 8  # nobody by clock 6
        elif in_data:
            last = signal + len(plan.data) - 1
            # FRAME# goes one clock before the last data phase, but never before IRDY# comes.
            frame_goes, irdy_goes = max(3, last - 1), last + 1
        else:
            frame_goes = signal + 1 + plan.slow_end
            irdy_goes = frame_goes + 1
        for clock in range(-addresses + 1, irdy_goes):
            lines = Lines(
                frame=clock < frame_goes,
                irdy=clock >= 3,
                ad=self.clocks[-1].ad,
                cbe=0xFF,
                req64=plan.wide and clock < frame_goes,
            )
            if clock <= 1:
                lines = replace(lines, **self._header(plan, clock, addresses))
            elif signal is not None and plan.devsel is not None:
                lines = replace(lines, **self._answer(plan, clock, plan.devsel, signal, in_data))
                if plan.command in BRINGS_DATA:
                    # While the target waits the initiator goes to and fro between its first two.
                    number = (
                        clock - signal if clock >= signal else max(0, clock - plan.devsel - 1) % 2
                    )
                    lines = replace(lines, ad=self._driven(plan, number, wide, lines.ad))
                elif clock >= signal and plan.ends == "split":
                    lines = replace(lines, ad=lines.ad | 0xFFFF_FFFF)
                elif clock >= signal:
                    lines = replace(lines, ad=self._driven(plan, clock - signal, wide, lines.ad))
            self.clocks.append(lines)
        end = len(self.clocks)
        self.idle(self.rng.choice([1, 1, 2, 4]))
        at = first + addresses - 1
        return first, -1 if signal is None or not plan.data else at + signal, end

    @staticmethod
    def _driven(plan: Plan, number: int, wide: bool, before: int) -> int:
        if not plan.data:
            return before
        value = plan.data[min(number, len(plan.data) - 1)]
        return value if wide else before & ~0xFFFF_FFFF | value

    def _header(self, plan: Plan, clock: int, addresses: int) -> dict[str, Any]:
        high = self.clocks[-1].ad & ~0xFFFF_FFFF
        if clock == 1:
            return {"ad": high | plan.attributes, "cbe": 0xF0 | plan.enables}
        if addresses == 2:
            if clock < 0:
                return {"ad": high | plan.address & 0xFFFF_FFFF, "cbe": 0xF0 | DUAL_ADDRESS}
            return {"ad": high | plan.address >> 32, "cbe": 0xF0 | plan.command}
        return {"ad": high | plan.address, "cbe": 0xF0 | plan.command}

    @staticmethod
    def _answer(plan: Plan, clock: int, devsel: int, signal: int, in_data: bool) -> dict[str, bool]:
        """Return the target's three lines: target data phase signaling."""
        if clock < devsel:
            return {}
        acknowledge = {"ack64": plan.wide and plan.ack64}
        if clock < signal:
            return {"devsel": True} | acknowledge
        if in_data:
            announced = plan.ends == "disconnect-at-adb" and clock - signal >= plan.announced
            return {"devsel": True, "trdy": True, "stop": announced} | acknowledge
        if clock > signal:
            return {}
        return {
            "single-data-disconnect": {"trdy": True, "stop": True},
            "target-abort": {"stop": True},
            "retry": {"devsel": True, "stop": True},
            "split": {"trdy": True},
        }[plan.ends]

    def request(
        self, command: int, *, wide: bool, ends: str, requester: int, name: str, tag: int
    ) -> None:
        """Let a requester do a transaction of its own, with random address, size and answer."""
        rng = self.rng
        burst = command in BURSTS
        dual = burst and rng.random() < 0.2
        wide = wide and burst and rng.random() < 0.7
        ack64 = rng.random() < 0.7
        width_B = 8 if wide and ack64 else 4
        address = rng.getrandbits(32)
        if not burst:
            address &= ~3
        if dual:
            address |= rng.randrange(1, 1 << 32) << 32
        count = rng.choice([1, 4, 7, 64, 300, 300, 512, 700]) if burst else 4
        attributes = requester << 8 | tag << 24 | (count & 0xFF if burst else 0)
        enables = count >> 8 if burst else rng.randrange(16)
        devsel = None if ends == "master-abort" else rng.choice(list(SPEEDS))
        waits = rng.choice([0, 0, 2, 4])
        if command not in (0b0111, 0b1111):
            waits += rng.randrange(2)
        whole = -(-(address % width_B + count) // width_B) if burst else 1
        size, phases, announced, ends = self._cut(address, count, whole, width_B, ends)
        if not burst:
            size = phases * (4 - enables.bit_count())
        plan = Plan(
            command,
            address,
            attributes,
            enables,
            [rng.getrandbits(8 * width_B) for _ in range(phases)],
            devsel,
            waits,
            ends,
            announced,
            rng.randrange(2),
            dual,
            wide,
            ack64,
        )
        number = len(self.truth)
        first, data, end = self.run(plan)
        self._tell(
            plan,
            name,
            tag,
            "",
            count if burst else 4 - enables.bit_count(),
            size,
            first,
            data,
            end,
            address,
        )
        if ends == "split":
            wanted = 0 if command in (0b0011, 0b1011) else count
            split = Split(number, NAMES[command], address, name, tag, wanted, first, end)
            split.at, split.is_burst = address, burst
            self.open.append(split)

    def _cut(
        self, address: int, count: int, whole: int, width_B: int, ends: str
    ) -> tuple[int, int, int, str]:
        """Return bytes and data phases that go over, where a disconnect is announced, and how it ends."""
        if ends in ("retry", "split", "target-abort", "master-abort"):
            return 0, 0, 0, ends
        if ends == "single-data-disconnect" and whole > 1:
            return min(count, width_B - address % width_B), 1, 0, ends
        if ends in ("initiator-disconnect", "disconnect-at-adb"):
            first = BOUNDARY_B - address % BOUNDARY_B
            bounds = list(range(first, count, BOUNDARY_B))
            # In the last phases before a boundary it would be the next one.
            bounds = [size for size in bounds if (address % width_B + size) // width_B >= 4]
            if bounds:
                size = self.rng.choice(bounds)
                phases = (address % width_B + size) // width_B
                before = (address % width_B + size - BOUNDARY_B) // width_B
                return size, phases, self.rng.randint(max(0, before), phases - 4), ends
        return count, whole, 0, "completion"

    def complete(self, split: Split, completer: int, name: str, *, wide: bool, how: str) -> None:
        """Let a completer answer: with the data or a part of it, or with a message."""
        rng = self.rng
        left = split.byte_count - split.received_B
        message = (
            how if split.byte_count and how in MESSAGES else "" if split.byte_count else "written"
        )
        if not split.byte_count and how in MESSAGES:
            message = how
        wide = wide and rng.random() < 0.7
        ack64 = rng.random() < 0.7
        width_B = 8 if wide and ack64 else 4
        lower = split.at & 0x7F if split.is_burst and not message else 0
        requester = int(split.requester[:2], 16) << 8 | int(split.requester[3:5], 16) << 3
        requester |= int(split.requester[6])
        count = 4 if message else left
        modified = how == "modified" and split.is_burst and not message
        modified = modified and left > BOUNDARY_B - lower
        if modified:
            count = BOUNDARY_B - lower
        attributes = completer << 8 | count & 0xFF | modified << 31 | (message != "") << 29
        attributes |= (message not in ("", "written")) << 30
        whole = -(-(lower % width_B + count) // width_B)
        ends = how if how in ("initiator-disconnect", "disconnect-at-adb") and not message else ""
        size, phases, announced, ends = self._cut(lower, count, whole, width_B, ends)
        data = [rng.getrandbits(8 * width_B) for _ in range(phases)]
        if message:
            message_class, index = MESSAGES[message]
            data[0] = data[0] & ~0xFFFF_FFFF | message_class << 28 | index << 20 | left & 0xFFF
        plan = Plan(
            SPLIT_COMPLETION,
            lower | requester << 8 | split.tag << 24,
            attributes,
            count >> 8 & 0xF,
            data,
            rng.choice(list(SPEEDS)),
            rng.choice([0, 2]),
            ends,
            announced,
            wide=wide,
            ack64=ack64,
        )
        number = len(self.truth)
        first, at, end = self.run(plan)
        self._tell(plan, split.requester, split.tag, name, count, size, first, at, end, lower)
        truth = self.truth[-1]
        truth.split_of, truth.modified = split.request, modified
        split.completions += 1
        split.completion, split.completer, split.end = number, name, end
        split.answer = first if split.answer < 0 else split.answer
        if message:
            split.status = truth.status = STATUS[message]
            split.error = "" if message == "written" else "completion-error"
        else:
            split.received_B += size
            split.at += size
        if message or split.received_B == split.byte_count:
            self.open.remove(split)
            self.splits.append(split)

    def _tell(
        self,
        plan: Plan,
        requester: str,
        tag: int,
        completer: str,
        count: int,
        size: int,
        first: int,
        data: int,
        end: int,
        address: int,
    ) -> None:
        self.truth.append(
            Truth(
                command=NAMES[plan.command],
                address=address,
                dual=plan.dual,
                wide=plan.wide and plan.ack64 and plan.devsel is not None,
                requester=requester,
                tag=tag,
                completer=completer,
                byte_count=count,
                data=list(plan.data),
                size_B=size,
                termination="master-abort" if plan.devsel is None else plan.ends,
                devsel="" if plan.devsel is None else SPEEDS[plan.devsel],
                target_waits=plan.waits if plan.devsel is not None else 0,
                first=first,
                end=end,
                data_clock=data,
            )
        )


MESSAGES = {
    "written": (0, 0x00),
    "master abort": (1, 0x00),
    "out of range": (2, 0x00),
    "device": (2, 0x83),
}
STATUS = {
    "written": "write completed",
    "master abort": "bridge: master abort",
    "out of range": "completer: byte count out of range",
    "device": "completer: device specific error 0x83",
}


def random_traffic(seed: int, count: int, *, wide: bool = False) -> PcixBus:
    """Return a bus after legal traffic, in which every request that was split is answered."""
    bus = PcixBus(seed)
    rng = bus.rng
    functions = [
        function(rng.randrange(256), rng.randrange(32), rng.randrange(8)) for _ in range(3)
    ]
    while count or bus.open:
        if bus.open and (not count or rng.random() < 0.5):
            split = rng.choice(bus.open)
            completer, name = rng.choice(functions)
            how = rng.choice(
                ["", "", "initiator-disconnect", "disconnect-at-adb", "modified", *MESSAGES]
            )
            if how == "written" and split.byte_count:
                how = ""
            bus.complete(split, completer, name, wide=wide, how=how)
            continue
        count -= 1
        requester, name = rng.choice(functions)
        busy = {split.tag for split in bus.open if split.requester == name}
        tag = rng.choice([tag for tag in range(32) if tag not in busy])
        command = rng.choice([*DWORDS, 0b0111, 0b1111, 0b0111, 0b1111, 0b1110, 0b1110, 0b1110])
        ends = ["completion", "completion", "retry", "target-abort", "master-abort"]
        if command not in (0b0111, 0b1111):
            ends += ["split", "split", "split"]
        if command in BURSTS:
            ends += ["single-data-disconnect", "initiator-disconnect", "disconnect-at-adb"]
        bus.request(
            command, wide=wide, ends=rng.choice(ends), requester=requester, name=name, tag=tag
        )
    bus.idle(4)
    return bus
