"""A descriptor: what a host, or the card itself, asks the transmit DMA engine to send."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from freezeframe.emulator.memory import Words


@dataclass(slots=True)
class Descriptor:
    """A message to send. ``words`` stands in for host memory: the payload that the bus will deliver.

    Attributes:
        from_host: fetched over the bus; else (pattern, injected) the words are made in the card.
        raw: an injected packet, sent as it stands.
    """

    type: int
    flags: int
    flow: int
    source: int
    dest: int
    words: Words
    seq: int = 0
    from_host: bool = True
    raw: Sequence[int] | None = None
