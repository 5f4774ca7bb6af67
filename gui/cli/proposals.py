"""What ``freezeframe decode FILE`` prints without a decoder: which fit, why, and what to type."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from freezeframe.capture.errors import InputError
from freezeframe.gui.cli.output import emit_json, plural, printable

if TYPE_CHECKING:
    from freezeframe.decoders.guess.lines import Line
    from freezeframe.decoders.guess.propose import Guess

__all__ = ["print_proposals"]

_MOST_LINES = 16


def print_proposals(file: Path, options: Sequence[str], found: Guess, *, json: bool) -> None:
    """Print the proposals; ``options`` are those that the user gave to read the file.

    Raises:
        InputError: there is none.
    """
    commands = [
        shlex.join(["freezeframe", "decode", str(file), "-d", each.spec, *options])
        for each in found.proposals
    ]
    if json:
        _refuse_without_proposal(file, found)
        emit_json(
            {
                "file": str(file),
                "edges": found.edges,
                "whole": found.whole,
                "channels": [
                    {"name": line.name, "edges": len(line), "clock_hz": round(line.clock_hz)}
                    for line in found.lines
                ],
                "proposals": [
                    {
                        "decoder": each.spec,
                        "score": round(each.score, 2),
                        "channels": list(each.probes),
                        "why": list(each.reasons),
                        "command": command,
                    }
                    for each, command in zip(found.proposals, commands, strict=True)
                ],
            }
        )
        return
    part = "" if found.whole else ", the first of them"
    print(printable(f"{file}: {plural(found.edges, 'edge')} looked at{part}"))
    for line in found.lines[:_MOST_LINES]:
        print(printable(f"  {line.name}: {_line_text(line)}"))
    if len(found.lines) > _MOST_LINES:
        print(f"  and {len(found.lines) - _MOST_LINES} more channels")
    _refuse_without_proposal(file, found)
    for number, (each, command) in enumerate(zip(found.proposals, commands, strict=True), start=1):
        print()
        print(printable(f"{number}. {each.spec}  ({each.score:.0%})"))
        for reason in each.reasons:
            print(printable(f"   - {reason}"))
        print(printable(f"   {command}"))


def _refuse_without_proposal(file: Path, found: Guess) -> None:
    """Say that nothing fits, where that is so.

    Raises:
        InputError: it is.
    """
    if not found.proposals:
        raise InputError(
            f"{file}: no decoder fits what is on its channels; name one with -d NAME:channel=PROBE "
            "('freezeframe decoders' lists them)"
        )


def _line_text(line: Line) -> str:
    if not len(line):
        return f"always {line.first}"
    clock = f", a clock of {_frequency(line.clock_hz)}" if line.clock_hz else ""
    return f"{plural(len(line), 'edge')}, rests {'high' if line.idle else 'low'}{clock}"


def _frequency(hz: float) -> str:
    for unit, scale in (("GHz", 1e9), ("MHz", 1e6), ("kHz", 1e3)):
        if hz >= scale:
            return f"{hz / scale:.4g} {unit}"
    return f"{hz:.4g} Hz"
