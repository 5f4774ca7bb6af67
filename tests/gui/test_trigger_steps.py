"""The steps of a trigger as a user writes them: what they mean, and each refusal by its whole line."""

from __future__ import annotations

import pytest

from freezeframe.capture.card.trigger_steps import Mode, Step
from freezeframe.capture.errors import InputError
from freezeframe.gui.asked_trigger import Asked
from freezeframe.gui.trigger_steps import step_trigger

TWO = ("kind=HEAD", "kind=TAIL")


def asked(*steps: str, terms: tuple[str, ...] = TWO) -> Asked:
    return Asked(on=("rx",), terms=terms, steps=steps)


def test_expressions_counts_and_a_time_become_combinations_of_terms() -> None:
    trigger = step_trigger(asked("a", "a and not b,count=3", "(a or B),not-within=0x20"))
    assert trigger.steps == (
        Step(0xAAAA),
        Step(0x2222, 3),
        Step(0xEEEE, 1, Mode.NOT_WITHIN),
    )
    assert (trigger.timer_cycles, trigger.taps) == (32, ("rx",))


def test_without_steps_any_term_fires_and_then_is_a_second_step() -> None:
    assert step_trigger(Asked(on=("rx",), terms=TWO, count=2)).steps == (Step(0xEEEE, 2),)
    after = step_trigger(Asked(on=("rx",), terms=TWO, then=("data=1",), count=4, limit_cycles=90))
    assert after.steps == (Step(0xEEEE), Step(0xF0F0, 4, Mode.WITHIN))
    assert after.timer_cycles == 90


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (asked("a and"),
         "step 'a and': character 6: a column, a value or a bracket is missing at the end"),
        (asked("c"),
         "step 'c': character 1: the terms, in their order, are a, b; joined by and, or, not, brackets"),
        (asked("a=1"),
         "step 'a=1': character 1: the terms, in their order, are a, b; joined by and, or, not, brackets"),
        (asked("a", terms=()),
         "step 'a': character 1: there is no --term; joined by and, or, not, brackets"),
        (asked("a,soon=3"),
         "step 'a,soon=3': 'soon=3': there is count=N, within=N, after=N, not-within=N"),
        (asked("a,count"),
         "step 'a,count': 'count': there is count=N, within=N, after=N, not-within=N"),
        (asked("a,count=x"),
         "step 'a,count=x': 'count=x' is not a number"),
        (asked("a,count=0"),
         "step 'a,count=0': 'count=0': 1 to 2^32 - 1 is possible"),
        (asked("a,count=2,count=3"),
         "step 'a,count=2,count=3': count is given twice"),
        (asked("a,within=2,after=2"),
         "step 'a,within=2,after=2': a time is given twice"),
        (asked("a,within=2", "b,after=3000"),
         "2 and 3,000 cycles: a card has one timer, so all steps with a time have one"),
        (asked("a", terms=("data=1",) * 5),
         "5 terms: a trigger has 4 at most"),
        (Asked(on=("rx", "tx", "rx"), terms=TWO, steps=("a",)),
         "--on is given 3 times: once, or once for each of 2 terms"),
        (Asked(on=("rx",), terms=TWO, steps=("a",), count=2),
         "--then, --count and --limit say two steps, and --step says them too: "
         "--step 'a' --step 'b,count=3,within=500'"),
        (Asked(on=("rx",), terms=TWO, then=("data=1", "data=2")),
         "--then is given 2 times: say more steps with --step"),
        (Asked(on=("rx",), terms=TWO, limit_cycles=5),
         "a limit is for the term that comes after the first (--then)"),
        (Asked(on=("rx",), terms=TWO, edge=True),
         "--edge: the trigger of this card has no edge"),
    ],
)  # fmt: skip
def test_what_cannot_be_understood_is_refused_in_one_line(wrong: Asked, says: str) -> None:
    with pytest.raises(InputError) as refused:
        step_trigger(wrong)
    assert str(refused.value) == says
