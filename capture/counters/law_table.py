"""What must add up in a card of map 1: the laws of its file, as the live dashboard and `freezeframe check` read them.

A law is a sum of terms that lies within bounds. Terms are written with a dot, by where they stand; in the file
a counter or a register of the bank stands without one:

=================  ============================================================================================
``counter.X``      counter X, of the freeze bank or of a live snapshot
``counted.X``      the counter of words or packets at that tap
``frozen.X``       register X of the freeze bank
``parameter.X``    parameter X of the card, from its identity
``flow.X``         X of one flow's credit state; a law with such a term holds for every flow
``flows.X``        the sum of X over all flows; ``flows.waiting`` of received - freed
``memory.X``       X (offered, stored, lost) of one memory; such a law holds for every memory of its scope
``recorded.X``     what the trace of that memory holds: words, events, records, packets, header_bad, skipped
``histogram.X``    the sum of the bins: lengths, occupancy
``sampler.X``      out, in: the newest sample; taken: their number; age: link cycles from it to the freeze
``slack.X``        by how many words X may be late (a level crosses clock domains); 0 where nothing moved
``way.X``          at most so many words or credits can be on the way between the two cards at their freezes
``peer.``          before any of these: of the card at the other end
=================  ============================================================================================

Counts of the two clock domains are those of one moment in a freeze bank; a FIFO's level is what the bus domain saw of
it, a few words late while they move. In a live snapshot the counts, too, stand a few cycles apart; `laws` gives the
slack for that, and bounds for the terms that no snapshot holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from freezeframe.capture.card.elaborated import ElaboratedCard
from freezeframe.capture.card.roles import Roles
from freezeframe.capture.card.tables import Law

Scope = Literal["device", "flow", "tap", "event-log", "link", "link-flow"]
_BANK = "frozen"


@dataclass(frozen=True, slots=True)
class CardLaw:
    """``least <= balance <= most``.

    Attributes:
        name: short, stable, for programs.
        text: the law in a sentence.
        scope: what it holds for: each ``device``, each ``flow`` of it, each ``tap`` memory, the ``event-log``, each
            direction of a ``link`` (the device is the sender) and each flow of it.
        balance: terms with ``+`` and ``-`` between them.
        least, most: a number, a term, either with ``-`` before it, or empty where there is no such bound.
        modulus: ``word``: counts wrap at 2^32; ``credit``: at the width of the credit counters; ``sequence``: at 2^16;
            empty: never.
        needs: ``first-up`` (counters run since power-up; FIFOs and flows begin again when a held card is armed again or
            its link is looped back), ``first-arm`` (memories, too, begin again at an arm), ``all-kinds`` (the tap
            recorded every word), ``unwrapped`` (the memory still holds everything since arm).
    """

    name: str
    text: str
    scope: Scope
    balance: str
    least: str = "0"
    most: str = "0"
    modulus: Literal["", "word", "credit", "sequence"] = ""
    needs: tuple[Literal["first-up", "first-arm", "all-kinds", "unwrapped"], ...] = ()


@cache
def laws_of(card: ElaboratedCard) -> tuple[CardLaw, ...]:
    """Return the laws of a card of map 1, in the order of its file."""
    return tuple(_law(card, law.said) for law in card.laws if law.said is not None)


def _law(card: ElaboratedCard, said: Law) -> CardLaw:
    balance = " - ".join(
        [" + ".join(_term(card, t) for t in said.plus), *(_term(card, t) for t in said.minus)]
    )
    return CardLaw(
        said.title,
        said.doc,
        said.scope,
        balance,
        _bound(card, said.least),
        _bound(card, said.most),
        said.modulus,
        tuple(said.needs),
    )


def _term(card: ElaboratedCard, text: str) -> str:
    """Return a term with its kind: that of a counter or of a register of the bank goes without saying in the file."""
    whose, name = ("peer.", text.removeprefix("peer.")) if text.startswith("peer.") else ("", text)
    kind, dot, rest = name.partition(".")
    if not dot:
        kind, rest = ("counter", name) if name in card.said.counter else ("bank", name)
    return (
        f"{whose}{_BANK}.{card.said.bank[rest].wire}" if kind == "bank" else f"{whose}{kind}.{rest}"
    )


def _bound(card: ElaboratedCard, bound: int | str | None) -> str:
    if isinstance(bound, str) and bound:
        return f"-{_term(card, bound[1:])}" if bound.startswith("-") else _term(card, bound)
    return "" if bound is None else str(bound)


def live_bounds(roles: Roles) -> dict[str, tuple[str, str]]:
    """Return between what a term lies that a live snapshot does not hold: a FIFO's level, and how late it may be."""
    return {
        term: bounds
        for way in roles.ways
        for term, bounds in (
            (f"{_BANK}.{way.level}", ("0", f"parameter.{way.capacity}")),
            (f"slack.{way.level}", ("0", "0")),
        )
    }


@cache
def split_terms(balance: str) -> tuple[tuple[int, str], ...]:
    """Return the terms of a balance, each with its sign, 1 or -1.

    Raises:
        ValueError: the text is not terms with ``+`` and ``-`` between them.
    """
    parts = balance.split()
    signs, terms = ["+", *parts[1::2]], parts[::2]
    if len(signs) != len(terms) or not set(signs) <= {"+", "-"} or not all("." in t for t in terms):
        raise ValueError(f"{balance!r}: terms with '+' and '-' between them were expected")
    return tuple((1 if sign == "+" else -1, term) for sign, term in zip(signs, terms, strict=True))
