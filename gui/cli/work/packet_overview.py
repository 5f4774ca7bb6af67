"""``freezeframe decode`` of packets without a decoder: what is in them, and what to type."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from freezeframe.capture.count_text import plural
from freezeframe.capture.errors import InputError
from freezeframe.capture.packets.recognise import is_live
from freezeframe.capture.packets.source import open_source
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.contract import PACKETS
from freezeframe.decoders.net.packet_summary import PacketSummary
from freezeframe.decoders.plugin import load_with_plugins
from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.output import emit_json, progress_bar
from freezeframe.gui.cli.reading import Reading
from freezeframe.gui.cli.work.packets import refuse_options
from freezeframe.gui.cli.work.reading import print_notes
from freezeframe.gui.text import printable


def show_packets(
    source: Path, reading: Reading, output: Path | None, plugins: Sequence[Path], *, json: bool
) -> None:
    """Print what is in a file of packets, and the decoders that take it.

    Raises:
        InputError: it cannot be read, holds no packet, or packets come while they are read.
    """
    refuse_options(source, reading)
    registry = load_with_plugins(plugins)
    fitting = [d for d in registry.decoders.values() if d.consumes == PACKETS]
    names = ", ".join(decoder.id for decoder in fitting)
    if is_live(source):
        raise InputError(
            f"{source}: say what is to be seen of the packets: -d NAME, one of {names}"
        )
    if output is not None:
        raise InputError(f"-o {output}: without a decoder nothing is written; name one with -d")
    summary = PacketSummary()
    with (
        compile_notice(),
        progress_bar("look", "B") as update,
        open_source(source, lambda done, total: update(done, total, "")) as packets,
    ):
        for block in packets:
            summary.take(block)
    print_notes(packets.notes)
    if not summary.packets:
        raise InputError(f"{source}: holds no packet that can be read: there is nothing to decode")
    begin = datetime.fromtimestamp(packets.epoch_ns // 10**9, UTC)
    words = [word for plugin in plugins for word in ("--plugin", str(plugin))]
    commands = {
        decoder.id: shlex.join(["freezeframe", "decode", str(source), "-d", decoder.id, *words])
        for decoder in fitting
    }
    if json:
        emit_json(
            {
                "file": str(source),
                "format": packets.format,
                "packets": summary.packets,
                "wire_B": summary.wire_B,
                "cut": summary.cut,
                "epoch_ns": packets.epoch_ns,
                "begin_ps": summary.begin_ps,
                "end_ps": summary.end_ps,
                "interfaces": [
                    {"name": each.name, "linktype": each.linktype, "packets": summary.on[place]}
                    for place, each in enumerate(packets.interfaces)
                ],
                "protocols": dict(summary.protocols.most_common()),
                "notes": packets.notes,
                "decoders": [{"decoder": name, "command": each} for name, each in commands.items()],
            }
        )
        return
    cut = f", {summary.cut:,} of them cut" if summary.cut else ""
    lasts = format_ps(summary.end_ps - summary.begin_ps)
    when = f" in {lasts} from {begin:%Y-%m-%d %H:%M:%S} UTC" if summary.packets else ""
    print(
        printable(
            f"{source}: {packets.format}, {plural(summary.packets, 'packet')}{cut}, {summary.wire_B:,} B{when}"
        )
    )
    for place, count in sorted(summary.on.items()):
        name = packets.interfaces[place].name or f"interface {place}"
        print(printable(f"  {name} ({summary.link(place)}): {plural(count, 'packet')}"))
    for protocol, count in summary.protocols.most_common():
        print(printable(f"  {protocol}: {count:,}"))
    for decoder in fitting:
        print()
        print(printable(f"{decoder.id}  {decoder.doc}"))
        print(printable(f"   {commands[decoder.id]}"))
