"""Tables of Ethernet frames: columns and rows of the kind ``ethernet``."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from freezeframe.decoders.columns import event_schema, name_type
from freezeframe.decoders.net.ethernet import EthernetFrame, frame_rows


def ethernet_schema() -> pa.Schema:
    """Return the columns of Ethernet frames and errors.

    ``kind`` is ``frame`` or ``error``, and then ``error`` says which; an error about a frame stands
    after it and repeats its values. ``sender`` is the source address. ``data`` is the frame from the
    destination address on, without the check sequence; ``payload`` what follows the type, or the
    length, padding included. ``fcs`` is -1 where it was not captured, and ``fcs_ok`` then null or
    the verdict of the hardware that received it. ``vlan`` and ``ethertype`` are -1 where there is
    none.
    """
    return event_schema(
        {
            "direction": name_type(),
            "destination": pa.string(),
            "sender": pa.string(),
            "vlan": pa.int16(),
            "ethertype": pa.int32(),
            "protocol": name_type(),
            "length_B": pa.int32(),
            "payload": pa.binary(),
            "data": pa.binary(),
            "fcs": pa.int64(),
            "fcs_ok": pa.bool_(),
        }
    )


def ethernet_table(frames: Sequence[EthernetFrame], source: str) -> pa.Table:
    """Return the rows of the frames: each frame, then the errors about it."""
    rows = [row for frame in frames for row in frame_rows(frame, source)]
    return pa.Table.from_pylist(rows, schema=ethernet_schema())
