"""``freezeframe decode`` on a folder, a pattern or several files: what each capture is, a line each."""

from __future__ import annotations

import glob
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from freezeframe.capture.count_text import plural
from freezeframe.capture.errors import FreezeframeError, InputError
from freezeframe.capture.files.open import find_format, is_samples
from freezeframe.capture.files.source import ReadSettings
from freezeframe.capture.folder.manifest import has_manifest
from freezeframe.capture.targets.given_as_file import missing
from freezeframe.decoders.guess.propose import Guess, Guesser
from freezeframe.decoders.plugin import load_with_plugins
from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.output import emit_json, progress_bar, table, text_width
from freezeframe.gui.cli.reading import Reading
from freezeframe.gui.cli.work.propose import evidence_line, of_a_card, proposal_document
from freezeframe.gui.cli.work.reading import samplerate_hz, source_choice
from freezeframe.gui.text import printable


def propose_many(
    places: Sequence[Path], reading: Reading, plugins: Sequence[Path], *, json: bool
) -> None:
    """Print what is proposed for each capture; one that cannot be read says why.

    Raises:
        InputError: there is no capture.
    """
    files, others = _captures(places)
    if not files:
        raise InputError(
            missing(", ".join(map(str, places)), "no capture in it")
            + (f"; {plural(others, 'file')} of other kinds" if others else "")
        )
    rate_hz = samplerate_hz(reading)
    source = source_choice(reading)
    found: list[tuple[Path, Guess | FreezeframeError | str]] = []
    with (
        compile_notice(),
        progress_bar("look", "capture") as update,
        Guesser(load_with_plugins(plugins)) as guesser,
    ):
        for number, file in enumerate(files):
            update(number, len(files), file.name)
            if file.is_dir() and not is_samples(file):
                found.append((file, of_a_card(file)))
                continue
            settings = ReadSettings(rate_hz, reading.max_samples)
            try:
                found.append((file, guesser.guess(source.open(file, settings))))
            except FreezeframeError as error:
                found.append((file, error))
    if json:
        emit_json({"captures": [_document(file, guess) for file, guess in found]})
        return
    rows = [row for file, guess in found for row in _rows(file, guess)]
    text = table(("capture", "decoder", "score", "evidence"), rows, right=(2,))
    if _on_terminal() and max(map(len, text.splitlines())) > text_width():
        text = "\n".join(map(_wrapped, rows))
    print(text)
    if others:
        print(f"{plural(others, 'file')} of other kinds left out")


def _captures(places: Sequence[Path]) -> tuple[list[Path], int]:
    """Return the captures in folders, in patterns and as they are given, and how many files are none."""
    files: list[Path] = []
    others = 0
    for place in places:
        for path in _expanded(place):
            if path.is_dir():  # a capture folder is one capture, whatever it holds
                files.append(path)
                continue
            try:
                find_format(path)
            except InputError:
                # What was named alone is told; in a folder other files may stand.
                if path == place:
                    files.append(path)
                else:
                    others += 1
            else:
                files.append(path)
    return list(dict.fromkeys(files)), others


def _expanded(place: Path) -> Iterator[Path]:
    if place.is_dir() and has_manifest(place):
        yield place
    elif place.is_dir():
        for path in sorted(place.iterdir()):
            if path.is_dir():
                yield from _expanded(path)
            elif path.is_file():
                yield path
    elif place.exists() or not glob.has_magic(str(place)):
        yield place
    else:
        for path in sorted(map(Path, glob.glob(str(place), recursive=True))):  # noqa: PTH207 # absolute ones too
            yield from _expanded(path)


def _rows(file: Path, guess: Guess | FreezeframeError | str) -> Iterator[tuple[str, ...]]:
    if isinstance(guess, str):
        yield str(file), "-", "", guess
    elif isinstance(guess, FreezeframeError):
        yield str(file), "-", "", f"cannot be read: {guess}"
    elif not guess.proposals:
        yield str(file), "none that is known", "", guess.nothing
    else:
        for each in guess.proposals:
            yield str(file), each.spec, f"{each.stated:.0%}", evidence_line(each)


def _on_terminal() -> bool:
    return sys.stdout.isatty()


def _wrapped(row: tuple[str, ...]) -> str:
    """Return a row for a terminal that is narrower than the table: what it is, and the evidence below it."""
    file, decoder, score, evidence = map(printable, row)
    lead = f"{file}: {decoder}" + (f", {score}" if score else "")
    lines = textwrap.wrap(
        evidence,
        text_width(),
        initial_indent="    ",
        subsequent_indent="    ",
        break_on_hyphens=False,
    )
    return "\n".join([lead, *lines])


def _document(file: Path, guess: Guess | FreezeframeError | str) -> dict[str, Any]:
    if isinstance(guess, str):
        return {"file": str(file), "recording": printable(guess)}
    if isinstance(guess, FreezeframeError):
        return {"file": str(file), "error": printable(str(guess))}
    return {
        "file": str(file),
        "proposals": [proposal_document(each) for each in guess.proposals],
        "nothing": guess.nothing,
    }
