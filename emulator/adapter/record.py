"""A run of a profile of stages as a recording of its card: what the adapter counted, logged at regular moments.

The wires of the card file are called by what the stages do. Of each stage ``STAGE_jobs``, ``STAGE_packets``,
``STAGE_dropped`` and ``STAGE_cycles`` (the time of its jobs); of each resource ``RESOURCE_occupied`` (cycles); of the
flows ``came``, ``delivered`` and ``inside`` (packets), as a pulse for a counter and with ``_count`` as a value; and
``sample``, which rises every ``log_ns``. Events are those of ``sample``.
A tap holds a word for each packet as it came: its number, its size in bytes, its flow.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.capture.card.elaborated import ElaboratedCard, elaborate
from freezeframe.capture.card.reading import read_card
from freezeframe.capture.card.recording import CardRecording, RecordedClock
from freezeframe.capture.card.shipped import card_place
from freezeframe.capture.errors import InputError
from freezeframe.capture.nearest import no_such
from freezeframe.decoders.tap.event_log import LogKind
from freezeframe.emulator.adapter.compiled import Compiled, compile_adapter
from freezeframe.emulator.adapter.engine import SAMPLED
from freezeframe.emulator.adapter.layout import OPEN
from freezeframe.emulator.adapter.outcome import Outcome, run_compiled
from freezeframe.emulator.adapter.reading import load_adapter
from freezeframe.emulator.card_image import SERVED
from freezeframe.emulator.card_memory import LogMemory, TapMemory
from freezeframe.emulator.profile_files import named_card, profile_file

Int64 = npt.NDArray[np.int64]
_SAMPLE = "sample"
_HOST = 1  # bit of the cause: the run is over, and its host freezes the card
_POST_CYCLES = 64
_MOST_SAMPLES = 1 << 16
_FIRST_CYCLE = 1000  # of the card's counter at the beginning of the run
_PARTS = ("jobs", "packets", "dropped", "cycles")


class Wires(NamedTuple):
    """``(k,)`` moments in picoseconds, and what each wire held then."""

    at_ps: Int64
    values: dict[str, Int64]


def run_recorded(profile: str, seed: int, workload: str) -> tuple[CardRecording, Outcome]:
    """Run a profile of stages to its end, and freeze its card there.

    Args:
        workload: a name of `WORKLOADS`.

    Raises:
        InputError: the profile or its card cannot be used, or there is no such workload.
    """
    if workload not in WORKLOADS:
        raise InputError(f"profile {profile}: {no_such('workload', workload, WORKLOADS)}")
    described = load_adapter(profile, {"run.seed": _seed(profile, seed)})
    name = named_card(profile_file(profile))
    if not name:
        raise InputError(f'{described.file.path}: names no card file: card = "NAME"')
    card = elaborate(read_card(card_place(name)))
    period_ps = round(described.adapter.run.log_ns * 1000)
    outcome = run_compiled(
        _with_samples(WORKLOADS[workload](compile_adapter(described)), period_ps)
    )
    return _recording(card, outcome, _wires(card, outcome, period_ps)), outcome


def _seed(profile: str, seed: int) -> int:
    """Return the seed of a run: the profile's own for 0, else one of its own."""
    own = load_adapter(profile).adapter.run.seed
    if seed == 0:
        return own
    digest = hashlib.sha256(f"{own} {seed}".encode()).digest()
    return int.from_bytes(digest[:7], "big")


def _as_described(compiled: Compiled) -> Compiled:
    return compiled


def _rising(compiled: Compiled) -> Compiled:
    """Let the offered load rise from nothing to twice what the profile says, in the same time.

    A message of time t comes at sqrt(t T), T being the time of the last one: a rate r becomes 2 r t / T.
    """
    messages = compiled.world.messages.copy()
    for flow in compiled.world.flows:
        if flow["mode"] != OPEN:
            raise InputError(
                f"{compiled.described.file.path}: workload rising needs arrivals in time; a flow here is limited by "
                "what was answered"
            )
        mine = slice(int(flow["first"]), int(flow["first"] + flow["messages"]))
        born = messages["born"][mine].astype(np.float64)
        if len(born):
            messages["born"][mine] = np.rint(np.sqrt(born * born[-1])).astype(np.int64)
    return replace(compiled, world=compiled.world._replace(messages=messages))


WORKLOADS: Mapping[str, Callable[[Compiled], Compiled]] = {
    "as-described": _as_described,
    "rising": _rising,
}
"""What may be made of the arrivals of a profile."""


def _with_samples(compiled: Compiled, period_ps: int) -> Compiled:
    """Return tables whose run writes down what was counted at the multiples of a period."""
    world = compiled.world
    last = int(world.messages["born"].max(initial=0))
    room = last // period_ps if last > 0 else _MOST_SAMPLES
    if not 1 <= room <= _MOST_SAMPLES:
        raise InputError(
            f"{compiled.described.file.place(('run',))}: log_ns: a run of {last / 1e6:,.0f} us has {room:,} periods; "
            f"there may be 1 to {_MOST_SAMPLES:,}"
        )
    state = world.state.copy()
    state[5] = period_ps
    wide = SAMPLED * len(world.groups) + len(world.resources)
    return replace(
        compiled, world=world._replace(state=state, samples=np.zeros((room, wide), np.int64))
    )


