"""Random beats through the tap's Verilog, back out of its memory by the host's decoder, against what was given.

Run as a program it is the campaign: 10^6 beats a width and keep mode, the table in docs/campaign-taps.md.
Arguments, if any: beats, and a word of the rows to run.
"""

from __future__ import annotations

import io
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from freezeframe.capture.card.elaborated import ElaboratedTap
from freezeframe.capture.card.recording import RecordedTap
from freezeframe.decoders.tap.kinds import Packet
from freezeframe.decoders.tap.stream import TapStream, decode_tap
from tests.decoders.tap.one_tap import formless_tap
from tests.processes import run_program
from tests.rtl.card.given_packets import Beat, GivenPackets
from tests.rtl.card.random_sums import compare_sums
from tests.rtl.simulation import folders, tool

HERE = Path(__file__).parent
KEEPS = ("none", "tail", "any")
HEADER = struct.Struct("<8Q")


@dataclass(frozen=True)
class Shape:
    """A tap to try."""

    bits: int
    keep: str
    user: bool = True
    loose: bool = False
    fast: bool = False
    first: int | None = None  # bytes of each packet that are stored; 0: none, a summary

    @property
    def name(self) -> str:
        extra = f"{' loose' * self.loose}{' fast' * self.fast}"
        if self.first is not None:
            extra += f", first {self.first} B" if self.first else ", summary"
        return f"{self.bits} bits, keep {self.keep}{extra}"

    def tap(self) -> ElaboratedTap:
        """Return the tap as a card file describes it."""
        user = "user = { bits = 1, bad_frame = 0 }\n" * self.user
        more = f"""\
keep = "{self.keep}"
time = "{"loose" if self.loose else "exact"}"
recorder = "{"fast" if self.fast else "plain"}"
store = {'"all"' if self.first is None else f"{{ first_bytes = {self.first} }}" if self.first else '"summary"'}
depth = 4096
{user}"""
        return formless_tap(self.bits, more)


@dataclass
class Counted:
    """What came of a shape."""

    recordings: int = 0
    beats: int = 0
    packets: int = 0
    compared: int = 0
    pending: int = 0


