"""What an explanation rests on, what it could not see, and what other taps say against a claim."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from freezeframe.analyzers.card.claims import Claim
from freezeframe.analyzers.card.fit import judged
from freezeframe.analyzers.card.names import NONE_KNOWN, RECORDER_SUSPECT, REORDERED
from freezeframe.analyzers.card.stretch import StretchView
from freezeframe.analyzers.card.view import CardView
from freezeframe.analyzers.contract import Says, Witness
from freezeframe.capture.count_text import plural
from freezeframe.decoders.tap.checked import FCS_B, CheckedStream

_NOT_ITS_OWN = ("host", "trigger", "peer")  # causes that no packet here has to account for


def what_was_seen(card: CardView) -> Iterator[str]:
    """Yield a line for each thing that could have shown a fault and was looked at."""
    for name, end in card.streams.items():
        known = judged(end)
        passed = int((known & (end.wrong == 0)).sum())
        checks = f", {passed} of {int(known.sum())} pass their checks" if known.any() else ""
        whole = int(end.stream.whole.sum() + end.stream.told.sum())
        yield f"{name}: {plural(whole, 'packet')}{checks}"
    for view in [*card.stretches, *(card.beside.departures if card.beside else ())]:
        if not view.needs and view.pairing.pairs:
            yield f"{view.where[0]} -> {view.where[1]}: {plural(len(view.pairing.pairs), 'packet')} compared"
    held = sum(law.holds is True for law in card.laws)
    if held:
        yield f"laws: {held} hold"
    counters = card.recording.counters
    for stretch in card.recording.card.stretches:
        drops = stretch.said.drops
        if drops is not None and counters.get(drops.counter):
            yield f"{drops.counter}: {counters[drops.counter]:,} since reset, with those from before the memories"


def what_was_not_seen(card: CardView) -> Iterator[str]:
    """Yield why a fault may have been missed: "no fault found" is not said then."""
    yield from card.recording.not_read
    if card.recording.card.of_hooks:
        yield "the card has no tap: what its program logged and froze for is all that is known"
        return
    for tap in card.recording.card.taps:
        end = card.streams.get(tap.name)
        if end is None:
            yield f"{tap.name}: its memory was not read"
        elif any(end.stream.recorded.gaps):
            yield f"{tap.name}: a part of its memory was not read"
        elif end.stream.broken:
            yield f"{tap.name}: its memory holds what no recorder stores"
        elif not end.stream.recorded.closed:
            yield f"{tap.name}: its memory was not closed when it was read"
    if "peer" in card.recording.cause_names:
        yield "it was frozen by its peer: what happened may be recorded there alone"
    for law in card.laws:
        if law.holds is False:
            yield f"{law.text}: it is broken"
    if not any(end.stream.whole.any() or end.stream.told.any() for end in card.streams.values()):
        yield "no memory holds a whole packet"


def unexplained_causes(card: CardView) -> list[Claim]:
    """Return a claim where the card froze itself, and nothing that was found says why."""
    recording = card.recording
    names = [name for name in recording.cause_names if name not in _NOT_ITS_OWN]
    if not names or recording.card.of_hooks:  # what C hooks freeze for, their program knows
        return []
    said = {cause.name: cause.said for cause in recording.card.causes}
    checks = [
        f"{name} ({each.check or each.wire}{' at ' + each.tap if each.tap else ''})"
        if (each := said.get(name)) is not None
        else name
        for name in names
    ]
    text = (
        f"The card was frozen by {', '.join(checks)}, and nothing in its memories shows why: what happened is not "
        "recorded, or no name here is that of it."
    )
    seen = Witness(Says.FOR, f"frozen by {', '.join(names)}")
    return [Claim(NONE_KNOWN, text, (), witnesses=(seen,), falsifier="a card that its host froze")]


def confronted(card: CardView, view: StretchView, claim: Claim) -> Claim:
    """Return a claim about a stretch with what the taps before and behind it have to say against it.

    Where a packet stands behind a stretch as it was before it, nothing happened to it there: one tap recorded it wrong.
    """
    if view.needs or view.stretch.said.rewrites or claim.name == REORDERED:
        return claim
    here = view.where
    if claim.packet is not None and not _came_out_whole(view, claim):
        for end in _taps(card, view, behind=True):
            if _stands(view, (view.first, claim.packet), end, behind=True):
                text = f"at {end.tap.name} it stands as at {here[0]}: what {here[1]} recorded is suspect"
                return _doubted(claim, text)
    if len(claim.after) == 1:
        for end in _taps(card, view, behind=False):
            if _stands(view, (view.second, claim.after[0]), end, behind=False):
                text = f"at {end.tap.name} it stood as at {here[1]}: what {here[0]} recorded is suspect"
                return _doubted(claim, text)
    return claim


def _came_out_whole(view: StretchView, claim: Claim) -> bool:
    """Tell whether a packet came out as it was, with something behind it: later taps hold it as before then."""
    assert claim.packet is not None
    return len(claim.after) > 1 and view.content(view.first, claim.packet) == view.content(
        view.second, claim.after[0]
    )


def _doubted(claim: Claim, text: str) -> Claim:
    names = tuple(dict.fromkeys((*(claim.candidates or (claim.name,)), RECORDER_SUSPECT)))
    against = Witness(Says.AGAINST, text)
    return replace(claim, witnesses=(*claim.witnesses, against), candidates=names)


def _taps(card: CardView, view: StretchView, *, behind: bool) -> Iterator[CheckedStream]:
    """Yield the other taps of the path on one side of a stretch, as far as packets stay what they are."""
    stretches = [v for v in card.stretches if v.stretch.path == view.stretch.path]
    at = stretches.index(view)
    for other in stretches[at + 1 :] if behind else stretches[:at][::-1]:
        said = other.stretch.said
        if other.needs or said.rewrites:
            return
        yield other.second if behind else other.first


def _stands(
    view: StretchView, packet: tuple[CheckedStream, int], end: CheckedStream, *, behind: bool
) -> bool:
    """Tell whether a packet stands at another tap, byte by byte; without an FCS where one of them has none.

    An equal one that passed there too early, or too late, is another. Where no time says so, the packet has to be
    unlike all others at its own tap.
    """
    own, number = packet
    cut = _has_fcs(own) != _has_fcs(end)
    body = _body(own, number, cut)
    for n in _bodies(end, cut).get(body, ()):
        lead_ps = view.lead_ps(own, number, end, n) if behind else view.lead_ps(end, n, own, number)
        if lead_ps is None and len(_bodies(own, cut).get(body, ())) == 1:
            return True
        if lead_ps is not None and lead_ps <= 0:
            return True
    return False


@lru_cache(maxsize=16)
def _bodies(end: CheckedStream, cut: bool) -> dict[bytes, list[int]]:
    """Return the numbers of the packets at a tap that have the same bytes."""
    numbers: dict[bytes, list[int]] = {}
    for n in range(len(end)):
        if end.stream.whole[n]:
            numbers.setdefault(_body(end, n, cut), []).append(n)
    return numbers


def _body(end: CheckedStream, packet: int, cut: bool) -> bytes:
    data = end.content(packet)
    return data[:-FCS_B] if cut and _has_fcs(end) else data


def _has_fcs(end: CheckedStream) -> bool:
    return end.said is not None and end.said.fcs == "present"
