"""MII and RGMII drawn sample by sample from the standards' own figures; shares no code with a decoder.

Source: IEEE 802.3-2018, 3.2.9 (FCS), 22.2.2 and 22.3 (MII), RGMII v2.0, 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from freezeframe.capture.files.edges import EdgeReducer, Edges


class Symbol(NamedTuple):
    """What is on the lines for one clock: data, enable, error; MII has 4 bits of data, RGMII 8."""

    data: int
    enable: int = 1
    error: int = 0
    collision: int = 0


IDLE = Symbol(0, 0)


def fcs(frame: bytes) -> bytes:
    """Return the check sequence in the order of sending: 3.2.9 a to f, bit by bit."""
    register = 0xFFFFFFFF  # a: the first 32 bits are complemented
    for octet in frame:
        for place in range(8):
            top = register >> 31 ^ octet >> place & 1
            register = register << 1 & 0xFFFFFFFF ^ 0x04C11DB7 * top
    register ^= 0xFFFFFFFF
    bits = [register >> 31 - n & 1 for n in range(32)]  # x**31 is sent first
    return bytes(sum(bits[8 * n + place] << place for place in range(8)) for n in range(4))


def nibbles(frame: bytes, fives: int = 15, end: bytes | None = None) -> list[Symbol]:
    """Return a frame with preamble, delimiter and FCS as MII sends it, lower nibbles first."""
    whole = frame + (fcs(frame) if end is None else end)
    sent = [5] * fives + [0xD]
    for octet in whole:
        sent += [octet & 15, octet >> 4]
    return [Symbol(nibble) for nibble in sent]


def octets(frame: bytes, preamble: int = 7, end: bytes | None = None) -> list[Symbol]:
    """Return the same as octets, for RGMII at 1000 Mb/s."""
    whole = frame + (fcs(frame) if end is None else end)
    return [Symbol(octet) for octet in bytes([0x55] * preamble + [0xD5]) + whole]


def mii_rx(symbols: Sequence[Symbol], period: int = 4) -> list[int]:
    """Draw the receive side: data change at the falling edge, half a period before they count.

    Bits of a sample: clock, four data, valid, error; as of `mii_tx`.
    """
    samples = []
    for symbol in symbols:
        level = _level(symbol)
        samples += [level] * (period // 2) + [level | 1] * (period - period // 2)
    return samples


def mii_tx(symbols: Sequence[Symbol], period: int = 4) -> list[int]:
    """Draw the transmit side: data change in the very sample in which the clock rises (22.3.1: 0 to
    25 ns after it), and count at the next rising edge."""
    samples: list[int] = []
    for now, after in zip(symbols, [*symbols[1:], IDLE], strict=True):
        samples += [_level(now)] * (period // 2) + [_level(after) | 1] * (period - period // 2)
    return samples


def rgmii(
    symbols: Sequence[Symbol], half: int = 4, *, aligned: bool = False, ddr: bool = True
) -> list[int]:
    """Draw one side of RGMII; a symbol takes two halves of the clock.

    Bits of a sample: clock, four data, control. The lower nibble and the enable come with the rising
    edge, the upper nibble and enable xor error with the falling one. Without ``ddr`` (10 and 100
    Mb/s) both edges repeat the nibble. The clock moves half a half later than the data, or with
    them when ``aligned``.
    """
    levels = []
    for symbol in symbols:
        upper = symbol.data >> 4 if ddr else symbol.data & 15
        levels.append((symbol.data & 15) << 1 | symbol.enable << 5)
        levels.append(upper << 1 | (symbol.enable ^ symbol.error) << 5)
    data = np.repeat(np.array(levels), half)
    shift = 0 if aligned else half // 2
    clock = (np.arange(len(data)) - shift) // half % 2 == 0
    return [int(level) for level in data | clock]


def edges_of(samples: Sequence[int], channels: Sequence[str], samplerate_hz: int) -> Edges:
    """Return the edges of samples whose bit i is channel i."""
    raw = np.array(samples, dtype="<u2").tobytes()
    sample, value = EdgeReducer(2, list(range(len(channels)))).feed(raw)
    return Edges(sample, value, tuple(channels), samplerate_hz, 0, len(samples))


def _level(symbol: Symbol) -> int:
    return (symbol.data & 15) << 1 | symbol.enable << 5 | symbol.error << 6 | symbol.collision << 7
