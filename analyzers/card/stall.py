"""A receiver or a stretch that stands still: packets wait, and no beat comes out until the freeze."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.card.claims import Claim
from freezeframe.analyzers.card.names import DROPPED, STALLED
from freezeframe.analyzers.card.stretch import StretchView
from freezeframe.analyzers.contract import Says, Witness
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.tap.checked import BAD
from freezeframe.decoders.tap.kinds import BITS, Bit, Packet

Int64 = npt.NDArray[np.int64]

_TIMES = 10  # a wait so many times the longest that passed is no ordinary one
_CYCLES = 1_000
_SEVERAL = 3  # packets that wait, or the last ones of the traffic may have been dropped


class _Waiting(NamedTuple):
    """What shows that packets wait, and how many do; ``broke_off``: one stands half out."""

    witness: Witness
    packets: int
    broke_off: bool = False


def stalled(view: StretchView) -> Claim | None:
    """Return the claim that the second tap of a stretch stands still, where that is seen."""
    stream, name = view.second.stream, view.second.tap.name
    if stream.span is None or not len(stream) or stream.mark is None or stream.broken:
        return None  # what came out last may not be in the memory
    shortened = view.second.tap.said.store != "all"
    if shortened and (stream.packets.flags[-1] & int(Packet.CUT_END) or stream.pending):
        return None  # beats of a packet that has begun may have come ever since
    since, closed, checker = _stood(view)
    still = closed == stream.span[1]
    t_ps, unc_ps = _times(view, name, [since, closed])
    waiting = (_broken_off(view, closed - since) or _waiting(view, t_ps)) if still else None
    if checker:
        who = f"its receiver held ready low: the card's checker {checker} saw valid without ready"
        witness = Witness(Says.FOR, f"cause {checker} froze the card")
    elif waiting is None:
        return None
    elif view.second.tap.said.ready:
        who = f"whether its receiver or what stands before {name} stopped is not recorded"
        witness = Witness(Says.SILENT, "ready is not recorded, and no checker of the card saw it")
    else:
        who = f"the stream has no ready, so what stands before {name} stopped"
        witness = Witness(Says.FOR, f"{name} takes every beat that is valid")
    how = (
        f"stands still from cycle {since + 1:,} on, for %s until the memory closed"
        if still
        else f"stood still from cycle {since + 1:,} to {closed:,}, for %s"
    )
    text = f"{name} {how % format_ps(int(t_ps[1] - t_ps[0]))}; {who}."
    silent = Witness(
        Says.FOR,
        f"no beat in {closed - since:,} cycles",
        (view.row(view.second, int((stream.packets.begin <= since).sum()) - 1, "last packet"),),
    )
    witnesses = (silent, witness, *([] if waiting is None else [waiting.witness]))
    drops = view.stretch.said.drops
    lost = 0 if drops is None else view.recording.counters.get(drops.counter, 0)
    names: tuple[str, ...] = ()
    if waiting is not None and waiting.packets < _SEVERAL and not checker:
        names = (STALLED, DROPPED)  # the last ones before a pause may have been lost as well
    whole = drops is not None and drops.whole and waiting is not None and waiting.broke_off
    if lost and not checker and drops is not None and not whole:
        names = (STALLED, DROPPED)
        counted = f"{drops.counter} stands at {lost:,}: what went in may have been dropped"
        witnesses = (*witnesses, Witness(Says.SILENT, counted))
    falsifier = (
        "a beat out of it since, or no packet that waits"
        if still
        else "a beat out of it in between"
    )
    return Claim(
        STALLED,
        text,
        (name,),
        None,
        None,
        int(t_ps[0]),
        int(unc_ps[0]),
        witnesses,
        falsifier,
        names,
    )


def _stood(view: StretchView) -> tuple[int, int, str]:
    """Return the last cycle with a beat, the end of the silence, and the checker that saw the receiver stop; or "".

    The silence lasts to the memory's end, or stands around the cause of a checker where beats came again.
    """
    stream, tap = view.second.stream, view.second.tap.name
    assert stream.span is not None
    last = int(stream.packets.end[-1]), stream.span[1]
    for cause in view.recording.card.causes:
        said = cause.said
        if said is None or (said.check, said.tap) != ("no-ready", tap):
            continue
        if cause.name not in view.recording.cause_names:
            continue
        for since, until in filter(None, (last, _up_to_the_cause(view))):
            if until - since >= said.cycles:
                return since, until, cause.name
    return *last, ""


def _up_to_the_cause(view: StretchView) -> tuple[int, int] | None:
    """Return the last cycle with a beat before the cause and the first one since, where beats came again."""
    stream = view.second.stream
    cycle = stream.cause_cycle
    is_word = (BITS[stream.records.columns.kind] & int(Bit.WORD)) != 0
    first, last = (cycles[is_word] for cycles in stream.beats)
    if cycle is None or not len(last) or not int(first[0]) < cycle < int(last[-1]):
        return None
    return int(last[last < cycle].max()), int(first[last >= cycle].min())


def _times(
    view: StretchView, tap: str, cycles: list[int]
) -> tuple[
    np.ndarray[tuple[int, ...], np.dtype[np.int64]], np.ndarray[tuple[int, ...], np.dtype[np.int64]]
]:
    clock = view.recording.card.tap(tap).clock.name
    return view.times.times_ps(view.recording.device, clock, np.array(cycles, np.int64))


def _waiting(
    view: StretchView, t_ps: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
) -> _Waiting | None:
    """Return the packet that has waited far longer than any that came out; None where none has."""
    first, second = view.first, view.second
    if not view.pairing.pairs:
        return None
    pairs = np.array(view.pairing.pairs)
    there = np.flatnonzero((first.stream.packets.flags & int(Packet.CUT_END)) == 0)
    there = _not_come_out(view, there)
    if view.stretch.said.drops is not None:  # a bad one may be dropped for that
        there = there[first.verdict[there] != BAD]
    if not len(there):
        return None
    waits = int(there[0])
    entered, unc = _times(
        view, first.tap.name, first.stream.packets.end[[*pairs[:, 0], waits]].tolist()
    )
    left, unc_left = _times(view, second.tap.name, second.stream.packets.end[pairs[:, 1]].tolist())
    if min(int(unc.min()), int(unc_left.min())) < 0:
        return None
    longest_ps = int((left - entered[:-1]).max())
    period_ps = int(view.times.clocks[view.recording.device, second.tap.clock.name].ps_per_cycle)
    waited_ps = int(t_ps[1] - max(int(t_ps[0]), int(entered[-1])))
    if waited_ps < max(_TIMES * longest_ps, _CYCLES * period_ps):
        return None
    text = (
        f"packet {waits} of {first.tap.name} has waited {format_ps(waited_ps)}, {len(there)} in all; the longest that "
        f"came out took {format_ps(longest_ps)}"
    )
    return _Waiting(
        Witness(Says.FOR, text, (view.row(first, waits, f"packet {waits}"),)), len(there)
    )


def _not_come_out(view: StretchView, there: Int64) -> Int64:
    """Return those packets of the first tap that are newer than all that came out, as they were or otherwise."""
    newest = list(view.pairing.pairs)
    newest += [
        (claim.packet + claim.used - 1, claim.after[-1])
        for claim in view.claims()
        if claim.packet is not None and claim.after
    ]
    later = there[there > max(i for i, _ in newest)]
    # What came out since, and is like none that went in, was one of them each.
    whole = (view.second.stream.packets.flags & int(Packet.CUT_END)) == 0
    unlike = int(whole[max(j for _, j in newest) + 1 :].sum())
    return later[unlike:]


def _broken_off(view: StretchView, silent: int) -> _Waiting | None:
    """Return the packet that has begun at the second tap and does not go on, far longer than any gap in one."""
    stream = view.second.stream
    last, columns = len(stream) - 1, stream.packets
    if not columns.flags[last] & int(Packet.CUT_END):
        return None
    begun = view.content(view.second, last)
    newest = max((i for i, _ in view.pairing.pairs), default=-1)
    if any(view.content(view.first, i) == begun for i in range(newest + 1, len(view.first))):
        return None  # all of it that came in came out; its end may be lost
    longest = int(columns.gap.max(initial=0))
    if silent < max(_TIMES * longest, _CYCLES):
        return None
    text = (
        f"packet {last} of {view.second.tap.name} has begun, and its end does not come; the longest wait inside a "
        f"packet was {longest:,} cycles"
    )
    seen = Witness(Says.FOR, text, (view.row(view.second, last, f"packet {last}"),))
    return _Waiting(seen, _SEVERAL, broke_off=True)
