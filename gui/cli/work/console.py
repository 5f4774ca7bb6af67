"""``freezeframe console``: lines of the C hooks from a serial port, printed, and a dump kept as a capture folder."""

from __future__ import annotations

import json as json_text
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import serial

from freezeframe.capture.console.dump import Dump, DumpReader
from freezeframe.capture.console.lines import Damaged, Line, LineSplitter, parse
from freezeframe.capture.count_text import plural
from freezeframe.capture.counters.recording import LINES, Recording
from freezeframe.capture.durable import check_place
from freezeframe.capture.errors import InputError, TargetError
from freezeframe.capture.folder import CaptureWriter
from freezeframe.capture.folder.card_content import CardCapture
from freezeframe.capture.folder.card_folder import write_card_folder
from freezeframe.capture.folder.history import unknown_history
from freezeframe.capture.folder.manifest import MANIFEST
from freezeframe.gui.cli.output import progress_bar
from freezeframe.gui.places import refuse_evidence
from freezeframe.gui.text import printable, shell_path

_BAUD = 115200
_AT_ONCE_B = 4096
_PAUSE_S = 0.2


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
        _opened(port) as chunks,
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


@contextmanager
def _opened(port: str) -> Iterator[Iterator[bytes]]:
    """Open a port, a file or standard input as a stream of bytes; a port goes on until it is interrupted."""
    if port == "-":
        yield iter(lambda: os.read(0, _AT_ONCE_B), b"")
        return
    if Path(port).is_file():
        with Path(port).open("rb") as file:
            yield iter(lambda: file.read(_AT_ONCE_B), b"")
        return
    name, at, baud = port.rpartition("@")
    if not at:
        name, baud = port, str(_BAUD)
    if not (baud.isascii() and baud.isdigit() and int(baud)):
        raise InputError(f"{port}: {baud!r} is not a baud rate; write /dev/ttyUSB0@115200")
    try:
        device = serial.Serial(name, int(baud), timeout=_PAUSE_S)
    except (serial.SerialException, ValueError, OSError) as error:
        raise TargetError(f"{name}: cannot be opened: {error}") from None
    with device:
        yield _from_port(name, device)


def _from_port(name: str, device: Any) -> Iterator[bytes]:
    while True:
        try:
            data = device.read(max(1, min(device.in_waiting, _AT_ONCE_B)))
        except (serial.SerialException, OSError) as error:
            raise TargetError(f"{name}: the port went away: {error}") from None
        if data:
            yield data


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
