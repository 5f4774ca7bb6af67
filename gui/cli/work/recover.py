"""``freezeframe recover``: what a crash left is ended, or named."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from freezeframe.capture.durable import PARTIAL, sync_directory
from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.folder.damage import examine
from freezeframe.capture.journal import SUFFIX, is_journal, recover_left
from freezeframe.gui.cli.output import count_text, emit_json
from freezeframe.gui.cli.reading import refuse_missing
from freezeframe.gui.text import printable


def recover_places(places: Sequence[Path], *, json: bool) -> None:
    """Recover what stands at these places, and print what became of each.

    Raises:
        InputError: nothing there is a recording or was left by a pull.
        OSError: the disk is full or fails.
    """
    refuse_missing(*places)
    found = [_recovered(path) for place in places for path in _left_in(place)]
    if json:
        emit_json({"recovered": found})
        return
    for one in found:
        print(f"{printable(one['path'])}: {one['text']}")


def _left_in(place: Path) -> Iterator[Path]:
    if is_journal(place):
        yield place
        return
    if place.is_dir():
        inside = sorted(p for p in place.iterdir() if is_journal(p) or PARTIAL.fullmatch(p.name))
        if inside:
            yield from inside
            return
    raise InputError(
        f"{place}: no recording (NAME{SUFFIX}), and no folder in which one or a pull was left"
    )


def _recovered(path: Path) -> dict[str, Any]:
    begun_s = time.monotonic()
    if not is_journal(path):
        return {"path": str(path), "text": _finished(path)}
    recovered = recover_left(path)
    if recovered is None:
        return {
            "path": str(path),
            "text": "a program that runs is recording there; nothing was touched",
        }
    number, size_B, was_ended, cut_B = recovered
    text = f"{count_text(number)} frames, {count_text(size_B)} B: "
    text += (
        "was ended; nothing to do"
        if was_ended
        else f"ended; {count_text(cut_B)} B of no whole frame were cut"
    )
    took_s = time.monotonic() - begun_s
    return {
        "path": str(path), "frames": number, "bytes": size_B, "was_ended": was_ended, "cut_bytes": cut_B,
        "seconds": round(took_s, 3), "text": f"{text} ({took_s:.3f} s)",
    }  # fmt: skip


def _finished(path: Path) -> str:
    """Give a capture that was written whole its name; say why where it was not."""
    match = PARTIAL.fullmatch(path.name)
    if match is not None and _runs(int(match["pid"])):
        return f"process {match['pid']} runs, and may still write it; nothing was touched, run this again once it ended"
    name = path.with_name("" if match is None else match["name"])
    try:
        damage = examine(path).damage
    except CaptureFormatError:
        return "a pull was ended before it had written the capture; it holds no manifest, remove it"
    if damage:
        return f"a part of a capture: {damage[0].text}; remove it, or keep it as it is"
    if name.exists():
        return f"a whole capture, but {name.name} stands there; rename one of them"
    path.rename(name)
    sync_directory(name.parent)
    return f"was written whole, and is {name.name} now"


def _runs(pid: int) -> bool:
    """Return whether a process with this number runs here: the one that wrote, or a later one of that number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
