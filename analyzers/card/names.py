"""The general names of what can go wrong, on any card."""

from __future__ import annotations

DROPPED, REORDERED = "packet-dropped", "packets-reordered"
BAD_ON_ARRIVAL, RUNT, GIANT = "bad-on-arrival", "runt", "giant"
BEAT_OMITTED, BEAT_DUPLICATED = "beat-omitted", "beat-duplicated"
BITS_ALTERED, BYTES_ROTATED = "bits-altered", "bytes-rotated"
PACKET_CUT, PACKETS_JOINED = "packet-cut", "packets-joined"
STALLED, GAP = "stalled", "gap-in-packet"
NO_FIT, NONE_KNOWN = "description-does-not-fit", "none-of-the-known"
LAW_BROKEN, RECORDER_SUSPECT = "law-broken", "recorder-suspect"
UNEXPECTED, REFUSED = "answer-unexpected", "access-refused"
