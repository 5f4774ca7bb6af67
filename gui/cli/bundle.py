"""``freezeframe bundle``: a capture and what belongs to it as one file to mail."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from freezeframe.gui.cli.options import CaptureArgument, ForceOption, JsonOption, option

OutputOption = Annotated[
    Path | None,
    option("--output", "NAME.ff.zip", "File to write; beside the capture by default.", short="-o"),
]
AddOption = Annotated[
    list[Path] | None,
    option("--add", "FILE", "Pack this file as well, a log for instance; may be given again."),
]


def run(
    capture: CaptureArgument,
    output: OutputOption = None,
    add: AddOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Pack a capture, its report, its guard's log, versions and damage into one file to mail.

    The file is a zip archive that is read wherever a capture is: explain fault.ff.zip. The evidence in
    it is stored, so that a damaged byte takes no more with it than in the folder.

    \b
    Examples:
      freezeframe bundle fault.ff
      freezeframe bundle fault.ff -o ticket-4711.ff.zip --add dmesg.txt
      freezeframe explain ticket-4711.ff.zip
    """
    from freezeframe.gui.cli.work.bundle import bundle

    bundle(capture, output, add or (), force=force, json=json)
