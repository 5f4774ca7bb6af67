"""The event log, docs/formats.md section 2 rule 6: its FIFO, what it loses, and how it closes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.emulator.eventlog import EventLog
from tests.emulator.cycle_by_cycle import Cause, follow_log
from tests.emulator.test_recorder import stored

DESC, STATE, MARK, LOSS, TIME = 5, 8, 13, 14, 15


def armed(places: int = 8, post: int = 64, drain: int = 1024, depth: int = 256) -> EventLog:
    log = EventLog(depth, places, drain)
    log.post = post
    log.arm(0)
    return log


def test_events_of_one_cycle_enter_by_source_with_dt_0() -> None:
    log = armed(post=0)
    log.offer(10, 4, STATE, 0x44)
    log.offer(10, 0, DESC, 0x00)
    log.offer(10, 2, STATE, 0x22)
    log.offer(10, 2, STATE, 0x23)
    log.offer(12, 1, STATE, 0x11)
    log.cause(12, 1)
    log.advance(40)
    assert [bytes(slot).hex() for slot in log.memory.image()[:7]] == [
        "0000000000000000f5",
        "220000000000000008",
        "230000000000000008",
        "440000000000000008",
        "110000000000000028",
        "010004000000000" + "04d",  # MARK in 16: the FIFO ran empty in 15
        "11000000000000001f",
    ]
    assert (log.offered, log.lost) == (5, 0)


def test_what_does_not_fit_is_counted_and_told_by_loss_when_half_is_free() -> None:
    log = armed(places=8)
    for number in range(12):
        log.offer(10, 0, STATE, number)
    log.offer(11, 0, STATE, 100)  # two places are free again, but the LOSS is due
    log.offer(14, 0, STATE, 200)
    log.advance(30)
    records = stored(log.memory)
    assert [data for _, kind, data in records if kind == STATE] == [0, 1, 2, 3, 4, 5, 6, 200]
    # 7 in the FIFO at the end of cycle 10, 4 at the end of 13: half is free then.
    assert records[7] == (3, LOSS, 6)
    assert (log.offered, log.lost) == (14, 6)


def test_a_loss_that_is_due_is_told_in_closing() -> None:
    log = armed(places=4, post=0)
    log.cause(10, 1)  # what happens in the cycle of the cause is before it
    for number in range(9):
        log.offer(10, 0, STATE, number)
    log.advance(60)
    records = stored(log.memory)
    assert [(kind, data & 0xFFFF) for _, kind, data in records] == [
        (STATE, 0), (STATE, 1), (STATE, 2), (LOSS, 6), (MARK, 1), (TIME, 16),
    ]  # fmt: skip
    assert sum(kind == STATE for _, kind, _ in records) + log.lost == log.offered == 9


def test_after_the_cause_post_records_are_stored_and_no_more_also_within_one_cycle() -> None:
    log = armed(places=16, post=2)
    log.cause(5, 1)
    log.offer(6, 0, STATE, 0)
    for number in range(1, 5):
        log.offer(8, 0, STATE, number)
    log.advance(60)
    assert [(kind, data) for _, kind, data in stored(log.memory)][:2] == [(STATE, 0), (STATE, 1)]
    assert [kind for _, kind, _ in stored(log.memory)][2:] == [MARK, TIME]
    assert (log.offered, log.lost) == (2, 0)


def test_the_last_place_is_for_time() -> None:
    log = armed(places=4)
    log.offer(10, 0, STATE, 1)
    log.advance(40)
    assert stored(log.memory) == [(15, STATE, 1), (14, TIME, 24)]


def test_time_is_made_while_the_fifo_drains_in_closing_so_that_mark_can_be_dated() -> None:
    log = armed(places=64, post=40)
    log.cause(9, 1)
    for number in range(40):
        log.offer(10, 0, STATE, number)
    log.advance(100)
    tail = stored(log.memory)[-3:]
    assert tail == [(14, TIME, 24), (15, MARK, 1 | 43 << 16), (1, TIME, 53)]


def test_an_event_for_a_committed_cycle_is_refused() -> None:
    log = armed()
    log.advance(50)
    with pytest.raises(ValueError, match="an event of cycle 50 comes late: 50 is committed"):
        log.offer(50, 0, STATE, 1)


def test_kinds_that_are_off_are_not_offered() -> None:
    log = armed(post=0)
    log.kinds = 1 << DESC
    log.offer(5, 0, STATE, 1)
    log.offer(6, 0, DESC, 2)
    log.advance(10)
    assert (log.offered, stored(log.memory)) == (1, [(15, DESC, 2)])


bursts = st.lists(
    st.tuples(st.integers(1, 40), st.lists(st.integers(0, 5), min_size=1, max_size=30)), max_size=25
)


@settings(max_examples=150, deadline=None)
@given(
    bursts=bursts,
    after=st.integers(1, 300),
    post=st.integers(0, 60),
    drain=st.sampled_from((1, 5, 40, 1024)),
    places=st.sampled_from((4, 8, 32)),
    steps=st.lists(st.integers(0, 120), max_size=12),
)
def test_stored_and_lost_are_offered_and_the_model_agrees_with_the_rules_followed_cycle_by_cycle(
    bursts: list[tuple[int, list[int]]],
    after: int,
    post: int,
    drain: int,
    places: int,
    steps: list[int],
) -> None:
    events: dict[int, list[tuple[int, int, int]]] = {}
    cycle = 0
    for gap, sources in bursts:
        cycle += gap
        events[cycle] = [(s, 4 + s, cycle << 8 | number) for number, s in enumerate(sources)]
    cause = Cause(after, 0x18, post, drain)
    expected = follow_log(events, 0, cause, places)

    log = armed(places, post, drain, depth=4096)
    log.cause(cause.cycle, cause.mask)
    for at, offered in events.items():
        for source, kind, data in offered:
            log.offer(at, source, kind, data)
    assert log.closes_at() == expected.closed
    at = 0
    for step in steps:
        at += step
        log.advance(at)
    log.advance(expected.closed)
    records = stored(log.memory)
    assert records == expected.records
    assert (log.offered, log.lost) == (expected.offered, expected.lost)
    told = sum(data for _, kind, data in records if kind == LOSS)
    kept = sum(kind not in (MARK, LOSS, TIME) for _, kind, _ in records)
    assert kept + log.lost == log.offered
    assert told == log.lost
