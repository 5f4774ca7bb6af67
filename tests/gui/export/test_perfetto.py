"""Perfetto: what the official schema reads in the trace, field by field."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Bus
from freezeframe.decoders.run import Decoded
from freezeframe.gui.export.material import Material
from freezeframe.gui.export.perfetto import write_perfetto
from freezeframe.gui.export.protobuf import bytes_field, int_field, text_field, uint_field
from tests.gui.export.material import golden_recording, recording, samples, small

SCHEMA: Any = import_module("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


class Read:
    """A trace as the official schema reads it."""

    def __init__(self, path: Path) -> None:
        trace = SCHEMA.Trace()
        trace.ParseFromString(path.read_bytes())
        # The official writer has another order of fields, so lengths are what can be compared.
        trace.DiscardUnknownFields()
        assert trace.ByteSize() == path.stat().st_size, "a field the schema does not have"
        self.names: dict[int, str] = {}
        self.counters: set[str] = set()
        self.events: list[tuple[int, str, int, Any]] = []
        for packet in trace.packet:
            assert packet.trusted_packet_sequence_id == 1
            if packet.HasField("track_descriptor"):
                track = packet.track_descriptor
                above = f"{self.names[track.parent_uuid]}/" if track.HasField("parent_uuid") else ""
                self.names[track.uuid] = above + track.name
                if track.HasField("counter"):
                    self.counters.add(above + track.name)
            elif packet.HasField("track_event"):
                event = packet.track_event
                name = self.names[event.track_uuid]
                self.events.append((packet.timestamp, name, event.type, event))
        assert [e[0] for e in self.events] == sorted(e[0] for e in self.events)

    def brief(self) -> list[tuple[int, str, int, Any]]:
        """Return time in ns, track, type, and the name or the value of each event."""
        return [
            (t_ns, track, kind, event.counter_value if kind == COUNTER else event.name)
            for t_ns, track, kind, event in self.events
        ]


def table(*rows: dict[str, Any]) -> Material:
    tables = [Decoded("x", pa.Table.from_pylist([{"source": "X"} | row for row in rows]))]
    return Material(Path("x.sr"), tables=tables)


def test_channels_are_counters_that_change_at_their_edges(tmp_path: Path) -> None:
    wrote = write_perfetto(samples(small()), tmp_path / "x")
    trace = Read(tmp_path / "x")
    assert trace.counters == {"clk", "data out"}
    assert trace.brief() == [
        (0, "clk", COUNTER, 1),
        (0, "data out", COUNTER, 0),
        (1000, "clk", COUNTER, 0),
        (1000, "data out", COUNTER, 1),
        (2333, "clk", COUNTER, 1),
        (2666, "clk", COUNTER, 0),
        (2666, "data out", COUNTER, 0),
    ]
    assert wrote.counts == {"edges": 4}


def test_a_bus_is_one_counter_and_64_bits_are_a_bit_pattern(tmp_path: Path) -> None:
    names = tuple(f"d{bit}" for bit in range(64))
    wide = replace(
        small(),
        channels=names,
        value=np.array([0, 2**63, 2**64 - 1, 5], dtype=np.uint64),
        buses=(Bus("d", names),),
    )
    write_perfetto(samples(wide), tmp_path / "x")
    assert Read(tmp_path / "x").brief() == [
        (0, "d", COUNTER, 0),
        (1000, "d", COUNTER, -(2**63)),
        (2333, "d", COUNTER, -1),
        (2666, "d", COUNTER, 5),
    ]


def test_a_packet_is_a_slice_with_all_its_columns_unrounded(tmp_path: Path) -> None:
    material = golden_recording(payload_ok=None)
    write_perfetto(Material(material.source, tables=material.tables[:1]), tmp_path / "x")
    trace = Read(tmp_path / "x")
    assert trace.brief() == [
        (1, "trace.packets/A.tx_enq", BEGIN, "RDMA_WRITE"),
        (51, "trace.packets/A.tx_enq", END, ""),
    ]
    columns = {
        note.name: getattr(note, note.WhichOneof("value"))
        for note in trace.events[0][3].debug_annotations
    }
    assert columns["t_ps"] == 1_999
    assert (columns["flow"], columns["seq"], columns["direction"]) == (3, 7, "A->B")
    assert columns["whole"] is True
    assert "payload_ok" not in columns


def test_rows_without_an_end_are_instants(tmp_path: Path) -> None:
    wrote = write_perfetto(golden_recording(), tmp_path / "x")
    words = [e for e in Read(tmp_path / "x").brief() if e[1] == "trace.words/A.tx_enq"]
    assert words == [
        (1 + 10 * i, "trace.words/A.tx_enq", INSTANT, kind)
        for i, kind in enumerate(("HEAD", "HEAD", "BODY", "BODY", "TAIL"))
    ]
    assert wrote.counts["rows of trace.words"] == 5


def test_slices_that_overlap_stand_in_lanes_and_ends_come_before_begins(tmp_path: Path) -> None:
    material = table(
        {"t_ps": 5_000, "t_end_ps": 9_000, "kind": "b"},
        {"t_ps": 1_000, "t_end_ps": 6_000, "kind": "a"},
        {"t_ps": 6_000, "t_end_ps": 7_000, "kind": "c"},
        {"t_ps": 7_000, "t_end_ps": 7_000, "kind": "d"},
    )
    write_perfetto(material, tmp_path / "x")
    assert Read(tmp_path / "x").brief() == [
        (1, "x/X", BEGIN, "a"),
        (5, "x/X (2)", BEGIN, "b"),
        (6, "x/X", END, ""),
        (6, "x/X", BEGIN, "c"),
        (7, "x/X", END, ""),
        (7, "x/X", INSTANT, "d"),
        (9, "x/X (2)", END, ""),
    ]


def test_credits_are_counters_of_the_words_freed(tmp_path: Path) -> None:
    # value: bits 0-39 of the credit word; freed in bits 16-39 (docs/formats.md sections 3 and 4)
    event = {"source": "A.event_log", "kind": "CREDIT", "event_source": "rx_link", "flow": 3}
    events = [
        event | {"t_ps": 2_000, "code": "taken", "value": 100 << 16 | 0x304},
        event | {"t_ps": 4_000, "code": "taken", "value": (2**24 - 1) << 16 | 0x304},
    ]
    wrote = write_perfetto(recording(events=events), tmp_path / "x")
    trace = Read(tmp_path / "x")
    track = "trace.events/A/flow 3 words freed, taken"
    assert trace.counters == {track}
    assert [(t, value) for t, name, _, value in trace.brief() if name == track] == [
        (2, 100),
        (4, 2**24 - 1),
    ]
    assert wrote.counts["credits of trace.events as counters"] == 2


def test_every_kind_of_value_stands_beside_its_slice(tmp_path: Path) -> None:
    row = {"kind": "k", "low": -(2**63), "off": False, "memory": b"\x00\xff", "words": [1, 2]}
    write_perfetto(table({"t_ps": 0} | row), tmp_path / "x")
    notes = Read(tmp_path / "x").events[0][3].debug_annotations
    assert {n.name: getattr(n, n.WhichOneof("value")) for n in notes} == {
        "t_ps": 0,
        "source": "X",
        "kind": "k",
        "low": -(2**63),
        "off": False,
        "memory": "00ff",
        "words": "[1, 2]",
    }


def test_tables_without_rows_are_nothing_to_export(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"made\.ff: nothing to export as perfetto: trace\.pack"):
        write_perfetto(recording(), tmp_path / "x")


def test_a_time_before_the_capture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"-1 ps, before the beginning"):
        write_perfetto(golden_recording(t_ps=-1), tmp_path / "x")


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 2**32, 2**63, 2**64 - 1])
def test_an_unsigned_field_is_that_of_the_official_encoder(value: int) -> None:
    message = SCHEMA.TrackEvent(track_uuid=value)
    assert uint_field(11, value) == message.SerializeToString()


@pytest.mark.parametrize("value", [0, 1, -1, 2**63 - 1, -(2**63)])
def test_a_signed_field_is_that_of_the_official_encoder(value: int) -> None:
    assert int_field(30, value) == SCHEMA.TrackEvent(counter_value=value).SerializeToString()


@pytest.mark.parametrize("text", ["", "a", "µs" * 100], ids=["empty", "short", "long"])
def test_a_text_field_is_that_of_the_official_encoder(text: str) -> None:
    assert text_field(23, text) == SCHEMA.TrackEvent(name=text).SerializeToString()
    assert bytes_field(23, text.encode()) == text_field(23, text)


def test_numbers_that_do_not_fit_are_refused() -> None:
    for encode, value in ((uint_field, -1), (uint_field, 2**64), (int_field, 2**63)):
        with pytest.raises(ValueError, match=f"field 5: {value} does not fit 64 bits"):
            encode(5, value)
