"""What keys do to a card and to files. Each runs in the thread that reads the source, between two readings."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freezeframe.capture.errors import InputError
from freezeframe.gui.places import refuse_evidence

if TYPE_CHECKING:
    from freezeframe.capture.counters.card import CardSource
    from freezeframe.capture.counters.contract import CounterSource
    from freezeframe.capture.counters.monitor import Watched

__all__ = ["arm", "counters_document", "freeze", "pull_into", "save_snapshot"]


def arm(source: CounterSource) -> str:
    """Arm every card of a source; what they recorded is lost."""
    from freezeframe.capture.recorder.control import arm_all

    devices = _card(source).devices
    generations = arm_all(devices)
    return "armed: " + ", ".join(
        f"{device.name} generation {generation}"
        for device, generation in zip(devices, generations, strict=True)
    )


def freeze(source: CounterSource) -> str:
    """Freeze every card of a source, with cause ``host`` where none had come."""
    from freezeframe.capture.recorder.control import freeze as freeze_device

    states = [freeze_device(device) for device in _card(source).devices]
    return "frozen: " + ", ".join(f"{state.device} {', '.join(state.causes)}" for state in states)


def pull_into(folder: Path) -> Callable[[CounterSource], str]:
    """Return the action that pulls a frozen card into a new capture folder below ``folder``."""

    def act(source: CounterSource) -> str:
        from freezeframe.capture.recorder.pull import pull

        card = _card(source)
        refuse_evidence(folder)
        report = pull(card.target, _free(folder, "watch", ".ff"))
        part = "" if report.complete else f", only a part: {'; '.join(report.lost)}"
        return f"pulled {report.words:,} of {report.words_total:,} words into {report.path}{part}"

    return act


def save_snapshot(watched: Sequence[Watched], folder: Path) -> str:
    """Write the newest values of all sources as JSON to a new file below ``folder``; return the line for the log.

    Raises:
        InputError: the folder lies in a capture folder.
        OSError: the file cannot be written.
    """
    refuse_evidence(folder)
    path = _free(folder, "counters", ".json")
    with path.open("x", encoding="utf-8") as file:
        json.dump(counters_document(watched), file, indent=1)
        file.write("\n")
    return f"all counters are in {path}"


def counters_document(watched: Sequence[Watched]) -> dict[str, Any]:
    """Return the newest values of all sources as JSON values."""
    return {
        "sources": [
            {
                "source": one.url,
                "stale": one.stale,
                "facts": one.facts,
                "recorders": [state.to_json() for state in one.recorders],
                "counters": dict(one.sample.values) if one.sample else {},
            }
            for one in watched
        ]
    }


def _card(source: CounterSource) -> CardSource:
    from freezeframe.capture.counters.card import CardSource

    if not isinstance(source, CardSource):
        raise InputError(
            f"{source.url} is no card of ours: it can neither be armed nor frozen nor pulled"
        )
    return source


def _free(folder: Path, stem: str, suffix: str) -> Path:
    """Return the first ``STEM-0001SUFFIX`` that is not there yet."""
    number = 1
    while (path := folder / f"{stem}-{number:04d}{suffix}").exists():
        number += 1
    return path
