"""Read an emulated pair through its registers only, with a reader of its own: no decoder, no pull."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from freezeframe.capture.registers.layouts import Cause, Kind
from freezeframe.capture.registers.map_table import MAP_SIZE, REGISTERS, WINDOWS
from freezeframe.emulator.target import EmulatorTarget

A, B = 0, 1
TAPS = ("tx_enq", "tx_deq", "rx_enq", "rx_deq")

_BY_NAME = {info.name: info for info in REGISTERS}
_WINDOW = {info.name: info.address for info in WINDOWS}
_FORTH = Path(__file__).parents[2] / "emulator" / "profiles" / "forth.toml"


@dataclass(frozen=True)
class Record:
    """A record with its cycle, worked out by walking back from the newest."""

    cycle: int
    kind: int
    data: int
    dt: int

    @property
    def code(self) -> int:
        return self.data >> 56

    @property
    def source(self) -> int:
        return self.data >> 48 & 0xFF

    @property
    def flow(self) -> int:
        return self.data >> 40 & 0x7F

    @property
    def value(self) -> int:
        return self.data & (1 << 40) - 1


@dataclass(frozen=True)
class Packet:
    """A packet that is whole in a tap's memory."""

    header: int
    address: int
    payload: list[int]
    tail: int
    cycle: int

    @property
    def flow(self) -> int:
        return self.header >> 8 & 0x7F

    @property
    def length(self) -> int:
        return self.header >> 16 & 0x3FF

    @property
    def seq(self) -> int:
        return self.header >> 32 & 0xFFFF


class Card:
    """One card of a target, by register names."""

    def __init__(self, target: EmulatorTarget, index: int) -> None:
        self.target = target
        self.base = index * MAP_SIZE

    def address(self, name: str, *indices: int) -> int:
        info = _BY_NAME[name]
        steps = sum(i * stride for i, (_, stride) in zip(indices, info.dims, strict=True))
        return self.base + info.address + steps

    def window(self, name: str) -> int:
        return self.base + _WINDOW[name]

    def read(self, name: str, *indices: int) -> int:
        return int(self.target.read([self.address(name, *indices)])[0])

    def write(self, name: str, *indices_and_value: int) -> None:
        *indices, value = indices_and_value
        self.target.write(self.address(name, *indices), [value])

    @property
    def state(self) -> int:
        return self.read("ctl.state") & 3

    def counter(self, name: str, bank: str = "frozen_counters") -> int:
        return self.read(f"{bank}.{name}.lo") | self.read(f"{bank}.{name}.hi") << 32

    def flow(self, number: int) -> dict[str, int]:
        names = ("sent", "credited", "limit", "received", "freed", "reported", "words_sent")
        return {name: self.read(f"frozen_flow.{name}", number) for name in names}

    def memory_bytes(self, memory: int) -> bytes:
        """Return the 9-byte records of a memory in slot order."""
        name = (*TAPS, "event_log")[memory]
        depth = self.read("id.event_depth" if memory == 4 else "id.tap_depth")
        start = self.window(f"trace_{name}")
        words = self.target.read(range(start, start + 16 * depth, 4)).astype("<u4")
        slots = words.reshape(depth, 4)
        assert not slots[:, 3].any() and (slots[:, 2] < 256).all()
        return bytes(slots.view("u1").reshape(depth, 16)[:, :9].tobytes())

    def records(self, memory: int) -> list[Record]:
        """Return a memory's records oldest first, dated; a TIME that disagrees with the walk fails."""
        raw = self.memory_bytes(memory)
        slots = [raw[k : k + 9] for k in range(0, len(raw), 9)]
        pointer = self.read("memory.write_ptr", memory)
        wrapped = self.read("memory.status", memory) & 1
        order = slots[pointer:] + slots[:pointer] if wrapped else slots[:pointer]
        found: list[Record] = []
        cycle: int | None = None
        for slot in reversed(order):
            data, meta = struct.unpack("<QB", slot)
            kind, dt = meta & 15, meta >> 4
            if kind == Kind.TIME:
                # Beside a dt of 15 the walk says only "15 or more".
                assert cycle is None or cycle == data or found[-1].dt == 15
                cycle = data
            assert cycle is not None, "the newest record is not TIME"
            found.append(Record(cycle, kind, data, dt))
            cycle -= dt
        return found[::-1]

    def words(self, memory: int) -> list[Record]:
        return [r for r in self.records(memory) if r.kind in (Kind.HEAD, Kind.BODY, Kind.TAIL)]

    def events(self, kind: Kind, code: int | None = None) -> list[Record]:
        """Return the events of a kind in the log, perhaps of one code only."""
        return [r for r in self.records(4) if r.kind == kind and code in (None, r.code)]


