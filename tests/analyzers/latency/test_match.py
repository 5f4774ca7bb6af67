"""Phases of messages over events: matching by key and stage, sums, histograms, any cut and any grouping."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.analyzers.latency.match import EventBatch, PhaseAnalyzer, PhaseResult, PhaseState
from freezeframe.analyzers.latency.phases import (
    Phase,
    PhaseTable,
    load_phase_tables,
    phase_table,
)
from freezeframe.capture.errors import InputError

WAY = PhaseTable(
    "way", "a way", ("a", "b", "c"), (Phase("first", "a", "b"), Phase("second", "b", "c"))
)
KEYS = 4
Event = tuple[int, int, int]
"""t_ps, key, stage."""


def batch(events: Sequence[Event]) -> EventBatch:
    columns = list(zip(*events, strict=True)) if events else [(), (), ()]
    return EventBatch(
        np.array(columns[0], np.int64),
        np.array(columns[1], np.int32),
        np.array(columns[2], np.uint8),
    )


def analyzer(slowest: int = 3) -> PhaseAnalyzer:
    return PhaseAnalyzer(WAY, keys=KEYS, slowest=slowest)


def measured(events: Sequence[Event], slowest: int = 3) -> PhaseResult:
    whole = analyzer(slowest)
    return whole.finish(whole.step(whole.init(), batch(events)))


def test_a_message_is_measured_phase_by_phase_and_as_a_whole() -> None:
    found = measured([(100, 1, 0), (140, 1, 1), (150, 1, 2)])
    assert (found.complete, found.incomplete, found.began_before, found.still_open) == (1, 0, 0, 0)
    assert [(p.name, p.sum_ps, p.min_ps, p.max_ps) for p in found.phases] == [
        ("first", 40, 40, 40),
        ("second", 10, 10, 10),
    ]
    assert found.whole is not None
    assert (found.whole.sum_ps, found.whole.mean_ps, found.whole.percentile_ps(50)) == (
        50,
        50.0,
        50,
    )
    assert [(s.key, s.whole_ps, s.t_ps) for s in found.slowest] == [(1, 50, (100, 140, 150))]


def test_messages_that_overlap_are_told_apart_by_key() -> None:
    found = measured([(0, 0, 0), (1, 1, 0), (5, 1, 1), (7, 0, 1), (8, 1, 2), (20, 0, 2)])
    assert found.complete == 2
    assert [(s.key, s.whole_ps) for s in found.slowest] == [(0, 20), (1, 7)]


def test_a_key_that_comes_again_is_another_message() -> None:
    found = measured([(0, 2, 0), (1, 2, 1), (3, 2, 2), (10, 2, 0), (12, 2, 1), (16, 2, 2)])
    assert found.complete == 2
    assert [s.whole_ps for s in found.slowest] == [6, 3]


def test_an_event_that_is_missing_makes_the_message_incomplete_and_is_named() -> None:
    found = measured([(0, 0, 0), (9, 0, 2), (20, 0, 0), (25, 0, 1), (30, 0, 2)])
    assert (found.complete, found.incomplete) == (1, 1)
    assert found.missing == {"a": 0, "b": 1, "c": 0}


def test_what_the_ends_of_the_recording_cut_is_no_fault_of_the_message() -> None:
    found = measured([(5, 0, 1), (9, 0, 2), (10, 1, 0), (15, 1, 1)])
    assert (found.complete, found.incomplete) == (0, 0)
    assert (found.began_before, found.still_open) == (1, 1)
    assert found.whole is None
    assert found.phases == ()


def test_the_same_stage_twice_is_two_messages_of_which_the_first_lacks_its_end() -> None:
    found = measured([(0, 0, 0), (1, 0, 0), (2, 0, 1), (3, 0, 2)])
    assert (found.complete, found.incomplete) == (1, 1)
    assert found.missing == {"a": 0, "b": 1, "c": 1}


def test_clocks_that_disagree_give_a_negative_phase_which_is_kept_and_counted() -> None:
    found = measured([(100, 0, 0), (90, 0, 1), (120, 0, 2)])
    assert found.negative == 1
    assert (found.phases[0].sum_ps, found.phases[0].min_ps) == (-10, -10)


@pytest.mark.parametrize(("key", "stage"), [(KEYS, 0), (-1, 0), (0, 3)])
def test_a_key_or_stage_that_there_is_not_is_refused(key: int, stage: int) -> None:
    with pytest.raises(
        ValueError, match=rf"event 1: key {key}, stage {stage}; there are keys 0..3"
    ):
        measured([(0, 0, 0), (1, key, stage)])


def test_columns_of_different_lengths_are_refused() -> None:
    whole = analyzer()
    short = EventBatch(np.zeros(2, np.int64), np.zeros(1, np.int32), np.zeros(2, np.uint8))
    with pytest.raises(ValueError, match="columns of 2, 1 and 2 events"):
        whole.step(whole.init(), short)


# -- against another way to compute it -------------------------------------------------------------


def occurrences(events: Sequence[Event]) -> list[tuple[int, dict[int, int]]]:
    """Return every message as key and {stage: t}: a stage that does not rise begins another."""
    made: list[tuple[int, dict[int, int]]] = []
    current: dict[int, dict[int, int]] = {}
    for t_ps, key, stage in events:
        if key not in current or max(current[key]) >= stage:
            current[key] = {}
            made.append((key, current[key]))
        current[key][stage] = t_ps
        if stage == 2:
            del current[key]
    return made


random_events = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, KEYS - 1), st.integers(0, 2)), max_size=60
).map(
    lambda steps: [(1000 * i + jitter, key, stage) for i, (jitter, key, stage) in enumerate(steps)]
)


@given(random_events)
def test_counts_and_durations_are_those_of_a_slow_oracle(events: list[Event]) -> None:
    found = measured(events, slowest=100)
    whole = [(k, s) for k, s in occurrences(events) if len(s) == 3]
    assert found.complete == len(whole)
    assert sum(1 for _ in occurrences(events)) == (
        found.complete + found.incomplete + found.began_before + found.still_open
    )
    assert Counter((s.key, s.t_ps) for s in found.slowest) == Counter(
        (k, (s[0], s[1], s[2])) for k, s in whole
    )
    if whole:
        assert found.whole is not None
        assert found.whole.sum_ps == sum(s[2] - s[0] for _, s in whole)
        assert found.phases[1].max_ps == max(s[2] - s[1] for _, s in whole)


@st.composite
def grouped(draw: st.DrawFn) -> tuple[list[Event], list[int], list[int]]:
    """Events, where they are cut, and in which order neighbouring pieces are joined."""
    events = draw(random_events)
    cuts = sorted(draw(st.lists(st.integers(0, len(events)), max_size=6)))
    joins = draw(st.lists(st.integers(0, 100), min_size=len(cuts), max_size=len(cuts)))
    return events, cuts, joins


@settings(max_examples=300)
@given(grouped())
def test_any_cut_and_any_grouping_of_merges_gives_the_same_result(
    case: tuple[list[Event], list[int], list[int]],
) -> None:
    events, cuts, joins = case
    parts = analyzer()
    places = [0, *cuts, len(events)]
    states: list[PhaseState] = [
        parts.step(parts.init(), batch(events[a:b])) for a, b in pairwise(places)
    ]
    for at in joins:
        i = at % (len(states) - 1)
        states[i : i + 2] = [parts.merge(states[i : i + 2])]
    assert parts.finish(states[0]) == measured(events)


def test_merging_does_not_alter_what_is_merged() -> None:
    parts = analyzer()
    first = parts.step(parts.init(), batch([(0, 0, 0)]))
    second = parts.step(parts.init(), batch([(5, 0, 1), (9, 0, 2)]))
    once = parts.finish(parts.merge([first, second]))
    assert parts.finish(parts.merge([first, second])) == once
    assert parts.finish(first).still_open == 1


@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=200), st.integers(1, 100))
def test_a_percentile_is_right_to_the_stated_resolution(spans: list[int], percent: int) -> None:
    events = [e for i, s in enumerate(spans) for e in ((i, 0, 0), (i, 0, 1), (i + s, 0, 2))]
    found = measured(events).whole
    assert found is not None
    exact = sorted(spans)[max(1, -(-len(spans) * percent // 100)) - 1]
    assert abs(found.percentile_ps(percent) - exact) <= exact * found.resolution + 1
    assert found.mean_ps == pytest.approx(statistics.fmean(spans))


# -- phase tables ----------------------------------------------------------------------------------


def test_the_shipped_tables_hold_the_five_components_and_the_phases_a_to_j() -> None:
    names = {table.name: [p.name for p in table.phases] for table in load_phase_tables().values()}
    assert names["nic"] == ["send-initiation", "send-DMA", "send-NIC", "recv-NIC", "recv-DMA"]
    assert names["bridge"] == list("ABCDEFGHIJ")


def test_a_bridge_s_event_table_gives_its_phases_in_bus_cycles() -> None:
    """SCI paper, section IV: 89 cycles of 30 ns; the known parts, B, C and G sharing the rest."""
    cycles = {"A": 5, "B": 15, "C": 14, "D": 21, "E": 3, "F": 4, "G": 8, "H": 7, "I": 8, "J": 4}
    table = phase_table("bridge")
    t_ps = [0]
    for phase in table.phases:
        t_ps.append(t_ps[-1] + 30_000 * cycles[phase.name])
    bridge = PhaseAnalyzer(table, keys=64)
    events = [(t + 5_000_000 * n, n % 64, s) for n in range(100) for s, t in enumerate(t_ps)]
    found = bridge.finish(bridge.step(bridge.init(), batch(events)))
    assert found.complete == 100
    assert {p.name: p.mean_ps / 30_000 for p in found.phases} == cycles
    assert found.whole is not None
    assert found.whole.mean_ps == 89 * 30_000  # 2.67 us


def test_a_phase_of_which_an_end_was_not_recorded_is_dropped_and_not_stretched() -> None:
    table = phase_table("nic").only({"posted", "tx.entry", "rx.entry", "rx.exit"})
    assert table is not None
    assert [p.name for p in table.phases] == ["send-DMA", "recv-DMA"]
    assert table.events == ("posted", "tx.entry", "rx.entry", "rx.exit")
    assert phase_table("nic").only({"posted", "tx.exit"}) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[t", "is not valid TOML"),
        ("t = 3", "table t: is not a table"),
        ("[t]\nevents = 3\nphases = []", "events must be a list of names"),
        ('[t]\nevents = ["a", "b"]\nphases = 1', "phases must be a list"),
        (
            '[t]\nevents = ["a", "b"]\nphases = [{name = "p", begin = "a"}]',
            "needs name, begin and end",
        ),
        ('[t]\nevents = ["a", "b"]\nphases = []', "has no phase"),
        (
            '[t]\nevents = ["a", "a"]\nphases = [{name = "p", begin = "a", end = "a"}]',
            "event 'a' stands there more than once",
        ),
        (
            '[t]\nevents = ["a", "b"]\nphases = [{name = "p", begin = "b", end = "a"}]',
            "does not come after 'b'",
        ),
        (
            '[t]\nevents = ["a", "b"]\nphases = [{name = "p", begin = "a", end = "x"}]',
            "there is no event 'x'; there are a, b",
        ),
    ],
)
def test_a_table_that_cannot_be_measured_is_refused_by_name(
    tmp_path: Path, text: str, told: str
) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=told):
        load_phase_tables(path)


def test_a_table_of_a_file_that_is_not_there_or_of_another_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_phase_tables(tmp_path / "none.toml")
    with pytest.raises(InputError, match="there is no phase table 'x'; there is bridge, nic"):
        phase_table("x")
