"""What the ends of connections are called."""

from __future__ import annotations

from freezeframe.analyzers.packets.survey import SeenConnection
from freezeframe.decoders.net.addresses import end_text


def ends_of(connection: SeenConnection) -> tuple[str, str]:
    """Return the ends of a connection: side 0 first."""
    row = connection.tcp
    return end_text(row["src"], row["src_port"]), end_text(row["dst"], row["dst_port"])


def roles_of(connection: SeenConnection) -> tuple[str, str]:
    """Return what side 0 and side 1 are called in short."""
    initiator = None if connection.iwarp is None else connection.iwarp["initiator"]
    if initiator is None:
        return "there", "back"
    return (
        ("initiator", "responder")
        if initiator == ends_of(connection)[0]
        else ("responder", "initiator")
    )


def sides_of(connection: SeenConnection) -> list[tuple[int, str]]:
    """Return both sides with what they are called, the initiator first."""
    return sorted(enumerate(roles_of(connection)), key=lambda side: side[1] == "responder")


def connection_title(connection: SeenConnection) -> str:
    """Return a heading that says who a connection's ends are."""
    ends = ends_of(connection)
    if roles_of(connection)[0] == "there":
        return f"Connection {connection.number}: there is {ends[0]} → {ends[1]}"
    return f"Connection {connection.number}: " + ", ".join(
        f"{role} {ends[side]}" for side, role in sides_of(connection)
    )
