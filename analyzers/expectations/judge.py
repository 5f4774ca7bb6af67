"""Rules put to decoded tables: whether each holds, and the first row that breaks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.analyzers.expectations.rules import Count, Rule
from freezeframe.capture.count_text import plural
from freezeframe.capture.errors import InputError
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.query.never import never
from freezeframe.decoders.query.rows import matching_rows
from freezeframe.decoders.query.words import ExpressionError
from freezeframe.decoders.stack_run import Decoded

Bools = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a rule holds, what was seen in one line, and the row that breaks it where one does.

    ``row`` counts the rows of ``table`` from 0, as `decode` writes them; None where no single row is to blame.
    ``never`` says what the rule asks a column for that it can never have: such a rule may hold, and says nothing.
    """

    rule: Rule
    holds: bool
    seen: str
    table: str
    row: int | None = None
    values: dict[str, Any] | None = None
    never: tuple[str, ...] = ()


def judge(rule: Rule, tables: Sequence[Decoded]) -> Outcome:
    """Put one rule to the tables.

    Raises:
        InputError: there is no such table, or an expression does not fit its columns.
    """
    name, table = _table(rule, tables)
    rows = (
        np.flatnonzero(_matches(rule, table, rule.where)) if rule.where else np.arange(len(table))
    )
    # Decoders give rows by the time they end; what is said about order goes by the time of their begin.
    t_ps = table.column("t_ps").to_numpy() if "t_ps" in table.column_names else None
    if t_ps is not None:
        rows = rows[np.argsort(t_ps[rows], kind="stable")]
    for holds, seen, row in _answers(rule, table, rows, t_ps):
        if not holds:
            values = None if row is None else table.slice(row, 1).to_pylist()[0]
            return Outcome(rule, False, seen, name, row, values, _slips(rule, table))
    return Outcome(rule, True, plural(len(rows), "row"), name, never=_slips(rule, table))


def _slips(rule: Rule, table: pa.Table) -> tuple[str, ...]:
    asked = (rule.where, rule.every, rule.first, rule.last, *rule.sequence, rule.answered_by)
    return tuple(
        f"{rule.name}: {expression}: {line}"
        for expression in dict.fromkeys(filter(None, asked))
        for line in never(expression, [table])
    )


_Answer = tuple[bool, str, int | None]


def _answers(rule: Rule, table: pa.Table, rows: Rows, t_ps: Any) -> list[_Answer]:
    answers: list[_Answer] = []
    asked = rule.rows or Count(0)
    if rule.first or rule.last:
        asked = Count(max(asked.least, 1), asked.most)  # of no row, nothing can be said
    beyond = asked.most is not None and len(rows) > asked.most
    row = int(rows[asked.most or 0]) if beyond else None
    answers.append((len(rows) in asked, f"{len(rows):,} rows, expected {asked}", row))
    for expression, chosen in (
        (rule.every, rows),
        (rule.first, rows[:1]),
        (rule.last, rows[-1:]),
    ):
        if expression:
            wrong = chosen[~_matches(rule, table, expression)[chosen]]
            seen = f"{len(wrong):,} of {len(chosen):,} rows are not {expression!r}"
            answers.append((not len(wrong), seen, int(wrong[0]) if len(wrong) else None))
    if (rule.sequence or rule.answered_by) and t_ps is None:
        raise InputError(f"{rule.name}: rows of this table have no time, so no order")
    if rule.sequence:
        answers.append(_sequence(rule, table, rows, t_ps))
    if rule.answered_by:
        answers.append(_answered(rule, table, rows, t_ps))
    return answers


def _sequence(rule: Rule, table: pa.Table, rows: Rows, t_ps: Rows) -> _Answer:
    """Whether the steps come in this order: each as late as it can be, so that a later begin is not missed."""
    times = t_ps[rows]
    reached: Bools | None = None
    for number, step in enumerate(rule.sequence):
        there = _matches(rule, table, step)[rows]
        if reached is not None:
            last = np.maximum.accumulate(np.where(reached, np.arange(len(rows)), -1))
            before = np.concatenate([[-1], last[:-1]]) if len(rows) else last
            near = before >= 0
            if rule.within_ps is not None:
                near &= times - times[before] <= rule.within_ps
            there &= near
        if not there.any():
            after = f" after {rule.sequence[number - 1]!r}" if number else ""
            limit = f" within {format_ps(rule.within_ps)}" if number and rule.within_ps else ""
            at = None if reached is None else int(rows[np.flatnonzero(reached)[0]])
            return False, f"step {number + 1}, {step!r}, does not come{after}{limit}", at
        reached = there
    return True, "", None


def _answered(rule: Rule, table: pa.Table, rows: Rows, t_ps: Rows) -> _Answer:
    """Whether a row that matches follows each of the rows; the answer may be any row of the table."""
    answers = np.flatnonzero(_matches(rule, table, rule.answered_by))
    at = np.sort(t_ps[answers])
    following = np.searchsorted(at, t_ps[rows], side="right")
    late = following >= len(at)
    if rule.within_ps is not None and len(at):
        late |= at[np.minimum(following, len(at) - 1)] - t_ps[rows] > rule.within_ps
    wrong = rows[late]
    limit = "" if rule.within_ps is None else f" within {format_ps(rule.within_ps)}"
    seen = f"after {len(wrong):,} of {len(rows):,} rows {rule.answered_by!r} does not come{limit}"
    return not len(wrong), seen, int(wrong[0]) if len(wrong) else None


def _table(rule: Rule, tables: Sequence[Decoded]) -> Decoded:
    names = [name for name, _ in tables]
    wanted = rule.table
    found = [
        decoded
        for decoded in tables
        if not wanted or decoded.name == wanted or decoded.name.endswith(f".{wanted}")
    ]
    exact = [decoded for decoded in found if decoded.name == wanted]
    if len(exact or found) != 1:
        why = f"table {wanted!r}" if wanted else "which table is not said"
        raise InputError(f"{rule.name}: {why}: there is {', '.join(names)}; name one of them")
    return (exact or found)[0]


def _matches(rule: Rule, table: pa.Table, expression: str) -> Bools:
    try:
        return matching_rows(table, expression)
    except ExpressionError as error:
        raise InputError(f"{rule.name}: {expression!r}: {error}") from None
