"""The loops over the records of a chunk of a pcap or pcapng file: where each packet lies, how long it is, and when.

Source: draft-ietf-opsawg-pcap, 5; draft-ietf-opsawg-pcapng, 3, 4.
"""

from __future__ import annotations

import numpy as np
from numba import njit

MORE, FULL, HEADER, INTERFACE, DAMAGED, UNKNOWN_INTERFACE, SKIP = range(7)
"""Why a scan stopped: the rest of the record is not in the chunk; the block of packets is full; a section or an
interface begins; a length that cannot be; a packet of an interface that was not described; a block without packets
that is larger than a chunk."""

LARGEST_B = 1 << 18  # of a packet, as in libpcap (MAXIMUM_SNAPLEN)
_NS_PER_S, _PS_PER_NS = 1_000_000_000, 1000
_MOST_S = 9_000_000  # a time in ps must fit an int64: 104 days, beyond which it stands still
_MOST_NS = _MOST_S * _NS_PER_S
_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE, _ENHANCED = 0x0A0D0D0A, 1, 2, 3, 6
_FLAGS = 2  # option of an enhanced packet block

# Columns of what a scan of pcapng knows of each interface.
LINKTYPE, SNAP_B, RESOLUTION, OFFSET_S = range(4)
INTERFACE_COLUMNS = 4
KNOWN, EPOCH_NS, LAST_PS = range(3)


@njit(cache=True, nogil=True)
def _u16(buffer, at, big):  # type: ignore[no-untyped-def]
    a = np.uint64(at)
    low, high = np.int64(buffer[a]), np.int64(buffer[a + np.uint64(1)])
    return low << 8 | high if big else high << 8 | low


@njit(cache=True, nogil=True)
def _u32(buffer, at, big):  # type: ignore[no-untyped-def]
    first, second = _u16(buffer, at, big), _u16(buffer, at + 2, big)
    return first << 16 | second if big else second << 16 | first


@njit(cache=True, nogil=True)
def _is_header(second, wire_B):  # type: ignore[no-untyped-def]
    """Return whether a record without bytes is the header of another pcap file: a magic number, zone and accuracy 0."""
    return wire_B == 0 and second in (0xA1B2C3D4, 0xA1B23C4D, 0xD4C3B2A1, 0x4D3CB2A1)


@njit(cache=True, nogil=True)
def scan_pcap(buffer, at, end, big, nano, clock, out):  # type: ignore[no-untyped-def]
    """Write offset, length, wire_B and t_ps of the records in ``[at, end)`` to ``out``, ``(4, n)``.

    Args:
        clock: `EPOCH_NS`, the time that is 0, taken from the first packet where it is not `KNOWN` yet, and `LAST_PS`.
    Returns:
        How many packets, where the scan stopped and why.
    """
    count = 0
    while at + 16 <= end:
        if count == out.shape[1]:
            return count, at, FULL
        size = _u32(buffer, at + 8, big)
        if size > LARGEST_B:
            return count, at, DAMAGED
        if size == 0 and _is_header(_u32(buffer, at, big), _u32(buffer, at + 12, big)):
            return count, at, HEADER
        if at + 16 + size > end:
            break
        fraction = _u32(buffer, at + 4, big)
        t_ns = _u32(buffer, at, big) * _NS_PER_S + (fraction if nano else fraction * 1000)
        if not clock[KNOWN]:
            clock[KNOWN], clock[EPOCH_NS] = 1, t_ns
        out[0, count] = at + 16
        out[1, count] = size
        out[2, count] = max(size, _u32(buffer, at + 12, big))
        out[3, count] = min(max(t_ns - clock[EPOCH_NS], -_MOST_NS), _MOST_NS) * _PS_PER_NS
        count += 1
        at += 16 + size
    return count, at, MORE


