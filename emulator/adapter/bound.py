"""What no order of events can beat: the least time in which the messages of a run can pass, in closed form.

A resource is occupied for the sum of its jobs, and a pool's tokens for at least the sum of the jobs between taking
and giving back; neither can be occupied more than whole. A window is a pool of messages. So T >= max(demand / servers,
demand / tokens, last arrival + its jobs).
For the CIM 250 this is END's max(T1/p, M_o, T_D, T_F, T_D + 2/3 F_o + n F_d).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.emulator.adapter.compiled import Compiled
from freezeframe.emulator.adapter.layout import ANSWER, OPEN, WINDOW, Table, World

Reals = npt.NDArray[np.float64]


class Bound(NamedTuple):
    """The least time, and by what: ``resource``, ``pool``, ``window`` of a flow or ``arrivals``, with its row."""

    least_ps: float
    kind: str
    row: int


def job_ps(
    step: np.void, bytes_: npt.NDArray[np.int64], share: int | npt.NDArray[np.int64] = 1
) -> Reals:
    """Return how long jobs of one message take, in picoseconds; ``share``: of what a job costs once."""
    size = bytes_.astype(np.float64)
    knee = float(step["knee_B"])
    lasts = (
        step["fixed"] / share
        + step["message"]
        + step["segment"] * np.ceil(size / step["segment_B"]) / share
    )
    if knee and np.any(
        np.greater(share, 1)
    ):  # what was gathered may lie on either side of the knee
        return np.asarray(lasts + min(step["byte"], step["beyond"]) * size)
    if knee:
        below = np.minimum(size, knee)
        return np.asarray(lasts + step["byte"] * below + step["beyond"] * (size - below))
    return np.asarray(lasts + step["byte"] * size)


def bounds(compiled: Compiled, world: World) -> list[Bound]:
    """Return each bound on the time from the first arrival to the last, for the packets that have arrived."""
    resources = np.zeros(len(compiled.resources))
    pools = np.zeros(len(compiled.pools))
    windows = np.zeros(len(world.flows))
    latest = 0.0
    packets = world.packets[world.packets["dropped"] == 0]
    first = world.messages["born"].min() if len(world.messages) else 0
    for number in range(len(world.flows)):
        flow = world.flows[number]
        mine = packets[packets["flow"] == number]
        if len(mine):
            whole = _flow(world, flow, mine, resources, pools)
            if flow["mode"] == OPEN:
                born = world.messages["born"][mine["message"]]
                latest = max(latest, float((born - first + whole).max()))
            elif flow["mode"] in (WINDOW, ANSWER):
                windows[flow["reply"] if flow["mode"] == ANSWER else number] += _under_way(
                    flow, mine, whole
                )
    found = [Bound(latest, "arrivals", 0)]
    for row, demand in enumerate(windows / np.maximum(world.flows["outstanding"], 1)):
        found.append(Bound(float(demand), "window", row))
    for row, demand in enumerate(resources / np.maximum(world.resources["servers"], 1)):
        found.append(Bound(float(demand), "resource", row))
    for row, demand in enumerate(pools / np.maximum(world.pools["tokens"], 1)):
        found.append(Bound(float(demand), "pool", row))
    return sorted(found, key=lambda bound: -bound.least_ps)


def _under_way(flow: np.void, mine: Table, whole: Reals | float) -> float:
    """Return for how long messages of a window are under way, and what is thought between them."""
    places = mine["message"] - flow["first"]
    spans = np.zeros(int(flow["messages"]))
    np.maximum.at(spans, places, whole)
    pauses = max(0, len(np.unique(places)) - int(flow["outstanding"]))
    return float(spans.sum() + pauses * int(flow["think"]))


def _flow(
    world: World, flow: np.void, mine: Table, resources: Reals, pools: Reals
) -> Reals | float:
    """Add a flow's demands; return how long its packets take where nothing is in their way."""
    whole: Reals | float = 0.0
    held: dict[int, Reals] = {}
    steps = world.steps[flow["step"] : flow["step"] + flow["steps"]]
    merged = 1
    for step in steps:
        most = int(world.queues[step["queue"]]["most"])
        # What a job costs once is shared by all that it gathers, and by all that were merged before.
        gathers: int | npt.NDArray[np.int64] = most * merged
        if world.queues[step["queue"]]["assemble"]:
            gathers = world.messages["packets"][mine["message"]]
        shared = job_ps(step, mine["size"], gathers)
        alone = job_ps(step, mine["size"], merged)
        for i in range(step["use"], step["use"] + step["uses"]):
            row = int(world.refs[i])
            banks = int(world.resources[row]["banks"])
            for bank in range(banks):
                resources[row + bank] += shared[mine["message"] % banks == bank].sum()
        for i in range(step["leave"], step["leave"] + step["leaves"]):
            pools[int(world.refs[i])] += _tokens(world, i, mine, held.pop(int(world.refs[i])))
        for i in range(step["take"], step["take"] + step["takes"]):
            held[int(world.refs[i])] = np.zeros(len(mine))
        held = {row: spans + alone for row, spans in held.items()}
        for i in range(step["give"], step["give"] + step["gives"]):
            pools[int(world.refs[i])] += _tokens(world, i, mine, held.pop(int(world.refs[i])))
        whole = whole + alone
        if world.queues[step["queue"]]["merge"]:
            merged *= most
    return whole


def _tokens(world: World, ref: int, mine: Table, held: Reals) -> float:
    pool = world.pools[int(world.refs[ref])]
    if pool["per_message"]:
        first = np.diff(mine["message"], prepend=-1) != 0
        return float(held[first].sum())
    unit = int(pool["unit_B"])
    amount = np.maximum(1, -(-mine["size"] // unit)) if unit else 1
    return float((amount * held).sum())
