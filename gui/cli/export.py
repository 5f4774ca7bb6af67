"""``freezeframe export``: what a capture holds, in the formats of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.completing import decoders, export_formats
from freezeframe.gui.cli.options import ForceOption, JsonOption, PluginOption, SalvageOption, option
from freezeframe.gui.cli.reading import (
    ChannelOption,
    CutOption,
    FileArgument,
    FormatOption,
    RateOption,
    Reading,
    SamplesOption,
    ThresholdOption,
    WhereOption,
    refuse_missing,
    salvaged,
)

ToOption = Annotated[
    str,
    option(
        "--to",
        "FORMAT",
        "vcd, sr, pcapng, csv, parquet, stimulus or perfetto.",
        autocompletion=export_formats,
    ),
]
OutputOption = Annotated[
    Path,
    option(
        "--output",
        "OUT",
        "The file, or - for standard output; csv and parquet write one for each table.",
        short="-o",
    ),
]
DecoderOption = Annotated[
    list[str] | None,
    option(
        "--decoder",
        "SPEC",
        "Export what this makes, as for 'decode'; may be given again.",
        short="-d",
        autocompletion=decoders,
    ),
]
OnlyOption = Annotated[
    list[str] | None,
    option("--only", "NAME", "Of samples, this channel or bus; may be given again."),
]


TableOption = Annotated[
    str | None,
    option(
        "--table", "NAME", "With -o -, this table where there are several, 'words' for instance."
    ),
]
HexOption = Annotated[
    bool, typer.Option("--hex", help="Opaque 64-bit words (data, value, dest) as hex text.")
]


def run(
    file: FileArgument,
    to: ToOption,
    output: OutputOption,
    *,
    decoder: DecoderOption = None,
    only: OnlyOption = None,
    max_samples: SamplesOption = None,
    samplerate: RateOption = None,
    format: FormatOption = None,
    channel: ChannelOption = None,
    threshold: ThresholdOption = None,
    cut: CutOption = None,
    where: WhereOption = None,
    table: TableOption = None,
    hex: HexOption = False,
    plugin: PluginOption = None,
    force: ForceOption = False,
    salvage: SalvageOption = False,
    json: JsonOption = False,
) -> None:
    """Export a capture, or what decoders make of it, for another tool.

    Without -d, samples are exported as they are, and a capture folder as 'trace' decodes it.

    \b
    Examples:
      freezeframe export phy.sr --to vcd -o phy.vcd
      freezeframe export sim.fst --to sr --only top.mdc --only top.mdio --cut 1ms..2ms -o phy.sr
      freezeframe export nic.sr -d spi+enc28j60 --to pcapng -o frames.pcapng
      freezeframe export lab.pcap --to pcapng -o lab-commented.pcapng
      freezeframe export fault.ff --to perfetto -o fault.pftrace
      freezeframe export fault.ff --to parquet -o fault.parquet
      freezeframe export phy.sr --to stimulus --cut 0ms..2ms -o phy_stimulus.py
      freezeframe export fault.ff --to csv --table words --hex -o - | head
      freezeframe export phy.sr -d mdio --where 'op == write' --to csv -o writes.csv
    """
    refuse_missing(file)
    file = salvaged(file, salvage)
    from freezeframe.gui.cli.work.export import export

    reading = Reading(max_samples, samplerate, format, channel, threshold, cut)
    export(
        file,
        to,
        output,
        decoder or (),
        only or (),
        reading,
        plugin or (),
        where,
        table,
        hexadecimal=hex,
        force=force,
        json=json,
    )
