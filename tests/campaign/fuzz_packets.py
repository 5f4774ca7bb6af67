"""Broken captures into the readers of pcap and pcapng, TCP and iWARP: no crash, no hang, no flood of memory.

Half of the inputs are any bytes changed, cut, spliced; the other half are wrong within their structure: FPDUs with
right markers and sums, packets with right checksums, what they say is not. An input is a matter of its seed alone.
The parent watches a child that decodes, so that a kernel that dies is a finding too. ``make fuzz-packets``.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import struct
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any

import numpy as np

from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.packets.block import PacketBlock
from freezeframe.capture.packets.file import PacketFile
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.iwarp.iwarp import IWARP
from freezeframe.decoders.iwarp.iwarp_code import IwarpState, decode_iwarp
from freezeframe.decoders.net.tcp_code import decode_tcp, new_tcp
from tests.campaign.harden_packets import InMemory
from tests.decoders.iwarp.damage import damaged
from tests.decoders.iwarp.make import endpoints, packed, packing_of
from tests.decoders.iwarp.packets import Capture, Packet, build
from tests.decoders.iwarp.sender import Placed, Sender
from tests.decoders.iwarp.talk import Talk, draw
from tests.decoders.iwarp.truth import Truth

MOST_B = 1 << 16  # of an input
SLOW_S, HUNG_S = 1.0, 60.0  # CPU time that one may take; time without one that ends
BOUND_MB = 64  # of memory, beyond what legal captures took before
PAGE = Path(__file__).parents[2] / "docs" / "campaign-iwarp.md"
SECTION = "## Broken captures"
_NUMBERS = (0, 1, 2, 3, 0x7F, 0x80, 0xFF, 0x100, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_NO_OPTIONS = OptionValues((), {})


class WildSender(Sender):
    """A sender whose FPDUs say wrong things now and then; markers, pads and sums around them are right."""

    def __init__(self, rng: random.Random, position: int) -> None:
        super().__init__(position)
        self._rng, self._share = rng, rng.choice((0.02, 0.2, 0.7))

    def fpdu(self, ulpdu: bytes, **tweaks: Any) -> Placed:
        rng = self._rng
        if rng.random() < self._share:
            ulpdu = _changed(rng, ulpdu[:40]) + ulpdu[40:]
            if rng.random() < 0.2:
                ulpdu = ulpdu[: rng.randrange(len(ulpdu) + 1)]
            if rng.random() < 0.2:
                tweaks["length"] = rng.choice(
                    (0, 1, 13, 14, 17, 18, 65_535, rng.randrange(1 << 16))
                )
            if rng.random() < 0.1:
                tweaks["pointer_xor"] = (rng.randrange(3), rng.randrange(1 << 16))
        return super().fpdu(ulpdu, **tweaks)


def _changed(rng: random.Random, data: bytes) -> bytes:
    """Return bytes with a few of them changed."""
    octets = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4)) if octets else 0):
        at = rng.randrange(len(octets))
        if rng.random() < 0.5:
            octets[at] ^= 1 << rng.randrange(8)
        else:
            size = rng.choice((1, 2, 4))
            word = rng.choice(_NUMBERS).to_bytes(4, rng.choice(("big", "little")))
            octets[at : at + size] = word[:size] if rng.random() < 0.5 else word[4 - size :]
    return bytes(octets)[: len(data)]


def _talk(rng: random.Random, wild: bool) -> tuple[Capture, Truth]:
    """Return the capture of one or two conversations."""
    truth, packets = Truth(), list[Packet]()
    for number in range(rng.choice((1, 1, 2))):
        fixed = {"messages": rng.randint(0, 8), "largest_B": 2000, "midstream": rng.random() < 0.2}
        talk = Talk(rng, draw(rng, **fixed), truth, endpoints(rng, number))
        if wild:
            talk.senders = tuple(WildSender(rng, sender.position) for sender in talk.senders)  # type: ignore[assignment]
        talk.whole()
        total = sum(len(sender.data) for sender in talk.senders)
        packets += packed(talk, packing_of(rng, total), rng)
    t_ns = rng.randrange(10**18)
    for packet in packets:
        packet.t_ns = t_ns = t_ns + rng.randrange(100_000)
        if wild and rng.random() < 0.03:
            packet.flags ^= 1 << rng.randrange(6)
        if wild and rng.random() < 0.03:
            packet.position += rng.choice((-1, 1, rng.randint(-3000, 3000), rng.randrange(1 << 31)))
        if wild and rng.random() < 0.03:
            packet.ack = rng.randrange(1 << 32)
        if wild and rng.random() < 0.03:
            packet.data = _changed(rng, packet.data)
        packet.frame = build(packet, truth.connections[packet.connection].ends)
    return Capture(
        packets, rng.choice("<>"), rng.random() < 0.5, rng.choice((1, 1, 101, 113))
    ), truth


def _pcapng(rng: random.Random, capture: Capture) -> bytes:
    """Return the file as pcapng, with other blocks between."""
    order = capture.order

    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        length = struct.pack(f"{order}I", 12 + len(body))
        return struct.pack(f"{order}I", kind) + length + body + length

    out = [block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1))]
    resolution = struct.pack(f"{order}HHB3x", 9, 1, rng.choice((6, 9, 12, 0x8A))) + bytes(4)
    out.append(block(1, struct.pack(f"{order}HHI", 1, 0, capture.snap) + resolution))
    for packet in capture.packets:
        kept, ticks = packet.frame[: capture.snap], packet.t_ns
        if rng.random() < 0.05:
            out.append(block(rng.choice((4, 5, 0xBAD)), rng.randbytes(rng.randrange(40))))
        if rng.random() < 0.05:
            out.append(block(3, struct.pack(f"{order}I", len(packet.frame)) + kept))
            continue
        head = struct.pack(
            f"{order}IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, len(kept), len(packet.frame)
        )
        out.append(block(6, head + kept))
    return b"".join(out)


def make_input(seed: int) -> bytes:
    """Return the input of a seed."""
    rng = random.Random(f"fuzz {seed}")
    structured = bool(seed % 2)
    capture, truth = _talk(rng, structured)
    if rng.random() < 0.5:
        capture = damaged(rng.randrange(1 << 30), capture, truth)[1]
    data = _pcapng(rng, capture) if rng.random() < 0.4 else capture.pcap()
    if structured:
        return data[:MOST_B]
    for _ in range(rng.choice((1, 1, 2, 5))):
        how, at = rng.randrange(6), rng.randrange(len(data) + 1)
        size = rng.choice((1, 4, 16, rng.randrange(2000)))
        if how == 0:
            data = data[:at]
        elif how == 1:
            data = data[:at] + data[at + size :]
        elif how == 2:
            data = data[:at] + data[max(0, at - size) : at] + data[at:]
        elif how == 3:
            other = _talk(rng, False)[0].pcap()
            data = data[:at] + other[rng.randrange(len(other)) :]
        elif how == 4:
            data = data[:at] + rng.randbytes(size) + data[at:]
        else:
            data = _changed(rng, data)
    return data[:MOST_B]


def _blocks(data: bytes) -> Iterable[PacketBlock]:
    try:
        yield from PacketFile(InMemory(data), "input", len(data) or 1, chunk_B=1 << 20)
    except CaptureFormatError:  # said in one line; what came before it stands
        return


def decode_input(data: bytes, payload: bool) -> int:
    """Decode an input with TCP and iWARP to the end; return how many rows came out."""
    tcp = new_tcp(_NO_OPTIONS)
    options = OptionValues(IWARP.options, {"payload": payload})
    iwarp = IwarpState(options)
    rows, first = 0, 1
    none, few = np.empty(0, np.int64), np.empty(0, np.int32)
    for block in _blocks(data):
        first = block.first + len(block)
        # One may write into the spare room of the other's block.
        for tables in (
            decode_tcp(block, _NO_OPTIONS, tcp, False),
            decode_iwarp(block, options, iwarp, False),
        ):
            rows += sum(table.num_rows for table in tables.values())
    last = PacketBlock(np.empty(0, np.uint8), none, none, none, none, few, few, first)
    for tables in (
        decode_tcp(last, _NO_OPTIONS, tcp, True),
        decode_iwarp(last, options, iwarp, True),
    ):
        rows += sum(table.num_rows for table in tables.values())
    return rows


@dataclass(slots=True)
class Outcome:
    """What came of some executions; `wrong`: a line for each crash and each that was slow."""

    executions: int = 0
    rows: int = 0
    crashes: int = 0
    hangs: int = 0
    slowest_s: float = 0.0
    peak_MB: int = 0
    grown_MB: int = 0  # of it, after the legal captures that come first
    wrong: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return it as a table."""
        return [
            f"{self.executions:,} executions, {self.rows:,} rows out of them",
            f"{self.crashes} crashes, {self.hangs} hangs (over {SLOW_S:g} s of CPU time for at most {MOST_B:,} B)",
            f"slowest {self.slowest_s:.3f} s, peak of memory {self.peak_MB} MB, "
            f"{self.grown_MB} MB more than legal captures took (at most {BOUND_MB})",
            *self.wrong[:40],
        ]


