"""Quirks: how an end of ours fails to do what the RFCs ask of whoever receives. What it sends is broken by `faults`.

They are for testing those who test: each makes a copy of the stack that one requirement of `conform` must find out.
"""

from __future__ import annotations

from dataclasses import dataclass

QUIRKS = {
    "no-reply": "a Request is not answered",
    "few-private-octets": "an MPA frame with more than 100 octets of private data is refused",
    "reserved-bits": "an MPA frame with reserved bits set is refused",
    "frame-at-once": "an MPA frame that does not come in one piece is refused",
    "no-markers": "markers are not sent, though they are asked for",
    "always-markers": "markers are sent, though they are not asked for",
    "no-crc-sent": "the CRC of what is sent is 0",
    "no-crc-checked": "the CRC of what comes is not looked at",
    "terminate-without-header": "a Terminate does not tell the segment that was wrong",
    "terminate-without-read": "a Terminate does not tell the Read Request that was refused",
    "no-terminate": "an error ends the connection without a Terminate",
    "terminate-answered": "a Terminate is answered by a Terminate",
    "open-after-terminate": "the connection is not ended after a Terminate of one's own",
    "open-after-fin": "the connection is not ended where the peer ends its side",
}
"""What each is, by its name."""


@dataclass(frozen=True, slots=True)
class Quirks:
    """Attributes:
    names: of `QUIRKS`.
    accepts: rules of the startup (`decoders.iwarp.rules`) whose breach is taken for right.
    tolerates: the error (layer, type, code) that is passed over in silence, what broke the rule with it.
    """

    names: frozenset[str] = frozenset()
    accepts: frozenset[str] = frozenset()
    tolerates: tuple[int, int, int] | None = None

    def __post_init__(self) -> None:
        unknown = sorted(self.names - QUIRKS.keys())
        if unknown:
            raise ValueError(f"no quirk {unknown[0]!r}; there are {', '.join(QUIRKS)}")

    def __contains__(self, name: object) -> bool:
        return name in self.names


NONE = Quirks()
