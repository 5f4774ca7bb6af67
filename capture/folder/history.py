"""What is known of how a capture came about: who armed, froze and pulled, when, where; and what is not known."""

from __future__ import annotations

import getpass
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

Act = dict[str, Any]


def act(what: str, when: datetime | None = None, **known: Any) -> Act:
    """Return an entry of a capture's history: what was done by this program now, by whom and where.

    What is not known is None in ``known`` and said as null.
    """
    moment = (when or datetime.now(UTC)).isoformat(timespec="seconds")
    try:
        who: str | None = getpass.getuser()
    except (KeyError, OSError):
        who = None  # a container without an entry for the user
    return {"what": what, "when": moment, "who": who, "where": socket.gethostname(), **known}


def unknown_act(what: str, **known: Any) -> Act:
    """Return an entry of something that was done while this program did not look."""
    return {"what": what, "when": None, "who": None, "where": None, **known}


def _moment(when: datetime | None) -> str | None:
    return None if when is None else when.isoformat(timespec="milliseconds")


def unknown_history(generations: Mapping[str, int | None]) -> list[Act]:
    """Return the history of a recording of which nothing is known but the generation of each device."""
    return [
        unknown_act("armed", generation=dict(generations)),
        {**unknown_act("frozen"), "seen": None},
        unknown_act("pulled"),
    ]


def history_of(
    generations: Mapping[str, int | None],
    frozen: datetime | None,
    source: str,
    *,
    froze: bool,
    armed: Mapping[str, Any] | None = None,
    ran: datetime | None = None,
) -> list[Act]:
    """Return the history of a pull.

    Args:
        generations: of each device.
        frozen: when all recorders were seen frozen; ``froze``: by this pull.
        source: URL of the target; what follows a ``?`` stays out of it.
        armed: what is known of the arming, as `act` gives it; it is told of a recording of that generation alone.
        ran: when the recorders were last seen running: the freeze is between that and ``seen``.
    """
    known = armed is not None and armed["generation"] == generations
    freezing = act("frozen", frozen, by="this pull") if froze else unknown_act("frozen")
    return [
        dict(armed)
        if armed is not None and known
        else unknown_act("armed", generation=dict(generations)),
        {**freezing, "after": _moment(ran), "seen": _moment(frozen)},
        act("pulled", source=source.partition("?")[0]),
    ]