def _peak_MB() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def section(out: Outcome, command: str) -> str:
    """Return the section of the page."""
    return (
        f"{SECTION}\n\n`{command}`: captures with bits, bytes, lengths changed, cut and spliced, and captures whose\n"
        "FPDUs and packets have right markers and sums around what is wrong, through the readers of pcap and pcapng,\n"
        "TCP and iWARP, every index of the kernels checked.\n\n| figure | measured | asked |\n|---|---|---|\n"
        f"| executions (at most {MOST_B:,} B each) | {out.executions:,} | |\n| rows that came out | {out.rows:,} | |\n"
        f"| crashes | {out.crashes} | 0 |\n| hangs (more than {SLOW_S:g} s of CPU time) | {out.hangs} | 0 |\n"
        f"| the slowest | {out.slowest_s:.2f} s | {SLOW_S:g} s |\n"
        f"| peak of memory of the process that makes and decodes them | {out.peak_MB} MB | |\n"
        f"| of it more than legal captures took before | {out.grown_MB} MB | {BOUND_MB} MB |\n"
    )


def execute(seeds: Iterable[int], at: Synchronized[int] | None = None) -> Outcome:
    """Decode the inputs of some seeds in this process; `at` tells a watching parent which one."""
    out = Outcome()
    for capture in (_talk(random.Random(1), False)[0], _talk(random.Random(2), False)[0]):
        for data in (capture.pcap(), _pcapng(random.Random(3), capture)):
            decode_input(data, True)  # loads or compiles the kernels
            decode_input(data, False)
    before_MB = _peak_MB()
    for seed in seeds:
        if at is not None:
            at.value = seed
        data = make_input(seed)
        begin = time.process_time()
        try:
            out.rows += decode_input(data, bool(seed & 2))
        except Exception as error:  # any is a finding
            out.crashes += 1
            out.wrong.append(f"seed {seed}: {type(error).__name__}: {error}")
        took = time.process_time() - begin
        if took > SLOW_S:
            out.hangs += 1
            out.wrong.append(f"seed {seed}: {took:.1f} s")
        out.slowest_s = max(out.slowest_s, took)
        out.executions += 1
    out.peak_MB = _peak_MB()
    out.grown_MB = out.peak_MB - before_MB
    return out


