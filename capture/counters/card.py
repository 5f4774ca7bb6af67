"""A Freezeframe target as a source of counters: one snapshot of each card, and what its recorder does.

Nothing is written. A bank of counters is read only when the card has made a new snapshot, so a slow card costs
little; what stands still since a freeze is read once a freeze.

Source: docs/formats.md, sections 1.1 and 1.2.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from freezeframe.capture.card.device import CardDevice, open_any, split_card
from freezeframe.capture.counters.contract import Counter, Sample
from freezeframe.capture.counters.laws import Law, card_laws
from freezeframe.capture.recorder.state import RecorderState, read_state
from freezeframe.capture.registers.access import CounterSnapshot, Device, Recorder
from freezeframe.capture.registers.names import register
from freezeframe.capture.targets.base import Target, open_target

_MEMORY_COUNTS = ("stored", "lost")
_Frozen = tuple[dict[str, str], dict[str, int]]  # facts, values
_NS_A_S = 1_000_000_000
_SEQ = (1 << 32) - 1
_MOST_FLOWS = 3  # out of credit, that a line names


class CardSource:
    """All cards behind one target."""

    def __init__(self, url: str) -> None:
        """Open the target.

        Raises:
            InputError: not a target URL.
            TargetError: it cannot be reached, or is not a device of ours.
        """
        self.url = url
        plain, card = split_card(url)
        self.card = card  # the card file that the URL names
        self.target: Target = open_target(plain)
        try:
            self.devices: Sequence[Recorder] = open_any(self.target, card)
        except BaseException:
            self.target.close()
            raise
        self._snapshots: dict[int, _Taken] = {}  # device -> its last
        # device -> (freeze, what it left)
        self._frozen: dict[int, tuple[tuple[int, int, int], _Frozen]] = {}
        self.counters: Mapping[str, Counter] = {
            counter.key: counter for device in self.devices for counter in _counters_of(device)
        }

        self.laws: Sequence[Law] = [law for device in self.devices for law in _laws_of(device)]

    def read(self) -> Sample:
        """Read everything; raises as ``CounterSource.read``."""
        t_ns = time.monotonic_ns()
        values: dict[str, int] = {}
        facts: dict[str, str] = {}
        states = []
        own_ns: dict[str, int] = {}
        for device in self.devices:
            state = read_state(device)
            states.append(state)
            taken = self._snapshot(device, state.nonce)
            counted = {f"{device.name}.{name}": v for name, v in taken.snapshot.values.items()}
            values |= counted
            if taken.own_ns is not None:
                own_ns |= dict.fromkeys(counted, taken.own_ns)
            for memory, of in state.memories.items():
                key = f"{device.name}.memory.{memory.removesuffix('.0')}"  # lane 0 of a wide tap
                if f"{key}.stored" not in self.counters:
                    continue  # another lane: all lanes of a tap store the same number
                values[f"{key}.stored"] = of.stored
                if of.lost is not None:
                    values[f"{key}.lost"] = of.lost
            facts_then, values_then = self._at_freeze(device, state)
            facts |= facts_then
            values |= values_then
        return Sample(t_ns, values, facts, tuple(states), own_ns)

    def close(self) -> None:
        """Close the target."""
        self.target.close()

    def _snapshot(self, device: Recorder, nonce: int) -> _Taken:
        known = self._snapshots.get(device.index)
        if (
            known is None
            or known.nonce != nonce
            or device.read("ctl.snapshot_seq") != known.snapshot.seq
        ):
            known = _taken(device, nonce, known)
            self._snapshots[device.index] = known
        return known

    def _at_freeze(self, device: Recorder, state: RecorderState) -> _Frozen:
        if state.state != "frozen" or not isinstance(device, Device):
            return {}, {}
        freeze = state.nonce, state.generation, state.cause_cycle
        known = self._frozen.get(device.index)
        if known is None or known[0] != freeze:
            known = freeze, _read_frozen(device)
            self._frozen[device.index] = known
        return known[1]


class _Taken(NamedTuple):
    """A snapshot, and when it was taken by the card's own clock; None where the card does not say."""

    nonce: int
    snapshot: CounterSnapshot
    log2: int
    own_ns: int | None


def _taken(device: Recorder, nonce: int, before: _Taken | None) -> _Taken:
    """Take a new snapshot: a card takes one every 2^``ctl.snapshot_log2`` bus cycles, and numbers them.

    Where the period was changed since, how long it took is not known: its time is that of the one before.
    """
    snapshot = device.counters()
    if not isinstance(device, Device):
        return _Taken(nonce, snapshot, 0, None)
    log2, clk_hz = device.read("ctl.snapshot_log2"), device.identity.clk_bus
    own_ns = 0 if before is None or before.own_ns is None else before.own_ns
    if before is not None and (before.nonce, before.log2) == (nonce, log2) and clk_hz:
        own_ns += ((snapshot.seq - before.snapshot.seq & _SEQ) << log2) * _NS_A_S // clk_hz
    return _Taken(nonce, snapshot, log2, own_ns if clk_hz else None)


