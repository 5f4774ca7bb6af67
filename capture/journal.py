"""A journal: frames appended to files of one folder, each with its length, number and CRC, readable while it grows.

What was acknowledged by `Journal.sync` stands on the disk whatever becomes of the process, the power or the disk's
room; what was appended only survives the process. Segments are closed in turn, so that only the last has to be looked
at after a crash, and the oldest can go.

Segment: 8 bytes ``FFRJRNL1``, then frames: ``F5 46 46 4A``, length, number (64 bit), CRC-32 of length, number and
payload, little-endian, then the payload. A frame without payload closes its segment.

Source: docs/formats.md, section 11.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from freezeframe.capture.count_text import plural
from freezeframe.capture.durable import sync_directory
from freezeframe.capture.errors import CaptureFormatError, InputError

SUFFIX = ".ffrec"
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_MAGIC, _MARK = b"FFRJRNL1", b"\xf5FFJ"
_HEAD = struct.Struct("<4sIQI")
_NUMBERS = struct.Struct("<IQ")
LONGEST_B = 1 << 24  # of a payload
FIRST = "00000001.ffj"
_SEGMENT_B = 1 << 24
_MOST_TRIED_B = (
    1 << 30
)  # of a segment: a second's work; what damage leaves takes a thousandth of it
_NAME = re.compile(r"(\d{8})\.ffj")
_LOCK = ".lock"


class Frame(NamedTuple):
    """What was appended at once, and its number."""

    number: int
    payload: bytes


class Hole(NamedTuple):
    """Bytes of a segment that are no frame; ``frames`` are missing there, None where that is not known: at its end.

    Less than 0: the numbers of the segment begin so many before the end of the one before.
    """

    segment: str
    first_B: int
    size_B: int
    frames: int | None

    @property
    def text(self) -> str:
        """One line."""
        if self.frames is None:
            return (
                f"{self.segment}: bytes {self.first_B}..{self.first_B + self.size_B - 1}: no whole frame: it was being "
                "written when the recording ended, or was altered"
            )
        if self.frames < 0:
            return f"{self.segment}: its numbers begin {-self.frames} before the end of the segment before"
        where = (
            f"bytes {self.first_B}..{self.first_B + self.size_B - 1}: altered, "
            if self.size_B
            else ""
        )
        verb = "is" if self.frames == 1 else "are"
        missing = f"{plural(self.frames, 'frame')} {verb} missing"
        return f"{self.segment}: {where}{missing} before byte {self.first_B + self.size_B}"


class Disk:
    """The calls by which a journal reaches the disk; tests put one in their place that fails or forgets."""

    def create(self, path: Path) -> int:
        """Make a file and return its descriptor."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)

    def open(self, path: Path) -> int:
        """Return the descriptor of a file that is there, to be changed."""
        return os.open(path, os.O_WRONLY | os.O_CLOEXEC)

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        """Write, maybe not all; return how much."""
        return os.write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        """Let the data and the length of a file reach the disk.

        Raises:
            OSError: the disk fails, or (ESTALE) the file has no name any more: what stands in it nobody will read.
        """
        os.fdatasync(descriptor)
        if not os.fstat(descriptor).st_nlink:
            raise OSError(errno.ESTALE, "it was removed while it was written")

    def sync_names(self, folder: Path) -> None:
        """Let the names of a folder reach the disk."""
        sync_directory(folder)

    def truncate(self, descriptor: int, size_B: int) -> None:
        """Cut a file, and write on from there."""
        os.ftruncate(descriptor, size_B)
        os.lseek(descriptor, size_B, os.SEEK_SET)


