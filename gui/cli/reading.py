"""Arguments and options of the verbs that read captures of samples, declared once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from freezeframe.capture.errors import InputError

__all__ = [
    "ChannelOption", "CutOption", "DecoderOption", "FileArgument", "FormatOption", "RateOption", "Reading",
    "SamplesOption", "ThresholdOption", "refuse_missing",
]  # fmt: skip

FileArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A capture (.sr, .vcd, .fst, .csv, .bin and others) or a capture folder (.ff).",
        show_default=False,
    ),
]
DecoderOption = Annotated[
    list[str] | None,
    typer.Option(
        "-d",
        "--decoder",
        metavar="SPEC",
        help="NAME[:option=value,channel=PROBE...][+NAME...]; + stacks; may be given again. "
        "Without one, decoders are proposed.",
        show_default=False,
    ),
]
SamplesOption = Annotated[
    int | None,
    typer.Option(
        "--max-samples",
        metavar="N",
        min=1,
        help="Refuse a capture with more samples: real ones unpack a thousandfold.",
        show_default=False,
    ),
]
RateOption = Annotated[
    str | None,
    typer.Option(
        "--samplerate",
        metavar="RATE",
        help="Sample rate, for instance 12MHz, where the file has none or a wrong one.",
        show_default=False,
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME[:key=value,...]",
        help="Format of the file where it does not show; binary:channels=8,rate=1000000 for raw.",
        show_default=False,
    ),
]
ChannelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--channel",
        metavar="NEW=NAME",
        help="Call a channel NEW, or the bits of a bus NEW0, NEW1...; may be given again.",
        show_default=False,
    ),
]
ThresholdOption = Annotated[
    list[str] | None,
    typer.Option(
        "--threshold",
        metavar="[NAME=]HIGH[/LOW]",
        help="Read analog channels as logic: high from HIGH volts up, low from LOW down.",
        show_default=False,
    ),
]
CutOption = Annotated[
    str | None,
    typer.Option(
        "--cut",
        metavar="BEGIN..END",
        help="Only this time of the capture, for instance 1.5ms..2ms; times then begin at 0.",
        show_default=False,
    ),
]


def refuse_missing(*paths: Path) -> None:
    """Raise InputError where there is nothing at a path: a mistyped name need not wait for numpy."""
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: there is no such file or folder")


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
