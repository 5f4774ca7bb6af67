"""FST and GHW files for `tests.campaign.harden`: our reading path, and the foreign reader behind it in its jail.

A program of its own for each of 200,000 files would take a day to load. So `wave_worker` is given children that are
forks of one that has loaded all there is (`wave_nursery`), and shut themselves in as always: all that stands between
a file and its edges is what users have. That a child dies, or stands still until it is ended, is one line to them and
no crash here.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import socket
import struct
import subprocess
import sys
import zlib
from base64 import b85decode
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import IO
from unittest.mock import patch

from freezeframe.capture.files import wave_worker
from tests.campaign.harden_files import Mutate, samples
from tests.capture.files.test_ghw import WRITTEN

_NURSERY = Path(__file__).with_name("wave_nursery.py")
_ANSWER_B = 256
_LENGTH_B = 8
_QUIET_S = (
    3  # of the processor without a change, in place of two minutes: what hangs is ended sooner
)
# What `vcd2fst` and `vcd2fst -Z` (GTKWave 3.3) write of a clock, a byte with x and z, and a real number; zlib, base 85.
_PACKED = (
    b"c-muN00Tx(22>!K87|VzwV%}i#Nj}QGeT)*G@9{yT5(BuQD#YM5yQX$x1vl1zx*-<BXb1<Gb>|rD`O)CBLgEdE;`u{3#2~ukc85@"
    b"f&$DHajRD}FtHi@2;^t5j9}fsY{J06#=^z|lxA7QTmc2lRZsvAZ3b2d^~0W-S05hotRMj8v7ytjh>=E*Fh&lzB5NqE`9bO*LrH!C"
    b"1A_oVa!xkTS^<WX#F9jXXmcxrSfJ0C8FEs~QgeW;{{ZtmDV_",
    b"c-muN00Tx(22>!K87|VzwV%}i#Nj}QGeT)*G@9{yT5(BuQD#YM5yQX$x1vl1zx*-<BXb1<Gb>|rD`O)CBLgEdE;`u{3#2~ukc85@"
    b"f&$DHajRD}FtHi@2;^t5j9}fs9L2!E#=^z|lxA7QTmc2lRZsvAZ3b2d^~0W-S05hotRMj8v7ytjh>=E*Fh&jr7AV^bN^8n@LtW4O"
    b"`*^^l_yY$N4osLc`RoCXCBZ`8LZXY#uH{LRw2+t~Srl|SsJLOxe})%NZF@C=8URDRG^h",
)
FST = tuple(zlib.decompress(b85decode(text)) for text in _PACKED)
GHW = (WRITTEN,)
_spent_s = 0.0


def children_s() -> float:
    """Return the seconds of the processor that children have taken so far."""
    return _spent_s


@cache
def _nursery() -> socket.socket:
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, str(_NURSERY), str(there.fileno()), str(wave_worker._CHILD)]
    # It ends when this end of the line is closed, so with this process.
    subprocess.Popen(command, pass_fds=[there.fileno()], env={**os.environ, "RUST_BACKTRACE": "0"})
    there.close()
    return here


class _Child:
    """What `wave_worker` asks of `subprocess.Popen`, of a fork of the nursery; there is one at a time."""

    def __init__(self, command: Sequence[str], *, stderr: IO[bytes], **_: object) -> None:
        reads, writes = os.pipe()
        given = json.dumps(command[2:]).encode()
        socket.send_fds(_nursery(), [given], [writes, stderr.fileno()])
        os.close(writes)
        self.stdout = os.fdopen(reads, "rb")
        self._code: int | None = None

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.stdout.close()
        self.wait()

    def wait(self) -> int:
        global _spent_s  # noqa: PLW0603  # one nursery, one account
        if self._code is None:
            code, took_s = json.loads(_nursery().recv(_ANSWER_B))
            _spent_s += took_s
            self._code = int(code)
        return self._code

    def kill(self) -> None:
        """End it, unless it has ended."""
        if self._code is None:
            _nursery().send(b"end")
            self.wait()


_FORKS = SimpleNamespace(Popen=_Child, PIPE=subprocess.PIPE, DEVNULL=subprocess.DEVNULL)


def run(name: str) -> Callable[[bytes], object]:
    """Return what reads a file of a format as users do, but for who starts the child."""
    read = samples(name)

    def fed(data: bytes) -> object:
        with (
            patch.object(wave_worker, "subprocess", _FORKS),
            patch.object(wave_worker, "_QUIET_S", _QUIET_S),
        ):
            return read(data)

    return fed


def _sections(data: bytes) -> list[tuple[int, bytes]]:
    """Return the sections of an FST file, (type, what follows its length), as far as they are whole."""
    found, at = [], 0
    while at + 9 <= len(data):
        size_B = int.from_bytes(data[at + 1 : at + 9], "big")
        if size_B < _LENGTH_B or at + 1 + size_B > len(data):
            break
        found.append((data[at], data[at + 9 : at + 1 + size_B]))
        at += 1 + size_B
    return found


def _joined(sections: Sequence[tuple[int, bytes]]) -> bytes:
    return b"".join(
        bytes([kind]) + (len(rest) + _LENGTH_B).to_bytes(8, "big") + rest for kind, rest in sections
    )


def fst(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Return a file whose sections have their lengths, and what is packed unpacks, with other numbers within."""
    sections = _sections(data) or _sections(FST[0])
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(sections))
        kind, rest = sections[at]
        chance = rng.random()
        if chance < 0.08 and len(sections) > 1:
            sections.insert(rng.randrange(len(sections)), sections.pop(at))
        elif chance < 0.14:
            sections.insert(at, sections[at])
        elif chance < 0.18 and len(sections) > 1:
            del sections[at]
        else:
            sections[at] = (kind, _CHANGED.get(kind, _other_bytes)(rng, rest, mutate))
    made = _joined(sections)
    if rng.random() < 0.03:  # packed as a whole
        packed = len(made).to_bytes(8, "big") + gzip.compress(made, mtime=0)
        return _joined([(254, packed)])
    return made


