"""``freezeframe decode``, as typer declares it; plain arguments are read by `gui.cli.decode_options` without it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.decode_options import DecodeOptions, begin_reading
from freezeframe.gui.cli.decoding import decode
from freezeframe.gui.cli.options import ForceOption, JsonOption, PluginOption

__all__ = ["run"]

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
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write Parquet instead of printing; a file for each table where there are more.",
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


def run(
    file: FileArgument,
    *,
    decoder: DecoderOption = None,
    output: OutputOption = None,
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
    """Decode a logic-analyzer capture, or the recording in a capture folder.

    Prints one line for each event, or JSON, or writes the tables as Parquet. A channel takes the
    probe of the same name unless it is named. Without -d it looks at the names and the signals
    of the channels, proposes decoders, and says why.

    \b
    Examples:
      freezeframe decode phy.sr
      freezeframe decode phy.sr -d mdio
      freezeframe decode phy.sr -d mdio:clause=45,mdc=D0,mdio=D1 --json
      freezeframe decode phy.sr -d mdio -o events.parquet
      freezeframe decode fault.ff -d trace -o trace.parquet
      freezeframe decode sim.vcd -d mdio --channel mdc=top.phy.clk --cut 1ms..2ms
      freezeframe decode raw.bin -d uart:rx=0 --format binary:channels=8,rate=1000000
    """
    options = DecodeOptions(
        file,
        tuple(decoder or ()),
        output,
        max_samples,
        samplerate,
        format,
        tuple(channel or ()),
        tuple(threshold or ()),
        cut,
        tuple(plugin or ()),
        force,
        json,
    )
    begin_reading(options)
    decode(options)
