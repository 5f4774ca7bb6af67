"""``freezeframe console``: lines of the C hooks from a serial port, printed, and a dump kept as a capture folder."""

from __future__ import annotations

import json as json_text
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from freezeframe.capture.console.dump import Dump, DumpReader
from freezeframe.capture.console.lines import Damaged, Line, LineSplitter, parse
from freezeframe.capture.console.port import open_console
from freezeframe.capture.console.switch import PortCounts
from freezeframe.capture.count_text import plural
from freezeframe.capture.counters.recording import LINES, Recording
from freezeframe.capture.durable import check_place
from freezeframe.capture.errors import TargetError
from freezeframe.capture.folder import CaptureWriter
from freezeframe.capture.folder.card_content import CardCapture
from freezeframe.capture.folder.card_folder import write_card_folder
from freezeframe.capture.folder.history import unknown_history
from freezeframe.capture.folder.manifest import MANIFEST
from freezeframe.gui.cli.output import progress_bar
from freezeframe.gui.places import refuse_evidence
from freezeframe.gui.text import printable, shell_path


def read_console(
    port: str,
    output: Path | None,
    card: Path | None,
    record: Path | None,
    *,
    force: bool,
    json: bool,
) -> None:
    """Print what comes; with ``output`` keep the first dump there, and end.

    Raises:
        InputError: the port is not named right, the folder cannot be written, or the card of the dump is not known.
        TargetError: the port cannot be read, or it ended before a whole dump.
    """
    if output is not None:
        refuse_evidence(output.parent)
        check_place(output, force, MANIFEST)
    splitter, dumps = LineSplitter(), DumpReader(card)
    damaged = 0
    with (
        open_console(port) as chunks,
        progress_bar("dump", "records") as show,
        ExitStack() as stack,
    ):
        recording = None
        if record is not None:
            refuse_evidence(record)
            recording = Recording(record, LINES)
            stack.callback(recording.close)
        for chunk in chunks:
            texts = splitter.feed(chunk)
            if recording is not None and texts:
                for text in texts:
                    recording.line(text.decode("utf-8", "backslashreplace"))
                recording.sync()
            for text in texts:
                line = parse(text)
                if line is None:
                    continue
                damaged += isinstance(line, Damaged)
                if output is None:
                    _print(line, json)
                dump = dumps.feed(line)
                if dump is None:
                    continue
                if output is not None:
                    return _keep(dump, port, output, force=force, json=json)
                _print_dump(dump, json)
            if dumps.records is not None:
                show(dumps.records, 0, "")
    if output is not None:
        raise TargetError(_ended(port, dumps.records, damaged))


def _ended(port: str, records: int | None, damaged: int) -> str:
    seen = f"; {plural(damaged, 'line')} arrived damaged" if damaged else ""
    if records is None:
        return f"{port}: ended, and no dump was in it{seen}"
    return (
        f"{port}: ended in the middle of a dump, after {plural(records, 'record')}{seen}; "
        "let the card print it again"
    )


def _keep(dump: Dump, port: str, path: Path, *, force: bool, json: bool) -> None:
    device, source = dump.device, f"console:{port}"
    if isinstance(device, CardCapture):
        history = unknown_history({device.name: device.registers.value("id.generation")})
        write_card_folder(
            path, [device], source=source, history=history, lost=dump.lost, overwrite=force
        )
    else:
        writer = CaptureWriter(path, source=source, overwrite=force)
        writer.add_device(device)
        for line in dump.lost:
            writer.add_lost(line)
        writer.commit()
    memory = dump.device.memories["event_log"]
    records = len(memory.records) if memory.wrapped else memory.write_ptr
    if json:
        print(json_text.dumps({"capture": str(path), "records": records, "lost": list(dump.lost)}))
    else:
        print(f"{shell_path(str(path))}: {plural(records, 'record')}")
        for line in dump.lost:
            print(f"  lost: {line}")
    if dump.lost:
        raise TargetError(
            f"{path}: holds only a part of the ring; let the card print it again: "
            f"freezeframe console {port} -o {path} --force"
        )


def _print(line: Line | Damaged, json: bool) -> None:
    if isinstance(line, Damaged):
        shown = printable(line.text.decode("ascii", "replace"))
        _emit(
            {"kind": "damaged", "line": shown, "why": line.why},
            f"damaged, {line.why}: {shown}",
            json,
        )
        return
    numbers = line.numbers
    if line.what == "flow":
        cycle, flow, words = numbers
        _emit(
            {"kind": "flow", "cycle": cycle, "flow": flow, "words": words},
            f"{cycle:>14,}  flow {flow:<3} {words:,} words",
            json,
        )
    elif line.what == "xpt":
        cycle, into, out, now, most = numbers
        _emit(
            {"kind": "crosspoint", "cycle": cycle, "input": into, "output": out, "words": now, "most_words": most},
            f"{cycle:>14,}  crosspoint {into} to {out}: {now:,} words, at most {most:,}",
            json,
        )  # fmt: skip
    elif line.what == "port":
        cycle, number, *counts = numbers
        c = PortCounts(*counts)
        _emit(
            {"kind": "port", "cycle": cycle, "port": number, **c._asdict()},
            f"{cycle:>14,}  port {number}: {c.words_in:,} words in, {c.packets_in:,} packets, {c.bad_in:,} bad, "
            f"{c.told:,} words told; {c.words_out:,} words out, {c.packets_out:,} packets, {c.bad_out:,} bad",
            json,
        )
    elif line.what == "fwd":
        cycle, packets, cycles, least, most, refused = numbers
        mean = f", {cycles // packets:,} on average" if packets else ""
        _emit(
            {"kind": "forwarding", "cycle": cycle, "packets": packets, "cycles": cycles, "least_cycles": least,
             "most_cycles": most, "refused": refused},
            f"{cycle:>14,}  {plural(packets, 'packet')} forwarded, {least:,} to {most:,} cycles{mean}"
            + (f"; {refused:,} calls with a flow or port that is none" if refused else ""),
            json,
        )  # fmt: skip


def _print_dump(dump: Dump, json: bool) -> None:
    memory = dump.device.memories["event_log"]
    records = len(memory.records) if memory.wrapped else memory.write_ptr
    lost = f"; {'; '.join(dump.lost)}" if dump.lost else ""
    _emit(
        {"kind": "dump", "records": records, "lost": list(dump.lost)},
        f"a dump of {plural(records, 'record')}{lost}; -o NAME.ff keeps the next one",
        json,
    )


def _emit(document: dict[str, Any], text: str, json: bool) -> None:
    if json:
        print(json_text.dumps(document), flush=True)
    else:
        print(text, flush=True)
