"""A tap's recorder, docs/formats.md section 2 rules 1 to 5 and 7: literal words in, literal records out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.emulator.memory import Memory
from freezeframe.emulator.recorder import Recorder
from tests.emulator.cycle_by_cycle import Cause, Record, follow_tap

HEAD, BODY, TAIL, TIME = 1, 2, 3, 15


def armed(depth: int = 64, post: int = 2, drain: int = 1024, arm: int = 0) -> Recorder:
    recorder = Recorder(depth, drain)
    recorder.post = post
    recorder.arm(arm)
    return recorder


def stored(memory: Memory) -> list[Record]:
    """Return the records oldest first, as (dt, kind, data), from the bytes alone."""
    slots = [bytes(slot) for slot in memory.image()]
    start = memory.write_ptr if memory.wrapped else 0
    count = len(slots) if memory.wrapped else memory.write_ptr
    chosen = [slots[(start + k) % len(slots)] for k in range(count)]
    return [(s[8] >> 4, s[8] & 15, int.from_bytes(s[:8], "little")) for s in chosen]


def hexes(memory: Memory, count: int) -> list[str]:
    return [bytes(slot).hex() for slot in memory.image()[:count]]


def test_a_whole_recording_is_these_bytes() -> None:
    recorder = armed(post=2, arm=100)
    recorder.feed(103, HEAD, 0x1122334455667788)
    recorder.feed(104, HEAD, 0xA0)
    recorder.feed(106, BODY, 0xFFFFFFFFFFFFFFFF)
    recorder.cause(106, 1 << 3)
    recorder.feed(140, TAIL, 0xCAFE)
    recorder.advance(200)
    assert hexes(recorder.memory, 8) == [
        "8877665544332211f1",  # first after arm: dt 15, HEAD
        "a00000000000000011",  # next cycle
        "ffffffffffffffff22",  # a record of the cause's cycle is before it
        "7800000000000000ef",  # TIME in cycle 120 after 14 idle cycles: first of post
        "feca000000000000f3",  # TAIL in cycle 140: dt 15 follows TIME; second of post
        "080023000000000"
        + "01d",  # MARK in 141: causes 0x0008, 35 cycles since the cause, dt 1, kind 13
        "8e000000000000001f",  # TIME in 142, dt 1
        "000000000000000000",
    ]
    assert recorder.closes_at() == 143
    assert (recorder.memory.stored, recorder.memory.write_ptr, recorder.offered) == (7, 7, 4)


@pytest.mark.parametrize(
    ("gap", "dts"), [(1, [1]), (13, [13]), (14, [14]), (15, [14, 1]), (16, [14, 2])]
)
def test_a_gap_of_more_than_14_cycles_gets_one_time_record(gap: int, dts: list[int]) -> None:
    recorder = armed()
    recorder.feed(10, BODY, 1)
    recorder.feed(10 + gap, BODY, 2)
    recorder.advance(10 + gap)
    records = stored(recorder.memory)
    assert [dt for dt, _, _ in records[1:]] == dts
    assert [data for _, kind, data in records if kind == TIME] == ([24] if gap > 14 else [])


def test_a_word_in_the_very_cycle_14_wins_over_time() -> None:
    recorder = armed()
    recorder.feed(10, BODY, 1)
    recorder.feed(24, BODY, 2)
    recorder.advance(30)
    assert stored(recorder.memory) == [(15, BODY, 1), (14, BODY, 2)]


def test_a_long_silence_is_one_time_record_and_then_dt_15() -> None:
    recorder = armed()
    recorder.feed(10, BODY, 1)
    recorder.feed(5000, BODY, 2)
    recorder.advance(5000)
    assert stored(recorder.memory) == [(15, BODY, 1), (14, TIME, 24), (15, BODY, 2)]


def test_silence_after_arm_writes_nothing() -> None:
    recorder = armed()
    recorder.advance(10_000)
    assert recorder.memory.stored == 0


def test_with_post_0_the_memory_closes_in_the_cycle_after_the_cause() -> None:
    recorder = armed(post=0)
    recorder.feed(50, BODY, 1)
    recorder.feed(51, BODY, 2)
    recorder.cause(50, 1)
    recorder.advance(60)
    assert stored(recorder.memory) == [(15, BODY, 1), (1, 13, 1 | 1 << 16), (1, TIME, 52)]
    assert recorder.closes_at() == 53


def test_a_silent_tap_still_closes_because_post_drains_every_1024_cycles() -> None:
    recorder = armed(post=64)
    recorder.cause(7, 1)
    assert recorder.closes_at() == 7 + 64 * 1024 + 3
    recorder.advance(10**6)
    assert stored(recorder.memory) == [(15, 13, 1 | 65537 << 16), (1, TIME, 7 + 65536 + 2)]


def test_all_causes_of_the_first_cycle_are_latched_and_later_ones_are_not() -> None:
    recorder = armed(post=0)
    recorder.cause(20, 1 << 3)
    recorder.cause(20, 1 << 4)
    recorder.cause(21, 1 << 0)
    recorder.advance(40)
    assert recorder.causes == 0b11000
    assert stored(recorder.memory)[0][2] & 0xFFFF == 0b11000


def test_a_word_of_the_closing_cycles_is_not_accepted() -> None:
    recorder = armed(post=1)
    recorder.cause(10, 1)
    for cycle in range(10, 30):
        recorder.feed(cycle, BODY, cycle)
    recorder.advance(30)
    assert [data for _, kind, data in stored(recorder.memory) if kind == BODY] == [10, 11]
    assert recorder.offered == 2


def test_the_ring_keeps_the_newest_records_and_says_that_it_wrapped() -> None:
    recorder = armed(depth=64, post=0)
    recorder.feed_run(1, np.full(200, BODY, np.uint8), np.arange(200, dtype=np.uint64))
    recorder.cause(200, 1)
    recorder.advance(300)
    memory = recorder.memory
    assert (memory.stored, memory.write_ptr, memory.wrapped) == (202, 202 % 64, True)
    assert [data for _, _, data in stored(memory)[:62]] == list(range(138, 200))


def test_kinds_that_are_off_leave_no_trace_and_are_not_offered() -> None:
    recorder = armed(post=0)
    recorder.kinds = 1 << HEAD
    recorder.feed_run(
        1, np.array([HEAD, HEAD, BODY, BODY, TAIL, HEAD], np.uint8), np.arange(6, dtype=np.uint64)
    )
    recorder.advance(10)
    assert stored(recorder.memory) == [(15, HEAD, 0), (1, HEAD, 1), (4, HEAD, 5)]
    assert recorder.offered == 3


def test_an_arm_clears_the_pointer_but_not_the_memory() -> None:
    recorder = armed(depth=64, post=0)
    for cycle in range(1, 11):
        recorder.feed(cycle, BODY, 0xAA)
    recorder.cause(10, 1)
    recorder.advance(100)
    recorder.arm(100)
    recorder.feed(101, BODY, 0xBB)
    recorder.cause(101, 2)
    recorder.advance(200)
    memory = recorder.memory
    assert memory.stored == 3
    assert int.from_bytes(bytes(memory.image()[0])[:8], "little") == 0xBB
    assert int.from_bytes(bytes(memory.image()[5])[:8], "little") == 0xAA


def test_words_taken_back_never_happened() -> None:
    recorder = armed(post=2)
    recorder.cause(5, 1)
    recorder.feed_run(6, np.full(10, BODY, np.uint8), np.arange(10, dtype=np.uint64))
    assert recorder.closes_at() == 10
    recorder.cut(6)
    assert recorder.closes_at() == 6 + 14 + 3  # the one word that is left, then TIME
    recorder.advance(100)
    assert [kind for _, kind, _ in stored(recorder.memory)] == [BODY, TIME, 13, TIME]


def test_a_frozen_memory_never_changes() -> None:
    recorder = armed(post=0)
    recorder.feed(5, BODY, 1)
    recorder.cause(5, 1)
    recorder.advance(100)
    before = recorder.memory.image().tobytes()
    recorder.feed_run(200, np.full(100, BODY, np.uint8), np.arange(100, dtype=np.uint64))
    recorder.cause(300, 2)
    recorder.advance(5000)
    assert recorder.memory.image().tobytes() == before
    assert recorder.causes == 1


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda r: r.feed(50, BODY, 0), "a word of cycle 50 comes late: cycle 50 is committed"),
        (lambda r: r.cause(49, 1), "a cause of cycle 49 comes late: 50 is committed"),
    ],
    ids=["word", "cause"],
)
def test_what_comes_for_a_committed_cycle_is_refused(act, says: str) -> None:  # type: ignore[no-untyped-def]
    recorder = armed()
    recorder.advance(50)
    with pytest.raises(ValueError, match=says):
        act(recorder)


def test_two_words_of_one_cycle_are_refused() -> None:
    recorder = armed()
    recorder.feed(10, BODY, 1)
    with pytest.raises(ValueError, match="a word of cycle 10, but one of cycle 10 was fed before"):
        recorder.feed(10, BODY, 2)


@settings(max_examples=300, deadline=None)
@given(
    gaps=st.lists(st.integers(1, 40), max_size=60),
    arm=st.integers(0, 30),
    after=st.integers(1, 200),
    post=st.integers(0, 30),
    drain=st.sampled_from((1, 2, 5, 17, 1024)),
    steps=st.lists(st.integers(0, 120), max_size=12),
)
def test_the_model_agrees_with_the_rules_followed_cycle_by_cycle(
    gaps: list[int], arm: int, after: int, post: int, drain: int, steps: list[int]
) -> None:
    words, cycle = {}, arm
    for number, gap in enumerate(gaps):
        cycle += gap
        words[cycle] = (1 + number % 3, number * 0x0101010101010101 & (1 << 64) - 1)
    cause = Cause(arm + after, 0x18, post, drain)
    expected = follow_tap(words, arm, cause)

    recorder = armed(depth=4096, post=post, drain=drain, arm=arm)
    recorder.cause(cause.cycle, cause.mask)
    for at, (kind, data) in words.items():
        recorder.feed(at, kind, data)
    assert recorder.closes_at() == expected.closed
    at = arm
    for step in steps:  # however time is cut into pieces
        at += step
        recorder.advance(at)
    recorder.advance(expected.closed)
    assert stored(recorder.memory) == expected.records
    assert recorder.closes_at() == expected.closed
