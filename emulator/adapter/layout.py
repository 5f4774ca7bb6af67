"""The tables that the engine works on: what a profile comes to for its nodes and flows, as structured arrays.

A *packet* is what moves; a message is one packet or several. Times are picoseconds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

OPEN, SATURATING, WINDOW, ANSWER, LIVE = (
    0,
    1,
    2,
    3,
    4,
)  # LIVE: messages come from outside, one by one
FIFO, PRIORITY, ROUND_ROBIN, EDD = 0, 1, 2, 3
NEVER = np.int64(1) << 62

FLOW = np.dtype([
    ("first", "i8"), ("messages", "i8"), ("next", "i8"),  # its messages, and the one that comes next
    ("step", "i4"), ("steps", "i4"), ("mode", "i4"), ("reply", "i4"),
    ("outstanding", "i8"), ("think", "i8"), ("due", "i8"),
])  # fmt: skip
STEP = np.dtype([
    ("queue", "i4"), ("stage", "i4"), ("priority", "i4"), ("policy", "i4"),
    ("use", "i4"), ("uses", "i4"), ("take", "i4"), ("takes", "i4"),  # places in the list of references
    ("give", "i4"), ("gives", "i4"), ("leave", "i4"), ("leaves", "i4"),  # given at the end, at the beginning
    ("fixed", "i8"), ("message", "i8"), ("segment_B", "i8"), ("segment", "i8"),
    ("byte", "f8"), ("knee_B", "i8"), ("beyond", "f8"),
])  # fmt: skip
QUEUE = np.dtype([
    ("head", "i8"), ("tail", "i8"), ("length", "i8"), ("group", "i4"), ("edd", "i4"),
    ("gather", "i8"), ("most", "i8"), ("wait", "i8"), ("merge", "i4"), ("back_off", "i4"), ("back_off_at", "i8"),
    ("poll", "i8"), ("assemble", "i4"),
])  # fmt: skip
GROUP = np.dtype([  # a stage of a node
    ("capacity", "i8"), ("waiting", "i8"), ("most", "i8"), ("dropped", "i8"), ("jobs", "i8"), ("packets", "i8"),
    ("waited", "i8"), ("busy", "i8"),
])  # fmt: skip
RESOURCE = np.dtype([
    ("banks", "i4"), ("servers", "i4"), ("free", "i4"), ("policy", "i4"), ("preempts", "i4"), ("busy", "i8"),
    ("whole", "i4"), ("owner", "i8"), ("begun", "i8"),  # the message that it stays with, or -1; its packets so far
    ("preempted", "i8"),
])  # fmt: skip
POOL = np.dtype([
    ("tokens", "i8"), ("unit_B", "i8"), ("room", "i8"), ("used", "i8"), ("beyond", "i8"),  # beyond what is reserved
    ("most", "i8"), ("since", "i8"), ("area", "f8"), ("per_message", "i4"),
])  # fmt: skip
PACKET = np.dtype([
    ("flow", "i4"), ("step", "i4"), ("message", "i8"), ("size", "i8"), ("due", "i8"),
    ("next", "i8"), ("member", "i8"), ("members", "i8"), ("sum", "i8"),  # of a job that gathered several
    ("entered", "i8"), ("started", "i8"), ("left", "i8"), ("seq", "i8"), ("version", "i8"),
    ("done", "i8"), ("dropped", "i1"), ("entry", "i1"),  # entry: begins what gathered as one of several
])  # fmt: skip
MESSAGE = np.dtype([
    ("flow", "i4"), ("lost", "i4"), ("first", "i8"), ("packets", "i8"), ("left", "i8"), ("size", "i8"),
    ("born", "i8"), ("done", "i8"),
])  # fmt: skip
EVENT = np.dtype([("t", "i8"), ("seq", "i8"), ("kind", "i8"), ("what", "i8"), ("version", "i8")])

Table = npt.NDArray[np.void]
Whole = npt.NDArray[np.int64]


class World(NamedTuple):
    """All tables of a run; the engine changes them in place.

    ``state``: events in the heap, running number, time, packets finished, whether the heap was too small.
    ``running``: (resource, server) -> packet or -1.
    ``samples``: (sample, number) -> counts at the multiples of a period, as far as there is room: of each group its
    jobs, packets, dropped packets and time, then of each resource the time it was occupied. ``state[5]``: the period,
    0: none; ``state[6]``: samples taken.
    ``used``, ``reserved``: (pool, flow) -> tokens. ``turn``: (resource, flow) -> when it was last served.
    """

    state: Whole
    flows: Table
    steps: Table
    refs: Whole
    queues: Table
    groups: Table
    resources: Table
    running: Whole
    turn: Whole
    pools: Table
    used: Whole
    reserved: Whole
    packets: Table
    messages: Table
    heap: Table
    samples: npt.NDArray[np.int64]
