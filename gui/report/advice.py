"""What a diagnosis means in a headline, and what to do next: advice.toml. The reasoning: docs/diagnosis.md."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

from freezeframe.analyzers.contract import UNDETERMINED, Finding
from freezeframe.capture.folder import CaptureFolder, DeviceCapture
from freezeframe.capture.stand_ins import given
from freezeframe.decoders.trace.decode import Trace
from freezeframe.gui.text import shell_word

_CAPTURE = "CAPTURE.ff"  # in the advice; told by its path where that is known
_TABLE = Path(__file__).with_name("advice.toml")


class Advice(NamedTuple):
    """``title`` completes "NAME: ...", ``{place}`` in it is where; ``steps`` say what to do."""

    title: str
    steps: tuple[str, ...]


def _read() -> tuple[dict[str, Advice], str]:
    """Return the advice by diagnosis, and what is advised for any other."""
    table = tomllib.loads(_TABLE.read_text("utf-8"))
    shared = {f"={name}": step for name, step in table.pop("shared").items()}
    advice = {
        name: Advice(one["title"], tuple(shared.get(step, step) for step in one["steps"]))
        for name, one in table.items()
    }
    return advice, shared["=repeat"]


ADVICE, _REPEAT = _read()


def place(finding: Finding) -> str:
    """Return the place of a finding in words: what lies before its tap, or the device."""
    if finding.place:
        return finding.place
    if finding.device is None:
        return "an unknown place"
    if finding.direction is not None and " -> " in finding.direction:  # of a described card
        way = finding.direction.replace(" -> ", " to ")
        return way if "." in way else f"{finding.device}, {way}"  # a link's ends name their cards
    return f"{finding.device}.{finding.tap}" if finding.tap else finding.device


def headline(finding: Finding) -> str:
    """Return the diagnosis and what it means, in one line."""
    advice = ADVICE.get(finding.diagnosis)
    if advice is None:
        return f"{finding.diagnosis} at {place(finding)}"
    return f"{finding.diagnosis}: {advice.title.format(place=place(finding))}"


def next_steps(
    finding: Finding, capture: CaptureFolder | None = None, trace: Trace | None = None
) -> tuple[str, ...]:
    """Return what to do about a finding.

    Args:
        capture, trace: with them, what can still be read of this very freeze comes first where the
            recording did not decide.
    """
    advice = ADVICE.get(finding.diagnosis)
    steps = advice.steps if advice else (_REPEAT,)
    if capture is not None:
        steps = tuple(
            step.replace(_CAPTURE, shell_word(str(given(capture.path)))) for step in steps
        )
    if finding.next:
        steps = (f"What would tell most: {finding.next}", *steps)
    if finding.diagnosis != UNDETERMINED or capture is None:
        return steps
    return (*_still_to_be_had(capture, trace), *steps)


def _still_to_be_had(capture: CaptureFolder, trace: Trace | None) -> tuple[str, ...]:
    steps = []
    source = capture.manifest.get("source")
    place = shell_word(source) if isinstance(source, str) else "TARGET"
    if any(_has_gaps(device) for device in capture.devices):
        steps.append(
            "Pull again: this capture has gaps, and the card holds the recording until it is "
            f"armed: freezeframe pull {place} -o NAME.ff"
        )
    held = len(capture.devices)
    causes = [
        (card.cause_names(device.registers.value("ctl.causes") or 0), card.peer_cause)
        for device in capture.devices
        if (card := device.found.card)
    ]
    others_only = all(names == [by_peer] for names, by_peer in causes)
    if held == 1 or others_only:
        steps.append(
            "Pull both ends of the link: the other device may hold the first cause, and most causes "
            "show only where both recordings are compared."
        )
    elif trace is not None and len(trace.devices) < held:
        steps.append("Explain with both ends, without --device: the capture holds the other one.")
    return tuple(steps)


def _has_gaps(device: DeviceCapture) -> bool:
    return bool(device.sample_gaps or any(memory.gaps for memory in device.memories.values()))
