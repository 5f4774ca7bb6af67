"""ff_defrag: datagrams as one where the guess is right, every frame as it came where it is wrong, also on RV32IM."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import pytest

from freezeframe.capture.device_side import hooks_folder
from tests.c.hooks import WARNINGS
from tests.c.riscv import Core
from tests.c.udp_fragments import Datagram, checksum, received, spoiled
from tests.processes import run_program

HERE = Path(__file__).parent
EMBEDDED = Path(__file__).parents[2] / "firmware-hooks" / "examples" / "embedded"
BUFFER_B = 9000
OTHER, GAP, REORDER, CHECKSUM, TOO_LONG, LATE = range(6)


class Delivered(NamedTuple):
    """What the firmware handed over: (frames, bytes) each, and its counts."""

    out: list[tuple[int, bytes]]
    frames: int
    datagrams: int
    alone: int
    wrong: list[int]


@cache
def driver() -> Path:
    built = Path(mkdtemp(prefix="ff-defrag-")) / "drive"
    hooks = hooks_folder() / "c"
    flags = [
        "-std=c99",
        *WARNINGS,
        "-g",
        "-O1",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
    ]
    subprocess.run(
        ["gcc", *flags, f"-I{hooks}", "-o", built, hooks / "ff_defrag.c", HERE / "drive_defrag.c"],
        check=True,
    )
    return built


def through(frames: list[bytes], size_B: int = BUFFER_B, end: str = "T\n") -> Delivered:
    """Let frames pass the firmware, built with sanitizers; at the end the rest does not come."""
    commands = f"B {size_B}\n" + "".join(f"F {frame.hex()}\n" for frame in frames) + end
    lines = run_program([driver()], input=commands, check=True).stdout.splitlines()
    parts = [line.partition(" ") for line in lines[:-1]]
    out = [(int(count), bytes.fromhex(bytes_)) for count, _, bytes_ in parts]
    frames_in, datagrams, alone, *wrong = (int(number) for number in lines[-1].split()[1:])
    return Delivered(out, frames_in, datagrams, alone, wrong)


def assert_nothing_is_lost_or_changed(sent: list[bytes], out: list[tuple[int, bytes]]) -> None:
    """Each delivery is the next frame as it came, or the next frames put together, and all frames are used up."""
    at = 0
    for frames, bytes_ in out:
        mine = sent[at : at + frames]
        at += frames
        if frames == 1:
            assert bytes_ == mine[0]
            continue
        parts = [frame[34 : 14 + struct.unpack(">H", frame[16:18])[0]] for frame in mine]
        assert bytes_[34:] == b"".join(parts)
        assert bytes_[:16] == mine[0][:16] and bytes_[18:20] == mine[0][18:20]
        assert struct.unpack(">H", bytes_[16:18])[0] == len(bytes_) - 14
        assert bytes_[20:22] == b"\0\0" and checksum(bytes_[14:34]) == 0
        assert bytes_[22:24] == mine[0][22:24] and bytes_[26:34] == mine[0][26:34]
    assert at == len(sent)


def datagram(draw: random.Random, length_B: int = 4000, *, with_checksum: bool = True) -> Datagram:
    payload = draw.randbytes(length_B)
    return Datagram(payload, draw.randrange(1 << 16), with_checksum=with_checksum)


def test_three_frames_of_a_datagram_are_one_delivery_that_the_host_takes_as_it_was_sent() -> None:
    one = datagram(random.Random(1))
    frames = one.frames()
    assert len(frames) == 3
    found = through(frames)
    assert [count for count, _ in found.out] == [3]
    assert (found.datagrams, found.alone, found.wrong) == (1, 0, [0] * 6)
    assert received([found.out[0][1]]) == [one.transport]
    assert_nothing_is_lost_or_changed(frames, found.out)


@pytest.mark.parametrize("length_B", [1473, 1480, 2952, 2953, 2960, 4906, 8900])
def test_any_number_of_frames_is_gathered_also_where_the_last_is_padded(length_B: int) -> None:
    one = datagram(random.Random(length_B), length_B)
    found = through(one.frames())
    assert [count for count, _ in found.out] == [len(one.frames())]
    assert received([found.out[0][1]]) == [one.transport]


def test_full_frames_do_not_write_beyond_a_buffer_that_is_too_small() -> None:
    """4,178 bytes of three full frames in 4,096: the sanitizer would end the run."""
    frames = datagram(random.Random(2), 3 * 1480 - 8).frames()
    found = through(frames, size_B=4096)
    assert found.wrong[TOO_LONG] == 1
    assert_nothing_is_lost_or_changed(frames, found.out)
    assert through(frames, size_B=3 * 1480 + 34).datagrams == 1
    assert_nothing_is_lost_or_changed(frames, through(frames, size_B=1).out)


def test_more_frames_than_there_is_room_for_go_frame_by_frame() -> None:
    frames = datagram(random.Random(3), 8 * 1480).frames()
    assert len(frames) == 9
    found = through(frames, size_B=65_535)
    assert (found.datagrams, found.alone, found.wrong[TOO_LONG]) == (0, 9, 1)
    assert_nothing_is_lost_or_changed(frames, found.out)


def test_a_wrong_guess_is_named_and_every_frame_goes_on_as_it_came() -> None:
    draw = random.Random(4)
    a, b, c = datagram(draw).frames()
    other = datagram(draw).frames()
    bad = c[:100] + bytes((c[100] ^ 1,)) + c[101:]
    arp = bytes(12) + b"\x08\x06" + bytes(46)
    for frames, reason in (
        ([a, b, arp, c], OTHER),
        ([a, other[1], b, c], OTHER),
        ([a, c], GAP),
        ([a, b, a, b], REORDER),
        ([a, a], REORDER),
        ([a, b, bad], CHECKSUM),
        ([a, b], LATE),
    ):
        found = through(frames)
        assert found.wrong[reason] >= 1, (reason, found.wrong)
        assert [count for count, _ in found.out] == [1] * len(frames)
        assert_nothing_is_lost_or_changed(frames, found.out)


def test_a_datagram_behind_a_wrong_guess_is_gathered_again() -> None:
    draw = random.Random(5)
    broken, whole = datagram(draw).frames(), datagram(draw)
    found = through([*broken[:2], *whole.frames()])
    assert [count for count, _ in found.out] == [1, 1, 3]


def test_datagrams_without_a_checksum_are_taken_by_their_length_and_refused_where_it_is_wrong() -> (
    None
):
    draw = random.Random(6)
    one = datagram(draw, with_checksum=False)
    assert through(one.frames()).datagrams == 1
    one.header = one.header[:4] + struct.pack(">H", 100) + one.header[6:]
    found = through(one.frames())
    assert (found.datagrams, found.wrong[CHECKSUM]) == (0, 1)


def test_what_is_no_fragment_of_udp_passes_as_it_is() -> None:
    draw = random.Random(7)
    a = datagram(draw).frames()[0]
    frames = [
        b"",
        b"\x01",
        draw.randbytes(33),
        datagram(draw, 100).frames()[0],
        a[:23] + b"\x06" + a[24:],
    ]
    frames += [a[:14] + b"\x46" + a[15:], a[:-1], a + b"\0", a[:24] + b"\0\0" + a[26:]]
    found = through(frames)
    assert_nothing_is_lost_or_changed(frames, found.out)
    assert found.datagrams == 0


def stream(draw: random.Random, datagrams: int, wrong: float) -> list[bytes]:
    """Return frames of datagrams, of which such a share is spoiled."""
    frames: list[bytes] = []
    for _ in range(datagrams):
        one = datagram(
            draw, draw.choice((4000, 4906, 2000, 1473)), with_checksum=draw.random() < 0.8
        )
        mine = one.frames()
        frames += spoiled(mine, draw) if draw.random() < wrong else mine
    return frames


@pytest.mark.parametrize("wrong", [0.0, 0.01, 0.1, 0.25, 0.5])
def test_with_so_many_wrong_guesses_no_byte_is_lost_or_misdelivered_and_no_more_descriptors_are_used(
    wrong: float,
) -> None:
    frames = stream(random.Random(f"{wrong}"), 600, wrong)
    found = through(frames)
    assert_nothing_is_lost_or_changed(frames, found.out)
    assert (found.frames, found.datagrams + found.alone) == (len(frames), len(found.out))
    assert sorted(received(bytes_ for _, bytes_ in found.out)) == sorted(received(frames))
    if wrong == 0:
        assert len(found.out) == 600
    else:
        assert sum(found.wrong) > 0.5 * wrong * 600
    assert len(found.out) < len(frames)


def test_random_bytes_and_random_fragments_never_reach_beyond_a_buffer() -> None:
    draw = random.Random(8)
    frames = []
    for _ in range(4000):
        one = bytearray(
            datagram(draw, draw.randrange(1, 4000)).frames(draw.choice((68, 576, 1500)))[0]
        )
        for _ in range(draw.randrange(3)):
            one[draw.randrange(14, 34)] = draw.randrange(256)
        one[24:26] = bytes(2)
        one[24:26] = struct.pack(">H", checksum(bytes(one[14:34])))
        frames.append(bytes(one[: draw.randrange(len(one) + 1)] if draw.random() < 0.2 else one))
    assert_nothing_is_lost_or_changed(frames, through(frames, size_B=2000).out)


PORT = 0x1002_0000


class Port:
    """Where a RISC-V program finds frames and leaves what it delivers: length, then bytes; a command, then bytes."""

    def __init__(self, frames: list[bytes]) -> None:
        self.waiting = list(frames)
        self.at = 0
        self.out: list[tuple[int, bytearray]] = []
        self.done = False

    def load(self, address: int, size: int) -> int:
        assert (address - PORT, size) in ((0, 4), (4, 1))
        if address == PORT:  # a length; 0xFFFFFFFF: no more
            self.at = 0
            return len(self.waiting[0]) if self.waiting else 0xFFFF_FFFF
        byte = self.waiting[0][self.at]
        self.at += 1
        if self.at == len(self.waiting[0]):
            del self.waiting[0]
        return byte

    def store(self, address: int, size: int, value: int) -> None:
        match address - PORT, size:
            case 8, 4:
                self.out.append((value, bytearray()))
            case 12, 1:
                self.out[-1][1].append(value)
            case 16, 4:
                self.done = True
            case _:
                raise AssertionError((hex(address), size))


def test_on_rv32im_the_firmware_delivers_the_same(
    tmp_path: Path,
) -> None:
    compiler = shutil.which("riscv64-unknown-elf-gcc")
    if compiler is None:
        pytest.skip("riscv64-unknown-elf-gcc is not installed (Debian: gcc-riscv64-unknown-elf)")
    hooks, program, image = hooks_folder() / "c", tmp_path / "defrag.elf", tmp_path / "defrag.bin"
    machine = ["-march=rv32im", "-mabi=ilp32", "-mcmodel=medany"]
    flags = [
        "-std=c99",
        "-Os",
        "-ffreestanding",
        "-nostdlib",
        *WARNINGS,
        f"-I{hooks}",
    ]
    files = [EMBEDDED / "start.S", HERE / "defrag_riscv.c", hooks / "ff_defrag.c"]
    subprocess.run(
        [compiler, *machine, *flags, "-T", EMBEDDED / "link.ld", "-o", program, *files, "-lgcc"],
        check=True,
    )
    subprocess.run(["riscv64-unknown-elf-objcopy", "-O", "binary", program, image], check=True)
    frames = [frame for frame in stream(random.Random(12), 8, 0.5) if frame]
    port = Port(frames)
    core = Core(image.read_bytes(), port.load, port.store)
    while not port.done:
        core.step()
        assert core.cycles < 5_000_000
    out = [(count, bytes(bytes_)) for count, bytes_ in port.out]
    assert out == through(frames).out
    assert {count for count, _ in out} >= {1, 3}
