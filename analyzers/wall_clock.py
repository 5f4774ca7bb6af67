"""When the time 0 of a capture was by a wall clock, and how far off that may be.

Packets are dated by the clock of the machine that captured them. A trace memory counts cycles: its freeze is what a
wall clock has seen, between the arming and the look that found it frozen (`freezeframe.capture.folder.history`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

_SECOND_NS = 10**9
_MS_NS = 10**6  # moments have milliseconds, or whole seconds


@dataclass(frozen=True, slots=True)
class WallClock:
    """Time 0 of a source: nanoseconds since 1970 UTC, right to ``unc_ns`` by the clock of the machine that said it."""

    epoch_ns: int
    unc_ns: int


def wall_clock_of(history: Sequence[Mapping[str, Any]], frozen_ps: int | None) -> WallClock | None:
    """Return the wall clock of a recording; None where its freeze cannot be bounded from both sides.

    Args:
        history: of its manifest.
        frozen_ps: the time of the first freeze, by the recording's own zero.
    """
    acts = {str(each.get("what")): each for each in history}
    frozen, armed = acts.get("frozen", {}), acts.get("armed", {})
    if frozen_ps is None:
        return None
    asked, seen = _ns(frozen.get("when")), _ns(frozen.get("seen"))
    ran = _ns(frozen.get("after"))
    first: int | None
    if asked is not None:
        first = asked - _SECOND_NS if ran is None else max(ran, asked - _SECOND_NS)
    else:
        first = _ns(armed.get("when")) if ran is None else ran
    last = asked if seen is None else seen
    if first is None or last is None:
        return None
    last += _MS_NS if seen is not None and "." in str(frozen["seen"]) else _SECOND_NS
    if last < first:
        return None
    return WallClock((first + last) // 2 - frozen_ps // 1000, (last - first + 1) // 2)


def _ns(moment: Any) -> int | None:
    if not isinstance(moment, str):
        return None
    try:
        return round(datetime.fromisoformat(moment).timestamp() * 1000) * _MS_NS
    except ValueError:
        return None
