"""A run of a bridge, or of two, as recordings of their cards: taps, event log, counters and registers at the freeze."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from freezeframe.capture.card.elaborated import ElaboratedCard, elaborate
from freezeframe.capture.card.reading import read_card
from freezeframe.capture.card.recording import CardRecording, RecordedClock
from freezeframe.capture.card.shipped import card_place
from freezeframe.capture.errors import InputError
from freezeframe.capture.nearest import no_such
from freezeframe.decoders.sci import layout
from freezeframe.decoders.tap.event_log import LogKind
from freezeframe.emulator.card_image import SERVED
from freezeframe.emulator.card_memory import LogMemory, TapMemory
from freezeframe.emulator.profile_files import named_card, profile_file
from freezeframe.emulator.sci.bridge import Bridge
from freezeframe.emulator.sci.faults import FAULTS, SciFault, at_both_ends
from freezeframe.emulator.sci.parts import FAR_NODE, Tables, sizes_of
from freezeframe.emulator.sci.timing import Cycles
from freezeframe.emulator.sci.workloads import (
    PAIR_WORKLOADS,
    WORKLOADS,
    start,
    start_pair,
    tables_for,
)

_POST_CYCLES = 64  # from the cause to the closing of the memories
_HOST_CYCLES = 12_000  # until the host freezes a run that nothing else did
_HOST = 1  # bit of the cause
_CROSS_CYCLES = 3  # from a card's cause to that of its peer
_MOST_EARLIER_CYCLES = 1 << 20  # by which B's counter may have started before A's


@dataclass(frozen=True)
class SciRun:
    """One recording, what was done to the card, and the bridge as it stood at the freeze."""

    recording: CardRecording
    truth: tuple[str, ...]
    bridge: Bridge


@dataclass(frozen=True)
class SciPairRun:
    """The recordings of A and B, what was done to them, and both bridges as they stood at the freeze."""

    recordings: tuple[CardRecording, CardRecording]
    truth: tuple[str, ...]
    bridges: tuple[Bridge, Bridge]
    earlier_cycles: int
    """By which B's counter started before A's."""


class _Watch:
    """What a bridge shows, up to the closing; causes by their names in the card file.

    Its own counter of cycles may have started before the first one's.
    """

    def __init__(self, card: ElaboratedCard, earlier: int = 0) -> None:
        self.card, self.earlier = card, earlier
        self.packets: dict[str, list[tuple[int, bytes]]] = {tap.name: [] for tap in card.taps}
        self.entries: list[tuple[int, int, int, LogKind, int]] = []
        self.causes: dict[str, int] = {}
        self.sources = {source.name: source.number for source in card.sources}
        self.states: dict[str, int] = {}

    def packet(self, tap: str, begin: int, data: bytes) -> None:
        self.packets[tap].append((begin + self.earlier, data))

    def event(self, name: str, cycle: int, value: int) -> None:
        self._enter(cycle, name, LogKind.EVENT, value)

    def state(self, name: str, cycle: int, was: int, now: int) -> None:
        self.states[name] = now
        self._enter(cycle, name, LogKind.STATE, now | was << 8)

    def cause(self, name: str, cycle: int) -> None:
        self.causes.setdefault(name, cycle)

    def froze(self) -> dict[int, int]:
        """Return the causes that freeze the card and have come, by their bits, with their cycles."""
        return {
            cause.bit: self.causes[cause.name]
            for cause in self.card.causes
            if cause.name in self.causes and (cause.said is None or cause.said.enabled)
        }

    def _enter(self, cycle: int, name: str, kind: LogKind, value: int) -> None:
        self.entries.append(
            (cycle + self.earlier, len(self.entries), self.sources[name], kind, value)
        )


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
    _check(profile, fault, seed, workload, WORKLOADS)
    card = card_of(profile)
    chance = random.Random(f"{fault} {seed}")
    done: SciFault = FAULTS[fault](random.Random(f"strike {fault} {seed}"))
    watch = _Watch(card)
    bridge = Bridge(sizes_of(profile, settings), tables_for(done), done, watch)
    start(workload, bridge, chance)
    until = _run(bridge.cycles, (watch,))
    return SciRun(_recording(watch, bridge, until), tuple(done.struck), bridge)


def run_pair(
    profile: str = "pci-sci-pair",
    fault: str = "none",
    seed: int = 0,
    workload: str = "mixed",
    settings: Mapping[str, Any] | None = None,
) -> SciPairRun:
    """Run two bridges at the ends of one ring, until a cause of one freezes both, else until their host does.

    A fault befalls what A's host writes. The counters of the two cards have not started together.

    Raises:
        InputError: unknown profile, fault or workload, or a negative seed.
    """
    _check(profile, fault, seed, workload, PAIR_WORKLOADS)
    card = card_of(profile)
    done: SciFault = FAULTS[fault](random.Random(f"strike {fault} {seed}"))
    chances = tuple(random.Random(f"{name} {fault} {seed}") for name in "AB")
    earlier = random.Random(f"start {seed}").randrange(_MOST_EARLIER_CYCLES)
    near, far = at_both_ends(done)
    struck, whole = tables_for(done), tables_for(SciFault(done.chance))
    sizes, cycles = sizes_of(profile, settings), Cycles()
    watches = _Watch(card), _Watch(card, earlier)
    a = Bridge(sizes, Tables(struck.down, whole.up), near, watches[0], cycles)
    b = Bridge(sizes, Tables(whole.down, struck.up), far, watches[1], cycles, FAR_NODE)
    a.meet(b)
    start_pair(workload, (a, b), chances)
    until = _run(cycles, watches)
    own = [watch.froze() for watch in watches]
    for watch, other in zip(watches, reversed(own), strict=True):
        if other and not watch.froze():
            watch.cause(card.peer_cause, min(other.values()) + _CROSS_CYCLES)
    recordings = (
        _recording(watches[0], a, until),
        replace(_recording(watches[1], b, until), device="B"),
    )
    return SciPairRun(recordings, tuple(done.struck), (a, b), earlier)


def _check(
    profile: str, fault: str, seed: int, workload: str, workloads: Mapping[str, object]
) -> None:
    if fault not in FAULTS:
        raise InputError(f"profile {profile}: {no_such('fault', fault, FAULTS)}")
    if workload not in workloads:
        raise InputError(f"profile {profile}: {no_such('workload', workload, workloads)}")
    if seed < 0:
        raise InputError(f"seed {seed}: a seed is a whole number from 0 on")


def _run(cycles: Cycles, watches: tuple[_Watch, ...]) -> int:
    """Let things happen until a card froze itself and its memories closed, else until the host; return that cycle."""
    until = _HOST_CYCLES
    while cycles.step(until):
        first = min((at for watch in watches for at in watch.froze().values()), default=None)
        if first is not None:
            until = min(until, first + _POST_CYCLES)
    return until


def _recording(watch: _Watch, bridge: Bridge, until: int) -> CardRecording:
    card, own = watch.card, watch.froze()
    since = min(own.values(), default=until - _POST_CYCLES) + watch.earlier
    causes = sum(1 << bit for bit in own) if own else _HOST
    close = until + watch.earlier
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
        "incoming_buffers": bridge.sizes.incoming_buffers,
    }  # fmt: skip
    return CardRecording(
        card, taps, [RecordedClock(clock, clock.said.hz) for clock in card.clocks], SERVED,
        causes=causes, cause_cycle=since, counters={name: counts[name] for name, _ in card.counters},
        bank=bank, log=log,
    )  # fmt: skip
