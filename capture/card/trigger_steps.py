"""A trigger of several terms and steps, as it stands in a card's registers, and what those tell of a freeze.

Source: docs/card-map.md, section 1; docs/trigger.md has the truth table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from itertools import product

from freezeframe.capture.card.elaborated import ElaboratedCard
from freezeframe.capture.errors import InputError
from freezeframe.capture.registers.trigger_term import ALL_KINDS, PARTS, Term

TERM_NAMES = "abcd"
COMBINATIONS = 1 << len(TERM_NAMES)
_FIRED_BY = ("steps", "pin", "outside")

ReadRegister = Callable[..., int | None]
"""Returns a register's word by name and indices; None: it was not read."""


class Mode(IntEnum):
    """What the timer means for a step, counted from the step before it, or from the arm."""

    ANY = 0
    WITHIN = 1
    AFTER = 2
    NOT_WITHIN = 3

    @property
    def text(self) -> str:
        """As the command line says it: ``not-within``."""
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True, slots=True)
class TapTerm(Term):
    """A term of the words of one tap."""

    tap: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """``when`` has a bit for each combination of terms (bit 5: of ``a`` and ``c`` alone) that counts as a match."""

    when: int
    count: int = 1
    mode: Mode = Mode.ANY


@dataclass(frozen=True, slots=True)
class StepTrigger:
    """What a card waits for: steps over terms, one timer, and a pin (``""``, ``rising``, ``falling``)."""

    terms: tuple[TapTerm, ...]
    steps: tuple[Step, ...]
    timer_cycles: int = 0
    pin: str = ""
    enabled: bool = True

    @property
    def taps(self) -> tuple[str, ...]:
        """The taps that a term names, each once."""
        return tuple(dict.fromkeys(term.tap for term in self.terms))

    def possible(self) -> Iterable[tuple[str, int]]:
        """Give each tap with each combination of terms that a word there can be the same as."""
        for tap in self.taps:
            mine = [1 << n for n, term in enumerate(self.terms) if term.tap == tap]
            for chosen in product((0, 1), repeat=len(mine)):
                yield tap, sum(bit for bit, on in zip(mine, chosen, strict=True) if on)


@dataclass(frozen=True, slots=True)
class StepWord:
    """The word that completed a step, or the end of its time.

    Attributes:
        tap: of the word; "" where the time was over.
        terms: one bit each that the word was the same as.
        cycle_low: low 32 bits of its record's cycle, in the clock of the tap; of the bus where the time was over.
    """

    tap: str
    terms: int
    cycle_low: int


@dataclass(frozen=True, slots=True)
class FiredState:
    """What the trigger had reached at the freeze.

    Attributes:
        by: ``steps``, ``pin``, ``outside`` (trigger_in): those that raised the cause first.
        words: of the steps that were reached, in their order.
        lost: more words came at once than it has room for; a step may have missed one.
    """

    by: tuple[str, ...]
    words: tuple[StepWord, ...]
    lost: bool


def first_then(
    first: int, count: int = 1, limit_cycles: int = 0, *, then: bool = False
) -> tuple[tuple[Step, ...], int]:
    """Return the steps, and the timer, that a trigger of two terms is on a card with steps.

    Args:
        first: a word like any of so many terms is the first; none: no steps.
        count: so many words like the last term.
        limit_cycles: bus cycles after the first word in which they have to come; 0: any time.
        then: one term more comes after those.
    Raises:
        InputError: a limit without a term that it is for.
    """
    if limit_cycles and not then:
        raise InputError("a limit is for the term that comes after the first (--then)")
    if not first:
        return (), 0
    begins = sum(1 << c for c in range(COMBINATIONS) if c & (1 << first) - 1)
    if not then:
        return (Step(begins, count),), 0
    ends = sum(1 << c for c in range(COMBINATIONS) if c >> first & 1)
    mode = Mode.WITHIN if limit_cycles else Mode.ANY
    return (Step(begins), Step(ends, count, mode)), limit_cycles


def registers_of(
    trigger: StepTrigger, card: ElaboratedCard
) -> list[tuple[tuple[str | int, ...], int]]:
    """Return what is to be written, in order, but for the enable: register with its indices, and word."""
    taps, built = [tap.name for tap in card.recorders], card.said.trigger
    written: list[tuple[tuple[str | int, ...], int]] = []
    for n, term in enumerate(trigger.terms):
        written += [((f"trigger.{part}", n), word) for part, word in zip(PARTS, term.words(), strict=True)]  # fmt: skip
        written.append((("trigger.config", n), taps.index(term.tap) << 8))
    for n, step in enumerate(trigger.steps):
        written.append((("trigger.step.when", n), step.when | step.mode << 16))
        if built.count_bits:
            written.append((("trigger.step.count", n), step.count))
    written.append((("trigger.last",), max(0, len(trigger.steps) - 1)))
    if built.timer_bits:
        written.append((("trigger.timer",), trigger.timer_cycles))
    if built.pin:
        written.append((("trigger.pin",), ("", "rising", "", "falling").index(trigger.pin)))
    return written


