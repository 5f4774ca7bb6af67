"""What a profile of stages may say: one structure a table, each key with its type, its range and its default.

An adapter is stages that share resources, pools of tokens that stages take and give back, and flows of messages that
pass the stages in order. Times are nanoseconds, sizes bytes; text that begins with ``=`` is a formula.

Source: the framework of END (Indiresan, Mehra, Shin, "The END: A Network Adapter Design Tool"), sections 2 and 3.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from freezeframe.capture.card.tables import Name

MOST_NODES = 64
MOST_MESSAGES = 1_000_000
PARAMETER = r"[A-Za-z][A-Za-z0-9_]{0,31}"

Ns = Annotated[float, Meta(ge=0, le=1e12)]
Octets = Annotated[int, Meta(ge=0, le=1 << 40)]
Doc = Annotated[str, Meta(max_length=200)]


class _Table(Struct, forbid_unknown_fields=True):
    """A table in which a key that is not declared is an error."""


class Resource(_Table):
    """``[resource.NAME]``: what a job of a stage occupies alone: a processor, a bus, a memory bank, a link.

    ``servers`` jobs at a time; with ``banks``, message k has bank k modulo their number. Each node has its own,
    unless it is ``shared``. With ``preempts`` a job of higher priority takes it away, and the other goes on later.
    With ``whole`` it stays with a message of several packets until the last of them has begun.
    """

    servers: Annotated[int, Meta(ge=1, le=64)] = 1
    banks: Annotated[int, Meta(ge=1, le=16)] = 1
    order: Literal["fifo", "priority", "round-robin", "edd"] = "fifo"
    preempts: bool = False
    whole: bool = False
    shared: bool = False
    doc: Doc = ""


class Pool(_Table):
    """``[pool.NAME]``: tokens that a stage takes when it begins and one gives back when it ends.

    A message takes one, or with ``unit_B`` one for each so many bytes. ``reserved``: tokens kept for a flow;
    with ``per_flow`` each flow has a pool of its own. With ``per_message`` a message of several packets takes one
    token in all, with its first packet.
    """

    tokens: Annotated[int, Meta(ge=1, le=1 << 31)]
    unit_B: Octets = 0
    reserved: dict[Name, Annotated[int, Meta(ge=1, le=1 << 31)]] = {}
    shared: bool = False
    per_flow: bool = False
    per_message: bool = False
    doc: Doc = ""


class Stage(_Table):
    """``[stage.NAME]``: what happens to a message there, and what it takes.

    A job lasts ``fixed_ns``, ``message_ns`` for each message in it, ``segment_ns`` for each begun ``segment_B``, and
    ``byte_ns`` a byte, from byte ``knee_B`` on ``beyond_byte_ns``. It occupies all of ``uses`` at once.

    ``queue`` messages may wait before it (0: any number); of more, the stage before waits, or they are dropped.
    ``gather`` messages make one job, fewer once the first has waited ``gather_wait_ns``, and at most ``gather_most``;
    with ``merge`` they are one from there on. While ``back_off_at`` messages wait at stage ``back_off``, no job begins.
    With ``poll_ns`` a message is seen at the next multiple of it. With ``assemble`` a job is a whole message: it begins
    when all of its packets are there, and they go on together.
    """

    uses: list[Name] = []
    at: Literal["sender", "receiver"] = "sender"
    fixed_ns: Ns = 0.0
    message_ns: Ns = 0.0
    segment_B: Annotated[int, Meta(ge=1, le=1 << 40)] = 1
    segment_ns: Ns = 0.0
    byte_ns: Ns = 0.0
    knee_B: Octets = 0
    beyond_byte_ns: Ns = 0.0
    priority: Annotated[int, Meta(ge=0, le=1000)] = 0
    takes: list[Name] = []
    gives: list[Name] = []
    queue: Annotated[int, Meta(ge=0, le=1 << 31)] = 0
    when_full: Literal["wait", "drop"] = "wait"
    order: Literal["fifo", "edd"] = "fifo"
    gather: Annotated[int, Meta(ge=1, le=1 << 20)] = 1
    gather_most: Annotated[int, Meta(ge=0, le=1 << 20)] = 0
    gather_wait_ns: Ns = 0.0
    merge: bool = False
    back_off: str = ""
    back_off_at: Annotated[int, Meta(ge=0, le=1 << 31)] = 0
    poll_ns: Ns = 0.0
    assemble: bool = False
    doc: Doc = ""


class Flow(_Table, rename={"from_": "from"}):
    """``[flow.NAME]``: messages from a node to another, when they come and how large they are.

    Without end: ``saturating`` (the next is there as soon as one has begun), ``window`` (``outstanding`` at a time),
    ``ping-pong`` (a window whose messages are answered). In time: ``periodic``, ``poisson``, ``on-off`` (Poisson while
    on), ``pareto`` (heavy-tailed gaps), each at ``rate_per_s`` on average; ``trace`` and ``pcap`` from ``file``.
    Sizes: ``size_B``; or ``sizes_B`` with ``weights``; or, with ``size_alpha``, heavy-tailed up to ``size_most_B``.
    A message is cut into packets of ``packet_B``, and has arrived when all of them have.
    """

    arrivals: Literal[
        "saturating",
        "window",
        "ping-pong",
        "periodic",
        "poisson",
        "on-off",
        "pareto",
        "trace",
        "pcap",
    ]
    from_: Annotated[int, Meta(ge=0, lt=MOST_NODES)] = 0
    to: Annotated[int, Meta(ge=0, lt=MOST_NODES)] = 1
    route: list[Name] = []
    size_B: Annotated[int, Meta(ge=0, le=1 << 30)] = 0
    sizes_B: list[Annotated[int, Meta(ge=0, le=1 << 30)]] = []
    weights: list[Annotated[float, Meta(ge=0, le=1e9)]] = []
    size_alpha: Annotated[float, Meta(ge=0, le=100)] = 0.0
    size_most_B: Annotated[int, Meta(ge=0, le=1 << 30)] = 0
    packet_B: Annotated[int, Meta(ge=0, le=1 << 30)] = 0
    rate_per_s: Annotated[float, Meta(ge=0, le=1e12)] = 0.0
    on_ns: Ns = 0.0
    off_ns: Ns = 0.0
    alpha: Annotated[float, Meta(ge=0, le=100)] = 1.5
    outstanding: Annotated[int, Meta(ge=1, le=1 << 20)] = 1
    think_ns: Ns = 0.0
    due_ns: Ns = 0.0
    priority: Annotated[int, Meta(ge=0, le=1000)] = 0
    messages: Annotated[int, Meta(ge=0, le=MOST_MESSAGES)] = 0
    file: str = ""
    doc: Doc = ""


class Run(_Table):
    """``[run]``: how many messages of each flow, and the seed of all that is drawn.

    ``log_ns``: how often a card of the profile logs what it counts, where `emulate` runs it.
    """

    messages: Annotated[int, Meta(ge=1, le=MOST_MESSAGES)] = 1000
    seed: Annotated[int, Meta(ge=0, lt=1 << 62)] = 1
    log_ns: Annotated[float, Meta(ge=1000, le=1e12)] = 1_000_000.0


class Adapter(_Table):
    """A whole profile of stages, its formulas worked out; ``[parameter]`` is gone then."""

    description: str = ""
    card: Annotated[str, Meta(max_length=64, description="the card file of what it describes")] = ""
    model: Annotated[
        str, Meta(max_length=32, description="what emulate runs of it, down to its cycles")
    ] = ""
    resource: dict[Name, Resource] = {}
    pool: dict[Name, Pool] = {}
    stage: dict[Name, Stage] = {}
    flow: Annotated[dict[Name, Flow], Meta(max_length=4096)] = {}
    run: Run = field(default_factory=Run)
