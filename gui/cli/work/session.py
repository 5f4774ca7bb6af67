"""A target opened for the length of one verb, and the state of all its devices taken together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from freezeframe.capture.card.device import open_any, split_card
from freezeframe.capture.card.finding import FoundCard
from freezeframe.capture.recorder.state import RecorderState
from freezeframe.capture.registers.access import Device, Recorder, open_devices
from freezeframe.capture.targets.base import Target, open_target
from freezeframe.capture.targets.logged import LoggedTarget


@contextmanager
def open_session(url: str, log: Path | None = None) -> Iterator[list[Device]]:
    """Open a target and yield its devices of map 1; the target is closed in every case.

    Raises:
        InputError: not a target URL.
        TargetError: the target cannot be reached, is not a device of ours, or is of a card file.
    """
    with open_logged(url, log) as target:
        yield open_devices(target, card=split_card(url)[1])


@contextmanager
def open_recorders(url: str, log: Path | None = None) -> Iterator[Sequence[Recorder]]:
    """Open a target and yield its devices, of whatever card; the target is closed in every case.

    Raises:
        InputError: not a target URL, or its card is not known.
        TargetError: the target cannot be reached, or is not a device of ours.
    """
    with open_logged(url, log) as target:
        yield open_any(target, split_card(url)[1])


@contextmanager
def open_logged(url: str, log: Path | None = None) -> Iterator[Target]:
    """Open a target for a block; with ``log``, a line for each access goes to that file.

    Raises:
        InputError: not a target URL.
        TargetError: the target cannot be reached.
    """
    with ExitStack() as stack:
        target = open_target(split_card(url)[0])
        stack.callback(target.close)
        if log is not None:
            file = stack.enter_context(log.open("a", encoding="utf-8"))
            target = LoggedTarget(target, lambda line: print(line, file=file))
        yield target


def overall_state(states: Sequence[RecorderState]) -> str:
    """Return the state of a target: frozen when all devices are, triggered when one has begun."""
    names = [state.state for state in states]
    if all(name == "frozen" for name in names):
        return "frozen"
    if any(name in ("frozen", "triggered") for name in names):
        return "triggered"
    return "armed" if "armed" in names else "idle"


def first_cause(states: Sequence[RecorderState]) -> str | None:
    """Return the cause that came first, None where nothing has frozen.

    That another device froze one is the answer only where no device has another cause.
    """
    own = [cause for state in states for cause in state.own_causes]
    return next(iter((*own, *(cause for state in states for cause in state.causes))), None)


def card_entry(found: FoundCard) -> dict[str, Any]:
    """Return what ``--json`` says of a device's card: which, of which map, and where its file was found."""
    card = found.card
    return {
        "name": card.name,
        "version": card.said.card.version,
        "map": card.map,
        "hash": f"{card.hash:016x}",
        "from": found.where,
    }
