"""``freezeframe decode`` without a decoder: which ones fit, why, and what to type."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from freezeframe.capture.count_text import plural
from freezeframe.capture.errors import InputError
from freezeframe.capture.files.open import is_samples
from freezeframe.capture.files.source import ReadSettings
from freezeframe.capture.folder.of_cards import is_card_folder
from freezeframe.capture.folder.one_file import place_of
from freezeframe.decoders.guess.candidate import Candidate
from freezeframe.decoders.guess.lines import Line
from freezeframe.decoders.guess.propose import Guess, guess
from freezeframe.decoders.plugin import load_with_plugins
from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.output import emit_json, progress_bar
from freezeframe.gui.cli.reading import Reading
from freezeframe.gui.cli.work.reading import (
    print_notes,
    refuse_other_folder,
    samplerate_hz,
    source_choice,
)
from freezeframe.gui.text import printable, shell_path

_MOST_LINES = 16


def propose(
    file: Path, reading: Reading, output: Path | None, plugins: Sequence[Path], *, json: bool
) -> None:
    """Print the decoders that fit a capture of samples.

    Raises:
        InputError: it cannot be read, is a recording of a card, or nothing fits.
    """
    rate_hz = samplerate_hz(reading)
    notes: list[str] = []
    source = source_choice(reading, notes.append)
    refuse_other_folder(file)
    registry = load_with_plugins(plugins)
    if output is not None:
        raise InputError(f"-o {output}: without a decoder nothing is written; name one with -d")
    if place_of(file).is_dir() and not is_samples(file):
        raise InputError(f"{file}: {of_a_card(file)}")
    with compile_notice(), progress_bar("look", "read") as update:
        settings = ReadSettings(
            rate_hz,
            reading.max_samples,
            progress=lambda done, total: update(done, total, ""),
        )
        best = guess(source.open(file, settings), registry)
    print_notes(notes)
    options = [word for plugin in plugins for word in ("--plugin", str(plugin))]
    _print(file, [*options, *reading.words()], best, json=json)


def of_a_card(folder: Path) -> str:
    """Return what a capture folder is that holds no samples, and what looks into it."""
    place = shell_path(str(folder))
    decoder = "" if is_card_folder(place_of(folder)) else " -d trace"
    return f"is the recording of a card: freezeframe decode {place}{decoder}, or freezeframe explain {place}"


def _print(file: Path, options: Sequence[str], best: Guess, *, json: bool) -> None:
    """Print the proposals; ``options`` are those that the user gave to read the file.

    Raises:
        InputError: there is none.
    """
    commands = [
        shlex.join(["freezeframe", "decode", str(file), "-d", each.spec, *options])
        for each in best.proposals
    ]
    if json:
        emit_json(
            {
                "file": str(file),
                "edges": best.edges,
                "whole": best.whole,
                "channels": [
                    {"name": line.name, "edges": len(line), "clock_hz": round(line.clock_hz)}
                    for line in best.lines
                ],
                "proposals": [
                    {**proposal_document(each), "command": command}
                    for each, command in zip(best.proposals, commands, strict=True)
                ],
                "nothing": best.nothing,
            }
        )
        _refuse_without_proposal(file, best)
        return
    part = "" if best.whole else ", the first of them"
    print(printable(f"{file}: {plural(best.edges, 'edge')} looked at{part}"))
    for line in best.lines[:_MOST_LINES]:
        print(printable(f"  {line.name}: {_line_text(line)}"))
    if len(best.lines) > _MOST_LINES:
        print(f"  and {len(best.lines) - _MOST_LINES} more channels")
    _refuse_without_proposal(file, best)
    for number, (each, command) in enumerate(zip(best.proposals, commands, strict=True), start=1):
        print()
        print(printable(f"{number}. {each.spec}  ({each.stated:.0%})"))
        print(printable(f"   {evidence_line(each)}"))
        print(printable(f"   {command}"))


def _refuse_without_proposal(file: Path, best: Guess) -> None:
    """Say that nothing fits, where that is so.

    Raises:
        InputError: it is.
    """
    if not best.proposals:
        raise InputError(
            f"{file}: no decoder that is known fits what is on its channels: {best.nothing}; name one with "
            "-d NAME:channel=PROBE ('freezeframe decoders' lists them)"
        )


def evidence_line(each: Candidate) -> str:
    """Return in a line what speaks for a proposal, and against it."""
    against = f"; against: {'; '.join(each.against)}" if each.against else ""
    return "; ".join(each.why) + against


def proposal_document(each: Candidate) -> dict[str, Any]:
    """Return a proposal as JSON has it."""
    return {
        "decoder": each.spec,
        "score": each.stated,
        "channels": list(each.probes),
        "why": list(each.why),
        "against": list(each.against),
        **(each.counted.document() if each.counted is not None else {}),
    }


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
