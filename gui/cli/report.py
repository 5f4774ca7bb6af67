"""``freezeframe report``: the explanation of a capture as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.capture.errors import InputError
from freezeframe.capture.packets.recognise import is_packets
from freezeframe.gui.cli.options import ForceOption, JsonOption, SalvageOption, argument
from freezeframe.gui.cli.reading import salvaged

ReportedArgument = Annotated[
    Path, argument("CAPTURE", "Capture folder (NAME.ff), or a file of packets: pcap, pcapng.")
]

OutputOption = Annotated[
    Path, typer.Option("-o", "--output", metavar="FILE", help="HTML file to write.")
]
NoAnalysesOption = Annotated[
    bool,
    typer.Option("--no-analyses", help="Leave out throughput, credits, latency and the others."),
]


def run(
    capture: ReportedArgument,
    output: OutputOption = Path("report.html"),
    no_analyses: NoAnalysesOption = False,
    force: ForceOption = False,
    salvage: SalvageOption = False,
    json: JsonOption = False,
) -> None:
    """Write the explanation of a capture as one HTML file that needs nothing else.

    It loads nothing, so it can be mailed, archived and printed. Where a browser runs its script, the
    drawings zoom and the tables sort and filter; everything is there without it, too. --json prints
    what was written: the file, its size and the analyses in it.

    \b
    Examples:
      freezeframe report fault.ff -o fault.html
      freezeframe report fault.ff -o short.html --no-analyses
      freezeframe report lab.pcapng -o lab.html
    """
    if is_packets(capture):
        if no_analyses:
            raise InputError(
                f"--no-analyses: is for captures of cards, and {capture} holds packets"
            )
        from freezeframe.gui.cli.work.report import save_packet_report

        save_packet_report(capture, output, force=force, json=json)
        return
    capture = salvaged(capture, salvage)
    from freezeframe.gui.cli.work.report import save_report

    save_report(capture, output, with_analyses=not no_analyses, force=force, json=json)