def _wires(card: ElaboratedCard, outcome: Outcome, period_ps: int) -> Wires:
    """Return what the wires held at the moments of the log, and last at the end of the run."""
    world, compiled = outcome.world, outcome.compiled
    taken = int(world.state[6])
    at_ps = np.append((np.arange(taken) + 1) * period_ps, int(world.state[2]))
    end = [int(row[key]) for row in world.groups for key in ("jobs", "packets", "dropped", "busy")]
    end += [int(row["busy"]) for row in world.resources]
    table = np.vstack([world.samples[:taken], np.array(end, np.int64)])
    ps_per_cycle = 1e12 / card.clocks[0].said.hz
    values: dict[str, Int64] = {}
    for number, group in enumerate(compiled.groups):
        for place, part in enumerate(_PARTS):
            column = table[:, SAMPLED * number + place]
            column = (column / ps_per_cycle).astype(np.int64) if part == "cycles" else column
            _add(values, f"{group.name}_{part}", column)
    for number, resource in enumerate(compiled.resources):
        column = table[:, SAMPLED * len(compiled.groups) + number]
        _add(values, f"{resource.name}_occupied", (column / ps_per_cycle).astype(np.int64))
    packets, messages = world.packets, world.messages
    born = np.sort(messages["born"][packets["message"]])
    done = np.sort(packets["done"][(packets["dropped"] == 0) & (packets["done"] >= 0)])
    values["came"] = np.searchsorted(born, at_ps, "right").astype(np.int64)
    values["delivered"] = np.searchsorted(done, at_ps, "right").astype(np.int64)
    over = np.sort(packets["done"][packets["done"] >= 0])
    values["inside"] = values["came"] - np.searchsorted(over, at_ps, "right").astype(np.int64)
    return Wires(at_ps, values)


def _add(values: dict[str, Int64], name: str, column: Int64) -> None:
    """Add a copy of a stage or resource of one more node to what is known by its name."""
    values[name] = values[name] + column if name in values else column


def _recording(card: ElaboratedCard, outcome: Outcome, wires: Wires) -> CardRecording:
    cycle_of = card.clocks[0].said.hz / 1e12
    cycles = _FIRST_CYCLE + np.rint(wires.at_ps * cycle_of).astype(np.int64)
    since = int(cycles[-1]) + _POST_CYCLES
    close = since + _POST_CYCLES
    log = None
    if card.log is not None:
        kept = LogMemory(card.log)
        for row, cycle in enumerate(cycles[:-1].tolist()):
            for source in card.sources:
                if source.states or card.said.event[source.name].wire != _SAMPLE:
                    raise InputError(
                        f"card {card.name}: {source.name} is no event of wire {_SAMPLE}; a profile of stages has "
                        "no other"
                    )
                event = card.said.event[source.name]
                value = int(_held(card, wires, event.value)[row]) if event.value else 0
                kept.entry(
                    cycle, source.number, LogKind.EVENT, value & (1 << event.bits) - 1, close
                )
        log = kept.close(close, _HOST, close - since)
    return CardRecording(
        card,
        {tap.name: _descriptors(TapMemory(tap), outcome, card).close(close, _HOST, close - since) for tap in card.taps},
        [RecordedClock(clock, clock.said.hz) for clock in card.clocks],
        SERVED,
        causes=_HOST,
        cause_cycle=since,
        counters={name: int(_held(card, wires, said.wire)[-1]) for name, said in card.counters},
        bank={name: int(_held(card, wires, said.wire)[-1]) for name, said in card.said.bank.items()},
        log=log,
    )  # fmt: skip


def _held(card: ElaboratedCard, wires: Wires, name: str) -> Int64:
    """Return what a wire held; the pulse that a counter counts has the name of the count without ``_count``."""
    name = name.removesuffix("_count")
    if name not in wires.values:
        raise InputError(
            f"card {card.name}: wire {name!r}: the profile has {', '.join(sorted(wires.values))}"
        )
    return wires.values[name]


def _descriptors(memory: TapMemory, outcome: Outcome, card: ElaboratedCard) -> TapMemory:
    """Keep a word for each packet: number [32,0] size [24,32] flow [8,56]; two in one cycle stand in two."""
    packets, messages = outcome.world.packets, outcome.world.messages
    born = messages["born"][packets["message"]]
    order = np.argsort(born, kind="stable")[-memory.tap.said.depth :]
    before = len(packets) - len(order)
    cycle = -1
    for number, packet in enumerate(order.tolist(), before):
        at = _FIRST_CYCLE + round(int(born[packet]) * card.clocks[0].said.hz / 1e12)
        cycle = max(cycle + 1, at)
        size, flow = int(packets["size"][packet]), int(packets["flow"][packet])
        word = number & 0xFFFF_FFFF | min(size, 0xFF_FFFF) << 32 | (flow & 0xFF) << 56
        memory.packet(cycle, word.to_bytes(8, "little"))
    return memory
