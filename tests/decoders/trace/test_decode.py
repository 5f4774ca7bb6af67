"""A capture folder to tables: words, packets, events, intervals (docs/formats.md sections 2 to 8)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from freezeframe.capture.errors import InputError
from freezeframe.capture.folder import Gap, MemoryImage
from freezeframe.capture.registers.map_table import REGISTERS
from freezeframe.decoders.trace import encode, schema
from freezeframe.decoders.trace.decode import Trace, decode_capture
from tests.decoders.trace.captures import capture, device, image, raw_image
from tests.decoders.trace.recorder_model import (
    BODY,
    CREDIT,
    DESC,
    HEAD,
    IRQ,
    LINK,
    LOSS,
    NOTE,
    PRESSURE,
    STATE,
    TAIL,
    TIME,
    USER,
    Stored,
    record_stream,
)

PACKET = [(int(kind), word) for kind, word in encode.packet_words(1, 3, 7, 0x1000, [1, 2])]
SIX = PACKET[:2] + [(BODY, 1)] * 6  # a header that promises 2 words


def stream(
    words: Iterable[tuple[int, int]], start: int = 1000, step: int = 1, wait: int = 20
) -> list[Stored]:
    """Return the records of words that come every ``step`` cycles from ``start`` on, then the closing."""
    timed = [(start + step * i, kind, data) for i, (kind, data) in enumerate(words)]
    end = timed[-1][0] if timed else start
    return record_stream(timed, start, end + wait, causes=1 << 3)


def event(kind: int, code: int, value: int = 0, flow: int = 0, source: int = 0) -> tuple[int, int]:
    return kind, code << 56 | source << 48 | flow << 40 | value


def log(events: Sequence[tuple[int, tuple[int, int]]], end: int = 10_000) -> MemoryImage:
    """Return an event log of ``(cycle, (kind, data))``, closed at cycle ``end``."""
    timed = [(cycle, kind, data) for cycle, (kind, data) in events]
    return image("event_log", record_stream(timed, 0, end), depth=256)


def decoded(*memories: MemoryImage, index: int = 0) -> Trace:
    return decode_capture(capture(device(index, *memories)))


def only(frame: pd.DataFrame, kind: str) -> pd.DataFrame:
    return frame[frame["kind"] == kind].reset_index(drop=True)


def test_a_good_packet_becomes_a_row_with_its_fields_and_times() -> None:
    trace = decoded(image("tx_enq", stream(PACKET)))
    (row,) = trace.packets.to_dict("records")
    assert row == {
        "t_ps": 0,
        "source": "A.tx_enq",
        "kind": "RDMA_WRITE",
        "t_end_ps": 50_000,
        "t_unc_ps": 0,
        "cycle": 1000,
        "device": "A",
        "tap": "tx_enq",
        "direction": "A->B",
        "flow": 3,
        "seq": 7,
        "length": 2,
        "body_words": 2,
        "flags": 0,
        "dest": 0x1000,
        "header_ok": True,
        "payload_ok": True,
        "length_ok": True,
        "whole": True,
        "first_row": 0,
        "end_row": 5,
    }


def test_a_word_becomes_a_row_with_its_slot_and_place_in_the_packet() -> None:
    words = decoded(image("tx_enq", stream(PACKET))).words
    assert words["kind"].tolist() == ["HEAD", "HEAD", "BODY", "BODY", "TAIL"]
    assert words["word"].tolist() == [-1, -1, 0, 1, -1]
    assert words["packet"].tolist() == [0] * 5
    assert words["slot"].tolist() == [0, 1, 2, 3, 4]
    assert words["cycle"].tolist() == [1000, 1001, 1002, 1003, 1004]
    assert words["t_ps"].tolist() == [0, 10_000, 20_000, 30_000, 40_000]
    assert words["data"].tolist() == [0x30C5_0007_0002_0301, 0x1000, 1, 2, 0x00F6_DDB9]


def test_tables_have_exactly_the_declared_columns_and_types() -> None:
    tables = decoded(image("tx_enq", stream(PACKET))).tables()
    for name, table in tables.items():
        assert table.schema.equals(schema.schema(name))
    assert list(tables) == ["words", "packets", "events", "intervals"]


def test_an_empty_memory_gives_empty_tables_of_the_same_types() -> None:
    trace = decoded(MemoryImage("tx_enq", np.zeros((8, 9), np.uint8), 0, False))
    for name, table in trace.tables().items():
        assert table.num_rows == 0
        assert table.schema.equals(schema.schema(name))
    assert trace.problems == []


def test_a_wrapped_memory_is_read_from_its_oldest_slot_and_the_cut_packet_is_not_whole() -> None:
    trace = decoded(image("tx_enq", stream(PACKET * 4, wait=3), depth=16))
    assert trace.words["slot"].tolist() == [6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3]
    assert trace.words["cycle"].tolist() == list(range(1006, 1020))
    assert trace.packets["whole"].tolist() == [False, True, True]
    assert trace.packets["kind"].tolist() == ["unknown", "RDMA_WRITE", "RDMA_WRITE"]
    first = trace.packets.iloc[0]
    assert [first[name] for name in ("flow", "seq", "length", "flags")] == [-1] * 4
    assert first["dest"] == 0x1000, "the address word is still there"


def test_rows_of_a_second_memory_point_to_their_own_packets_and_words() -> None:
    trace = decoded(image("tx_enq", stream(PACKET * 2)), image("rx_deq", stream(PACKET)))
    assert trace.words["packet"].tolist() == [0] * 5 + [1] * 5 + [2] * 5
    assert trace.packets["first_row"].tolist() == [0, 5, 10]
    assert trace.packets["end_row"].tolist() == [5, 10, 15]


def test_a_verdict_that_cannot_be_known_is_null() -> None:
    packets = decoded(image("tx_enq", stream(PACKET[3:] + PACKET[:4]))).packets
    for name, known in (("header_ok", True), ("payload_ok", pd.NA), ("length_ok", pd.NA)):
        assert packets[name].isna().tolist() == [True, known is pd.NA]
        assert packets[name].dtype == "boolean"
    assert packets["whole"].tolist() == [False, False]


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (0, "unknown"),
        (1, "RDMA_WRITE"),
        (2, "NOTIFICATION"),
        (3, "INTERRUPT"),
        (4, "CREDIT"),
        (5, "unknown"),
        (15, "unknown"),
    ],
)
def test_the_kind_of_a_packet_is_its_type_as_read(number: int, name: str) -> None:
    words = [(int(kind), word) for kind, word in encode.packet_words(number, 127, 65535, 0, [])]
    row = decoded(image("tx_enq", stream(words))).packets.iloc[0]
    assert (row["kind"], row["flow"], row["seq"]) == (name, 127, 65535)
    assert row["header_ok"]


def test_word_numbers_count_the_payload_seen_in_each_packet() -> None:
    cut = PACKET[3:]
    words = decoded(image("tx_enq", stream(cut + SIX + PACKET))).words
    assert words["word"].tolist() == [0, -1, -1, -1, 0, 1, 2, 3, 4, 5, -1, -1, 0, 1, -1]
    assert words["packet"].tolist() == [0, 0] + [1] * 8 + [2] * 5


@pytest.mark.parametrize(
    ("name", "index", "direction"),
    [("tx_enq", 0, "A->B"), ("tx_deq", 0, "A->B"), ("rx_enq", 0, "B->A"), ("rx_deq", 1, "A->B")],
)
def test_the_direction_is_from_sender_to_receiver(name: str, index: int, direction: str) -> None:
    packets = decoded(image(name, stream(PACKET)), index=index).packets
    assert packets["direction"].tolist() == [direction]
    assert packets["tap"].tolist() == [name]


def test_the_other_end_of_a_target_that_has_not_two_devices_is_not_known() -> None:
    for count in (1, 3, 255):
        lone = device(0, image("rx_enq", stream(PACKET)), devices_count=count)
        assert decode_capture(capture(lone)).packets["direction"].tolist() == ["?->A"]


def test_taps_of_the_link_clock_have_its_period() -> None:
    packets = decoded(image("rx_enq", stream(PACKET))).packets
    assert packets["t_end_ps"].tolist() == [5 * 12_800]


def test_both_devices_stand_on_one_axis_whose_zero_is_the_earliest_record() -> None:
    # B's bus clock is 100 ppm fast and started 500,000 cycles before the master's.
    def b_cycle(master: int) -> int:
        return 500_000 + master * 10_001 // 10_000

    pairs = {"bus": (1, b_cycle(4096) + 2, 4000, b_cycle(4000 * 4096) + 2)}
    at = 9_000_000
    a = device(0, image("tx_enq", stream(PACKET, start=at)))
    b = device(1, image("rx_deq", stream(PACKET, start=b_cycle(at + 100))), pairs=pairs)
    packets = decode_capture(capture(a, b)).packets
    assert packets["source"].tolist() == ["A.tx_enq", "B.rx_deq"]
    assert packets["t_ps"][0] == 0
    late_ps, unc_ps = packets["t_ps"][1], packets["t_unc_ps"][1]
    assert packets["t_unc_ps"][0] == 0
    assert 0 < unc_ps < 20_000
    assert abs(late_ps - 1_000_000) <= unc_ps + 10_000, "100 cycles, and B rounds to its own cycle"


def test_a_domain_without_a_relation_to_the_master_says_so() -> None:
    trace = decoded(image("tx_deq", stream(PACKET)))
    assert trace.packets["t_unc_ps"].tolist() == [-1]
    assert any("A.link" in note and "unknown" in note for note in trace.notes)


def test_one_of_two_devices_can_be_decoded_alone() -> None:
    folder = capture(
        device(0, image("tx_enq", stream(PACKET))), device(1, image("rx_deq", stream(PACKET)))
    )
    trace = decode_capture(folder, devices=["B"])
    assert trace.devices == ("B",)
    assert trace.packets["source"].tolist() == ["B.rx_deq"]
    assert trace.packets["direction"].tolist() == ["A->B"]
    with pytest.raises(InputError, match=r"no device C; the capture holds A, B"):
        decode_capture(folder, devices=["A", "C"])


def test_in_select_mode_the_memory_holds_the_selected_tap() -> None:
    select_tap = next(
        field.lsb
        for register in REGISTERS
        if register.name == "ctl.options"
        for field in register.fields
        if field.name == "select_tap"
    )
    one = device(
        0,
        image("tx_enq", stream(PACKET)),
        registers={"ctl.options": 2 << select_tap},
        trace_mode=0,
    )
    packets = decode_capture(capture(one)).packets
    assert packets["source"].tolist() == ["A.rx_enq"]
    assert packets["t_end_ps"].tolist() == [5 * 12_800]


@pytest.mark.parametrize(
    ("kind", "code", "text", "flow"),
    [
        (DESC, 1, "posted", 5),
        (DESC, 2, "started", 5),
        (DESC, 3, "done", 5),
        (NOTE, 1, "local", 5),
        (NOTE, 2, "remote", 5),
        (IRQ, 1, "raised", -1),
        (IRQ, 2, "masked", -1),
        (IRQ, 3, "enabled", -1),
        (CREDIT, 1, "sent", 5),
        (CREDIT, 2, "taken", 5),
        (CREDIT, 3, "refused_parity", 5),
        (CREDIT, 4, "refused_crc", 5),
        (PRESSURE, 1, "begin", 5),
        (PRESSURE, 2, "end", 5),
        (LINK, 1, "idle_inserted", -1),
        (LINK, 5, "trained", -1),
        (STATE, 0, "tx_dma", -1),
        (STATE, 3, "rx_link", -1),
        (USER, 200, "200", 5),
        (DESC, 9, "unknown-9", 5),
        (STATE, 77, "unknown-77", -1),
    ],
)
def test_events_have_the_names_of_their_codes(kind: int, code: int, text: str, flow: int) -> None:
    record = event(kind, code, value=0xAB_CDEF_0123, flow=5, source=3)
    row = decoded(log([(500, record)])).events.iloc[0]
    assert (row["code"], row["flow"], row["event_source"]) == (text, flow, "rx_link")
    assert (row["value"], row["cycle"], row["slot"]) == (0xAB_CDEF_0123, 500, 0)
    assert (row["source"], row["device"]) == ("A.event_log", "A")
    assert row["data"] == record[1] - (1 << 64 if record[1] >> 63 else 0)


def test_an_event_source_without_a_name_keeps_its_number() -> None:
    row = decoded(log([(5, event(NOTE, 1, source=99))])).events.iloc[0]
    assert row["event_source"] == "unknown-99"


def test_mark_and_time_of_a_tap_are_events_of_that_tap() -> None:
    events = decoded(image("tx_enq", stream(PACKET))).events
    assert events["source"].tolist() == ["A.tx_enq"] * 3
    assert events["kind"].tolist() == ["TIME", "MARK", "TIME"]
    assert events["cycle"].tolist() == [1018, 1024, 1025]
    assert events["value"].tolist() == [1018, 5, 1025]
    assert events["code"].tolist() == ["", "pay-crc", ""]
    assert events["event_source"].tolist() == ["recorder"] * 3


def test_all_causes_of_a_mark_are_named() -> None:
    stored = record_stream([], 0, 9, causes=0b1000_0000_0101)
    mark = only(decoded(image("tx_enq", stored)).events, "MARK")
    assert mark["code"].tolist() == ["host+hdr-crc+cross"]


def test_events_of_one_cycle_stay_in_the_order_of_the_log() -> None:
    events = decoded(log([(50, event(NOTE, 1, i)) for i in range(6)])).events
    assert only(events, "NOTE")["value"].tolist() == list(range(6))
    assert only(events, "NOTE")["cycle"].tolist() == [50] * 6


def test_events_of_all_memories_are_in_the_order_of_time() -> None:
    trace = decoded(image("tx_enq", stream(PACKET, 900)), log([(910, event(NOTE, 1))]))
    assert trace.events["t_ps"].is_monotonic_increasing
    assert "A.event_log" in set(trace.events["source"])


def test_a_pressure_interval_runs_from_begin_to_end_for_each_flow() -> None:
    rows = [
        (100, event(PRESSURE, 1, flow=1)),
        (110, event(PRESSURE, 1, flow=2)),
        (150, event(PRESSURE, 2, flow=1)),
        (400, event(PRESSURE, 2, flow=2)),
    ]
    intervals = decoded(log(rows)).intervals
    assert intervals["t_ps"].tolist() == [0, 100_000]
    assert intervals["t_end_ps"].tolist() == [500_000, 3_000_000]
    assert intervals["flow"].tolist() == [1, 2]
    assert intervals["kind"].tolist() == ["PRESSURE"] * 2
    assert intervals["source"].tolist() == ["A.event_log"] * 2
    assert not intervals[["open_start", "open_end"]].to_numpy().any()


def test_pressure_that_began_before_or_ended_after_the_log_is_open_there() -> None:
    rows = [
        (100, event(NOTE, 1)),
        (150, event(PRESSURE, 2, flow=1)),
        (400, event(PRESSURE, 1, flow=2)),
    ]
    intervals = decoded(log(rows, end=1000)).intervals
    assert intervals["t_ps"].tolist() == [0, 3_000_000]
    assert intervals["t_end_ps"].tolist() == [500_000, 9_010_000], "to the closing TIME"
    assert intervals["open_start"].tolist() == [True, False]
    assert intervals["open_end"].tolist() == [False, True]


def test_of_two_begins_the_first_ends_openly_at_the_second_and_ends_likewise() -> None:
    begins = [(100, event(PRESSURE, 1)), (200, event(PRESSURE, 1)), (300, event(PRESSURE, 2))]
    intervals = decoded(log(begins)).intervals
    assert intervals["t_ps"].tolist() == [0, 1_000_000]
    assert intervals["t_end_ps"].tolist() == [1_000_000, 2_000_000]
    assert intervals["open_end"].tolist() == [True, False]
    ends = [(100, event(PRESSURE, 1)), (200, event(PRESSURE, 2)), (300, event(PRESSURE, 2))]
    intervals = decoded(log(ends)).intervals
    assert intervals["t_ps"].tolist() == [0, 1_000_000]
    assert intervals["open_start"].tolist() == [False, True]


def test_credits_are_taken_apart() -> None:
    good = encode.credit_word(3, 100) & (1 << 40) - 1
    rows = [
        (100, event(CREDIT, 1, good, flow=3)),
        (200, event(NOTE, 1)),
        (300, event(CREDIT, 3, good ^ 1 << 20, flow=3)),
        (301, event(CREDIT, 3, 0b11, flow=3)),
        (302, event(CREDIT, 2, 0b111, flow=3)),
    ]
    credits = decoded(log(rows)).credits()
    assert credits["t_ps"].tolist() == [0, 2_000_000, 2_010_000, 2_020_000]
    assert credits["code"].tolist() == ["sent", "refused_parity", "refused_parity", "taken"]
    assert credits["flow"].tolist() == [3] * 4
    assert credits["freed"].tolist() == [100, 100 ^ 16, 0, 0]
    assert credits["parity_ok"].tolist() == [True, False, False, True]
    assert credits["device"].tolist() == ["A"] * 4


def test_descriptors_and_state_changes_are_taken_apart() -> None:
    value = encode.desc_value(length=512, type=2, flags=3, seq=0xBEEF)
    rows = [
        (100, event(DESC, 2, value, flow=4)),
        (150, event(STATE, 1, encode.state_value(new=6, old=3))),
        (160, event(STATE, 1, encode.state_value(new=200, old=6))),
    ]
    trace = decoded(log(rows))
    descriptor = trace.descriptors().iloc[0]
    assert [descriptor[name] for name in ("code", "flow", "type", "length", "flags", "seq")] == [
        "started", 4, "NOTIFICATION", 512, 3, 0xBEEF,
    ]  # fmt: skip
    states = trace.states()
    assert states["machine"].tolist() == ["rx_dma", "rx_dma"]
    assert states["old"].tolist() == ["data", "stopped"]
    assert states["new"].tolist() == ["stopped", "unknown-200"]


def errors(trace: Trace) -> list[tuple[str, int, int]]:
    rows = only(trace.events, "error")
    return list(zip(rows["code"], rows["slot"].tolist(), rows["value"].tolist(), strict=True))


def texts(trace: Trace) -> list[str]:
    return [str(problem) for problem in trace.problems]


def test_a_gap_of_the_pull_is_an_error_row_a_problem_and_cuts_the_packet() -> None:
    rows = [record.raw for record in stream(PACKET + PACKET)]
    trace = decoded(raw_image("tx_enq", rows, [Gap(3, 2, "no answer")]))
    assert errors(trace) == [("undated", 0, 3), ("not-read", 3, 2)]
    assert texts(trace) == [
        "A.tx_enq: slot 3: 2 records from this slot on could not be read: no answer",
        "A.tx_enq: slot 0: 3 records from this slot on without a TIME to date them: "
        "known to 1000 cycles",
    ]
    assert trace.words["slot"].tolist() == [0, 1, 2, 5, 6, 7, 8, 9]
    assert trace.packets["whole"].tolist() == [False, True]
    undated = trace.words[:3]
    assert undated["t_ps"].tolist() == [0, 10_000, 20_000]
    assert undated["cycle"].tolist() == [1000, 1001, 1002], "the latest they can be"
    assert (undated["t_unc_ps"] > 0).all()


def test_undated_records_are_stated_with_how_far_they_are_known() -> None:
    words = [(100, BODY, 1), *((5000 + i, BODY, i) for i in range(5))]
    rows = [record.raw for record in record_stream(words, 0, 5010)]
    assert rows[1][8] == TIME | 14 << 4, "slot 1 is the TIME of cycle 114"
    trace = decoded(raw_image("tx_enq", rows, [Gap(2, 1, "x"), Gap(5, 1, "x")]))
    assert ("undated", 3, 2) in errors(trace)
    piece = trace.words[trace.words["slot"].isin([3, 4])]
    # Latest: two cycles before slot 6 (cycle 5004); earliest: two cycles after slot 1.
    assert piece["cycle"].tolist() == [5001, 5002]
    assert piece["t_unc_ps"].tolist() == [(5001 - 116) * 10_000] * 2
    assert any("known to 4885 cycles" in text for text in texts(trace))


def test_a_memory_without_any_time_has_unknown_times_and_says_so() -> None:
    rows = [encode.record(1, BODY, 15), encode.record(2, BODY, 1)]
    trace = decoded(raw_image("tx_enq", rows))
    assert trace.words["t_unc_ps"].tolist() == [-1, -1]
    assert trace.words["t_ps"].tolist() == [0, 10_000]
    assert [code for code, _, _ in errors(trace)] == ["undated", "not-closed"]


def test_a_memory_without_any_time_does_not_move_the_others() -> None:
    rows = [encode.record(1, BODY, 15), encode.record(2, BODY, 1)]
    words = decoded(raw_image("tx_enq", rows), image("rx_deq", stream(PACKET))).words
    assert words["t_ps"].tolist() == [0, 10_000, 0, 10_000, 20_000, 30_000, 40_000]
    assert words["t_unc_ps"].tolist() == [-1, -1, 0, 0, 0, 0, 0]


def test_an_uncertainty_of_years_is_unknown() -> None:
    rows = [encode.record(1, BODY, 15), bytes(9), encode.time_record(1 << 50, 14)]
    words = decoded(raw_image("tx_enq", rows, [Gap(1, 1, "x")])).words
    assert words["t_unc_ps"].tolist() == [-1]
    assert words["cycle"].tolist() == [(1 << 50) - 2]


def test_in_an_event_log_lost_slots_may_all_be_of_one_cycle() -> None:
    events = [(500, event(NOTE, 1, i)) for i in range(6)]
    rows = [Stored(500, *events[0][1], dt=15).raw, *[Stored(500, *e[1], dt=0).raw for e in events]]
    rows.append(encode.time_record(500, 0))
    trace = decoded(raw_image("event_log", rows, [Gap(2, 3, "x")]))
    notes = only(trace.events, "NOTE")
    assert notes["cycle"].tolist() == [500] * 4
    assert notes["t_unc_ps"].tolist() == [5_000_000] * 2 + [0] * 2


def test_a_memory_that_could_not_be_read_at_all_is_a_problem_without_rows() -> None:
    trace = decoded(raw_image("tx_enq", [bytes(9)] * 4, [Gap(0, 4, "x")]))
    assert texts(trace) == ["A.tx_enq: slot 0: 4 records from this slot on could not be read: x"]
    assert len(trace.events) == len(trace.words) == 0


def test_a_gap_at_the_newest_end_stands_at_the_last_record_that_was_read() -> None:
    rows = [record.raw for record in stream(PACKET)]
    trace = decoded(raw_image("tx_enq", rows, [Gap(6, 2, "x")]))
    assert errors(trace) == [("not-read", 6, 2)]
    assert only(trace.events, "error")["cycle"].tolist() == [1018]
    assert errors(decoded(raw_image("tx_enq", rows, [Gap(5, 3, "x")])))[-1] == ("not-read", 5, 3)


def test_reserved_and_misplaced_kinds_become_error_rows_and_do_not_disturb_packets() -> None:
    words = [PACKET[0], (0, 9), PACKET[1], (11, 9), (DESC, 9), (LOSS, 9), *PACKET[2:]]
    trace = decoded(image("tx_enq", stream(words)))
    assert errors(trace) == [
        ("reserved-kind", 1, 0),
        ("reserved-kind", 3, 11),
        ("misplaced-kind", 4, DESC),
        ("misplaced-kind", 5, LOSS),
    ]
    assert trace.packets["payload_ok"].tolist() == [True]
    assert trace.packets["header_ok"].tolist() == [True]
    assert (
        "A.tx_enq: slot 4: 1 record of kind DESC, which this memory never holds, from this slot on"
    ) in texts(trace)


def test_words_in_an_event_log_are_misplaced_and_are_not_words() -> None:
    trace = decoded(log([(50, (HEAD, 1)), (60, (TAIL, 1))]))
    assert [code for code, _, _ in errors(trace)] == ["misplaced-kind"] * 2
    assert len(trace.words) == len(trace.packets) == 0


def test_a_time_that_disagrees_is_an_error_row_with_what_the_walk_gives() -> None:
    rows = [record.raw for record in stream(PACKET, step=16)]
    assert rows[1] == encode.time_record(1014, 14)
    rows[1] = encode.time_record(1002, 14)
    rows[2] = encode.record(PACKET[1][1], HEAD, 2)
    trace = decoded(raw_image("tx_enq", rows))
    assert errors(trace) == [("time-disagrees", 1, 1014)]
    assert texts(trace) == [
        "A.tx_enq: slot 1: TIME says cycle 1002, the newer records say 1014 (1 such)"
    ]


def test_a_lying_time_and_a_broken_walk_are_error_rows() -> None:
    rows = [record.raw for record in stream(PACKET * 3)]
    rows[1] = encode.time_record((1 << 64) - 1, 1)
    rows[4] = rows[4][:8] + bytes([rows[4][8] | 0xF0])
    trace = decoded(raw_image("tx_enq", rows))
    assert [code for code, _, _ in errors(trace)] == ["undated", "bad-time", "broken-walk"]
    assert any("0xffffffffffffffff, which no counter reaches" in text for text in texts(trace))


def test_dt_0_is_wrong_in_a_tap_and_right_in_an_event_log() -> None:
    rows = [record.raw for record in stream(PACKET)]
    rows[2] = encode.record(1, BODY, 0)
    assert errors(decoded(raw_image("tx_enq", rows))) == [("zero-dt", 2, 0)]
    assert errors(decoded(log([(5, event(NOTE, 1)), (5, event(NOTE, 2))]))) == []


def test_lost_events_are_counted() -> None:
    rows = [(50, event(NOTE, 1)), (60, (LOSS, 300)), (90, event(NOTE, 1)), (95, (LOSS, 7))]
    trace = decoded(log(rows))
    assert [value for code, _, value in errors(trace) if code == "events-lost"] == [300, 7]
    assert [problem.count for problem in trace.problems] == [307]
    assert only(trace.events, "LOSS")["value"].tolist() == [300, 7]


def test_an_error_row_stands_just_before_the_record_it_is_about() -> None:
    events = decoded(log([(50, event(NOTE, 1)), (60, (LOSS, 300))])).events
    assert events["kind"].tolist()[:3] == ["NOTE", "error", "LOSS"]


def test_a_memory_that_was_not_closed_says_so() -> None:
    rows = [record.raw for record in stream(PACKET)][:-2]
    rows = [*rows, encode.record(5, BODY, 3)]
    assert errors(decoded(raw_image("tx_enq", rows))) == [("not-closed", 6, BODY)]


def test_the_recording_of_a_good_device_has_no_problem() -> None:
    events = [(50, event(PRESSURE, 1)), (50, event(CREDIT, 2)), (9000, event(USER, 1))]
    trace = decoded(image("tx_enq", stream(PACKET * 40, step=3), depth=32), log(events))
    assert trace.problems == []
    assert len(only(trace.events, "MARK")) == 2


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    raw=st.binary(max_size=9 * 50),
    pointer=st.integers(0, 50),
    wrapped=st.booleans(),
    gap=st.none() | st.tuples(st.integers(0, 20), st.integers(1, 30)),
    name=st.sampled_from(["tx_enq", "tx_deq", "event_log"]),
)
def test_nothing_in_the_records_makes_decoding_fail_and_every_read_record_is_accounted_for(
    raw: bytes, pointer: int, wrapped: bool, gap: tuple[int, int] | None, name: str
) -> None:
    count = max(1, len(raw) // 9)
    records = np.frombuffer(raw.ljust(9, b"\0")[: 9 * count], np.uint8).reshape(-1, 9).copy()
    gaps = []
    if gap and gap[0] < count:
        gaps = [Gap(gap[0], min(gap[1], count - gap[0]), "x")]
        records[gaps[0].first_slot : gaps[0].first_slot + gaps[0].slots] = 0
    memory = MemoryImage(name, records, min(pointer, count), wrapped, gaps)
    trace = decoded(memory)
    read = [slot for slot in memory.slots_in_order().tolist() if memory.read_mask()[slot]]
    in_events = trace.events[trace.events["code"] != "not-read"]
    assert set(trace.words["slot"]) | set(in_events["slot"]) == set(read)
    for table in trace.tables().values():
        table.validate(full=True)
    packets, words = trace.packets, trace.words
    assert packets["first_row"].tolist() == [0, *packets["end_row"].tolist()][: len(packets)]
    assert (words["packet"] >= 0).all()
