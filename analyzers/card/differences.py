"""What happened to one packet between two taps: every general name that its bytes allow.

Each answer accounts for all bytes of both packets; more than one means that the bytes do not decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.card.names import (
    BEAT_DUPLICATED,
    BEAT_OMITTED,
    BITS_ALTERED,
    BYTES_ROTATED,
    PACKET_CUT,
    PACKETS_JOINED,
)

Bytes = npt.NDArray[np.uint8]

_CERTAIN_B = 4  # bytes that moved together: fewer may have been altered so by chance
_KIN_B = 16  # so many equal bytes at least, and half of all, or two packets are not one


@dataclass(frozen=True, slots=True)
class Difference:
    """A name, the beat at which it shows (of the packet at the first tap), and what is seen.

    ``bits``: how many differ, where the lengths are equal.
    """

    name: str
    beat: int
    text: str
    lanes: tuple[int, ...] = ()
    bits: int = 0
    width: int = 1


def differences(before: bytes, after: bytes, widths: tuple[int, ...]) -> list[Difference]:
    """Return what can make ``after`` of ``before``; nothing where no general name does.

    Args:
        widths: bytes of a beat at the taps; a beat may have been lost in either's units.
    """
    if len(before) == len(after):
        return _altered(before, after, widths)
    found: dict[str, Difference] = {}
    for width in dict.fromkeys(widths):
        shorter = len(after) < len(before)
        for each in (_omitted if shorter else _duplicated)(before, after, width):
            text = each.text if width == widths[0] else f"{each.text} (in beats of {width} B)"
            found.setdefault(
                each.name, replace(each, beat=each.beat * width // widths[0], text=text)
            )
    return list(found.values())


def joined(
    first: bytes, second: bytes, *, after: bytes, widths: tuple[int, ...]
) -> Difference | None:
    """Return how one packet came of two: their boundary lost, or the last beat with it.

    Where the stream says only at a packet's end which bytes are on, a beat that lost its end has all of them on.
    """
    if not after.endswith(second):
        return None
    last = (len(first) - 1) // widths[0]
    kept = len(after) - len(second)
    filler = kept - len(first)
    fills = filler == 0 or any(0 < filler < width and kept % width == 0 for width in widths)
    if fills and after.startswith(first):
        off = f", with {filler} B between them that were off" if filler else ""
        text = f"the two packets of {len(first)} and {len(second)} B came out as one of {len(after)} B{off}"
        return Difference(PACKETS_JOINED, last, text)
    if first.startswith(after[:kept]) and any(kept == _last_beat(first, width) for width in widths):
        text = "the last beat of the packet, with its end, is missing; the next packet follows in its place"
        return Difference(BEAT_OMITTED, kept // widths[0], text)
    return None


def split(before: bytes, after: tuple[bytes, bytes], widths: tuple[int, ...]) -> Difference | None:
    """Return how two packets came of one: an end in its middle, or its last beat twice."""
    first, second = after
    if first + second == before:
        text = f"the packet of {len(before)} B came out as {len(first)} and {len(second)} B"
        return Difference(PACKET_CUT, len(first) // widths[0], text)
    if first == before and any(second == before[_last_beat(before, w) :] for w in widths):
        text = f"the last beat, {len(second)} B, came out twice: the second time as a packet of its own"
        return Difference(BEAT_DUPLICATED, (len(before) - len(second)) // widths[0], text)
    return None


def _last_beat(packet: bytes, width: int) -> int:
    """Return where the last beat of a packet begins."""
    return max(0, len(packet) - 1) // width * width


def _altered(before: bytes, after: bytes, widths: tuple[int, ...]) -> list[Difference]:
    a, b = np.frombuffer(before, np.uint8), np.frombuffer(after, np.uint8)
    wrong = np.flatnonzero(a != b)
    if not len(wrong):
        return []
    found = []
    moved, moved_B = next(
        (one for width in dict.fromkeys(widths) if (one := _lanes_moved(a, b, width))[1]), (None, 0)
    )
    if moved is not None:
        moved = replace(moved, beat=moved.beat * moved.width // widths[0])
        found.append(moved)
        if moved_B >= _CERTAIN_B:
            return found
    if 2 * (len(a) - len(wrong)) >= len(a) and len(a) - len(wrong) >= _KIN_B:
        bits = int(np.bitwise_count(a[wrong] ^ b[wrong]).sum())
        beats, span = np.unique(wrong // widths[0]), math.lcm(*widths)
        where = f"beat {beats[0]}" if len(beats) == 1 else f"{len(beats)} beats from {beats[0]} on"
        text = f"{bits} bit{'s' * (bits > 1)} in {len(wrong)} B of {where} differ, from byte {wrong[0]} on"
        lanes = tuple(np.unique(wrong % span).tolist())
        found.append(Difference(BITS_ALTERED, int(beats[0]), text, lanes, bits, span))
    return found


def _lanes_moved(a: Bytes, b: Bytes, width: int) -> tuple[Difference | None, int]:
    """Return that bytes changed places, the same ones in every beat that differs, and how many bytes did."""
    whole = len(a) // width * width
    if width < 2 or not whole:
        return None, 0
    before, after = a[:whole].reshape(-1, width), b[:whole].reshape(-1, width)
    rows = np.flatnonzero((before != after).any(axis=1))
    if not len(rows):
        return None, 0
    before, after = before[rows[0] :], after[rows[0] :]
    stop = rows[-1] - rows[0] + 1
    before, after = before[:stop], after[:stop]
    lanes = np.flatnonzero((before != after).any(axis=0))
    source: dict[int, int] = {}
    for lane in lanes.tolist():
        fits = [
            other
            for other in lanes.tolist()
            if other != lane and (after[:, lane] == before[:, other]).all()
        ]
        if not fits:
            return None, 0
        source[lane] = (
            fits[0]
            if len(fits) == 1
            else next((f for f in fits if f not in source.values()), fits[0])
        )
    if sorted(source.values()) != lanes.tolist():
        return None, 0
    changed = int((before != after).sum())
    order = ", ".join(f"{lane} from {other}" for lane, other in list(source.items())[:8])
    text = (
        f"bytes changed places in {len(before)} beats of {width} B from {rows[0]} on: lane {order}"
    )
    return Difference(
        BYTES_ROTATED, int(rows[0]), text, tuple(source.values()), width=width
    ), changed


def _common(a: bytes, b: bytes) -> int:
    least = min(len(a), len(b))
    same = np.frombuffer(a[:least], np.uint8) == np.frombuffer(b[:least], np.uint8)
    wrong = np.flatnonzero(~same)
    return int(wrong[0]) if len(wrong) else least


def _omitted(before: bytes, after: bytes, width: int) -> list[Difference]:
    gone = len(before) - len(after)
    prefix, suffix = _common(before, after), _common(before[::-1], after[::-1])
    found = []
    if prefix == len(after) and len(after) % width == 0 and after:
        text = f"it ends {gone:,} B early, behind beat {len(after) // width - 1}"
        found.append(Difference(PACKET_CUT, len(after) // width, text))
    if prefix + suffix >= len(after) and gone % width == 0:
        first = -(-(len(after) - suffix) // width)
        last = min(prefix, len(before) - gone - 1) // width
        if first <= last and len(after) > 0:
            count = gone // width
            what = f"beat {first}" if count == 1 else f"{count} beats from {first} on"
            place = "" if first == last else f" (or any up to {last}: their bytes are alike)"
            text = f"{what} of the packet{place} did not come out; the others did"
            found.append(Difference(BEAT_OMITTED, first, text))
    return found


def _duplicated(before: bytes, after: bytes, width: int) -> list[Difference]:
    more = len(after) - len(before)
    if more != width:
        return []
    prefix, suffix = _common(before, after), _common(before[::-1], after[::-1])
    if prefix + suffix < len(before):
        return []
    # The second copy stands at a beat from which on what follows is the packet's own rest.
    first = -(-(len(before) - suffix) // width)
    for beat in range(max(1, first), prefix // width + 1):
        at = beat * width
        if after[at : at + width] == after[at - width : at]:
            return [
                Difference(
                    BEAT_DUPLICATED, beat - 1, f"beat {beat - 1} of the packet came out twice"
                )
            ]
    return []
