"""The steps of a trigger as a user writes them, in the language of find and filter.

``a and not b,count=3,within=500``: names are those of the terms.
"""

from __future__ import annotations

from collections.abc import Sequence

from freezeframe.capture.card.trigger_steps import (
    COMBINATIONS,
    TERM_NAMES,
    Mode,
    Step,
    StepTrigger,
    TapTerm,
    first_then,
)
from freezeframe.capture.errors import InputError
from freezeframe.capture.recorder.card_trigger import parse_card_term
from freezeframe.decoders.query.parse import (
    And,
    Comparison,
    Node,
    Not,
    Word,
    parse,
)
from freezeframe.decoders.query.words import ExpressionError
from freezeframe.gui.asked_trigger import Asked

_MODES = {mode.text: mode for mode in Mode if mode is not Mode.ANY}


def step_trigger(asked: Asked) -> StepTrigger:
    """Return the trigger that is asked of a card with steps.

    ``--then``, ``--count`` and ``--limit`` say two steps as on other cards; without ``--step`` any term fires.

    Raises:
        InputError: it cannot be understood, or parts contradict each other.
    """
    texts = [*asked.terms, *asked.then]
    if asked.edge:
        raise InputError("--edge: the trigger of this card has no edge")
    if len(texts) > len(TERM_NAMES):
        raise InputError(f"{len(texts)} terms: a trigger has {len(TERM_NAMES)} at most")
    if texts and len(asked.on) not in (1, len(texts)):
        raise InputError(
            f"--on is given {len(asked.on)} times: once, or once for each of {len(texts)} terms"
        )
    taps = list(asked.on) * (len(texts) if len(asked.on) == 1 else 1)
    terms = []
    for text, tap in zip(texts, taps, strict=True):
        term = parse_card_term(text)
        terms.append(TapTerm(term.value, term.mask, term.kinds, tap))
    if asked.steps:
        if asked.then or asked.count != 1 or asked.limit_cycles:
            raise InputError(
                "--then, --count and --limit say two steps, and --step says them too: "
                "--step 'a' --step 'b,count=3,within=500'"
            )
        steps, timer = _steps(asked.steps, len(terms))
    else:
        if len(asked.then) > 1:
            raise InputError(f"--then is given {len(asked.then)} times: say more steps with --step")
        steps, timer = first_then(
            len(asked.terms), asked.count, asked.limit_cycles, then=bool(asked.then)
        )
    return StepTrigger(tuple(terms), steps, timer, asked.pin)


def _steps(texts: Sequence[str], terms: int) -> tuple[tuple[Step, ...], int]:
    steps, times = [], set()
    for text in texts:
        expression, *settings = text.split(",")
        count, mode = 1, Mode.ANY
        seen = set()
        for setting in settings:
            name, equals, given = setting.strip().partition("=")
            if not equals or (name != "count" and name not in _MODES):
                raise InputError(
                    f"step {text!r}: {setting.strip()!r}: there is count=N, {'=N, '.join(_MODES)}=N"
                )
            what = "count" if name == "count" else "a time"
            if what in seen:
                raise InputError(f"step {text!r}: {what} is given twice")
            seen.add(what)
            number = _number(text, setting.strip(), given)
            if name == "count":
                count = number
            else:
                mode = _MODES[name]
                times.add(number)
        steps.append(Step(_when(expression, terms), count, mode))
    if len(times) > 1:
        shown = " and ".join(f"{time:,}" for time in sorted(times))
        raise InputError(f"{shown} cycles: a card has one timer, so all steps with a time have one")
    return tuple(steps), next(iter(times), 0)


def _number(text: str, setting: str, given: str) -> int:
    try:
        number = int(given.strip(), 0)
    except ValueError:
        raise InputError(f"step {text!r}: {setting!r} is not a number") from None
    if not 1 <= number < 1 << 32:
        raise InputError(f"step {text!r}: {setting!r}: 1 to 2^32 - 1 is possible")
    return number


def _when(expression: str, terms: int) -> int:
    """Return which combinations of terms an expression holds for, one bit each."""
    try:
        node = parse(expression)
        return sum(1 << c for c in range(COMBINATIONS) if _holds(node, c, terms))
    except ExpressionError as error:
        raise InputError(f"step {expression.strip()!r}: {error}") from None


def _holds(node: Node, combination: int, terms: int) -> bool:
    if isinstance(node, Comparison):
        left = node.left
        known = TERM_NAMES[:terms]
        if (
            node.sign
            or not isinstance(left, Word)
            or left.name.lower() not in known
            or len(left.name) != 1
        ):
            there = (
                f"the terms, in their order, are {', '.join(known)}"
                if known
                else "there is no --term"
            )
            raise ExpressionError(f"{there}; joined by and, or, not, brackets", left.at, left.end)
        return bool(combination >> known.index(left.name.lower()) & 1)
    if isinstance(node, Not):
        return not _holds(node.of, combination, terms)
    every = [_holds(part, combination, terms) for part in node.of]  # all: each name is to be a term
    return all(every) if isinstance(node, And) else any(every)
