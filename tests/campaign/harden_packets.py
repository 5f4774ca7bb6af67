"""Files of packets for `tests.campaign.harden`: the readers of pcap and pcapng alone.

What stands on them, TCP and iWARP, has a campaign of its own (`tests.campaign.fuzz_packets`).
"""

from __future__ import annotations

import io
import random
import struct

from freezeframe.capture.packets.file import PacketFile
from tests.campaign.harden_files import Mutate

_SIZES = (0, 1, 13, 14, 60, 64, 1514, 9000)
_NUMBERS = (0, 1, 3, 11, 12, 13, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 16)


class InMemory(io.BytesIO):
    """The bytes of a file that is nowhere."""

    def fileno(self) -> int:
        raise OSError("bytes in memory")


def run(data: bytes) -> object:
    """Read all packets of a file; what is wrong behind a good head ends in a note."""
    file = PacketFile(InMemory(data), "input", len(data), chunk_B=1 << 17)
    packets = sum(len(block) for block in file)
    return file.format, packets > 0, sorted(note.partition(":")[0] for note in file.notes)[:4]


def _block(order: str, kind: int, body: bytes, said: int | None = None) -> bytes:
    body += bytes(-len(body) % 4)
    size_B = struct.pack(order + "I", len(body) + 12 if said is None else said)
    return struct.pack(order + "I", kind) + size_B + body + size_B


def _pcapng(rng: random.Random) -> bytes:
    order = rng.choice("<>")
    odd = rng.choice((0.0, 0.05, 0.3))

    def number(usual: int) -> int:
        return rng.choice(_NUMBERS) if rng.random() < odd else usual

    made = b""
    for _ in range(rng.choice((1, 1, 1, 3))):
        head = struct.pack(order + "IHHq", 0x1A2B3C4D, number(1) & 0xFFFF, 0, -1)
        made += _block(order, 0x0A0D0D0A, head)
        for _ in range(rng.choice((0, 1, 1, 2, 40))):
            option = struct.pack(order + "HHB3x", 9, number(1) & 0xFFFF, rng.getrandbits(8))
            option = rng.choice((b"", option, option + bytes(4)))
            link = struct.pack(order + "HHI", number(1) & 0xFFFF, 0, number(65535))
            made += _block(order, 1, link + option)
        for _ in range(rng.choice((0, 1, 5, 60))):
            kept = rng.randbytes(rng.choice(_SIZES[:6]))
            kind = rng.choice((6, 6, 6, 3, 2, 5, 0xBAD))
            said = number(len(kept) + 12 & ~3) if rng.random() < odd else None
            if kind == 3:
                made += _block(order, 3, struct.pack(order + "I", number(len(kept))) + kept, said)
            elif kind == 6:
                stamp = rng.getrandbits(rng.choice((20, 51, 64)))
                words = (
                    number(0),
                    stamp >> 32,
                    stamp & 0xFFFFFFFF,
                    number(len(kept)),
                    number(len(kept)),
                )
                made += _block(order, 6, struct.pack(order + "IIIII", *words) + kept, said)
            else:
                made += _block(order, kind, kept, said)
    return made


def _pcap(rng: random.Random) -> bytes:
    order = rng.choice("<>")
    magic = rng.choice((0xA1B2C3D4, 0xA1B23C4D))
    version = rng.choice(((2, 4), (2, 4), (2, 3), (1, 0), (9, 9)))
    head = struct.pack(order + "IHHiIII", magic, *version, 0, 0, rng.choice((65535, 0, 96, 1 << 31)),
                       rng.choice((1, 1, 1, 0, 113, 1 << 28 | 1, 276)))  # fmt: skip
    odd = rng.choice((0.0, 0.05, 0.3))
    made = head
    for _ in range(rng.choice((0, 1, 5, 60))):
        kept = rng.randbytes(rng.choice(_SIZES))
        said = rng.choice(_NUMBERS) if rng.random() < odd else len(kept)
        wire = rng.choice(_NUMBERS) if rng.random() < odd else len(kept)
        seconds, part = (
            rng.getrandbits(rng.choice((8, 31, 32))),
            rng.getrandbits(rng.choice((20, 30, 32))),
        )
        made += struct.pack(order + "IIII", seconds, part, said, wire) + kept
    return made[: len(made) - rng.choice((0, 0, 0, 1, 15))]


def structured(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Return a file whose blocks have their lengths, with sizes, times and interfaces of any kind."""
    return _pcap(rng) if rng.random() < 0.4 else _pcapng(rng)


PACKETS = (_pcap(random.Random(3)), _pcapng(random.Random(5)))
