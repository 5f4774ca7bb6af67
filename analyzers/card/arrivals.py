"""What the checks at one tap say: packets that were bad before it, of forbidden length, or with a gap inside."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from freezeframe.analyzers.card.claims import (
    BAD_ON_ARRIVAL,
    GAP,
    GIANT,
    NO_FIT,
    RUNT,
    Claim,
    Says,
    Witness,
)
from freezeframe.analyzers.card.stretch import StretchView
from freezeframe.decoders.tap.checked import BAD, GOOD, UNKNOWN, CheckedStream, Wrong
from freezeframe.decoders.tap.kinds import Packet

FEW = 4  # packets from which on a format is judged
_NEARLY_NONE = 0.1  # so few that pass are luck: the description is wrong

_SAID = {
    Wrong.CRC: "its CRC is wrong",
    Wrong.USER: "the user bit at its end says that it is bad",
    Wrong.RUNT: "it is shorter than the format allows",
    Wrong.GIANT: "it is longer than the format allows",
    Wrong.CONSTANT: "a field that is constant holds another value",
    Wrong.LENGTH: "its length is not the one its header says",
    Wrong.PREAMBLE: "no preamble stands before it",
    Wrong.HEADER_CRC: "the CRC of its header is wrong",
}


def said_of(wrong: int) -> str:
    """Return the checks that a packet fails, in words."""
    return ", ".join(text for bit, text in _SAID.items() if wrong & bit)


def does_not_fit(view: StretchView, end: CheckedStream) -> Claim | None:
    """Return the claim that the description does not fit a tap's traffic, where nearly no packet passes."""
    known = end.verdict != UNKNOWN
    good = int((end.verdict == GOOD).sum())
    moved = np.flatnonzero(end.stream.packets.flags & int(Packet.BYTE_7))
    name = end.tap.name
    if len(moved):
        text = (
            f'At {name} bytes are off elsewhere than at a packet\'s end, and the card file says keep = "tail"; '
            'say keep = "any".'
        )
        seen = Witness(
            Says.FOR,
            f"{len(moved)} packets with byte 7 of a masked word on",
            (view.row(end, int(moved[0]), "packet"),),
        )
        return Claim(
            NO_FIT, text, (name,), witnesses=(seen,), falsifier="runs of bytes from byte 0 alone"
        )
    count = int(known.sum())
    if count < FEW or good > _NEARLY_NONE * count:
        return None
    first = int(np.flatnonzero(known)[0])
    text = (
        f"Of {count} packets at {name}, the first tap of path {view.stretch.path}, {good} pass the checks of format "
        f"{end.tap.said.format}: they are not what the card file says. Nothing else is judged by it. "
        f"The first: {said_of(int(end.wrong[first]))}."
    )
    seen = Witness(
        Says.FOR,
        f"{count - good} of {count} packets fail",
        (view.row(end, first, f"packet {first}"),),
    )
    return Claim(NO_FIT, text, (name,), witnesses=(seen,), falsifier="packets that pass")


def bad_arrivals(view: StretchView, end: CheckedStream) -> Iterator[Claim]:
    """Yield the packets that fail their checks at the first tap of a path."""
    known = end.verdict != UNKNOWN
    few = int(known.sum()) < FEW and not (end.verdict == GOOD).any()
    for packet in np.flatnonzero(end.verdict == BAD).tolist():
        wrong = int(end.wrong[packet])
        name = RUNT if wrong & Wrong.RUNT else GIANT if wrong & Wrong.GIANT else BAD_ON_ARRIVAL
        length = int(end.size[packet] or end.stream.packets.length[packet])
        text = f"Packet {packet} at {end.tap.name}, {length} B, was bad before the first tap: {said_of(wrong)}."
        rows = (view.row(end, packet, f"packet {packet}"),)
        seen = [Witness(Says.FOR, said_of(wrong), rows)]
        passed = int((end.verdict == GOOD).sum())
        seen.append(
            Witness(
                Says.FOR,
                f"{passed} other packets at this tap pass every check: the description fits",
            )
        )
        if few:
            seen[1] = Witness(
                Says.SILENT,
                "no packet at this tap passes: whether the description fits cannot be told",
            )
        t_ps, unc = view.at(end, packet)
        yield Claim(
            name,
            text,
            (end.tap.name,),
            packet,
            None,
            t_ps,
            unc,
            tuple(seen),
            "a packet that passes every check of its format",
            candidates=(name, NO_FIT) if few else (),
        )


def gaps_inside(view: StretchView, end: CheckedStream) -> Iterator[Claim]:
    """Yield the packets in which valid fell, at a tap whose card file has a cause that forbids it."""
    columns = end.stream.packets
    ended = (columns.flags & int(Packet.CUT_END | Packet.VOID)) == 0
    for packet in np.flatnonzero(ended & (columns.gap > 0)).tolist():
        record = int(columns.gap_row[packet])
        gap = int(columns.gap[packet])
        text = (
            f"In packet {packet} at {end.tap.name} {gap} cycles passed without a beat"
            f"{', the longest such gap' if gap > 1 else ''}; the card file forbids gaps in a packet here."
        )
        seen = Witness(
            Says.FOR,
            f"the record behind the gap stands {gap + 1} cycles after the one before it",
            (view.row(end, packet, f"packet {packet}"),),
        )
        ready = end.tap.said.ready
        who = (
            Witness(Says.SILENT, "ready is not recorded: source or receiver may have made the gap")
            if ready
            else Witness(Says.FOR, "this stream has no ready: its source made the gap")
        )
        latency = end.tap.latency_cycles
        cycle = int(end.stream.records.dated.cycle[record]) - latency
        beat = None
        if end.tap.said.bits >= 64 and columns.flags[packet] & int(Packet.CUT_BEGIN) == 0:
            kinds = end.stream.records.columns.kind[int(columns.first_row[packet]) : record]
            beat = int((kinds < 13).sum())
        clock = end.tap.clock.name
        t_ps, unc = view.times.times_ps(view.recording.device, clock, np.array([cycle], np.int64))
        yield Claim(
            GAP,
            text,
            (end.tap.name,),
            packet,
            beat,
            int(t_ps[0]),
            int(unc[0]),
            (seen, who),
            "a beat in every cycle of the packet",
        )
