"""The event log from literal bytes: rows by the names of the card file, in the cycles of the wires; and damage."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.card.recording import (
    CardRecording,
    Feature,
    RecordedClock,
    RecordedTap,
    Toggle,
)
from freezeframe.capture.card.time_base import card_time_base
from freezeframe.decoders.tap.event_log import EventLog, decode_log, entry_text, log_table

TEXT = """\
schema = 1
[card]
name = "logs"
[clock.bus]
hz = 100_000_000
registers = true
[clock.rx]
hz = 156_250_000
[tap.t]
kind = "axi-stream"
clock = "bus"
[event.alarm]
wire = "alarm"
value = "alarm_code"
bits = 8
[event.ping]
wire = "ping"
clock = "rx"
[states.fsm]
wire = "fsm_state"
names = ["idle", "run", "stop"]
"""
CARD = elaborate(parse_card(TEXT))
# The time line's toggle n in bus cycle 4,096 n; rx runs at 25/16 of that and sees it 2.5 of its cycles late.
RX = (Toggle(1, 6_402), Toggle(9, 57_602))

# value 5 bytes, cycle modulo 65,536 2 bytes, source; kind and dt
LOG = """
64 00 00 00 00 00 00 00 ff  TIME       100
5a 00 00 00 00 68 00 00 8c  alarm      108: wire in 103
01 00 00 00 00 6a 00 02 28  fsm        110: wire in 105, 0 -> 1
03 00 00 00 00 6b 00 00 1e  LOSS       111: 3 of alarm before
07 00 00 00 00 6b 00 00 1c  alarm      112: wire in 106
03 01 00 00 00 6d 00 02 38  fsm        115: wire in 108, 1 -> 3, which has no name
03 03 00 00 00 70 00 02 38  fsm        118: stands in 3
01 00 05 00 00 00 00 00 2d  MARK       120
79 00 00 00 00 00 00 00 1f  TIME       121
"""


def recording(
    text: str, clocks: tuple[Toggle | None, Toggle | None] = RX, **more: Any
) -> CardRecording:
    """A recording whose log has these records, a line each."""
    rows = [bytes.fromhex(line[:26]) for line in text.strip().splitlines()]
    memory = np.zeros((1024, 9), np.uint8)
    memory[: len(rows)] = np.frombuffer(b"".join(rows), np.uint8).reshape(-1, 9)
    assert CARD.log is not None
    bus, rx = CARD.clocks
    return CardRecording(
        CARD,
        {},
        [
            RecordedClock(bus, 100_000_000, Toggle(1, 4096), Toggle(9, 36_864)),
            RecordedClock(rx, 156_250_000, *clocks),
        ],
        Feature.EVENT_LOG,
        cause_cycle=115,
        log=RecordedTap(CARD.log, (memory,), len(rows), wrapped=False, **more),
    )


def decoded(text: str, clocks: tuple[Toggle | None, Toggle | None] = RX) -> EventLog:
    made = recording(text, clocks)
    return decode_log(made, card_time_base(made))


def test_every_entry_has_its_name_its_values_and_the_cycle_of_its_wire() -> None:
    made = recording(LOG)
    log = decode_log(made, card_time_base(made))
    assert log.problems == ()
    rows = log_table(made, log).to_pylist()
    assert [(row["t_ps"], row["kind"], row["name"], row["cycle"], row["value"]) for row in rows] == [
        (1_030_000, "event", "alarm", 103, 0x5A),
        (1_050_000, "state", "fsm", 105, 1),
        (1_060_000, "lost", "alarm", 106, 3),
        (1_060_000, "event", "alarm", 106, 7),
        (1_080_000, "state", "fsm", 108, 3),
        (1_110_000, "state", "fsm", 111, 3),
    ]  # fmt: skip
    assert {(row["source"], row["clock"], row["t_unc_ps"]) for row in rows} == {
        ("A.event_log", "bus", 0)
    }
    assert [entry_text(row) for row in rows] == [
        "alarm 0x5a",
        "fsm idle -> run",
        "alarm: 3 lost before the next one",
        "alarm 0x7",
        "fsm run -> 3",
        "fsm in 3",
    ]


def test_the_low_bits_of_a_cycle_that_wrapped_meanwhile_are_of_the_one_before() -> None:
    (entry,) = decoded("""
