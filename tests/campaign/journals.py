"""Journals under kill -9, power loss, a full or failing disk, and flipped bits: nothing acknowledged may be lost.

``make campaign-journals`` runs 1,000 schedules of kill -9, 200 of power loss, 200 of failing disks and 1,000 flipped
bits, the first two also of the log of a guard, and measures how long recovery takes.
"""

from __future__ import annotations

import argparse
import errno
import hashlib
import os
import random
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from freezeframe.capture.custody.guard_log import LOG, GuardLog, read_log
from freezeframe.capture.journal import (
    Disk,
    Frame,
    Hole,
    Journal,
    frame,
    is_journal,
    read,
    recover,
    segments,
)

_SEGMENT_B = 4096  # so small that every schedule crosses from one segment into the next
_PAGE_B = 512
_COUNT = struct.Struct("<Q")


def payload(number: int) -> bytes:
    """Return what the frame of this number holds: between 1 and 300 bytes that follow from it."""
    seed = hashlib.sha256(_COUNT.pack(number)).digest()
    return (seed * 10)[: 1 + seed[0] * 299 // 255]


def missing(place: Path, acknowledged: Iterable[int]) -> list[int]:
    """Return which acknowledged frames cannot be read, or are not as they were written."""
    found = {item.number: item.payload for item in read(place) if isinstance(item, Frame)}
    texts = [path.read_bytes() for path in segments(place)]
    return [
        number
        for number in acknowledged
        if found.get(number) != payload(number)
        # A frame that closes a segment has a number and no payload.
        and not (number not in found and any(frame(number, b"") in text for text in texts))
    ]


def _append(journal: Journal) -> None:
    """Append a frame whose payload follows from the number it gets, also where a segment is closed before it."""
    before = journal.number
    if journal._size_B >= journal._segment_B:
        before += 1  # the closing frame takes a number
    assert journal.append(payload(before)) == before


def kill_schedule(place: Path, rng: random.Random, rounds: int = 6) -> list[int]:
    """Write in a process that is killed at a random instant, several times into one journal; return what is lost."""
    acknowledged = 0
    for _ in range(rounds):
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            try:
                os.close(reader)
                journal = Journal(place, list, segment_B=_SEGMENT_B)
                while True:
                    for _ in range(rng.randrange(1, 5)):
                        _append(journal)
                    os.write(writer, _COUNT.pack(journal.sync()))
            finally:
                os._exit(1)
        os.close(writer)
        acknowledged = _killed(child, reader, rng) or acknowledged
    if not is_journal(place):
        return list(range(acknowledged))
    lost = missing(place, range(acknowledged))
    recover(place)
    return lost + missing(place, range(acknowledged))


def _killed(child: int, reader: int, rng: random.Random) -> int:
    """Kill a process, that has begun or just does, and return the last count that it has acknowledged."""
    begun = rng.random() < 0.5
    told = os.read(reader, _COUNT.size) if begun else b""
    time.sleep(rng.random() * 0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while piece := os.read(reader, 1 << 16):
        told += piece
    os.close(reader)
    whole = len(told) // _COUNT.size * _COUNT.size
    return int(_COUNT.unpack(told[whole - _COUNT.size : whole])[0]) if whole else 0


@dataclass(slots=True)
class _File:
    path: Path
    synced: bytes
    named: bool
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)  # None: cut there
    at: int = 0


class PowerDisk(Disk):
    """A disk that remembers what was synced; at a power cut the rest is dropped, torn or reordered at random."""

    def __init__(self, cut_after: int) -> None:
        self.files: dict[int, _File] = {}
        self.left = cut_after

    def _step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise PowerCut

    def create(self, path: Path) -> int:
        self._step()
        descriptor = super().create(path)
        self.files[descriptor] = _File(path, b"", named=False)
        return descriptor

    def open(self, path: Path) -> int:
        self._step()
        descriptor = super().open(path)
        self.files[descriptor] = _File(path, path.read_bytes(), named=True)
        return descriptor

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        self._step()
        file = self.files[descriptor]
        file.pending.append((file.at, bytes(data)))
        file.at += len(data)
        return super().write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        self._step()
        file = self.files[descriptor]
        file.synced = file.path.read_bytes()
        file.pending.clear()

    def sync_names(self, folder: Path) -> None:
        self._step()
        for file in self.files.values():
            file.named = True

    def truncate(self, descriptor: int, size_B: int) -> None:
        self._step()
        file = self.files[descriptor]
        file.pending.append((size_B, None))
        file.at = size_B
        super().truncate(descriptor, size_B)

    def cut(self, rng: random.Random) -> None:
        """Leave on the real disk what this one would have kept."""
        for file in self.files.values():
            if not file.named and rng.random() < 0.5:
                file.path.unlink(missing_ok=True)
                continue
            data = bytearray(file.synced)
            for at, piece in file.pending:
                if piece is None:
                    if rng.random() < 0.5:
                        del data[at:]
                    continue
                for offset in range(0, len(piece), _PAGE_B):
                    if rng.random() < 0.5:
                        part = piece[offset : offset + _PAGE_B]
                        begin = at + offset
                        data.extend(bytes(max(0, begin + len(part) - len(data))))
                        data[begin : begin + len(part)] = part
            file.path.write_bytes(data)


class PowerCut(Exception):
    """The power went away."""


def power_schedule(place: Path, rng: random.Random, rounds: int = 3) -> list[int]:
    """Write until the power goes, several times into one journal; return which acknowledged frames are lost."""
    # Not all below the last number: what was not acknowledged before a cut may be a hole behind which some stand.
    acknowledged: set[int] = set()
    for _ in range(rounds):
        disk = PowerDisk(rng.randrange(1, 120))
        try:
            journal = Journal(place, list, segment_B=_SEGMENT_B, disk=disk)
            first = journal.number
            while True:
                for _ in range(rng.randrange(1, 5)):
                    _append(journal)
                acknowledged |= set(range(first, journal.sync()))
        except PowerCut:
            disk.cut(rng)
        finally:
            _release(place)
    if not segments(place):
        return sorted(acknowledged)
    lost = missing(place, acknowledged)
    recover(place)
    return lost + missing(place, acknowledged)


def _say(log: GuardLog, rng: random.Random, number: int) -> int:
    """Let a guard's log take some lines, accounts and explanations with the next numbers; return the next one."""
    for _ in range(rng.randrange(1, 5)):
        kind = number % 3
        if kind == 0:
            log(f"{number} {payload(number).hex()}")
        elif kind == 1:
            log.account({"what": "kept", "boot_nonce": "0x0b000000", "generation": number})
        else:
            log.explained({"capture": str(number), "findings": []})
        number += 1
    return number


def _unsaid(directory: Path, acknowledged: int) -> list[int]:
    """Return which of the first acknowledged things a guard's log does not have as they were said."""
    read = read_log(directory)
    said = {line for _, line in read.lines}
    accounts = {each["generation"] for each in read.accounts}
    explained = {each["capture"] for each in read.explanations}
    return [
        number
        for number in range(acknowledged)
        if (f"{number} {payload(number).hex()}", number, str(number))[number % 3]
        not in (said, accounts, explained)[number % 3]
    ]


def guard_log_kill_schedule(place: Path, rng: random.Random, rounds: int = 6) -> list[int]:
    """Kill the process that writes a guard's log, several times; return what is lost of what was acknowledged."""
    directory = place.parent
    acknowledged = 0
    for _ in range(rounds):
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            try:
                os.close(reader)
                log = GuardLog(directory)
                number = acknowledged
                os.write(writer, _COUNT.pack(number))
                while True:
                    number = _say(log, rng, number)
                    if not log.sync():
                        os.write(writer, _COUNT.pack(number))
            finally:
                os._exit(1)
        os.close(writer)
        acknowledged = _killed(child, reader, rng) or acknowledged
    return _unsaid(directory, acknowledged)


def guard_log_power_schedule(place: Path, rng: random.Random, rounds: int = 3) -> list[int]:
    """Write a guard's log until the power goes, several times; return what is lost of what was acknowledged."""
    directory = place.parent
    acknowledged = 0
    for _ in range(rounds):
        disk = PowerDisk(rng.randrange(1, 120))
        try:
            log = GuardLog(directory, disk=disk)
            number = acknowledged
            while True:
                number = _say(log, rng, number)
                if not log.sync():
                    acknowledged = number
        except PowerCut:
            disk.cut(rng)
        finally:
            _release(directory / LOG)
    return _unsaid(directory, acknowledged)


def _release(place: Path) -> None:
    """Close what a process that lost its power had open: its files, and the lock."""
    for link in Path("/proc/self/fd").iterdir():
        try:
            target = link.readlink()
        except OSError:
            continue  # that of the listing itself
        if target.is_relative_to(place):
            os.close(int(link.name))


class FailingDisk(Disk):
    """A disk on which writes are short, and now and then there is no room."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.failing = False

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        if self.failing and self.rng.random() < 0.3:
            part = self.rng.randrange(len(data))
            if part:
                super().write(descriptor, data[:part])
            raise OSError(self.rng.choice((errno.ENOSPC, errno.EIO)), "made to fail")
        return super().write(descriptor, data[: self.rng.randrange(1, len(data) + 1)])


def failing_schedule(place: Path, rng: random.Random) -> list[int]:
    """Write to a disk that fails at random; return which acknowledged frames are lost."""
    disk = FailingDisk(rng)
    journal = Journal(place, list, segment_B=1 << 20, disk=disk)
    disk.failing = True
    failed = 0
    for _ in range(60):
        try:
            _append(journal)
        except OSError:
            failed += 1
    disk.failing = False
    acknowledged = journal.sync()
    journal.close()
    assert failed, "nothing failed in this schedule"
    assert not [item for item in read(place) if isinstance(item, Hole)]
    return missing(place, range(acknowledged))


def flip_schedule(place: Path, rng: random.Random) -> list[int]:
    """Flip one bit of a journal; return -1 where it was not found, and what else is lost."""
    frames = 40
    journal = Journal(place, list, segment_B=_SEGMENT_B)
    for _ in range(frames):
        _append(journal)
    journal.close()
    path = rng.choice(segments(place))
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)
    found = any(isinstance(item, Hole) for item in read(place))
    lost = missing(place, range(journal.number - 1))
    return ([] if found else [-1]) + lost[1:]  # one frame holds the bit


Schedule = Callable[[Path, random.Random], list[int]]
SCHEDULES: dict[str, tuple[Schedule, int]] = {
    "kill -9": (kill_schedule, 1000),
    "power loss": (power_schedule, 200),
    "full and failing disk": (failing_schedule, 200),
    "flipped bit": (flip_schedule, 1000),
    "guard's log, kill -9": (guard_log_kill_schedule, 1000),
    "guard's log, power loss": (guard_log_power_schedule, 200),
}


def run(name: str, count: int, seed: int) -> list[tuple[int, list[int]]]:
    """Run schedules of one kind and return those that lost something."""
    bad = []
    for number in range(count):
        rng = random.Random(f"{name}/{seed}/{number}")
        with tempfile.TemporaryDirectory() as made:
            lost = SCHEDULES[name][0](Path(made) / "x.ffrec", rng)
        if lost:
            bad.append((number, lost))
    return bad


def recovery(size_B: int) -> tuple[int, float]:
    """Return the bytes of a journal that was not ended, and how many seconds its recovery took."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as made:
        place = Path(made) / "x.ffrec"
        journal = Journal(place, list)
        data = os.urandom(4000)
        for _ in range(size_B // 4020):
            journal.append(data)
        journal.sync()
        os.close(journal._lock)
        begun_s = time.monotonic()
        found = recover(place)
        return found.bytes, time.monotonic() - begun_s


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all schedules and print what became of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=1.0, help="of the schedules")
    asked = parser.parse_args(arguments)
    failed = False
    for name, (_, whole) in SCHEDULES.items():
        count = max(1, round(whole * asked.share))
        begun_s = time.monotonic()
        bad = run(name, count, asked.seed)
        failed |= bool(bad)
        print(
            f"{name}: {count:,} schedules, {sum(len(lost) for _, lost in bad)} acknowledged frames lost, "
            f"{time.monotonic() - begun_s:.0f} s {bad[:3] or ''}",
            flush=True,
        )
    size_B, took_s = recovery(round((1 << 30) * asked.share))
    print(f"recovery: {size_B:,} B in {took_s:.3f} s, {took_s * (1 << 30) / size_B:.3f} s a GiB")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
