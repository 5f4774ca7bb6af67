"""What analyses offer to programs: explain, analyze, check and diff of captures, opened or by their path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import overload

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.card.beside import laws_of
from freezeframe.analyzers.card.explain import CardExplanation, explain_card
from freezeframe.analyzers.card.laws import LawVerdict
from freezeframe.analyzers.card.runs import diff_cards
from freezeframe.analyzers.card.view import CardsView, run_analysis, view_of
from freezeframe.analyzers.conservation.analysis_code import Checked, check_laws
from freezeframe.analyzers.explain import Explanation
from freezeframe.analyzers.explain import explain as explain_recording
from freezeframe.analyzers.iwarp.explain import PacketExplanation, explain_packets
from freezeframe.analyzers.registry import load_analyses
from freezeframe.analyzers.run_diff.compare import RunDiff, TapInRuns, diff_runs
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder.card_content import CardCapture
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.folder.of_cards import is_card_folder
from freezeframe.capture.folder.reader import CaptureFolder, as_recording
from freezeframe.capture.packets.recognise import is_packets
from freezeframe.capture.qualification import Qualification, read_qualification

__all__ = ["analyze", "check", "diff", "explain"]

AnyCapture = CaptureFolder | CardFolder | Path | str
"""A capture of the built-in card or of cards that are described by files, opened or by its path."""

Qualified = Qualification | Path | str | None


@overload
def analyze(
    capture: AnyCapture, name: str, /, *, devices: Sequence[str] | None = None
) -> AnalysisResult: ...
@overload
def analyze(
    capture: AnyCapture, /, *, devices: Sequence[str] | None = None
) -> dict[str, AnalysisResult]: ...
@overload
def analyze(
    capture: AnyCapture, first: str, second: str, /, *names: str, devices: Sequence[str] | None = None
) -> dict[str, AnalysisResult]: ...  # fmt: skip
def analyze(
    capture: AnyCapture, *names: str, devices: Sequence[str] | None = None
) -> AnalysisResult | dict[str, AnalysisResult]:
    """Run analyses by name, as ``freezeframe analyze`` lists them, on one decoding of a recording.

    Returns:
        One result for one name; else all by name, in the order asked; without a name all there are.
    Raises:
        InputError: the capture cannot be opened, has no such device, or no analysis has that name.
    """
    registry = load_analyses()
    chosen = [registry.find(name) for name in names or sorted(registry.analyses)]
    view = view_of(opened(capture), devices)
    results = {analysis.id: run_analysis(analysis, view) for analysis in chosen}
    return results[names[0]] if len(names) == 1 else results


@overload
def explain(
    capture: CaptureFolder, devices: Sequence[str] | None = None, qualified: Qualified = None
) -> Explanation: ...
@overload
def explain(capture: CardFolder, devices: Sequence[str] | None = None) -> CardExplanation: ...
@overload
def explain(
    capture: Path | str, devices: Sequence[str] | None = None, qualified: Qualified = None
) -> Explanation | CardExplanation | PacketExplanation: ...
def explain(
    capture: AnyCapture, devices: Sequence[str] | None = None, qualified: Qualified = None
) -> Explanation | CardExplanation | PacketExplanation:
    """Return what went wrong in a capture, best finding first; no finding for a clean one.

    Args:
        capture: opened or by its path; of the built-in card, of cards that are described by a file, or a
            file of packets (pcap, pcapng).
        devices: names of the devices whose recordings may be used; all without. Of cards that are
            described by a file one at a time.
        qualified: what was measured of the card, or the file of it; of the built-in card alone.
    Raises:
        InputError: the capture cannot be opened, has no such device, or holds several such cards; the qualification is
            none, or of another card.
    """
    if isinstance(capture, Path | str) and is_packets(capture):
        _refuse(qualified, f"{capture} holds packets")
        return explain_packets(capture)
    folder = opened(capture)
    if isinstance(folder, CardFolder):
        _refuse(qualified, f"{folder.path} is of a card that is described by a file")
        return explain_card(CardsView(folder, [_one(folder, devices).name]).cards[0])
    if isinstance(qualified, Path | str):
        qualified = read_qualification(Path(qualified))
    return explain_recording(folder, devices, qualified=qualified)


def _refuse(qualified: Qualified, why: str) -> None:
    if qualified is not None:
        raise InputError(f"qualified: is for captures of the built-in card, and {why}")


@overload
def check(capture: CaptureFolder) -> list[Checked]: ...
@overload
def check(capture: CardFolder, device: str = "A") -> list[LawVerdict]: ...
@overload
def check(capture: Path | str, device: str = "A") -> list[Checked] | list[LawVerdict]: ...
def check(capture: AnyCapture, device: str = "A") -> list[Checked] | list[LawVerdict]:
    """Return each conservation law of a recording: holds, broken or not checkable, with its terms.

    Args:
        device: of cards that are described by a file, which one.
    Raises:
        InputError: the capture cannot be opened, or has no such device.
    """
    folder = opened(capture)
    if isinstance(folder, CardFolder):
        return laws_of([one.recording() for one in folder.devices], folder.device(device).index)
    return check_laws(CaptureView(folder))


def diff(good: AnyCapture, bad: AnyCapture) -> RunDiff[TapInRuns]:
    """Return where two recordings part, and what changed in their numbers.

    Raises:
        InputError: a capture cannot be opened, or they are of two cards.
    """
    views = view_of(opened(good)), view_of(opened(bad))
    match views:
        case CardsView(), CardsView():
            return diff_cards(*views)
        case CaptureView(), CaptureView():
            return diff_runs(*views)
    raise InputError(
        f"{views[1].folder.path}: is not of the card that {views[0].folder.path} is of: one is the built-in card, the "
        "other is described by a file; give two captures of one card"
    )


def opened(capture: AnyCapture) -> CaptureFolder | CardFolder:
    """Return a capture of either kind."""
    if isinstance(capture, CardFolder):
        return capture
    if not isinstance(capture, CaptureFolder) and is_card_folder(Path(capture)):
        return CardFolder.open(capture)
    return as_recording(capture)


def _one(capture: CardFolder, devices: Sequence[str] | None) -> CardCapture:
    """Return the one device that is asked for."""
    names = list(devices or [device.name for device in capture.devices])
    if len(names) != 1:
        raise InputError(
            f"{capture.path}: cards are explained one at a time; choose with devices=: {', '.join(names)}"
        )
    return capture.device(names[0])
