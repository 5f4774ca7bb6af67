"""``freezeframe expect``: whether the decoded rows of a capture are as a file of rules says, for a build."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.errors import EXIT_FINDINGS
from freezeframe.gui.cli.options import ForceOption, JsonOption, PluginOption, argument, option
from freezeframe.gui.cli.reading import (
    ChannelOption,
    CutOption,
    DecoderOption,
    FileArgument,
    FormatOption,
    RateOption,
    Reading,
    SamplesOption,
    ThresholdOption,
)


def run(
    file: FileArgument,
    rules: Annotated[Path, argument("RULES.toml", "What is expected of the decoded rows.")],
    *,
    decoder: DecoderOption = None,
    junit: Annotated[
        Path | None, option("--junit", "FILE.xml", "Write the verdicts as JUnit XML.")
    ] = None,
    max_samples: SamplesOption = None,
    samplerate: RateOption = None,
    format: FormatOption = None,
    channel: ChannelOption = None,
    threshold: ThresholdOption = None,
    cut: CutOption = None,
    plugin: PluginOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Hold a capture against a file of expectations; exit 1 where one does not hold.

    The file names decoders and rules about their rows; -d replaces its decoders:

    \b
      decode = ["mdio"]
      [[expect]]
      name = "the PHY has a link at the end"
      where = "reg == 1"
      last = "data == 0x782d"
      [[expect]]
      where = "kind == error"
      rows = 0

    \b
    Keys of a rule: name, table, where, and what is expected of those rows: rows (4, '1..', '2..5'),
    every, first, last, sequence (expressions in order), answered_by, within (of the last two).

    \b
    Examples:
      freezeframe expect phy.sr link.toml
      freezeframe expect phy.sr link.toml -d mdio:mdc=D0,mdio=D1 --junit link.xml
    """
    from freezeframe.gui.cli.work.expect import expect

    reading = Reading(max_samples, samplerate, format, channel, threshold, cut)
    if not expect(file, rules, decoder or (), reading, junit, plugin or (), force=force, json=json):
        raise typer.Exit(EXIT_FINDINGS)
