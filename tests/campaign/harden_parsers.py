"""The parsers and servers that ``make harden`` attacks: seeds, how one is fed, and inputs that keep its structure."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import pandas as pd

from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.console.dump import DumpReader
from freezeframe.capture.console.lines import Line, LineSplitter, parse
from freezeframe.capture.counters.alarms import parse_alarm
from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.files.choice import SourceChoice
from freezeframe.capture.files.source import ReadSettings
from freezeframe.capture.files.threshold import Threshold
from freezeframe.capture.recorder.trigger import parse_term
from freezeframe.capture.targets._url import Option, host_and_port, parse_url
from freezeframe.capture.targets.etherbone_codec import (
    Malformed,
    decode_reply,
    decode_request,
    packet_length_B,
)
from freezeframe.capture.targets.uartbone_codec import next_command
from freezeframe.decoders.host.table import events_alone
from freezeframe.decoders.query import ExpressionError, matching
from freezeframe.decoders.registry import GROUP, Registry
from freezeframe.decoders.spec import parse_spec
from tests.campaign import harden_evidence as evidence
from tests.campaign import harden_files as made
from tests.campaign import harden_grammar as grammar
from tests.campaign import harden_packets as packets
from tests.campaign import harden_servers as servers
from tests.capture.console import printed

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


_ANALOG = {"": Threshold(0.5, 0.25)}  # or nothing of an analog channel is read


def _samples(
    name: str, format: str | None = None, *, most: int = 1 << 22
) -> Callable[[bytes], object]:
    """Return what reads a file's first channels; ``most``: samples, which files of times have many of."""

    def run(data: bytes) -> object:
        path = made.file_of(name, data)
        choice = SourceChoice(format=format)
        opened = choice.open(path, ReadSettings(max_samples=most, thresholds=_ANALOG))
        names = opened.header.channels[:8]
        return len(list(opened.read(names))) if names else 0

    return run


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


_URLS = (b"etherbone://[::1]:1234?timeout=0.5&bind=0x4d2", b"uart:/dev/ttyUSB0@115200?burst=8")
_ALARMS = (b"rx_errors>0", b"a.b.drops >= 1.5e3")
_SPECS = (b"spi:clk=SCK,mosi=MOSI,cpol=1+enc28j60", b"uart:rx=RX,baud=115200", b"mdio")
_DSL = (
    b"[version]\nversion = 3\n[header]\ndevice mode = 0\ntotal samples = 64\ntotal probes = 2\ntotal blocks = 1\n"
    b"samplerate = 1 MHz\nprobe0 = a\nprobe1 = b\n"
)
_URL_OPTIONS = {"timeout": Option(1.0, 0.01, 3600, "seconds", whole=False), "bind": Option(0, 0, 65535, "port"),
                "burst": Option(None, 1, 255, "words")}  # fmt: skip


def _target(text: str) -> object:
    parsed = parse_url(text, _URL_OPTIONS, {"card": "file"})
    return (
        host_and_port(parsed, 1234)[1] > 0,
        parsed.seconds("timeout") > 0,
        parsed.whole("burst") is None,
    )


@cache
def _registry() -> Registry:
    return Registry(points=entry_points(group=GROUP))


