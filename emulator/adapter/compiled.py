"""From a profile of stages to the tables of the engine: stages and resources of each node, the route of each flow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from freezeframe.emulator.adapter import layout
from freezeframe.emulator.adapter.layout import World
from freezeframe.emulator.adapter.reading import Described
from freezeframe.emulator.adapter.references import route_of
from freezeframe.emulator.adapter.tables import Flow, Stage
from freezeframe.emulator.adapter.traffic import Load, load_of

_PS = 1000  # of a nanosecond
_POLICY = {
    "fifo": layout.FIFO, "priority": layout.PRIORITY, "round-robin": layout.ROUND_ROBIN, "edd": layout.EDD,
}  # fmt: skip
_MODE = {"saturating": layout.SATURATING, "window": layout.WINDOW, "ping-pong": layout.WINDOW}


class Place(NamedTuple):
    """A copy of a stage, resource or pool: its name and its node; -1 where all nodes share it. ``bank`` from 0."""

    name: str
    node: int
    bank: int = 0


class Way(NamedTuple):
    """A flow as it is simulated: its name, flow, whether it is the way back of a ping-pong, and its messages."""

    name: str
    flow: Flow
    back: bool
    load: Load


@dataclass(slots=True)
class Compiled:
    """The tables before a run, and what their rows are called."""

    described: Described
    world: World
    ways: list[Way]
    groups: list[Place]
    resources: list[Place]
    pools: list[Place]


@dataclass(slots=True)
class _Tables:
    """Rows as they are found; a place has a row from when a route first needs it."""

    described: Described
    refs: list[int] = field(default_factory=list)
    groups: dict[Place, tuple[object, ...]] = field(default_factory=dict)
    resources: dict[Place, tuple[object, ...]] = field(default_factory=dict)
    pools: dict[Place, tuple[int, int, bool]] = field(default_factory=dict)
    queues: dict[tuple[Place, int], tuple[object, ...]] = field(default_factory=dict)
    steps: list[tuple[object, ...]] = field(default_factory=list)

    def references(self, numbers: Sequence[int]) -> tuple[int, int]:
        """Note a list of rows; return its place and length."""
        first = len(self.refs)
        self.refs += numbers
        return first, len(numbers)

    def resource(self, name: str, node: int) -> int:
        table = self.described.adapter.resource[name]
        node = -1 if table.shared else node
        for bank in range(table.banks):
            self.resources.setdefault(
                Place(name, node, bank),
                (
                    table.banks,
                    table.servers,
                    table.servers,
                    _POLICY[table.order],
                    table.preempts,
                    0,
                    table.whole,
                    -1,
                    0,
                    0,
                ),
            )
        return list(self.resources).index(Place(name, node))

    def pool(self, name: str, node: int, flow: str) -> int:
        table = self.described.adapter.pool[name]
        name = f"{name} of {flow}" if table.per_flow else name
        place = Place(name, -1 if table.shared else node)
        return self._pool(place, table.tokens, table.unit_B, table.per_message)

    def room(self, stage: str, node: int) -> int:
        """Return the pool whose tokens are the places of a queue that the stage before waits for."""
        tokens = self.described.adapter.stage[stage].queue
        return self._pool(Place(f"queue of {stage}", node), tokens, 0)

    def _pool(self, place: Place, tokens: int, unit_B: int, per_message: bool = False) -> int:
        self.pools.setdefault(place, (tokens, unit_B, per_message))
        return list(self.pools).index(place)

    def group(self, name: str, node: int) -> int:
        stage = self.described.adapter.stage[name]
        capacity = stage.queue if stage.when_full == "drop" else 0
        self.groups.setdefault(Place(name, node), (capacity, 0, 0, 0, 0, 0, 0, 0))
        return list(self.groups).index(Place(name, node))


def compile_adapter(described: Described) -> Compiled:
    """Return the tables of a profile, with its messages.

    Raises:
        InputError: the file of a trace cannot be used.
    """
    adapter = described.adapter
    ways: list[Way] = []
    for name, flow in adapter.flow.items():
        load = load_of(flow, name, adapter.run.messages, adapter.run.seed, described.file.folder)
        ways.append(Way(name, flow, False, load))
        if flow.arrivals == "ping-pong":
            ways.append(Way(f"{name} (back)", flow, True, load))
    tables = _Tables(described)
    firsts = [_steps(tables, number, way) for number, way in enumerate(ways)]
    flows, messages, packets = _messages(
        ways, firsts, [len(route_of(adapter, w.flow)) for w in ways]
    )
    pools = np.zeros(len(tables.pools), layout.POOL)
    reserved = np.zeros((len(pools), len(ways)), np.int64)
    for row, (place, (tokens, unit_B, per_message)) in enumerate(tables.pools.items()):
        table = adapter.pool.get(place.name)
        for number, way in enumerate(ways):
            reserved[row, number] = table.reserved.get(way.name, 0) if table is not None else 0
        pools[row]["tokens"], pools[row]["unit_B"] = tokens, unit_B
        pools[row]["per_message"] = per_message
        pools[row]["room"] = tokens - reserved[row].sum()
    resources = np.array(list(tables.resources.values()), layout.RESOURCE)
    most = max((int(row["servers"]) for row in resources), default=1)
    world = World(
        state=np.zeros(7, np.int64),
        flows=flows,
        steps=np.array(tables.steps, layout.STEP),
        refs=np.array(tables.refs or [0], np.int64),
        queues=np.array(list(tables.queues.values()), layout.QUEUE),
        groups=np.array(list(tables.groups.values()), layout.GROUP),
        resources=resources,
        running=np.full((len(resources), most), -1, np.int64),
        turn=np.zeros((len(resources), len(ways)), np.int64),
        pools=pools,
        used=np.zeros_like(reserved),
        reserved=reserved,
        packets=packets,
        messages=messages,
        heap=np.zeros(2 * len(packets) + len(ways) + 256, layout.EVENT),
        samples=np.zeros((0, 0), np.int64),
    )
    return Compiled(
        described, world, ways, list(tables.groups), list(tables.resources), list(tables.pools)
    )


def _ps(ns: float) -> int:
    return round(ns * _PS)


def _steps(tables: _Tables, number: int, way: Way) -> int:
    """Append the steps of a flow; return the place of the first."""
    adapter, first = tables.described.adapter, len(tables.steps)
    ends = (way.flow.to, way.flow.from_) if way.back else (way.flow.from_, way.flow.to)
    route = route_of(adapter, way.flow)
    for at, name in enumerate(route):
        stage = adapter.stage[name]
        node = ends[stage.at == "receiver"]
        uses = [tables.resource(one, node) for one in stage.uses]
        takes = [tables.pool(one, node, way.name) for one in stage.takes]
        if at + 1 < len(route):
            following = adapter.stage[route[at + 1]]
            if following.queue and following.when_full == "wait":
                takes.append(tables.room(route[at + 1], ends[following.at == "receiver"]))
        gives = [
            tables.pool(one, _taker_node(tables, route[: at + 1], one, ends), way.name)
            for one in stage.gives
        ]
        leaves = (
            [tables.room(name, node)] if at and stage.queue and stage.when_full == "wait" else []
        )
        policy = adapter.resource[stage.uses[0]].order if stage.uses else "fifo"
        tables.steps.append((
            _queue(tables, name, node, number), list(adapter.stage).index(name),
            stage.priority + way.flow.priority, _POLICY[policy],
            *tables.references(uses), *tables.references(takes), *tables.references(gives), *tables.references(leaves),
            _ps(stage.fixed_ns), _ps(stage.message_ns), stage.segment_B, _ps(stage.segment_ns),
            stage.byte_ns * _PS, stage.knee_B, stage.beyond_byte_ns * _PS,
        ))  # fmt: skip
    return first


def _taker_node(tables: _Tables, passed: list[str], pool: str, ends: tuple[int, int]) -> int:
    """Return the node whose tokens are given back: that of the stage which took them."""
    stages = tables.described.adapter.stage
    taker = next(stages[one] for one in reversed(passed) if pool in stages[one].takes)
    return ends[taker.at == "receiver"]


def _queue(tables: _Tables, name: str, node: int, flow: int) -> int:
    stage = tables.described.adapter.stage[name]
    most = _most(stage)
    own = -1 if most > 1 and not stage.merge else flow  # messages of all flows gather in one
    group = tables.group(name, node)
    edd = stage.order == "edd" or any(
        tables.described.adapter.resource[r].order == "edd" for r in stage.uses
    )
    back_off = tables.group(stage.back_off, node) if stage.back_off else -1
    row = (
        -1, -1, 0, group, edd, stage.gather, most, _ps(stage.gather_wait_ns), stage.merge, back_off,
        stage.back_off_at, _ps(stage.poll_ns), stage.assemble,
    )  # fmt: skip
    key = (Place(name, node), own)
    tables.queues.setdefault(key, row)
    return list(tables.queues).index(key)


def _most(stage: Stage) -> int:
    """Return how many messages one job of a stage takes at most."""
    return max(stage.gather_most, stage.gather)


def _messages(
    ways: list[Way], firsts: list[int], steps: list[int]
) -> tuple[layout.Table, layout.Table, layout.Table]:
    """Return the tables of flows, messages and packets."""
    flows = np.zeros(len(ways), layout.FLOW)
    parts: list[layout.Table] = []
    packets: list[layout.Table] = []
    first_message = first_packet = 0
    for number, way in enumerate(ways):
        count, flow, row = len(way.load.size_B), way.flow, flows[number]
        mode = layout.ANSWER if way.back else _MODE.get(flow.arrivals, layout.OPEN)
        reply = number - 1 if way.back else number + 1 if flow.arrivals == "ping-pong" else -1
        row["first"], row["messages"], row["mode"], row["reply"] = first_message, count, mode, reply
        row["step"], row["steps"], row["outstanding"] = (
            firsts[number],
            steps[number],
            flow.outstanding,
        )
        row["think"], row["due"] = _ps(flow.think_ns), _ps(flow.due_ns)
        sizes = way.load.size_B
        cut = np.full(count, flow.packet_B, np.int64) if flow.packet_B else np.maximum(sizes, 1)
        table = np.zeros(count, layout.MESSAGE)
        table["flow"], table["size"] = number, sizes
        table["born"] = way.load.born_ps if mode == layout.OPEN else -1
        table["packets"] = table["left"] = np.maximum(1, -(-sizes // cut))
        table["done"] = -1
        ends = np.cumsum(table["packets"])
        table["first"] = first_packet + ends - table["packets"]
        whole = int(ends[-1]) if count else 0
        of = np.repeat(np.arange(count), table["packets"])
        place = np.arange(whole) - (table["first"] - first_packet)[of]
        part = np.zeros(whole, layout.PACKET)
        part["flow"], part["message"] = number, first_message + of
        part["size"] = part["sum"] = np.minimum(cut[of], sizes[of] - place * cut[of])
        part["next"] = part["member"] = part["left"] = part["done"] = -1
        part["members"] = 1
        parts.append(table)
        packets.append(part)
        first_message += count
        first_packet += whole
    return flows, np.concatenate(parts), np.concatenate(packets)