def trigger_of(read: ReadRegister, card: ElaboratedCard) -> StepTrigger | None:
    """Return the trigger that stands in registers; None where one of them was not read.

    Terms without kinds behind the last that has some are none.
    """
    taps, built = [tap.name for tap in card.recorders], card.said.trigger
    found: list[TapTerm] = []
    config = [read("trigger.config", n) for n in range(built.terms)]
    last = read("trigger.last")
    if last is None or None in config:
        return None
    for n in range(built.terms):
        words = [read(f"trigger.{part}", n) for part in PARTS]
        if None in words:
            return None
        low, high, mask_low, mask_high, kinds = (int(word or 0) for word in words)
        number = int(config[n] or 0) >> 8 & 0x3F
        tap = taps[number] if number < len(taps) else f"tap {number}"
        found.append(TapTerm(low | high << 32, mask_low | mask_high << 32, kinds & ALL_KINDS, tap))
    while len(found) > 1 and not found[-1].kinds:
        found.pop()
    steps = []
    for n in range(last + 1):
        when, count = (
            read("trigger.step.when", n),
            read("trigger.step.count", n) if built.count_bits else 1,
        )
        if when is None or count is None:
            return None
        steps.append(Step(when & 0xFFFF, max(1, count), Mode(when >> 16 & 3)))
    edge = read("trigger.pin") if built.pin else 0
    time = read("trigger.timer") if built.timer_bits else 0
    if edge is None or time is None:
        return None
    return StepTrigger(
        tuple(found), tuple(steps), time, ("", "rising", "", "falling")[edge & 3], bool(int(config[0] or 0) & 1)
    )  # fmt: skip


def one_term_of(read: ReadRegister, card: ElaboratedCard) -> StepTrigger | None:
    """Return the trigger of a card without steps: its one term; None where a register of it was not read."""
    words = [read(f"trigger.{part}") for part in ("config", *PARTS)]
    if None in words:
        return None
    config, low, high, mask_low, mask_high, kinds = (int(word or 0) for word in words)
    taps, number = card.recorders, config >> 8 & 0x3F
    tap = taps[number].name if number < len(taps) else f"tap {number}"
    term = TapTerm(low | high << 32, mask_low | mask_high << 32, kinds & ALL_KINDS, tap)
    return StepTrigger((term,), (Step(0xAAAA),), enabled=bool(config & 1))


def fired_of(read: ReadRegister, card: ElaboratedCard) -> FiredState | None:
    """Return what a card's trigger had reached; None where a register of it was not read."""
    taps = [tap.name for tap in card.recorders]
    fired = read("trigger.fired")
    if fired is None:
        return None
    words = []
    for n in range(fired >> 4 & 3):
        word, cycle = read("trigger.step.word", n), read("trigger.step.cycle", n)
        if word is None or cycle is None:
            return None
        number = word >> 8 & 0x3F
        tap = "" if word >> 31 else taps[number] if number < len(taps) else f"tap {number}"
        words.append(StepWord(tap, 0 if word >> 31 else word & 15, cycle))
    by = tuple(name for bit, name in enumerate(_FIRED_BY) if fired >> bit & 1)
    return FiredState(by, tuple(words), bool(fired >> 8 & 1))


def when_text(when: int, terms: int) -> str:
    """Return a shortest expression for the combinations of so many terms: ``a and not b or c``."""
    all_of = range(1 << terms)
    wanted = {c for c in all_of if when >> c & 1}
    if not wanted:
        return "never"
    if len(wanted) == len(all_of):
        return "any word"
    # Products of terms by how few they name; each takes what no earlier one has.
    products = sorted(
        ((mask, value) for mask in all_of for value in all_of if value & ~mask == 0),
        key=lambda product: (product[0].bit_count(), product),
    )
    parts, left = [], set(wanted)
    for mask, value in products:
        covered = {c for c in all_of if c & mask == value}
        if covered <= wanted and covered & left:
            left -= covered
            parts.append(
                " and ".join(
                    TERM_NAMES[n] if value >> n & 1 else f"not {TERM_NAMES[n]}"
                    for n in range(terms)
                    if mask >> n & 1
                )
            )
    return " or ".join(parts)
