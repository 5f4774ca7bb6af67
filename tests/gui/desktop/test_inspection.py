"""The inspector's content: fields, bits, CRCs made again, and what should stand in a word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from freezeframe.analyzers.contract import Evidence, Finding, Row
from freezeframe.capture.registers.layouts import Kind
from freezeframe.decoders.trace.decode import decode_capture
from freezeframe.gui.desktop.inspection import Field, cell_text, inspect_packet, inspect_row
from tests.gui.made_capture import BAD_PACKET, BAD_WORD, made_capture


def bad_packet(tmp_path: Path) -> tuple[object, int]:
    trace = decode_capture(made_capture(tmp_path / "made.ff"))
    rows = trace.packets[
        (trace.packets["source"] == "A.tx_deq") & (trace.packets["seq"] == BAD_PACKET)
    ]
    return trace, int(rows.index[0])


def test_the_golden_packet_of_the_formats_page_is_taken_apart(tmp_path: Path) -> None:
    """docs/formats.md section 3: RDMA_WRITE, flow 3, seq 7, dest 0x1000, payload 1, 2."""
    trace, row = bad_packet(tmp_path)
    words = [0x30C5000700020301, 0x1000, 1, 2, 0xF6DDB9]
    kinds = [Kind.HEAD, Kind.HEAD, Kind.BODY, Kind.BODY, Kind.TAIL]
    from dataclasses import replace

    from freezeframe.decoders.trace.decode import Trace

    assert isinstance(trace, Trace)
    table = trace.words.iloc[:5].copy()
    table["data"] = np.array(words, np.int64)
    table["kind"] = pd.Categorical(
        [k.name for k in kinds], categories=trace.words["kind"].cat.categories
    )
    packet = trace.packets.iloc[[row]].copy()
    packet[["first_row", "end_row", "seq"]] = [0, 5, 7]
    shown = inspect_packet(replace(trace, words=table, packets=packet), 0)
    header = {field.name: field.value for field in shown.words[0].fields}
    assert header == {
        "type": "1 RDMA_WRITE", "flags": "0x0", "flow": "3", "length": "2", "seq": "7", "crc": "0x30c5",
    }  # fmt: skip
    assert [word.name for word in shown.words] == [
        "header",
        "address",
        "payload 0",
        "payload 1",
        "tail",
    ]
    assert [word.wrong for word in shown.words] == [0] * 5
    assert shown.words[0].expected == words[0]
    assert shown.words[4].expected == words[4]
    assert shown.words[2].expected is None  # nothing in the recording says what a payload should be


def test_a_packet_with_a_lost_word_shows_which_checks_fail_and_the_right_crc(
    tmp_path: Path,
) -> None:
    from freezeframe.decoders.trace.decode import Trace
    from freezeframe.decoders.trace.encode import tail_word

    trace, row = bad_packet(tmp_path)
    assert isinstance(trace, Trace)
    shown = inspect_packet(trace, row)
    verdicts = {field.name: (field.value, field.wrong) for field in shown.verdicts}
    assert verdicts == {
        "header CRC": ("good", False),
        "payload CRC": ("bad", True),
        "length": ("bad", True),
        "recorded whole": ("yes", False),
    }
    assert shown.verdicts[2].expected == "24 words by the header, 23 crossed"
    tail = shown.words[-1]
    assert tail.name == "tail"
    assert tail.expected == tail_word([word.value for word in shown.words[2:-1]])
    crc = tail.fields[0]
    assert crc.wrong
    assert crc.expected == f"0x{tail.expected:08x}"


def test_the_evidence_of_a_finding_says_what_should_stand_in_a_word(tmp_path: Path) -> None:
    from freezeframe.decoders.trace.decode import Trace

    trace, row = bad_packet(tmp_path)
    assert isinstance(trace, Trace)
    at = int(trace.packets["first_row"].iloc[row]) + 2 + BAD_WORD
    value = int(trace.words["data"].iloc[at]) & (1 << 64) - 1
    evidence = Row("words", "A.tx_deq", "word", value, value ^ 0b101, row=at)
    finding = Finding(
        "payload-bit-flip", "two bits", evidence=(Evidence("differs", rows=(evidence,)),)
    )
    word = inspect_packet(trace, row, [finding]).words[2 + BAD_WORD]
    assert word.expected == value ^ 0b101
    assert word.wrong == 0b101


def test_a_row_of_any_table_is_its_columns_as_text() -> None:
    row = {
        "t_ps": 1_500,
        "kind": "data",
        "raw": b"\x01\xff",
        "addr": -1,
        "ok": None,
        "n": np.int64(3),
    }
    shown = inspect_row("uart", 4, row)
    assert shown.title == "uart row 4 at 1.5 ns: data"
    assert shown.fields[0] == Field("time", "1.5 ns")
    assert [field.value for field in shown.fields[2:]] == ["01 ff", "-1", "", "3"]


def test_the_value_of_an_event_is_taken_apart_as_its_kind_says() -> None:
    credit = 4 | 3 << 8 | 1 << 15 | 100 << 16
    row = {"t_ps": 0, "kind": "CREDIT", "event_source": "rx_link", "value": credit}
    fields = {field.name: field.value for field in inspect_row("events", 0, row).fields}
    assert fields["value: freed"] == "100"
    assert fields["value: flow"] == "3"
    assert (
        "value: crc" not in fields
    )  # an event keeps 40 bits of a credit word: its CRC was not recorded


def test_cells_show_times_with_units_and_what_is_not_known_as_such() -> None:
    assert cell_text("t_unc_ps", -1) == "unknown"
    assert cell_text("t_unc_ps", 5) == "5 ps"
    assert cell_text("t_unc_ps", 0) == ""  # of the clock that the time base counts
    assert cell_text("payload_ok", pd.NA) == ""
    assert cell_text("bank", np.int8(-1)) == "" and cell_text("bank", np.int8(0)) == "0"
    assert cell_text("payload_ok", np.bool_(False)) == "no"
    assert cell_text("data", np.int64(-2)) == "0xfffffffffffffffe"
    assert cell_text("data", np.uint8(10)) == "0x0a"
    assert cell_text("address", np.int32(-1)) == "-1"  # none, and not the highest
    assert cell_text("rate", float("nan")) == ""
    assert cell_text("names", np.array([1, 2])) == "1 2"
