"""Whether a card's description fits its traffic. Where it does not, that is the answer, and nothing else is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from zlib import crc32

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.card.claims import FEW, Claim, said_of
from freezeframe.analyzers.card.names import BAD_ON_ARRIVAL, BITS_ALTERED, BYTES_ROTATED, NO_FIT
from freezeframe.analyzers.card.places import Places
from freezeframe.analyzers.card.stretch import StretchView
from freezeframe.analyzers.contract import Says, Witness
from freezeframe.decoders.tap.checked import BAD, FCS_B, FCS_RESIDUE, GOOD, UNKNOWN, CheckedStream
from freezeframe.decoders.tap.kinds import Packet

_NEARLY_NONE = 0.1  # so few that pass are luck: the description is wrong
_TRIED = 32  # packets that are read in other ways
_PREAMBLE = bytes.fromhex("55555555555555d5")
_TAIL_B = 24  # so many equal bytes before the FCS, unlike all others: the same packet, its beginning rewritten
_NO_PACKET = "packets that pass"


def judged(end: CheckedStream) -> npt.NDArray[np.bool_]:
    """Return which packets of a tap pass or fail whatever checks its format has."""
    ethernet = end.said is not None and end.said.is_ == "ethernet"
    there = end.stream.whole | end.stream.told
    return np.asarray((end.verdict != UNKNOWN) | (there & (end.wrong == 0) & ethernet))


def holes(end: CheckedStream) -> npt.NDArray[np.int64]:
    """Return the packets with bytes off inside, at a tap whose card file says that there are none."""
    if end.tap.said.keep != "tail":
        return np.empty(0, np.int64)
    inside = int(Packet.IRREGULAR | Packet.BYTE_7)
    return np.flatnonzero((end.stream.packets.flags & inside != 0) & end.stream.whole)


def tap_does_not_fit(places: Places, end: CheckedStream) -> Claim | None:
    """Return the claim that the card file does not describe the packets of a tap."""
    off = holes(end)
    if len(off) >= min(FEW, len(end)) and len(off) > _NEARLY_NONE * len(end):
        text = (
            f'At {end.tap.name} bytes are off elsewhere than at a packet\'s end, and the card file says keep = "tail"; '
            'say keep = "any".'
        )
        seen = f"{len(off)} of {len(end)} packets have bytes that are off inside"
        return _claim(places, end, text, seen, int(off[0]), "runs of bytes from byte 0 alone")
    known = judged(end)
    count, good = int(known.sum()), int((known & (end.wrong == 0)).sum())
    other = _read_otherwise(end, count)
    if other is not None:
        what, packets = other
        text = (
            f"Of {count} packets at {end.tap.name} {good} pass the checks of format {end.tap.said.format}; {what}. "
            "The card file does not say so, and nothing else is judged by it."
        )
        seen = f"{len(packets)} packets pass when they are read so"
        claim = _claim(places, end, text, seen, packets[0], "packets that do not pass when read so")
        # A single bad frame may have been made so; one whose own CRC ends it, where none is said to, may not.
        present = end.said is not None and end.said.fcs == "present"
        names = (NO_FIT, BAD_ON_ARRIVAL) if count < FEW and present else ()
        return replace(claim, candidates=names)
    if count < FEW or good > _NEARLY_NONE * count:
        return None
    first = int(np.flatnonzero(known)[0])
    text = (
        f"Of {count} packets at {end.tap.name} {good} pass the checks of format {end.tap.said.format}: they are not "
        f"what the card file says. Nothing else is judged by it. The first: {said_of(int(end.wrong[first]))}."
    )
    return _claim(places, end, text, f"{count - good} of {count} packets fail", first, _NO_PACKET)


def later_tap_does_not_fit(view: StretchView) -> Claim | None:
    """Return the claim about the second tap of a stretch: its format is wrong, or the stretch changes every packet."""
    claim = tap_does_not_fit(view, view.second)
    if claim is None or len(holes(view.second)):
        return claim
    verdicts = view.first.verdict, view.second.verdict
    if any((verdicts[0][i], verdicts[1][j]) == (GOOD, BAD) for i, j in view.all_pairs):
        return claim  # the same bytes pass at one tap and not at the other: the formats differ
    return replace(claim, where=view.where, candidates=(NO_FIT, BITS_ALTERED, BYTES_ROTATED))


def path_does_not_fit(view: StretchView) -> Claim | None:
    """Return the claim that the taps of a stretch stand in another order, or that it rewrites what it carries."""
    if view.needs:
        return None
    first, second = view.where
    early = view.impossible
    if len(early) >= FEW and 2 * len(early) >= len(view.all_pairs):
        i, j = early[0]
        text = (
            f"{len(early)} of {len(view.all_pairs)} packets stand at {second} before they stand at {first}, and path "
            f"{view.stretch.path} says the other order."
        )
        rows = view.row(view.first, i, f"packet {i}"), view.row(view.second, j, f"packet {j}")
        seen = Witness(Says.FOR, "the same bytes, earlier at the second tap", rows)
        falsifier = "packets that come out after they came in"
        return Claim(NO_FIT, text, view.where, witnesses=(seen,), falsifier=falsifier)
    pairs = _rewritten(view)
    if not pairs:
        return None
    i, j = pairs[0]
    text = (
        f"{len(pairs)} packets come out of {second} with another beginning than at {first}, the same end and a good "
        "CRC: the stretch rewrites them, and the card file does not say so."
    )
    rows = view.row(view.first, i, f"packet {i}"), view.row(view.second, j, f"packet {j}")
    seen = Witness(Says.FOR, f"the last {_TAIL_B} bytes before the FCS are the same", rows)
    return Claim(NO_FIT, text, view.where, witnesses=(seen,), falsifier="packets of equal bytes")


def _claim(
    places: Places, end: CheckedStream, text: str, seen: str, packet: int, falsifier: str
) -> Claim:
    row = places.row(end, packet, f"packet {packet}")
    witness = Witness(Says.FOR, seen, (row,))
    return Claim(NO_FIT, text, (end.tap.name,), witnesses=(witness,), falsifier=falsifier)


def _read_otherwise(end: CheckedStream, count: int) -> tuple[str, list[int]] | None:
    """Return how else the frames of a tap pass, where at least half of them do not pass as they are said to be."""
    said = end.said
    if said is None or said.is_ != "ethernet":
        return None
    whole = np.flatnonzero(end.stream.whole)
    if said.fcs != "present":
        asked = whole[:_TRIED].tolist()
        right = [n for n in asked if end.size[n] > FCS_B and crc32(end.content(n)) == FCS_RESIDUE]
        if right and 2 * len(right) >= len(asked):
            return f'the last {FCS_B} bytes of each are its CRC: say fcs = "present"', right
        return None
    bad = whole[end.wrong[whole] != 0]
    if not len(bad) or 2 * len(bad) < count:
        return None
    asked = bad[:_TRIED].tolist()
    found: dict[str, list[int]] = {}
    for packet in asked:
        for what, data in _readings(end, packet):
            if len(data) > FCS_B and crc32(data) == FCS_RESIDUE:
                found.setdefault(what, []).append(packet)
                break
    best = max(found.items(), key=lambda each: len(each[1]), default=None)
    return best if best is not None and 2 * len(best[1]) >= len(asked) else None


def _readings(end: CheckedStream, packet: int) -> Iterator[tuple[str, bytes]]:
    """Yield the bytes of a frame as they would be if the card file were wrong in one thing."""
    said, data, width = end.said, end.content(packet), end.tap.stream_bytes
    if said is not None and said.preamble:
        yield "no preamble stands before them: say preamble = false", data
    elif data.startswith(_PREAMBLE):
        yield "a preamble stands before each: say preamble = true", data[8:]
    for more in range(1, width):
        yield (
            "bytes stand behind their ends that are none of theirs: keep is not recorded",
            data[:-more],
        )
    for size in (2**n for n in range(1, width.bit_length()) if len(data) % 2**n == 0):
        turned = np.frombuffer(data, np.uint8).reshape(-1, size)[:, ::-1].tobytes()
        yield f"the bytes of each {size} stand in the other order", turned
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    yield "the bits of each byte stand in the other order", np.packbits(bits).tobytes()


def _rewritten(view: StretchView) -> Sequence[tuple[int, int]]:
    """Return the packets that are the same but for their beginnings, where all that can be told apart are."""
    if view.all_pairs or view.stretch.said.fcs != "kept" or view.stretch.said.rewrites:
        return []
    ends = []
    for end in (view.first, view.second):
        tails: dict[bytes, list[int]] = {}
        for n in np.flatnonzero(end.crc == GOOD).tolist():
            data = end.content(n)
            if len(data) >= _TAIL_B + FCS_B:
                tails.setdefault(data[-_TAIL_B - FCS_B : -FCS_B], []).append(n)
        ends.append({tail: found[0] for tail, found in tails.items() if len(found) == 1})
    pairs = [(n, ends[1][tail]) for tail, n in ends[0].items() if tail in ends[1]]
    enough = len(pairs) >= FEW and 2 * len(pairs) >= min(map(len, ends))
    return pairs if enough else []
