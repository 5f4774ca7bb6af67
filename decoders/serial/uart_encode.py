"""The encoder beside the UART decoder: characters to edges, for round trips and simulated lines.

Source: the asynchronous frame of ITU-T V.4 and TIA-232.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from freezeframe.capture.files.edges import Edges

_PARITY_BITS = {"none": (), "zero": (0,), "one": (1,)}


def encode_characters(
    characters: Iterable[int],
    *,
    samplerate_hz: int,
    baud: int,
    bits: int = 8,
    parity: str = "none",
    stop_halves: int = 2,
    idle_bits: int = 2,
    invert: bool = False,
    name: str = "TX",
) -> Edges:
    """Return the edges of a line that carries the characters, least significant bit first.

    Args:
        parity: ``none``, ``odd``, ``even``, ``zero`` or ``one``.
        stop_halves: length of the stop bit in half bits.
        idle_bits: bits of idle line before, between and after characters.
    Raises:
        ValueError: a character does not fit ``bits``, or there is no such parity.
    """
    # Levels and their lengths in half bits.
    line: list[tuple[int, int]] = [(1, 2 * idle_bits)]
    for character in characters:
        if not 0 <= character < 1 << bits:
            raise ValueError(f"character {character} does not fit {bits} bits")
        data = [character >> bit & 1 for bit in range(bits)]
        line += [(level, 2) for level in (0, *data, *_parity_bits(parity, sum(data)))]
        line += [(1, stop_halves), (1, 2 * idle_bits)]
    levels = np.array([level for level, _ in line], dtype=np.uint64) ^ np.uint64(invert)
    ends = np.cumsum([halves for _, halves in line], dtype=np.int64)
    # From the start each time, so that rounding does not add up.
    places = np.concatenate(([0], ends)) * samplerate_hz // (2 * baud)
    keep = np.concatenate(([True], levels[1:] != levels[:-1]))
    return Edges(
        places[:-1][keep], levels[keep], (name,), samplerate_hz, 0, max(1, int(places[-1]))
    )


def _parity_bits(parity: str, ones: int) -> tuple[int, ...]:
    if parity == "even":
        return (ones & 1,)
    if parity == "odd":
        return (1 - (ones & 1),)
    if parity not in _PARITY_BITS:
        raise ValueError(f"there is no parity {parity!r}")
    return _PARITY_BITS[parity]
