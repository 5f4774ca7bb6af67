"""``freezeframe recording``: what watch, serve and console recorded, as text, table or picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from freezeframe.gui.cli.options import ForceOption, JsonOption, argument, option

RecordingArgument = Annotated[
    Path, argument("NAME.ffrec", "Recording of watch, serve or console; also one that grows.")
]
WhatOption = Annotated[
    str,
    option("--what", "NAME", "Only these counters, COUNTER or SOURCE/COUNTER; may hold *."),
]
OutputOption = Annotated[
    Path | None,
    option(
        "--output", "OUT", "Write a table (.parquet, .csv) or a picture (.svg, .png).", short="-o"
    ),
]


def run(
    recording: RecordingArgument,
    what: WhatOption = "*",
    output: OutputOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Show what a recording holds: when, what grew, by how much and how fast; or export or plot it.

    It may still grow, and may be damaged: what is missing is said. A picture draws a counter as its
    rate and a gauge as its value.

    \b
    Examples:
      freezeframe recording night.ffrec
      freezeframe recording night.ffrec --what 'rx_*'
      freezeframe recording night.ffrec -o night.parquet
      freezeframe recording night.ffrec --what rx_dropped -o drops.svg
    """
    from freezeframe.gui.cli.work.recording import show_recording

    show_recording(recording, what, output, force=force, json=json)
