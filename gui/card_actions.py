"""What keys and buttons do to a card. Each runs in the thread that reads the source, between two readings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from freezeframe.capture.counters.card import CardSource
from freezeframe.capture.counters.contract import CounterSource
from freezeframe.capture.custody.giving_up import arm_over
from freezeframe.capture.errors import InputError, RecorderStateError
from freezeframe.capture.recorder import control
from freezeframe.capture.recorder.pull import pull
from freezeframe.gui.places import free_name, refuse_evidence


def arm(source: CounterSource, *, discard: bool = False) -> str:
    """Arm every card of a source.

    Raises:
        RecorderStateError: a frozen recording that this host has not kept would be lost, and ``discard`` is not said.
    """
    devices = _card(source).devices
    try:
        armed = arm_over(devices, by="watch", discard=discard)
    except RecorderStateError as error:
        raise RecorderStateError(error.said) from None  # a second key, or a question, gives it up
    names = ", ".join(
        f"{device.name} generation {generation}"
        for device, generation in zip(devices, armed.generations, strict=True)
    )
    lost = f"; given up: {armed.given_up.loss}" if armed.given_up.loss else ""
    return f"armed: {names}{lost}"


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