class Journal:
    """A journal that is written; of one process at a time."""

    def __init__(
        self,
        place: Path,
        preamble: Callable[[], Sequence[bytes]],
        *,
        keep_B: int | None = None,
        segment_B: int = _SEGMENT_B,
        disk: Disk | None = None,
    ) -> None:
        """Begin, or go on in a folder that is a journal already.

        Args:
            preamble: what every segment begins with, so that it can be read without those before it.
            keep_B: of the newest segments that are kept, at least; older ones are removed.
            segment_B: after which a segment is closed.
        Raises:
            InputError: the folder cannot be made, is no journal, or another process writes to it.
            OSError: the disk is full.
        """
        self.place = place
        self.number = 0  # of the next frame
        self._acknowledged = 0
        self._preamble, self._keep_B, self._segment_B = preamble, keep_B, segment_B
        self._disk = disk or Disk()
        try:
            place.mkdir(exist_ok=True)
            self._lock = _locked(place)
        except BlockingIOError:
            raise InputError(
                f"{place}: another program records there; choose another name"
            ) from None
        except OSError as error:
            if error.errno in NO_SPACE:
                raise
            raise InputError(f"{place}: cannot be recorded to: {error.strerror}") from None
        self._segment = 0
        self._file = -1
        self._size_B = 0
        try:
            if before := segments(place):
                self.number = recover(place, disk=self._disk).number
                self._segment = int(before[-1].name[:8])
            self._open()
            sync_directory(place.parent)
        except Exception:  # whoever waits for room tries again
            if self._file >= 0:
                os.close(self._file)
            os.close(self._lock)
            raise

    def append(self, payload: bytes) -> int:
        """Append a frame and return its number.

        Raises:
            OSError: the disk is full or fails; the journal ends with the frame before, and may be appended to again.
        """
        if self._size_B >= self._segment_B:
            self._write(b"")
            self._close()
            self._open()
        return self._write(payload)

    def sync(self) -> int:
        """Let everything that was appended reach the disk; return how many frames stand there for good.

        Raises:
            OSError: the disk fails.
        """
        if self._acknowledged != self.number:
            self._disk.sync(self._file)
            self._acknowledged = self.number
        return self._acknowledged

    def close(self) -> None:
        """End the journal; a full disk does not keep it from ending.

        Raises:
            OSError: the disk fails, or the journal was removed; it is closed all the same.
        """
        try:
            if self._file >= 0:
                try:
                    self._write(b"")
                    self._close()
                except OSError as error:
                    os.close(self._file)  # recover closes the segment
                    self._file = -1
                    if error.errno not in NO_SPACE:
                        raise
        finally:
            os.close(self._lock)

    def _open(self) -> None:
        self._segment += 1
        path = self.place / f"{self._segment:08d}.ffj"
        self._file = self._disk.create(path)
        self._size_B = 0
        self._all(_MAGIC)
        for payload in self._preamble():
            self._write(payload)
        self.sync()
        self._disk.sync_names(self.place)
        self._forget()

    def _close(self) -> None:
        self.sync()
        os.close(self._file)
        self._file = -1

    def _write(self, payload: bytes) -> int:
        if len(payload) > LONGEST_B:
            raise ValueError(f"{len(payload)} B are more than a frame holds")
        self._all(frame(self.number, payload))
        self.number += 1
        return self.number - 1

    def _all(self, data: bytes) -> None:
        left = memoryview(data)
        try:
            while left:
                left = left[self._disk.write(self._file, left) :]
        except OSError:
            self._disk.truncate(self._file, self._size_B)  # no half of a frame before the next one
            raise
        self._size_B += len(data)

    def _forget(self) -> None:
        """Remove the oldest segments beyond what is kept."""
        if self._keep_B is None:
            return
        older = segments(self.place)[:-1]
        kept_B = 0
        for path in reversed(older):
            kept_B += path.stat().st_size
            if kept_B - path.stat().st_size >= self._keep_B:
                path.unlink()


def frame(number: int, payload: bytes) -> bytes:
    """Return the bytes of a frame."""
    crc = zlib.crc32(payload, zlib.crc32(_NUMBERS.pack(len(payload), number)))
    return _HEAD.pack(_MARK, len(payload), number, crc) + payload


def is_journal(place: Path) -> bool:
    """Return whether a folder is a journal."""
    return place.is_dir() and bool(segments(place))


def is_begun(place: Path) -> bool:
    """Return whether a folder holds nothing, or what a journal without a segment does: the power went, or no room."""
    return place.is_dir() and all(path.name == _LOCK for path in place.iterdir())


def segments(place: Path) -> list[Path]:
    """Return the segments of a journal, oldest first."""
    return sorted(path for path in place.iterdir() if _NAME.fullmatch(path.name))


def _files(place: Path) -> list[Path]:
    """Return the segments of a journal, of which there must be one.

    Raises:
        CaptureFormatError: there is none; where there is nothing at all, that.
    """
    files = segments(place) if place.is_dir() else []
    if not files:
        what = f"is no recording (NAME{SUFFIX}): it has no segment {FIRST}"
        raise CaptureFormatError(
            f"{place}: {what if place.exists() else 'there is no such file or folder'}"
        )
    return files


def read(place: Path) -> Iterator[Frame | Hole]:
    """Give the frames of a journal and what is missing between them; also of one that grows.

    Raises:
        CaptureFormatError: the folder is no journal.
        OSError: a segment cannot be read.
    """
    files = _files(place)
    # Of a recording that begins with its first segment the first number is known.
    expected = 0 if files[0].name == FIRST else None
    for path in files:
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            continue  # the oldest may go while we read
        for item in _scan(path.name, data, expected):
            if isinstance(item, Frame):
                expected = item.number + 1
                if not item.payload:
                    continue
            yield item


