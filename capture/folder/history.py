"""What is known of how a capture came about: who armed, froze and pulled, when, where; and what is not known."""

from __future__ import annotations

import getpass
import socket
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from freezeframe.capture.host_clock import clock_text, host_clock

Act = dict[str, Any]


def act(what: str, when: datetime | None = None, **known: Any) -> Act:
    """Return an entry of a capture's history: what was done by this program now, by whom and where,
    and what the host says of the clock that ``when`` is by (`host_clock`).

    What is not known is None in ``known`` and said as null.
    """
    moment = (when or datetime.now(UTC)).isoformat(timespec="seconds")
    try:
        who: str | None = getpass.getuser()
    except (KeyError, OSError):
        who = None  # a container without an entry for the user
    said = {"what": what, "when": moment, "who": who, "where": socket.gethostname()}
    return {**said, "clock": host_clock(), **known}


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


def history_lines(history: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line each for armed, frozen and pulled, with what is known of when, who and where; none of nothing.

    A moment is by the clock of the host that said it.
    """
    acts = {str(each.get("what")): each for each in history}
    lines = [
        _told("armed", acts.get("armed", {})),
        _frozen(acts),
        _told("pulled", acts.get("pulled", {})),
    ]
    return [line for line in lines if line]


def _told(what: str, known: Mapping[str, Any]) -> str:
    if not known.get("when"):
        return ""
    by = f" by {known['who']}" if known.get("who") else ""
    where = f" on {known['where']}" if known.get("where") else ""
    told = [str(known["by"])] if known.get("by") else []
    told += filter(None, [clock_text(known.get("clock"))])
    how = f" ({'; '.join(told)})" if told else ""
    return f"{what} {known['when']}{by}{where}{how}"


def _frozen(acts: Mapping[str, Mapping[str, Any]]) -> str:
    frozen = acts.get("frozen", {})
    if frozen.get("when"):
        return _told("frozen", frozen)
    seen, after = frozen.get("seen"), frozen.get("after")
    if not seen:
        return ""
    if after:
        return f"froze between {after}, when it was last seen running, and {seen}"
    if acts.get("armed", {}).get("when"):
        return f"froze after it was armed and before {seen}, when it was found frozen"
    return f"froze before {seen}, when it was found frozen"
