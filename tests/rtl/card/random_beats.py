"""Random beats through the tap's Verilog, back out of its memory by the host's decoder, against what was given.

Run as a program it is the campaign: 10^6 beats a width and keep mode, the table in docs/campaign-taps.md.
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

from freezeframe.capture.card.elaborated import ElaboratedTap, elaborate
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.card.recording import RecordedTap
from freezeframe.decoders.tap.kinds import Packet
from freezeframe.decoders.tap.stream import TapStream, decode_tap
from tests.processes import run_program
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

    @property
    def name(self) -> str:
        extra = f"{' loose' * self.loose}{' fast' * self.fast}"
        return f"{self.bits} bits, keep {self.keep}{extra}"

    def tap(self) -> ElaboratedTap:
        """Return the tap as a card file describes it."""
        user = "user = { bits = 1, bad_frame = 0 }\n" * self.user
        text = f"""schema = 1
[card]
name = "one"
[clock.bus]
hz = 100_000_000
registers = true
[tap.t]
kind = "axi-stream"
clock = "bus"
bits = {self.bits}
keep = "{self.keep}"
time = "{"loose" if self.loose else "exact"}"
recorder = "{"fast" if self.fast else "plain"}"
depth = 4096
{user}"""
        return elaborate(parse_card(text)).taps[0]


@dataclass(frozen=True)
class Beat:
    """One beat as it was given: its cycle at the stream, and the bytes that were on."""

    cycle: int
    last: bool
    user: bool
    on: bytes


@dataclass
class Counted:
    """What came of a shape."""

    recordings: int = 0
    beats: int = 0
    compared: int = 0
    pending: int = 0


def build(shape: Shape, folder: Path) -> Path:
    """Build the bench of a shape; return the program."""
    given = {"BITS": shape.bits, "KEEP": KEEPS.index(shape.keep), "USER_W": int(shape.user), "LOOSE": int(shape.loose),
             "FAST": int(shape.fast)}  # fmt: skip
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
    arguments = [shape.bits, KEEPS.index(shape.keep), int(shape.user), seed, beats]
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
        given = [
            Beat(cycle, bool(row[8]), bool(row[9]), row[10 : 10 + bytes_][mask].tobytes())
            for cycle, row, mask in zip(cycles, rows, on, strict=True)
        ]
        recorded = RecordedTap(tap, tuple(memory), write_ptr, bool(wrapped), offered=offered)
        yield recorded, armed, given


def compare(
    shape: Shape, recorded: RecordedTap, armed: int, given: list[Beat], counted: Counted
) -> None:
    """Compare every packet of a recording with the beats; what differs raises AssertionError."""
    stream = decode_tap(recorded)
    assert not stream.problems, stream.problems
    assert stream.mark is not None
    eligible = [beat for beat in given if beat.cycle >= armed]  # the arm empties the registers
    leaves_a_trace = shape.bits >= 64
    counted.recordings += 1
    counted.beats += len(eligible)
    counted.pending += stream.mark.pending
    if not shape.loose:
        _compare_by_cycles(stream, eligible, leaves_a_trace, counted)
    _compare_bytes(stream, eligible, recorded, counted)


def _compare_by_cycles(
    stream: TapStream, eligible: list[Beat], every_beat: bool, counted: Counted
) -> None:
    """Each packet holds the bytes of the beats between its first and last cycle, and no beat lies between packets."""
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
    for recorded, armed, given in recordings(program, shape, seed, beats):
        compare(shape, recorded, armed, given, counted)
    return counted


SHAPES = [
    Shape(8, "none"),
    *(Shape(bits, keep) for bits in (16, 32, 64, 128, 256, 512, 1024) for keep in KEEPS),
    Shape(8, "none", loose=True),
    *(Shape(bits, "tail", loose=True) for bits in (16, 32)),
    *(Shape(bits, keep, fast=True) for bits, keep in ((8, "none"), (32, "any"), (64, "any"), (512, "tail"))),
]  # fmt: skip


def main() -> None:
    """Run every shape and write the table."""
    beats = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rows = [
        "| tap | recordings | beats given | beats compared | pending |",
        "|---|---|---|---|---|",
    ]
    for shape in SHAPES:
        with TemporaryDirectory() as folder:
            counted = try_shape(shape, beats, 1, Path(folder))
        figures = (counted.recordings, counted.beats, counted.compared, counted.pending)
        rows.append(f"| {shape.name} | {' | '.join(f'{figure:,}' for figure in figures)} |")
        print(rows[-1], flush=True)
    print("\n".join(rows))


if __name__ == "__main__":
    main()
