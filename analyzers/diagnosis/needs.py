"""What each of the diagnoses needs of a card, as terms of its file; where that is not there, it is not asked.

The rules know RDMA over a link with credits. Which tap, counter or cause is which they take from the card; that it has
them stands in the name's own file; here is what each of its words means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from freezeframe.analyzers.witness.declared import Declared, shipped
from freezeframe.capture.card.elaborated import ElaboratedCard, ElaboratedStretch
from freezeframe.capture.card.roles import MEANINGS, Roles, Way, roles_of

Need = Callable[[Roles], str]
"""Returns what is missing, in words; empty where it is there."""


def _links(roles: Roles) -> str:
    other = [tap.name for tap in roles.card.taps if tap.format != "link"]
    return f'format "link" at {", ".join(other)}' if other else ""


def _fifos(roles: Roles) -> str:
    """Each FIFO gives out what it took in; a stretch that may drop or change words has no word missing."""
    kept = [way for way in roles.ways if _stretch(roles, way).identity]
    return "" if kept else "a FIFO between two taps that neither drops nor changes words"


def _stretch(roles: Roles, way: Way) -> ElaboratedStretch:
    return next(stretch for stretch in roles.card.stretches if stretch.path == way.name)


def _credits(roles: Roles) -> str:
    scheme = roles.card.said.flow_control.scheme
    wanted = "cumulative-credits"
    return "" if scheme == wanted else f'flow_control "{wanted}" (it is "{scheme}")'


def _counters(*means: str) -> Need:
    def need(roles: Roles) -> str:
        missing = [name for name in means if not roles.counter(name)]
        return f"a counter that means {' and '.join(missing)}" if missing else ""

    return need


def _words(roles: Roles) -> str:
    missing = [t for t in (roles.tx.exit, roles.rx.entry) if not roles.counter("words", t)]
    return f"a counter of words at {' and '.join(missing)}" if missing else ""


def _events(*kinds: str) -> Need:
    def need(roles: Roles) -> str:
        held = {name.partition("_")[0] for name in roles.card.said.event}
        missing = [kind for kind in kinds if kind not in held]
        return f"events {' and '.join(missing)} in its log" if missing else ""

    return need


_NEEDS: dict[str, Need] = {"link": _links, "fifo": _fifos, "credits": _credits, "words": _words}


def _need(text: str) -> Need:
    """Return a need of a fault file: one by name, ``counter.MEANING`` or ``event.KIND``."""
    kind, _, name = text.partition(".")
    return {"counter": _counters, "event": _events}[kind](name) if name else _NEEDS[text]


def known_need(text: str) -> bool:
    """Tell whether a fault file may need this."""
    kind, _, name = text.partition(".")
    return (
        text in _NEEDS
        or (kind == "counter" and name in MEANINGS)
        or (kind == "event" and bool(name))
    )


@cache
def not_asked(card: ElaboratedCard) -> dict[str, str]:
    """Return the diagnoses that a card of map 1 gives no ground for, each with what is missing."""
    return dict(_missing(roles_of(card)))


def _missing(roles: Roles) -> Iterator[tuple[str, str]]:
    for name in shipped():
        lacks = list(lacking(roles, shipped()[name]))
        if lacks:
            yield name, f"{name}: the card has not {'; '.join(lacks)}"


def lacking(roles: Roles, fault: Declared) -> Iterator[str]:
    """Yield what a fault's file needs and a card has not, in words."""
    for text in fault.needs:
        what = _need(text)(roles)
        if what:
            yield what
