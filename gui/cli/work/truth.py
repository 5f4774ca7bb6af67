"""The emulator's truth file against an explanation: field by field, and whether it was right."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freezeframe.capture.errors import InputError

PLACE = ("device", "tap", "direction", "flow", "packet", "word")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether it was right; ``rows`` are (field, injected, explained, agrees)."""

    right: bool
    rows: tuple[tuple[str, str, str, bool], ...]


def read_truth(path: Path) -> dict[str, Any]:
    """Return what the emulator wrote about its injections.

    Raises:
        InputError: the file is missing or is not a truth file.
    """
    try:
        truth = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"{path}: the emulator wrote no truth file; did the fault strike?"
        ) from None
    except ValueError as error:
        raise InputError(f"{path}: is not a truth file: {error}") from None
    if not isinstance(truth, dict) or not {"fault", "injections"} <= truth.keys():
        raise InputError(f"{path}: is not a truth file: 'fault' or 'injections' is missing")
    return truth


def compare_to_truth(
    truth: dict[str, Any], generation: int | None, findings: Sequence[dict[str, Any]]
) -> Verdict:
    """Hold the first finding against what was injected in this generation.

    A place that the truth leaves open (null) is not held against the explanation. Without a fault
    the explanation is right when it finds nothing.
    """
    injected = [i for i in truth["injections"] if generation in (None, i["generation"])]
    first = findings[0] if findings else {}
    diagnosis = first.get("diagnosis", "no fault found")
    if truth["fault"] == "none" or not injected:
        right = not findings
        return Verdict(right, (("fault", "none", diagnosis, right),))
    # Damage can strike again before everything has stopped: the explanation names one of them.
    best = max(injected, key=lambda one: sum(_same(one, first, key) for key in PLACE))
    rows = [("fault", truth["fault"], diagnosis, truth["fault"] == diagnosis)]
    rows += [
        (key, _text(best[key]), _text(first.get(key)), _same(best, first, key)) for key in PLACE
    ]
    return Verdict(all(agrees for *_, agrees in rows), tuple(rows))


def _same(injected: dict[str, Any], first: dict[str, Any], key: str) -> bool:
    return injected[key] is None or injected[key] == first.get(key)


def _text(value: Any) -> str:
    return "-" if value is None else str(value)
