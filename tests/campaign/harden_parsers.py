"""The parsers and servers that ``make harden`` attacks: seeds, how one is fed, and inputs that keep its structure."""

from __future__ import annotations

import io
import json
import random
import socket
import tempfile
import threading
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from freezeframe.analyzers.explain import explain
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.console.dump import DumpReader
from freezeframe.capture.console.lines import Line, LineSplitter, parse
from freezeframe.capture.counters.recorded import Recorded
from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.files.choice import SourceChoice
from freezeframe.capture.files.source import ReadSettings
from freezeframe.capture.files.threshold import Threshold
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.folder.manifest import manifest_digest, manifest_text, sha256
from freezeframe.capture.folder.one_file import files_below, pack, place_of
from freezeframe.capture.folder.salvage import examine_any
from freezeframe.capture.journal import frame
from freezeframe.capture.recorder.trigger import parse_term
from freezeframe.capture.targets.etherbone_codec import (
    Malformed,
    decode_reply,
    decode_request,
    packet_length_B,
)
from freezeframe.capture.targets.uartbone_codec import next_command
from freezeframe.decoders.host.table import events_alone
from freezeframe.decoders.query import ExpressionError, matching
from freezeframe.gui.metrics.http import MetricsServer
from tests.campaign import harden_files as made
from tests.campaign import harden_grammar as grammar
from tests.capture.console import printed
from tests.gui.made_capture import made_capture

ALLOWED: tuple[type[Exception], ...] = (FreezeframeError, ExpressionError, Malformed)

Structured = Callable[[random.Random, bytes, made.Mutate], bytes]


@dataclass(frozen=True, slots=True)
class Parser:
    """One parser.

    Attributes:
        run: takes an input and returns what it made of it, in a word.
        structured: makes an input whose frame is right and whose content is not.
        files: ends of the paths of its own modules, for coverage.
        cost: how many times as long an execution takes as that of a fast parser.
        heavy: compiles kernels or starts processes, so it is left out of the short form.
    """

    name: str
    seeds: Callable[[], Sequence[bytes]]
    run: Callable[[bytes], object]
    files: tuple[str, ...]
    structured: Structured | None = None
    cost: int = 1
    heavy: bool = False


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    memory = Path("/dev/shm")
    return tempfile.TemporaryDirectory(prefix="harden-", dir=memory if memory.is_dir() else None)


def _file(name: str, data: bytes) -> Path:
    path = Path(_scratch().name) / name
    path.write_bytes(data)
    return path


_ANALOG = {"": Threshold(0.5, 0.25)}  # or nothing of an analog channel is read


def _samples(
    name: str, format: str | None = None, *, most: int = 1 << 22
) -> Callable[[bytes], object]:
    """Return what reads a file's first channels; ``most``: samples, which files of times have many of."""

    def run(data: bytes) -> object:
        path = _file(name, data)
        choice = SourceChoice(format=format)
        opened = choice.open(path, ReadSettings(max_samples=most, thresholds=_ANALOG))
        names = opened.header.channels[:8]
        return len(list(opened.read(names))) if names else 0

    return run


