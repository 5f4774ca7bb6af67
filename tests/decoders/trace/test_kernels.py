"""Unpacking of 72-bit records and dating by the recorder's rules (docs/formats.md section 2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from freezeframe.decoders.trace import kernels
from freezeframe.decoders.trace.kernels import (
    BAD_TIME,
    BROKEN_WALK,
    DATED,
    TIME_DISAGREES,
    date_records,
    unpack_records,
)
from tests.decoders.trace.recorder_model import BODY, DESC, TIME, Stored, record_stream
from tests.decoders.trace.reference_reader import earliest_and_latest, split


def array(rows: Sequence[bytes]) -> kernels.Bytes:
    return np.frombuffer(b"".join(rows), np.uint8).reshape(-1, 9)


def dated(
    rows: Sequence[tuple[int, int, int]], missing: dict[int, int] | None = None, min_dt: int = 1
) -> tuple[list[int], list[int], list[int]]:
    """Date ``(data, kind, dt)`` rows; return cycles, slack, flags."""
    records = array([d.to_bytes(8, "little") + bytes([k | t << 4]) for d, k, t in rows])
    gaps = np.zeros(len(rows), dtype=np.int64)
    for row, count in (missing or {}).items():
        gaps[row] = count
    result = date_records(unpack_records(records), gaps, min_dt)
    return result.cycle.tolist(), result.slack.tolist(), result.flags.tolist()


def test_a_record_is_data_then_kind_in_the_low_and_dt_in_the_high_half_of_the_ninth_byte() -> None:
    columns = unpack_records(array([bytes.fromhex("08070605040302 81 f3".replace(" ", ""))]))
    assert columns.data.tolist() == [0x8102030405060708 - (1 << 64)]
    assert (columns.kind.tolist(), columns.dt.tolist()) == ([3], [15])


def test_no_records_give_empty_columns() -> None:
    columns = unpack_records(np.empty((0, 9), np.uint8))
    assert [len(column) for column in columns] == [0, 0, 0]
    assert len(date_records(columns, np.empty(0, np.int64)).cycle) == 0


@pytest.mark.parametrize("count", [1, 7, 8, 9, 15, 16, 17, 100])
def test_any_number_of_records_unpacks_as_one_by_one(count: int) -> None:
    generator = np.random.default_rng(count)
    records = generator.integers(0, 256, (count, 9), dtype=np.uint8)
    expected = [split(row.tobytes()) for row in records]
    columns = unpack_records(records)
    assert (columns.data.view(np.uint64)).tolist() == [data for data, _, _ in expected]
    assert columns.kind.tolist() == [kind for _, kind, _ in expected]
    assert columns.dt.tolist() == [dt for _, _, dt in expected]


def test_records_that_are_not_aligned_or_not_contiguous_unpack_the_same() -> None:
    block = np.random.default_rng(1).integers(0, 256, 1 + 64 * 9, dtype=np.uint8)
    odd = block[1:].reshape(-1, 9)
    spread = np.repeat(odd, 2, axis=0)[::2]
    straight = unpack_records(odd.copy())
    for other in (unpack_records(odd), unpack_records(spread)):
        assert np.array_equal(other.data, straight.data)
        assert np.array_equal(other.kind, straight.kind)
        assert np.array_equal(other.dt, straight.dt)


def test_columns_that_exist_are_written_into_and_must_fit() -> None:
    records = np.random.default_rng(4).integers(0, 256, (21, 9), dtype=np.uint8)
    out = kernels.Unpacked(np.zeros(21, np.int64), np.zeros(21, np.uint8), np.zeros(21, np.uint8))
    assert unpack_records(records, out) is out
    assert out.data.tolist() == unpack_records(records).data.tolist()
    with pytest.raises(ValueError, match="20 records do not fit columns of 21 rows"):
        unpack_records(records[:20], out)


@pytest.mark.parametrize(
    "records",
    [np.zeros((4, 8), np.uint8), np.zeros(36, np.uint8), np.zeros((4, 9), np.int64)],
    ids=["eight bytes", "flat", "wide integers"],
)
def test_records_of_another_shape_are_refused(records: kernels.Bytes) -> None:
    with pytest.raises(ValueError, match=r"wanted uint8 of shape \(n, 9\)"):
        unpack_records(records)


def test_the_walk_goes_back_from_time_by_dt() -> None:
    cycles, slack, flags = dated([(7, BODY, 15), (8, BODY, 1), (9, BODY, 3), (1000, TIME, 14)])
    assert cycles == [982, 983, 986, 1000]
    assert slack == [0] * 4
    assert flags == [DATED] * 4


def test_a_dt_of_15_is_bridged_by_the_time_before_it() -> None:
    cycles, _, flags = dated([(0, BODY, 4), (514, TIME, 14), (0, BODY, 15), (9000, TIME, 1)])
    assert cycles == [500, 514, 8999, 9000]
    assert flags == [DATED] * 4


def test_a_time_that_disagrees_with_the_walk_is_believed_and_flagged() -> None:
    cycles, _, flags = dated([(0, BODY, 1), (90, TIME, 14), (0, BODY, 5), (100, TIME, 4)])
    assert cycles == [76, 90, 96, 100]
    assert flags == [DATED, DATED | TIME_DISAGREES, DATED, DATED]


def test_a_time_less_than_15_cycles_before_a_dt_of_15_disagrees() -> None:
    assert dated([(86, TIME, 14), (0, BODY, 15), (101, TIME, 1)])[2][0] == DATED | TIME_DISAGREES
    assert dated([(85, TIME, 14), (0, BODY, 15), (101, TIME, 1)])[2][0] == DATED


def test_a_time_that_no_counter_can_reach_dates_nothing() -> None:
    for beyond in (1 << 63, (1 << 64) - 1, (1 << 56) + 1):
        cycles, _, flags = dated([(beyond, TIME, 14), (0, BODY, 2), (100, TIME, 4)])
        assert cycles == [94, 96, 100]
        assert flags == [DATED | BAD_TIME, DATED, DATED]


def test_a_dt_of_15_after_another_record_than_time_breaks_the_walk() -> None:
    cycles, slack, flags = dated([(50, TIME, 14), (0, BODY, 3), (0, BODY, 15), (500, TIME, 4)])
    assert cycles == [50, 53, 496, 500], "the older side is dated forwards from its own TIME"
    assert flags == [DATED, DATED, DATED | BROKEN_WALK, DATED]
    assert slack == [0] * 4


def test_a_broken_walk_is_flagged_where_no_date_is_known_either() -> None:
    _, slack, flags = dated([(50, TIME, 14), (0, BODY, 3), (0, BODY, 15), (0, BODY, 2)])
    assert flags == [DATED, DATED, BROKEN_WALK, 0]
    assert slack == [0, 0, -1, -1]


def test_a_piece_between_gaps_is_dated_from_the_time_inside_it() -> None:
    rows = [(0, BODY, 1), (70, TIME, 14), (0, BODY, 9), (0, BODY, 1), (400, TIME, 1)]
    cycles, slack, flags = dated(rows, missing={3: 10})
    assert cycles == [56, 70, 79, 399, 400]
    assert (slack, flags) == ([0] * 5, [DATED] * 5)


def test_a_piece_without_time_is_bounded_from_both_sides_and_keeps_its_inner_distances() -> None:
    rows = [(70, TIME, 14), (0, BODY, 9), (0, BODY, 2), (0, BODY, 1), (400, TIME, 1)]
    cycles, slack, flags = dated(rows, missing={1: 4, 3: 10})
    # Latest: 11 cycles before 399; earliest: 5 cycles after 70.
    assert cycles == [70, 386, 388, 399, 400]
    assert slack == [0, 311, 311, 0, 0]
    assert flags == [DATED, 0, 0, DATED, DATED]


def test_a_gap_in_the_event_log_may_take_no_time_at_all() -> None:
    rows = [(70, TIME, 14), (0, DESC, 1), (0, DESC, 1), (400, TIME, 1)]
    cycles, slack, _ = dated(rows, missing={1: 4, 2: 4}, min_dt=0)
    assert (cycles, slack) == ([70, 399, 399, 400], [0, 329, 0, 0])


def test_records_after_the_last_time_are_dated_forwards_until_a_dt_of_15() -> None:
    cycles, slack, flags = dated([(70, TIME, 14), (0, BODY, 15), (0, BODY, 2)])
    assert (cycles, slack) == ([70, 85, 87], [0, -1, -1]), "85 is the earliest it can be"
    assert flags == [DATED, 0, 0]
    assert dated([(70, TIME, 14), (0, BODY, 8), (0, BODY, 2)])[0] == [70, 78, 80]


def test_a_memory_without_any_time_is_stated_as_unknown() -> None:
    cycles, slack, flags = dated([(0, BODY, 15), (0, BODY, 2)])
    assert (cycles, slack, flags) == ([0, 2], [-1, -1], [0, 0])


@st.composite
def streams(draw: st.DrawFn, log: bool) -> list[Stored]:
    """Return what a recorder stores for random words (one a cycle) or events (several a cycle)."""
    waits = st.one_of(st.integers(0 if log else 1, 4), st.integers(12, 17), st.integers(28, 5000))
    cycle = draw(st.integers(0, 1 << 44))
    arm = cycle
    words = []
    for wait in draw(st.lists(waits, max_size=60)):
        cycle += wait
        words.append((cycle, DESC if log else BODY, draw(st.integers(0, 3))))
    return record_stream(words, arm, cycle + draw(st.integers(1, 60)))


@pytest.mark.parametrize("log", [False, True], ids=["tap", "event log"])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_record_of_a_recorder_that_keeps_the_rules_is_dated_exactly(
    log: bool, data: st.DataObject
) -> None:
    stored = data.draw(streams(log))
    oldest = data.draw(st.integers(0, len(stored) - 1), label="overwritten")
    kept = stored[oldest:]
    result = date_records(
        unpack_records(array([record.raw for record in kept])),
        np.zeros(len(kept), np.int64),
        0 if log else 1,
    )
    assert result.cycle.tolist() == [record.cycle for record in kept]
    assert result.flags.tolist() == [DATED] * len(kept)


@pytest.mark.parametrize("log", [False, True], ids=["tap", "event log"])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_with_gaps_a_date_is_exact_or_its_stated_bounds_are_the_tightest(
    log: bool, data: st.DataObject
) -> None:
    stored = data.draw(streams(log))
    read = data.draw(st.lists(st.booleans(), min_size=len(stored), max_size=len(stored)))
    kept, missing, skipped = [], [], 0
    for record, was_read in zip(stored, read, strict=True):
        if was_read:
            kept.append(record)
            missing.append(skipped)
            skipped = 0
        else:
            skipped += 1
    rows = [record.raw for record in kept]
    result = date_records(
        unpack_records(array(rows)), np.array(missing, dtype=np.int64), 0 if log else 1
    )
    bounds = earliest_and_latest(rows, missing, 0 if log else 1)
    for row, (record, (low, high)) in enumerate(zip(kept, bounds, strict=True)):
        cycle, slack = int(result.cycle[row]), int(result.slack[row])
        if low == high:
            assert (cycle, slack) == (record.cycle, 0)
        elif high is None:
            assert (cycle, slack) == (low, -1)
            assert low <= record.cycle
        else:
            assert (cycle - slack, cycle) == (low, high)
            assert low <= record.cycle <= high
        if result.flags[row] & DATED:
            assert cycle == record.cycle


@settings(max_examples=150, deadline=None)
@given(raw=st.binary(max_size=9 * 40), gaps=st.lists(st.integers(0, 3), min_size=40, max_size=40))
def test_nothing_in_the_records_makes_dating_fail(raw: bytes, gaps: list[int]) -> None:
    rows = [raw[i : i + 9] for i in range(0, len(raw) - 8, 9)]
    records = array(rows)
    result = date_records(unpack_records(records), np.array(gaps[: len(rows)], dtype=np.int64))
    assert (result.slack >= -1).all()
    assert (result.cycle[(result.flags & DATED) == 0] >= 0).all()
    assert not (result.slack[(result.flags & DATED) != 0]).any()
