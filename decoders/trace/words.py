"""The tables of words and of packets, from the readings of all taps.

Source: docs/formats.md sections 3 and 8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.capture.registers.layouts import HEADER, Kind, PacketType
from freezeframe.capture.timebase import TimeBase
from freezeframe.decoders.trace.framing import Packets, frame_records
from freezeframe.decoders.trace.memory import Reading, times_of
from freezeframe.decoders.trace.schema import (
    PACKET_KINDS,
    UNKNOWN_KIND,
    Places,
    categories,
    field_of,
    joined_columns,
    make_frame,
    schema,
)

Int64 = npt.NDArray[np.int64]
Columns = dict[str, npt.NDArray[np.generic]]


def words_and_packets(
    readings: Sequence[Reading],
    timebase: TimeBase,
    places: Places,
    peers: Mapping[str, str],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables ``words`` and ``packets``: memory by memory, each oldest first.

    Args:
        places: names of all devices and of the other ends of their links, and of the memories.
        peers: the other end of each device's link; "?" stands for one that is not known.
    """
    words: list[Columns] = []
    packets: list[Columns] = []
    word_rows = packet_rows = 0
    for reading in readings:
        if reading.is_log:
            continue
        framed = frame_records(reading.records, np.flatnonzero(reading.missing).tolist())
        words.append(_words(reading, framed, timebase, places, packet_rows))
        peer = peers.get(reading.device, "?")
        packets.append(_packets(reading, framed, timebase, places, peer, word_rows))
        word_rows += len(words[-1]["t_ps"])
        packet_rows += len(framed)
    return (
        make_frame("words", joined_columns(schema("words").names, words), places),
        make_frame("packets", joined_columns(schema("packets").names, packets), places),
    )


def _words(
    reading: Reading,
    framed: Packets,
    timebase: TimeBase,
    places: Places,
    first_packet: int,
) -> Columns:
    kind = reading.columns.kind
    rows = np.flatnonzero((kind >= Kind.HEAD) & (kind <= Kind.TAIL))
    n = len(rows)
    t_ps, t_unc_ps = times_of(timebase, reading, rows)
    packet = np.full(n, -1, dtype=np.int64)
    lengths = (framed["end_word"] - framed["first_word"]).astype(np.int64)
    # Packets follow one another without a word between them, from the first word to the last.
    packet[: int(lengths.sum())] = np.repeat(np.arange(len(framed)) + first_packet, lengths)
    body = kind[rows] == Kind.BODY
    bodies_before = np.cumsum(body) - body
    starts = framed["first_word"].astype(np.int64)
    index = bodies_before - np.repeat(bodies_before[starts], lengths)
    return {
        "t_ps": t_ps,
        "source": _code("words", "source", reading.source, places, n),
        "kind": kind[rows].astype(np.int64) - 1,
        "t_unc_ps": t_unc_ps,
        "cycle": reading.dated.cycle[rows],
        "slot": reading.slot[rows],
        "data": reading.columns.data[rows],
        "packet": packet,
        "word": np.where(body, index, -1),
    }


def _packets(
    reading: Reading,
    framed: Packets,
    timebase: TimeBase,
    places: Places,
    peer: str,
    first_word: int,
) -> Columns:
    n = len(framed)
    first = framed["first_record"].astype(np.int64)
    t_ps, t_unc_ps = times_of(timebase, reading, first)
    t_end_ps, _ = times_of(
        timebase, reading, framed["last_record"].astype(np.int64), after_cycles=1
    )
    read = framed["header_read"] == 1
    header, address = (
        framed[name].astype(np.uint64).view(np.int64) for name in ("header", "address")
    )

    def field(name: str) -> Int64:
        return np.where(read, field_of(HEADER, name, header), -1)

    packet_type = field("type")
    known = (packet_type >= PacketType.RDMA_WRITE) & (packet_type <= PacketType.CREDIT)
    device = reading.device
    direction = f"{device}->{peer}" if reading.sends else f"{peer}->{device}"
    return {
        "t_ps": t_ps,
        "source": _code("packets", "source", reading.source, places, n),
        "kind": np.where(known, packet_type - 1, PACKET_KINDS.index(UNKNOWN_KIND)),
        "t_end_ps": t_end_ps,
        "t_unc_ps": t_unc_ps,
        "cycle": reading.dated.cycle[first],
        "device": _code("packets", "device", device, places, n),
        "tap": np.full(n, places.memories.index(reading.memory)),
        "direction": _code("packets", "direction", direction, places, n),
        "flow": field("flow"),
        "seq": field("seq"),
        "length": field("length"),
        "body_words": framed["body_words"],
        "flags": field("flags"),
        "dest": np.where(framed["address_read"] == 1, address, -1),
        "header_ok": framed["header_ok"],
        "payload_ok": framed["payload_ok"],
        "length_ok": framed["length_ok"],
        "whole": framed["whole"],
        "first_row": framed["first_word"].astype(np.int64) + first_word,
        "end_row": framed["end_word"].astype(np.int64) + first_word,
    }


def _code(table: str, column: str, text: str, places: Places, n: int) -> Int64:
    return np.full(n, categories(table, column, places).index(text), dtype=np.int64)
