"""A view as it is kept in a file: checked before anything of it is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from freezeframe.capture.errors import InputError
from freezeframe.gui.desktop.timeline.positions import Cursor

_MOST = 1 << 62  # times beyond it are no times


@dataclass(frozen=True, slots=True)
class ViewState:
    """Range, order, collapsed and hidden tracks, cursors and switches of a time line."""

    t0_ps: int
    t1_ps: int
    order: tuple[str, ...] = ()
    collapsed: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    cursors: tuple[Cursor, ...] = ()
    scroll: int = 0
    scale_in_view: bool = False
    snapping: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return the state as what JSON can hold."""
        return {
            "range_ps": [self.t0_ps, self.t1_ps],
            "order": list(self.order),
            "collapsed": list(self.collapsed),
            "hidden": list(self.hidden),
            "cursors": [{"name": c.name, "t_ps": c.t_ps} for c in self.cursors],
            "scroll": self.scroll,
            "scale_in_view": self.scale_in_view,
            "snapping": self.snapping,
        }

    @classmethod
    def from_json(cls, data: object) -> ViewState:
        """Return the state that `to_json` gave. Raises: InputError naming the field that is wrong."""
        if not isinstance(data, dict):
            raise InputError(f"a saved view is an object with fields, not {type(data).__name__}")
        span = data.get("range_ps")
        if not isinstance(span, list) or len(span) != 2:
            raise InputError("saved view: range_ps is not a pair of times")
        t0_ps, t1_ps = (_time(t, "range_ps") for t in span)
        if t1_ps <= t0_ps:
            raise InputError(f"saved view: range_ps ends at {t1_ps}, before it begins at {t0_ps}")
        cursors = []
        for entry in _list(data, "cursors"):
            if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
                raise InputError("saved view: a cursor without a name")
            cursors.append(Cursor(entry["name"], _time(entry.get("t_ps"), "cursors.t_ps")))
        names = [cursor.name for cursor in cursors]
        if len(set(names)) != len(names) or not all(name.strip() for name in names):
            raise InputError("saved view: the names of cursors are empty or not unique")
        return cls(
            t0_ps,
            t1_ps,
            _texts(data, "order"),
            _texts(data, "collapsed"),
            _texts(data, "hidden"),
            cursors=tuple(cursors),
            scroll=min(max(_time(data.get("scroll", 0), "scroll"), 0), 1 << 30),
            scale_in_view=data.get("scale_in_view", False) is True,
            snapping=data.get("snapping", True) is True,
        )


def _list(data: dict[Any, Any], field: str) -> list[Any]:
    found = data.get(field, [])
    if not isinstance(found, list):
        raise InputError(f"saved view: {field} is not a list")
    return found


def _texts(data: dict[Any, Any], field: str) -> tuple[str, ...]:
    found = _list(data, field)
    if not all(isinstance(text, str) for text in found):
        raise InputError(f"saved view: {field} holds something that is no text")
    return tuple(found)


def _time(value: object, field: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not -_MOST <= value <= _MOST:
        raise InputError(f"saved view: {field} is {value!r:.40}; wanted an integer below 2^62")
    return value
