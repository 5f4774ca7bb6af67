"""The same stimulus for the emulator's recorder and for the RTL's, and what either of them holds afterwards.

A stimulus names cycles of its domain's tap, event and cause registers. `follow` plays it to the emulator's models
(freeze control, recorders, event log, trigger, time pairs), `simulate` to the Verilog in Icarus; both return the same
kind of `Freeze`, one for each time that the recorder froze.

Source: docs/formats.md sections 1.1, 2 and 6.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from freezeframe.capture.registers.layouts import Cause, Domain, Memory
from freezeframe.emulator.clocks import Clock, Clocks
from freezeframe.emulator.config import Config
from freezeframe.emulator.eventlog import EventLog
from freezeframe.emulator.freeze import ARM_KEY, FREEZE_KEY, FreezeControl, memory_domain
from freezeframe.emulator.recorder import Recorder
from freezeframe.emulator.time_pairs import TimePairs
from freezeframe.emulator.trigger import Trigger
from tests.rtl.simulation import RTL, tool

SOURCES = 6

Word = tuple[int, int]  # kind, data
Event = tuple[int, int, int, int]  # kind, code, flow, value


@dataclass(frozen=True)
class Board:
    """What a build fixes. Periods are even picoseconds; phases are those of the first edge of simulation."""

    tap_depth: int = 32
    event_depth: int = 32
    places: int = 8
    drain: int = 64
    cross_latency: int = 5
    sync_period: int = 64
    bus_ps: int = 10_000
    link_ps: int = 12_800
    bus_phase_ps: int = 0
    link_phase_ps: int = 0
    cycles: int = 1000


@dataclass
class Stimulus:
    """What happens, by cycle."""

    arms: list[int] = field(default_factory=list)  # cycles of the arm, each with the right key
    freezes: list[int] = field(default_factory=list)  # cycles of cause host, the right key
    writes: list[tuple[int, bool, int]] = field(default_factory=list)  # (cycle, to arm, any value)
    causes: tuple[dict[int, int], dict[int, int]] = field(
        default_factory=lambda: ({}, {})
    )  # by domain
    crosses: list[int] = field(
        default_factory=list
    )  # bus cycles in which the other device's line changes
    words: dict[int, dict[int, Word]] = field(default_factory=dict)  # by memory 0-3
    events: dict[int, dict[int, Event]] = field(default_factory=dict)  # by cycle, then source
    kinds: list[int] = field(default_factory=lambda: [0xFFFF] * 5)
    post: list[int] = field(default_factory=lambda: [4] * 5)
    cause_mask: int = 0xFFF
    trigger: Trigger = field(default_factory=Trigger)


@dataclass
class Freeze:
    """All that a host can read of a frozen recorder."""

    cycle: int  # bus cycle in which it froze
    generation: int
    causes: tuple[int, int]  # by domain
    cause_cycle: int
    memories: list[tuple[int, int, int, int, int]]  # write_ptr, wrapped, stored, offered, lost
    slots: list[dict[int, bytes]]  # the valid ones that were read before the next arm
    pairs: list[tuple[int, ...]]  # by domain: valid, number, cycle of the first, of the last toggle


@dataclass
class Run:
    """A whole stimulus: every freeze, and the cycles of what was passed on."""

    freezes: list[Freeze] = field(default_factory=list)
    arms: list[int] = field(default_factory=list)  # bus cycles
    arms_link: list[int] = field(default_factory=list)  # link cycles
    crosses: list[int] = field(default_factory=list)  # bus cycles in which cross_out changed
    steps: list[int] = field(
        default_factory=list
    )  # cycles of the tap in which a trigger's sequence began
    zero_ps: tuple[int, int] = (0, 0)  # time of cycle 0, by domain


# -- the RTL ---------------------------------------------------------------------------------------


def build(board: Board, folder: Path) -> Path:
    """Compile the bench for a board with Icarus; return what vvp runs."""
    made = folder / "bench.vvp"
    names = {
        "TAP_DEPTH": board.tap_depth, "EVENT_DEPTH": board.event_depth, "PLACES": board.places,
        "POST_DRAIN": board.drain, "CROSS_LATENCY": board.cross_latency, "PERIOD": board.sync_period,
        "BUS_PS": board.bus_ps, "LINK_PS": board.link_ps, "BUS_PHASE_PS": board.bus_phase_ps,
        "LINK_PHASE_PS": board.link_phase_ps, "CYCLES": board.cycles,
    }  # fmt: skip
    top = "equivalence_bench"
    parameters = [f"-P{top}.{name}={value}" for name, value in names.items()]
    source = Path(__file__).with_name(f"{top}.v")
    command = [
        tool("iverilog"),
        "-g2005",
        "-y",
        str(RTL),
        "-s",
        top,
        "-o",
        str(made),
        *parameters,
        str(source),
    ]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return made


def simulate(vvp: Path, board: Board, stimulus: Stimulus, folder: Path) -> Run:
    """Play a stimulus to the RTL."""
    bus, link, words = folder / "bus.hex", folder / "link.hex", folder / "config.hex"
    bus.write_text("\n".join(f"{word:x}" for word in _bus_words(stimulus, board.cycles)))
    link.write_text("\n".join(f"{word:x}" for word in _link_words(stimulus, board.cycles)))
    words.write_text(f"{_config_word(stimulus):x}")
    command = ["vvp", "-n", str(vvp), f"+bus={bus}", f"+link={link}", f"+config={words}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
    lines = done.stdout.splitlines()
    assert lines[-1].strip() == "END" or "END" in lines, done.stdout[-500:] + done.stderr
    return _read(lines)


def _bus_words(stimulus: Stimulus, cycles: int) -> list[int]:
    words = [0] * cycles
    width = SOURCES * 60
    for lane_cycle, lanes in stimulus.events.items():
        for source, (kind, code, flow, value) in lanes.items():
            lane = 1 << 59 | kind << 55 | code << 47 | flow << 40 | value
            words[lane_cycle - 1] |= lane << 60 * source
    for memory, at in ((Memory.RX_DEQ, width), (Memory.TX_ENQ, width + 69)):
        for cycle, (kind, data) in stimulus.words.get(memory, {}).items():
            words[cycle - 1] |= (1 << 68 | kind << 64 | data) << at
    at = width + 138
    for cycle, causes in stimulus.causes[Domain.BUS].items():
        words[cycle - 1] |= causes << at
    for cycle, to_arm, value in _all_writes(stimulus):
        words[cycle - 1] |= (value | 1 << (33 if to_arm else 32)) << at + 16
    for cycle in stimulus.crosses:
        words[cycle] |= 1 << at + 50 + 1
    return words


def _all_writes(stimulus: Stimulus) -> list[tuple[int, bool, int]]:
    writes = list(stimulus.writes)
    for number, cycle in enumerate(stimulus.arms):
        writes.append((cycle, True, ARM_KEY << 16 | number + 1))
    for cycle in stimulus.freezes:
        armed = sum(1 for arm in stimulus.arms if arm < cycle)
        writes.append((cycle, False, FREEZE_KEY << 16 | armed))
    return writes


def _link_words(stimulus: Stimulus, cycles: int) -> list[int]:
    words = [0] * cycles
    for memory, at in ((Memory.RX_ENQ, 0), (Memory.TX_DEQ, 69)):
        for cycle, (kind, data) in stimulus.words.get(memory, {}).items():
            words[cycle - 1] |= (1 << 68 | kind << 64 | data) << at
    for cycle, causes in stimulus.causes[Domain.LINK].items():
        words[cycle - 1] |= causes << 138
    return words


def _config_word(stimulus: Stimulus) -> int:
    trigger, word = stimulus.trigger, 0
    fields = [(value, 16) for value in reversed(stimulus.kinds)]
    fields += [(value, 32) for value in reversed(stimulus.post)]
    fields += [(stimulus.cause_mask, 16), (int(trigger.enable), 1), (trigger.tap, 2)]
    fields += [
        (int(trigger.edge), 1),
        (int(trigger.sequence), 1),
        (trigger.count, 32),
        (trigger.limit, 32),
    ]
    for name, width in (("value", 64), ("mask", 64), ("kinds", 16)):
        fields += [(getattr(term, name), width) for term in reversed(trigger.terms)]
    for value, width in fields:
        word = word << width | value
    return word


_NUMBERS = ("FROZEN", "MEMORY", "PAIRS", "ARM", "ARM_LINK", "CROSS", "STEP", "BUS0", "LINK0")


def _read(lines: list[str]) -> Run:
    run, zero = Run(), [0, 0]
    for line in lines:
        name, *rest = line.split()
        if name == "SLOT":
            memory, slot = int(rest[0]), int(rest[1])
            run.freezes[-1].slots[memory][slot] = int(rest[2], 16).to_bytes(9, "little")
            continue
        if name not in _NUMBERS:
            continue
        numbers = [int(text) for text in rest]
        if name == "FROZEN":
            cycle, generation, bus, cause_cycle, link, state = numbers
            assert state == 3, line
            empty: list[dict[int, bytes]] = [{} for _ in Memory]
            none = [(0, 0, 0, 0, 0)] * len(Memory)
            run.freezes.append(Freeze(cycle, generation, (bus, link), cause_cycle, none, empty, []))
        elif name == "MEMORY":
            memory, write_ptr, wrapped, stored, offered, lost = numbers
            run.freezes[-1].memories[memory] = (write_ptr, wrapped, stored, offered, lost)
        elif name == "PAIRS":
            run.freezes[-1].pairs.append(tuple(numbers))
        elif name == "ARM":
            run.arms.append(numbers[0])
        elif name == "ARM_LINK":
            run.arms_link.append(numbers[0])
        elif name == "CROSS":
            run.crosses.append(numbers[0])
        elif name == "STEP":
            run.steps.append(numbers[0])
        elif name in ("BUS0", "LINK0"):
            zero[name == "LINK0"] = numbers[0]
    run.zero_ps = (zero[0], zero[1])
    for freeze in run.freezes:
        for memory, (write_ptr, wrapped, *_) in enumerate(freeze.memories):
            if not wrapped:
                freeze.slots[memory] = {
                    s: r for s, r in freeze.slots[memory].items() if s < write_ptr
                }
    return run


# -- the emulator ----------------------------------------------------------------------------------


class _Card:
    """What `FreezeControl` needs of a card, around the real models."""

    def __init__(self, board: Board, stimulus: Stimulus, zero_ps: tuple[int, int]) -> None:
        self.board, self.stimulus = board, stimulus
        periods = (board.bus_ps, board.link_ps)
        self.clocks = Clocks(
            *(
                Clock(name, 10**12 // period, 0, zero * 1000)
                for name, period, zero in zip(("bus", "link"), periods, zero_ps, strict=True)
            )
        )
        assert [clock.period_fs for clock in self.clocks] == [1000 * period for period in periods]
        self.now_ps = 0
        self.heap: list[tuple[int, int, int, Callable[[], None]]] = []
        self.serial = count()
        config = Config(0, 0, 0, cause_mask=stimulus.cause_mask)
        self.run = Run(zero_ps=zero_ps)
        self.memories: list[Any] = [Recorder(board.tap_depth, board.drain) for _ in range(4)]
        self.memories.append(EventLog(board.event_depth, board.places, board.drain))
        for memory, recorder in enumerate(self.memories):
            recorder.kinds, recorder.post = stimulus.kinds[memory], stimulus.post[memory]
        self.freeze = FreezeControl(
            self,  # type: ignore[arg-type]  # has of a time what it asks for
            self.clocks,
            self.memories,
            config,
            board.cross_latency,
            self,
        )
        self.freeze.cross = self._told
        self.pairs = TimePairs(self.clocks, self.clocks.bus, board.sync_period, self.freeze)
        self.arms = 0

    def always_at(self, t_ps: int, action: Callable[[], None], order: int = 1) -> None:
        heappush(self.heap, (t_ps, order, next(self.serial), action))

    def play(self) -> Run:
        self._schedule()
        end_ps = self.clocks.bus.edge_ps(self.board.cycles - 2)  # when the bench ends
        while self.heap and self.heap[0][0] < end_ps:
            self.now_ps, _, _, action = heappop(self.heap)
            action()
        return self.run

    def _schedule(self) -> None:
        # What stands in a register in a cycle, then the causes of that cycle, then its arm: an arm forgets them.
        bus = self.clocks.bus
        end_ps = bus.edge_ps(self.board.cycles - 1)

        def at(clock: Clock, cycle: int, order: int, action: Callable[[], None]) -> None:
            if clock.edge_ps(cycle) < end_ps:
                self.always_at(clock.edge_ps(cycle), action, order)

        for memory, words in self.stimulus.words.items():
            clock = self.clocks[memory_domain(memory)]
            for cycle, (kind, data) in words.items():
                at(clock, cycle, 0, partial(self._word, memory, cycle, kind, data))
        for cycle, lanes in self.stimulus.events.items():
            at(bus, cycle, 0, partial(self._events, cycle, lanes))
        for domain in Domain:
            for cycle, causes in self.stimulus.causes[domain].items():
                at(self.clocks[domain], cycle, 1, partial(self._causes, causes, domain))
        for cycle in self.stimulus.crosses:
            seen = bus.crossed(bus.edge_ps(cycle))
            at(bus, seen, 1, partial(self.freeze.raise_cause, Cause.CROSS, Domain.BUS))
        for cycle, to_arm, value in _all_writes(self.stimulus):
            write = self.freeze.write_arm if to_arm else self.freeze.write_freeze
            at(bus, cycle, 2 if to_arm else 1, partial(write, value))

    def _word(self, memory: int, cycle: int, kind: int, data: int) -> None:
        recorder: Recorder = self.memories[memory]
        recorder.feed(cycle, kind, data)
        self.freeze.fed(memory)
        trigger, domain = self.stimulus.trigger, memory_domain(memory)
        if trigger.tap != memory or not self.arms or cycle <= self.freeze.armed_cycle(domain):
            return
        fires = trigger.feed(cycle, np.array([kind], np.uint8), np.array([data], np.uint64))
        self.run.steps += trigger.steps
        trigger.steps.clear()
        if fires is not None:
            arms = self.arms
            self.always_at(
                self.clocks[domain].edge_ps(fires + 1),
                lambda: (
                    self.freeze.raise_cause(Cause.TRIGGER, domain) if self.arms == arms else None
                ),
            )

    def _events(self, cycle: int, lanes: dict[int, Event]) -> None:
        for source, (kind, code, flow, value) in lanes.items():
            data = code << 56 | source << 48 | flow << 40 | value
            self.memories[4].offer(cycle, source, kind, data)
        self.freeze.fed(Memory.EVENT_LOG)

    def _causes(self, causes: int, domain: Domain) -> None:
        for cause in Cause:
            if causes >> cause & 1:
                self.freeze.raise_cause(cause, domain)

    def _told(self) -> None:
        self.run.crosses.append(self.clocks.bus.cycle_at(self.now_ps))

    def armed(self, was_frozen: bool) -> None:
        """There is no link that could have stalled."""

    def arm_memories(self, now_ps: int) -> None:
        self.arms += 1
        for memory, recorder in enumerate(self.memories):
            recorder.arm(self.freeze.armed_cycle(memory_domain(memory)))
        self.stimulus.trigger.reset()
        self.run.arms.append(self.freeze.armed_cycle(Domain.BUS))
        self.run.arms_link.append(self.freeze.armed_cycle(Domain.LINK))

    def frozen(self, t_ps: int) -> None:
        if self.clocks.bus.cycle_at(t_ps) in self.stimulus.arms:
            return  # an arm of that very cycle wins; here it comes just after
        freeze, counts, slots = self.freeze, [], []
        latched = [self.memories[0].causes, self.memories[1].causes]
        for memory, recorder in enumerate(self.memories):
            recorder.advance(self.clocks[memory_domain(memory)].cycle_at(t_ps))
            ring = recorder.memory
            counts.append(
                (ring.write_ptr, int(ring.wrapped), ring.stored, recorder.offered, recorder.lost)
            )
            image = ring.image()
            valid = ring.depth if ring.wrapped else ring.write_ptr
            slots.append({slot: image[slot].tobytes() for slot in range(valid)})
        pairs = []
        for domain in Domain:
            first, last = self.pairs.pair(domain, t_ps) or (None, None)
            pairs.append(
                tuple(n for t in (first, last) for n in (int(t is not None), *(t or (0, 0))))
            )
        cycle = self.clocks.bus.cycle_at(t_ps)
        self.run.freezes.append(
            Freeze(
                cycle,
                freeze.generation,
                (latched[0], latched[1]),
                freeze.cause_cycle,
                counts,
                slots,
                pairs,
            )
        )


def follow(board: Board, stimulus: Stimulus, zero_ps: tuple[int, int]) -> Run:
    """Play a stimulus to the emulator's models; ``zero_ps`` is the time of cycle 0 of each domain."""
    return _Card(board, stimulus, zero_ps).play()