def build(shape: Shape, folder: Path) -> Path:
    """Build the bench of a shape; return the program."""
    given = {"BITS": shape.bits, "KEEP": KEEPS.index(shape.keep), "USER_W": int(shape.user), "LOOSE": int(shape.loose),
             "FAST": int(shape.fast), "STORE": 0 if shape.first is None else shape.first or 1}  # fmt: skip
    done = run_program(
        [tool("verilator"), "--cc", "--exe", "--build", "-O3", "-Wall", "--prefix", "Vtop", "--top-module", "tap_top",
         *(f"-G{name}={value}" for name, value in given.items()), *(f"-I{path}" for path in folders()),
         "-CFLAGS", "-O1", HERE / "tap_top.v", HERE / "tap_bench.cpp", "-Mdir", folder / "obj", "-o", "bench"],
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "obj" / "bench"


def recordings(
    program: Path, shape: Shape, seed: int, beats: int
) -> Iterator[tuple[RecordedTap, int, list[Beat]]]:
    """Give each recording: the tap's memories, the cycle of the arm, and the beats that were given."""
    tap, bytes_ = shape.tap(), shape.bits // 8
    longest = (
        1_000_000 if shape.first is None else 5_000
    )  # beats of a packet: one is longer than SUM can tell
    arguments = [
        shape.bits,
        KEEPS.index(shape.keep),
        int(shape.user),
        seed,
        beats,
        len(tap.lanes),
        longest,
    ]
    command = [str(program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, check=True, timeout=1800)
    stream = io.BytesIO(done.stdout)
    one = 10 + 2 * bytes_
    while header := stream.read(HEADER.size):
        depth, lanes, write_ptr, wrapped, offered, armed, _, count = HEADER.unpack(header)
        memory = np.frombuffer(stream.read(9 * depth * lanes), np.uint8).reshape(lanes, depth, 9)
        rows = np.frombuffer(stream.read(one * count), np.uint8).reshape(count, one)
        cycles = rows[:, :8].copy().view("<u8")[:, 0].tolist()
        on = rows[:, 10 + bytes_ :].astype(bool)
        holes = (on[:, 1:] & ~on[:, :-1]).any(axis=1).tolist()
        given = [
            Beat(
                cycle,
                bool(row[8]),
                bool(row[9]),
                row[10 : 10 + bytes_][mask].tobytes(),
                hole,
                not mask[-1],
            )
            for cycle, row, mask, hole in zip(cycles, rows, on, holes, strict=True)
        ]
        recorded = RecordedTap(tap, tuple(memory), write_ptr, bool(wrapped), offered=offered)
        yield recorded, armed, given


def compare(
    shape: Shape, recorded: RecordedTap, armed: int, given: list[Beat], packets: GivenPackets, counted: Counted
) -> None:  # fmt: skip
    """Compare every packet of a recording with the beats; what differs raises AssertionError."""
    stream = decode_tap(recorded)
    assert not stream.problems, stream.problems
    assert stream.mark is not None
    before = [beat for beat in given if beat.cycle < armed]
    for _ in packets.take(before):
        pass
    inside = packets.open.traced >= 0
    eligible = [beat for beat in given if beat.cycle >= armed]  # the arm empties the registers
    leaves_a_trace = shape.bits >= 64
    counted.recordings += 1
    counted.beats += len(eligible)
    counted.pending += stream.mark.pending
    ended = list(packets.take(eligible))
    counted.packets += len(ended)
    if shape.first is not None:
        counted.compared += compare_sums(stream, ended, packets.open, eligible, shape.first)
        return
    if not shape.loose:
        _compare_by_cycles(stream, eligible, inside, leaves_a_trace, counted)
    _compare_bytes(stream, eligible, recorded, counted)


def _compare_by_cycles(
    stream: TapStream, eligible: list[Beat], inside: bool, every_beat: bool, counted: Counted
) -> None:
    """Each packet holds the bytes of the beats between its first and last cycle, and no beat lies between packets.

    ``inside``: the arm came in a packet. One that is said to be whole from its beginning follows another's end.
    """
    at = {beat.cycle: index for index, beat in enumerate(eligible)}
    columns = stream.packets
    after = None
    for packet in range(len(stream)):
        begin, end = int(columns.begin[packet]), int(columns.end[packet])
        flags = int(columns.flags[packet])
        first, last = at[begin], at[end]
        # A null last beat joins the packed word before it, whose beats are then told a cycle late (docs/card-map.md).
        if not every_beat and not eligible[last].on and first and at.get(begin - 1) == first - 1:
            joins = stream.data(packet) != b"".join(beat.on for beat in eligible[first : last + 1])
            first -= joins
        beats = eligible[first : last + 1]
        assert stream.data(packet) == b"".join(beat.on for beat in beats), packet
        assert beats[-1].last == (not flags & Packet.CUT_END), packet
        assert not any(beat.last for beat in beats[:-1]), packet
        assert bool(flags & Packet.USER_ANY) == any(
            beat.user for beat in beats if every_beat or beat.on or beat.last
        ), packet  # a packed stream leaves no trace of a beat without a byte
        assert bool(flags & Packet.USER_END) == (beats[-1].last and beats[-1].user), packet
        if after is not None:
            between = eligible[after + 1 : first]
            assert not [beat for beat in between if every_beat or beat.on or beat.last], packet
        if not flags & Packet.CUT_BEGIN:
            earlier = [beat for beat in eligible[:first] if every_beat or beat.on or beat.last][-1:]
            assert earlier[0].last if earlier else not inside, packet
        after = last
        counted.compared += len(beats)


def _compare_bytes(
    stream: TapStream, eligible: list[Beat], recorded: RecordedTap, counted: Counted
) -> None:
    """The bytes of all packets are a run of those given; from the arm on where nothing was overwritten."""
    held = b"".join(stream.data(packet) for packet in range(len(stream)))
    all_given = b"".join(beat.on for beat in eligible)
    place = all_given.find(held) if recorded.wrapped else 0
    assert place >= 0
    assert all_given[place : place + len(held)] == held
    assert recorded.wrapped or not eligible or held or recorded.offered == 0


def try_shape(shape: Shape, beats: int, seed: int, folder: Path) -> Counted:
    """Build a shape, run so many beats through it, and compare all."""
    counted = Counted()
    program = build(shape, folder)
    packets = GivenPackets(packed=shape.bits < 64)
    for recorded, armed, given in recordings(program, shape, seed, beats):
        compare(shape, recorded, armed, given, packets, counted)
    return counted


SHAPES = [
    Shape(8, "none"),
    *(Shape(bits, keep) for bits in (16, 32, 64, 128, 256, 512, 1024) for keep in KEEPS),
    Shape(8, "none", loose=True),
    *(Shape(bits, "tail", loose=True) for bits in (16, 32)),
    *(Shape(bits, keep, fast=True) for bits, keep in ((8, "none"), (32, "any"), (64, "any"), (512, "tail"))),
    *(
        Shape(bits, keep, first=first)
        for first in (0, 96)
        for bits in (8, 16, 32, 64, 128, 512, 1024)
        for keep in (KEEPS if bits > 8 else KEEPS[:1])
    ),
]  # fmt: skip


def main() -> None:
    """Run every shape and write the tables: of words, and of SUM."""
    beats = sys.argv[1] if len(sys.argv) > 1 else "1000000"
    word = sys.argv[2] if len(sys.argv) > 2 else ""
    for words in (True, False):
        what = "beats" if words else "packets"
        print(f"| tap | recordings | beats given | packets given | {what} compared | pending |")
        print("|---|---|---|---|---|---|")
        for shape in SHAPES:
            if (shape.first is None) == words and word in shape.name:
                print(_row(shape, int(beats)), flush=True)


def _row(shape: Shape, beats: int) -> str:
    with TemporaryDirectory() as folder:
        counted = try_shape(shape, beats, 1, Path(folder))
    figures = (
        counted.recordings,
        counted.beats,
        counted.packets,
        counted.compared,
        counted.pending,
    )
    return f"| {shape.name} | {' | '.join(f'{figure:,}' for figure in figures)} |"


if __name__ == "__main__":
    main()
