"""What each of the diagnoses needs of a card, as terms of its file; where that is not there, it is not asked.

The rules know RDMA over a link with credits. Which tap, counter or cause is which they take from the card; that it has
them is said here, once for each name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from freezeframe.capture.card.elaborated import ElaboratedCard, ElaboratedStretch
from freezeframe.capture.card.roles import Roles, Way, roles_of

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


NEEDS: dict[str, tuple[Need, ...]] = {
    "word-omitted": (_links, _fifos),
    "word-duplicated": (_links, _fifos),
    "sync-fifo-empty": (_links,),
    "lane-misaligned": (_links,),
    "payload-bit-flip": (_links,),
    "header-corrupted": (_links,),
    "credit-corrupted": (_credits, _counters("bad-credit"), _events("credit")),
    "credit-lost": (_credits, _events("credit", "pressure")),
    "wrap-unhandled": (_credits, _links, _events("credit")),
    "credit-start-too-large": (_credits,),
    "clock-drift": (_links, _counters("idles-inserted", "idles-removed")),
    "credit-too-coarse": (_credits, _events("credit", "pressure")),
    "credit-too-optimistic": (_credits, _links, _events("credit")),
    "header-miscounted": (_credits, _words, _counters("bad-header")),
    "split-retry-mishandled": (_links, _events("desc")),
    "interrupt-storm": (_events("irq", "note"),),
    "interrupt-lost": (_events("irq", "note"),),
    "short-transfers": (_links,),
}


@cache
def not_asked(card: ElaboratedCard) -> dict[str, str]:
    """Return the diagnoses that a card of map 1 gives no ground for, each with what is missing."""
    return dict(_missing(roles_of(card)))


def _missing(roles: Roles) -> Iterator[tuple[str, str]]:
    for name, needs in NEEDS.items():
        lacks = [what for need in needs if (what := need(roles))]
        if lacks:
            yield name, f"{name}: the card has not {'; '.join(lacks)}"
