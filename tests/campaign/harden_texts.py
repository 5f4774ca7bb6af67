"""Texts, lines and messages for `tests.campaign.harden`: seeds, and how each is read."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points

import pandas as pd

from freezeframe.capture.console.dump import DumpReader
from freezeframe.capture.console.lines import Line, LineSplitter, parse
from freezeframe.capture.targets._url import Option, host_and_port, parse_url
from freezeframe.capture.targets.etherbone_codec import (
    decode_reply,
    decode_request,
    packet_length_B,
)
from freezeframe.capture.targets.uartbone_codec import next_command
from freezeframe.decoders.host.table import events_alone
from freezeframe.decoders.query.evaluate import matching
from freezeframe.decoders.registry import GROUP, Registry
from freezeframe.decoders.spec import parse_spec
from tests.campaign.harden_files import Mutate, zipped
from tests.capture.console import printed

VCD = (
    b'$timescale 1 ns $end\n$scope module top $end\n$var wire 1 ! clk $end\n$var wire 8 " data [7:0] $end\n'
    b'$upscope $end\n$enddefinitions $end\n#0\n0!\nb00000000 "\n#5\n1!\n#10\n0!\nb10101010 "\n#15\n1!\nbx "\n#20\n0!\n'
)
CSV = b"time [s],a,b\n0.0,0,1\n0.000001,1,1\n0.000002,0,0\n0.000005,1,0\n"
HOST = (
    b"          <idle>-0     [001] d.h.   100.000123: irq_handler_entry: irq=42 name=nic0\n"
    b"[  100.000200] mlx5_core 0000:03:00.0: up\nW 4 100.000300 1 0xfebc0010 0x1 0x0 0\n# tracer: nop\n"
    b"CPU:1 [LOST 12 EVENTS]\n"
)
CONSOLE = b"".join(
    [
        b"boot\r\n",
        *printed.dump([printed.record(n << 40, n % 8, 9) for n in range(6)]),
        printed.line("flow 10 3 7"),
        printed.line("xpt 11 1 2 3 4"),
        printed.line("fwd 1 2 3 4 5 6"),
    ]
)
TERMS = (b"type=RDMA_WRITE,flow=1", b"kind=TAIL", b"data=0x12/0xff", b"seq=7")
FILTERS = (
    b"kind == error and t_ps > 1ms",
    b"v > 1.5",
    b"name =~ 'a.*'",
    b"not (a == 3 or b != 4)",
    b"data & 0xff == 2",
)
ETHERBONE = (
    bytes.fromhex("4e6f104400000000000f0002000000070000001000000014"),
    bytes.fromhex("4e6f104400000000000f01000000002011223344"),
    bytes.fromhex("4e6f114400000000"),
)
UARTBONE = (bytes.fromhex("020100000040"), bytes.fromhex("01020000004011223344aabbccdd"))
HTTP = (
    b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n",
    b"GET /json HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n\r\n",
)


def of_text(run: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: run(data.decode("utf-8", "replace"))


_TABLE = pd.DataFrame({"kind": ["error", "x"], "t_ps": [1, 2], "v": [1.5, float("nan")], "a": [3, 4], "b": [4, 4],
                       "data": [2, -1], "name": ["a", None]})  # fmt: skip


def other_values(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Put what stands behind one ``=`` or between two blanks behind another."""
    lines = data.split(b"\n")
    for _ in range(rng.choice((1, 2, 4))):
        one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        key, sign, _ = lines[one].partition(b"=")
        lines[one] = key + sign + lines[other].partition(b"=")[2] if sign else lines[other]
    return b"\n".join(lines)


def console(data: bytes) -> object:
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


def commands(data: bytes) -> object:
    left, count = data, 0
    while left:
        command, used = next_command(left)
        if not used:
            break
        count += command is not None
        left = left[used:]
    return count


def etherbone(data: bytes) -> object:
    records = decode_request(data)
    try:
        reply = decode_reply(data) is not None
        length_B = packet_length_B(data[:12]) if len(data) >= 12 else 0
    except ValueError:
        reply, length_B = False, 0
    return records is not None, reply, length_B > 0


URLS = (b"etherbone://[::1]:1234?timeout=0.5&bind=0x4d2", b"uart:/dev/ttyUSB0@115200?burst=8")
ALARMS = (b"rx_errors>0", b"a.b.drops >= 1.5e3")
SPECS = (b"spi:clk=SCK,mosi=MOSI,cpol=1+enc28j60", b"uart:rx=RX,baud=115200", b"mdio")
DSL = (
    b"[version]\nversion = 3\n[header]\ndevice mode = 0\ntotal samples = 64\ntotal probes = 2\ntotal blocks = 1\n"
    b"samplerate = 1 MHz\nprobe0 = a\nprobe1 = b\n"
)
_URL_OPTIONS = {"timeout": Option(1.0, 0.01, 3600, "seconds", whole=False), "bind": Option(0, 0, 65535, "port"),
                "burst": Option(None, 1, 255, "words")}  # fmt: skip

DSL_FILE = zipped({"header": DSL, "L-0/0": b"\1" * 8, "L-1/0": b"\2" * 8})


def target(text: str) -> object:
    parsed = parse_url(text, _URL_OPTIONS, {"card": "file"})
    return (
        host_and_port(parsed, 1234)[1] > 0,
        parsed.seconds("timeout") > 0,
        parsed.whole("burst") is None,
    )


@cache
def _registry() -> Registry:
    return Registry(points=entry_points(group=GROUP))


def filtered(text: str) -> object:
    return int(matching(_TABLE, text).sum())


def host_trace(data: bytes) -> object:
    return len(events_alone(data, "A").table)


def stack(text: str) -> object:
    return len(parse_spec(text, _registry()).steps)
