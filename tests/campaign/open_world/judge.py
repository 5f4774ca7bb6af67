"""What an answer of the open world counts as, beside the truth of its run.

An answer is *right* when its name is the fault's, or one that its entry calls fair; *wrong* when it is another name,
or a place that is not the truth's; neither when it names nothing (undetermined). Certain is 0.9 or more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.explain import Explanation
from freezeframe.emulator.faults.registry import FAULTS
from freezeframe.emulator.open_world.base import Entry
from freezeframe.emulator.open_world.table import ENTRIES

CERTAIN = 0.9
NOTHING = "(none)"
OPEN = ("undetermined", "none-of-the-known", "law-broken")
"""Answers that name nothing: they can be neither right nor wrong."""

_PLACE = ("device", "tap", "direction", "flow", "packet", "word")


def judged(
    said: Explanation,
    fault: str,
    truth: dict[str, Any],
    ends: str,
    held: list[str] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the record of each answer, or of having none.

    Args:
        held: the first memory that still shows the truth's place, by `held_at`.
    """
    injection = _last(truth)
    place = {key: injection[key] for key in _PLACE} if injection else {}
    kind = "clean" if fault == "none" else ENTRIES[fault].kind if fault in ENTRIES else "listed"
    base = {"kind": kind, "truth": place, "detail": injection["detail"] if injection else {}}
    base["held"] = held
    if not said.findings:
        right = True if kind in ("clean", "none") else None
        yield base | {
            "rank": 0, "name": NOTHING, "certain": False, "right": right, "placed": None, "stopped": said.stopped,
        }  # fmt: skip
    for rank, finding in enumerate(said.findings):
        yield base | {
            "rank": rank,
            "name": finding.diagnosis,
            "parent": finding.general,
            "confidence": finding.confidence,
            "counted": finding.counted,
            "certain": finding.confidence >= CERTAIN,
            "pattern": _pattern(finding),
            "candidates": list(finding.candidates),
            "said": {key: getattr(finding, key) for key in _PLACE},
            "right": right_of(finding, fault, place),
            "placed": placed_of(finding, place, injection, held),
            "text": finding.text,
        }


def right_of(finding: Finding, fault: str, place: dict[str, Any]) -> bool | None:
    """Return whether an answer is right; None where it names nothing."""
    name = finding.diagnosis
    if name in OPEN:
        return None
    entry = ENTRIES.get(fault)
    if entry is None:
        return fault != "none" and name in (fault, *_also(fault)) and not _elsewhere(finding, place)
    return name in entry.fair and not _elsewhere_of(finding, entry, place)


def placed_of(
    finding: Finding,
    place: dict[str, Any],
    injection: dict[str, Any] | None,
    held: list[str] | None = None,
) -> bool | None:
    """Return whether the first bad place is the truth's: device and tap, and the packet where both name one.

    Where that tap's memory does not hold the packet any more, the first behind it that does is where it is first seen.
    """
    if not place or place["tap"] is None:
        return None
    if (finding.device, finding.tap) not in ((place["device"], place["tap"]), tuple(held or ())):
        return False
    detail = injection["detail"] if injection else {}
    packets = {place["packet"], detail.get("also", place["packet"])}
    return finding.packet in packets or None in (finding.packet, place["packet"])


def _also(fault: str) -> tuple[str, ...]:
    """Return other names under which a listed fault's own consequences may be told."""
    return ("stalled",) if fault in ("credit-lost", "header-miscounted") else ()


def _elsewhere(finding: Finding, place: dict[str, Any]) -> bool:
    """Return whether a finding says something of the place that is not so; what it leaves open is not wrong."""
    return any(
        getattr(finding, key) not in (None, place[key])
        for key in _PLACE
        if place and place[key] is not None
    )


def _elsewhere_of(finding: Finding, entry: Entry, place: dict[str, Any]) -> bool:
    """The same of a fault that is in no list: damage has a device and a tap, a stall or a register a device only."""
    if not place or finding.diagnosis == "stalled":
        return False
    keys = ("device", "tap") if entry.kind in ("data", "recorder") and place["tap"] else ("device",)
    return any(getattr(finding, key) not in (None, place[key]) for key in keys)


def _pattern(finding: Finding) -> Any:
    """Return the pattern of witnesses that an answer carries; None where it carries none."""
    pattern = getattr(finding, "pattern", None)
    return pattern if pattern is None or isinstance(pattern, str | list | dict) else str(pattern)


def _last(truth: dict[str, Any]) -> dict[str, Any] | None:
    injections = truth["injections"]
    return injections[-1] if injections else None


assert not FAULTS.keys() & ENTRIES.keys(), "a fault is in the list or in none"
