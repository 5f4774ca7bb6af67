"""The card at the other end of a link: what went over, and what it logged, on this card's time axis.

A path with ``far_end = "CARD:PATH"`` goes on on another card. Where one card of that name is in the capture, the
packets at its end are paired with those here, as between two taps of one card. Packets both ways bound how the two
clocks stand to each other; of one way alone no time is compared, and the packets still are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from freezeframe.analyzers.card.laws import LawVerdict, check_laws
from freezeframe.analyzers.card.places import Places
from freezeframe.analyzers.card.stretch import StretchView
from freezeframe.analyzers.contract import Row
from freezeframe.capture.card.elaborated import ElaboratedStretch
from freezeframe.capture.card.recording import CardRecording
from freezeframe.capture.card.tables import Stretch
from freezeframe.capture.clock_relation import Bound, Relation, relate
from freezeframe.capture.timebase import TimeBase
from freezeframe.decoders.tap.checked import CheckedStream

Streams = Mapping[str, CheckedStream]


@dataclass(frozen=True, eq=False)
class LinkView(StretchView):
    """The packets at both ends of a link: where one card's path ends, and where the other's goes on."""

    receiver: CardRecording

    @property
    def where(self) -> tuple[str, str]:
        first, second = self.stretch.first.name, self.stretch.second.name
        return f"{self.recording.device}.{first}", f"{self.receiver.device}.{second}"

    def places(self, end: CheckedStream) -> Places:
        """Return where and when packets of one of its ends are."""
        return Places(self.recording if end is self.first else self.receiver, self.times)

    def at(self, end: CheckedStream, packet: int) -> tuple[int | None, int | None]:
        return self.places(end).at(end, packet)

    def row(self, end: CheckedStream, packet: int, label: str, *, last: bool = False) -> Row:
        return self.places(end).row(end, packet, label, last=last)

    def same_clock(self, first: CheckedStream, second: CheckedStream) -> bool:
        return first is second


@dataclass(frozen=True, eq=False)
class Beside(Places):
    """The recording of the card at the other end, its times on this card's axis.

    Attributes:
        departures, arrivals: links from here to there, and from there to here.
        note: how the clocks are known to stand to each other, or why they are not.
    """

    streams: Streams
    departures: tuple[LinkView, ...]
    arrivals: tuple[LinkView, ...]
    note: str


def far_card(recordings: Sequence[CardRecording], number: int) -> int | None:
    """Return which recording is that of the card at the other end; None where there is none, or more than one."""
    own = recordings[number]
    names = {path.far_end.partition(":")[0] for path in own.card.said.path.values()} - {""}
    found = [n for n, one in enumerate(recordings) if n != number and one.card.name in names]
    return found[0] if len(found) == 1 else None


def laws_of(recordings: Sequence[CardRecording], number: int) -> list[LawVerdict]:
    """Return the verdict on each law of one card of a capture, with those that hold over its link."""
    there = far_card(recordings, number)
    return check_laws(recordings[number], None if there is None else recordings[there])


def beside(own: Places, own_streams: Streams, far: Places, far_streams: Streams) -> Beside:
    """Return the card at the other end as this one sees it."""
    here, there = (own.recording, own_streams), (far.recording, far_streams)
    alone = TimeBase({**own.times.clocks, **far.times.clocks}, ())
    relation, note = _related(
        own.recording.device, far.recording.device,
        list(_links(*here, *there, alone)), list(_links(*there, *here, alone)),
    )  # fmt: skip
    times = TimeBase(alone.clocks, (), relations={far.recording.device: relation})
    return Beside(
        far.recording, times, far_streams,
        tuple(_links(*here, *there, times)), tuple(_links(*there, *here, times)), note,
    )  # fmt: skip


def _links(
    sender: CardRecording,
    sent: Streams,
    receiver: CardRecording,
    received: Streams,
    times: TimeBase,
) -> Iterator[LinkView]:
    for name, path in sender.card.said.path.items():
        card, _, goes_on = path.far_end.partition(":")
        there = receiver.card.said.path.get(goes_on)
        if card != receiver.card.name or there is None:
            continue
        first, second = path.taps[-1], there.taps[0]
        if first not in sent or second not in received:
            continue
        said = path.stretch[-1] if len(path.stretch) == len(path.taps) else Stretch()
        stretch = ElaboratedStretch(name, sender.card.tap(first), receiver.card.tap(second), said)
        yield LinkView(sender, times, stretch, sent[first], received[second], receiver)


def _related(
    own: str, far: str, departures: Sequence[LinkView], arrivals: Sequence[LinkView]
) -> tuple[Relation | None, str]:
    """Return how the far card's time stands to the own one's, by what crossed the link."""
    bounds = [
        Bound(heard_ps, sent_ps, at_most=False)
        for link in departures
        for sent_ps, heard_ps in _crossings(link)
    ] + [
        Bound(sent_ps, heard_ps, at_most=True)
        for link in arrivals
        for sent_ps, heard_ps in _crossings(link)
    ]
    try:
        relation = relate(bounds)
    except ValueError as error:
        return (
            None,
            f"{far} to {own}: packets that crossed contradict each other in time: {error}; times are not compared",
        )
    if relation is None:
        what = "of one direction alone" if bounds else "neither way"
        return (
            None,
            f"{far} to {own}: packets that stand at both ends: {what}; times are not compared",
        )
    return relation, (
        f"{far} to {own}: time lines related by packets that crossed ({relation.bounds} bounds), within "
        f"{relation.offset_unc_ps / 1000:.0f} ns; no latency is assumed, both ways taken as alike are in the middle"
    )


def _crossings(link: LinkView) -> Iterator[tuple[int, int]]:
    """Yield when a packet that is unlike all others began at either end, each on its own card's time."""
    ends = (link.first, link.recording.device), (link.second, link.receiver.device)
    for numbers in link.all_pairs:
        instants = []
        for (end, device), n in zip(ends, numbers, strict=True):
            columns = end.stream.packets
            if columns.begin_slack[n] == 0:
                cycle = int(columns.begin[n])
                instants.append(link.times.instant_ps(device, end.tap.clock.name, cycle))
        if len(instants) == len(ends):
            yield instants[0], instants[1]
