"""The encoder beside the CAN decoder: frames to edges, for round trips and simulated buses.

Source: ISO 11898-1:2015, 10.4 and 10.5.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from freezeframe.capture.files.edges import Edges

_FD_LENGTHS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64)
# Polynomials with their highest power, and what the register begins with.
_CRC15, _CRC17, _CRC21 = (0xC599, 0), (0x3685B, 1 << 16), (0x302899, 1 << 20)


@dataclass(frozen=True, slots=True)
class CanFrame:
    """A frame to send: ``identifier`` has 11 bits, or 29 where ``extended``; ``fd`` is CAN FD, ``brs`` sends
    its data fast. ``ack``: a receiver answers. ``dlc`` is that of a remote frame."""

    identifier: int
    data: bytes = b""
    extended: bool = False
    remote: bool = False
    fd: bool = False
    brs: bool = False
    esi: bool = False
    ack: bool = True
    dlc: int = 0


def frame_bits(frame: CanFrame) -> list[tuple[int, str]]:
    """Return the bits of a frame from its start to its end, 0 dominant, each with its rate: ``nominal``,
    ``fast``, or ``to-fast`` and ``to-nominal`` where it changes at the sample point.

    Raises:
        ValueError: the identifier or the data do not fit the form.
    """
    head, brs_at = _head(frame)
    data = [octet >> bit & 1 for octet in frame.data for bit in range(7, -1, -1)]
    bits = head + data
    if not frame.fd:
        bits += _number(_remainder(bits, *_CRC15), 15)
        line = _stuffed(bits)[0]
        rates = ["nominal"] * len(line)
    else:
        line, places = _stuffed(bits, open_end=True)
        stuffed = len(line) - len(bits)
        gray = stuffed % 8 ^ stuffed % 8 >> 1
        count = [*_number(gray, 3), gray.bit_count() & 1]
        width, crc = (21, _CRC21) if len(frame.data) > 16 else (17, _CRC17)
        check = count + _number(_remainder(line + count, *crc), width)
        for at in range(0, len(check), 4):
            line.append(1 - line[-1])
            line += check[at : at + 4]
        rates = ["nominal"] * len(line)
        if frame.brs:
            at = places[brs_at]
            rates[at:] = ["to-fast"] + ["fast"] * (len(line) - at - 1)
    end = "to-nominal" if frame.brs else "nominal"
    tail = [(1, end), (int(not frame.ack), "nominal"), *[(1, "nominal")] * 8]
    return [*zip(line, rates, strict=True), *tail]


def encode_frames(
    frames: Iterable[CanFrame],
    *,
    samplerate_hz: int,
    nominal_bitrate: int,
    fast_bitrate: int = 0,
    idle_bits: int = 11,
    sample_point: float = 0.7,
    name: str = "CAN_RX",
) -> Edges:
    """Return the edges of a line that carries the frames, ``idle_bits`` recessive before and after each."""
    bits: list[tuple[int, str]] = []
    for frame in frames:
        bits += [(1, "nominal")] * idle_bits + frame_bits(frame)
    bits += [(1, "nominal")] * idle_bits
    return encode_bits(
        bits, samplerate_hz=samplerate_hz, nominal_bitrate=nominal_bitrate,
        fast_bitrate=fast_bitrate, sample_point=sample_point, name=name,
    )  # fmt: skip


def encode_bits(
    bits: list[tuple[int, str]],
    *,
    samplerate_hz: int,
    nominal_bitrate: int,
    fast_bitrate: int = 0,
    sample_point: float = 0.7,
    name: str = "CAN_RX",
) -> Edges:
    """Return the edges of bits as `frame_bits` gives them."""
    nominal, fast = 1 / nominal_bitrate, 1 / (fast_bitrate or nominal_bitrate)
    lengths_s = {
        "nominal": nominal,
        "fast": fast,
        "to-fast": sample_point * nominal + (1 - sample_point) * fast,
        "to-nominal": sample_point * fast + (1 - sample_point) * nominal,
    }
    levels = np.array([bit for bit, _ in bits], dtype=np.uint64)
    ends_s = np.cumsum([lengths_s[rate] for _, rate in bits])
    places = np.rint(np.concatenate(([0.0], ends_s)) * samplerate_hz).astype(np.int64)
    keep = np.concatenate(([True], levels[1:] != levels[:-1]))
    return Edges(places[:-1][keep], levels[keep], (name,), samplerate_hz, 0, int(places[-1]))


def _head(frame: CanFrame) -> tuple[list[int], int]:
    """Return the bits up to the data length, and the number of the one that switches the rate."""
    if frame.identifier >> (29 if frame.extended else 11):
        raise ValueError(f"identifier {frame.identifier:#x} does not fit")
    lengths = _FD_LENGTHS if frame.fd else _FD_LENGTHS[:9]
    if len(frame.data) not in lengths or (frame.remote and (frame.data or frame.fd)):
        raise ValueError(f"no such frame has {len(frame.data)} B of data")
    dlc = _number(frame.dlc if frame.remote else lengths.index(len(frame.data)), 4)
    form = [1, 0, int(frame.brs), int(frame.esi)] if frame.fd else [0]
    remote = int(frame.remote)
    if frame.extended:
        high, low = divmod(frame.identifier, 1 << 18)
        begin = [0, *_number(high, 11), 1, 1, *_number(low, 18), remote]
        return [*begin, *form, *([] if frame.fd else [0]), *dlc], len(begin) + 2
    begin = [0, *_number(frame.identifier, 11), remote, 0]
    return [*begin, *form, *dlc], len(begin) + 2


def _number(value: int, width: int) -> list[int]:
    return [value >> bit & 1 for bit in range(width - 1, -1, -1)]


def _remainder(bits: list[int], polynomial: int, register: int) -> int:
    """Return what is left when the bits, with as many zeros behind them, are divided."""
    width = polynomial.bit_length() - 1
    number = int("1" + "".join(map(str, bits)) + "0" * width, 2) ^ 1 << (len(bits) + width)
    number ^= register << len(bits)
    for at in range(len(bits) - 1, -1, -1):
        if number >> (at + width) & 1:
            number ^= polynomial << at
    return number


def _stuffed(bits: list[int], *, open_end: bool = False) -> tuple[list[int], list[int]]:
    """Return the bits with a stuff bit after each five that are equal, and the place of each bit.

    ``open_end``: none after the last, where a fixed stuff bit follows.
    """
    line: list[int] = []
    places: list[int] = []
    for number, bit in enumerate(bits):
        places.append(len(line))
        line.append(bit)
        ends = open_end and number == len(bits) - 1
        if not ends and len(line) >= 5 and len(set(line[-5:])) == 1:
            line.append(1 - bit)
    return line, places
