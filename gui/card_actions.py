"""What keys and buttons do to a card. Each runs in the thread that reads the source, between two readings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from freezeframe.capture.counters.card import CardSource
from freezeframe.capture.counters.contract import CounterSource
from freezeframe.capture.errors import InputError
from freezeframe.capture.recorder import control
from freezeframe.capture.recorder.pull import pull
from freezeframe.gui.places import free_name, refuse_evidence


def arm(source: CounterSource) -> str:
    """Arm every card of a source; what they recorded is lost."""
    devices = _card(source).devices
    generations = control.arm_all(devices)
    return "armed: " + ", ".join(
        f"{device.name} generation {generation}"
        for device, generation in zip(devices, generations, strict=True)
    )


def freeze(source: CounterSource) -> str:
    """Freeze every card of a source, with cause ``host`` where none had come."""
    states = [control.freeze(device) for device in _card(source).devices]
    return "frozen: " + ", ".join(f"{state.device} {', '.join(state.causes)}" for state in states)


def pull_into(
    folder: Path, stem: str, pulled: Callable[[Path], None], source: CounterSource
) -> str:
    """Pull a frozen card into a new capture folder ``STEM-NNNN.ff`` below ``folder``; hand over its path."""
    card = _card(source)
    refuse_evidence(folder)
    report = pull(card.target, free_name(folder, stem, ".ff"), card=card.card)
    pulled(report.path)
    part = "" if report.complete else f", only a part: {'; '.join(report.lost)}"
    return f"pulled {report.words:,} of {report.words_total:,} words into {report.path}{part}"


def _card(source: CounterSource) -> CardSource:
    if not isinstance(source, CardSource):
        raise InputError(
            f"{source.url} is no card of ours: it can neither be armed nor frozen nor pulled"
        )
    return source