def _read_frozen(device: Device) -> _Frozen:
    """Read what the card keeps of the moment it froze: state machines, FIFOs, flows without credit."""
    states = device.found.card.said.states
    count, levels = len(states), _levels(device)
    words = device.read_many(
        [
            *(("frozen.machine", index) for index in range(count)),
            *(f"frozen.{name}" for name in levels),
        ]
    )
    machines = [
        f"{name} {machine.names[word] if word < len(machine.names) else word}"
        for (name, machine), word in zip(states.items(), words, strict=False)
    ]
    facts = {f"{device.name} froze in": ", ".join(machines)}
    waiting = _out_of_credit(device)
    if waiting:
        more = f" and {len(waiting) - _MOST_FLOWS} more" if len(waiting) > _MOST_FLOWS else ""
        facts[f"{device.name} out of credit"] = ", ".join(waiting[:_MOST_FLOWS]) + more
    values = {
        f"{device.name}.frozen.{name}": word
        for name, word in zip(levels, words[count:], strict=True)
    }
    return facts, values


def _levels(device: Device) -> dict[str, str]:
    """Return the registers with the words in each FIFO at the freeze, and what they say."""
    bank = device.found.card.said.bank
    return {
        part.wire: f"{part.doc} when the card froze"
        for way in device.roles.ways
        for part in bank.values()
        if way.level and part.wire == way.level
    }


def _out_of_credit(device: Device) -> list[str]:
    flows = range(device.identity.flows_count)
    words = device.read_many(
        [(f"frozen_flow.{name}", flow) for flow in flows for name in ("sent", "credited", "limit")]
    )
    modulus = 1 << device.identity.flows_credit_w
    found = []
    for flow in flows:
        sent, credited, limit = words[3 * flow : 3 * flow + 3]
        outstanding = (sent - credited) % modulus
        if limit and outstanding >= limit:
            found.append(f"flow {flow} ({outstanding:,} of {limit:,} words outstanding)")
    return found


def _laws_of(device: Recorder) -> list[Law]:
    """Return the laws that live counters can be held to; those of a card file need all of their terms there."""
    if isinstance(device, Device):
        roles = device.roles
        capacities = {way.capacity: getattr(device.identity, way.capacity) for way in roles.ways}
        return card_laws(device.name, roles, capacities)
    if not isinstance(device, CardDevice):
        return []
    counted, name = device.map.counters, device.name
    return [
        Law(
            f"{name} {law.name}",
            tuple(f"{name}.{term}" for term in law.plus),
            tuple(f"{name}.{term}" for term in law.minus),
            law.least,
            law.most,
        )
        for law in device.found.card.laws
        if law.least is not None
        and law.most is not None
        and counted.keys() >= {*law.plus, *law.minus}
    ]


def _counters_of(device: Recorder) -> list[Counter]:
    if isinstance(device, CardDevice):
        return _counters_of_card(device)
    if not isinstance(device, Device):
        raise TypeError(f"{device.name} is a device of another map")
    return _counters_of_map_1(device)


def _counters_of_card(device: CardDevice) -> list[Counter]:
    name, label = device.name, (("device", device.name),)
    made = [
        Counter(
            f"{name}.{counter}", "counter", info.unit, info.doc, "card_counter",
            (*label, ("card", device.found.card.name), ("counter", counter)),
        )
        for counter, info in device.map.counters.items()
    ]  # fmt: skip
    return made + [
        Counter(
            f"{name}.memory.{memory.tap.name}.stored", "gauge", "records",
            "Records stored since the arm", "card_memory_stored", (*label, ("memory", memory.tap.name)),
        )
        for memory in device.memories
        if memory.lane == 0
    ]  # fmt: skip


def _counters_of_map_1(of: Device) -> list[Counter]:
    device, label = of.name, (("device", of.name),)
    made = [
        Counter(f"{device}.{name}", "counter", info.unit, info.doc, f"card_{name}", label)
        for name, info in of.map.counters.items()
    ]
    for memory in of.roles.memories:
        for count in _MEMORY_COUNTS:
            # A gauge, because arming sets it back to 0.
            made.append(
                Counter(
                    f"{device}.memory.{memory}.{count}",
                    "gauge",
                    "records",
                    register(f"memory.{count}").doc,
                    f"card_memory_{count}",
                    (*label, ("memory", memory)),
                )
            )
    for name, text in _levels(of).items():
        made.append(
            Counter(f"{device}.frozen.{name}", "gauge", "words", text, f"card_frozen_{name}", label)
        )
    return made
