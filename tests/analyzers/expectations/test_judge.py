"""Rules put to small tables: what holds, and the row that breaks it."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freezeframe.analyzers.expectations.judge import Outcome, judge
from freezeframe.analyzers.expectations.rules import Count, Rule
from freezeframe.capture.errors import InputError
from freezeframe.decoders.stack_run import Decoded

US = 10**6


def words(*rows: tuple[int, str, int]) -> Decoded:
    """Return a table of words: time in microseconds, kind, data."""
    t_us, kinds, data = zip(*rows, strict=True) if rows else ((), (), ())
    return Decoded(
        "bus.words",
        pa.table(
            {
                "t_ps": pa.array([t * US for t in t_us], pa.int64()),
                "kind": pa.array(kinds, pa.string()).dictionary_encode(),
                "data": pa.array(data, pa.int64()),
            }
        ),
    )


BUS = words((0, "ask", 1), (5, "reply", 1), (10, "ask", 2), (30, "reply", 2), (40, "error", 0))


def put(table: Decoded = BUS, **rule: Any) -> Outcome:
    return judge(Rule("r", **rule), [table])


@pytest.mark.parametrize(
    ("rule", "holds", "row"),
    [
        ({"where": "kind == ask", "rows": Count(2, 2)}, True, None),
        ({"where": "kind == ask", "rows": Count(3)}, False, None),
        ({"where": "kind == ask", "rows": Count(0, 1)}, False, 2),  # the first too many
        ({"where": "kind == error", "rows": Count(0, 0)}, False, 4),
        ({"where": "kind == reply", "every": "data < 3"}, True, None),
        ({"where": "kind == reply", "every": "data == 1"}, False, 3),
        ({"where": "kind == none", "every": "data == 1"}, True, None),  # of no row, all are
        ({"where": "kind == reply", "first": "data == 1", "last": "data == 2"}, True, None),
        ({"where": "kind == reply", "last": "data == 1"}, False, 3),
        ({"where": "kind == none", "last": "data == 1"}, False, None),  # there is no last one
        ({"sequence": ("kind == ask", "kind == reply", "kind == error")}, True, None),
        ({"sequence": ("kind == error", "kind == ask")}, False, 4),
        ({"sequence": ("kind == ask", "kind == reply"), "within_ps": 5 * US}, True, None),
        ({"sequence": ("data == 2", "kind == error"), "within_ps": 9 * US}, False, 2),
        ({"sequence": ("data == 2", "kind == error"), "within_ps": 10 * US}, True, None),  # from the later one
        ({"where": "kind == ask", "answered_by": "kind == reply"}, True, None),
        ({"where": "kind == ask", "answered_by": "kind == reply", "within_ps": 20 * US}, True, None),
        ({"where": "kind == ask", "answered_by": "kind == reply", "within_ps": 19 * US}, False, 2),
        ({"where": "kind == error", "answered_by": "kind == reply"}, False, 4),
        ({"where": "kind == ask", "answered_by": "kind == none"}, False, 0),
    ],
)  # fmt: skip
def test_a_rule_holds_or_names_the_row_that_breaks_it(
    rule: dict[str, Any], holds: bool, row: int | None
) -> None:
    outcome = put(**rule)
    assert (outcome.holds, outcome.row) == (holds, row), outcome.seen
    if row is not None:
        assert outcome.values == BUS.table.slice(row, 1).to_pylist()[0]


def test_what_was_seen_says_how_much() -> None:
    assert put(where="kind == ask", rows=Count(3)).seen == "2 rows, expected at least 3"
    assert put(rows=Count(1, 4)).seen == "5 rows, expected 1 to 4"
    assert put(where="kind == reply", every="data == 1").seen == "1 of 2 rows are not 'data == 1'"
    late = put(where="kind == ask", answered_by="kind == reply", within_ps=19 * US)
    assert late.seen == "after 1 of 2 rows 'kind == reply' does not come within 19 µs"
    gone = put(sequence=("data == 2", "kind == error"), within_ps=9 * US)
    assert gone.seen == "step 2, 'kind == error', does not come after 'data == 2' within 9 µs"


def test_order_is_that_of_time_where_rows_are_in_another() -> None:
    turned = words((30, "reply", 1), (0, "ask", 1))
    assert put(turned, sequence=("kind == ask", "kind == reply")).holds
    assert put(turned, first="kind == ask").holds


def test_a_table_that_is_not_there_or_not_said_is_refused() -> None:
    with pytest.raises(InputError, match=r"r: table 'frames': there is bus\.words"):
        judge(Rule("r", table="frames"), [BUS])
    with pytest.raises(InputError, match=r"r: which table is not said: there is bus\.words, a\.x"):
        judge(Rule("r", rows=Count()), [BUS, Decoded("a.x", BUS.table)])
    assert judge(Rule("r", table="words", rows=Count()), [BUS, Decoded("a.x", BUS.table)]).holds
    with pytest.raises(InputError, match=r"r: 'dat == 1': .*did you mean data"):
        judge(Rule("r", where="dat == 1"), [BUS])


def _chain(times: list[int], data: list[int], steps: list[int], within: int | None) -> bool:
    """Whether rows of these values come one after the other: every choice of rows is tried."""
    return any(
        [data[i] for i in chosen] == steps
        and all(within is None or times[b] - times[a] <= within for a, b in pairwise(chosen))
        for chosen in combinations(range(len(data)), len(steps))
    )


@given(
    gaps=st.lists(st.integers(0, 4), max_size=9),
    data=st.lists(st.integers(0, 2), min_size=9, max_size=9),
    steps=st.lists(st.integers(0, 2), min_size=2, max_size=3),
    within=st.one_of(st.none(), st.integers(0, 6)),
)
def test_a_sequence_is_found_wherever_some_choice_of_rows_has_it(
    gaps: list[int], data: list[int], steps: list[int], within: int | None
) -> None:
    times = [sum(gaps[: i + 1]) for i in range(len(gaps))]
    table = words(*((t, "data", value) for t, value in zip(times, data, strict=False)))
    limit = None if within is None else within * US
    outcome = put(table, sequence=tuple(f"data == {s}" for s in steps), within_ps=limit)
    assert outcome.holds == _chain(times, data[: len(times)], steps, within)
