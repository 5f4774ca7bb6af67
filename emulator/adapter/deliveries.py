"""Each message of a run as it was delivered: what a monitor at the last stage would be told of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from freezeframe.emulator.adapter.outcome import Outcome


class Delivery(NamedTuple):
    """A message that arrived whole; times in picoseconds from the run's beginning.

    Attributes:
        done_ps: when its last packet was through.
        flow: number of its flow, in the order of the profile. from_, to: its nodes.
        packets: it was cut into; of the crossbar's words.
        took_ps: from its first packet at the last stage to ``done_ps``.
        waiting: packets of its flow that stood at the last stage, or were in it, at ``done_ps``.
        name: of the flow.
    """

    done_ps: int
    flow: int
    from_: int
    to: int
    packets: int
    took_ps: int
    waiting: int
    size_B: int
    born_ps: int
    name: str


COLUMNS = tuple(name.rstrip("_") for name in Delivery._fields)
"""Names of a table of deliveries."""


def deliveries(outcome: Outcome) -> Iterator[Delivery]:
    """Yield the messages of a run that arrived whole, in the order of their ends."""
    packets, messages = outcome.world.packets, outcome.world.messages
    whole = packets["done"] >= 0
    entered, done = [], []
    for flow in range(len(outcome.compiled.ways)):
        mine = whole & (packets["flow"] == flow)
        entered.append(np.sort(packets["entered"][mine]))
        done.append(np.sort(packets["done"][mine]))
    arrived = np.flatnonzero(outcome.arrived)
    for number in arrived[np.argsort(messages["done"][arrived], kind="stable")].tolist():
        message = messages[number]
        flow, end, first = int(message["flow"]), int(message["done"]), int(message["first"])
        way = outcome.compiled.ways[flow]
        came = int(np.searchsorted(entered[flow], end, "right"))
        gone = int(np.searchsorted(done[flow], end, "right"))
        nodes = (way.flow.to, way.flow.from_) if way.back else (way.flow.from_, way.flow.to)
        count = int(message["packets"])
        begun = int(packets["entered"][first : first + count].min())
        yield Delivery(
            end, flow, *nodes, count, end - begun, came - gone, int(message["size"]), int(message["born"]), way.name
        )  # fmt: skip
