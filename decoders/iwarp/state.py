"""What is known of each connection while its packets pass, and the rows that come out: the records of the kernels.

A connection has a slot (two halves, one for what each side sends); a half has six lanes of messages: the four untagged
queues, RDMA Writes, Read Responses. Everything is bounded; memory that was never used is never touched.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.capture.packets.block import MOST_PACKETS
from freezeframe.decoders.net.tcp_state import MOST_CONNECTIONS

SLOTS = MOST_CONNECTIONS + MOST_PACKETS  # those closed in a block keep theirs until its end
LANES = 6  # queues 0 to 3, then:
WRITES, RESPONSES = 4, 5
HEAD_B = 96  # of an FPDU without markers: the longest header, of a Terminate or an atomic request, ends at 74
MOST_FPDU_B = 2 + 65_535 + 3 + 4 + 4 * 131
HOLD_B = 2 * MOST_FPDU_B
MOST_HOLDS = 512
HOLD_PARTS = 256
MOST_READS = 1 << 18
MOST_OUTSTANDING = 1 << 14  # of a half: the most that ORD can say
MOST_PRIVATE_B = 512

# What a half is doing
STARTUP, AWAITS_REPLY, FPDUS, SEARCH, SKIP = range(5)
# What is known of a CRC
GOOD, BAD, OFF, CUT = range(4)
VERDICTS = ("good", "bad", "off", "cut")
# Why it is wrong, as it seems
NO_REASON, FLIPPED, FLIPPED_IN_CRC, SWAPPED, WITHOUT_MARKERS, ZERO, DAMAGED = range(7)
REASONS = ("", "one bit flipped", "one bit flipped in the CRC", "octets in the other order", "markers left out",
           "zero", "damaged in several places")  # fmt: skip

CONNECTION = np.dtype(
    [
        ("number", "i8"), ("slot", "i4"), ("t_ps", "i8"), ("packet", "i8"), ("rows", "i8", 2), ("bad", "i8", 2),
        ("octets", "i8", 2), ("request_t_ps", "i8"), ("reply_t_ps", "i8"), ("request_packet", "i8"),
        ("reply_packet", "i8"), ("frame_flags", "u1", 2), ("revision", "i2", 2), ("private_B", "i4", 2),
        ("ird", "i4", 2), ("ord", "i4", 2), ("model", "u2", 2), ("crc", "i1"), ("initiator", "i1"),
        ("started", "u1"), ("rejected", "u1"), ("followed", "u1"), ("midstream", "u1"), ("gap_B", "i8", 2),
        ("events", "i8"), ("version", "i1"),
    ]
)  # fmt: skip
"""``crc``: 1 in force, 0 not, -1 not known. ``model``: control flags A B C D of the enhanced data, as bits 3 to 0.
Fields of two: of the Request and the Reply where they are of frames, of the sides else. ``version``: of DDP and RDMAP,
-1 where it is not known."""
HALF = np.dtype(
    [
        ("mode", "u1"), ("markers", "i1"), ("known", "u1"), ("terminated", "u1"), ("missing", "u1"),
        ("marker_got", "u1"), ("hold", "i4"), ("start", "i8"), ("position", "i8"), ("begin", "i8"),
        ("head_at", "i8"), ("got", "i8"), ("total", "i8"), ("size", "i8"), ("crc", "u4"), ("crc_plain", "u4"),
        ("marker", "u4"), ("count", "i8"), ("markers_in", "i4"), ("marker_bad", "i8"), ("marker_expected", "i8"),
        ("t_ps", "i8"), ("packet", "i8"), ("last_ps", "i8"), ("last_packet", "i8"), ("reads_first", "i4"),
        ("reads_last", "i4"), ("reads", "i4"), ("searched", "i8"), ("skipped", "i8"), ("fragment_first", "i8"),
        ("fragment_last", "i8"), ("suspect", "u1"), ("ended", "u1"), ("reads_known", "u1"), ("replay", "i8"),
        ("early", "u1"), ("differs_at", "i8"), ("differs_B", "i8"), ("differs_packet", "i8"), ("differs_ps", "i8"),
    ]
)  # fmt: skip
"""The FPDU that is passing, and where its half stands. ``got``: its octets so far without markers. ``known``: all since
the start was seen, so that an unexpected message is a breach; ``suspect``: the FPDU before had a wrong CRC. ``replay``:
from which octet on its hold is to be taken next, -1 for not."""
MESSAGE = np.dtype(
    [
        ("open", "u1"), ("opcode", "u1"), ("known", "u1"), ("msn", "u4"), ("msn_next", "u4"), ("msn_other", "u4"),
        ("stag", "u4"), ("to", "u8"), ("next", "u8"), ("other", "u8"), ("octets", "u8"), ("segments", "i4"),
        ("t_ps", "i8"), ("packet", "i8"), ("invalidates", "u4"),
    ]
)  # fmt: skip
"""A message that is passing in a lane. ``next``: the offset that comes next; ``other``: what would, had the breach
before been a single wrong number."""
READ = np.dtype(
    [
        ("next", "i4"), ("opcode", "u1"), ("stag", "u4"), ("to", "u8"), ("size", "u4"), ("source_stag", "u4"),
        ("source_to", "u8"), ("msn", "u4"), ("t_ps", "i8"), ("packet", "i8"), ("answered_ps", "i8"),
    ]
)  # fmt: skip
"""A request that waits for its response, in a list for each half."""

FPDU = np.dtype(
    [
        ("t_ps", "i8"), ("t_begin_ps", "i8"), ("packet", "i8"), ("packet_begin", "i8"), ("number", "i8"),
        ("connection", "i8"), ("slot", "i4"), ("position", "i8"), ("to", "u8"), ("length", "i4"),
        ("payload_B", "i4"), ("stag", "u4"), ("queue", "u4"), ("msn", "u4"), ("mo", "u4"), ("crc", "u4"),
        ("crc_expected", "u4"), ("flip", "i4"), ("invalidates", "u4"), ("fragment", "i8"), ("markers", "i2"),
        ("side", "u1"), ("control", "u1"), ("rdmap", "u1"), ("verdict", "u1"), ("reason", "u1"), ("read", "u1"),
    ]
)  # fmt: skip
"""``read``: how far the header is there: 0 its length alone, 1 all of it."""
OPERATION = np.dtype(
    [
        ("t_ps", "i8"), ("t_end_ps", "i8"), ("t_answer_ps", "i8"), ("packet", "i8"), ("packet_end", "i8"),
        ("connection", "i8"), ("slot", "i4"), ("size", "i8"), ("to", "u8"), ("source_to", "u8"), ("stag", "u4"),
        ("source_stag", "u4"), ("msn", "u4"), ("segments", "i4"), ("side", "u1"), ("opcode", "u1"), ("whole", "u1"),
        ("answered", "u1"),
    ]
)  # fmt: skip
EVENT = np.dtype(
    [
        ("t_ps", "i8"), ("packet", "i8"), ("connection", "i8"), ("slot", "i4"), ("position", "i8"), ("fpdu", "i8"),
        ("about", "i8"), ("detail", "i8"), ("value", "u8"), ("expected", "u8"), ("rule", "i2"), ("side", "u1"),
    ]
)  # fmt: skip
FRAGMENT = np.dtype([("next", "i8"), ("offset", "i8"), ("length", "i8")])

# Counts in `State.counts`
(
    FPDUS_OUT,
    OPERATIONS_OUT,
    EVENTS_OUT,
    NUMBER,
    FREE_HOLD,
    FREE_READ,
    FRAGMENTS,
    FRAGMENT_B,
    CLOSED_OUT,
) = range(9)

_ROOM = 1 << 16
KEPT_FPDUS = 1 << 13  # those that came last, in which what a Terminate is about is looked for
ROOM_FOR_ONE = 1 << 13
"""Rows that a step can make at most, of each kind: what a hold has of the smallest FPDUs. A step begins where
they fit."""

Records = npt.NDArray[Any]


class State(NamedTuple):
    """All arrays of the kernels; `counts` says how much of each output is used."""

    connections: Records
    halves: Records
    messages: Records
    reads: Records
    heads: npt.NDArray[np.uint8]
    tails: npt.NDArray[np.uint8]
    holds: npt.NDArray[np.uint8]
    hold_size: npt.NDArray[np.int64]
    hold_next: npt.NDArray[np.int32]
    hold_parts: npt.NDArray[np.int64]
    fpdus: Records
    operations: Records
    events: Records
    fragments: Records
    payload: npt.NDArray[np.uint8]
    counts: npt.NDArray[np.int64]
    private: npt.NDArray[np.uint8]
    closed: Records
    closed_private: npt.NDArray[np.uint8]


class Pieces(NamedTuple):
    """Columns of `freezeframe.decoders.net.tcp_streams.StreamPieces`, for a kernel; ``(m,)`` each."""

    kind: npt.NDArray[np.uint8]
    side: npt.NDArray[np.uint8]
    aux: npt.NDArray[np.uint8]
    slot: npt.NDArray[np.int32]
    connection: npt.NDArray[np.int64]
    position: npt.NDArray[np.int64]
    offset: npt.NDArray[np.int64]
    length: npt.NDArray[np.int64]
    packet: npt.NDArray[np.int64]
    t_ps: npt.NDArray[np.int64]


def new_state(*, payload: bool) -> State:
    """Return a state of nothing."""
    halves = 2 * SLOTS
    half_records = np.zeros(halves, HALF)
    if payload:
        half_records["fragment_first"] = -1
    holds, reads = np.zeros(MOST_HOLDS, np.int32), np.zeros(MOST_READS, READ)
    holds[:] = np.arange(1, MOST_HOLDS + 1)
    holds[-1] = -1
    reads["next"] = np.arange(1, MOST_READS + 1)
    reads["next"][-1] = -1
    return State(
        connections=np.zeros(SLOTS, CONNECTION),
        halves=half_records,
        messages=np.zeros(halves * LANES, MESSAGE),
        reads=reads,
        heads=np.zeros((halves, HEAD_B), np.uint8),
        tails=np.zeros((halves, 8), np.uint8),
        holds=np.empty((MOST_HOLDS, HOLD_B), np.uint8),
        hold_size=np.zeros(MOST_HOLDS, np.int64),
        hold_next=holds,
        hold_parts=np.empty((MOST_HOLDS, HOLD_PARTS, 3), np.int64),
        fpdus=np.zeros(_ROOM + KEPT_FPDUS, FPDU),
        operations=np.zeros(2 * _ROOM, OPERATION),
        events=np.zeros(_ROOM, EVENT),
        fragments=np.zeros(2 * _ROOM if payload else 1, FRAGMENT),
        payload=np.zeros(1 << 25 if payload else 1, np.uint8),
        counts=np.zeros(9, np.int64),
        private=np.zeros((SLOTS, 2 * MOST_PRIVATE_B), np.uint8),
        closed=np.zeros(_ROOM, CONNECTION),
        closed_private=np.empty((_ROOM, 2 * MOST_PRIVATE_B), np.uint8),
    )
