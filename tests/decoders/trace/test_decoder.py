"""The trace decoder as the command line sees it: a declaration, then tables of the declared schemas."""

from __future__ import annotations

import pytest

from freezeframe.decoders.contract import CAPTURE
from freezeframe.decoders.registry import load_decoders
from freezeframe.decoders.trace.decoder import TRACE
from tests.decoders.pieces import Tables, decoded
from tests.decoders.trace.captures import capture, device, image
from tests.decoders.trace.recorder_model import BODY, NOTE, PRESSURE, record_stream


def tables() -> Tables:
    words = record_stream([(5, BODY, 0xAB)], 0, 60)
    log = [(5, PRESSURE, 1 << 56 | 3 << 40), (25, PRESSURE, 2 << 56 | 3 << 40), (30, NOTE, 1 << 56)]
    one = device(0, image("tx_enq", words), image("event_log", record_stream(log, 0, 60)))
    return decoded(TRACE, capture(one))


def test_it_is_found_by_its_entry_point() -> None:
    assert load_decoders().find("trace") is TRACE
    assert (TRACE.id, TRACE.consumes) == ("trace", CAPTURE)


def test_every_declared_output_is_made_with_its_schema() -> None:
    made = tables()
    assert set(made) == {output.kind for output in TRACE.produces}
    for output in TRACE.produces:
        assert made[output.kind].schema.equals(output.schema())
        assert output.schema().names[:3] == ["t_ps", "source", "kind"]


@pytest.mark.parametrize(
    ("table", "row", "short", "long"),
    [
        ("trace.packets", 0, "#?", "A.tx_enq: unknown #? flow -1, 1 of -1 words, A->B"),
        ("trace.words", 0, "BODY", "A.tx_enq: BODY 00000000000000ab in slot 0"),
        ("trace.events", 0, "PRESSURE", "A.event_log: PRESSURE begin, value 0, flow 3"),
        ("trace.intervals", 0, "flow 3", "A.event_log: flow 3 blocked for 200 ns"),
    ],
)
def test_a_row_can_be_put_into_words(table: str, row: int, short: str, long: str) -> None:
    rows = tables()[table].to_pylist()
    assert TRACE.texts
    texts = TRACE.texts(rows[row])
    assert (texts.short, texts.long) == (short, long)


def test_bad_verdicts_stand_in_the_text() -> None:
    row = tables()["trace.packets"].to_pylist()[0]
    row |= {"seq": 7, "kind": "RDMA_WRITE", "flow": 3, "header_ok": True, "payload_ok": False}
    row |= {"length_ok": False}
    assert TRACE.texts
    assert TRACE.texts(row).normal == "RDMA_WRITE #7 flow 3, bad payload, length"
