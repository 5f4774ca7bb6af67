"""What a finding must carry, and how it is written down."""

from __future__ import annotations

import json

import pytest

from freezeframe.analyzers.contract import Evidence, Finding, Row
from freezeframe.capture.errors import InputError
from tests.analyzers.bench_pair import Pair
from tests.analyzers.conftest import Explain
from tests.analyzers.damage import alter, omit

SEEN = (
    Evidence("A.tx_deq and B.rx_enq differ.", "B", "rx_enq", (Row("words", "B.rx_enq", "tail"),)),
)


def test_a_finding_without_evidence_is_refused() -> None:
    with pytest.raises(ValueError, match="word-omitted: without evidence it is no finding"):
        Finding("word-omitted", "A word is missing.")


def test_only_an_undetermined_finding_has_candidates() -> None:
    with pytest.raises(ValueError, match="only undetermined has candidates"):
        Finding("word-omitted", "x", candidates=("credit-lost",), evidence=SEEN)


def test_a_confidence_is_a_share() -> None:
    with pytest.raises(ValueError, match=r"confidence 1\.5 not in 0\.\.1"):
        Finding("word-omitted", "x", confidence=1.5, evidence=SEEN)


def test_the_keys_of_a_finding_are_those_of_the_command_lines_contract() -> None:
    found = Finding("payload-bit-flip", "x", device="B", word=3, evidence=SEEN).to_json()
    keys = {"diagnosis", "device", "tap", "direction", "flow", "packet", "word", "t_ps"}
    keys |= {"t_uncertainty_ps", "confidence", "candidates", "evidence"}
    assert keys <= set(found)
    assert json.loads(json.dumps(found)) == found


def test_64_bit_values_are_written_as_hex_text() -> None:
    row = Row("words", "A.tx_enq", "tail", value=(1 << 64) - 1, slot=3, cycle=9, t_ps=90)
    assert row.to_json() == {
        "table": "words",
        "source": "A.tx_enq",
        "label": "tail",
        "value": "0xffffffffffffffff",
        "expected": None,
        "row": None,
        "slot": 3,
        "cycle": 9,
        "t_ps": 90,
    }


def test_evidence_rows_point_into_the_tables_of_the_trace(explained: Explain) -> None:
    pair = Pair(causes={"A": ["cross"], "B": ["pay-crc", "length"]})
    pair.traffic(4)
    hit = pair.send(length=9)
    pair.traffic(4)
    omit(hit, "tx_deq", 4)
    result = explained(pair)
    rows = [row for piece in result.findings[0].evidence for row in piece.rows]
    words = [row for row in rows if row.table == "words"]
    assert words
    for row in words:
        stored = result.trace.words.iloc[row.row if row.row is not None else -1]
        assert int(stored["data"]) & (1 << 64) - 1 == row.value
        assert (str(stored["source"]), int(stored["slot"])) == (row.source, row.slot)
        assert (int(stored["cycle"]), int(stored["t_ps"])) == (row.cycle, row.t_ps)


def test_an_unknown_device_is_refused_with_those_there_are(explained: Explain) -> None:
    with pytest.raises(InputError, match="C"):
        explained(Pair(), "C")


def test_the_first_bad_tap_is_named_for_each_direction(explained: Explain) -> None:
    pair = Pair(causes={"A": ["cross"], "B": ["pay-crc"]})
    pair.traffic(6)
    alter(pair.send(length=9), "rx_enq", 4, 1)
    assert (
        "A->B: the first bad tap is B.rx_enq: 1 of 7 packets fails a check (header CRC 0, payload CRC 1, "
        "length 0), all good at A.tx_deq"
    ) in explained(pair).notes
