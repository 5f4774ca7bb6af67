"""A card's recording decoded once, for all that is asked of it; and a capture of such cards for all its analyses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.card.beside import Beside, beside, far_card
from freezeframe.analyzers.card.claims import Claim
from freezeframe.analyzers.card.fit import (
    later_tap_does_not_fit,
    path_does_not_fit,
    tap_does_not_fit,
)
from freezeframe.analyzers.card.laws import LawVerdict, check_laws
from freezeframe.analyzers.card.places import Places, tap_coverage
from freezeframe.analyzers.card.stretch import StretchView
from freezeframe.analyzers.contract import Analysis
from freezeframe.analyzers.result_parts import joined_notes
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.card.elaborated import ElaboratedTap
from freezeframe.capture.card.recording import CardRecording
from freezeframe.capture.card.time_base import card_time_base
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.decoders.tap.checked import CheckedStream, check_packets
from freezeframe.decoders.tap.event_log import EventLog, decode_log
from freezeframe.decoders.tap.stream import decode_tap
from freezeframe.decoders.trace.coverage import Coverages

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CardView(Places):
    """One card: packets of each tap by its name, the stretches between taps that were read, one time base."""

    streams: dict[str, CheckedStream]
    beside: Beside | None = None
    """The card at the other end of a link, where it is in the capture."""

    @classmethod
    def of(cls, recording: CardRecording) -> CardView:
        """Decode a recording; whatever it holds, nothing raises."""
        streams = {
            name: check_packets(recording.card.said, decode_tap(tap))
            for name, tap in recording.taps.items()
        }
        return cls(recording, card_time_base(recording), streams)

    @property
    def device(self) -> str:
        return self.recording.device

    def source(self, tap: ElaboratedTap) -> str:
        """Return what a tap is called among the taps of a capture: ``A.rx_in``."""
        return f"{self.device}.{tap.name}"

    def placed(self, tap: ElaboratedTap) -> bool:
        """Tell whether the times of a tap have a relation to those of the bus clock: else they share no axis."""
        return self.times.clocks[self.device, tap.clock.name].relation != "none"

    @cached_property
    def log(self) -> EventLog:
        """The events of its log, decoded."""
        return decode_log(self.recording, self.times)

    @cached_property
    def coverage(self) -> Coverages:
        """What the memories cover, by source."""
        return Coverages.known(
            {
                self.source(end.tap): tap_coverage(self, end)
                for end in self.streams.values()
                if self.placed(end.tap)
            }
        )

    @cached_property
    def stretches(self) -> list[StretchView]:
        """What lies between neighbouring taps of which both were read."""
        streams = self.streams
        return [
            StretchView(self.recording, self.times, stretch, streams[stretch.first.name], streams[stretch.second.name])
            for stretch in self.recording.card.stretches
            if stretch.first.name in streams and stretch.second.name in streams
        ]  # fmt: skip

    @cached_property
    def firsts(self) -> list[CheckedStream]:
        """The first tap of each path, and the taps that stand on none."""
        card, streams = self.recording.card, self.streams
        later = {name for path in card.said.path.values() for name in path.taps[1:]}
        first = {path.taps[0]: None for path in card.said.path.values()}
        alone = {name: None for name in streams if name not in later}
        return [streams[name] for name in {**first, **alone} if name in streams]

    @cached_property
    def laws(self) -> list[LawVerdict]:
        """The verdict on each law of the card."""
        return check_laws(self.recording, self.beside.recording if self.beside else None)

    @cached_property
    def unfit(self) -> list[Claim]:
        """Where the description does not fit the traffic; then no other claim stands."""
        ways = (
            (tap_does_not_fit(self, end) for end in self.firsts),
            (path_does_not_fit(view) for view in self.stretches),
            (later_tap_does_not_fit(view) for view in self.stretches),
        )
        for way in ways:
            found = [claim for claim in way if claim is not None]
            sure = [claim for claim in found if not claim.candidates]
            if sure or (found and way is ways[0]):
                return sure or found
        return []


class CardsView:
    """A capture of cards that are described by files; the times of each card are its own.

    A card whose far end is in the capture knows it, also where it was not chosen.
    """

    def __init__(self, folder: CardFolder, devices: Sequence[str] | None = None) -> None:
        """Decode the devices that are named; all without.

        Raises:
            InputError: the capture has no such device.
        """
        chosen = [folder.device(name) for name in devices] if devices else folder.devices
        self.folder = folder
        self.cards = side_by_side(
            [device.recording() for device in folder.devices], [device.index for device in chosen]
        )

    @cached_property
    def coverage(self) -> Coverages:
        """What the memories of all cards cover, by source."""
        return Coverages.known(
            {k: v for card in self.cards for k, v in card.coverage.memories.items()}
        )


def side_by_side(
    recordings: Sequence[CardRecording], chosen: Sequence[int] | None = None
) -> list[CardView]:
    """Return the cards of a capture, each with the one at the other end of its link.

    Args:
        chosen: numbers of those that are asked for; all without.
    """
    numbers = range(len(recordings)) if chosen is None else chosen
    far = {number: far_card(recordings, number) for number in numbers}
    wanted = {*numbers, *(number for number in far.values() if number is not None)}
    bare = {number: CardView.of(recordings[number]) for number in sorted(wanted)}
    return [
        bare[n] if (there := far[n]) is None else _beside(bare[n], bare[there]) for n in numbers
    ]


def _beside(card: CardView, far: CardView) -> CardView:
    return replace(card, beside=beside(card, card.streams, far, far.streams))


def view_of(
    folder: CaptureFolder | CardFolder, devices: Sequence[str] | None = None
) -> CaptureView | CardsView:
    """Return a capture as its analyses take it."""
    if isinstance(folder, CardFolder):
        return CardsView(folder, devices)
    return CaptureView(folder, devices or None)


def run_analysis(analysis: Analysis, view: CaptureView | CardsView) -> AnalysisResult:
    """Run an analysis on any capture; what it lacks of a card that is described by a file is its note."""
    if isinstance(view, CaptureView):
        result: AnalysisResult = analysis.run(view)
        return replace(result, memories=Coverages(lambda: view.trace.coverage.parts))
    if analysis.run_card is None:
        return AnalysisResult(
            analysis.id, notes=(f"could not be asked: needs {analysis.card_lacks}",)
        )
    joined = _joined(analysis.id, [analysis.run_card(card) for card in view.cards])
    return replace(joined, memories=Coverages(lambda: view.coverage.parts))


def _joined(name: str, parts: Sequence[AnalysisResult]) -> AnalysisResult:
    """Return the results of the cards of a capture as one; tables of one name are joined where there are several."""
    if len(parts) == 1:
        return replace(parts[0], name=name)
    tables: dict[str, list[pd.DataFrame]] = {}
    for part in parts:
        for title, frame in part.tables.items():
            tables.setdefault(title, []).append(frame)
    return AnalysisResult(
        name,
        tuple(f for part in parts for f in part.figures),
        tuple(s for part in parts for s in part.series),
        tuple(i for part in parts for i in part.intervals),
        tuple(f for part in parts for f in part.findings),
        {title: pd.concat(frames, ignore_index=True) for title, frames in tables.items()},
        joined_notes(note for part in parts for note in part.notes),
    )