@njit(cache=True, nogil=True)
def _time(high, low, resolution, offset_s):  # type: ignore[no-untyped-def]
    """Return the time in whole seconds and picoseconds; the resolution is that of ``if_tsresol``."""
    ticks = np.uint64(high) << np.uint64(32) | np.uint64(low)
    if resolution == 6:
        second = ticks // np.uint64(1_000_000)
        part = (ticks - second * np.uint64(1_000_000)) * np.uint64(1_000_000)
    elif resolution == 9:
        second = ticks // np.uint64(1_000_000_000)
        part = (ticks - second * np.uint64(1_000_000_000)) * np.uint64(1000)
    elif resolution & 0x80:
        bits = np.uint64(resolution & 0x7F)
        second = ticks >> bits if bits < 64 else np.uint64(0)
        part = ticks - (second << bits) if bits < 64 else ticks
        if bits > 43:  # what is left is finer than a picosecond
            part = part >> min(bits - np.uint64(43), np.uint64(63))
            bits = np.uint64(43)
        micro = part * np.uint64(1_000_000)
        mask = (np.uint64(1) << bits) - np.uint64(1)
        part = (micro >> bits) * np.uint64(1_000_000) + (
            (micro & mask) * np.uint64(1_000_000) >> bits
        )
    else:
        second, part = np.uint64(0), np.uint64(0)
        if resolution < 20:
            unit = np.uint64(1)
            for _ in range(resolution):
                unit *= np.uint64(10)
            second = ticks // unit
            part = ticks - second * unit
        for _ in range(resolution, 12):
            part *= np.uint64(10)
        for _ in range(12, resolution):
            part //= np.uint64(10)
    return np.int64(second) + offset_s, np.int64(part)


@njit(cache=True, nogil=True)
def _packet_flags(buffer, at, end, big):  # type: ignore[no-untyped-def]
    while at + 4 <= end:
        kind, size = _u16(buffer, at, big), _u16(buffer, at + 2, big)
        if kind == _FLAGS and size == 4 and at + 8 <= end:
            return _u32(buffer, at + 4, big)
        if kind == 0:
            break
        at += 4 + (size + 3 & ~3)
    return 0


@njit(cache=True, nogil=True)
def scan_pcapng(buffer, at, end, big, clock, interfaces, base, out):  # type: ignore[no-untyped-def]
    """As `scan_pcap`, for blocks; ``out`` is ``(6, n)``, with interface and flags.

    Args:
        interfaces: ``(k, 4)``: of all sections; those of this section begin at ``base``.
    """
    count = 0
    while at + 12 <= end:
        if count == out.shape[1]:
            return count, at, FULL
        kind, total = _u32(buffer, at, big), _u32(buffer, at + 4, big)
        if kind == _SECTION:
            return count, at, HEADER
        if total < 12 or total & 3:
            return count, at, DAMAGED
        holds_packet = kind in (_ENHANCED, _SIMPLE, _OLD_PACKET)
        if holds_packet and total > 2 * LARGEST_B:
            return count, at, DAMAGED
        if at + total > end:
            if not holds_packet and kind != _INTERFACE and total > LARGEST_B:
                return count, at, SKIP
            break
        if _u32(buffer, at + total - 4, big) != total:
            return count, at, DAMAGED
        if kind == _INTERFACE:
            return count, at, INTERFACE
        if not holds_packet:
            at += total
            continue
        head = 12 if kind == _SIMPLE else 28
        if total < head + 4:
            return count, at, DAMAGED
        place = base
        if kind == _ENHANCED:
            place += _u32(buffer, at + 8, big)
        elif kind == _OLD_PACKET:
            place += _u16(buffer, at + 8, big)
        if place >= interfaces.shape[0]:
            return count, at, UNKNOWN_INTERFACE
        flags, t_ps = np.int64(0), clock[LAST_PS]
        if kind == _SIMPLE:
            wire = _u32(buffer, at + 8, big)
            snap = interfaces[place, SNAP_B]
            size = min(wire, snap) if snap > 0 else wire
            size = min(size, total - 16)  # it has no time: that of the packet before
        else:
            size, wire = _u32(buffer, at + 20, big), _u32(buffer, at + 24, big)
            if size > total - 32 or size > LARGEST_B:
                return count, at, DAMAGED
            second, part_ps = _time(
                _u32(buffer, at + 12, big),
                _u32(buffer, at + 16, big),
                interfaces[place, RESOLUTION],
                interfaces[place, OFFSET_S],
            )
            if not clock[KNOWN]:
                clock[KNOWN] = 1
                clock[EPOCH_NS] = second * _NS_PER_S + part_ps // _PS_PER_NS
            whole_s = min(max(second - clock[EPOCH_NS] // _NS_PER_S, -_MOST_S), _MOST_S)
            begun_ps = clock[EPOCH_NS] % _NS_PER_S * _PS_PER_NS
            t_ps = whole_s * 1_000_000_000_000 + part_ps - begun_ps
            clock[LAST_PS] = t_ps
            data_end = at + head + (size + 3 & ~3)
            if data_end + 4 < at + total:
                flags = _packet_flags(buffer, data_end, at + total - 4, big)
        if size > LARGEST_B:
            return count, at, DAMAGED
        out[0, count] = at + head
        out[1, count] = size
        out[2, count] = max(size, wire)
        out[3, count] = t_ps
        out[4, count] = place
        out[5, count] = flags
        count += 1
        at += total
    return count, at, MORE
