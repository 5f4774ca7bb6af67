"""The end of what a side sends, and of a connection.

Source: RFC 5044, 8 (a connection that ends inside an FPDU).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from freezeframe.decoders.iwarp.head_kernels import release_head
from freezeframe.decoders.iwarp.hold_kernels import held, release
from freezeframe.decoders.iwarp.message_kernels import release_lanes
from freezeframe.decoders.iwarp.mpa_kernels import finish_cut
from freezeframe.decoders.iwarp.private_kernels import hand_over_private
from freezeframe.decoders.iwarp.rdmap_kernels import end_unanswered
from freezeframe.decoders.iwarp.rows import event, rule_number
from freezeframe.decoders.iwarp.state import AWAITS_REPLY, FPDUS, SEARCH
from freezeframe.decoders.net.tcp_state import CLOSED, FIN, LEAST_RECENT

_CUT = rule_number("mpa-cut")
_INITIATOR_EARLY = rule_number("mpa-initiator-early")
_NOT_DECODED = rule_number("not-decoded")
_CLOSED_EARLY = rule_number("closed-early")
_U0 = np.uint64(0)


@njit(cache=True, nogil=True)
def end_half(s, slot, side, kind, own, packet, t_ps):  # type: ignore[no-untyped-def]
    """End a half by FIN, by RST, or because it is not followed further; ``own``: it is sure to have sent no more."""
    connection, half = s.connections[slot], s.halves[2 * slot + side]
    if half.early and half.mode == AWAITS_REPLY and not half.ended:
        half.begin = half.position
        event(s, connection, half, side, _INITIATOR_EARLY, _U0, _U0, packet, t_ps)
    inside = half.got > 0 or (kind == FIN and half.markers_in + half.marker_got > 0)
    if half.mode == FPDUS and inside and not half.ended:
        if kind != CLOSED and own and not half.missing and not half.guessed:
            event(
                s,
                connection,
                half,
                side,
                _CUT,
                np.uint64(half.got),
                np.uint64(half.total),
                packet,
                t_ps,
            )
        finish_cut(s, slot, side, packet, t_ps)
    lost = held(s, half) + half.skipped
    if half.mode == SEARCH and half.count > 0 and lost > 0 and not half.ended:
        half.begin = half.position
        event(s, connection, half, side, _NOT_DECODED, np.uint64(lost), _U0, packet, t_ps)
    release(s, half)
    half.ended = 1


@njit(cache=True, nogil=True)
def end_connection(s, slot, why, packet, t_ps):  # type: ignore[no-untyped-def]
    """Hand the record of a connection over where it had anything of iWARP, and free what it used."""
    connection, one, other = s.connections[slot], s.halves[2 * slot], s.halves[2 * slot + 1]
    if connection.started or one.count + other.count > 0:
        if why == LEAST_RECENT:
            event(s, connection, one, np.int64(0), _CLOSED_EARLY, _U0, _U0, packet, t_ps)
        s.closed[s.counts[8]] = connection
        hand_over_private(s, connection, s.closed_private[s.counts[8]])
        s.counts[8] += 1
    for side in range(2):
        end_unanswered(s, slot, side, packet, t_ps)
    for side in range(2):
        release_lanes(s, s.halves[2 * slot + side])
        release_head(s, s.halves[2 * slot + side])
    connection.followed = 0
