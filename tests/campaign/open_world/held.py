"""Where the place of an injected fault still stands in a recording: memories go on after it and write over it."""

from __future__ import annotations

from typing import Any

from freezeframe.analyzers.streams import Stream
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.card.roles import EVENT_LOG
from freezeframe.capture.folder import CaptureFolder
from freezeframe.emulator.clocks import Clock

_SEQUENCE = 1 << 16


def reached(folder: CaptureFolder, injection: dict[str, Any], bus: Clock) -> bool:
    """Tell whether the event log of the card that was struck reaches back to the moment.

    Args:
        bus: that card's clock, by which its log is dated.
    """
    events = CaptureView(folder).trace.events
    mine = events.loc[(events["source"] == f"{injection['device']}.{EVENT_LOG}").to_numpy()]
    return bool(len(mine)) and bus.edge_ps(int(mine["cycle"].iloc[0])) <= int(injection["t_ps"])


def held_at(folder: CaptureFolder, injection: dict[str, Any] | None) -> list[str] | None:
    """Return device and tap of the first memory, from the first bad tap on, that shows the packet or its absence.

    None where no memory does, so that nothing recorded can show it; the truth's own place where it names no packet.
    """
    if injection is None or injection["tap"] is None:
        return None
    place = (injection["device"], injection["tap"])
    if injection["packet"] is None:
        return list(place)
    sender, _, receiver = injection["direction"].partition("->")
    view = CaptureView(folder)
    path = view.path(sender, receiver)
    for device, tap in path[path.index(place) :]:
        stream = view.stream(device, tap)
        if stream is not None and _shows(stream, injection["packet"]):
            return [device, tap]
    return None


def _shows(stream: Stream, number: int) -> bool:
    """Tell whether a tap has a packet of this number, or others from before it and after it."""
    numbers = [p.seq for p in stream.packets if p.header_ok and p.seq is not None]
    sides = {(other - number) % _SEQUENCE < _SEQUENCE // 2 for other in numbers if other != number}
    return number in numbers or len(sides) > 1