def _child(first: int, count: int, at: Synchronized[int], pipe: Any) -> None:
    pipe.send(execute(range(first, first + count), at))


def watch(first: int, executions: int, piece: int = 2000) -> Outcome:
    """Execute in children; one that dies or stands still is a finding, and the next begins behind it."""
    whole, end, seed = Outcome(), first + executions, first
    context = multiprocessing.get_context("spawn")
    while seed < end:
        at = context.Value("q", -1)
        near, far = context.Pipe(False)
        count = min(piece, end - seed)
        child = context.Process(target=_child, args=(seed, count, at, far))
        child.start()
        far.close()
        before, since = -1, time.monotonic()
        while not near.poll(1.0) and child.is_alive():
            if at.value != before:
                before, since = at.value, time.monotonic()
            # Before its first one a child may compile all kernels.
            if time.monotonic() - since > HUNG_S * (1 if at.value >= 0 else 20):
                child.kill()
        try:
            part: Outcome = near.recv()
            seed += count
        except EOFError:
            child.join()
            part = Outcome(at.value + 1 - seed, crashes=1)
            part.wrong.append(f"seed {at.value}: the process ended with {child.exitcode}")
            seed = at.value + 1
        child.join()
        whole.executions += part.executions
        whole.rows += part.rows
        whole.crashes += part.crashes
        whole.hangs += part.hangs
        whole.slowest_s = max(whole.slowest_s, part.slowest_s)
        whole.peak_MB = max(whole.peak_MB, part.peak_MB)
        whole.grown_MB = max(whole.grown_MB, part.grown_MB)
        whole.wrong += part.wrong
        print(
            f"{seed - first:,} of {executions:,}",
            *part.wrong,
            sep="\n  ",
            file=sys.stderr,
            flush=True,
        )
    return whole


def main() -> int:
    """Fuzz; return 1 where something crashed, hung or took too much memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--executions", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--write", action="store_true", help="into docs/campaign-iwarp.md")
    given = parser.parse_args()
    if os.environ.get("NUMBA_BOUNDSCHECK") != "1":
        print("NUMBA_BOUNDSCHECK=1 is not set: indices of kernels are not checked", file=sys.stderr)
    start = time.monotonic()
    out = watch(given.first, given.executions)
    print(*out.lines(), f"{time.monotonic() - start:.0f} s", sep="\n")
    if given.write:
        command = f"make fuzz-packets N={given.executions}"
        PAGE.write_text(
            PAGE.read_text("utf-8").partition(SECTION)[0] + section(out, command), "utf-8"
        )
    return int(bool(out.wrong) or out.grown_MB > BOUND_MB)


if __name__ == "__main__":
    sys.exit(main())
