"""What the colours of packets mean: one role for a kind of row, in the window and in the report."""

from __future__ import annotations

from freezeframe.gui.tracks.tracks import Role

KINDS: tuple[tuple[Role, str], ...] = (
    ("a", "Write"),
    ("b", "Read"),
    ("c", "Send"),
    ("e", "Immediate"),
    ("f", "Atomic"),
    ("g", "Terminate"),
)
"""Role and first word of the operations of iWARP."""

FPDU: Role = "d"
OTHER: Role = "h"
_EVENTS: dict[str, Role] = {"warning": "warn", "note": "note"}
_TCP: dict[str, Role] = {"retransmission": "warn"}


def role_of(table: str, kind: str) -> Role:
    """Return the role of a row of ``iwarp.operations``, ``iwarp.events`` or ``tcp.events`` by its column ``kind``."""
    if table == "iwarp.operations":
        return next((role for role, name in KINDS if kind.startswith(name)), OTHER)
    return (_EVENTS if table == "iwarp.events" else _TCP).get(kind, "error")
