"""The encoder beside the 1-Wire decoder: resets and bits to edges, for round trips and simulated buses.

Source: Maxim application notes 126 (recommended times), 187 (search).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from freezeframe.capture.files.edges import Edges

# Microseconds at regular and overdrive speed: low and high of a reset's parts, of a 0 and a 1.
_RESET = ((480, 30), (70, 3))
_PRESENCE = ((120, 340), (10, 47))
_BITS = {0: ((60, 10), (7.5, 2.5)), 1: ((6, 64), (1, 9))}


def octet_bits(octets: Iterable[int]) -> list[int]:
    """Return the bits of octets, the lowest first."""
    return [octet >> place & 1 for octet in octets for place in range(8)]


def search_bits(taken: bytes, others: Sequence[bytes] = ()) -> list[int]:
    """Return the bits of a search that finds the address ``taken`` while ``others`` are there too."""
    devices = [octet_bits(taken), *map(octet_bits, others)]
    bits: list[int] = []
    for place in range(64):
        here = [device[place] for device in devices]
        way = devices[0][place]
        # The line is low as soon as one device pulls it.
        bits += [min(here), min(1 - bit for bit in here), way]
        devices = [device for device in devices if device[place] == way]
    return bits


def encode_onewire(
    events: Iterable[str | int], *, samplerate_hz: int, idle_us: float = 100, name: str = "OWR"
) -> Edges:
    """Return the edges of a line.

    Args:
        events: bits 0 and 1; ``reset`` with an answer, ``absent`` without; ``overdrive`` and ``regular`` change
            the speed of what follows; ``pause``.
    """
    speed = 0
    spans: list[tuple[int, float]] = [(1, idle_us)]
    for event in events:
        if event in ("overdrive", "regular"):
            speed = int(event == "overdrive")
        elif event == "pause":
            spans.append((1, idle_us))
        elif isinstance(event, int):
            low, high = _BITS[event][speed]
            spans += [(0, low), (1, high)]
        else:
            (low, wait), (answer, rest) = _RESET[speed], _PRESENCE[speed]
            spans += [(0, low), (1, wait), (int(event == "absent"), answer), (1, rest)]
    spans.append((1, idle_us))
    levels = np.array([level for level, _ in spans], dtype=np.uint64)
    ends = np.cumsum([span for _, span in spans])
    places = np.rint(np.concatenate(([0.0], ends)) * samplerate_hz / 1e6).astype(np.int64)
    keep = np.concatenate(([True], levels[1:] != levels[:-1]))
    return Edges(places[:-1][keep], levels[keep], (name,), samplerate_hz, 0, int(places[-1]))