def packets_of(words: list[Record]) -> list[Packet]:
    """Return the packets that are whole, by the kinds of their words alone."""
    packets = []
    begin: int | None = None
    for number, word in enumerate(words):
        # The first word of the memory may be a packet's second, so two in a row are asked for.
        if [w.kind for w in words[number : number + 2]] == [Kind.HEAD, Kind.HEAD]:
            begin = number
        if word.kind == Kind.TAIL and begin is not None:
            data = [w.data for w in words[begin : number + 1]]
            packets.append(Packet(data[0], data[1], data[2:-1], data[-1], words[begin].cycle))
            begin = None
    return packets


def pair(
    fault: str = "none", seed: int = 0, profile: str = "forth", **options: object
) -> tuple[EmulatorTarget, Card, Card]:
    """Power a pair up; reading it takes no simulated time unless asked for."""
    options = {"access_ps": 0} | options
    target = EmulatorTarget(profile, fault, seed, **options)  # type: ignore[arg-type]
    return target, Card(target, A), Card(target, B)


def arm(card: Card) -> None:
    card.write("ctl.arm", 0x4152 << 16 | card.read("ctl.generation") + 1 & 0xFFFF)


def freeze(card: Card, target: EmulatorTarget | None = None, within_ps: int = 0) -> None:
    """Freeze a card by the host's hand; where its target is given, run until every card is frozen."""
    card.write("ctl.freeze", 0x465A << 16 | card.read("ctl.generation") & 0xFFFF)
    if target is not None:
        assert target.run_until_frozen(within_ps)


def run_to_freeze(
    fault: str, seed: int, profile: str = "forth", limit_us: int = 20_000
) -> tuple[EmulatorTarget, Card, Card]:
    """Power a pair up and run it until it has frozen by itself."""
    target, a, b = pair(fault, seed, profile)
    assert target.run_until_frozen(limit_us * 1_000_000), f"{fault} seed {seed} does not freeze"
    return target, a, b


def run_to_evidence(
    fault: str, seed: int, load: str | None = None, limit_us: int = 40_000
) -> tuple[EmulatorTarget, Card, Card]:
    """Power a pair up and run it until it has frozen by itself, or until the host has something to freeze for."""
    target, a, b = pair(fault, seed, load=load)
    assert target.run_until_evident(limit_us * 1_000_000), f"{fault} seed {seed} shows nothing"
    if not target.frozen:
        freeze(a, target, 3_000_000_000)
    return target, a, b


@cache
def evidence(fault: str, seed: int, load: str | None = None) -> tuple[Card, Card]:
    """Return the cards of a run to its evidence, made once for all who only read them."""
    return run_to_evidence(fault, seed, load)[1:]


def causes(card: Card) -> set[Cause]:
    mask = card.read("ctl.causes")
    return {cause for cause in Cause if mask >> cause & 1}


def truth(card: Card) -> dict[str, Any]:
    """Return the one injection of a run."""
    injections: list[dict[str, Any]] = card.target.pair.truth.to_json()["injections"]
    (injection,) = injections
    return injection


def profile_like_forth(path: Path, **changes: tuple[str, str]) -> str:
    """Write a profile that differs from FORTH in ``name=(old line, new line)``; return its path."""
    text = _FORTH.read_text()
    for old, new in changes.values():
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text)
    return str(path)
