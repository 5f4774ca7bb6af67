"""Deadlocks that a profile allows: pools of which each is waited for by somebody who holds the next, found as a cycle.

A stage takes all its tokens at one time or none, and no resource is occupied while something is waited for; so only
what is taken at one stage and held at a later one can close a circle. A queue of which the stage before waits for room
is such a pool: its token is taken before, and given back when the message leaves the queue. A resource that stays with
a whole message is held while its later packets come: they must not need what packets of another flow hold that wait for
it. Packets that overtake each other on their way there are not looked at; the run then names the deadlock.
"""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.emulator.adapter.references import Where, route_of
from freezeframe.emulator.adapter.tables import Adapter


def deadlocks(adapter: Adapter) -> Iterator[tuple[Where, str]]:
    """Yield one message for each circle of pools and queues that wait for each other."""
    waits: dict[str, dict[str, str]] = {}  # held -> wanted -> where
    behind: dict[tuple[str, str], dict[str, str]] = {}  # (resource, pool) -> flow -> stage
    own = {f"pool {name}" for name, pool in adapter.pool.items() if pool.per_flow}
    for name, flow in adapter.flow.items():
        held: list[str] = []
        route = route_of(adapter, flow)
        for at, this in enumerate(route):
            wanted = [f"pool {pool}" for pool in adapter.stage[this].takes]
            following = route[at + 1] if at + 1 < len(route) else ""
            if following and _waits(adapter, following):
                wanted.append(f"queue of {following}")
            for one in held:
                for other in wanted:
                    waits.setdefault(one, {}).setdefault(other, f"{this} (flow {name})")
            for resource in _whole(adapter, this) if flow.packet_B else ():
                wanted.append(resource)
                for one in held:
                    waits.setdefault(one, {}).setdefault(resource, f"{this} (flow {name})")
                    if not one.startswith("resource") and one not in own:
                        behind.setdefault((resource, one), {})[name] = this
            held = [one for one in held if one != f"queue of {this}"] + wanted
            held = [
                one for one in held if one not in {f"pool {p}" for p in adapter.stage[this].gives}
            ]
    for (resource, pool), flows in behind.items():
        if len(flows) > 1:  # packets of one flow are in order: none waits behind a later message
            waits.setdefault(resource, {})[pool] = " or ".join(
                f"{s} (flow {f})" for f, s in flows.items()
            )
    for circle in _circles(waits):
        parts = [
            f"{one} is held while stage {waits[one][other]} waits for {other}"
            for one, other in zip(circle, [*circle[1:], circle[0]], strict=True)
        ]
        kind, _, last = circle[0].rpartition(" ")
        path: Where = (kind, last) if kind in ("pool", "resource") else ("stage", last, "queue")
        yield path, f"can deadlock: {'; '.join(parts)}"


def _whole(adapter: Adapter, stage: str) -> list[str]:
    uses = adapter.stage[stage].uses
    return [f"resource {name}" for name in uses if adapter.resource[name].whole]


def _waits(adapter: Adapter, stage: str) -> bool:
    table = adapter.stage[stage]
    return table.queue > 0 and table.when_full == "wait"


def _circles(waits: dict[str, dict[str, str]]) -> Iterator[list[str]]:
    """Yield a shortest circle through each node that is in one and not in a circle yielded before."""
    seen: set[str] = set()
    for start in waits:
        if start in seen:
            continue
        paths = [[start]]
        reached = {start}
        while paths:
            path = paths.pop(0)
            following = waits.get(path[-1], {})
            if start in following:
                seen.update(path)
                yield path
                break
            for one in following:
                if one not in reached:
                    reached.add(one)
                    paths.append([*path, one])
