"""What one key of a profile of stages says of another: names that are there, tokens that come back, traffic."""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.capture.nearest import no_such
from freezeframe.emulator.adapter.tables import MOST_MESSAGES, Adapter, Flow, Stage

Where = tuple[str | int, ...]
_TIMED = ("periodic", "poisson", "on-off", "pareto")


def route_of(adapter: Adapter, flow: Flow) -> list[str]:
    """Return the stages that a flow passes: those it names, else all in the order of the file."""
    return flow.route or list(adapter.stage)


def problems_of(adapter: Adapter) -> Iterator[tuple[Where, str]]:
    """Yield where and what."""
    if not adapter.flow:
        yield ("flow",), "there is no [flow.NAME]; without messages there is nothing to simulate"
    for name, resource in adapter.resource.items():
        if resource.preempts and resource.order != "priority":
            path = ("resource", name, "preempts")
            yield (
                path,
                f"resource.{name}: preempts, but order is {resource.order!r}; it must be 'priority'",
            )
        lossy = [
            stage.queue and stage.when_full == "drop"
            for stage in adapter.stage.values()
            if name in stage.uses
        ]
        gathers = any(max(one.gather, one.gather_most) > 1 for one in adapter.stage.values())
        if resource.whole and (any(lossy) or gathers or resource.servers > 1 or resource.banks > 1):
            yield (
                ("resource", name, "whole"),
                f"resource.{name}: whole, so one server, one bank, no stage of it that drops packets and none at all "
                "that gathers",
            )
    for name, pool in adapter.pool.items():
        if pool.per_flow and pool.reserved:
            yield ("pool", name, "reserved"), f"pool.{name}: per_flow leaves nothing to reserve"
        yield from _names(
            ("pool", name, "reserved"), list(pool.reserved), list(adapter.flow), "flow"
        )
        kept = sum(pool.reserved.values())
        if kept > pool.tokens:
            path = ("pool", name, "reserved")
            yield path, f"pool.{name}: {kept} tokens are reserved of {pool.tokens}"
    for name, stage in adapter.stage.items():
        yield from _stage(adapter, name, stage)
    for name, flow in adapter.flow.items():
        yield from _flow(adapter, name, flow)


def _names(
    path: Where, given: list[str], known: list[str], what: str
) -> Iterator[tuple[Where, str]]:
    for one in given:
        if one not in known:
            yield path, f"{'.'.join(map(str, path))}: {no_such(what, one, known)}"


def _stage(adapter: Adapter, name: str, stage: Stage) -> Iterator[tuple[Where, str]]:
    path: Where = ("stage", name)
    yield from _names((*path, "uses"), stage.uses, list(adapter.resource), "resource")
    yield from _names((*path, "takes"), stage.takes, list(adapter.pool), "pool")
    yield from _names((*path, "gives"), stage.gives, list(adapter.pool), "pool")
    for key, listed in (("uses", stage.uses), ("takes", stage.takes), ("gives", stage.gives)):
        if len(set(listed)) < len(listed):
            yield (*path, key), f"stage.{name}.{key}: a name stands twice"
    most = stage.gather_most or stage.gather
    if most < stage.gather:
        yield (
            (*path, "gather_most"),
            f"stage.{name}: gather_most = {most} is less than gather = {stage.gather}",
        )
    if stage.gather > 1 and not stage.gather_wait_ns:
        yield (
            (*path, "gather"),
            f"stage.{name}: gather = {stage.gather} without gather_wait_ns: the last messages would wait for ever",
        )
    if most > 1 and stage.takes:
        yield (
            (*path, "takes"),
            f"stage.{name}: a stage that gathers takes no tokens; let the one before take them",
        )
    lossy = stage.when_full == "drop" and bool(stage.queue)
    if stage.assemble and (most > 1 or lossy or stage.order == "edd" or stage.merge):
        yield (
            (*path, "assemble"),
            f"stage.{name}: assemble makes a job of a message's packets in their order: no gather, merge, edd, drop",
        )
    if lossy and any(one.assemble for one in adapter.stage.values()):
        yield (
            (*path, "when_full"),
            f"stage.{name}: drops packets that a stage which assembles would wait for",
        )
    if stage.back_off:
        yield from _names((*path, "back_off"), [stage.back_off], list(adapter.stage), "stage")
        if not stage.back_off_at:
            yield (
                (*path, "back_off"),
                f"stage.{name}: back_off without back_off_at, of 1 or more waiting messages",
            )
    if stage.when_full == "drop" and not stage.queue:
        yield (*path, "when_full"), f"stage.{name}: when_full = 'drop', but queue = 0 is never full"