def _zip(members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return packed.getvalue()


def _in_archive(rng: random.Random, data: bytes, mutate: made.Mutate) -> bytes:
    """Change one member, and pack it again with the right checksum and sizes."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # the base was itself broken: any archive will do
        members = {"version": b"2", "metadata": _METADATA, "logic-1-1": bytes(range(64))}
    name = rng.choice(list(members) or ["metadata"])
    members[name] = mutate(members.get(name, b""))
    if rng.random() < 0.1:
        members.pop(rng.choice(list(members)))
    return _zip(members)


_METADATA = (
    b"[global]\nsigrok version=0.5.2\n\n[device 1]\ncapturefile=logic-1\ntotal probes=2\nsamplerate=1 MHz\n"
    b"total analog=0\nprobe1=a\nprobe2=b\nunitsize=1\n"
)
_VCD = (
    b'$timescale 1 ns $end\n$scope module top $end\n$var wire 1 ! clk $end\n$var wire 8 " data [7:0] $end\n'
    b'$upscope $end\n$enddefinitions $end\n#0\n0!\nb00000000 "\n#5\n1!\n#10\n0!\nb10101010 "\n#15\n1!\nbx "\n#20\n0!\n'
)
_CSV = b"time [s],a,b\n0.0,0,1\n0.000001,1,1\n0.000002,0,0\n0.000005,1,0\n"
_HOST = (
    b"          <idle>-0     [001] d.h.   100.000123: irq_handler_entry: irq=42 name=nic0\n"
    b"[  100.000200] mlx5_core 0000:03:00.0: up\nW 4 100.000300 1 0xfebc0010 0x1 0x0 0\n# tracer: nop\n"
    b"CPU:1 [LOST 12 EVENTS]\n"
)
_CONSOLE = b"".join(
    [
        b"boot\r\n",
        *printed.dump([printed.record(n << 40, n % 8, 9) for n in range(6)]),
        printed.line("flow 10 3 7"),
        printed.line("xpt 11 1 2 3 4"),
        printed.line("fwd 1 2 3 4 5 6"),
    ]
)
_TERMS = (b"type=RDMA_WRITE,flow=1", b"kind=TAIL", b"data=0x12/0xff", b"seq=7")
_FILTERS = (
    b"kind == error and t_ps > 1ms",
    b"v > 1.5",
    b"name =~ 'a.*'",
    b"not (a == 3 or b != 4)",
    b"data & 0xff == 2",
)
_ETHERBONE = (
    bytes.fromhex("4e6f104400000000000f0002000000070000001000000014"),
    bytes.fromhex("4e6f104400000000000f01000000002011223344"),
    bytes.fromhex("4e6f114400000000"),
)
_UARTBONE = (bytes.fromhex("020100000040"), bytes.fromhex("01020000004011223344aabbccdd"))
_HTTP = (
    b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n",
    b"GET /json HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n\r\n",
)


@cache
def _capture() -> tuple[Path, dict[str, bytes]]:
    folder = made_capture(Path(_scratch().name) / "base.ff").path
    return folder, {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _manifest_seed() -> Sequence[bytes]:
    return (_capture()[1]["manifest.json"],)


def _sealed(data: bytes) -> bytes:
    """Return a manifest with its digest made again, where it is JSON at all."""
    try:
        manifest = json.loads(data)
        manifest["digest"] = manifest_digest(manifest)
        return manifest_text(manifest)
    except (ValueError, TypeError, RecursionError):
        return data


def _changed_manifest(rng: random.Random, data: bytes, mutate: made.Mutate) -> bytes:
    """Change values of a manifest, anywhere in it, and seal it."""
    try:
        manifest = json.loads(data)
    except (ValueError, RecursionError):
        return mutate(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        _change(rng, manifest)
    return _sealed(json.dumps(manifest).encode())


def _change(rng: random.Random, value: Any) -> None:
    """Replace, remove or repeat something in a tree of lists and objects."""
    while isinstance(value, dict | list) and value:
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        inside = value[key]
        if isinstance(inside, dict | list) and inside and rng.random() < 0.85:
            value = inside
            continue
        match rng.randrange(4):
            case 0:
                del value[key]
            case 1:
                value[key] = rng.choice(
                    (None, True, -1, 0, 1, 1 << 31, 1 << 63, "", "x" * 300, [], {}, 255)
                )
            case 2 if isinstance(inside, int):
                value[key] = inside + rng.choice((-1, 1, 1 << 16))
            case _:
                value[key] = str(inside)
        return


def _folder_run(data: bytes) -> object:
    folder, files = _capture()
    (folder / "manifest.json").write_bytes(data)
    try:
        opened = CaptureFolder.open(folder)
        return len(explain(opened).findings)
    finally:
        (folder / "manifest.json").write_bytes(files["manifest.json"])


def _records_run(data: bytes) -> object:
    """Take an input for the records of a memory, hashes made again: what a card could have recorded."""
    folder, files = _capture()
    name = "raw/A.tx_deq.rec"
    fitting = data[: len(files[name])].ljust(len(files[name]), b"\0")
    manifest = json.loads(files["manifest.json"])
    manifest["raw"][name]["sha256"] = sha256(fitting)
    manifest["digest"] = manifest_digest(manifest)
    (folder / name).write_bytes(fitting)
    (folder / "manifest.json").write_bytes(manifest_text(manifest))
    try:
        return len(explain(CaptureFolder.open(folder)).findings)
    finally:
        for file in (name, "manifest.json"):
            (folder / file).write_bytes(files[file])


def _whole_records(rng: random.Random, data: bytes, mutate: made.Mutate) -> bytes:
    """Change kinds, times and order of whole records."""
    records = [bytearray(data[at : at + 9]) for at in range(0, len(data) - 8, 9)]
    for _ in range(rng.choice((1, 3, 20))):
        at = rng.randrange(len(records)) if records else 0
        match rng.randrange(4):
            case 0 if records:
                records[at][8] = rng.randrange(256)
            case 1 if records:
                records[at], records[0] = records[0], records[at]
            case 2 if records:
                records.insert(at, bytearray(records[at]))
            case 3 if records:
                records[at][rng.randrange(9)] = rng.randrange(256)
    return b"".join(bytes(record[:9].ljust(9, b"\0")) for record in records)


def _archive_run(data: bytes) -> object:
    path = _file("x.ff.zip", data)
    return len(examine_any(path).damage), place_of(path).name


def _archive_seeds() -> Sequence[bytes]:
    folder = _capture()[0]
    small = {name: data[:600] for name, data in files_below(folder, "x.ff").items()}
    return (pack(small), _zip({"x.ff/manifest.json": _capture()[1]["manifest.json"]}))


def _journal_seed() -> Sequence[bytes]:
    head = {"recording": 1, "kind": "counters", "tool": "x", "t_ns": 1, "utc_ns": 2}
    texts: list[Any] = [
        head,
        {"source": "s", "columns": [["a", "counter", "B"]]},
        ["s", 5, [7]],
        ["s", 9, [8]],
    ]
    frames = [frame(n, json.dumps(text).encode()) for n, text in enumerate(texts)]
    return (b"FFRJRNL1" + b"".join(frames) + frame(len(texts), b""),)


def _journal_run(data: bytes) -> object:
    place = Path(_scratch().name) / "x.ffrec"
    place.mkdir(exist_ok=True)
    (place / "00000001.ffj").write_bytes(data)
    recorded = Recorded(place)
    return sum(table.num_rows for table in recorded.tables()), len(recorded.missing)


def _whole_frames(rng: random.Random, data: bytes, mutate: made.Mutate) -> bytes:
    """Change payloads and put them into frames that are right."""
    payloads = [part[16:] for part in data.split(b"\xf5FFJ")[1:]] or [b"{}"]
    at = rng.randrange(len(payloads))
    payloads[at] = mutate(payloads[at])
    numbers = list(range(len(payloads)))
    if rng.random() < 0.2:
        rng.shuffle(numbers)
    return b"FFRJRNL1" + b"".join(frame(n, p) for n, p in zip(numbers, payloads, strict=True))


def _text(run: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: run(data.decode("utf-8", "replace"))


_TABLE = pd.DataFrame({"kind": ["error", "x"], "t_ps": [1, 2], "v": [1.5, float("nan")], "a": [3, 4], "b": [4, 4],
                       "data": [2, -1], "name": ["a", None]})  # fmt: skip


def _cards() -> Sequence[bytes]:
    folder = Path(__file__).parents[2] / "firmware-hooks/cards"
    return [path.read_bytes() for path in sorted(folder.glob("*.toml"))[:3]]


def _other_values(rng: random.Random, data: bytes, mutate: made.Mutate) -> bytes:
    """Put what stands behind one ``=`` or between two blanks behind another."""
    lines = data.split(b"\n")
    for _ in range(rng.choice((1, 2, 4))):
        one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        key, sign, _ = lines[one].partition(b"=")
        lines[one] = key + sign + lines[other].partition(b"=")[2] if sign else lines[other]
    return b"\n".join(lines)


def _console(data: bytes) -> object:
    """Read a console: what kinds of lines, and the dump in them."""
    reader, kinds, damaged = DumpReader(), set(), set()
    dumps = 0
    for line in map(parse, LineSplitter().feed(data)):
        if line is None:
            continue
        if isinstance(line, Line):
            kinds.add(line.what)
        else:
            damaged.add(line.why)
        dump = reader.feed(line)
        dumps += dump is not None
    return sorted(kinds), sorted(damaged), dumps > 0


def _commands(data: bytes) -> object:
    left, count = data, 0
    while left:
        command, used = next_command(left)
        if not used:
            break
        count += command is not None
        left = left[used:]
    return count


def _etherbone(data: bytes) -> object:
    records = decode_request(data)
    try:
        reply = decode_reply(data) is not None
        length_B = packet_length_B(data[:12]) if len(data) >= 12 else 0
    except ValueError:
        reply, length_B = False, 0
    return records is not None, reply, length_B > 0


@cache
def _server() -> MetricsServer:
    server = MetricsServer("127.0.0.1", 0, [])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def _http(data: bytes) -> object:
    """Send a request and return the code of the answer."""
    with socket.create_connection(("127.0.0.1", _server().server_port), 5) as client:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        answer = b""
        try:
            while piece := client.recv(1 << 16):
                answer += piece
        except ConnectionResetError:
            return "reset"
    return answer[9:12].decode("ascii", "replace")


_FILES = "capture/files/"
_TIMES = 1 << 50
PARSERS: dict[str, Parser] = {
    parser.name: parser
    for parser in (
        Parser("etherbone", lambda: _ETHERBONE, _etherbone, ("targets/etherbone_codec.py",),
               grammar.etherbone),
        Parser("uartbone", lambda: _UARTBONE, _commands, ("targets/uartbone_codec.py",),
               grammar.uartbone),
        Parser("console", lambda: (_CONSOLE,), _console, ("console/lines.py", "console/dump.py"),
               grammar.console_lines, cost=10),
        Parser("trigger", lambda: _TERMS, _text(parse_term), ("recorder/trigger.py", "registers/trigger_term.py"),
               grammar.term),
        Parser("filter", lambda: _FILTERS, _text(lambda text: int(matching(_TABLE, text).sum())),
               ("query/parse.py", "query/evaluate.py"), grammar.expression, cost=4),
        Parser("host trace", lambda: (_HOST,), lambda data: len(events_alone(data, "A").table),
               ("host/lines.py", "host/table.py"), _other_values, cost=8),
        Parser("card file", _cards, _text(parse_card), ("card/reading.py", "card/tables.py", "card/references.py"),
               _other_values, cost=20),
        Parser("recording", _journal_seed, _journal_run, ("capture/journal.py", "counters/recorded.py"), _whole_frames,
               cost=8),
        Parser("ff.zip", _archive_seeds, _archive_run, ("folder/one_file.py", "_zip_members.py", "folder/salvage.py"),
               _in_archive, cost=40),
        Parser("http", lambda: _HTTP, _http, ("metrics/http.py",), grammar.request, cost=20),
        Parser("sr", lambda: (_zip({"version": b"2", "metadata": _METADATA, "logic-1-1": bytes(range(64))}),),
               _samples("x.sr"), (f"{_FILES}sigrok_sr.py", f"{_FILES}sigrok_header.py", f"{_FILES}_zip_members.py"),
               _in_archive, cost=10, heavy=True),
        Parser("vcd", lambda: (_VCD,), _samples("x.vcd"), (f"{_FILES}vcd.py",), _other_values, cost=10, heavy=True),
        Parser("csv", lambda: (_CSV,), _samples("x.csv", most=_TIMES),
               (f"{_FILES}csv_table.py", f"{_FILES}csv_sniff.py"), _other_values, cost=10, heavy=True),
        Parser("litescope", lambda: made.LITESCOPE, _samples("x.dump", "litescope"), (f"{_FILES}litescope.py",),
               made.litescope, cost=10, heavy=True),
        Parser("saleae", lambda: made.SALEAE, _samples("one.bin", most=_TIMES), (f"{_FILES}saleae.py",), made.saleae,
               cost=10, heavy=True),
        Parser("wav", lambda: made.WAV, _samples("x.wav"), (f"{_FILES}wav.py", f"{_FILES}levels.py"), made.wav,
               cost=10, heavy=True),
        Parser("isf", lambda: made.ISF, _samples("x.isf"), (f"{_FILES}isf.py", f"{_FILES}levels.py"), made.isf,
               cost=10, heavy=True),
        Parser("binary", lambda: (bytes(range(200)),), _samples("x.bin", "binary:channels=9,rate=1000000"),
               (f"{_FILES}raw_binary.py",), grammar.whole_samples, cost=10, heavy=True),
        Parser("manifest", _manifest_seed, _folder_run, ("folder/reader.py", "folder/raw_files.py"), _changed_manifest,
               cost=100, heavy=True),
        Parser("records", lambda: (_capture()[1]["raw/A.tx_deq.rec"],), _records_run,
               ("decoders/trace/decode.py",), _whole_records, cost=400, heavy=True),
    )
}  # fmt: skip