def _locked(place: Path) -> int:
    """Take a journal's lock and return its descriptor.

    Raises:
        BlockingIOError: another program has it.
    """
    descriptor = os.open(place / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


class Recovered(NamedTuple):
    """What a recovery found: the number of the next frame, bytes, whether it was ended, bytes that were cut."""

    number: int
    bytes: int
    was_ended: bool
    cut_B: int


def recover_left(place: Path) -> Recovered | None:
    """Recover a journal that nobody writes to; None where somebody does, for then nothing is touched.

    Raises:
        CaptureFormatError, OSError: as `recover`.
    """
    _files(place)
    try:
        lock = _locked(place)
    except BlockingIOError:
        return None
    try:
        return recover(place)
    finally:
        os.close(lock)


def recover(place: Path, *, disk: Disk | None = None) -> Recovered:
    """Make a journal whole that was not ended: cut what is no whole frame from its end, and end it.

    For who has the journal's lock, or knows that nobody writes. Only the last segment is read; what is damaged before
    its end stays as it is, for `read` to say.

    Raises:
        CaptureFormatError: the folder is no journal.
        OSError: the disk is full or fails.
    """
    disk = disk or Disk()
    files = _files(place)
    total_B = sum(path.stat().st_size for path in files)
    number, cut_B = 0, 0
    for path in reversed(files):
        data = path.read_bytes()
        frames = [item for item in _scan(path.name, data, None) if isinstance(item, Frame)]
        if not frames and path is not files[0]:
            cut_B += len(data)
            continue  # it had only begun: nothing of it was acknowledged, in any of the last ones
        number = frames[-1].number + 1 if frames else 0
        ended = bool(frames) and not frames[-1].payload and data.endswith(frame(number - 1, b""))
        if ended:
            return Recovered(number, total_B, cut_B == 0, cut_B)
        end_B = _end_of(data, frames)
        descriptor = disk.open(path)
        try:
            disk.truncate(descriptor, end_B)
            closing = frame(number, b"") if end_B else _MAGIC + frame(number, b"")
            disk.write(descriptor, closing)
            disk.sync(descriptor)
        finally:
            os.close(descriptor)
        return Recovered(number + 1, total_B, False, cut_B + len(data) - end_B)
    raise CaptureFormatError(f"{place}: holds no whole frame")


def _end_of(data: bytes, frames: Sequence[Frame]) -> int:
    """Return where the last whole frame ends."""
    if not frames:
        return len(_MAGIC) if data.startswith(_MAGIC) else 0
    last = frame(*frames[-1])
    return data.rindex(last) + len(last)


def _scan(segment: str, data: bytes, expected: int | None) -> Iterator[Frame | Hole]:
    at = len(_MAGIC) if data.startswith(_MAGIC) else 0
    if _MAGIC.startswith(data):
        return  # it had only begun
    wrong = None if at else 0  # where what is no frame begins
    view = memoryview(data)
    size_B = len(data)
    tried_B = 0  # of what turned out to be no frame
    first = True  # frame of the segment
    while at < size_B:
        found = _frame_at(view, at)
        if found is None:
            tried_B += _claimed_B(view, at)
            if tried_B > _MOST_TRIED_B:
                wrong = at if wrong is None else wrong
                break
            wrong = at if wrong is None else wrong
            at = data.find(_MARK, at + 1)
            if at < 0:
                break
            continue
        number, payload = found
        missing = 0 if expected is None else number - expected
        if wrong is not None or missing:
            begin = at if wrong is None else wrong
            yield Hole(segment, begin, at - begin, missing if first else max(missing, 0))
        wrong = None
        if (
            missing >= 0 or first
        ):  # within a segment, what goes back was written over and is no more
            first = False
            yield Frame(number, payload)
            expected = number + 1
        at += _HEAD.size + len(payload)
    if wrong is not None:
        yield Hole(segment, wrong, size_B - wrong, None)


def _claimed_B(view: memoryview, at: int) -> int:
    """Return how many bytes had to be looked at to know that no frame begins here."""
    size_B = int.from_bytes(view[at + 4 : at + 8], "little")
    return size_B if view[at : at + 4] == _MARK and size_B <= len(view) - at else 0


def _frame_at(view: memoryview, at: int) -> tuple[int, bytes] | None:
    if at + _HEAD.size > len(view):
        return None
    mark, size_B, number, crc = _HEAD.unpack_from(view, at)
    if mark != _MARK or size_B > LONGEST_B:
        return None
    payload = view[at + _HEAD.size : at + _HEAD.size + size_B]
    if (
        len(payload) < size_B
        or zlib.crc32(payload, zlib.crc32(_NUMBERS.pack(size_B, number))) != crc
    ):
        return None
    return number, bytes(payload)
