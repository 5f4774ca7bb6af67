"""``freezeframe import``: captures into a capture folder, laid over each other where there are more."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from freezeframe.gui.cli.options import ForceOption, JsonOption, argument, option
from freezeframe.gui.cli.reading import (
    ChannelOption,
    CutOption,
    FormatOption,
    RateOption,
    Reading,
    SamplesOption,
    ThresholdOption,
    refuse_missing,
)

FilesArgument = Annotated[
    list[Path], argument("FILE...", "Captures; the first is the time base of the others.")
]
OutputOption = Annotated[Path, option("--output", "NAME.ff", "The capture folder.", short="-o")]
AlignOption = Annotated[
    list[str] | None,
    option(
        "--align",
        "CHANNEL[=OTHER]",
        "Find offset and drift from a signal that the first file and a further one have seen; "
        "once for all, or for each in order.",
    ),
]
OffsetOption = Annotated[
    list[str] | None,
    option(
        "--offset",
        "TIME",
        "Where a further file begins on the time base of the first: 1.5ms, -20ns; for each.",
    ),
]
DriftOption = Annotated[
    list[str] | None,
    option("--drift", "PPM", "By how much its time is longer, with --offset; for each in order."),
]


def run(
    files: FilesArgument,
    output: OutputOption,
    *,
    align: AlignOption = None,
    offset: OffsetOption = None,
    drift: DriftOption = None,
    cut: CutOption = None,
    format: FormatOption = None,
    channel: ChannelOption = None,
    threshold: ThresholdOption = None,
    samplerate: RateOption = None,
    max_samples: SamplesOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Store captures in a folder, unaltered, with how they are to be read; decode takes the folder.

    Names, thresholds, a cut and where a second file lies are kept as a recipe beside the files.
    With several files, these options are for all of them: import one alone first where it needs
    others, and then the folders.

    \b
    Examples:
      freezeframe import phy.sr -o phy.ff
      freezeframe import scope.csv --threshold D=1.4/0.8 --channel mdio=D -o phy.ff
      freezeframe import long.sr --cut 1.5s..1.6s -o part.ff
      freezeframe import left.sr right.vcd --align SYNC=top.sync -o both.ff
      freezeframe import left.sr right.sr --offset 1.25ms --drift -3.2 -o both.ff
    """
    refuse_missing(*files)
    from freezeframe.gui.cli.work.import_files import import_files

    reading = Reading(max_samples, samplerate, format, channel, threshold, cut)
    import_files(
        files, output, align or (), offset or (), drift or (), reading, force=force, json=json
    )
