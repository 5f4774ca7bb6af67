"""``freezeframe decode``: events out of a logic-analyzer capture or a capture folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from freezeframe.capture.code import code
from freezeframe.capture.errors import InputError
from freezeframe.capture.packets.recognise import is_packets
from freezeframe.gui.cli.options import ForceOption, JsonOption, PluginOption, SalvageOption, option
from freezeframe.gui.cli.reading import (
    ChannelOption,
    CutOption,
    DecoderOption,
    FilesArgument,
    FormatOption,
    RateOption,
    Reading,
    SamplesOption,
    ThresholdOption,
    WhereOption,
    is_one,
    refuse_missing,
    salvaged,
)

is_host_trace = code("freezeframe.decoders.host.lines:is_host_trace")

OutputOption = Annotated[
    Path | None,
    option(
        "--output",
        "FILE",
        "Write Parquet instead of printing; a file for each table where there are more.",
        short="-o",
    ),
]
AsOption = Annotated[
    str | None,
    option("--as", "NAME", "Stack this decoder on each -d: 'text' for the lines on a UART."),
]


def run(
    files: FilesArgument,
    *,
    decoder: DecoderOption = None,
    output: OutputOption = None,
    max_samples: SamplesOption = None,
    samplerate: RateOption = None,
    format: FormatOption = None,
    channel: ChannelOption = None,
    threshold: ThresholdOption = None,
    cut: CutOption = None,
    as_: AsOption = None,
    where: WhereOption = None,
    plugin: PluginOption = None,
    force: ForceOption = False,
    salvage: SalvageOption = False,
    json: JsonOption = False,
) -> None:
    """Decode a logic-analyzer capture, the recording in a capture folder, or packets.

    Prints one line for each event, or JSON, or writes the tables as Parquet. A channel takes the
    probe of the same name unless it is named. Without -d it looks at the names and the signals
    of the channels, proposes decoders, and says why.

    \b
    Examples:
      freezeframe decode phy.sr
      freezeframe decode captures/
      freezeframe decode phy.sr -d mdio
      freezeframe decode phy.sr -d mdio:clause=45,mdc=D0,mdio=D1 --json
      freezeframe decode phy.sr -d mdio -o events.parquet
      freezeframe decode phy.sr -d mdio --where 'reg == 1 and t_ps > 2ms'
      freezeframe decode fault.ff -d trace -o trace.parquet
      freezeframe decode sim.vcd -d mdio --channel mdc=top.phy.clk --cut 1ms..2ms
      freezeframe decode console.sr -d uart:baud=115200 --as text
      freezeframe decode dmesg.txt
      freezeframe decode raw.bin -d uart:rx=0 --format binary:channels=8,rate=1000000
      freezeframe decode traffic.pcapng -d tcp -o tcp.parquet
      tcpdump -U -w - | freezeframe decode - -d ethernet
      freezeframe decode netdev:eth0 -d ethernet
    """
    reading = Reading(max_samples, samplerate, format, channel, threshold, cut)
    if not is_packets(files[0]) and not is_one(files):
        if decoder or output is not None:
            what = f"{len(files)} captures"
            if len(files) == 1:
                what = (
                    f"{files[0]}: is a directory, but not a capture folder: it has no manifest.json"
                )
            raise InputError(f"{what}; -d decodes one capture, without it what each is is told")
        from freezeframe.gui.cli.work.propose_many import propose_many

        propose_many(files, reading, plugin or (), json=json)
        return
    file = files[0]
    if (where is not None or as_) and not decoder:
        given = "--where chooses among" if where is not None else "--as takes"
        raise InputError(f"{given} the rows of decoders; name one with -d")
    if as_:
        decoder = [f"{spec}+{as_}" for spec in decoder or ()]
    if is_packets(file):
        if decoder:
            from freezeframe.gui.cli.work.packets import decode_packets

            decode_packets(
                file, decoder, reading, output, plugin or (), where, force=force, json=json
            )
        else:
            from freezeframe.gui.cli.work.packet_overview import show_packets

            show_packets(file, reading, output, plugin or (), json=json)
        return
    refuse_missing(file)
    file = salvaged(file, salvage)
    if (file.is_dir() or file.suffix == ".zip") and not decoder:
        from freezeframe.gui.cli.work.card_capture import decode_if_card

        if decode_if_card(file, reading, output, force=force, json=json):
            return
    if not decoder and is_host_trace(file):
        from freezeframe.gui.cli.work.host_trace import show_host_trace

        show_host_trace(file, output, force=force, json=json)
        return
    if decoder:
        from freezeframe.gui.cli.work.decode import decode

        decode(file, decoder, reading, output, plugin or (), where, force=force, json=json)
    else:
        from freezeframe.gui.cli.work.propose import propose

        propose(file, reading, output, plugin or (), json=json)
