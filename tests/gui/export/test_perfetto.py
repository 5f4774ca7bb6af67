"""Perfetto: what the official schema reads in the trace, field by field."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from freezeframe.analyzers.card.view import CardsView, run_analysis
from freezeframe.analyzers.declarations import PRESSURE
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Bus
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.decoders.run import Decoded
from freezeframe.decoders.trace.coverage import Coverage
from freezeframe.decoders.trace.decode import decode_capture
from freezeframe.emulator.card_image import CardImage
from freezeframe.gui.export.material import Material
from freezeframe.gui.export.perfetto import write_perfetto
from freezeframe.gui.export.protobuf import (
    bytes_field,
    double_field,
    int_field,
    text_field,
    uint_field,
)
from freezeframe.gui.export.run import export_file
from freezeframe.gui.tracks.analysis import analysis_tracks
from freezeframe.gui.tracks.card import card_frames, card_tracks
from freezeframe.gui.tracks.recording import recording_tracks
from freezeframe.gui.tracks.tracks import IntervalTrack, SeriesTrack, SliceTrack
from tests.gui.desktop.captures import emulated
from tests.gui.export.material import golden_recording, recording, samples, small
from tests.gui.test_card_analyses_verbs import recorded

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
        self.counters: dict[str, str] = {}
        self.events: list[tuple[int, str, int, Any]] = []
        for packet in trace.packet:
            assert packet.trusted_packet_sequence_id == 1
            if packet.HasField("track_descriptor"):
                track = packet.track_descriptor
                above = f"{self.names[track.parent_uuid]}/" if track.HasField("parent_uuid") else ""
                self.names[track.uuid] = above + track.name
                if track.HasField("counter"):
                    self.counters[above + track.name] = track.counter.unit_name
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
    assert trace.counters == {"clk": "", "data out": ""}
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
        (1, "decoded/trace.packets", BEGIN, "RDMA_WRITE"),
        (51, "decoded/trace.packets", END, ""),
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
    words = [e for e in Read(tmp_path / "x").brief() if e[1] == "decoded/trace.words"]
    assert words == [
        (1 + 10 * i, "decoded/trace.words", INSTANT, kind)
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
        (1, "decoded/x", BEGIN, "a"),
        (5, "decoded/x (2)", BEGIN, "b"),
        (6, "decoded/x", END, ""),
        (6, "decoded/x", BEGIN, "c"),
        (7, "decoded/x", END, ""),
        (7, "decoded/x", INSTANT, "d"),
        (9, "decoded/x (2)", END, ""),
    ]


def test_a_series_is_a_counter_with_its_unit_its_fractions_and_nothing_where_no_value_is_known(
    tmp_path: Path,
) -> None:
    times = np.array([-1_000, 1_000, 2_000, 3_000], np.int64)
    rate = SeriesTrack(
        key="/throughput/series/A.out.throughput",
        name="A out, throughput",
        t_ps=times,
        value=np.array([9.0, 1.5, np.nan, 2.25]),
        unit="MiB/s",
    )
    wrote = write_perfetto(Material(Path("x.ff"), tracks=[(rate, None)]), tmp_path / "x")
    trace = Read(tmp_path / "x")
    name = "A throughput/A out, throughput"
    assert trace.counters == {name: "MiB/s"}
    assert [(t, event.double_counter_value) for t, _, _, event in trace.events] == [
        (1, 1.5),
        (3, 2.25),
    ]
    assert wrote.notes == ["A out, throughput: 1 value before time 0 left out"]


def test_what_an_analysis_saw_before_time_0_is_cut_there_and_counted(tmp_path: Path) -> None:
    stalls = SliceTrack(
        key="/throughput/intervals/0/A.out.shape",
        name="A out, levels",
        t_ps=np.array([-9_000, -1_000, 4_000], np.int64),
        t_end_ps=np.array([-1_000, 4_000, 6_000], np.int64),
        label=str,
    )
    wrote = write_perfetto(Material(Path("x.ff"), tracks=[(stalls, None)]), tmp_path / "x")
    trace = Read(tmp_path / "x")
    assert [(t, kind, name) for t, _, kind, name in trace.brief()] == [
        (0, BEGIN, "1"), (4, END, ""), (4, BEGIN, "2"), (6, END, ""),
    ]  # fmt: skip
    first = {n.name: n.int_value for n in trace.events[0][3].debug_annotations}
    assert first == {"t_ps": -1_000}
    assert wrote.notes == ["A out, levels: 2 items before time 0 left out or cut there"]


def test_what_was_not_recorded_is_a_slice_with_its_reason_beside_the_track(tmp_path: Path) -> None:
    held = IntervalTrack(
        key="/intervals/A.event_log",
        name="A blocked",
        t_ps=np.array([5_000], np.int64),
        t_end_ps=np.array([9_000], np.int64),
        open_end=np.array([True]),
        error=np.array([True]),
        label=lambda item: "flow 0",
        coverage=Coverage.between(3_000, 9_000, "log wrapped before 3 ns", "nothing after"),
    )
    wrote = write_perfetto(Material(Path("x.ff"), tracks=[(held, None)]), tmp_path / "x")
    trace = Read(tmp_path / "x")
    assert trace.brief() == [
        (0, "A back-pressure/A blocked, not recorded", BEGIN, "log wrapped before 3 ns"),
        (3, "A back-pressure/A blocked, not recorded", END, ""),
        (5, "A back-pressure/A blocked", BEGIN, "flow 0"),
        (9, "A back-pressure/A blocked", END, ""),
    ]
    notes = {n.name for n in trace.events[2][3].debug_annotations}
    assert notes == {"t_ps", "in error", "had not ended"}
    assert wrote.counts["stretches that were not recorded"] == 1


def test_a_recording_has_the_tracks_of_its_pictures(tmp_path: Path) -> None:
    """The names are those of the window; an item of each kind stands beside what was recorded of it."""
    capture = emulated(tmp_path / "x.ff", "word-omitted")
    export_file(capture, "perfetto", tmp_path / "x")
    trace = Read(tmp_path / "x")
    folder = CaptureFolder.open(capture)
    decoded = decode_capture(folder)
    tracks = {track.key: track for track, _ in recording_tracks("", "", folder, decoded)}
    # Waits have the labels that the analysis gives them.
    waits = run_analysis(PRESSURE, CaptureView(folder, trace=decoded))
    tracks |= {track.key: track for track, _ in analysis_tracks("", "", decoded, waits)}
    (blocked,) = (track for track in tracks.values() if track.name == "A blocked")
    assert blocked.label_of(0) == (
        "flow 0 waited for credit: the receiver's FIFO had not been emptied far enough"
    )
    shown = [track for track in tracks.values() if len(track)]
    names = {name.partition("/")[2] or name for name in trace.names.values()}
    assert {track.name for track in shown} <= names
    assert "A->B, waiting for credit" not in names  # a wait stands once
    assert {"findings", "A out, throughput", "A->B flow 0, words outstanding"} <= names
    for track in shown:
        mine = [e for e in trace.events if e[1].endswith(f"/{track.name}") and e[2] != END]
        assert [t for t, *_ in mine] == (track.t_ps // 1000).tolist(), track.name
        assert [event.name for *_, event in mine] == [track.label_of(i) for i in range(len(track))]
    bad = next(e for *_, e in trace.events if e.name == "69 RDMA_WRITE f0" and len(e.debug_annotations) > 20
               and any(n.name == "in error" for n in e.debug_annotations))  # fmt: skip
    columns = {n.name: getattr(n, n.WhichOneof("value")) for n in bad.debug_annotations}
    assert (columns["seq"], columns["payload_ok"], columns["length_ok"]) == (69, False, False)


def test_a_card_that_a_file_describes_has_the_tracks_of_its_pictures(tmp_path: Path) -> None:
    pull(CardImage([recorded("ethernet-8", "bits-flipped")]), tmp_path / "x.ff")
    export_file(tmp_path / "x.ff", "perfetto", tmp_path / "x")
    trace = Read(tmp_path / "x")
    view = CardsView(CardFolder.open(tmp_path / "x.ff"))
    frames = card_frames(view.cards)
    shown = [track for track, _ in card_tracks("", "", view.cards, frames) if len(track)]
    assert len(shown) == 4  # packets and words of two taps
    for track in shown:
        mine = [e for e in trace.events if e[1].rpartition("/")[2] == track.name and e[2] != END]
        assert [t for t, *_ in mine] == (track.t_ps // 1000).tolist(), track.name
    wrong = {
        e.name for *_, e in trace.events if any(n.name == "in error" for n in e.debug_annotations)
    }
    assert wrong
    assert any(name.endswith(", not recorded") for name in trace.names.values())
    export_file(tmp_path / "x.ff", "perfetto", tmp_path / "y", where="verdict == bad")
    chosen = [e.name for *_, kind, e in Read(tmp_path / "y").events if kind != END]
    (bad,) = frames["packets"]["number"][frames["packets"]["verdict"] == "bad"]
    assert {name.split()[0] for name in chosen} == {
        f"#{bad}"
    }  # the packet, and what is wrong with it


def test_chosen_rows_of_a_recording_are_its_tracks_alone(tmp_path: Path) -> None:
    capture = emulated(tmp_path / "x.ff", "word-omitted")
    export_file(capture, "perfetto", tmp_path / "x", where="seq == 69")
    trace = Read(tmp_path / "x")
    assert {
        e.name for _, name, kind, e in trace.events if kind != END and "not recorded" not in name
    } == {"69 RDMA_WRITE f0"}


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


@pytest.mark.parametrize("value", [0.1, -1.5e300, float("inf")])
def test_a_fraction_is_that_of_the_official_encoder(value: float) -> None:
    wanted = SCHEMA.TrackEvent(double_counter_value=value).SerializeToString()
    assert double_field(44, value) == wanted


@pytest.mark.parametrize("text", ["", "a", "µs" * 100], ids=["empty", "short", "long"])
def test_a_text_field_is_that_of_the_official_encoder(text: str) -> None:
    assert text_field(23, text) == SCHEMA.TrackEvent(name=text).SerializeToString()
    assert bytes_field(23, text.encode()) == text_field(23, text)


def test_numbers_that_do_not_fit_are_refused() -> None:
    for encode, value in ((uint_field, -1), (uint_field, 2**64), (int_field, 2**63)):
        with pytest.raises(ValueError, match=f"field 5: {value} does not fit 64 bits"):
            encode(5, value)
