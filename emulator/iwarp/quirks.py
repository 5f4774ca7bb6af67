"""Quirks: how an end of ours fails to do what the RFCs ask of whoever receives. What it sends is broken by `faults`.

They are for testing those who test: each makes a copy of the stack that one requirement of `conform` must find out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from freezeframe.emulator.iwarp import mpa_receive as mpa
from freezeframe.emulator.iwarp.atomic import ALL
from freezeframe.emulator.iwarp.startup import READ, SEND, WRITE

QUIRKS = {
    "no-reply": "a Request is not answered",
    "few-private-octets": "an MPA frame with more than 100 octets of private data is refused",
    "reserved-bits": "an MPA frame with reserved bits set is refused",
    "frame-at-once": "an MPA frame that does not come in one piece is refused",
    "reserved-sent": "MPA frames go out with a reserved bit set",
    "numbers-always": "an IRD or ORD that is left to the users is answered by a number",
    "no-markers": "markers are not sent, though they are asked for",
    "always-markers": "markers are sent, though they are not asked for",
    "no-crc-sent": "the CRC of what is sent is 0",
    "no-crc-checked": "the CRC of what comes is not looked at",
    "marker-reserved": "a marker with reserved bits set is refused",
    "fpdu-at-once": "an FPDU whose header comes in pieces is refused",
    "few-fpdus": "more than eight FPDUs at once are refused",
    "short-fpdus": "an FPDU with a ULPDU of more than 32,768 octets is refused",
    "ddp-reserved": "a segment with reserved bits of DDP set is refused",
    "empty-checked": "the STag of a tagged message of no octets is checked",
    "one-segment": "an untagged message in several segments is refused",
    "rdmap-reserved": "a segment with reserved bits of RDMAP set is refused",
    "rtr-send": "a Send of no octets is refused as the first FPDU, though it was agreed",
    "rtr-write": "an RDMA Write of no octets is",
    "rtr-read": "an RDMA Read of no octets is",
    "no-immediate": "immediate data is refused",
    "atomic-data": "the data of an atomic operation is taken for 0",
    "atomic-mask-0": "the mask of what is added or swapped is taken for 0",
    "atomic-mask-all": "it is taken for all ones",
    "atomic-compare-0": "the mask of what is compared is taken for 0",
    "atomic-compare-all": "it is taken for all ones",
    "atomic-identifier": "an Atomic Response has the identifier 0",
    "atomic-unaligned": "an atomic operation on a word that is not aligned is done",
    "atomic-reserved": "an Atomic Request with reserved bits set is refused",
    "reads-reversed": "of two Reads that come at once the second is answered first",
    "terminate-without-header": "a Terminate does not tell the segment that was wrong",
    "terminate-without-read": "a Terminate does not tell the Read Request that was refused",
    "no-terminate": "an error ends the connection without a Terminate",
    "terminate-answered": "a Terminate is answered by a Terminate",
    "open-after-terminate": "the connection is not ended after a Terminate of one's own",
    "open-after-fin": "the connection is not ended where the peer ends its side",
}
"""What each is, by its name."""
_STRICT = {
    "marker-reserved": mpa.STRICT_MARKERS,
    "fpdu-at-once": mpa.STRICT_PIECES,
    "few-fpdus": mpa.STRICT_MANY,
    "ddp-reserved": mpa.STRICT_DDP,
    "empty-checked": mpa.STRICT_EMPTY,
    "one-segment": mpa.STRICT_SEGMENTS,
    "rdmap-reserved": mpa.STRICT_RDMAP,
}
_RTR = {"rtr-send": SEND, "rtr-write": WRITE, "rtr-read": READ}
_ATOMIC = {
    "atomic-data": {"data": 0},
    "atomic-mask-0": {"mask": 0},
    "atomic-mask-all": {"mask": ALL},
    "atomic-compare-0": {"compare_mask": 0},
    "atomic-compare-all": {"compare_mask": ALL},
    "atomic-identifier": {"identifier": 0},
}
_NONE_OF_THEM = 8  # no RTR message, and not 0: that stands for any FPDU


@dataclass(frozen=True, slots=True)
class Quirks:
    """Attributes:
    names: of `QUIRKS`.
    accepts: rules of the startup (`decoders.iwarp.rules`) whose breach is taken for right.
    tolerates: the error (layer, type, code) that is passed over in silence, what broke the rule with it.
    says: errors, and what the Terminate says in their place.
    """

    names: frozenset[str] = frozenset()
    accepts: frozenset[str] = frozenset()
    tolerates: tuple[int, int, int] | None = None
    says: Mapping[tuple[int, int, int], tuple[int, int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = sorted(self.names - QUIRKS.keys())
        if unknown:
            raise ValueError(f"no quirk {unknown[0]!r}; there are {', '.join(QUIRKS)}")

    def __contains__(self, name: object) -> bool:
        return name in self.names

    @property
    def strict(self) -> int:
        """What the kernels refuse, as bits of `mpa_receive.STRICT`."""
        return sum(bit for name, bit in _STRICT.items() if name in self.names)

    @property
    def atomic(self) -> dict[str, int]:
        """What is changed in an Atomic Request before it is served."""
        return {k: v for name in self.names for k, v in _ATOMIC.get(name, {}).items()}

    def takes(self, rtr: int) -> int:
        """Return the RTR messages that are taken of those that were agreed."""
        return rtr & ~sum(bit for name, bit in _RTR.items() if name in self.names) | _NONE_OF_THEM


NONE = Quirks()