def _flow(adapter: Adapter, name: str, flow: Flow) -> Iterator[tuple[Where, str]]:
    path: Where = ("flow", name)
    yield from _names((*path, "route"), flow.route, list(adapter.stage), "stage")
    if flow.arrivals in _TIMED and not flow.rate_per_s:
        yield (*path, "rate_per_s"), f"flow.{name}: {flow.arrivals!r} needs rate_per_s"
    if flow.arrivals == "on-off" and not flow.on_ns:
        yield (*path, "on_ns"), f"flow.{name}: 'on-off' needs on_ns and off_ns"
    if flow.arrivals == "pareto" and flow.alpha <= 1:
        yield (
            (*path, "alpha"),
            f"flow.{name}: alpha = {flow.alpha:g}; gaps have a mean from alpha above 1 on",
        )
    if (flow.arrivals in ("trace", "pcap")) != bool(flow.file):
        yield (*path, "file"), f"flow.{name}: file and arrivals = 'trace' or 'pcap' belong together"
    if flow.weights and len(flow.weights) != len(flow.sizes_B):
        yield (
            (*path, "weights"),
            f"flow.{name}: {len(flow.weights)} weights for {len(flow.sizes_B)} sizes_B",
        )
    if flow.weights and not sum(flow.weights):
        yield (*path, "weights"), f"flow.{name}: all weights are 0"
    if flow.size_alpha and not 0 < flow.size_B <= flow.size_most_B:
        yield (*path, "size_alpha"), f"flow.{name}: size_alpha needs 0 < size_B <= size_most_B"
    largest = max([flow.size_B, flow.size_most_B, *flow.sizes_B])
    count = flow.messages or adapter.run.messages
    packets = count * (-(-largest // flow.packet_B) if flow.packet_B else 1)
    if packets > MOST_MESSAGES:
        yield (
            (*path, "packet_B"),
            f"flow.{name}: {packets:,} packets; a run has at most {MOST_MESSAGES:,}",
        )
    yield from _route(adapter, name, flow, largest)


def _route(adapter: Adapter, name: str, flow: Flow, largest_B: int) -> Iterator[tuple[Where, str]]:
    """Look at the tokens that a flow takes on its way, and whether going round takes any time."""
    route = [stage for stage in route_of(adapter, flow) if stage in adapter.stage]
    held: dict[str, str] = {}
    merged = 1
    for before, this in zip(["", *route], route, strict=False):
        stage = adapter.stage[this]
        if stage.queue and stage.when_full == "wait":
            if not before:
                yield (
                    ("stage", this, "when_full"),
                    f"stage.{this}: nothing stands before it that could wait; when_full = 'drop', or queue = 0",
                )
            elif max(adapter.stage[before].gather_most, adapter.stage[before].gather) > 1:
                yield (
                    ("stage", this, "when_full"),
                    f"stage.{this}: {before} gathers and cannot wait for room; when_full = 'drop', or queue = 0",
                )
            elif stage.queue < merged:
                yield (
                    ("stage", this, "queue"),
                    f"stage.{this}: queue = {stage.queue} has no room for the {merged} messages that a stage before "
                    "merges into one; it would wait for ever",
                )
        for pool in stage.takes:
            if pool in held:
                yield (
                    ("stage", this, "takes"),
                    f"stage.{this}: flow {name} can deadlock: it takes from pool {pool} while it holds what "
                    f"stage {held[pool]} took from it",
                )
            held[pool] = this
            yield from _fits(adapter, name, flow, this, pool, largest_B, merged)
        for pool in stage.gives:
            if held.pop(pool, None) is None:
                yield (
                    ("stage", this, "gives"),
                    f"stage.{this}: flow {name} gives back to pool {pool} what it has not taken",
                )
        merged *= max(stage.gather, stage.gather_most) if stage.merge else 1
    for name_of, resource in adapter.resource.items():
        users = [this for this in route if name_of in adapter.stage[this].uses]
        if resource.whole and len(users) > 1:
            yield (
                ("resource", name_of, "whole"),
                f"resource.{name_of}: whole, so one stage of flow {name} can use it, not {' and '.join(users)}",
            )
    for pool, taker in held.items():
        yield (
            ("stage", taker, "takes"),
            f"stage.{taker}: flow {name} takes from pool {pool} and never gives back; it would run dry",
        )
    if flow.arrivals in ("window", "ping-pong") and not flow.think_ns:
        timed = any(
            stage.fixed_ns or stage.message_ns or stage.segment_ns or stage.byte_ns
            for stage in (adapter.stage[one] for one in route)
        )
        if not timed:
            yield (
                ("flow", name, "arrivals"),
                f"flow.{name}: {flow.arrivals!r} goes round {' -> '.join(route) or 'no stage'} without a stage "
                "that takes time; it would go round for ever in none",
            )


def _fits(
    adapter: Adapter, name: str, flow: Flow, stage: str, pool: str, largest_B: int, merged: int
) -> Iterator[tuple[Where, str]]:
    table = adapter.pool.get(pool)
    if table is None:
        return
    part_B = min(largest_B, flow.packet_B or largest_B)
    if adapter.stage[stage].assemble:
        merged = max(1, -(-largest_B // max(1, part_B)))
    needs = merged * max(1, -(-part_B // table.unit_B) if table.unit_B else 1)
    needs = 1 if table.per_message else needs
    room = table.tokens - sum(kept for other, kept in table.reserved.items() if other != name)
    if needs > room:
        yield (
            ("stage", stage, "takes"),
            f"stage.{stage}: {merged * part_B:,} B of flow {name} take {needs:,} tokens of pool {pool}, which has "
            f"{room:,} for it: it would wait for ever",
        )