def _number(rng: random.Random) -> int:
    return rng.choice((0, 1, 2, 3, 255, 1 << 31, (1 << 32) - 1, 1 << 62, (1 << 64) - 1))


def _other_bytes(rng: random.Random, rest: bytes, mutate: Mutate) -> bytes:
    return mutate(rest)


def _other_header(rng: random.Random, rest: bytes, mutate: Mutate) -> bytes:
    """Put another number for one of the header's: times, counts, largest handle; or another power of ten."""
    octets = bytearray(rest)
    at = 8 * rng.randrange(9)
    octets[at : at + 8] = (_number(rng) if at < 64 else rng.getrandbits(8) << 56).to_bytes(8, "big")
    return bytes(octets[: len(rest)])


def _other_lengths(rng: random.Random, rest: bytes, mutate: Mutate) -> bytes:
    """Return a geometry with another length for a signal: 0 is a real number, 2^32 - 1 none."""
    said = [
        rng.choice((1, 1, 8, 0, 64, 65, 0xFFFFFFFF, 1 << 20))
        for _ in range(rng.choice((1, 3, 3, 9)))
    ]
    packed = b"".join(map(_leb128, said))
    packed_B = len(packed) if rng.random() < 0.9 else _number(rng)
    return packed_B.to_bytes(8, "big") + len(said).to_bytes(8, "big") + packed


def _leb128(number: int) -> bytes:
    made = b""
    while number > 0x7F:
        made += bytes([number & 0x7F | 0x80])
        number >>= 7
    return made + bytes([number])


def _other_names(rng: random.Random, rest: bytes, mutate: Mutate) -> bytes:
    """Return a hierarchy, packed again, of which a few bytes are others."""
    try:
        names = zlib.decompress(rest[8:], 31)
    except zlib.error:
        return mutate(rest)
    names = mutate(names)
    said = len(names) if rng.random() < 0.9 else _number(rng)
    return said.to_bytes(8, "big") + gzip.compress(names, mtime=0)


_CHANGED: Mapping[int, Callable[[random.Random, bytes, Mutate], bytes]] = {
    0: _other_header, 3: _other_lengths, 4: _other_names,
}  # fmt: skip


def ghw(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Return a file of sections by their marks, with other numbers in one, and a directory that has their places."""
    before, _, _ = data.partition(b"DIR\0")
    head, *parts = re.split(rb"(?=STR\0|TYP\0|WKT\0|HIE\0|SNP\0|CYC\0)", before)
    if not parts:
        return mutate(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(parts))
        octets = bytearray(parts[at])
        where = 4 + int(rng.random() * max(1, len(octets) - 8))
        chance = rng.random()
        if chance < 0.6 and where < len(octets):
            # Mostly numbers of other sections: of a string, a type, a signal; or of nine values.
            octets[where] = rng.choice((0, 1, 2, 3, 7, 8, 9, rng.randrange(40), rng.getrandbits(8)))
        elif chance < 0.7:
            octets[where:where] = rng.randbytes(rng.choice((1, 4, 8)))
        elif chance < 0.8:
            del octets[where : where + rng.choice((1, 4, 8))]
        elif chance < 0.9:
            octets[4:8] = rng.choice((0, 1, 3, 255, 1 << 31)).to_bytes(4, "little")
        elif chance < 0.95:
            parts.insert(at, parts[at])
        else:
            octets[4:] = mutate(bytes(octets[4:]))
        parts[at] = bytes(octets)
    made, places = head, []
    for part in parts:
        places.append((part[:4], len(made)))
        made += part
    table = b"".join(mark + struct.pack("<I", at) for mark, at in [*places, (b"DIR\0", len(made))])
    directory = b"DIR\0" + bytes(4) + struct.pack("<I", len(places) + 1) + table + b"EOD\0"
    return made + directory + b"TAI\0" + bytes(4) + struct.pack("<I", len(made))
