"""A connection that is new in its slot: nothing is known of it but whether its beginning was seen."""

from __future__ import annotations

import numpy as np
from numba import njit

from freezeframe.decoders.iwarp.head_kernels import release_head
from freezeframe.decoders.iwarp.message_kernels import release_lanes
from freezeframe.decoders.iwarp.mpa_kernels import begin_fpdu
from freezeframe.decoders.iwarp.state import SEARCH, STARTUP


@njit(cache=True, nogil=True)
def open_connection(s, slot, number, side, from_syn, packet, t_ps):  # type: ignore[no-untyped-def]
    """Empty the records of a slot; ``from_syn``: what is known of it is the SYN of ``side``."""
    connection = s.connections[slot]
    connection.number = number
    connection.slot = slot
    connection.t_ps = t_ps
    connection.packet = packet
    connection.crc = -1
    connection.initiator = -1
    connection.version = -1
    connection.started = 0
    connection.rejected = 0
    connection.followed = 1
    connection.midstream = 0 if from_syn else 1
    connection.events = 0
    connection.unsummed = 0
    connection.request_packet = 0
    connection.reply_packet = 0
    for i in range(2):
        connection.rows[i] = 0
        connection.bad[i] = 0
        connection.octets[i] = 0
        connection.gap_B[i] = 0
        connection.frame_flags[i] = 0
        connection.revision[i] = -1
        connection.private_B[i] = 0
        connection.ird[i] = 0
        connection.ord[i] = 0
        connection.model[i] = 0
        open_half(s, 2 * slot + i, from_syn if i == side else np.int64(0))


@njit(cache=True, nogil=True)
def open_half(s, number, from_syn):  # type: ignore[no-untyped-def]
    """Empty what is known of a half; from its SYN on all of it is seen."""
    half = s.halves[number]
    half.mode = STARTUP if from_syn else SEARCH
    half.markers = -1
    half.known = 1 if from_syn else 0
    half.reads_known = half.known
    half.terminated = 0
    half.marker_got = 0
    half.hold = -1
    half.replay = -1
    half.start = -1
    half.position = 0
    half.count = 0
    half.reads = 0
    half.searched = 0
    half.skipped = 0
    half.suspect = 0
    half.ended = 0
    half.early = 0
    half.guessed = 0
    half.differs_B = 0
    half.syn = from_syn
    half.behind = 0
    begin_fpdu(half)
    release_head(s, half)
    release_lanes(s, half)
    half.from_first = half.known