00 00 01 00 00 00 00 00 ff
11 00 00 00 00 fe ff 00 4c
05 00 01 00 00 00 00 00 1f
""").entries
    assert (entry.cycle, entry.t_ps) == (0xFFFD, 0xFFFD * 10_000)


# rx's cycle c begins at 6,400 c + 3,200 ps: 6,402 with 2.5 cycles less is 25/16 of 4,096.
FAR = """
20 4e 00 00 00 00 00 00 ff  TIME 20,000
00 00 00 00 00 0a 7a 01 3c  ping 20,003: at 31,242
24 4e 00 00 00 00 00 00 1f  TIME 20,004
"""


def test_an_entry_of_another_clock_has_that_clocks_cycle_however_late_it_was_recorded() -> None:
    (entry,) = decoded(FAR).entries
    assert (entry.name, entry.kind, entry.cycle, entry.value) == ("ping", "event", 31_241, -1)
    assert entry.t_ps == 31_241 * 6_400 + 3_200
    assert 3_200 <= entry.t_unc_ps <= 3_210  # half a cycle, and the rounding
    waited = FAR.replace("0a 7a 01 3c", "e0 79 01 3c")  # 42 cycles earlier
    assert decoded(waited).entries[0].cycle == 31_199


def test_without_a_toggle_an_entry_has_the_time_of_its_record_and_no_cycle() -> None:
    (entry,) = decoded(FAR, (None, None)).entries
    assert (entry.t_ps, entry.cycle) == (200_030_000, -1)
    assert entry.t_unc_ps > 0


def test_what_a_record_cannot_say_is_an_error_and_the_rest_stays() -> None:
    for wrong, text in (
        ("5a 00 00 00 00 68 00 07 8c", "a record of source 7"),
        ("5a 00 00 00 00 68 00 00 85", "a record of kind 5"),
        ("5a 01 00 00 00 68 00 00 8c", "alarm: a record of kind event with 0x15a"),
        ("5a 00 00 00 00 68 00 00 88", "alarm: a record of kind state"),
        ("04 00 00 00 00 68 00 02 88", "fsm: a record of kind state with 0x4"),
        ("01 00 00 00 00 68 00 02 8c", "fsm: a record of kind event"),
        ("00 00 00 00 00 68 00 00 8e", "alarm: a record of kind lost with 0x0"),
        ("5a 00 00 00 00 70 00 00 8c", "alarm: a record says cycle 112 modulo 65,536"),
        ("5a 00 00 00 00 68 55 00 8c", "alarm: a record says cycle 21864 modulo 65,536"),
    ):
        log = decoded(LOG.replace("5a 00 00 00 00 68 00 00 8c", wrong))
        errors = [entry for entry in log.entries if entry.kind == "error"]
        assert [entry.error.startswith(text) for entry in errors] == [True], (wrong, errors)
        assert len(log.entries) == 6
    assert "kind 5" in decoded(LOG.replace("00 00 8c", "00 00 85")).problems[0].text


def test_an_undated_record_has_no_exact_time_and_records_that_were_not_read_are_told() -> None:
    (entry,) = decoded("5a 00 00 00 00 68 00 00 8c").entries
    assert (entry.cycle, entry.t_unc_ps) == (-1, -1)
    made = recording(LOG, gaps=((range(2, 5),),))
    log = decode_log(made, card_time_base(made))
    assert [entry.name for entry in log.entries] == ["alarm", "fsm", "fsm"]
    assert log.problems[0].text.startswith("3 records of lane 0 from this slot on")


def test_an_empty_log_and_a_card_without_one_have_no_entries() -> None:
    assert decoded("\n").entries == ()
    made = recording(LOG)
    without = CardRecording(made.card, {}, made.clocks, made.features)
    assert decode_log(without, card_time_base(without)) == EventLog((), ())


def test_random_bytes_raise_nothing_and_each_record_is_a_row() -> None:
    draw = random.Random(1)
    for _ in range(20):
        rows = [draw.randbytes(9) for _ in range(200)]
        made = recording("\n".join(row.hex(" ") for row in rows))
        log = decode_log(made, card_time_base(made))
        assert len(log.entries) == sum(row[8] & 15 not in (13, 15) for row in rows)
        for row in log_table(made, log).to_pylist():
            assert entry_text(row)
