"""``freezeframe console``: what the C hooks in a card print on a serial port, live or into a capture folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.options import ForceOption, argument, option

PortArgument = Annotated[
    str,
    argument("PORT[@BAUD]", "Serial port, /dev/ttyUSB0@115200; a file; or - for standard input."),
]
OutputOption = Annotated[
    Path | None,
    option("--output", "NAME.ff", "Keep the first dump as a capture folder, and end.", short="-o"),
]
CardOption = Annotated[
    Path | None,
    option("--card", "FILE", "The card file of the program, where it is not known by its hash."),
]
RecordOption = Annotated[
    Path | None,
    option("--record", "NAME.ffrec", "Keep every line that comes, ours or not; see 'recording'."),
]
JsonLinesOption = Annotated[bool, typer.Option("--json", help="Print one line of JSON for each.")]


def run(
    port: PortArgument,
    output: OutputOption = None,
    card: CardOption = None,
    record: RecordOption = None,
    force: ForceOption = False,
    json: JsonLinesOption = False,
) -> None:
    """Read the serial console of a card whose processor has the C hooks.

    Prints what its switch counts: words a flow, words in each crosspoint, cycles of forwarding. With
    -o it waits for a dump of the processor's frozen ring and keeps it as a capture folder, on which
    everything works as on one that was pulled. A program that names its card is known by the card's
    hash, as a device is: of the cards that ship, the user's, or --card. Other output on the console
    passes by.

    \b
    Examples:
      freezeframe console /dev/ttyUSB0@115200
      freezeframe console /dev/ttyUSB0 -o switch.ff
      freezeframe console /dev/ttyUSB0 --record console.ffrec
      freezeframe console /dev/ttyUSB0 -o own.ff --card own.toml
    """
    from freezeframe.gui.cli.work.console import read_console

    read_console(port, output, card, record, force=force, json=json)