_FILES = "capture/files/"
_TIMES = 1 << 50
PARSERS: dict[str, Parser] = {
    parser.name: parser
    for parser in (
        Parser(
            "etherbone",
            lambda: _ETHERBONE,
            _etherbone,
            ("targets/etherbone_codec.py",),
            grammar.etherbone,
        ),
        Parser(
            "uartbone",
            lambda: _UARTBONE,
            _commands,
            ("targets/uartbone_codec.py",),
            grammar.uartbone,
        ),
        Parser(
            "console",
            lambda: (_CONSOLE,),
            _console,
            ("console/lines.py", "console/dump.py"),
            grammar.console_lines,
            cost=10,
        ),
        Parser(
            "trigger",
            lambda: _TERMS,
            _text(parse_term),
            ("recorder/trigger.py", "registers/trigger_term.py"),
            grammar.term,
        ),
        Parser(
            "filter",
            lambda: _FILTERS,
            _text(lambda text: int(matching(_TABLE, text).sum())),
            ("query/parse.py", "query/evaluate.py"),
            grammar.expression,
            cost=4,
        ),
        Parser(
            "host trace",
            lambda: (_HOST,),
            lambda data: len(events_alone(data, "A").table),
            ("host/lines.py", "host/table.py"),
            _other_values,
            cost=8,
        ),
        Parser(
            "card file",
            _cards,
            _text(parse_card),
            ("card/reading.py", "card/tables.py", "card/references.py"),
            _other_values,
            cost=20,
        ),
        Parser(
            "recording",
            evidence.journal_seed,
            evidence.journal_run,
            ("capture/journal.py", "counters/recorded.py"),
            evidence.whole_frames,
            cost=8,
        ),
        Parser(
            "ff.zip",
            evidence.archive_seeds,
            evidence.archive_run,
            ("folder/one_file.py", "_zip_members.py", "folder/salvage.py"),
            made.in_archive,
            cost=40,
        ),
        Parser("http", lambda: _HTTP, servers.http, ("metrics/http.py",), grammar.request, cost=20),
        Parser(
            "sr",
            lambda: (
                made.zipped(
                    {"version": b"2", "metadata": made.METADATA, "logic-1-1": bytes(range(64))}
                ),
            ),
            _samples("x.sr"),
            (f"{_FILES}sigrok_sr.py", f"{_FILES}sigrok_header.py", f"{_FILES}_zip_members.py"),
            made.in_archive,
            cost=10,
            heavy=True,
        ),
        Parser(
            "vcd",
            lambda: (_VCD,),
            _samples("x.vcd"),
            (f"{_FILES}vcd.py",),
            _other_values,
            cost=10,
            heavy=True,
        ),
        Parser(
            "csv",
            lambda: (_CSV,),
            _samples("x.csv", most=_TIMES),
            (f"{_FILES}csv_table.py", f"{_FILES}csv_sniff.py"),
            _other_values,
            cost=10,
            heavy=True,
        ),
        Parser(
            "litescope",
            lambda: made.LITESCOPE,
            _samples("x.dump", "litescope"),
            (f"{_FILES}litescope.py",),
            made.litescope,
            cost=10,
            heavy=True,
        ),
        Parser(
            "saleae",
            lambda: made.SALEAE,
            _samples("one.bin", most=_TIMES),
            (f"{_FILES}saleae.py",),
            made.saleae,
            cost=10,
            heavy=True,
        ),
        Parser(
            "wav",
            lambda: made.WAV,
            _samples("x.wav"),
            (f"{_FILES}wav.py", f"{_FILES}levels.py"),
            made.wav,
            cost=10,
            heavy=True,
        ),
        Parser(
            "isf",
            lambda: made.ISF,
            _samples("x.isf"),
            (f"{_FILES}isf.py", f"{_FILES}levels.py"),
            made.isf,
            cost=10,
            heavy=True,
        ),
        Parser(
            "binary",
            lambda: (bytes(range(200)),),
            _samples("x.bin", "binary:channels=9,rate=1000000"),
            (f"{_FILES}raw_binary.py",),
            grammar.whole_samples,
            cost=10,
            heavy=True,
        ),
        Parser(
            "manifest",
            evidence.manifest_seed,
            evidence.folder_run,
            ("folder/reader.py", "folder/raw_files.py"),
            evidence.changed_manifest,
            cost=100,
            heavy=True,
        ),
        Parser(
            "records",
            evidence.records_seed,
            evidence.records_run,
            ("trace/memory.py",),
            evidence.whole_records,
            cost=10,
            heavy=True,
        ),
        Parser(
            "diagnosis",
            evidence.records_seed,
            evidence.explained_run,
            ("trace/decode.py", "trace/words.py", "trace/events.py", "analyzers/explain.py"),
            evidence.whole_records,
            cost=400,
            heavy=True,
        ),
        Parser(
            "etherbone server",
            lambda: _ETHERBONE,
            servers.etherbone,
            ("targets/server.py",),
            grammar.etherbone,
            cost=2,
        ),
        Parser(
            "uart server",
            lambda: _UARTBONE,
            servers.uart,
            ("targets/uart_server.py",),
            grammar.uartbone,
            cost=2,
        ),
        Parser("target URL", lambda: _URLS, _text(_target), ("targets/_url.py",), grammar.url),
        Parser(
            "decoder spec",
            lambda: _SPECS,
            _text(lambda text: len(parse_spec(text, _registry()).steps)),
            ("decoders/spec.py",),
            grammar.spec,
            cost=4,
        ),
        Parser(
            "alarm", lambda: _ALARMS, _text(parse_alarm), ("counters/alarms.py",), grammar.alarm
        ),
        Parser(
            "packets",
            lambda: packets.PACKETS,
            packets.run,
            ("packets/file.py", "packets/section.py"),
            packets.structured,
            cost=10,
            heavy=True,
        ),
        Parser(
            "dsl",
            lambda: (made.zipped({"header": _DSL, "L-0/0": b"\1" * 8, "L-1/0": b"\2" * 8}),),
            _samples("x.dsl"),
            (f"{_FILES}dsl.py", f"{_FILES}_zip_members.py"),
            made.in_archive,
            cost=10,
            heavy=True,
        ),
    )
}
