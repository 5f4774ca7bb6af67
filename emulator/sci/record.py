"""A run of the bridge as the recording of its card: taps, event log, counters and registers at the freeze."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from freezeframe.capture.card.elaborated import ElaboratedCard, elaborate
from freezeframe.capture.card.reading import read_card
from freezeframe.capture.card.recording import CardRecording, RecordedClock
from freezeframe.capture.card.shipped import card_place
from freezeframe.capture.errors import InputError
from freezeframe.decoders.sci import layout
from freezeframe.decoders.tap.event_log import LogKind
from freezeframe.emulator.card_image import SERVED
from freezeframe.emulator.card_memory import LogMemory, TapMemory
from freezeframe.emulator.profile_files import named_card, profile_file
from freezeframe.emulator.sci.bridge import Bridge
from freezeframe.emulator.sci.faults import FAULTS, SciFault
from freezeframe.emulator.sci.parts import sizes_of
from freezeframe.emulator.sci.workloads import WORKLOADS, start, tables_for

_POST_CYCLES = 64  # from the cause to the closing of the memories
_HOST_CYCLES = 12_000  # until the host freezes a run that nothing else did
_HOST = 1  # bit of the cause


@dataclass(frozen=True)
class SciRun:
    """One recording, what was done to the card, and the bridge as it stood at the freeze."""

    recording: CardRecording
    truth: tuple[str, ...]
    bridge: Bridge


class _Watch:
    """What the bridge shows, up to the closing; causes by their names in the card file."""

    def __init__(self, card: ElaboratedCard) -> None:
        self.packets: dict[str, list[tuple[int, bytes]]] = {tap.name: [] for tap in card.taps}
        self.entries: list[tuple[int, int, int, LogKind, int]] = []
        self.causes: dict[str, int] = {}
        self.sources = {source.name: source.number for source in card.sources}
        self.states: dict[str, int] = {}

    def packet(self, tap: str, begin: int, data: bytes) -> None:
        self.packets[tap].append((begin, data))

    def event(self, name: str, cycle: int, value: int) -> None:
        self._enter(cycle, name, LogKind.EVENT, value)

    def state(self, name: str, cycle: int, was: int, now: int) -> None:
        self.states[name] = now
        self._enter(cycle, name, LogKind.STATE, now | was << 8)

    def cause(self, name: str, cycle: int) -> None:
        self.causes.setdefault(name, cycle)

    def _enter(self, cycle: int, name: str, kind: LogKind, value: int) -> None:
        self.entries.append((cycle, len(self.entries), self.sources[name], kind, value))


def card_of(profile: str) -> ElaboratedCard:
    """Return the card that a profile names.

    Raises:
        InputError: it names none, or the file cannot be used.
    """
    file = profile_file(profile)
    name = named_card(file)
    if not name:
        raise InputError(f'{file.path}: names no card file: card = "NAME"')
    return elaborate(read_card(card_place(name)))


def run_bridge(
    profile: str = "pci-sci",
    fault: str = "none",
    seed: int = 0,
    workload: str = "mixed",
    settings: Mapping[str, Any] | None = None,
) -> SciRun:
    """Run a bridge from power-up until a cause of its card freezes it, else until its host does.

    ``settings``: numbers in place of the profile's.

    Raises:
        InputError: unknown profile, fault or workload, or a negative seed.
    """
    if fault not in FAULTS:
        raise InputError(f"profile {profile} has no fault {fault!r}; there are {', '.join(FAULTS)}")
    if workload not in WORKLOADS:
        raise InputError(
            f"profile {profile} has no workload {workload!r}; there are {', '.join(WORKLOADS)}"
        )
    if seed < 0:
        raise InputError(f"seed {seed}: a seed is a whole number from 0 on")
    card = card_of(profile)
    chance = random.Random(f"{fault} {seed}")
    done: SciFault = FAULTS[fault](random.Random(f"strike {fault} {seed}"))
    watch = _Watch(card)
    bridge = Bridge(sizes_of(profile, settings), tables_for(done), done, watch)
    start(workload, bridge, chance)
    enabled = {
        cause.name: cause for cause in card.causes if cause.said is not None and cause.said.enabled
    }
    until = _HOST_CYCLES
    while bridge.cycles.step(until):
        first = min((at for name, at in watch.causes.items() if name in enabled), default=None)
        if first is not None:
            until = min(until, first + _POST_CYCLES)
    struck = {
        cause.bit: watch.causes[cause.name] for cause in card.causes if cause.name in watch.causes
    }
    own = {bit: at for bit, at in struck.items() if card.causes[bit].name in enabled}
    since = min(own.values(), default=until - _POST_CYCLES)
    causes = sum(1 << bit for bit in own) if own else _HOST
    return SciRun(_recording(card, watch, bridge, until, causes, since), tuple(done.struck), bridge)


def _recording(
    card: ElaboratedCard, watch: _Watch, bridge: Bridge, close: int, causes: int, since: int
) -> CardRecording:
    taps = {}
    for tap in card.taps:
        memory = TapMemory(tap)
        for begin, data in watch.packets[tap.name]:
            if begin + len(data) // 8 + tap.latency_cycles < close:
                memory.packet(begin, data)
        taps[tap.name] = memory.close(close, causes, close - since)
    log = None
    if card.log is not None:
        kept = LogMemory(card.log)
        for cycle, _, source, kind, value in sorted(watch.entries):
            if not kept.entry(cycle, source, kind, value, close):
                break
        log = kept.close(close, causes, close - since)
    books, counts = bridge.books, bridge.books.counts
    bank = {
        "ids_out": len(bridge.out), "ids_free": len(bridge.free), "ids_off": layout.IDS - bridge.sizes.ids_enabled,
        "requests_open": len(bridge.open), "writes_inside": books.inside,
        "packets_under_way": books.under_way, "incoming_free": bridge.incoming_free,
    }  # fmt: skip
    return CardRecording(
        card, taps, [RecordedClock(clock, clock.said.hz) for clock in card.clocks], SERVED,
        causes=causes, cause_cycle=since, counters={name: counts[name] for name, _ in card.counters},
        bank=bank, log=log,
    )  # fmt: skip
