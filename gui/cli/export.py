"""``freezeframe export``: what a capture holds, in the formats of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from freezeframe.gui.cli.options import ForceOption, JsonOption
from freezeframe.gui.cli.output import count_text, emit_json, progress_bar

__all__ = ["run"]

FileArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="A sigrok capture (.sr) or a capture folder (.ff).", show_default=False
    ),
]
FormatOption = Annotated[
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
SamplesOption = Annotated[
    int | None,
    typer.Option(
        "--max-samples",
        metavar="N",
        min=1,
        help="Refuse a capture with more samples.",
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


def run(
    file: FileArgument,
    to: FormatOption,
    output: OutputOption,
    *,
    decoder: DecoderOption = None,
    max_samples: SamplesOption = None,
    samplerate: RateOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Export a capture, or what decoders make of it, for another tool.

    Without -d, samples are exported as they are, and a capture folder as 'trace' decodes it.

    \b
    Examples:
      freezeframe export phy.sr --to vcd -o phy.vcd
      freezeframe export nic.sr -d spi+enc28j60 --to pcapng -o frames.pcapng
      freezeframe export fault.ff --to perfetto -o fault.pftrace
      freezeframe export fault.ff --to parquet -o fault.parquet
    """
    from freezeframe.capture.files.sigrok_sr import parse_samplerate
    from freezeframe.gui.export.run import export_file

    rate = None if samplerate is None else parse_samplerate(samplerate)
    with progress_bar("export", "samples") as update:
        done = export_file(
            file,
            to,
            output,
            specs=decoder or (),
            force=force,
            max_samples=max_samples,
            samplerate_hz=rate,
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
        print(f"{path}: {count_text(path.stat().st_size)} B")
    for what, count in done.wrote.counts.items():
        print(f"  {what}: {count_text(count)}")
    for note in done.wrote.notes:
        print(f"  note: {note}")
