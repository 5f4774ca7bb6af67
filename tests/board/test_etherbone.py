"""The board's Etherbone in C++ answers every packet as the server in Python does, with sanitizers watching."""

from __future__ import annotations

import random
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.device_side import hooks_folder
from freezeframe.capture.errors import BusError
from freezeframe.capture.targets.base import Words
from freezeframe.capture.targets.server import EtherboneServer

_ONES = 0xFFFFFFFF


class FormulaTarget:
    """The bus of answer_packets.cpp, as a target."""

    url = "formula:"

    def __init__(self) -> None:
        self.written: dict[int, int] = {}

    def read(self, addresses: Words | Sequence[int]) -> Words:
        listed = [int(address) for address in addresses]
        if any(address & 3 or address >= 1 << 31 for address in listed):
            raise BusError("outside")
        return np.array(
            [self.written.get(a, a * 2654435761 & _ONES) for a in listed], dtype=np.uint32
        )

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        for number, word in enumerate(words):
            place = address + 4 * number & _ONES
            if not place & 3 and place < 1 << 31:
                self.written[place] = int(word)

    def close(self) -> None:
        return


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("etherbone") / "answer"
    simulation = hooks_folder() / "simulation"
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-O1", "-g", f"-I{simulation}"]
    flags += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    sources = [Path(__file__).parent / "answer_packets.cpp", simulation / "etherbone.cpp"]
    subprocess.run(["g++", *flags, "-o", built, *sources], check=True)
    return built


def answers(program: Path, packets: list[bytes]) -> list[bytes]:
    sent = b"".join(struct.pack("<I", len(packet)) + packet for packet in packets)
    done = subprocess.run([program], input=sent, capture_output=True, check=True, timeout=120)
    replies, at = [], 0
    while at < len(done.stdout):
        (length,) = struct.unpack_from("<I", done.stdout, at)
        replies.append(done.stdout[at + 4 : at + 4 + length])
        at += 4 + length
    assert len(replies) == len(packets)
    return replies


def test_the_golden_packets_of_the_wire_contract(program: Path) -> None:
    write = bytes.fromhex("4e6f104400000000000f01000000002011223344")
    read = bytes.fromhex("4e6f104400000000000f0002000000070000001000000020")
    probe = bytes.fromhex("4e6f114400000000")
    replies = answers(program, [write, read, probe])
    of_0x10 = 0x10 * 2654435761 & _ONES
    assert replies[0] == b""
    assert replies[1].hex() == f"4e6f104400000000000f020000000007{of_0x10:08x}11223344"
    assert replies[2].hex() == "4e6f124400000000"


def packet(draw: random.Random) -> bytes:
    """A packet of a few records, sometimes damaged: cut, lengthened, bits flipped, counts that lie."""
    parts = [bytes.fromhex("4e6f104400000000")]
    for _ in range(draw.choice((0, 1, 1, 1, 2, 5))):
        writes, reads = draw.choice((0, 0, 1, 7, 255)), draw.choice((0, 1, 3, 255))
        flags = draw.choice((0, 0, 0, 0x10, 0x20))
        parts.append(bytes((flags, draw.choice((15, 15, 15, 15, 3)), writes, reads)))
        addresses = [
            draw.choice((draw.randrange(1 << 12) * 4, draw.getrandbits(32))) for _ in range(reads)
        ]
        if writes:
            base = draw.choice((draw.randrange(1 << 12) * 4, draw.randrange(1 << 14)))
            parts.append(
                struct.pack(f">{1 + writes}I", base, *(draw.getrandbits(32) for _ in range(writes)))
            )
        if reads:
            parts.append(struct.pack(f">{1 + reads}I", draw.getrandbits(32), *addresses))
    whole = bytearray(b"".join(parts))
    damage = draw.randrange(8)
    if damage == 0:
        del whole[draw.randrange(len(whole)) :]
    elif damage == 1:
        whole += draw.randbytes(draw.randrange(1, 9))
    elif damage == 2:
        whole[draw.randrange(min(12, len(whole)))] ^= 1 << draw.randrange(8)
    return bytes(whole)


def test_both_servers_answer_thousands_of_good_and_damaged_packets_alike(program: Path) -> None:
    draw = random.Random(5)
    packets = [packet(draw) for _ in range(3000)] + [b"", b"N", draw.randbytes(65507)]
    server = EtherboneServer(FormulaTarget(), "127.0.0.1")
    try:
        wanted = [server._answer(memoryview(one)) for one in packets]
    finally:
        server.close()
    assert sum(1 for reply in wanted if reply) > 500
    assert sum(1 for reply in wanted if not reply) > 500
    for number, (ours, want) in enumerate(zip(answers(program, packets), wanted, strict=True)):
        assert ours == want, f"packet {number}: {packets[number].hex()[:200]}"
