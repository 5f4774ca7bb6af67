"""Arguments and options of the verbs that read captures of samples, declared once."""

from __future__ import annotations

import glob
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from freezeframe.capture.code import code
from freezeframe.capture.errors import InputError
from freezeframe.gui.cli.completing import decoders, file_formats
from freezeframe.gui.cli.options import argument, option
from freezeframe.gui.places import MANIFESTS
from freezeframe.gui.text import printable

_salvage = code("freezeframe.capture.folder.salvage:salvage")
_lines_of = code("freezeframe.capture.folder.damage:lines_of")
_missing = code("freezeframe.capture.targets.given_as_file:missing")
_is_samples = code("freezeframe.capture.files.open:is_samples")  # numpy is loaded for it

FileArgument = Annotated[
    Path,
    argument(
        "FILE",
        "A capture (.sr, .vcd, .fst, .csv, .bin and others), a capture folder (.ff), or packets "
        "(.pcap, .pcapng, - for standard input, netdev:eth0).",
    ),
]
FilesArgument = Annotated[
    list[Path],
    argument(
        "FILE",
        "A capture (.sr, .vcd, .fst, .csv, .bin and others), a capture folder (.ff), or packets "
        "(.pcap, .pcapng, - for standard input, netdev:eth0). A folder of captures, a pattern in "
        "quotes or several files: what each is.",
    ),
]
DecoderOption = Annotated[
    list[str] | None,
    option(
        "--decoder",
        "SPEC",
        "NAME[:option=value,channel=PROBE...][+NAME...]; + stacks; may be given again. "
        "Without one, decoders are proposed.",
        short="-d",
        autocompletion=decoders,
    ),
]
SamplesOption = Annotated[
    int | None,
    option(
        "--max-samples",
        "N",
        "Refuse a capture with more samples: real ones unpack a thousandfold.",
        min=1,
    ),
]
RateOption = Annotated[
    str | None,
    option(
        "--samplerate",
        "RATE",
        "Sample rate, for instance 12MHz, where the file has none or a wrong one.",
    ),
]
FormatOption = Annotated[
    str | None,
    option(
        "--format",
        "NAME[:key=value,...]",
        "Format of the file where it does not show; binary:channels=8,rate=1000000 for raw.",
        autocompletion=file_formats,
    ),
]
ChannelOption = Annotated[
    list[str] | None,
    option(
        "--channel",
        "NEW=NAME",
        "Call a channel NEW, or the bits of a bus NEW0, NEW1...; may be given again.",
    ),
]
ThresholdOption = Annotated[
    list[str] | None,
    option(
        "--threshold",
        "[NAME=]HIGH[/LOW]",
        "Read analog channels as logic: high from HIGH volts up, low from LOW down.",
    ),
]
CutOption = Annotated[
    str | None,
    option(
        "--cut",
        "BEGIN..END",
        "Only this time of the capture, for instance 1.5ms..2ms; times of samples then begin at 0.",
    ),
]
WhereOption = Annotated[
    str | None,
    option(
        "--where",
        "EXPR",
        "Only rows that match, in the language of the desktop's Find line: 'kind == error and t_ps > 1ms'.",
    ),
]


def is_one(files: Sequence[Path]) -> bool:
    """Return whether this is one capture, or one thing that is not there; no folder of them, no pattern."""
    if len(files) != 1:
        return False
    (file,) = files
    if file.is_dir():
        return any((file / name).is_file() for name in MANIFESTS) or _is_samples(file)
    return file.exists() or not glob.has_magic(str(file))


def salvaged(path: Path, salvage: bool) -> Path:
    """Return where a capture is to be read from, and say what of it is damaged; the path itself unless asked.

    Raises:
        InputError: it is no capture, or nothing of it can be read.
    """
    if not salvage:
        return path
    refuse_missing(path)
    place: Path
    place, damage = _salvage(path)
    for line in _lines_of(damage):
        print(f"freezeframe: {printable(path)}: left out: {printable(line)}", file=sys.stderr)
    return place


def refuse_missing(*paths: Path) -> None:
    """Raise InputError where there is nothing at a path: a mistyped name need not wait for numpy."""
    for path in paths:
        if not path.exists():
            raise InputError(_missing(path))


@dataclass(frozen=True, slots=True)
class Reading:
    """How a capture of samples is to be read: the options above, as they were given."""

    max_samples: int | None = None
    samplerate: str | None = None
    format: str | None = None
    channel: Sequence[str] | None = None
    threshold: Sequence[str] | None = None
    cut: str | None = None

    def words(self) -> list[str]:
        """Return the options as they would be typed."""
        given: dict[str, Sequence[str | None]] = {
            "--max-samples": [] if self.max_samples is None else [str(self.max_samples)],
            "--samplerate": [self.samplerate],
            "--format": [self.format],
            "--channel": self.channel or (),
            "--threshold": self.threshold or (),
            "--cut": [self.cut],
        }
        return [
            word
            for name, values in given.items()
            for v in values
            if v is not None
            for word in (name, v)
        ]
