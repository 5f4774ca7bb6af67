"""What the checks at one tap say: packets that were bad before it, of forbidden length, or with a gap inside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.card.claims import Claim, said_of
from freezeframe.analyzers.card.fit import holes, judged
from freezeframe.analyzers.card.names import (
    BAD_ON_ARRIVAL,
    BITS_ALTERED,
    GAP,
    GIANT,
    NO_FIT,
    NONE_KNOWN,
    RECORDER_SUSPECT,
    RUNT,
)
from freezeframe.analyzers.card.places import Places
from freezeframe.analyzers.card.stretch import StretchView
from freezeframe.analyzers.contract import Row, Says, Witness
from freezeframe.decoders.tap.checked import BAD, GOOD, CheckedStream, Wrong
from freezeframe.decoders.tap.crcs import wrong_crcs
from freezeframe.decoders.tap.kinds import Packet

_LATE_CYCLES = 8  # of the checker and the cause's way to the tap's domain


def bad_arrivals(
    places: Places, end: CheckedStream, stretches: Sequence[StretchView] = ()
) -> Iterator[Claim]:
    """Yield the packets that fail their checks at the first tap of a path.

    Args:
        stretches: those of the card; a packet that is good behind one was not bad before it.
    """
    behind = {
        claim.packet: view.where[1]
        for view in stretches
        if view.first is end and not view.needs
        for claim in view.claims()
        if claim.after and (view.second.verdict[list(claim.after)] == GOOD).all()
    }
    known = judged(end)
    count, passed = int(known.sum()), int((known & (end.wrong == 0)).sum())
    for packet in np.flatnonzero(end.verdict == BAD).tolist():
        wrong = int(end.wrong[packet])
        name = RUNT if wrong & Wrong.RUNT else GIANT if wrong & Wrong.GIANT else BAD_ON_ARRIVAL
        length = int(end.length_B[packet])
        text = f"Packet {packet} at {end.tap.name}, {length} B, was bad before the first tap: {said_of(wrong)}."
        seen, rows = _failed(places, end, packet)
        alike = int((known & (end.wrong == wrong)).sum())
        # Where most fail in the same way, or there are too few to tell, the description may be what is wrong.
        unsure = not passed or 2 * alike > count
        doubt = f"{alike} of {count} packets at this tap fail so: whether the description fits cannot be told"
        trust = f"{passed} other packets at this tap pass every check: the description fits"
        fits = Witness(Says.SILENT, doubt) if unsure else Witness(Says.FOR, trust)
        witnesses = [Witness(Says.FOR, seen, rows), fits]
        others = [NO_FIT] if unsure else []
        if packet in behind:
            mended = f"at {behind[packet]} it passes: what {end.tap.name} recorded is suspect"
            witnesses.append(Witness(Says.AGAINST, mended))
            others.append(RECORDER_SUSPECT)
        t_ps, unc = places.at(end, packet)
        yield Claim(
            name,
            text,
            (end.tap.name,),
            packet,
            None,
            t_ps,
            unc,
            tuple(witnesses),
            "a packet that passes every check of its format",
            candidates=(name, *others) if others else (),
        )


def _failed(places: Places, end: CheckedStream, packet: int) -> tuple[str, tuple[Row, ...]]:
    """Return the checks that a packet fails, with its CRCs, and where it stands: by its end, where the CRC is there."""
    crcs = wrong_crcs(end, packet)
    seen = "; ".join([said_of(int(end.wrong[packet])), *(each.text for each in crcs)])
    row = places.row(end, packet, f"packet {packet}", last=bool(crcs))
    return seen, (row,)


def holes_inside(places: Places, end: CheckedStream) -> Iterator[Claim]:
    """Yield the few packets with bytes off inside, where the card file says that none has."""
    for packet in holes(end).tolist():
        text = (
            f'In packet {packet} at {end.tap.name} bytes are off before its end, which keep = "tail" rules out: its '
            "source broke the rule, or the card file is wrong."
        )
        seen = Witness(
            Says.FOR, "a mask with a hole", (places.row(end, packet, f"packet {packet}"),)
        )
        t_ps, unc = places.at(end, packet)
        yield Claim(
            NONE_KNOWN, text, (end.tap.name,), packet, None, t_ps, unc, (seen,),
            "runs of bytes from byte 0 alone", candidates=(NONE_KNOWN, NO_FIT),
        )  # fmt: skip


def bad_on_the_way(view: StretchView, claims: Sequence[Claim]) -> Iterator[Claim]:
    """Yield the packets that fail at the second tap of a stretch, and that nothing at the first accounts for."""
    told = {j for claim in claims for j in claim.after}
    told |= {j for i, j in view.pairing.pairs if view.first.verdict[i] != GOOD}
    end = view.second
    for packet in np.flatnonzero(end.verdict == BAD).tolist():
        if packet in told:
            continue
        wrong = said_of(int(end.wrong[packet]))
        length = int(end.length_B[packet])
        text = (
            f"Packet {packet} at {end.tap.name}, {length} B, is bad: {wrong}. What it was at {view.where[0]} is not in "
            "that memory, or cannot be told."
        )
        seen, rows = _failed(view, end, packet)
        t_ps, unc = view.at(end, packet)
        silent = Witness(Says.SILENT, f"no packet of {view.where[0]} is known to be this one")
        yield Claim(
            NONE_KNOWN, text, (end.tap.name,), None, None, t_ps, unc, (Witness(Says.FOR, seen, rows), silent),
            "a packet that passes every check of its format",
            candidates=(BAD_ON_ARRIVAL, BITS_ALTERED), after=(packet,),
        )  # fmt: skip


def gaps_inside(places: Places, end: CheckedStream) -> Iterator[Claim]:
    """Yield the packets in which valid fell, at a tap whose card file has a cause that forbids it.

    A receiver may make a cycle without a beat too, where the stream has ready: there it is the checker that saw valid
    fall, in the packet that stood at the tap when it froze the card.
    """
    columns = end.stream.packets
    read = (columns.flags & int(Packet.VOID)) == 0
    if end.tap.said.ready:
        read &= _stood_at(places, end)
    for packet in np.flatnonzero(read & (columns.gap > 0)).tolist():
        record = int(columns.gap_row[packet])
        gap = int(columns.gap[packet])
        text = (
            f"In packet {packet} at {end.tap.name} {gap} cycles passed without a beat"
            f"{', the longest such gap' if gap > 1 else ''}; the card file forbids gaps in a packet here."
        )
        seen = Witness(
            Says.FOR,
            f"the record behind the gap stands {gap + 1} cycles after the one before it",
            (places.row(end, packet, f"packet {packet}"),),
        )
        who = (
            Witness(Says.FOR, "the card's checker saw valid fall, and froze the card")
            if end.tap.said.ready
            else Witness(Says.FOR, "this stream has no ready: its source made the gap")
        )
        latency = end.tap.latency_cycles
        cycle = int(end.stream.records.dated.cycle[record]) - latency
        beat = None
        if end.tap.said.bits >= 64 and columns.flags[packet] & int(Packet.CUT_BEGIN) == 0:
            kinds = end.stream.records.columns.kind[int(columns.first_row[packet]) : record]
            beat = int((kinds < 13).sum())
        t_ps, unc = places.times_ps(end.tap, np.array([cycle], np.int64))
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


def _stood_at(places: Places, end: CheckedStream) -> npt.NDArray[np.bool_]:
    """Return which packets stood at the tap when its checker for gaps froze the card."""
    columns, cycle = end.stream.packets, end.stream.cause_cycle
    fired = any(
        c.said is not None and (c.said.check, c.said.tap) == ("gap", end.tap.name)
        for c in places.recording.card.causes
        if c.name in places.recording.cause_names
    )
    if not fired or cycle is None:
        return np.zeros(len(columns.begin), np.bool_)
    return np.asarray((columns.begin < cycle) & (cycle <= columns.end + _LATE_CYCLES))
