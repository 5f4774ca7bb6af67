"""Faults of the bridge: what strikes, how, and once or again and again; nothing of it stands in a capture.

Of the paper's own defect ("control flow confusions when response packets have to be handled", section IV.B) the paper
says no more: how it goes wrong here is ours.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from freezeframe.decoders.sci import layout

_BODY_B = max(layout.BODY_B.values())


class SciFault:
    """No fault; the others override what they do otherwise."""

    name = "none"
    refused_page = ""
    """Which table lacks a page that the host writes to: ``down``, ``up``, or none."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.struck: list[str] = []
        """What was done, a line each, for the truth."""

    def on_ring(self, data: bytes) -> bytes | None:
        """Return what becomes of a packet between BLINK and BLINK; None: it is lost."""
        return data

    def response_id(self, identity: int, awaited: Mapping[int, int]) -> int:
        """Return which transaction a response is taken to close."""
        return identity

    def buffers_freed(self) -> int:
        """Return how many incoming buffers a write gives back."""
        return 1


class ResponseConfused(SciFault):
    """A response that comes while others are awaited closes another one's transaction: the known `nwrite` defect."""

    name = "nwrite-response-confused"

    def response_id(self, identity: int, awaited: Mapping[int, int]) -> int:
        others = [one for one in awaited if one != identity]
        if not others or self.chance.random() > 0.2:
            return identity
        other = self.chance.choice(others)
        self.struck.append(f"the response of transaction {identity} closed {other}")
        return other


class ResponseLost(SciFault):
    """The ring loses a response now and then."""

    name = "response-lost"

    def on_ring(self, data: bytes) -> bytes | None:
        if _is_response(data) and self.chance.random() < 0.1:
            self.struck.append(
                f"lost: the response of transaction {layout.value_of(data, 'transaction')}"
            )
            return None
        return data


class PacketDamaged(SciFault):
    """A bit of a request's body flips on the ring."""

    name = "packet-damaged"

    def on_ring(self, data: bytes) -> bytes | None:
        if len(data) == layout.LEAST_B or self.chance.random() > 0.05:
            return data
        at = layout.BODY_AT + self.chance.randrange(_BODY_B)
        bit = self.chance.randrange(8)
        self.struck.append(
            f"transaction {layout.value_of(data, 'transaction')}: bit {bit} of byte {at}"
        )
        return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


class BuffersLeak(SciFault):
    """An incoming buffer is not given back now and then, until every packet is refused."""

    name = "incoming-buffers-leak"

    def buffers_freed(self) -> int:
        if self.chance.random() > 0.9:
            return 1
        self.struck.append("an incoming buffer was not given back")
        return 0


class NotExported(SciFault):
    """The host writes to a page that the receiving side does not export."""

    name = "page-not-exported"
    refused_page = "up"


class NotImported(SciFault):
    """The host writes to a page that is not imported: no packet leaves."""

    name = "page-not-imported"
    refused_page = "down"


class _Near(SciFault):
    """What a fault does at the node whose writes it befalls."""

    def __init__(self, whole: SciFault) -> None:
        super().__init__(whole.chance)
        self._whole, self.struck, self.refused_page = whole, whole.struck, whole.refused_page

    def on_ring(self, data: bytes) -> bytes | None:
        return data if _is_response(data) else self._whole.on_ring(data)

    def response_id(self, identity: int, awaited: Mapping[int, int]) -> int:
        return self._whole.response_id(identity, awaited)


class _Far(SciFault):
    """What it does at the node that takes them and answers."""

    def __init__(self, whole: SciFault) -> None:
        super().__init__(whole.chance)
        self._whole, self.struck = whole, whole.struck

    def on_ring(self, data: bytes) -> bytes | None:
        return self._whole.on_ring(data) if _is_response(data) else data

    def buffers_freed(self) -> int:
        return self._whole.buffers_freed()


def _is_response(data: bytes) -> bool:
    return layout.value_of(data, "queue") == layout.QUEUES["response"]


def at_both_ends(fault: SciFault) -> tuple[SciFault, SciFault]:
    """Return a fault that befalls the writes of one node alone: what it does there, and at the other node."""
    return _Near(fault), _Far(fault)


FAULTS = {
    one.name: one
    for one in (SciFault, ResponseConfused, ResponseLost, PacketDamaged, BuffersLeak, NotExported, NotImported)
}  # fmt: skip
