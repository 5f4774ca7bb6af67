"""``freezeframe explain``: what went wrong, where and when, in the terminal or as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.capture.errors import InputError
from freezeframe.capture.packets.recognise import is_packets
from freezeframe.gui.cli.errors import EXIT_FINDINGS
from freezeframe.gui.cli.options import DevicesOption, JsonOption, SalvageOption, argument
from freezeframe.gui.cli.reading import salvaged

ExplainedArgument = Annotated[
    Path,
    argument(
        "CAPTURE", "Capture folder (NAME.ff), or packets: pcap, pcapng, - for standard input."
    ),
]

FaultsOption = Annotated[
    Path | None,
    typer.Option("--faults", metavar="DIR", help="Look for the faults of these files, too."),
]
QualifiedOption = Annotated[
    Path | None,
    typer.Option(
        "--qualified",
        metavar="FILE",
        help="Use what qualify measured of this card, in place of what this host remembers.",
    ),
]
FailOption = Annotated[
    bool, typer.Option("--fail-on-findings", help="Exit with 1 when something is certainly wrong.")
]


def run(
    capture: ExplainedArgument,
    device: DevicesOption = None,
    fail_on_findings: FailOption = False,
    faults: FaultsOption = None,
    qualified: QualifiedOption = None,
    salvage: SalvageOption = False,
    json: JsonOption = False,
) -> None:
    """Say what went wrong, where and when, with the evidence.

    Where the capture does not hold enough to decide, the answer is 'undetermined' with what fits.
    With --fail-on-findings the exit code is 1, unless every finding also fits a card without a
    fault ('none' is among its candidates). What qualify measured of the card is used, where this host
    pulled the capture; the answer says so.

    \b
    Examples:
      freezeframe explain fault.ff
      freezeframe explain fault.ff --json
      freezeframe explain fault.ff --device A
      freezeframe explain fault.ff --faults our-faults
      freezeframe explain lab.pcapng
    """
    if is_packets(capture):
        if device or faults is not None or qualified is not None:
            raise InputError(
                f"--device, --faults and --qualified: are for captures of cards, and {capture} holds packets"
            )
        from freezeframe.gui.cli.work.packet_explanation import show_packet_explanation

        broken = show_packet_explanation(capture, json=json)
        if fail_on_findings and broken:
            raise typer.Exit(EXIT_FINDINGS)
        return
    capture = salvaged(capture, salvage)
    from freezeframe.gui.cli.work.explain import show_explanation

    faulty = show_explanation(capture, device, faults, qualified, json=json)
    if fail_on_findings and faulty:
        raise typer.Exit(EXIT_FINDINGS)
