"""Inputs for `tests.campaign.harden` that are right in their grammar: packets, commands, terms, expressions, requests.

What is wrong in them is what a grammar does not say: counts and addresses at their limits, values that do not fit
their columns, fields that contradict each other.
"""

from __future__ import annotations

import binascii
import random
import struct

from freezeframe.capture.registers.layouts import HEADER, Kind, PacketType
from tests.campaign.harden_files import Mutate

_COUNTS = (0, 1, 2, 7, 64, 254, 255)
_NUMBERS = ("0", "-1", "+7", "0x10", "0xffffffffffffffff", "0x1_0000", "18446744073709551616", "1.5", "0b101",
            "1e309", "12.5us", "3ms", "7ps", "0.0000000001s", "99999999999999999999999999s", "")  # fmt: skip


def etherbone(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Return a packet whose records have the words that they count, or an answer."""
    if rng.random() < 0.3:
        words = [struct.unpack(">I", rng.randbytes(4))[0] for _ in range(rng.choice(_COUNTS))]
        head = struct.pack(">II", 0x4E6F1044, 0)
        record = struct.pack(">II", 0x000F0000 | len(words) << 8, rng.getrandbits(32))
        return head + record + struct.pack(f">{len(words)}I", *words)
    packet = struct.pack(">HBB4x", 0x4E6F, rng.choice((0x10, 0x10, 0x10, 0x14, 0x11, 0x12)), 0x44)
    for _ in range(rng.choice((0, 1, 1, 2, 5, 40))):
        writes, reads = rng.choice(_COUNTS), rng.choice(_COUNTS)
        flags = rng.choice((0, 0, 0, 0, 0x08, rng.getrandbits(8)))
        enable = rng.choice((0x0F, 0x0F, 0x0F, 0x0F, 0x03))
        packet += struct.pack(">BBBB", flags, enable, writes, reads)
        packet += rng.randbytes(4 + 4 * writes if writes else 0)
        packet += rng.randbytes(4 + 4 * reads if reads else 0)
    return packet


def uartbone(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Return commands that have the words that they count; of the last some may be missing."""
    stream = b""
    for _ in range(rng.choice((1, 1, 2, 9))):
        code, words = rng.choice((1, 2, 3, 4, 1, 3, rng.getrandbits(8))), rng.choice(_COUNTS)
        stream += struct.pack(">BBI", code, words, rng.getrandbits(32))
        if code in (1, 3):
            stream += rng.randbytes(4 * words)
    return stream[: len(stream) - rng.choice((0, 0, 0, 1, 5))]


def term(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Return a term of fields that there are, with values of any kind."""
    names = ["kind", "data", *HEADER.fields]
    parts = []
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        name = rng.choice(names)
        if name == "kind":
            value = "|".join(
                rng.choice([kind.name for kind in Kind]) for _ in range(rng.randrange(1, 4))
            )
        elif name == "type" and rng.random() < 0.7:
            value = rng.choice([kind.name for kind in PacketType])
        else:
            value = rng.choice((*_NUMBERS, str(rng.getrandbits(rng.choice((1, 4, 8, 16, 64))))))
        if name == "data" and rng.random() < 0.5:
            value += "/" + rng.choice(_NUMBERS)
        parts.append(f"{name}={value}")
    return ",".join(parts).encode()


def console_lines(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Return lines of a console whose sums are right, with other words in other places."""
    lines = [line.strip() for line in data.split(b"\n")]
    texts = [line.partition(b"ff:")[2].rpartition(b" *")[0] for line in lines if b"ff:" in line]
    texts = texts or [b"begin 1", b"end 0 0"]
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(texts))
        words = texts[at].split(b" ")
        match rng.randrange(6):
            case 0:
                words[rng.randrange(len(words))] = rng.choice(_HEX)
            case 1:
                words = rng.choice(texts).split(b" ")
            case 2:
                texts.insert(at, rng.choice((b"begin 2", b"end 1 0", b"rec 1 " + b"00" * 9)))
                continue
            case 3:
                del texts[at]
                texts = texts or [b"begin 1"]
                continue
            case 4:
                words = [b"reg", b"%x" % (4 * rng.randrange(80)), rng.choice(_HEX)]
            case _:
                words = mutate(texts[at]).split(b" ")
        texts[at] = b" ".join(words)
    return b"".join(b"ff:%s *%04x\r\n" % (text, binascii.crc_hqx(text, 0xFFFF)) for text in texts)


_HEX = (
    b"0",
    b"1",
    b"ffffffff",
    b"100000000",
    b"-1",
    b"0x1",
    b"1_0",
    b"",
    b"zz",
    b"ffff",
    b"10000",
    b"3",
)
_COLUMNS = ("kind", "t_ps", "v", "a", "b", "data", "name", "none_such", "true", "null")
_SIGNS = ("==", "=", "!=", "<", "<=", ">", ">=", "~", "!~", "&", "in")
_TEXTS = (
    '"a.*"',
    "'['",
    '"(a+)+$"',
    "error",
    "x",
    '"\\\\"',
    "'é'",
    "true",
    "false",
    "null",
    '"' + "a" * 300 + '"',
)


def expression(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Return comparisons of columns with values of any kind, tied by words and brackets."""
    return _tied(rng, rng.choice((0, 1, 1, 2, 3))).encode()


def _tied(rng: random.Random, deep: int) -> str:
    if deep:
        parts = [_tied(rng, deep - 1) for _ in range(rng.choice((1, 2, 2, 3)))]
        text = rng.choice((" and ", " or ", " && ", " | ", " & ")).join(parts)
        return rng.choice(("({})", "not ({})", "{}", "!({})", "((({})))")).format(text)
    left = rng.choice(_COLUMNS)
    if rng.random() < 0.1:
        return left
    right = rng.choice((rng.choice(_NUMBERS), rng.choice(_TEXTS), rng.choice(_COLUMNS)))
    if rng.random() < 0.1:
        left, right = right, left
    return f"{left} {rng.choice(_SIGNS)} {right}"


_HEADERS = (
    b"Host: localhost", b"Host: 127.0.0.1:9", b"Host: [::1]:9", b"Host: evil.example", b"Host:", b"Host: [",
    b"Accept: text/plain", b"Accept: application/openmetrics-text; version=1.0.0; q=x", b"Accept-Encoding: gzip",
    b"Content-Length: 99999999999", b"Content-Length: -1", b"Transfer-Encoding: chunked", b"Expect: 100-continue",
    b"Connection: keep-alive", b"Authorization: Bearer x", b"Upgrade: websocket", b" folded", b"X: " + b"a" * 900,
    b"X: \xff\xfe", b"Range: bytes=0-",
)  # fmt: skip


def request(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Return a request whose lines are lines, with methods, paths, versions and headers of any kind."""
    method = rng.choice((b"GET", b"GET", b"GET", b"HEAD", b"POST", b"OPTIONS", b"get", b"PRI"))
    path = rng.choice((b"/metrics", b"/json", b"/", b"*", b"/metrics?name[]=x", b"/%00", b"/../json", b"//json",
                       b"http://localhost/json", b"/" + b"a" * 2000, mutate(b"/metrics")))  # fmt: skip
    version = rng.choice(
        (b"HTTP/1.0", b"HTTP/1.1", b"HTTP/1.1", b"HTTP/2.0", b"HTTP/0.9", b"HTTP/9", b"", b"ICY")
    )
    end = rng.choice((b"\r\n", b"\r\n", b"\r\n", b"\n"))
    headers = [rng.choice(_HEADERS) for _ in range(rng.choice((0, 1, 2, 5, 120)))]
    return end.join(
        [b" ".join((method, path, version)), *headers, b"", rng.choice((b"", b"", b"x" * 99))]
    )


def whole_samples(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Return samples of two bytes: runs of one value, edges at every sample, any bits."""
    made = b""
    for _ in range(rng.choice((0, 1, 3, 20))):
        value = rng.choice((b"\0\0", b"\xff\x01", b"\xff\xff", rng.randbytes(2)))
        made += value * rng.choice((1, 2, 63, 64, 65, 1000))
    return made


_HOSTS = (
    "192.0.2.7",
    "[::1]",
    "[::1",
    "localhost",
    "",
    "a" * 300,
    "\u00e9",
    "%00",
    "host/path",
    "user@host",
)
_OPTIONS = ("timeout", "bind", "burst", "card", "none", "", "timeout ", "%74imeout")


def url(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Return the URL of a target with hosts, ports and options of any kind."""
    scheme = rng.choice(("etherbone", "uart", "litex", "", "x"))
    port = rng.choice(("", ":1234", ":0", ":65536", ":-1", ":" + "9" * 50, ":\u0663", ": 1"))
    options = [
        f"{rng.choice(_OPTIONS)}={rng.choice(_NUMBERS)}" for _ in range(rng.choice((0, 1, 2, 4)))
    ]
    slashes = rng.choice(("//", "//", "//", "/", ""))
    return f"{scheme}:{slashes}{rng.choice(_HOSTS)}{port}?{'&'.join(options)}".encode()


_DECODERS = ("spi", "uart", "mdio", "i2c", "enc28j60", "sfp", "jtag", "none", "")
_KEYS = ("clk", "mosi", "cpol", "cpha", "baud", "rx", "tx", "bits", "sda", "none", "")
_VALUES = (
    "1",
    "0",
    "-1",
    "115200",
    "SCK",
    "a+b",
    "a\\+b",
    "a\\,b",
    "\\",
    "1e309",
    "true",
    "msb-first",
    "",
)


def spec(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Return a stack of decoders with options and channels of any kind."""
    parts = []
    for _ in range(rng.choice((1, 1, 2, 3, 30))):
        given = [
            f"{rng.choice(_KEYS)}={rng.choice(_VALUES)}" for _ in range(rng.choice((0, 1, 2, 5)))
        ]
        parts.append(rng.choice(_DECODERS) + (":" if given else "") + ",".join(given))
    return "+".join(parts).encode()


def alarm(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Return a rule over a counter: a name, a sign and a limit of any kind."""
    name = rng.choice(("rx_errors", "a.b", "eth0:rx", "", "\u00e9", "x" * 999, "a b"))
    return f"{name}{rng.choice(('>', '<', '>=', '<=', '=', ' > '))}{rng.choice(_NUMBERS)}".encode()
