"""The encoder beside the USB decoder: packets to edges of D+ and D-, for round trips and simulated buses.

Source: USB 2.0, 7.1.7 to 7.1.9, 8.3, 8.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from freezeframe.capture.files.edges import Edges

_PIDS = {
    "OUT": "10000111", "IN": "10010110", "SOF": "10100101", "SETUP": "10110100", "PRE": "00111100",
    "DATA0": "11000011", "DATA1": "11010010", "ACK": "01001011", "NAK": "01011010", "STALL": "01111000",
}  # fmt: skip
_SYNC = "00000001"
_CRC5, _CRC16 = "100101", "11000000000000101"
_RATES = {"low": 1_500_000, "full": 12_000_000}


def token(pid: str, address: int, endpoint: int) -> str:
    """Return the bits of OUT, IN or SETUP, in the order of sending, without sync."""
    return _with_crc(pid, _number(address, 7) + _number(endpoint, 4), _CRC5)


def frame(number: int) -> str:
    """Return the bits of a start of frame."""
    return _with_crc("SOF", _number(number, 11), _CRC5)


def data(pid: str, octets: bytes) -> str:
    """Return the bits of DATA0 or DATA1."""
    return _with_crc(pid, "".join(_number(octet, 8) for octet in octets), _CRC16)


def handshake(pid: str) -> str:
    """Return the bits of ACK, NAK or STALL, or of PRE."""
    return _PIDS[pid]


def transaction(pid: str, address: int, endpoint: int, *rest: str) -> list[str]:
    """Return the packets of a transaction, the first of which is its token."""
    return [token(pid, address, endpoint), *rest]


def encode_usb(
    sent: Iterable[str],
    *,
    samplerate_hz: int,
    speed: str = "full",
    idle_bits: int = 4,
    late: int = 0,
) -> Edges:
    """Return the edges of D+ and D-.

    Args:
        sent: bits of packets; ``reset`` for 10 us of SE0, ``keep-alive`` for two bits of it; after the bits of PRE
            the next packet has low speed and the levels of full speed.
        late: samples by which D- changes after D+.
    """
    spans: list[tuple[str, float]] = [("J", 80.0)]  # levels, and bits of this speed
    slow = 1.0
    for bits in sent:
        if bits in ("reset", "keep-alive"):
            length = 10e-6 * _RATES[speed] if bits == "reset" else 2.0
            spans += [("0", length), ("J", float(idle_bits))]
            continue
        preamble = speed == "full" and bits == _PIDS["PRE"]
        spans += [(symbol, slow) for symbol in _symbols(bits)]
        if not preamble:
            spans += [("0", 2 * slow)]
        spans += [("J", idle_bits * slow)]
        slow = 8.0 if preamble else 1.0
    spans.append(("J", 80.0))
    ends = np.cumsum([length for _, length in spans]) * samplerate_hz / _RATES[speed]
    places = np.rint(np.concatenate(([0.0], ends))).astype(np.int64)
    high = {"J": 1, "K": 2, "0": 0} if speed == "full" else {"J": 2, "K": 1, "0": 0}
    levels = np.array([high[symbol] for symbol, _ in spans], dtype=np.uint64)
    return _edges(places[:-1], levels, int(places[-1]), samplerate_hz, late)


def _edges(
    places: np.ndarray, levels: np.ndarray, end: int, samplerate_hz: int, late: int
) -> Edges:
    """Return edges of both lines, the second of them late."""
    one = np.uint64(1)
    at = np.unique(np.concatenate((places, places[1:] + late)))
    at = at[at < end]
    first = levels[np.searchsorted(places, at, side="right") - 1] & one
    second = levels[np.searchsorted(places[1:] + late, at, side="right")] & np.uint64(2)
    value = first | second
    keep = np.concatenate(([True], value[1:] != value[:-1]))
    return Edges(at[keep], value[keep], ("DP", "DM"), samplerate_hz, 0, end)


def _symbols(bits: str) -> Sequence[str]:
    """Return J and K of a packet with its sync: a 0 changes the line, and follows six ones."""
    line, ones, level = [], 0, "J"
    for bit in _SYNC + bits:
        for sent in bit + ("0" if bit == "1" and ones == 5 else ""):
            level = level if sent == "1" else "K" if level == "J" else "J"
            line.append(level)
        ones = (ones + 1) % 6 if bit == "1" else 0
    return line


def _with_crc(pid: str, bits: str, polynomial: str) -> str:
    """Return PID, bits and their CRC: what is left of a division, its register begun with ones, inverted."""
    width = len(polynomial) - 1
    register = [1] * width
    for bit in bits:
        carry = register[0] ^ int(bit)
        register = [*register[1:], 0]
        if carry:
            register = [a ^ int(b) for a, b in zip(register, polynomial[1:], strict=True)]
    return _PIDS[pid] + bits + "".join(str(1 - bit) for bit in register)


def _number(value: int, width: int) -> str:
    return f"{value:0{width}b}"[::-1]
