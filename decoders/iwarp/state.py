"""What is known of each connection while its packets pass, and the rows that come out: the records of the kernels.

A connection has a slot (two halves, one for what each side sends); a half has six lanes of messages: the four untagged
queues, RDMA Writes, Read Responses. Everything is bounded; memory that was never used is never touched.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.capture.packets.block import MOST_PACKETS
from freezeframe.decoders.net.tcp_state import MOST_CONNECTIONS, touched_only

SLOTS = MOST_CONNECTIONS + MOST_PACKETS  # those closed in a block keep theirs until its end
LANES = 6  # queues 0 to 3, then:
WRITES, RESPONSES = 4, 5
TAIL_B = 8
HEAD_B = 96  # of an FPDU without markers: the longest header, of a Terminate or an atomic request, ends at 74
MOST_FPDU_B = 2 + 65_535 + 3 + 4 + 4 * 131
HOLD_B = 2 * MOST_FPDU_B
MOST_HOLDS = 512
HOLD_PARTS = 1 << 12
MOST_READS = 1 << 18
MOST_OUTSTANDING = 1 << 14  # of a half: the most that ORD can say
MOST_PRIVATE_B = 512
PRIVATE_PAGE_B = 32  # of private data of one frame, which most have little of

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
        ("octets", "i8", 2), ("request_packet", "i8"), ("reply_packet", "i8"),
        ("frame_flags", "u1", 2), ("revision", "i2", 2), ("private_B", "i4", 2),
        ("ird", "i4", 2), ("ord", "i4", 2), ("model", "u2", 2), ("crc", "i1"), ("initiator", "i1"),
        ("started", "u1"), ("rejected", "u1"), ("followed", "u1"), ("midstream", "u1"), ("gap_B", "i8", 2),
        ("events", "i8"), ("version", "i1"), ("unsummed", "u1"), ("private_page", "i4", 2),
    ]
)  # fmt: skip
"""``crc``: 1 in force, 0 not, -1 not known. ``model``: control flags A B C D of the enhanced data, as bits 3 to 0.
Fields of two: of the Request and the Reply where they are of frames, of the sides else. ``version``: of DDP and RDMAP,
-1 where it is not known. ``unsummed``: FPDUs with a wrong sum while it is not known whether one is in force."""
HALF = np.dtype(
    [
        ("mode", "u1"), ("markers", "i1"), ("known", "u1"), ("terminated", "u1"), ("missing", "u1"),
        ("marker_got", "u1"), ("hold", "i4"), ("start", "i8"), ("position", "i8"), ("begin", "i8"),
        ("head_at", "i8"), ("got", "i8"), ("total", "i8"), ("size", "i8"), ("crc", "u4"), ("crc_plain", "u4"),
        ("marker", "u4"), ("count", "i8"), ("markers_in", "i4"), ("marker_bad", "i8"), ("marker_expected", "i8"),
        ("t_ps", "i8"), ("packet", "i8"), ("last_ps", "i8"), ("last_packet", "i8"), ("reads_first", "i4"),
        ("reads_last", "i4"), ("reads", "i4"), ("searched", "i8"), ("skipped", "i8"), ("fragment_first", "i8"),
        ("fragment_last", "i8"), ("suspect", "u1"), ("ended", "u1"), ("reads_known", "u1"), ("replay", "i8"),
        ("early", "u1"), ("guessed", "u1"), ("differs_at", "i8"), ("differs_B", "i8"), ("differs_packet", "i8"),
        ("differs_ps", "i8"), ("syn", "u1"), ("behind", "u1"),
        ("lanes", "i4", LANES), ("from_first", "u1"), ("head", "i4"),
    ]
)  # fmt: skip
"""The FPDU that is passing, and where its half stands. ``got``: its octets so far without markers. ``known``: all since
the start was seen, so that an unexpected message is a breach; ``suspect``: the FPDU before had a wrong CRC. ``replay``:
from which octet on its hold is to be taken next, -1 for not. ``syn``: all since its SYN was seen; ``behind``: it knows
octets of the other half that came later in the capture, or never. ``lanes``: the message of each lane that was used,
0 for none; ``from_first``: in the others the first message was not missed.
``head``: where in `heads` and `tails` the FPDU is, 0 for none."""
MESSAGE = np.dtype(
    [
        ("open", "u1"), ("opcode", "u1"), ("known", "u1"), ("msn", "u4"), ("msn_next", "u4"), ("msn_other", "u4"),
        ("stag", "u4"), ("to", "u8"), ("next", "u8"), ("other", "u8"), ("octets", "u8"), ("segments", "i4"),
        ("t_ps", "i8"), ("packet", "i8"),
        ("free", "i4"),
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
        ("connection", "i8"), ("position", "i8"), ("to", "u8"), ("fragment", "i8"), ("slot", "i4"), ("length", "i4"),
        ("payload_B", "i4"), ("stag", "u4"), ("queue", "u4"), ("msn", "u4"), ("mo", "u4"), ("crc", "u4"),
        ("crc_expected", "u4"), ("flip", "i4"), ("invalidates", "u4"), ("markers", "i2"), ("side", "u1"),
        ("control", "u1"), ("rdmap", "u1"), ("verdict", "u1"), ("reason", "u1"), ("read", "u1"),
    ],
    align=True,
)  # fmt: skip
"""Largest fields first: tables take them out a size at a time. ``read``: how far the header is there: 0 its length
alone, 1 all of it."""
OPERATION = np.dtype(
    [
        ("t_ps", "i8"), ("t_end_ps", "i8"), ("t_answer_ps", "i8"), ("packet", "i8"), ("packet_end", "i8"),
        ("connection", "i8"), ("size", "i8"), ("to", "u8"), ("source_to", "u8"), ("slot", "i4"), ("stag", "u4"),
        ("source_stag", "u4"), ("msn", "u4"), ("segments", "i4"), ("side", "u1"), ("opcode", "u1"), ("whole", "u1"),
        ("answered", "u1"),
    ],
    align=True,
)  # fmt: skip
EVENT = np.dtype(
    [
        ("t_ps", "i8"), ("packet", "i8"), ("connection", "i8"), ("slot", "i4"), ("position", "i8"), ("fpdu", "i8"),
        ("about", "i8"), ("detail", "i8"), ("value", "u8"), ("expected", "u8"), ("rule", "i2"), ("side", "u1"),
    ]
)  # fmt: skip
FRAGMENT = np.dtype([("next", "i8"), ("offset", "i8"), ("length", "i8")])

# Counts in `counts`
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
    READS_USED,
    FREE_PRIVATE,
    PRIVATE_USED,
    FREE_MESSAGE,
    MESSAGES_USED,
    FREE_HEAD,
    HEADS_USED,
    COUNTS,
) = range(17)

_ROOM, _CLOSED_ROOM, PAYLOAD_B = 1 << 16, 1 << 13, 1 << 25
KEPT_FPDUS = 1 << 13  # those that came last, in which what a Terminate is about is looked for
ROOM_FOR_ONE = 1 << 13
"""Rows that a step can make at most, of each kind: what a hold has of the smallest FPDUs. A step begins where
they fit."""

Records = npt.NDArray[Any]


_HALVES = 2 * SLOTS
_PRIVATE_PAGES = 1 + _HALVES * MOST_PRIVATE_B // PRIVATE_PAGE_B
STATE = np.dtype(
    [
        ("connections", CONNECTION, SLOTS), ("halves", HALF, _HALVES), ("messages", MESSAGE, 1 + _HALVES * LANES),
        ("reads", READ, MOST_READS), ("heads", "u1", (1 + _HALVES, HEAD_B)),
        ("tails", "u1", (1 + _HALVES, TAIL_B)), ("head_next", "i4", 1 + _HALVES),
        ("private", "u1", (_PRIVATE_PAGES, PRIVATE_PAGE_B)), ("private_next", "i4", _PRIVATE_PAGES),
        ("holds", "u1", (MOST_HOLDS, HOLD_B)),
        ("hold_size", "i8", MOST_HOLDS), ("hold_next", "i8", MOST_HOLDS),
        ("hold_parts", "i8", (MOST_HOLDS, HOLD_PARTS, 3)), ("fpdus", FPDU, _ROOM + KEPT_FPDUS),
        ("operations", OPERATION, 2 * _ROOM), ("events", EVENT, _ROOM), ("closed", CONNECTION, _CLOSED_ROOM),
        ("closed_private", "u1", (_CLOSED_ROOM, 2 * MOST_PRIVATE_B)), ("fragments", FRAGMENT, 2 * _ROOM),
        ("payload", "u1", PAYLOAD_B), ("counts", "i8", COUNTS), ("keeps_payload", "u1"),
    ]
)  # fmt: skip
"""All that the kernels know, in one record: one pointer to hand on, where a tuple of arrays costs a microsecond a call.

``counts`` says how much of each output is used. What was never used is never touched.
"""


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


def new_state(*, payload: bool) -> Records:
    """Return a state of nothing, ``(1,)`` of `STATE`."""
    state = touched_only(1, STATE)
    record = state[0]
    record["hold_next"][:-1] = np.arange(1, MOST_HOLDS)
    record["hold_next"][-1] = -1
    record["counts"][FREE_READ] = -1
    record["keeps_payload"] = payload
    if payload:
        record["halves"]["fragment_first"] = -1
    return state
