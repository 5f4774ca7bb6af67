"""A run of a profile of stages, and what it shows: throughput, latency, what was occupied, what is in the way.

Every run is checked: each packet and byte has arrived or was dropped, all tokens are back, nothing is occupied, no
resource was occupied for longer than the run, and the exact bound was not beaten.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from freezeframe.capture.errors import InputError
from freezeframe.emulator.adapter.bound import Bound, bounds
from freezeframe.emulator.adapter.compiled import Compiled, Place, compile_adapter
from freezeframe.emulator.adapter.engine import run_tables
from freezeframe.emulator.adapter.layout import ANSWER, World
from freezeframe.emulator.adapter.reading import Described

_PERCENTILES = (50, 90, 99)


@dataclass(frozen=True, slots=True)
class Occupied:
    """A resource or pool of a node (-1: shared): for what share of the time it was occupied; the most tokens out."""

    name: str
    node: int
    kind: str
    share: float
    most: int = 0

    @property
    def label(self) -> str:
        return self.name if self.node < 0 else f"{self.name}@{self.node}"


@dataclass(frozen=True)
class Outcome:
    """What a run showed; times in picoseconds from the first arrival on."""

    compiled: Compiled
    world: World

    @cached_property
    def took_ps(self) -> int:
        """From the first arrival to the last."""
        done = self.world.messages["done"]
        return int(done.max() - self.world.messages["born"].min()) if len(done) else 0

    @cached_property
    def arrived(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """``(n,)``: whether each message has arrived whole."""
        return np.asarray((self.world.messages["lost"] == 0) & (self.world.messages["done"] >= 0))

    @property
    def messages(self) -> int:
        return int(self.arrived.sum())

    @property
    def dropped(self) -> int:
        """Packets dropped."""
        return int(self.world.packets["dropped"].sum())

    @property
    def bytes_(self) -> int:
        return int(self.world.messages["size"][self.arrived].sum())

    @property
    def throughput_MBps(self) -> float:
        """Megabytes (10^6) a second of messages that arrived."""
        return self.bytes_ / self.took_ps * 1e6 if self.took_ps else 0.0

    @property
    def messages_per_s(self) -> float:
        return self.messages / self.took_ps * 1e12 if self.took_ps else 0.0

    @cached_property
    def bounds(self) -> list[Bound]:
        return bounds(self.compiled, self.world)

    @property
    def bound_MBps(self) -> float:
        """The throughput that nothing can exceed."""
        least = self.bounds[0].least_ps
        return self.bytes_ / least * 1e6 if least else 0.0

    def bound_label(self, bound: Bound) -> str:
        """Return what makes a bound, as ``memory bus@0``."""
        if bound.kind == "arrivals":
            return "arrivals"
        if bound.kind == "window":
            return f"window of {self.compiled.ways[bound.row].name}"
        places = self.compiled.resources if bound.kind == "resource" else self.compiled.pools
        return _label(places[bound.row])

    @property
    def bottleneck(self) -> str:
        """What the largest bound is made by."""
        return self.bound_label(self.bounds[0])

    @property
    def bottleneck_share(self) -> float:
        """The part of the run for which the bottleneck was needed: near 1 where it alone decides."""
        return self.bounds[0].least_ps / self.took_ps if self.took_ps else 0.0

    def latency_ns(self, flow: int | None = None) -> dict[str, float]:
        """Return the distribution of the time from arrival to delivery, of all flows or of one."""
        table = self.world.messages[self.arrived]
        if flow is not None:
            table = table[table["flow"] == flow]
        spans = np.sort(table["done"] - table["born"])
        if not len(spans):
            return {}
        found = {"min": spans[0] / 1000, "mean": float(spans.mean()) / 1000}
        for percent in _PERCENTILES:  # nearest rank
            place = max(0, -(-len(spans) * percent // 100) - 1)
            found[f"p{percent}"] = spans[place] / 1000
        found["max"] = spans[-1] / 1000
        return {name: float(value) for name, value in found.items()}

    def occupied(self) -> list[Occupied]:
        """Return the share of the run for which each resource and pool was occupied."""
        took = max(self.took_ps, 1)
        found = [
            Occupied(_bank(place), place.node, "resource", float(row["busy"]) / int(row["servers"]) / took)
            for place, row in zip(self.compiled.resources, self.world.resources, strict=True)
        ]  # fmt: skip
        for place, row in zip(self.compiled.pools, self.world.pools, strict=True):
            share = float(row["area"]) / int(row["tokens"]) / took
            found.append(Occupied(place.name, place.node, "pool", share, int(row["most"])))
        return found

    def shown(self) -> dict[str, Any]:
        """Return all of it as a document; throughput in 10^6 bytes a second, times in nanoseconds."""
        return {
            "messages": self.messages,
            "dropped_packets": self.dropped,
            "bytes": self.bytes_,
            "took_ns": self.took_ps / 1000,
            "throughput_MBps": self.throughput_MBps,
            "messages_per_s": self.messages_per_s,
            "bound_MBps": self.bound_MBps,
            "bottleneck": self.bottleneck,
            "bottleneck_share": self.bottleneck_share,
            "latency_ns": self.latency_ns(),
            "flows": {
                way.name: {
                    "latency_ns": self.latency_ns(number),
                    "messages": self.arrived_of(number),
                }
                for number, way in enumerate(self.compiled.ways)
            },
            "occupied": {part.label: part.share for part in self.occupied()},
            "stages": {name: self.stage(name) for name in self.compiled.described.adapter.stage},
        }

    def arrived_of(self, flow: int) -> int:
        """Return how many messages of a flow have arrived."""
        return int((self.arrived & (self.world.messages["flow"] == flow)).sum())

    def stage(self, name: str) -> dict[str, int]:
        """Return what a stage did, over all nodes: jobs, packets, dropped, most that waited, times in ps."""
        rows = [
            self.world.groups[row]
            for row, place in enumerate(self.compiled.groups)
            if place.name == name
        ]
        names = ("jobs", "packets", "dropped", "waited", "busy")
        found = {key: sum(int(row[key]) for row in rows) for key in names}
        return found | {"most": max((int(row["most"]) for row in rows), default=0)}


def _label(place: Place) -> str:
    name = _bank(place)
    return name if place.node < 0 else f"{name}@{place.node}"


def _bank(place: Place) -> str:
    return place.name if not place.bank else f"{place.name}.{place.bank}"


def run_adapter(described: Described) -> Outcome:
    """Run a profile to its end and check what must hold.

    Raises:
        InputError: it deadlocked; the message names who waits for what. Or a trace cannot be used.
    """
    return run_compiled(compile_adapter(described))


def run_compiled(compiled: Compiled) -> Outcome:
    """Run tables to their end and check what must hold.

    Raises:
        InputError: it deadlocked.
    """
    outcome = Outcome(compiled, run_tables(compiled.world))
    _check(outcome)
    return outcome


def _check(outcome: Outcome) -> None:
    world = outcome.world
    stuck = world.packets["done"] < 0
    waiting = _born(world)[world.packets["message"]]
    if (stuck & waiting).any() or not waiting.all():
        raise InputError(f"{outcome.compiled.described.file.path}: {_stuck(outcome)}")
    packets, messages = world.packets, world.messages
    laws = {
        "bytes of packets are those of messages": packets["size"].sum() == messages["size"].sum(),
        "each message is over with its packets": bool((messages["left"] == 0).all()),
        "what was dropped was dropped at a stage": outcome.dropped == world.groups["dropped"].sum(),
        "all tokens are back": not world.used.any() and not world.pools["used"].any(),
        "nothing is occupied": bool((world.running == -1).all()),
        "no job is left": bool((world.groups["waiting"] == 0).all()),
        "nothing was occupied for longer than the run": bool(
            (
                world.resources["busy"]
                <= world.resources["servers"].astype(np.int64) * outcome.took_ps
            ).all()
        ),
        "the bound holds": outcome.bounds[0].least_ps <= outcome.took_ps * (1 + 1e-9) + 1000,
    }
    for law, holds in laws.items():
        if not holds:
            raise AssertionError(f"{outcome.compiled.described.file.name}: broken law: {law}")


def _born(world: World) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """``(n,)``: whether each message came; of a ping-pong whose questions were lost, answers did not."""
    came = np.ones(len(world.messages), bool)
    for flow in world.flows:
        if flow["mode"] == ANSWER:
            came[flow["first"] + flow["next"] : flow["first"] + flow["messages"]] = False
    return came


def _stuck(outcome: Outcome) -> str:
    world, compiled = outcome.world, outcome.compiled
    for row in range(len(world.queues)):
        p = int(world.queues[row]["head"])
        if p < 0:
            continue
        packet = world.packets[p]
        step = world.steps[int(world.flows[packet["flow"]]["step"]) + int(packet["step"])]
        wants = [
            compiled.pools[int(r)] for r in world.refs[step["take"] : step["take"] + step["takes"]]
        ]
        stage = compiled.groups[int(world.queues[row]["group"])]
        names = ", ".join(
            f"{_label(place)} ({int(world.pools[compiled.pools.index(place)]['used'])} of "
            f"{int(world.pools[compiled.pools.index(place)]['tokens'])} out)"
            for place in wants
        )
        t_ns = int(world.state[2]) / 1000
        return f"deadlock at {t_ns:,.0f} ns: stage {_label(stage)} waits for tokens of {names}"
    return "deadlock: messages are left and nothing waits"
