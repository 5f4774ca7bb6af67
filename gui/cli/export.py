"""``freezeframe export``: what a capture holds, in the formats of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.decode import (
    ChannelOption,
    CutOption,
    FileArgument,
    FormatOption,
    RateOption,
    SamplesOption,
    ThresholdOption,
)
from freezeframe.gui.cli.options import ForceOption, JsonOption, PluginOption
from freezeframe.gui.cli.output import count_text, emit_json, printable, progress_bar

__all__ = ["run"]

ToOption = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="FORMAT",
        help="vcd, sr, pcapng, csv, parquet or perfetto.",
        show_default=False,
    ),
]
OutputOption = Annotated[
    Path,
    typer.Option(
        "-o",
        "--output",
        metavar="OUT",
        help="The file; csv and parquet write one for each table.",
        show_default=False,
    ),
]
DecoderOption = Annotated[
    list[str] | None,
    typer.Option(
        "-d",
        "--decoder",
        metavar="SPEC",
        help="Export what this makes, as for 'decode'; may be given again.",
        show_default=False,
    ),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="NAME",
        help="Of samples, this channel or bus; may be given again.",
        show_default=False,
    ),
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
    plugin: PluginOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Export a capture, or what decoders make of it, for another tool.

    Without -d, samples are exported as they are, and a capture folder as 'trace' decodes it.

    \b
    Examples:
      freezeframe export phy.sr --to vcd -o phy.vcd
      freezeframe export sim.fst --to sr --only top.mdc --only top.mdio --cut 1ms..2ms -o phy.sr
      freezeframe export nic.sr -d spi+enc28j60 --to pcapng -o frames.pcapng
      freezeframe export fault.ff --to perfetto -o fault.pftrace
      freezeframe export fault.ff --to parquet -o fault.parquet
    """
    from freezeframe.capture.files.choice import SourceChoice
    from freezeframe.capture.files.cut import parse_span
    from freezeframe.capture.files.sigrok_sr import parse_samplerate
    from freezeframe.decoders.plugin import load_with_plugins
    from freezeframe.gui.export.run import export_file

    rate = None if samplerate is None else parse_samplerate(samplerate)
    choice = SourceChoice(
        format,
        tuple(channel or ()),
        tuple(threshold or ()),
        None if cut is None else parse_span(cut),
    )
    with compile_notice(), progress_bar("export", "read") as update:
        done = export_file(
            file,
            to,
            output,
            specs=decoder or (),
            only=only or (),
            choice=choice,
            force=force,
            max_samples=max_samples,
            samplerate_hz=rate,
            registry=load_with_plugins(plugin) if plugin else None,
            progress=lambda at, total: update(at, total, ""),
        )
    if json:
        emit_json(
            {
                "file": str(file),
                "format": to,
                "written": [{"path": str(p), "bytes": p.stat().st_size} for p in done.files],
                "counts": done.wrote.counts,
                "notes": done.wrote.notes,
            }
        )
        return
    for path in done.files:
        print(printable(f"{path}: {count_text(path.stat().st_size)} B"))
    for what, count in done.wrote.counts.items():
        print(printable(f"  {what}: {count_text(count)}"))
    for note in done.wrote.notes:
        print(printable(f"  note: {note}"))
